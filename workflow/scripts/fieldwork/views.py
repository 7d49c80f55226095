"""Tables of earlier versions as views of the table of estimates, so that SQL of theirs still runs.

Owns which views there are, in study.duckdb and as CSV. They hold what the tables held, without Holm's
correction within a table: `claims` has the corrected p-values of the study.
"""

from collections.abc import Mapping
from typing import NamedTuple

from fieldwork.measures import question
from fieldwork.records.columns import Part

_OF_FORM = ", ".join(f"'{name}'" for name in question("form").names)
_OF_SCORES = ", ".join(question("accuracy").names)
_OF_LISTS = "measure IN ('one_minus_top5_share', 'entropy_bits') AND item_id IS NULL"


class View(NamedTuple):
    """A view of estimates.

    Attributes:
        title: what a row is.
        part: the part of a study that has it.
        select: its SQL.
        tables: what it takes besides estimates: names of tables of `metrics/`.
    """

    title: str
    part: Part
    select: str
    tables: tuple[str, ...] = ()


VIEWS: Mapping[str, View] = {
    "heterogeneity": View(
        "How varied the answers to a list item are",
        "every study",
        """
SELECT model, task, condition, item_id, measure AS metric, value AS estimate, ci_low, ci_high,
    n_answers AS n_responses, n_equal, n_without AS n_unread, 'response' AS unit, reason
FROM estimates
WHERE measure IN ('unique_items', 'top5_share', 'one_minus_top5_share', 'entropy_bits')
    AND item_id IS NOT NULL
ORDER BY model, task, condition, item_id, metric""",
    ),
    "prompt_means": View(
        "Heterogeneity as a mean over prompts, beside the baseline's",
        "every study",
        f"""
SELECT model, task, condition, versus AS baseline, measure AS metric, value AS mean, ci_low, ci_high,
    difference, difference_low, difference_high, p_value, prompts_low, prompts_high,
    prompts_difference_low, prompts_difference_high, prompts_reason, n_higher, n_items, n_equal, n_units,
    CASE WHEN condition = versus THEN n_units ELSE n_units_versus END AS n_units_baseline, unit, reason
FROM estimates
WHERE reference = 'baseline' AND {_OF_LISTS}
ORDER BY model, task, condition, metric""",
    ),
    "accuracy": View(
        "Scores of runs: their mean with its interval, the lowest and the highest",
        "every study",
        f"""
WITH scores AS (
    UNPIVOT (SELECT *, max(n_items) OVER (PARTITION BY model, task) AS run_size FROM accuracy_runs)
    ON {_OF_SCORES} INTO NAME measure VALUE score
),
spans AS (
    SELECT model, task, condition, measure, any_value(run_size) AS run_size,
        min(score) FILTER (WHERE is_counted) AS minimum, max(score) FILTER (WHERE is_counted) AS maximum,
        count(*) AS n_all, count(*) FILTER (WHERE n_items < run_size) AS n_short
    FROM scores GROUP BY ALL
)
SELECT model, task, condition, measure AS metric, value AS mean,
    CASE WHEN n_units > 1 THEN minimum END AS minimum, CASE WHEN n_units > 1 THEN maximum END AS maximum,
    ci_low, ci_high, n_units AS n_runs, run_size AS n_items,
    CASE unit WHEN 'puppet' THEN unit ELSE 'rerun' END AS unit,
    nullif(concat_ws('; ',
        CASE WHEN n_units > 0 AND n_short > 0 THEN
            format('{{}} of {{}} runs left out: they answer fewer than {{}} items',
                n_short, n_all, run_size)
        END,
        CASE WHEN ci_low IS NULL THEN reason END), '') AS reason
FROM estimates JOIN spans USING (model, task, condition, measure)
WHERE reference = 'baseline'
ORDER BY model, task, condition, metric""",
        ("accuracy_runs",),
    ),
    "score_comparisons": View(
        "A condition's scores beside the baseline's",
        "every study",
        """
SELECT e.model, e.task, e.condition, e.versus AS baseline, metric, e.value AS mean,
    b.value AS mean_baseline, e.difference, e.difference_low AS ci_low, e.difference_high AS ci_high,
    e.p_value, sd, sd_baseline, sd_ratio, s.p_value AS p_spread, s.n_permutations, share_between,
    s.ci_low AS share_low, s.ci_high AS share_high, s.n_units, n_units_baseline, e.n_items, s.unit,
    nullif(concat_ws('; ', CASE WHEN e.difference_low IS NULL THEN e.reason END, s.reason), '') AS reason
FROM estimates e
JOIN score_spreads s ON (s.model, s.task, s.condition, s.metric)
    = (e.model, e.task, e.condition, e.measure)
LEFT JOIN estimates b ON (b.model, b.task, b.condition, b.measure, b.reference)
    = (e.model, e.task, e.versus, e.measure, e.reference)
WHERE e.reference = 'baseline' AND e.condition <> e.versus
ORDER BY e.model, e.task, e.condition, metric""",
        ("score_spreads",),
    ),
    "answer_form": View(
        "What a reader meets in the answers of a condition, or of a group of participants",
        "every study",
        f"""
SELECT model, task, condition, variable, "group", measure, value AS mean, ci_low, ci_high, versus,
    difference, difference_low, difference_high, p_value, n_answers,
    CASE unit WHEN 'puppet' THEN n_units ELSE n_answers END AS n_units, n_items, n_without, n_truncated,
    unit, reason
FROM estimates
WHERE reference IN ('baseline', 'other groups') AND measure IN ({_OF_FORM})
ORDER BY model, task, condition, variable NULLS FIRST, "group" NULLS FIRST, measure""",
    ),
    "field_heterogeneity": View(
        "Heterogeneity of a condition as a mean over prompts, beside the field's",
        "field",
        f"""
SELECT model, task, condition, measure AS metric, value AS mean, value - difference AS field_mean,
    difference, difference_low, difference_high, p_value, n_items, n_equal, n_units,
    n_units_versus AS n_field, reason
FROM estimates
WHERE reference = 'field' AND {_OF_LISTS}
ORDER BY model, task, condition, metric""",
    ),
}
"""By name."""
