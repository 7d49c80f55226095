"""What raters are asked about each kind of unit, and the columns in which their answers come back."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.records.judging import Allotment, UnitText
from fieldwork.sections.judging import Scale

PAGE_COLUMNS = (
    "rater",
    "units",
    "unit",
    "scale",
    "value",
    "first_side",
    "seconds",
    "note",
    "position",
    "started",
    "ended",
    "kit",
)
"""The header of the page's file, which has a row for each judgement."""


class WhyQuestion(NamedTuple):
    """A question for reasons, which follows some options of another one."""

    scale: Scale
    options: Sequence[str]


class RaterQuestion(NamedTuple):
    """The question that an entry of `judging.units` is to raters.

    Attributes:
        name: of the entry.
        text: what raters are asked.
        units: in any order.
    """

    name: str
    text: str
    scale: Scale
    reason: WhyQuestion | None
    units: Sequence[UnitText]

    @property
    def has_pairs(self) -> bool:
        return any(unit.text_b is not None for unit in self.units)


class ReviewKit(NamedTuple):
    """All that raters are given."""

    study: str
    questions: Sequence[RaterQuestion]
    allotments: Sequence[Allotment]

    @property
    def raters(self) -> list[str]:
        return sorted({allotment.rater for allotment in self.allotments})

    @property
    def digest(self) -> str:
        """Tells kits apart: another unit, question, option or allotment makes another one.

        The page keeps answers by the rater's place, so what stands there is a part of it.
        """
        parts = [
            [
                question.name,
                question.text,
                option_labels(question.scale),
                question.reason
                and [option_labels(question.reason.scale), list(question.reason.options)],
                [unit.code for unit in question.units],
            ]
            for question in self.questions
        ]
        places = [(a.rater, a.units, a.place, a.code, a.first_side) for a in self.allotments]
        text = json.dumps([self.study, parts, sorted(places, key=str)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def rater_questions(
    entries: Mapping[str, Mapping[str, Any]],
    units: Mapping[str, Sequence[UnitText]],
    scales: Mapping[str, Scale],
    words: Mapping[str, str],
) -> list[RaterQuestion]:
    """The questions of a study, in the order of its config.

    Args:
        entries: of `judging.units`.
        units: of each entry.
        words: the page's texts, which have a question for each kind of units.
    """
    return [
        RaterQuestion(
            name,
            entry["question"] or words[f"question_{entry['of']}"],
            scales[entry["scale"]],
            None
            if entry["why"] is None
            else WhyQuestion(
                scales[entry["why"]["scale"]], [str(option) for option in entry["why"]["after"]]
            ),
            units[name],
        )
        for name, entry in entries.items()
    ]


def option_labels(scale: Scale) -> list[tuple[str, str]]:
    """The options of a scale, each with what raters read."""
    return [(option, scale.label(option)) for option in scale.options]


def question_line(text: str, scale: Scale) -> str:
    """A question with what its options mean, where they are not said in full."""
    meanings = [f"{option}: {label}" for option, label in option_labels(scale) if option != label]
    return f"{text} ({'; '.join(meanings)})" if meanings else text


# ---- column maps: the settings `judging.sources` by which answers come back --------------------------


def page_sources(folder: str) -> dict[str, Any]:
    """The source of the page's files."""
    names = ("rater", "unit", "scale", "value", "first_side", "seconds", "note", "position", "kit")
    return {"review_page": _source(folder, {name: name for name in names})}


def sheet_sources(questions: Sequence[RaterQuestion], folder: str) -> dict[str, Any]:
    """The sources of the workbooks: one for each question, and one for each of its reasons."""
    columns = {name: name for name in ("rater", "unit", "first_side", "note", "position", "kit")}
    return {
        f"review_{question.name}{suffix}": _source(
            f"{folder}/{question.name}", {**columns, "value": column}, scale
        )
        for question in questions
        for suffix, column, scale in _scales_of(question)
    }


def label_studio_sources(questions: Sequence[RaterQuestion], folder: str) -> dict[str, Any]:
    """The sources of Label Studio's exports: one for each question, and one for each of its reasons."""
    columns = {"rater": "annotator", "unit": "unit", "first_side": "first_side"}
    return {
        f"review_{question.name}{suffix}": _source(
            f"{folder}/{question.name}.json",
            {**columns, "value": column, "seconds": "lead_time"},
            scale,
        )
        for question in questions
        for suffix, column, scale in _scales_of(question)
    }


def _scales_of(question: RaterQuestion) -> list[tuple[str, str, Scale]]:
    scales = [("", "value", question.scale)]
    return scales + ([("_why", "why", question.reason.scale)] if question.reason else [])


def _source(path: str, columns: Mapping[str, str], scale: Scale | None = None) -> dict[str, Any]:
    # what every answer of the kit has in common
    common = {"rater_kind": "person", "units": "given"}
    # a reason means the same whatever stood first
    sides = "fixed" if scale is not None and not scale.has_sides else "shown"
    of_scale = {} if scale is None else {"scale": scale.name}
    return {"path": path, **common, "sides": sides, **of_scale, "columns": dict(columns)}
