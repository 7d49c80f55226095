"""The sections about scored questions: scores, places, new letters, categories of subjects."""

from collections.abc import Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.measures import score_reading
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import (
    ConditionRow,
    StudyOutline,
    arm_columns,
    groups,
    row_cells,
    study_rows,
)
from fieldwork.metrics.findings.verdicts import (
    FindingVerdict,
    StudyClaims,
    joined_verdict,
    missing_test,
)
from fieldwork.metrics.findings.wording import interval_cell, number_cell, number_text, p_cell
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import FIELD, between
from fieldwork.records.metrics import CategoryVariance, Novelty, Rank, ScoreSpread


def run_scores(rows: Sequence[Estimate]) -> list[Estimate]:
    """The score of each arm in the reading that claims are made of, beside the baseline's."""
    return [
        row
        for row in rows
        if row.measure == score_reading(row.condition) and row.reference == "baseline"
    ]


def scores(
    rows: Sequence[Estimate],
    spreads: Sequence[ScoreSpread],
    claims: StudyClaims,
    outline: StudyOutline,
) -> FindingsSection:
    """Scores of whole runs, and whether users score or spread otherwise than reruns do."""
    by_arm = {_arm(row): row for row in spreads if row.metric == score_reading(row.condition)}
    arms = study_rows(run_scores(rows), outline, list(outline.conditions))
    in_any_form = {_arm(row): row for row in rows if row.measure == "em_flexible"}
    is_other = any(_differs(row, in_any_form.get(_arm(row))) for row in arms)
    question = (
        "Do users change the mean score (%), or do their contexts spread scores wider than reruns do? "
        "One run is all questions, asked by one user or rerun."
    )
    if any(row.condition == FIELD for row in arms):
        question += " Letters of real users are read out of whole answers."
    if is_other:
        question += (
            " A letter counts where it stands in the form that was asked for; the score in any form "
            "counts "
            "it wherever the answer names it. A difference is claimed where both show it."
        )
    return FindingsSection(
        "Scores",
        question,
        (
            *arm_columns(outline),
            "Mean score",
            *(["In any form"] if is_other else []),
            *("SD", "Runs×questions", "Points", "p", "p of spread"),
            "Verdict",
        ),
        [
            _score_finding(
                row,
                in_any_form.get(_arm(row)) if is_other else None,
                by_arm.get(_arm(row)),
                claims,
                outline,
            )
            for row in arms
        ],
        ["accuracy", "score_comparisons"],
        "No task of this study has scores.",
    )


def _arm(row: ConditionRow) -> tuple[str | None, str, str]:
    return row.model, row.task, row.condition


def _differs(row: Estimate, other: Estimate | None) -> bool:
    """Whether a score is another one in any form, as printed."""
    return other is not None and _percent(row.value) != _percent(other.value)


def _score_finding(
    row: Estimate,
    in_any_form: Estimate | None,
    spread: ScoreSpread | None,
    claims: StudyClaims,
    outline: StudyOutline,
) -> Finding:
    is_baseline = row.condition == outline.baseline
    cells = (
        interval_cell(row.value, row.ci_low, row.ci_high, digits=1, scale=100),
        *([_percent(in_any_form.value)] if in_any_form else []),
        _percent(spread.sd if spread else None),
        f"{row.n_units}×{row.n_items}",
        *_comparison_cells(row, spread, claims),
    )
    if row.value is None:
        verdict = missing_test(row.reason)
    elif is_baseline:
        verdict = FindingVerdict("baseline")
    else:
        verdict = joined_verdict(claims.verdict("score", row), _spread_verdict(spread, claims))
    return Finding((*row_cells(row, outline), *cells), verdict, is_baseline)


def _percent(share: float | None) -> str:
    return number_cell(None if share is None else 100 * share, 1)


def _spread_verdict(row: ScoreSpread | None, claims: StudyClaims) -> FindingVerdict:
    verdict = claims.verdict("score_spread", row) if row else FindingVerdict("no test")
    return verdict._replace(text=f"{verdict.text} spread")


def _comparison_cells(row: Estimate, spread: ScoreSpread | None, claims: StudyClaims) -> list[str]:
    """Difference, its p, and the p of the spread."""
    if row.difference is None:
        return ["–"] * 3
    ends = (row.difference_low, row.difference_high)
    return [
        interval_cell(row.difference, *ends, digits=1, scale=100, is_difference=True),
        p_cell(claims.p_value("score", row)),
        p_cell(claims.p_value("score_spread", spread) if spread else None),
    ]


