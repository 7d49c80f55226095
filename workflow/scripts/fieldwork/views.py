"""Tables of earlier versions as views of the table of estimates, so that SQL of theirs still runs.

Owns which views there are, in study.duckdb and as CSV. They hold what the tables held, without Holm's
correction within a table: `claims` has the corrected p-values of the study.
"""

from collections.abc import Mapping
from typing import NamedTuple

from fieldwork.measures import question
from fieldwork.records.columns import Part

_OF_FORM = ", ".join(f"'{name}'" for name in question("form").names)
_OF_LISTS = "measure IN ('one_minus_top5_share', 'entropy_bits') AND item_id IS NULL"


class View(NamedTuple):
    """A view of estimates.

    Attributes:
        title: what a row is.
        part: the part of a study that has it.
        select: its SQL.
    """

    title: str
    part: Part
    select: str


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
