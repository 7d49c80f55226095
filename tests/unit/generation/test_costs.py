"""The bill: sums by arm and tier, shared calls once, and what is not known."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fieldwork import tables
from fieldwork.generation.costs import BilledAnswer, PlannedCalls, cost_rows, read_stream_bills
from fieldwork.generation.first_tokens import STREAM
from fieldwork.records.service import FirstToken

ARM = ("m", "t", "c")
CALLS = PlannedCalls(*ARM)


def answer(key: str, **changes: Any) -> BilledAnswer:
    plain = BilledAnswer(*ARM, key, "live", 100, 40, 10, 5, 1, 0.25, "2026-11-01")
    return plain._replace(**changes)


def test_tokens_and_dollars_add_up_beside_the_plan() -> None:
    (row,) = cost_rows([answer("a"), answer("b", cost_usd=0.5)], {CALLS: 0.5})
    assert (row.n_answers, row.input_tokens, row.cached_tokens) == (2, 200, 80)
    assert (row.cache_write_tokens, row.output_tokens, row.reasoning_tokens) == (20, 10, 2)
    assert (row.cached_share, row.cost_usd, row.planned_usd) == (0.4, 0.75, 0.5)
    assert row.difference_usd == 0.25
    assert row.reason is None


def test_a_server_that_counts_more_cached_than_it_was_sent_is_not_believed() -> None:
    rows = cost_rows([answer("a", cached_tokens=10**6), answer("b", input_tokens=None)], {})
    assert [(row.cached_tokens, row.cached_share) for row in rows] == [(100, 1.0)]


def test_a_shared_call_is_billed_where_it_first_appears() -> None:
    first, second = cost_rows([answer("a"), answer("a", condition="d")], {CALLS: 1.0})
    assert (first.n_shared, first.cost_usd) == (0, 0.25)
    assert (second.n_shared, second.cost_usd, second.input_tokens) == (1, 0.0, 0)
    assert second.planned_usd is None


def test_dispatches_are_rows_and_share_the_plan() -> None:
    answers = [answer("a"), answer("b"), answer("c"), answer("d", dispatch="flex")]
    rows = cost_rows(answers, {CALLS: 1.0})
    assert [(row.dispatch, row.planned_usd) for row in rows] == [("live", 0.75), ("flex", 0.25)]


def test_streams_are_rows_beside_a_plan_of_their_own() -> None:
    answers = [answer("a"), answer("b"), answer("s", dispatch=STREAM, price_as_of=None)]
    planned_usd = {CALLS: 1.0, CALLS._replace(is_stream=True): 0.5}
    usual, streams = cost_rows(answers, planned_usd)
    assert (usual.n_answers, usual.planned_usd) == (2, 1.0)
    assert (streams.dispatch, streams.n_answers, streams.cost_usd) == ("stream", 1, 0.25)
    assert (streams.planned_usd, streams.difference_usd, streams.price_as_of) == (0.5, -0.25, None)


def test_streams_are_read_from_their_table(tmp_path: Path) -> None:
    sent_at = datetime(2026, 11, 23, tzinfo=UTC)
    call = FirstToken(*ARM, "i", None, None, 0, "k", 0.2, 0.5, 100, 40, 5, 0.25, sent_at)
    tables.write_table(tmp_path / "c.parquet", [call], FirstToken)
    (bill,) = read_stream_bills([str(tmp_path / "c.parquet")])
    assert bill == BilledAnswer(*ARM, "k", "stream", 100, 40, None, 5, None, 0.25, None)


@pytest.mark.parametrize(
    ("costs", "total", "reason"),
    [
        ([None, None], None, "no answer has a cost"),
        ([0.25, None], 0.25, "1 of 2 answers have no cost"),
        ([0.25, 0.25], 0.5, None),
    ],
)
def test_an_unknown_cost_has_a_reason(
    costs: list[float | None], total: float | None, reason: str | None
) -> None:
    (row,) = cost_rows([answer(str(n), cost_usd=c) for n, c in enumerate(costs)], {CALLS: 0.5})
    assert row.cost_usd == total
    assert (row.reason or "").startswith(reason or "")
    assert (row.reason is None) == (reason is None)
    assert (row.difference_usd is None) == (total is None)


@pytest.mark.parametrize(
    ("usd", "models_with_storage", "words"),
    [
        (0.25, {"m"}, ["billed apart"]),
        (None, {"m"}, ["no answer has a cost", "billed apart"]),
        (0.25, {"other"}, []),
    ],
)
def test_the_reason_says_that_storage_is_billed_apart(
    usd: float | None, models_with_storage: set[str], words: list[str]
) -> None:
    (row,) = cost_rows([answer("a", cost_usd=usd)], {CALLS: 0.5}, models_with_storage)
    assert [word for word in words if word in (row.reason or "")] == words
    assert (row.reason is None) == (not words)
