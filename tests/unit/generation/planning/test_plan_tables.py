"""Groups from tables, or from assumptions; what is answered is left out, without a key or a call."""

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from plan_cases import ASSUMED, FOLDER, GEMINI, ITEMS_TABLE, PRICE, SOURCE, write_arm
from plan_cases import item_of as question_of
from senders import loopback_entry, sender_of

from fieldwork import tables
from fieldwork.generation.costs import PlannedCalls
from fieldwork.generation.first_tokens import stream_settings
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.planning import ledger
from fieldwork.generation.planning.ledger import ledger_answers
from fieldwork.generation.planning.loads import NOTHING_OBSERVED
from fieldwork.generation.planning.page import StudyPlan, render, warnings_of
from fieldwork.generation.planning.plan import expected_costs, plan_study
from fieldwork.generation.planning.rows import plan_rows
from fieldwork.generation.planning.streams import read_streamed_requests
from fieldwork.generation.planning.tables import (
    PlanInputs,
    PlannedRequests,
    read_arms,
    read_observed_tokens,
    read_requests,
)
from fieldwork.generation.pricing import Price
from fieldwork.generation.providers.base import Exchange
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context, Message
from fieldwork.token_estimate import TOKENS_PER_BYTE
from unit.table_rows import response_of

TASK: dict[str, Any] = {"sources": [SOURCE], "runs": 4, "max_tokens": 5}
HISTORY: dict[str, Any] = {"context": "history", "conversations": 3, "token_budget": 5000}
HISTORY |= {"replicates": 2, "temperature": 1}
CONDITIONS = {
    "offline": {"context": "none"},
    "history": HISTORY,
    "rag": {**HISTORY, "context": "rag"},
    "profile": {"context": "profile", "replicates": 1},
}
LOCAL = {"provider": "embedded", "label": "E"}
PAID = {"provider": "openai", "model": "p", "requests_per_minute": None}
PRICES = {"p": PRICE}
ANSWERED = {f"{FOLDER}/responses/m/t/history.parquet"}


def study(files: set[str], responses: set[str] = set(), **more: Any) -> PlanInputs:  # noqa: B006
    known = PlanInputs({"t": TASK}, CONDITIONS, {"m": LOCAL}, {}, ASSUMED, FOLDER, files, responses)
    return known._replace(**more)


