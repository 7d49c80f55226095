"""The views of study.duckdb: transcripts, and tables of earlier versions, whose SQL still runs.

Owns which views there are, and what their columns mean. Tables of earlier versions are views of the table
of estimates, written as CSV too. They hold what the tables held, without Holm's correction within a
table: `claims` has the corrected p-values of the study.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from fieldwork.measures import question
from fieldwork.records.columns import Part

_OF_FORM = ", ".join(f"'{name}'" for name in question("form").names)
_OF_SCORES = ", ".join(question("accuracy").names)
_OF_LISTS = "measure IN ('one_minus_top5_share', 'entropy_bits') AND item_id IS NULL"


class View(NamedTuple):
    """A view of tables of the database.

    Attributes:
        title: what a row is.
        part: the part of a study that has it.
        select: its SQL.
        tables: those that it cannot do without.
        names: what it calls columns of the first of them that has such a column; others keep their names.
        words: what columns mean that are in none of them, or that mean something else.
    """

    title: str
    part: Part
    select: str
    tables: tuple[str, ...]
    names: Mapping[str, str]
    words: Mapping[str, str]


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
        ("estimates",),
        {
            "measure": "metric",
            "value": "estimate",
            "n_answers": "n_responses",
            "n_without": "n_unread",
        },
        {},
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
        ("estimates",),
        {"measure": "metric", "value": "mean", "versus": "baseline"},
        {"n_units_baseline": "the same of the baseline"},
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
        ("estimates", "accuracy_runs"),
        {"measure": "metric", "value": "mean", "n_units": "n_runs"},
        {
            "minimum": "the lowest score of a counted run, NULL with fewer than two",
            "maximum": "the highest score of a counted run, NULL with fewer than two",
            "n_runs": "counted runs",
            "n_items": "items of a run that counts",
            "unit": "what one run is: `rerun` or `puppet`",
        },
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
        ("estimates", "score_spreads"),
        {
            "measure": "metric",
            "value": "mean",
            "versus": "baseline",
            "difference_low": "ci_low",
            "difference_high": "ci_high",
        },
        {
            "mean_baseline": "the same of the baseline",
            "p_spread": "permutation test that the condition spreads no more, one-sided",
            "n_permutations": "random permutations behind `p_spread`, 0 where all were listed",
            "share_low": "lower end of the 95 % interval of `share_between`",
            "share_high": "upper end of the 95 % interval of `share_between`",
            "n_units": "counted runs of the condition, one a unit",
            "unit": "what one run is: `rerun` or `puppet`",
        },
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
        ("estimates",),
        {"value": "mean"},
        {"n_units": "users, or answers without users"},
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
        ("estimates",),
        {"measure": "metric", "value": "mean", "versus": "field", "n_units_versus": "n_field"},
        {"field_mean": "the same of the field"},
    ),
}
"""Tables of earlier versions, by name."""

_ANSWERS = """
SELECT model, task, condition, item_id, puppet_id, replicate, context_id, text,
    CASE outcome WHEN 'failed' THEN 'no answer arrived' END AS missing
FROM responses"""

_FIELD_ANSWERS = """
UNION ALL
SELECT model, task, 'field', item_id, participant_id, replicate, NULL, text,
    'excluded by the check ' || excluded_for
FROM field_answers"""

_CONTEXT = (
    r"array_to_string(list_transform(c.messages, lambda m: m.role || ': ' || m.content), e'\n')"
)

_JOIN_CONTEXTS = """
LEFT JOIN contexts c ON (c.task, c.condition, c.context_id, c.puppet_id)
    = (r.task, r.condition, r.context_id, r.puppet_id)
    AND (c.item_id IS NULL OR c.item_id = r.item_id)"""

_TRANSCRIPTS = """
WITH answered AS ({answered}),
readings AS (
    SELECT answered.*, kind, outcome, reason,
        CASE kind WHEN 'list' THEN array_to_string(items, '; ') WHEN 'number' THEN value::VARCHAR
            ELSE letter END AS reading,
        coalesce(missing, CASE WHEN NOT is_counted THEN CASE
            WHEN kind = 'list' AND coalesce(len(items), 0) = 0 THEN reason
            WHEN kind = 'number' AND value IS NULL THEN reason
            ELSE 'a later answer of the same user' END END) AS left_out
    FROM answered LEFT JOIN answers
    ON (answered.model, answered.task, answered.condition, answered.item_id, answered.replicate)
        = (answers.model, answers.task, answers.condition, answers.item_id, answers.replicate)
        AND answered.puppet_id IS NOT DISTINCT FROM answers.puppet_id
)
SELECT r.model, r.task, r.condition, r.item_id, r.puppet_id, r.replicate, r.kind, i.question,
    {context} AS context, i.prompt, r.text AS answer, r.outcome, r.reading, r.reason, i.gold,
    r.left_out, r.left_out IS NULL AS counts
FROM readings r LEFT JOIN items i USING (task, item_id) {contexts}
"""

_OF_TRANSCRIPTS = {
    "context": "the messages before the question, as text",
    "answer": "the reply",
    "reading": "the letter, the number, or the options separated by semicolons",
    "left_out": "why figures do not count the answer, NULL where they do",
    "counts": "whether figures count the answer",
}


def transcripts(tables: Collection[str]) -> View:
    """The view `transcripts` over those of its tables that a database has."""
    has_contexts = "contexts" in tables
    return View(
        "An answer, with everything that belongs to it",
        "every study",
        _TRANSCRIPTS.format(
            answered=_ANSWERS + (_FIELD_ANSWERS if "field_answers" in tables else ""),
            context=_CONTEXT if has_contexts else "NULL::VARCHAR",
            contexts=_JOIN_CONTEXTS if has_contexts else "",
        ),
        ("answers", "responses", "items"),
        {},
        _OF_TRANSCRIPTS,
    )
