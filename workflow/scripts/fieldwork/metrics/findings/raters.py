"""The sections about raters, and about what is known of users and learnt from raters."""

from collections.abc import Iterator, Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import (
    Section,
    TableColumn,
    count,
    interval,
    number,
    style_of,
    text,
    word,
    words_of_style,
)
from fieldwork.metrics.findings.wording import HUNDREDTHS, PERCENT, NumberStyle
from fieldwork.records.judging import (
    InterventionArm,
    InterventionEstimate,
    JudgementEstimate,
    UnitKind,
)
from fieldwork.records.memory import MemoryMatch

_WORDINGS: Mapping[str, NumberStyle] = {
    "accepted": NumberStyle("accepted, %", scale=100),
    "mean": NumberStyle("mean rating", 2),
    "preferred": NumberStyle("second answer preferred, %", scale=100),
    "exact_agreement": NumberStyle("same answer, %", scale=100),
    "kappa": NumberStyle("κ", 2),
    "weighted_kappa": NumberStyle("κ, weighted", 2),
    "alpha": NumberStyle("α", 2),
    "over_selection": NumberStyle("accepted, times people's", 2),
    "inflation": NumberStyle("rating above people's", 2, is_difference=True),
    "rho": NumberStyle("ρ with other people", 2),
    "rho_of_people": NumberStyle("ρ of people with other people", 2),
    "winning_rate": NumberStyle("people whom it may stand in for, %", scale=100),
}
"""The estimates that are listed, in their order; `metrics/judgements` has all."""

_STYLE = style_of("measure", _WORDINGS)

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
        return _STYLE(row).words
    first, second = study.outline.pairs[row.scale]
    return f"{second} preferred over {first}, %"


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
        TableColumn("Value", interval("estimate", _STYLE)),
        TableColumn("By chance", number("chance", _STYLE)),
        TableColumn("Largest", number("largest", HUNDREDTHS)),
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
    value = _STYLE(row).interval(row.estimate, row.ci_low, row.ci_high).removesuffix(" (none)")
    raters = row.raters if row.raters in ("people", "models") else literal(row.raters)
    kind = outline.unit_kinds.get(row.scale)
    units = f"{_UNITS[kind] if kind else 'what they judge'} (scale {literal(row.scale)})"
    if row.measure == "mean":
        return f"{raters} rate {units} {value} on average"
    if row.measure == "accepted":
        return f"{raters} accept {value} % of {units}"
    first, second = outline.pairs.get(row.scale, ("the first answer", "the second answer"))
    return f"{raters} prefer {second} over {first} in {value} %"


# ---- what is known of users, and learnt --------------------------------------------------------------

_SHARES_OF_FACTS = {"precision": "true, %", "recall": "of what is true, %", "f1": "F1, %"}
_MEASURES = {
    "precision": NumberStyle("right, % of what is taken", scale=100),
    "recall": NumberStyle("taken, % of what is right", scale=100),
    "f1": NumberStyle("F1, %", scale=100),
    "over_selection": NumberStyle("taken, times what is right", 2),
    "accepted": NumberStyle("accepted, %", scale=100),
    "rho": NumberStyle("ρ with ratings", 2),
}
_INTERVENTION_STYLE = style_of("measure", _MEASURES)
_ARMS: Mapping[InterventionArm, str] = {
    "all": "everything",
    "untrained": "cosine, untrained",
    "learnt": "learnt from other users",
    "before": "before",
    "verified": "verified",
    "refined": "verified, and stated once more",
}


def _facts_sentence(study: StudyEvidence) -> str:
    first = study.of(MemoryMatch)[0]
    return (
        "How much of what is stated of users is true, and how much of what is true is stated? "
        f"The reference has {first.n_references:,} facts of {first.n_users:,} users."
    )


MEMORY = Section(
    "What is known of users",
    _facts_sentence,
    ["memory_matches"],
    lambda study: [row for row in study.of(MemoryMatch) if row.estimate is not None],
    [
        TableColumn(
            "Attributes", word("stage", {"read": "as read", "verified": "after verification"})
        ),
        TableColumn("Measure", word("measure", _SHARES_OF_FACTS)),
        TableColumn("Value", interval("estimate", PERCENT)),
        TableColumn("Attributes stated", count("n_attributes")),
        TableColumn("Matches", count("n_matches")),
    ],
)


def _labels_sentence(rows: Sequence[InterventionEstimate]) -> str:
    """Whose judgements are foretold: models' are never taken for people's."""
    raters = {row.labels_of for row in rows if row.labels_of is not None}
    if raters == {"models"}:
        return "No person judged: the judgements are a model's."
    names = list(dict.fromkeys(_judged_by_models(rows)))
    if names:
        parts = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        return f"The judgements are people's, but for {parts}, which models judged."
    return "The judgements are people's."


def _judged_by_models(rows: Sequence[InterventionEstimate]) -> Iterator[str]:
    """What models judged and no person did, as a reader calls it."""
    for row in rows:
        # attributes before and after verification are those of an entry that has rows of its own
        if row.labels_of == "models" and row.arm not in ("before", "verified"):
            yield "what is stated once more" if row.arm == "refined" else literal(row.units)


INTERVENTIONS = Section(
    "What can be learnt from raters",
    lambda study: (
        "What would raters accept or prefer? The models are trained on other users than those "
        f"they are tested on. {_labels_sentence(study.of(InterventionEstimate))}"
    ),
    ["interventions"],
    lambda study: [row for row in study.of(InterventionEstimate) if row.estimate is not None],
    [
        TableColumn("Units", text("units")),
        TableColumn("What is taken", word("arm", _ARMS)),
        TableColumn("Measure", words_of_style(_INTERVENTION_STYLE)),
        TableColumn("Value", interval("estimate", _INTERVENTION_STYLE)),
        TableColumn("Units judged", count("n_units")),
    ],
)