def places(rows: Sequence[Rank], outline: StudyOutline) -> FindingsSection:
    """The places of a leaderboard that runs would take."""
    read = [row for row in rows if row.metric == score_reading(row.condition)]
    return FindingsSection(
        "Places on the leaderboard",
        "Which places would runs take, and how often do two runs differ in place? Places have no test of "
        "their own: see the spread of scores.",
        (
            *arm_columns(outline),
            *("Places", "Models", "Leaderboard", "Runs", "Two runs differ, %"),
            *("Same context again, %", "Verdict"),
        ),
        [
            _place_finding(row, outline)
            for row in study_rows(read, outline, list(outline.conditions))
        ],
        ["ranks"],
        "No runs have a place on a leaderboard.",
    )


def _place_finding(row: Rank, outline: StudyOutline) -> Finding:
    has_place = row.rank_best is not None and row.rank_worst is not None
    span = f"{row.rank_best}"
    if row.rank_best != row.rank_worst:
        span += f" to {row.rank_worst}"
    cells = (
        span if has_place else "–",
        str(row.n_models),
        literal(row.leaderboard),
        str(row.n_units),
        _whole_percent(row.p_change),
        _whole_percent(row.p_change_rerun),
    )
    verdict = FindingVerdict("no test") if has_place else missing_test(row.reason)
    is_baseline = row.condition == outline.baseline
    return Finding((*row_cells(row, outline), *cells), verdict, is_baseline)


def _whole_percent(share: float | None) -> str:
    return number_cell(None if share is None else 100 * share, 0)


def novelty(rows: Sequence[Novelty], claims: StudyClaims, outline: StudyOutline) -> FindingsSection:
    """Questions with an answer that the baseline never gave, beside what more reruns alone give."""
    baseline = outline.label(outline.baseline)
    arms = study_rows(rows, outline, [*outline.users, *outline.controls])
    return FindingsSection(
        "Novelty",
        f"How many questions get an answer never seen in {baseline}, from users and from as many fresh "
        "reruns?",
        (
            *arm_columns(outline),
            *("Questions", "n", "Share, %", "Reruns, %", "Points", "p", "Verdict"),
        ),
        [_novelty_finding(row, claims, outline) for row in arms],
        ["novelty"],
        f"No questions are answered both with a user and in {baseline}.",
    )


def _novelty_finding(row: Novelty, claims: StudyClaims, outline: StudyOutline) -> Finding:
    cells = (
        str(row.n_items),
        "–" if row.n_equal is None else str(row.n_equal),
        interval_cell(row.share, row.ci_low, row.ci_high, digits=0, scale=100),
        _whole_percent(row.control_share),
        interval_cell(
            row.excess, row.excess_low, row.excess_high, digits=0, scale=100, is_difference=True
        ),
        p_cell(claims.p_value("novelty", row)),
    )
    is_control = row.condition in outline.controls and row.share is not None
    verdict = FindingVerdict("control") if is_control else claims.verdict("novelty", row)
    return Finding((*row_cells(row, outline), *cells), verdict, is_control)


def categories(
    rows: Sequence[CategoryVariance], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    """Whether contexts matter more for some categories of subject."""
    user_rows = study_rows(rows, outline, outline.users)
    units = between({row.condition for row in user_rows})
    arms = groups(user_rows, lambda row: (row.model, row.task, row.condition))
    return FindingsSection(
        "Categories of subjects",
        f"Does it matter more for some subjects? Variance between {units} (number of subjects).",
        (*arm_columns(outline), "Variance by category", "p", "Verdict"),
        [
            _category_finding(arm, claims, outline)
            for arm in arms
            if any(row.var_who is not None for row in user_rows)
        ],
        ["categories"],
        "No task with users has categories of subjects.",
    )


def _category_finding(
    arm: Sequence[CategoryVariance], claims: StudyClaims, outline: StudyOutline
) -> Finding:
    estimates = sorted(
        ((row.var_who, row) for row in arm if row.var_who is not None), key=lambda pair: -pair[0]
    )
    names = [
        f"{literal(row.category)} {number_text(value, 3)} ({row.n_subjects})"
        for value, row in estimates
    ]
    cells = (", ".join(names) or "–", p_cell(claims.p_value("categories", arm[0])))
    return Finding((*row_cells(arm[0], outline), *cells), claims.verdict("categories", arm[0]))
