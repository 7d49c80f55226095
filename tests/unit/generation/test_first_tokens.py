"""Some calls once more as streams: which ones, each paid for once, and beside the usual calls."""

from collections.abc import Iterator
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
from servers.provider import Chat, Fault, serve_provider

ARM = GenerationArm("gpt", "mmlu", "history", temperature=0.7, max_tokens=9, seed=3)
ITEMS = {name: item_of(name, "choice") for name in "abc"}
CONTEXTS = {f"c-{n}": context_of(f"{n}") for n in range(6)}
REQUESTS = [Request(item, f"c-{n}", f"{n}", 0) for n in range(6) for item in "abc"]
PRICES = {"gpt-test": {"input": 10.0, "output": 40.0, "as_of": "2026-11-01", "source": "the test"}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    make_quick(monkeypatch)
    answer = "one two"
    with serve_provider(
        strict=False, answer=lambda _: answer, prices=PRICES, latency_s=0.02
    ) as chat:
        yield chat


def entry(server: Chat, **changes: Any) -> dict[str, Any]:
    return loopback_entry(server.base_url, model="gpt-test", label="GPT", **changes)


def ask(server: Chat, folder: Path, *, streams: bool = True, **changes: Any) -> list[Any]:
    model = entry(server, **changes)
    sample = sample_requests(REQUESTS, 5, ARM) if streams else REQUESTS
    generation = {"attempts": 2, "budget_usd": 5.0}
    stores = {"folder": folder, "vector_store": folder / "vectors.sqlite"}
    settings = stream_settings(model) if streams else model
    with open_sender("gpt", settings, generation, PRICES, max_tokens=9, **stores) as sender:
        run = first_tokens if streams else generate
        return list(run(sample, ITEMS, CONTEXTS, sender=sender, arm=ARM))


def n_streams(server: Chat) -> int:
    return sum(bool(request.body.get("stream")) for request in server.requests)


def test_streams_are_kept_and_paid_for_once_beside_the_usual_calls(
    server: Chat, tmp_path: Path
) -> None:
    answers = ask(server, tmp_path, streams=False)
    assert n_streams(server) == 0
    rows = ask(server, tmp_path)
    assert (len(rows), n_streams(server)) == (5, 5)
    assert server.most_under_way <= 4
    assert {row.ledger_key for row in rows}.isdisjoint(row.ledger_key for row in answers)
    assert all(0.02 <= row.first_token_s <= row.latency_s for row in rows)
    assert all(row.output_tokens for row in rows)
    n_asked = len(server.requests)
    assert ask(server, tmp_path) == rows
    assert ask(server, tmp_path, streams=False) == answers
    assert sum(r.method == "POST" for r in server.requests[n_asked:]) == 0
    # the budget knows what they cost
    provider, price = make_provider(entry(server), tmp_path), price_of(PRICES, "gpt-test")
    assert price is not None
    with open_ledger(tmp_path / "gpt.sqlite") as ledger:
        assert bill_usd(ledger, provider, price) == pytest.approx(server.bill.usd, abs=1e-7)
    assert sum(row.cost_usd for row in [*rows, *answers]) == pytest.approx(server.bill.usd)


def test_streams_go_one_at_a_time_and_live(server: Chat, tmp_path: Path) -> None:
    ask(server, tmp_path, dispatch="flex")
    assert server.most_under_way == 1
    assert all(request.body.get("service_tier") != "flex" for request in server.requests)


def test_what_arrived_before_a_failure_is_not_asked_again(server: Chat, tmp_path: Path) -> None:
    server.faults.append(Fault(status=500, skip=2, times=100))
    with pytest.raises(StudyError, match="have no answer"):
        ask(server, tmp_path)
    server.faults.clear()
    before = n_streams(server)
    assert len(ask(server, tmp_path)) == 5
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
