"""The sections about what is known of users, and about interventions that learn from raters."""

from collections.abc import Iterator, Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.metrics.findings.wording import interval_cell
from fieldwork.records.judging import InterventionArm, InterventionEstimate
from fieldwork.records.memory import MemoryMatch

_STAGES = {"read": "as read", "verified": "after verification"}
_MEASURES = {
    "precision": "right, % of what is taken",
    "recall": "taken, % of what is right",
    "f1": "F1, %",
    "over_selection": "taken, times what is right",
    "accepted": "accepted, %",
    "rho": "ρ with ratings",
}
_ARMS: Mapping[InterventionArm, str] = {
    "all": "everything",
    "untrained": "cosine, untrained",
    "learnt": "learnt from other users",
    "before": "before",
    "verified": "verified",
    "refined": "verified, and stated once more",
}


def memory_sections(
    matches: Sequence[MemoryMatch], interventions: Sequence[InterventionEstimate]
) -> list[FindingsSection]:
    """A section each, where there are rows."""
    sections = []
    if matches:
        sections.append(
            FindingsSection(
                "What is known of users",
                "How much of what is stated of users is true, and how much of what is true is stated? "
                f"The reference has {matches[0].n_references:,} facts of {matches[0].n_users:,} users.",
                ("Attributes", "Measure", "Value", "Attributes stated", "Matches", "Verdict"),
                [_match_finding(row) for row in matches if row.estimate is not None],
                ["memory_matches"],
                "Nothing is known of users.",
            )
        )
    if interventions:
        sections.append(
            FindingsSection(
                "What can be learnt from raters",
                "What would raters accept or prefer? The models are trained on other users than those "
                f"they are tested on. {_labels_sentence(interventions)}",
                ("Units", "What is taken", "Measure", "Value", "Units judged", "Verdict"),
                [_intervention_finding(row) for row in interventions if row.estimate is not None],
                ["interventions"],
                "Nothing could be learnt.",
            )
        )
    return sections


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


def _match_finding(row: MemoryMatch) -> Finding:
    cells = (
        _STAGES[row.stage],
        {"precision": "true, %", "recall": "of what is true, %", "f1": "F1, %"}[row.measure],
        interval_cell(row.estimate, row.ci_low, row.ci_high, digits=0, scale=100),
        f"{row.n_attributes:,}",
        f"{row.n_matches:,}",
    )
    return Finding(cells, FindingVerdict("no test"))


def _intervention_finding(row: InterventionEstimate) -> Finding:
    is_share = row.measure not in ("rho", "over_selection")
    value = interval_cell(
        row.estimate,
        row.ci_low,
        row.ci_high,
        digits=0 if is_share else 2,
        scale=100 if is_share else 1,
    )
    cells = (literal(row.units), _ARMS[row.arm], _MEASURES[row.measure], value, f"{row.n_units:,}")
    return Finding(cells, FindingVerdict("no test"))
