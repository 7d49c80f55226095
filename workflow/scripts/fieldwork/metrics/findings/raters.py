"""The section about people and models who judge: what they say, how far they agree, who may stand in."""

from collections.abc import Mapping
from typing import NamedTuple

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import Section, TableColumn, count, number, text
from fieldwork.metrics.findings.wording import interval_cell, number_cell
from fieldwork.records.judging import JudgementEstimate, UnitKind


class _Wording(NamedTuple):
    """How an estimate is printed.

    Attributes:
        scale: what its values are multiplied by.
        digits: behind the point.
        is_difference: whether it has a sign.
    """

    text: str
    scale: float = 1
    digits: int = 2
    is_difference: bool = False

    def value(self, row: JudgementEstimate) -> str:
        """An estimate with its interval."""
        return interval_cell(
            row.estimate,
            row.ci_low,
            row.ci_high,
            digits=self.digits,
            scale=self.scale,
            is_difference=self.is_difference,
        )


_WORDINGS: Mapping[str, _Wording] = {
    "accepted": _Wording("accepted, %", 100, 0),
    "mean": _Wording("mean rating"),
    "preferred": _Wording("second answer preferred, %", 100, 0),
    "exact_agreement": _Wording("same answer, %", 100, 0),
    "kappa": _Wording("κ"),
    "weighted_kappa": _Wording("κ, weighted"),
    "alpha": _Wording("α"),
    "over_selection": _Wording("accepted, times people's"),
    "inflation": _Wording("rating above people's", is_difference=True),
    "rho": _Wording("ρ with other people"),
    "rho_of_people": _Wording("ρ of people with other people"),
    "winning_rate": _Wording("people whom it may stand in for, %", 100, 0),
}
"""The estimates that are listed, in their order; `metrics/judgements` has all."""

_UNITS: Mapping[UnitKind, str] = {
    "attributes": "what was read off conversations",
    "relevance": "attributes as fitting a question",
    "answers": "the answers",
    "pairs": "the second answer beside the first",
    "mentions": "answers as naming an attribute",
}
"""What raters judge, in a sentence."""


def _question(study: StudyEvidence) -> str:
    question = (
        "What do raters say, how far do they agree, and how does a model's judgement differ from "
        "people's? Chance is what raters with these shares reach who draw, and the largest κ is what "
        "these shares allow. A model that may stand in for half of the people may judge in place of "
        "a person."
    )
    if any(row.raters == "people" for row in study.of(JudgementEstimate)):
        return question
    return f"{question} No person judged: all of this is what models say."


def _rows(study: StudyEvidence) -> list[JudgementEstimate]:
    """Estimates of all units by scale and measure, kinds of raters before each model."""
    measures = [*_WORDINGS]
    return sorted(
        (
            row
            for row in study.of(JudgementEstimate)
            if row.measure in measures
            and row.unit_group is None
            and row.estimate is not None
            and row.versus != "themselves"
            and (row.measure != "preferred" or row.option == "b")
        ),
        key=lambda row: (
            row.scale,
            measures.index(row.measure),
            row.raters not in ("people", "models"),
            row.raters != "people",
            row.raters,
            row.versus or "",
        ),
    )


def _measure(row: JudgementEstimate, study: StudyEvidence) -> str:
    """What is estimated; of a pair with the conditions of both sides, where they are known."""
    if row.measure != "preferred" or row.scale not in study.outline.pairs:
        return _WORDINGS[row.measure].text
    first, second = study.outline.pairs[row.scale]
    return f"{second} preferred over {first}, %"


def _chance(row: JudgementEstimate, _: StudyEvidence) -> str:
    wording = _WORDINGS[row.measure]
    return number_cell(row.chance, wording.digits, wording.scale)


RATERS = Section(
    "People and models as raters",
    _question,
    ["alternative_annotators", "judgements"],
    _rows,
    [
        TableColumn("Scale", text("scale")),
        TableColumn("Raters", text("raters")),
        TableColumn("Beside", text("versus")),
        TableColumn("Measure", _measure),
        TableColumn("Value", lambda row, _: _WORDINGS[row.measure].value(row)),
        TableColumn("By chance", _chance),
        TableColumn("Largest", number("largest", 2)),
        TableColumn("Units", count("n_units")),
        TableColumn("Judgements", count("n_judgements")),
    ],
)


def rater_sentence(study: StudyEvidence) -> str:
    """What raters of the first scale say, people before models; empty without judgements."""
    order = ("accepted", "preferred", "mean")
    row = min(
        (row for row in _rows(study) if row.measure in order),
        key=lambda row: order.index(row.measure),
        default=None,
    )
    if row is None:
        return ""
    outline = study.outline
    value = _WORDINGS[row.measure].value(row).removesuffix(" (none)")
    raters = row.raters if row.raters in ("people", "models") else literal(row.raters)
    kind = outline.unit_kinds.get(row.scale)
    units = f"{_UNITS[kind] if kind else 'what they judge'} (scale {literal(row.scale)})"
    if row.measure == "mean":
        return f"{raters} rate {units} {value} on average"
    if row.measure == "accepted":
        return f"{raters} accept {value} % of {units}"
    first, second = outline.pairs.get(row.scale, ("the first answer", "the second answer"))
    return f"{raters} prefer {second} over {first} in {value} %"
