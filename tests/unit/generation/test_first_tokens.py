"""Some calls once more as streams: which ones, each paid for once, and beside the usual calls."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from senders import context_of, item_of, loopback_entry, make_quick

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import bill_usd
from fieldwork.generation.first_tokens import first_tokens, sample_requests, stream_settings
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.pricing import price_of
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.generation.sending import open_sender
from fieldwork.records.generation import Request
from fieldwork.records.service import FirstToken
from servers.provider import Chat, Fault, serve_provider

ARM = GenerationArm("gpt", "mmlu", "history", temperature=0.7, max_tokens=9, seed=3)
ITEMS = {name: item_of(name, "choice") for name in "abc"}
CONTEXTS = {f"c-{n}": context_of(f"{n}") for n in range(6)}
REQUESTS = [Request(item, f"c-{n}", f"{n}", 0) for n in range(6) for item in "abc"]
PRICE = {"input": 10.0, "output": 40.0, "as_of": "2026-11-01", "source": "the test"}
GENERATION = {"attempts": 2, "budget_usd": 5.0}


@pytest.fixture(autouse=True)
def _quick_and_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    make_quick(monkeypatch)


@pytest.fixture
def server() -> Iterator[Chat]:
    with serve_provider(
        strict=False, answer=lambda _: "one two", prices={"gpt-test": PRICE}, latency_s=0.02
    ) as chat:
        yield chat


def entry(server: Chat, **changes: Any) -> dict[str, Any]:
    return loopback_entry(server.base_url, model="gpt-test", label="GPT", **changes)


def ask(folder: Path, model: Mapping[str, Any], *, streams: bool) -> list[Any]:
    sample = sample_requests(REQUESTS, 5, ARM) if streams else REQUESTS
    run = first_tokens if streams else generate
    with open_sender(
        "gpt",
        stream_settings(model) if streams else model,
        GENERATION,
        {"gpt-test": PRICE},
        max_tokens=9,
        folder=folder,
        vector_store=folder / "vectors.sqlite",
    ) as sender:
        return list(run(sample, ITEMS, CONTEXTS, sender=sender, arm=ARM))


def n_streams(server: Chat) -> int:
    return sum(bool(request.body.get("stream")) for request in server.requests)


def test_streams_are_kept_and_paid_for_once_beside_the_usual_calls(
    server: Chat, tmp_path: Path
) -> None:
    model = entry(server)
    answers = ask(tmp_path, model, streams=False)
    assert n_streams(server) == 0
    rows: list[FirstToken] = ask(tmp_path, model, streams=True)
    assert (len(rows), n_streams(server)) == (5, 5)
    assert server.most_under_way <= 4
    assert {row.ledger_key for row in rows}.isdisjoint(row.ledger_key for row in answers)
    for row in rows:
        assert row.first_token_s is not None
        assert row.latency_s is not None
        assert 0.02 <= row.first_token_s <= row.latency_s
        assert row.output_tokens
    n_asked = len(server.requests)
    assert ask(tmp_path, model, streams=True) == rows
    assert ask(tmp_path, model, streams=False) == answers
    assert sum(r.method == "POST" for r in server.requests[n_asked:]) == 0
    # the budget knows what they cost
    provider, price = make_provider(model, tmp_path), price_of({"gpt-test": PRICE}, "gpt-test")
    assert price is not None
    with open_ledger(tmp_path / "gpt.sqlite") as ledger:
        billed = bill_usd(ledger, provider, price)
    assert billed == pytest.approx(server.bill.usd, abs=1e-7)
    paid = sum(row.cost_usd or 0 for row in [*rows, *answers])
    assert paid == pytest.approx(server.bill.usd)


def test_streams_go_one_at_a_time_and_live(server: Chat, tmp_path: Path) -> None:
    ask(tmp_path, entry(server, dispatch="flex"), streams=True)
    assert server.most_under_way == 1
    assert all(request.body.get("service_tier") != "flex" for request in server.requests)


def test_what_arrived_before_a_failure_is_not_asked_again(server: Chat, tmp_path: Path) -> None:
    server.faults.append(Fault(status=500, skip=2, times=100))
    with pytest.raises(StudyError, match="have no answer"):
        ask(tmp_path, entry(server), streams=True)
    server.faults.clear()
    before = n_streams(server)
    assert len(ask(tmp_path, entry(server), streams=True)) == 5
    assert n_streams(server) - before == 3


def test_a_sample_is_the_same_each_time_in_order_and_of_all_items() -> None:
    requests = [
        Request(f"q{item:02d}", f"c{n}", f"p{n:03d}", 0) for n in range(100) for item in range(25)
    ]
    sample = sample_requests(requests, 50, ARM)
    assert sample == sample_requests(requests, 50, ARM)
    assert [requests.index(one) for one in sample] == sorted(requests.index(one) for one in sample)
    assert len({one.item_id for one in sample}) > 15
    assert sample != sample_requests(requests, 50, ARM._replace(condition="other"))
    assert {*sample} < {*sample_requests(requests, 60, ARM)}
    assert sample_requests(requests, 9_999, ARM) == requests
    assert sample_requests([], 3, ARM) == []
