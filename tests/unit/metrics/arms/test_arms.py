"""The table of arms: other tables' values beside what contexts hold, and reasons where there are none."""

from typing import Any

import pytest

from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.arms.contexts import average_contexts
from fieldwork.metrics.arms.table import MEAN_OVER_PROMPTS, ArmTables, measure_arms
from fieldwork.metrics.arms.tests import StudyArm
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.arms import ArmMeasure
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import Comparison, VarianceShare
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import (
    answer_frame,
    asked,
    chosen,
    item_frame,
    list_estimates,
    listed,
    question,
    row_frame,
    score_estimates,
)

ARMS = [StudyArm("offline", 0), StudyArm("h5", 5), StudyArm("profile", None)]
CONTEXTS = {("t", "h5"): average_contexts([(5, 0, 900), (4, 1, 1100)])}
ITEMS = item_frame(*(question(i) for i in "ijk")).assign(task="t")


def metric_tables(answers: list[Answer]) -> ArmTables:
    frame = answer_frame(answers)
    settings: dict[str, Any] = {"baseline": "offline", "n_permutations": 99, "seed": 1}
    estimates = [*list_estimates(frame), *score_estimates(measure_runs(frame, ITEMS))]
    return ArmTables(
        comparisons=row_frame(measure_comparisons(frame, **settings), Comparison),
        variance=row_frame(measure_variance(frame, **settings), VarianceShare),
        estimates=row_frame(estimates, Estimate),
    )


def measure(answers: list[Answer]) -> dict[tuple[str, str], ArmMeasure]:
    rows = measure_arms(metric_tables(answers), arms=ARMS, contexts=CONTEXTS, baseline="offline")
    return {(row.condition, row.measure): row for row in rows}


LETTERS = [
    *(a for i in "ij" for a in chosen("AAAAAAAAAB", condition="offline", item_id=i)),
    *asked({f"p{p}": "CD" for p in range(10)}, condition="h5", item_id="i"),
    *asked({f"p{p}": "AA" for p in range(10)}, condition="h5", item_id="j"),
]


def test_what_the_contexts_hold_stands_beside_what_was_asked_for() -> None:
    rows = measure(LETTERS)
    names = ("position", "asked", "conversations", "dropped", "tokens")
    users, offline = (
        [getattr(row, name) for name in names]
        for row in (rows["h5", "share_who"], rows["offline", "em_strict"])
    )
    assert users == [1, 5, 4.5, 0.5, 1000]
    assert offline == [0, 0, None, None, None]


def test_distances_are_averaged_over_prompts_and_those_that_differ_are_counted() -> None:
    tables = metric_tables(LETTERS)
    row = measure(LETTERS)["h5", "excess_js_bits"]
    js = tables.comparisons[tables.comparisons["metric"] == "js_bits"]
    assert row.estimate == pytest.approx(js["excess"].mean())
    assert (row.n_items, row.n_different, row.n_puppets, row.n_responses) == (2, 1, 10, 40)
    assert (row.ci_low, row.reason) == (None, MEAN_OVER_PROMPTS)


def test_scores_and_shares_are_those_of_their_tables_with_their_intervals() -> None:
    tables, rows = metric_tables(LETTERS), measure(LETTERS)
    (score,) = tables.estimates[
        (tables.estimates["measure"] == "em_strict") & (tables.estimates["condition"] == "offline")
    ].itertuples()
    row = rows["offline", "em_strict"]
    ends = (row.estimate, row.ci_low, row.ci_high)
    assert ends == (score.value, score.ci_low, score.ci_high)
    (share,) = tables.variance[tables.variance["condition"] == "h5"].itertuples()
    row = rows["h5", "share_who"]
    assert (row.estimate, row.reason) == (share.share_who, share.reason)


TABLES = metric_tables(LETTERS)
UNSCORED = TABLES._replace(estimates=TABLES.estimates[:0])


@pytest.mark.parametrize(
    ("tables", "condition", "name", "reason"),
    [
        (TABLES, "offline", "excess_js_bits", "this is the baseline, with which the other"),
        (TABLES, "offline", "share_who", "this condition has no users"),
        (
            metric_tables(LETTERS[20:]),
            "h5",
            "excess_js_bits",
            "no item has answers both under this",
        ),
        (
            metric_tables(listed(None, None, condition="h5")),
            *("h5", "entropy_bits", "no response gives an option"),
        ),
        (UNSCORED, "h5", "em_strict", "no item of this task has a gold letter"),
    ],
)
def test_why_there_is_no_value(tables: ArmTables, condition: str, name: str, reason: str) -> None:
    rows = measure_arms(tables, arms=ARMS, contexts={}, baseline="offline")
    (row,) = (row for row in rows if (row.condition, row.measure) == (condition, name))
    assert row.estimate is None
    assert reason in (row.reason or "")
