"""The section about people and models who judge: what they say, how far they agree, who may stand in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.verdicts import FindingVerdict
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
"""The estimates that are shown, in their order; `metrics/judgements` has all."""

_UNITS: Mapping[UnitKind, str] = {
    "attributes": "what was read off conversations",
    "relevance": "attributes as fitting a question",
    "answers": "the answers",
    "pairs": "the second answer beside the first",
    "mentions": "answers as naming an attribute",
}
"""What raters judge, in a sentence."""

_COLUMNS = (
    "Scale",
    "Raters",
    "Beside",
    "Measure",
    "Value",
    "By chance",
    "Largest",
    "Units",
    "Judgements",
    "Verdict",
)


def rater_sections(
    rows: Sequence[JudgementEstimate], outline: StudyOutline
) -> list[FindingsSection]:
    """A row for each estimate of all units; no section without judgements."""
    if not rows:
        return []
    return [
        FindingsSection(
            "People and models as raters",
            "What do raters say, how far do they agree, and how does a model's judgement differ from "
            "people's? Chance is what raters with these shares reach who draw, and the largest κ is what "
            "these shares allow. A model that may stand in for half of the people may judge in place of "
            f"a person.{_no_people(rows)}",
            _COLUMNS,
            [_finding(row, outline) for row in _shown_rows(rows)],
            ["alternative_annotators", "judgements"],
            "No judgement has a value.",
        )
    ]


def _no_people(rows: Iterable[JudgementEstimate]) -> str:
    """What a reader must know where models alone judged."""
    if any(row.raters == "people" for row in rows):
        return ""
    return " No person judged: all of this is what models say."


def _shown_rows(rows: Iterable[JudgementEstimate]) -> list[JudgementEstimate]:
    """Estimates of all units by scale and measure, kinds of raters before each model."""
    measures = list(_WORDINGS)
    candidates = [
        row
        for row in rows
        if row.measure in _WORDINGS
        and row.unit_group is None
        and row.estimate is not None
        and row.versus != "themselves"
        and (row.measure != "preferred" or row.option == "b")
    ]
    kinds = ("people", "models")
    return sorted(
        candidates,
        key=lambda row: (
            row.scale,
            measures.index(row.measure),
            row.raters not in kinds,
            row.raters != "people",
            row.raters,
            row.versus or "",
        ),
    )


def _preference(row: JudgementEstimate, outline: StudyOutline) -> str | None:
    """A preference in a pair with the conditions of both sides, where they are known."""
    if row.measure != "preferred" or row.scale not in outline.pairs:
        return None
    first, second = outline.pairs[row.scale]
    return f"{second} preferred over {first}, %"


def _finding(row: JudgementEstimate, outline: StudyOutline) -> Finding:
    wording = _WORDINGS[row.measure]
    value = interval_cell(
        row.estimate,
        row.ci_low,
        row.ci_high,
        digits=wording.digits,
        scale=wording.scale,
        is_difference=wording.is_difference,
    )
    chance = None if row.chance is None else wording.scale * row.chance
    cells = (
        literal(row.scale),
        literal(row.raters),
        "–" if row.versus is None else literal(row.versus),
        _preference(row, outline) or wording.text,
        value,
        number_cell(chance, wording.digits),
        number_cell(row.largest, 2),
        f"{row.n_units:,}",
        f"{row.n_judgements:,}",
    )
    return Finding(cells, FindingVerdict("no test"))


def rater_sentence(rows: Sequence[JudgementEstimate], outline: StudyOutline) -> str:
    """What raters of the first scale say, people before models; empty without judgements."""
    order = ("accepted", "preferred", "mean")
    shares = sorted(
        (row for row in _shown_rows(rows) if row.measure in order),
        key=lambda row: order.index(row.measure),
    )
    if not shares:
        return ""
    row = shares[0]
    wording = _WORDINGS[row.measure]
    value = interval_cell(
        row.estimate, row.ci_low, row.ci_high, digits=wording.digits, scale=wording.scale
    ).removesuffix(" (none)")
    raters = row.raters if row.raters in ("people", "models") else literal(row.raters)
    if row.measure == "mean":
        return f"{raters} rate {_unit_words(row, outline)} {value} on average"
    if row.measure == "accepted":
        return f"{raters} accept {value} % of {_unit_words(row, outline)}"
    first, second = outline.pairs.get(row.scale, ("the first answer", "the second answer"))
    return f"{raters} prefer {second} over {first} in {value} %"


def _unit_words(row: JudgementEstimate, outline: StudyOutline) -> str:
    """What raters judge on a scale, and its name."""
    kind = outline.unit_kinds.get(row.scale)
    return f"{_UNITS[kind] if kind else 'what they judge'} (scale {literal(row.scale)})"
