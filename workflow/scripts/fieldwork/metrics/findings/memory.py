"""The sections about what is known of users, and about interventions that learn from raters."""

from collections.abc import Iterator, Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import (
    Section,
    TableColumn,
    count,
    interval,
    style_of,
    text,
    word,
    words_of_style,
)
from fieldwork.metrics.findings.wording import PERCENT, NumberStyle
from fieldwork.records.judging import InterventionArm, InterventionEstimate
from fieldwork.records.memory import MemoryMatch

_SHARES_OF_FACTS = {"precision": "true, %", "recall": "of what is true, %", "f1": "F1, %"}
_MEASURES = {
    "precision": NumberStyle("right, % of what is taken", scale=100),
    "recall": NumberStyle("taken, % of what is right", scale=100),
    "f1": NumberStyle("F1, %", scale=100),
    "over_selection": NumberStyle("taken, times what is right", 2),
    "accepted": NumberStyle("accepted, %", scale=100),
    "rho": NumberStyle("ρ with ratings", 2),
}
_STYLE = style_of("measure", _MEASURES)
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
        TableColumn("Measure", words_of_style(_STYLE)),
        TableColumn("Value", interval("estimate", _STYLE)),
        TableColumn("Units judged", count("n_units")),
    ],
)
