"""What a ledger answers already, found without a key, a call, or a ledger being made."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from plan_cases import ASSUMED, PRICE
from senders import loopback_entry, sender_of

from fieldwork import tables
from fieldwork.generation.first_tokens import stream_settings
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.planning import ledger
from fieldwork.generation.planning.ledger import ledger_answers
from fieldwork.generation.planning.plan import plan_study
from fieldwork.generation.planning.streams import read_streamed_requests
from fieldwork.generation.planning.tables import (
    PlanInputs,
    PlannedRequests,
    read_arms,
    read_requests,
)
from fieldwork.generation.providers.base import Exchange
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context, Message
from fieldwork.records.tasks import Item

LEDGER = "resources/ledger/m.sqlite"
ARM = ("t", "profile")
TABLES = {
    "results/s/tasks/t.parquet",
    "results/s/contexts/t/profile.parquet",
    "results/s/requests/t/profile.parquet",
}
ENTRIES: dict[str, dict[str, Any]] = {
    "openai": loopback_entry(model="m", api_key_env="NO_SUCH_KEY", concurrency=1),
    "gemini": {"provider": "gemini", "model": "m", "api_key_env": "NO_SUCH_KEY", "send_seed": True},
    "vertex": {
        "provider": "gemini",
        "model": "m",
        "api_key_env": None,
        "vertex": {"project": "p", "location": "global"},
    },
    "embedded": {
        "provider": "embedded",
        "encoder": "all-MiniLM-L6-v2",
        "sharpness": 40,
        "context_weight": 0.3,
    },
}
for entry in ENTRIES.values():
    entry |= {"label": "M", "timeout_s": 9, "concurrency": 1, "dispatch": "live"}
REPLY = b'{"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}], "usage": {}}'
ITEMS = [Item(i, "choice", i, i * 40, ["x", "y"], None, None, "t") for i in ("a", "b", "c")]
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
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlanInputs:
    monkeypatch.chdir(tmp_path)
    tables.write_rows("results/s/tasks/t.parquet", ITEMS, Item)
    tables.write_rows("results/s/contexts/t/profile.parquet", CONTEXTS, Context)
    tables.write_rows("results/s/requests/t/profile.parquet", REQUESTS, Request)
    return PlanInputs(
        {"t": {"runs": 2, "max_tokens": 5, "sources": [{"kind": "choice", "item_ids": []}]}},
        {"profile": {"context": "profile", "temperature": 1, "replicates": 2}},
        {"m": ENTRIES["openai"]},
        {},
        ASSUMED,
        folder="results/s",
        files=TABLES,
        ledgers={LEDGER},
        seed=7,
    )


def planned_requests(study: PlanInputs) -> dict[tuple[str, str], PlannedRequests]:
    return {ARM: read_requests(study, *ARM)}


def answer(study: PlanInputs, kind: str, requests: list[Request], monkeypatch: Any) -> int:
    """Have requests answered as the job does it, but by a provider that is never asked."""
    monkeypatch.setenv("NO_SUCH_KEY", "k")
    provider: Any = make_provider(ENTRIES[kind], Path("store.sqlite"))
    monkeypatch.delenv("NO_SUCH_KEY")
    raw = b'{"text": "A"}' if kind == "embedded" else REPLY
    if kind in ("gemini", "vertex"):
        raw = b'{"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}]}'

    async def send(body: bytes) -> Exchange:  # noqa: ARG001
        await asyncio.sleep(0)
        return Exchange(raw)

    provider.send = send
    provider.concurrency = 1
    arm = GenerationArm("m", *ARM, temperature=1, max_tokens=5, seed=study.seed)
    with open_ledger(Path(LEDGER)) as ledger:
        sender = sender_of(provider, ledger, ceiling=1, max_tokens=5)
        items, contexts = {i.item_id: i for i in ITEMS}, {c.context_id: c for c in CONTEXTS}
        return len([*generate(requests, items, contexts, sender=sender, arm=arm)])


@pytest.mark.parametrize("kind", sorted(ENTRIES))
@pytest.mark.parametrize("n", [0, 7, len(REQUESTS)])
def test_what_the_job_stored_is_found(
    study: PlanInputs, kind: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # contexts are read one at a time
    monkeypatch.setattr(ledger, "CONTEXT_TOKENS_AT_ONCE", 1)
    if n:
        assert answer(study, kind, REQUESTS[:n], monkeypatch) == n
    else:
        with open_ledger(Path(LEDGER)):
            pass
    requests = planned_requests(study)
    answers = ledger_answers(study, "m", ENTRIES[kind], requests)
    assert answers == {ARM: set(REQUESTS[:n])}
    (arm,) = read_arms(study, "m", requests, answers)
    assert (arm.n_requests, arm.n_answered) == (len(REQUESTS), n)


def test_other_calls_are_not_answered(study: PlanInputs, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(study, "openai", REQUESTS, monkeypatch)
    cooler = {"profile": {**study.conditions["profile"], "temperature": 0.5}}
    longer = {"t": {**study.tasks["t"], "max_tokens": 6}}
    elsewhere = {**ENTRIES["openai"], "base_url": "http://127.0.0.1:8/v1"}
    for changed, entry in (
        (study._replace(conditions=cooler), ENTRIES["openai"]),
        (study._replace(tasks=longer), ENTRIES["openai"]),
        (study._replace(seed=8), ENTRIES["openai"]),
        (study, elsewhere),
    ):
        assert ledger_answers(changed, "m", entry, planned_requests(changed)) == {ARM: set()}
    cheaper = {**ENTRIES["openai"], "dispatch": "flex", "prefix_cache": {"key": True}}
    assert ledger_answers(study, "m", cheaper, planned_requests(study)) == {ARM: set(REQUESTS)}


@pytest.mark.parametrize(
    ("ledgers", "files"),
    [(set(), TABLES), ({LEDGER}, {"results/s/tasks/t.parquet"}), ({LEDGER}, set())],
)
def test_where_there_is_no_ledger_or_no_table_nothing_is_made(
    study: PlanInputs, ledgers: set[str], files: set[str]
) -> None:
    if ledgers:
        with open_ledger(Path(LEDGER)):
            pass
    known = study._replace(ledgers=ledgers, files=files)
    assert ledger_answers(known, "m", ENTRIES["openai"], planned_requests(known)) == {}
    assert Path(LEDGER).exists() == bool(ledgers)


def test_streams_are_planned_until_their_own_answers_are_stored(
    study: PlanInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {**ENTRIES["openai"], "first_token_sample": 4, "model": "m"}
    sampled = study._replace(models={"m": entry}, prices={"m": PRICE})
    # the usual calls answer no stream
    answer(study, "openai", REQUESTS, monkeypatch)
    assert stream_counts(sampled) == (4, 0)
    (streams,) = read_streamed_requests(sampled, "m", planned_requests(sampled)).values()
    monkeypatch.setitem(ENTRIES, "openai", stream_settings(entry))
    answer(study, "openai", [*streams.requests][:3], monkeypatch)
    assert stream_counts(sampled) == (4, 3)
    assert stream_counts(sampled._replace(ledgers=set())) == (4, 0)


def stream_counts(study: PlanInputs) -> tuple[int, int]:
    """Streams of the plan, and how many of them are answered."""
    (row,) = (row for row in plan_study(study).rows if row.dispatch == "stream")
    assert row.is_chosen
    assert (row.cost_expected_usd == 0) == (row.n_answered == row.n_requests)
    return row.n_requests, row.n_answered
