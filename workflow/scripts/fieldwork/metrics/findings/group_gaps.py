"""The sections about questions that are put for groups of people, and the sentence about them."""

from collections.abc import Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.measures import GAPS
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import (
    StudyOutline,
    arm_cells,
    arm_columns,
    ordered_rows,
)
from fieldwork.metrics.findings.verdicts import StudyClaims
from fieldwork.metrics.findings.wording import count_phrase, number_cell, percent, points
from fieldwork.records.robustness import GroupGap

_NAMES: Mapping[str, str] = {
    "accuracy_gap": "score, best group less worst",
    "excess_flips": "other letters for another group",
    "excess_overlap": "options in common with another group",
}


def group_gap_sections(
    rows: Sequence[GroupGap], claims: StudyClaims, outline: StudyOutline
) -> list[FindingsSection]:
    """What differs between groups over all questions, and option by option; none without groups."""
    return [_gaps(rows, claims, outline), _options(rows, claims, outline)] if rows else []


def _gaps(rows: Sequence[GroupGap], claims: StudyClaims, outline: StudyOutline) -> FindingsSection:
    findings = [
        Finding(
            (
                *_cells(row, outline),
                _NAMES[row.metric],
                _pair(row) if row.group else f"{row.n_groups} groups",
                number_cell(_percentage(row.estimate), 1),
                number_cell(_percentage(row.expected_same), 1),
            ),
            claims.verdict("group_gap", row),
        )
        for row in _study_rows(rows, outline, GAPS)
    ]
    return FindingsSection(
        "Questions put for groups of people",
        "Are groups of people answered alike? By chance is what the difference is on average where the "
        "answers are dealt to the groups anew. Letters and options are beyond those of asking again.",
        (*arm_columns(outline), "Measure", "Groups", "Points", "By chance", "Verdict"),
        findings,
        ["group_gaps"],
        "No question is answered for every group.",
    )


def _options(
    rows: Sequence[GroupGap], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    shares = _option_shares(rows)
    gaps = _study_rows(rows, outline, ("option_gap",))
    findings = [
        Finding(
            (
                *_cells(row, outline),
                literal(row.item_id or ""),
                literal(row.option or ""),
                *(
                    f"{literal(group or '')} {_share_text(shares.get((*_key(row), group)))}"
                    for group in (row.group, row.other_group)
                ),
            ),
            claims.verdict("group_option", row),
        )
        for row in gaps
    ]
    return FindingsSection(
        "Options given to groups of people",
        "Is an option given to one group more often than to another? The groups with the largest and the "
        "smallest share are named.",
        (*arm_columns(outline), "Prompt", "Option", "Most often", "Least often", "Verdict"),
        findings,
        ["group_gaps"],
        "No question is answered for every group.",
    )


def group_gap_sentence(rows: Sequence[GroupGap], claims: StudyClaims, outline: StudyOutline) -> str:
    """Whether groups of people are answered alike; empty without groups."""
    if not rows:
        return ""
    phrases = [
        _gap_phrase(_study_rows(rows, outline, GAPS), claims),
        _option_phrase(rows, claims, outline),
    ]
    return (
        "; ".join(filter(None, phrases))
        or "whether groups of people are answered alike cannot be tested"
    )


def _gap_phrase(gaps: Sequence[GroupGap], claims: StudyClaims) -> str:
    tests = [row for row in gaps if claims.verdict("group_gap", row).is_tested]
    differences = [row for row in tests if claims.verdict("group_gap", row).is_shown]
    if not tests:
        return ""
    if not differences:
        return "no difference between groups of people is shown"
    furthest = max(differences, key=_beyond_chance)
    amount = points(furthest.estimate or 0.0, digits=1)
    groups = f", {_pair(furthest)}" if furthest.group else ""
    return (
        f"{len(differences):,} of {count_phrase(len(tests), 'test')} with a difference between groups of "
        f"people, most in the {_NAMES[furthest.metric]} ({amount}{groups})"
    )


def _option_phrase(rows: Sequence[GroupGap], claims: StudyClaims, outline: StudyOutline) -> str:
    gaps = _study_rows(rows, outline, ("option_gap",))
    tests = [row for row in gaps if claims.verdict("group_option", row).is_tested]
    differences = [row for row in tests if claims.verdict("group_option", row).is_shown]
    if not tests:
        return ""
    if not differences:
        return "no option is shown to be given to one group more often"
    shares = _option_shares(rows)
    row = max(differences, key=lambda row: row.estimate or 0.0)
    sides = [
        f"{_share_text(shares.get((*_key(row), group)))} to {literal(group or '')}"
        for group in (row.group, row.other_group)
    ]
    return (
        f"{len(differences):,} of {count_phrase(len(tests), 'option')} given to one group more often, "
        f"most {literal(row.option or '')}: {', '.join(sides)}"
    )


def _beyond_chance(row: GroupGap) -> float:
    return abs((row.estimate or 0.0) - (row.expected_same or 0.0))


def _option_shares(rows: Sequence[GroupGap]) -> Mapping[tuple[str | None, ...], float | None]:
    return {(*_key(row), row.group): row.estimate for row in rows if row.metric == "option_share"}


def _key(row: GroupGap) -> tuple[str | None, ...]:
    return row.model, row.origin, row.condition, row.item_id, row.option


def _study_rows(
    rows: Sequence[GroupGap], outline: StudyOutline, metrics: Sequence[str]
) -> list[GroupGap]:
    """Rows of some metrics, in the study's order; the clean questions need not be asked themselves."""
    of_metrics = [row for row in rows if row.metric in metrics]
    origins = sorted({row.origin for row in of_metrics} - set(outline.tasks))
    with_origins = outline._replace(tasks=[*outline.tasks, *origins])
    return ordered_rows(
        of_metrics, with_origins, lambda row: (row.origin, row.model, row.condition)
    )


def _cells(row: GroupGap, outline: StudyOutline) -> tuple[str, ...]:
    return arm_cells(outline, row.origin, row.model, row.condition)


def _pair(row: GroupGap) -> str:
    return f"{literal(row.group or '')} − {literal(row.other_group or '')}"


def _percentage(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _share_text(share: float | None) -> str:
    return "–" if share is None else percent(share, digits=1)
