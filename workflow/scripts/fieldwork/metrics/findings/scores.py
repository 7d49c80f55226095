"""The sections about scored questions: scores, places, new letters, categories, known probabilities."""

from collections.abc import Mapping

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.keys import arm_of
from fieldwork.metrics.claims.measures import EXPECTED_SCORE, is_known_score, score_reading
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import groups
from fieldwork.metrics.findings.sections import (
    ARM,
    Cell,
    Section,
    TableColumn,
    count,
    interval,
    number,
    of_row_beside,
    p_value,
    text,
    word,
)
from fieldwork.metrics.findings.verdicts import (
    BASELINE,
    NO_TEST,
    FindingVerdict,
    joined_verdict,
    missing_test,
)
from fieldwork.metrics.findings.wording import (
    NOTHING,
    PERCENT,
    TENTHS_OF_PERCENT,
    number_cell,
    number_text,
)
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import FIELD, between
from fieldwork.records.metrics import (
    CategoryVariance,
    ExactEstimate,
    ExactMeasure,
    Novelty,
    Rank,
    ScoreSpread,
)

# ---- scores ------------------------------------------------------------------------------------------


def read_scores(study: StudyEvidence) -> list[Estimate]:
    """The score of each arm beside the baseline's: of probabilities, or in the reading of claims."""
    rows = study.rows(Estimate, reference="baseline")
    baseline = study.outline.baseline
    known_scores = {
        arm_of(row): row
        for row in rows
        if is_known_score(row) or (row.measure == EXPECTED_SCORE and row.condition == baseline)
    }
    readings = [row for row in rows if row.measure == score_reading(row.condition)]
    return [known_scores.get(arm_of(row), row) for row in readings]


def _in_any_form(row: Estimate, study: StudyEvidence) -> str:
    value = study.value_beside("value", Estimate, row, measure="em_flexible", reference="baseline")
    return number_cell(value, 1, 100)


def _is_form_lost(study: StudyEvidence) -> bool:
    """Whether a score is another one in any form, as printed."""
    return any(
        study.rows_beside(Estimate, row, measure="em_flexible", reference="baseline")
        and _in_any_form(row, study) != number_cell(row.value, 1, 100)
        for row in read_scores(study)
        if row.measure != EXPECTED_SCORE
    )


def _score_question(study: StudyEvidence) -> str:
    question = (
        "Do users change the mean score (%), or do their contexts spread scores wider than reruns do? "
        "One run is all questions, asked by one user or rerun."
    )
    if any(row.measure == EXPECTED_SCORE for row in read_scores(study)):
        question += " Scores are the probability of the right letter where answers state it."
    if any(row.condition == FIELD for row in read_scores(study)):
        question += " Letters of real users are read out of whole answers."
    if _is_form_lost(study):
        question += (
            " A letter counts where it stands in the form that was asked for; the score in any form "
            "counts "
            "it wherever the answer names it. A difference is claimed where both show it."
        )
    return question


def _is_baseline(row: Estimate | Rank | ExactEstimate, study: StudyEvidence) -> bool:
    return row.condition == study.outline.baseline


def _spread(row: Estimate, study: StudyEvidence) -> ScoreSpread | None:
    """Of the score itself, or of its reading where not all runs state probabilities."""
    spreads = {spread.metric: spread for spread in study.rows_beside(ScoreSpread, row)}
    return spreads.get(row.measure) or spreads.get(score_reading(row.condition))


def _spread_beside(row: Estimate, study: StudyEvidence) -> ScoreSpread | None:
    return None if row.difference is None else _spread(row, study)


def _if_compared(cell: Cell) -> Cell:
    return lambda row, study: NOTHING if row.difference is None else cell(row, study)


def _score_verdict(row: Estimate, study: StudyEvidence) -> FindingVerdict:
    if row.value is None:
        return missing_test(row.reason)
    if _is_baseline(row, study):
        return BASELINE
    spread = _spread(row, study)
    verdict = study.verdict("score_spread", spread) if spread else NO_TEST
    return joined_verdict(
        study.verdict("score", row), verdict._replace(text=f"{verdict.text} spread")
    )


SCORES = Section(
    "Scores",
    _score_question,
    ["score_comparisons", "accuracy"],
    read_scores,
    [
        *ARM,
        TableColumn("Mean score", interval("value", TENTHS_OF_PERCENT)),
        TableColumn(
            lambda study: "In any form" if _is_form_lost(study) else "",
            _in_any_form,
        ),
        TableColumn("SD", of_row_beside(_spread, number("sd", TENTHS_OF_PERCENT))),
        TableColumn("Runs×questions", lambda row, _: f"{row.n_units}×{row.n_items}"),
        TableColumn(
            "Points",
            _if_compared(
                interval(
                    "difference",
                    TENTHS_OF_PERCENT.as_difference,
                    "difference_low",
                    "difference_high",
                )
            ),
        ),
        TableColumn("p", _if_compared(p_value("score"))),
        TableColumn("p of spread", of_row_beside(_spread_beside, p_value("score_spread"))),
    ],
    _score_verdict,
    _is_baseline,
)

