"""Groups from tables, or from assumptions; what is answered is left out."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from plan_cases import ASSUMED, CACHE, FOLDER, PRICE, SOURCE, response

from fieldwork import tables
from fieldwork.generation.costs import PlannedCalls
from fieldwork.generation.planning.loads import NOTHING_OBSERVED
from fieldwork.generation.planning.page import StudyPlan, render, warnings_of
from fieldwork.generation.planning.plan import expected_costs, plan_study
from fieldwork.generation.planning.rows import plan_rows
from fieldwork.generation.planning.tables import (
    PlanInputs,
    read_arms,
    read_observed_tokens,
    read_requests,
)
from fieldwork.generation.pricing import Price
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context, Message
from fieldwork.records.tasks import Item
from fieldwork.token_estimate import TOKENS_PER_BYTE

TASK: dict[str, Any] = {"sources": [SOURCE], "runs": 4, "max_tokens": 5}
HISTORY: dict[str, Any] = {
    "context": "history",
    "conversations": 3,
    "token_budget": 5000,
    "replicates": 2,
    "temperature": 1,
}
CONDITIONS = {
    "offline": {"context": "none"},
    "history": HISTORY,
    "rag": {**HISTORY, "context": "rag"},
    "profile": {"context": "profile", "replicates": 1},
}
LOCAL = {"provider": "embedded", "label": "E"}
MODELS = {"m": LOCAL}


def study(files: set[str], responses: set[str] | None = None, task: str = "t") -> PlanInputs:
    return PlanInputs(
        {task: TASK}, CONDITIONS, MODELS, {}, ASSUMED, FOLDER, files, responses or set()
    )


@pytest.mark.parametrize(
    ("condition", "n_groups", "n_questions", "prefix"),
    [
        ("offline", 1, 28, 0),
        ("history", 4, 14, 4000),
        ("rag", 28, 2, 4000),
        ("profile", 4, 7, 120),
    ],
)
def test_assumed_groups(condition: str, n_groups: int, n_questions: int, prefix: int) -> None:
    planned = read_requests(study(set()), "t", condition)
    assert planned.basis == "all assumed"
    groups = planned.assumed_groups
    assert {(g.context_tokens, len(g.questions)) for g in groups} == {(prefix, n_questions)}
    assert len(groups) == n_groups


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Two items, one context of 1,500 tokens, one item answered."""
    monkeypatch.chdir(tmp_path)
    items = [Item(i, "choice", i, i * 40, [], None, None, "x") for i in ("a", "b")]
    tables.write_rows("results/s/tasks/t.parquet", items, Item)
    context = Context("ctx", "p", None, [], [Message("user", "hello")], 1500, 0)
    tables.write_rows("results/s/contexts/t/history.parquet", [context], Context)
    asked = [Request(i, "ctx", "p", 0) for i in ("a", "b")]
    tables.write_rows("results/s/requests/t/history.parquet", asked, Request)
    answered = {"condition": "history", "context_id": "ctx", "puppet_id": "p"}
    answer = response(**answered, input_tokens=3028, output_tokens=9)
    tables.write_rows("results/s/responses/m/t/history.parquet", [answer], Response)
    return {
        "results/s/tasks/t.parquet",
        "results/s/contexts/t/history.parquet",
        "results/s/requests/t/history.parquet",
    }


@pytest.mark.usefixtures("written")
def test_groups_from_tables_leave_out_what_is_answered(written: set[str]) -> None:
    answered = {"results/s/responses/m/t/history.parquet"}
    for responses, left in ((set[str](), 2), (answered, 1)):
        planned_study = study(written, responses)
        requests = {("t", "history"): read_requests(planned_study, "t", "history")}
        (arm,) = read_arms(planned_study, "m", requests, {})
        assert (arm.basis, arm.n_requests, arm.n_answered) == ("tables", 2, 2 - left)
        (group,) = arm.groups
        assert (group.context_tokens, [q.tokens for q in group.questions]) == (1500, [14] * left)
        observed_tokens = read_observed_tokens(planned_study, "m", requests)
        if responses:
            assert observed_tokens.tokens_per_byte == pytest.approx(0.5)
            assert observed_tokens.output_tokens == {"t": 9.0}
        else:
            assert observed_tokens.tokens_per_byte == TOKENS_PER_BYTE


