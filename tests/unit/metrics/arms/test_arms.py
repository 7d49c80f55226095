"""The table of arms: other tables' values beside what contexts hold, and reasons where there are none."""

import dataclasses
from typing import Any

import pandas as pd
import pytest

from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.arms.contexts import average_contexts
from fieldwork.metrics.arms.table import (
    MEAN_OVER_PROMPTS,
    ArmTables,
    measure_arms,
)
from fieldwork.metrics.arms.tests import StudyArm
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.arms import ArmMeasure
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import Comparison, VarianceShare
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import (
    answer_frame,
    chosen,
    item_frame,
    list_estimates,
    listed,
    question,
    score_estimates,
)

ARMS = [StudyArm("offline", 0), StudyArm("h5", 5), StudyArm("profile", None)]
CONTEXTS = {("t", "h5"): average_contexts([(5, 0, 900), (4, 1, 1100)])}
ITEMS = item_frame(*(question(i) for i in "ijk")).assign(task="t")


def frame(rows: list[Any], row_type: type[Any]) -> pd.DataFrame:
    columns = [f.name for f in dataclasses.fields(row_type)]
    return pd.DataFrame([dataclasses.asdict(row) for row in rows], columns=columns)


def metric_tables(answers: list[Answer]) -> ArmTables:
    answers_table = answer_frame(answers)
    settings: dict[str, Any] = {"baseline": "offline", "n_permutations": 99, "seed": 1}
    return ArmTables(
        comparisons=frame(measure_comparisons(answers_table, **settings), Comparison),
        variance=frame(measure_variance(answers_table, **settings), VarianceShare),
        estimates=frame(
            [
                *list_estimates(answers_table),
                *score_estimates(measure_runs(answers_table, ITEMS)),
            ],
            Estimate,
        ),
    )


def measure(answers: list[Answer]) -> dict[tuple[str, str], ArmMeasure]:
    rows = measure_arms(metric_tables(answers), arms=ARMS, contexts=CONTEXTS, baseline="offline")
    return {(row.condition, row.measure): row for row in rows}


LETTERS = [
    *(a for i in "ij" for a in chosen("AAAAAAAAAB", condition="offline", item_id=i)),
    *(
        a
        for p in range(10)
        for i in "ij"
        for a in chosen("CD" if i == "i" else "AA", condition="h5", puppet_id=f"p{p}", item_id=i)
    ),
]


def test_what_the_contexts_hold_stands_beside_what_was_asked_for() -> None:
    row = measure(LETTERS)["h5", "share_who"]
    assert (row.position, row.asked, row.conversations, row.dropped, row.tokens) == (
        *(1, 5, 4.5),
        *(0.5, 1000),
    )
    offline = measure(LETTERS)["offline", "em_strict"]
    assert (offline.position, offline.asked, offline.conversations, offline.tokens) == (
        *(0, 0),
        *(None, None),
    )


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
    score_row = rows["offline", "em_strict"]
    assert (score_row.estimate, score_row.ci_low, score_row.ci_high) == (
        score.value,
        score.ci_low,
        score.ci_high,
    )
    (share,) = tables.variance[tables.variance["condition"] == "h5"].itertuples()
    assert rows["h5", "share_who"].estimate == share.share_who
    assert rows["h5", "share_who"].reason == share.reason


@pytest.mark.parametrize(
    ("answers", "place", "reason"),
    [
        (LETTERS, ("offline", "excess_js_bits"), "this is the baseline, with which the other"),
        (LETTERS, ("offline", "share_who"), "this condition has no users"),
        (
            LETTERS[20:],
            ("h5", "excess_js_bits"),
            "no item has answers both under this condition and",
        ),
        (listed(None, None, condition="h5"), ("h5", "entropy_bits"), "no response gives an option"),
        (
            chosen("AB", condition="h5", item_id="nowhere"),
            ("h5", "em_strict"),
            "no item of this task has a gold letter",
        ),
    ],
)
def test_why_there_is_no_value(answers: list[Answer], place: tuple[str, str], reason: str) -> None:
    tables = metric_tables([a for a in answers if a.item_id != "nowhere"])
    if answers[0].item_id == "nowhere":
        variance = measure_variance(
            answer_frame(answers), baseline="offline", n_permutations=9, seed=1
        )
        tables = tables._replace(variance=frame(variance, VarianceShare))
    rows = measure_arms(tables, arms=ARMS, contexts={}, baseline="offline")
    (row,) = (row for row in rows if (row.condition, row.measure) == place)
    assert row.estimate is None
    assert reason in (row.reason or "")