# ---- places ------------------------------------------------------------------------------------------


def _places(row: Rank, _: StudyEvidence) -> str:
    if row.rank_best is None or row.rank_worst is None:
        return NOTHING
    worst = f" to {row.rank_worst}" if row.rank_best != row.rank_worst else ""
    return f"{row.rank_best}{worst}"


PLACES = Section(
    "Places on the leaderboard",
    "Which places would runs take, and how often do two runs differ in place? Places have no test of "
    "their own: see the spread of scores.",
    ["ranks"],
    lambda study: [row for row in study.rows(Rank) if row.metric == score_reading(row.condition)],
    [
        *ARM,
        TableColumn("Places", _places),
        TableColumn("Models", count("n_models")),
        TableColumn("Leaderboard", text("leaderboard")),
        TableColumn("Runs", count("n_units")),
        TableColumn("Two runs differ, %", number("p_change", PERCENT)),
        TableColumn("Same context again, %", number("p_change_rerun", PERCENT)),
    ],
    lambda row, study: missing_test(row.reason) if _places(row, study) == NOTHING else NO_TEST,
    _is_baseline,
)

# ---- new letters -------------------------------------------------------------------------------------


def _is_control(row: Novelty, study: StudyEvidence) -> bool:
    return row.condition in study.outline.controls and row.share is not None


NOVELTY = Section(
    "Novelty",
    lambda study: (
        "How many questions get an answer never seen in "
        f"{study.outline.label(study.outline.baseline)}, from users and from as many fresh reruns?"
    ),
    ["novelty"],
    lambda study: study.rows(Novelty, [*study.outline.users, *study.outline.controls]),
    [
        *ARM,
        TableColumn("Questions", count("n_items")),
        TableColumn("n", count("n_equal")),
        TableColumn("Share, %", interval("share", PERCENT)),
        TableColumn("Reruns, %", number("control_share", PERCENT)),
        TableColumn(
            "Points", interval("excess", PERCENT.as_difference, "excess_low", "excess_high")
        ),
        TableColumn("p", p_value("novelty")),
    ],
    lambda row, study: (
        FindingVerdict("control") if _is_control(row, study) else study.verdict("novelty", row)
    ),
    _is_control,
)

# ---- categories --------------------------------------------------------------------------------------


def _category_question(study: StudyEvidence) -> str:
    rows = study.rows(CategoryVariance, study.outline.users)
    return (
        f"Does it matter more for some subjects? Variance between "
        f"{between({row.condition for row in rows})} (number of subjects)."
    )


def _arms_with_categories(study: StudyEvidence) -> list[CategoryVariance]:
    """A row of each arm, as all of an arm have one test."""
    rows = study.rows(CategoryVariance, study.outline.users)
    has_values = any(row.var_who is not None for row in rows)
    return [arm[0] for arm in groups(rows, arm_of)] if has_values else []


def _by_category(row: CategoryVariance, study: StudyEvidence) -> str:
    values = [
        (one.var_who, one)
        for one in study.rows_beside(CategoryVariance, row)
        if one.var_who is not None
    ]
    names = [
        f"{literal(one.category)} {number_text(value, 3)} ({one.n_subjects})"
        for value, one in sorted(values, key=lambda pair: -pair[0])
    ]
    return ", ".join(names) or NOTHING


CATEGORIES = Section(
    "Categories of subjects",
    _category_question,
    ["categories"],
    _arms_with_categories,
    [
        *ARM,
        TableColumn("Variance by category", _by_category),
        TableColumn("p", p_value("categories")),
    ],
    "categories",
)

# ---- known probabilities -----------------------------------------------------------------------------

_MEASURES: Mapping[ExactMeasure, str] = {
    "share_who": "variance between contexts, %",
    "score": "mean score, %",
    "entropy": "entropy of letters, % of a bit",
    "novelty": "questions with a new answer, %",
    "distance": "distance from the baseline, % of a bit",
}


def _exact_rows(study: StudyEvidence) -> list[ExactEstimate]:
    conditions = [study.outline.baseline, *study.outline.simulated_users]
    return [
        row
        for row in study.rows(ExactEstimate, conditions)
        if row.estimate is not None and (row.n_users or row.measure in ("score", "entropy"))
    ]


EXACT_ESTIMATES = Section(
    "Without the chance of a draw",
    "What do the model's own probabilities say that answers drawn from them do not? The tables above "
    "take them where answers state them; here the same measures of the drawn letters stand beside them. "
    "A probability takes one call, however many answers are drawn from it.",
    ["exact_estimates"],
    _exact_rows,
    [
        *ARM,
        TableColumn("Measure", word("measure", _MEASURES)),
        TableColumn("By probabilities", interval("estimate", TENTHS_OF_PERCENT)),
        TableColumn(
            "By drawn answers",
            interval("sampled", TENTHS_OF_PERCENT, "sampled_low", "sampled_high"),
        ),
        TableColumn("Calls", count("n_calls")),
        TableColumn("Drawn", count("n_answers")),
    ],
    is_reference=_is_baseline,
)