def test_without_contexts_the_items_count_and_the_page_says_what_is_assumed(
    written: set[str],
) -> None:
    planned_study = study(written - {"results/s/requests/t/history.parquet"})
    requests = {("t", "history"): read_requests(planned_study, "t", "history")}
    assert requests["t", "history"].basis == "contexts assumed"
    (arm,) = read_arms(planned_study, "m", requests, {})
    assert {q.tokens for g in arm.groups for q in g.questions} == {14}
    rows = plan_rows(arm, LOCAL, None, read_observed_tokens(planned_study, "m", requests), 2)
    plan = StudyPlan(rows, ["Mind <this>."], ["So it is."])
    page = render(plan, name="<a&b>", budget_usd=12.5)
    assert "&lt;a&amp;b&gt;" in page
    assert "Mind &lt;this&gt;." in page
    assert "The budget is $12.50" in page
    assert "contexts assumed" in page
    assert "http" not in page


def test_a_warning_says_what_a_cost_leaves_out(written: set[str]) -> None:
    gemini = {
        "provider": "gemini",
        "model": "g",
        "requests_per_minute": None,
        "explicit_cache": True,
        "cache_ttl_s": 3600,
        "prefix_cache": CACHE,
    }
    planned_study = study(written)
    requests = {("t", "history"): read_requests(planned_study, "t", "history")}
    (arm,) = read_arms(planned_study, "m", requests, {})
    price = Price(1.0, 0.5, 1.0, 4.0, date(2026, 11, 1), "test")
    rows = plan_rows(arm, gemini, price, read_observed_tokens(planned_study, "m", requests), 2)
    (warning,) = warnings_of({"m": gemini}, rows)
    assert warning.startswith("m: the cost leaves out the fee for storing contexts")
    (warning,) = warnings_of({"m": gemini}, plan_rows(arm, gemini, None, NOTHING_OBSERVED, 2))
    assert warning.startswith("m has no cost: the config's prices have no entry 'g'.")


def test_a_reader_is_warned_of_shutdowns_and_missing_prices() -> None:
    models = {
        "old": {"model": "o", "shutdown": "2026-06-01", "successors": ["n"]},
        "new": {"model": "n", "shutdown": None, "successors": []},
    }
    assert warnings_of(models, []) == ["old (o) is shut down on 2026-06-01. Successors: n."]


PAID = {"provider": "openai", "model": "p", "requests_per_minute": None}
PRICES = {"p": PRICE}


def test_a_plan_has_all_arms_of_all_models_and_leaves_out_what_is_answered(
    written: set[str],
) -> None:
    answered = {"results/s/responses/m/t/history.parquet"}
    own = study(written, answered)._replace(
        conditions={"history": HISTORY}, models={"m": LOCAL, "paid": PAID}, prices=PRICES
    )
    plan = plan_study(own)
    chosen = {row.model: row for row in plan.rows if row.is_chosen}
    assert {name: (row.n_requests, row.n_answered) for name, row in chosen.items()} == {
        "m": (2, 1),
        "paid": (2, 0),
    }
    assert {row.dispatch for row in plan.rows if row.model == "paid"} == {"live", "flex", "batch"}
    # its one answer of 3028 tokens was twice as long as estimated
    assert chosen["m"].tokens_per_byte == pytest.approx(0.5)
    assert chosen["paid"].tokens_per_byte == TOKENS_PER_BYTE
    assert any(sentence.startswith("m: its answers so far") for sentence in plan.assumptions)
    assert plan.warnings == []
    costs = "paid: a million tokens cost $100.00 as input and $400.00 as output"
    assert f"{costs}, as of 2026-11-01. Source: test." in plan.assumptions


@pytest.mark.parametrize("has_tables", [True, False])
def test_streams_are_priced_as_live_calls_of_their_number(
    written: set[str], has_tables: bool
) -> None:
    sampled = PAID | {"first_token_sample": 1, "dispatch": "batch"}
    own = study(written if has_tables else set())._replace(
        conditions={"history": HISTORY}, models={"paid": sampled}, prices=PRICES
    )
    rows = {row.dispatch: row for row in plan_study(own).rows}
    stream, live = rows["stream"], rows["live"]
    assert (stream.n_requests, stream.n_answered, stream.is_chosen) == (1, 0, True)
    assert rows["batch"].is_chosen
    assert stream.cost_expected_usd is not None
    assert live.cost_no_cache_usd is not None
    share = stream.n_requests / live.n_requests
    assert stream.cost_expected_usd == pytest.approx(live.cost_no_cache_usd * share, rel=0.02)
    costs = expected_costs(own)
    assert costs[PlannedCalls("paid", "t", "history", is_stream=True)] == stream.cost_expected_usd
    page = render(plan_study(own), name="s", budget_usd=None)
    assert "1 calls of each task" not in page
    assert "<h3>paid, stream</h3>" in page
    assert "<h3>paid, batch</h3>" in page
