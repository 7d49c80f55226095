"""What a page knows of its study before it loads any data: names, questions, figures, what is missing.

Every label is raw text; the page shows it as such.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.explorer.contexts import ContextForm
from fieldwork.explorer.linked_figures import mark_address
from fieldwork.records.field import FIELD
from fieldwork.records.figures import FigureMark
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item

REPORT = "../report.zip"
"""Snakemake's report, from the page."""
FIELD_LABEL = "Field"


class PageSettings(NamedTuple):
    """What the config says of a page.

    Attributes:
        question: what the study asks, in one sentence; None where it names none.
        models: `label`, `asked` and `note` of each, by name.
        conditions: `label`, `phrase`, `has_user`, `temperature` and `corpus` of each, by name, in their
            order.
        max_tokens: of each task.
        contexts: what of contexts is in the page.
        field: whether answers of real users are.
        figures: titles of the figures, by name, in their order.
        withheld: what privacy leaves out, a sentence each.
    """

    name: str
    question: str | None
    baseline: str
    models: Mapping[str, Mapping[str, Any]]
    conditions: Mapping[str, Mapping[str, Any]]
    max_tokens: Mapping[str, int]
    seed: int
    contexts: ContextForm
    field: bool
    figures: Mapping[str, str]
    withheld: Sequence[str]

    def condition_names(self) -> list[str]:
        """The study's conditions, and the field where its answers are in the page."""
        return [*self.conditions, *([FIELD] if self.field else [])]


class PageCounts(NamedTuple):
    """What the page's data hold: their version, how much of it, and where files of details begin."""

    version: str
    answers: int
    contexts: int
    details: Sequence[int]


def study_block(
    settings: PageSettings,
    items: Mapping[ItemKey, Item],
    marks: Mapping[str, Sequence[FigureMark]],
    counts: PageCounts,
    missing: Sequence[str],
) -> dict[str, Any]:
    """The page's block of JSON.

    Args:
        marks: of each figure that is in the page.
        missing: what a study that still runs lacks, a sentence each.
    """
    return {
        "name": settings.name,
        "question": settings.question,
        "version": counts.version,
        "baseline": settings.baseline,
        "models": [{"name": name, **entry} for name, entry in settings.models.items()],
        "conditions": [*_conditions(settings)],
        "tasks": [*settings.max_tokens],
        "items": [_item(key.task, item) for key, item in items.items()],
        "figures": [{"name": name, "title": settings.figures[name]} for name in marks],
        "marks": {name: [_mark(mark) for mark in rows] for name, rows in marks.items()},
        "counts": {"answers": counts.answers, "contexts": counts.contexts},
        "details": [*counts.details],
        "contexts": settings.contexts,
        "field": settings.field,
        "missing": [*missing],
        "withheld": [*settings.withheld],
        "report": REPORT,
    }


def _conditions(settings: PageSettings) -> list[dict[str, Any]]:
    shown_keys = ("label", "phrase", "has_user", "temperature")
    entries = [
        {"name": name, **{key: entry[key] for key in shown_keys}}
        for name, entry in settings.conditions.items()
    ]
    if settings.field:
        field_entry = {"label": FIELD_LABEL, "phrase": None, "has_user": True, "temperature": None}
        entries.append({"name": FIELD, **field_entry})
    return entries


def _item(task: str, item: Item) -> dict[str, Any]:
    return {
        "task": task,
        "item": item.item_id,
        "kind": item.kind,
        "question": item.question,
        "prompt": item.prompt,
        "choices": item.choices,
        "gold": item.gold,
        "subject": item.subject,
    }


def _mark(mark: FigureMark) -> dict[str, Any]:
    return {
        "number": mark.number,
        "text": mark.text,
        "address": mark_address(mark),
        "value": mark.value,
        "low": mark.ci_low,
        "high": mark.ci_high,
        "n": mark.n,
    }