def planned_requests(
    study: PlanInputs, condition: str = "history"
) -> dict[tuple[str, str], PlannedRequests]:
    return {("t", condition): read_requests(study, "t", condition)}


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
    groups = [(g.context_tokens, len(g.questions)) for g in planned.assumed_groups]
    assert groups == [(prefix, n_questions)] * n_groups


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Two items, one context of 1,500 tokens, one item answered."""
    monkeypatch.chdir(tmp_path)
    place = {"item_id": "a", "condition": "history", "context_id": "ctx", "puppet_id": "p"}
    call = {"ledger_key": "k", "attempts": 1, "temperature_sent": True}
    answer = response_of(**place, **call, input_tokens=3028, output_tokens=9)
    tables.write_rows(*ANSWERED, [answer], Response)
    context = Context("ctx", "p", None, [], [Message("user", "hello")], 1500, 0)
    requests = [Request(name, "ctx", "p", 0) for name in "ab"]
    return write_arm("history", [question_of(name, 40) for name in "ab"], [context], requests)


@pytest.mark.parametrize(("responses", "left"), [(set(), 2), (ANSWERED, 1)])
def test_groups_from_tables_leave_out_what_is_answered(
    written: set[str], responses: set[str], left: int
) -> None:
    own = study(written, responses)
    requests = planned_requests(own)
    (arm,) = read_arms(own, "m", requests, {})
    assert (arm.basis, arm.n_requests, arm.n_answered) == ("tables", 2, 2 - left)
    (group,) = arm.groups
    assert (group.context_tokens, [q.tokens for q in group.questions]) == (1500, [14] * left)
    observed = read_observed_tokens(own, "m", requests)
    assert observed.tokens_per_byte == (pytest.approx(0.5) if responses else TOKENS_PER_BYTE)
    assert observed.output_tokens == ({"t": 9.0} if responses else {})


def test_without_contexts_the_items_count_and_the_page_says_what_is_assumed(
    written: set[str],
) -> None:
    own = study(written - {f"{FOLDER}/requests/t/history.parquet"})
    requests = planned_requests(own)
    assert requests["t", "history"].basis == "contexts assumed"
    (arm,) = read_arms(own, "m", requests, {})
    assert {q.tokens for g in arm.groups for q in g.questions} == {14}
    rows = plan_rows(arm, LOCAL, None, read_observed_tokens(own, "m", requests), 2)
    plan = StudyPlan(rows, ["Mind <this>."], ["So it is."])
    page = render(plan, name="<a&b>", budget_usd=12.5)
    for words in ("&lt;a&amp;b&gt;", "Mind &lt;this&gt;.", "The budget is $12.50"):
        assert words in page
    assert "contexts assumed" in page
    assert "http" not in page


def test_warnings_say_what_a_cost_leaves_out_and_what_is_shut_down(written: set[str]) -> None:
    own = study(written)
    (arm,) = read_arms(own, "m", planned_requests(own), {})
    for price, sentence in (
        (
            Price(1.0, 0.5, 1.0, 4.0, date(2026, 11, 1), "test"),
            "m: the cost leaves out the fee for",
        ),
        (None, "m has no cost: the config's prices have no entry 'm'."),
    ):
        rows = plan_rows(arm, GEMINI, price, NOTHING_OBSERVED, 2)
        (warning,) = warnings_of({"m": GEMINI}, rows)
        assert warning.startswith(sentence)
    old = {"model": "o", "shutdown": "2026-06-01", "successors": ["n"]}
    models = {"old": old, "new": {"model": "n", "shutdown": None, "successors": []}}
    assert warnings_of(models, []) == ["old (o) is shut down on 2026-06-01. Successors: n."]


def test_a_plan_has_all_arms_of_all_models_and_leaves_out_what_is_answered(
    written: set[str],
) -> None:
    models = {"m": LOCAL, "paid": PAID}
    own = study(written, ANSWERED, conditions={"history": HISTORY}, models=models, prices=PRICES)
    plan = plan_study(own)
    chosen = {row.model: row for row in plan.rows if row.is_chosen}
    counts = {name: (row.n_requests, row.n_answered) for name, row in chosen.items()}
    assert counts == {"m": (2, 1), "paid": (2, 0)}
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
    models = {"paid": PAID | {"first_token_sample": 1, "dispatch": "batch"}}
    conditions = {"history": HISTORY}
    files = written if has_tables else set[str]()
    own = study(files, conditions=conditions, models=models, prices=PRICES)
    rows = {row.dispatch: row for row in plan_study(own).rows}
    stream, live = rows["stream"], rows["live"]
    assert (stream.n_requests, stream.n_answered, stream.is_chosen) == (1, 0, True)
    assert rows["batch"].is_chosen
    share = (live.cost_no_cache_usd or 0) * stream.n_requests / live.n_requests
    assert stream.cost_expected_usd == pytest.approx(share, rel=0.02)
    calls = PlannedCalls("paid", "t", "history", is_stream=True)
    assert expected_costs(own)[calls] == stream.cost_expected_usd
    page = render(plan_study(own), name="s", budget_usd=None)
    assert "1 calls of each task" not in page
    assert "<h3>paid, stream</h3>" in page
    assert "<h3>paid, batch</h3>" in page


# --- what a ledger answers already

LEDGER = "resources/ledger/m.sqlite"
ARM = ("t", "profile")
KEYED: dict[str, Any] = {"label": "M", "model": "m", "api_key_env": "NO_SUCH_KEY", "timeout_s": 9}
KEYED |= {"concurrency": 1, "dispatch": "live", "send_seed": True}
VERTEX = {"api_key_env": None, "vertex": {"project": "p", "location": "global"}}
EMBEDDED = {"provider": "embedded", "encoder": "all-MiniLM-L6-v2", "sharpness": 40}
ENTRIES: dict[str, dict[str, Any]] = {
    "openai": loopback_entry(**KEYED),
    "gemini": {**KEYED, "provider": "gemini"},
    "vertex": {**KEYED, **VERTEX, "provider": "gemini", "send_seed": False},
    "embedded": {**KEYED, **EMBEDDED, "context_weight": 0.3},
}
COMPLETION = b'{"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}], "usage": {}}'
CANDIDATE = b'{"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}]}'
REPLIES = {"openai": COMPLETION, "embedded": b'{"text": "A"}'}
ITEMS = [question_of(name, 40) for name in "abc"]
# two puppets bring the same context: their requests are two draws
CONTEXTS = [
    Context("c1", "p1", None, [], [Message("system", "I am anna")], 4, 0),
    Context("c2", "p3", None, [], [Message("user", "I am bert"), Message("assistant", "Hi")], 6, 0),
]
REQUESTS = [
    Request(item.item_id, context, puppet, replicate)
    for context, puppet in (("c1", "p1"), ("c1", "p2"), ("c2", "p3"))
    for item in ITEMS
    for replicate in (0, 1)
]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlanInputs:
    monkeypatch.chdir(tmp_path)
    files = write_arm("profile", ITEMS, CONTEXTS, REQUESTS)
    profile = {"context": "profile", "temperature": 1, "replicates": 2}
    known = {"tasks": {"t": TASK | {"runs": 2}}, "conditions": {"profile": profile}}
    return study(files, **known, models={"m": ENTRIES["openai"]}, ledgers={LEDGER}, seed=7)


def answer(study: PlanInputs, kind: str, requests: list[Request], monkeypatch: Any) -> None:
    """Have requests answered as the job does it, but by a provider that is never asked."""
    monkeypatch.setenv("NO_SUCH_KEY", "k")
    provider: Any = make_provider(ENTRIES[kind], Path("store.sqlite"))
    monkeypatch.delenv("NO_SUCH_KEY")

    async def send(body: bytes) -> Exchange:  # noqa: ARG001
        await asyncio.sleep(0)
        return Exchange(REPLIES.get(kind, CANDIDATE))

    provider.send = send
    arm = GenerationArm("m", *ARM, temperature=1, max_tokens=5, seed=study.seed)
    with open_ledger(Path(LEDGER)) as opened:
        sender = sender_of(provider, opened, ceiling=1, max_tokens=5)
        items, contexts = {i.item_id: i for i in ITEMS}, {c.context_id: c for c in CONTEXTS}
        rows = [*generate(requests, items, contexts, sender=sender, arm=arm)]
    assert len(rows) == len(requests)


def answers_of(study: PlanInputs, **changes: Any) -> Any:
    entry = ENTRIES[changes.pop("kind", "openai")] | changes
    return ledger_answers(study, "m", entry, planned_requests(study, "profile"))


@pytest.mark.parametrize("kind", sorted(ENTRIES))
@pytest.mark.parametrize("n", [0, 7, len(REQUESTS)])
def test_what_the_job_stored_is_found(
    asked: PlanInputs, kind: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # contexts are read one at a time
    monkeypatch.setattr(ledger, "CONTEXT_TOKENS_AT_ONCE", 1)
    answer(asked, kind, REQUESTS[:n], monkeypatch)
    assert answers_of(asked, kind=kind) == {ARM: set(REQUESTS[:n])}
    requests = planned_requests(asked, "profile")
    (arm,) = read_arms(asked, "m", requests, answers_of(asked, kind=kind))
    assert (arm.n_requests, arm.n_answered) == (len(REQUESTS), n)


def test_other_calls_are_not_answered(asked: PlanInputs, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(asked, "openai", REQUESTS, monkeypatch)
    cooler = {"profile": {**asked.conditions["profile"], "temperature": 0.5}}
    longer = {"t": {**asked.tasks["t"], "max_tokens": 6}}
    for changes in ({"conditions": cooler}, {"tasks": longer}, {"seed": 8}):
        assert answers_of(asked._replace(**changes)) == {ARM: set()}  # type: ignore[arg-type]
    assert answers_of(asked, base_url="http://127.0.0.1:8/v1") == {ARM: set()}
    cheaper = {"dispatch": "flex", "prefix_cache": {"key": True}}
    assert answers_of(asked, **cheaper) == {ARM: set(REQUESTS)}


@pytest.mark.parametrize(
    ("ledgers", "files"), [(set(), None), ({LEDGER}, {ITEMS_TABLE}), ({LEDGER}, set())]
)
def test_where_there_is_no_ledger_or_no_table_nothing_is_made(
    asked: PlanInputs, ledgers: set[str], files: set[str] | None
) -> None:
    if ledgers:
        with open_ledger(Path(LEDGER)):
            pass
    known = asked._replace(ledgers=ledgers, files=asked.files if files is None else files)
    assert answers_of(known) == {}
    assert Path(LEDGER).exists() == bool(ledgers)


def test_streams_are_planned_until_their_own_answers_are_stored(
    asked: PlanInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {**ENTRIES["openai"], "first_token_sample": 4}
    sampled = asked._replace(models={"m": entry}, prices={"m": PRICE})
    # the usual calls answer no stream
    answer(asked, "openai", REQUESTS, monkeypatch)
    assert stream_counts(sampled) == (4, 0)
    requests = planned_requests(sampled, "profile")
    (streams,) = read_streamed_requests(sampled, "m", requests).values()
    monkeypatch.setitem(ENTRIES, "openai", stream_settings(entry))
    answer(asked, "openai", [*streams.requests][:3], monkeypatch)
    assert stream_counts(sampled) == (4, 3)
    assert stream_counts(sampled._replace(ledgers=set())) == (4, 0)


def stream_counts(study: PlanInputs) -> tuple[int, int]:
    """Streams of the plan, and how many of them are answered."""
    (row,) = (row for row in plan_study(study).rows if row.dispatch == "stream")
    assert row.is_chosen
    assert (row.cost_expected_usd == 0) == (row.n_answered == row.n_requests)
    return row.n_requests, row.n_answered
