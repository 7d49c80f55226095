"""From requests to rows: their order, every column, and the sentence when something is missing."""

import dataclasses
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from senders import context_of, item_of, loopback_entry, make_quick, sender_of

from fieldwork.errors import StudyError
from fieldwork.generation import responses
from fieldwork.generation.ledger import Entry, Ledger
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request, Response
from servers.provider import Chat, http_error, serve_chat

ARM = GenerationArm("gpt", "mmlu", "history", temperature=0.7, max_tokens=9, seed=3)
ITEMS = {name: item_of(name, "choice") for name in "abc"}
CONTEXTS = {f"c-{name}": context_of(name) for name in ("anna", "bert")}


@pytest.fixture(autouse=True)
def _quick_and_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    make_quick(monkeypatch)


def echo(body: Mapping[str, Any]) -> str:
    return " / ".join([*(m["content"] for m in body["messages"]), str(body["seed"])])


@pytest.fixture
def chat() -> Iterator[Chat]:
    with serve_chat(answer=echo) as server:
        yield server


def ask(chat: Chat, ledger: Ledger, *requests: Request, **changes: Any) -> list[Response]:
    provider = make_provider(loopback_entry(chat.base_url), Path("unused"))
    sender = sender_of(provider, ledger, attempts=2, ceiling=4)
    return list(generate(requests, ITEMS, CONTEXTS, sender=sender, arm=ARM._replace(**changes)))


def blank(item_id: str, replicate: int = 0) -> Request:
    return Request(item_id, None, None, replicate)


def test_answers_to_numbers_with_a_point_are_taken(
    chat: Chat, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [blank("a"), blank("b"), Request("c", "c-anna", "anna", 0)]
    with monkeypatch.context() as patched:
        # as calls were made before
        patched.setattr(responses, "plain_numbers", lambda value: value)
        answers = ask(chat, ledger, *requests[:2], temperature=1.0)
    assert b'"temperature":1.0,' in chat.requests[-1].raw
    rows = ask(chat, ledger, *requests, temperature=1.0)
    assert rows[:2] == answers
    assert len(chat.requests) == 3
    assert b'"temperature":1,' in chat.requests[-1].raw
    assert ask(chat, ledger, *requests, temperature=1.0) == rows
    assert len(chat.requests) == 3


def after(item_id: str, name: str, replicate: int = 0) -> Request:
    return Request(item_id, f"c-{name}", name, replicate)


MIXED = [after("b", "bert", 1), blank("c"), after("a", "anna"), blank("a"), after("b", "anna")]


def test_rows_come_in_the_order_of_the_requests_with_the_answer_of_each(
    chat: Chat, ledger: Ledger
) -> None:
    rows = ask(chat, ledger, *MIXED)
    asked = [Request(r.item_id, r.context_id, r.puppet_id, r.replicate) for r in rows]
    assert asked == MIXED
    assert [row.text for row in rows] == [
        "I am bert / b / 3000010",
        "c / 3000009",
        "I am anna / a / 3000009",
        "a / 3000009",
        "I am anna / b / 3000009",
    ]


def test_every_column_is_filled(chat: Chat, ledger: Ledger) -> None:
    began = datetime.now(UTC)
    chat.faults.append(http_error(503))
    (row,) = ask(chat, ledger, after("b", "bert", 1))
    found = dataclasses.asdict(row)
    started_at, latency_s, key = (found.pop(n) for n in ("started_at", "latency_s", "ledger_key"))
    request_id = found.pop("request_id")
    assert request_id
    assert found == {
        "model": "gpt",
        "task": "mmlu",
        "condition": "history",
        "item_id": "b",
        "context_id": "c-bert",
        "puppet_id": "bert",
        "replicate": 1,
        "text": "I am bert / b / 3000010",
        "outcome": "ok",
        "finish_reason": "stop",
        "returned_model": "loopback",
        "fingerprint": "fp_loopback",
        # the server's rule: ceil(bytes / 4) + 4 a message
        "input_tokens": 12,
        "cached_tokens": 0,
        "cache_write_tokens": None,
        "output_tokens": 6,
        "reasoning_tokens": 0,
        "cost_usd": None,
        "attempts": 2,
        "dispatch": "live",
        "service_tier": "default",
        "temperature_sent": True,
        "price_as_of": None,
        "defects": [],
        "option_probabilities": None,
        "source": None,
    }
    assert began <= started_at <= datetime.now(UTC)
    assert 0 < latency_s < 5
    assert ledger.answered_keys([bytes.fromhex(key)]) == {bytes.fromhex(key)}


def test_replicates_of_studies_with_neighbouring_seeds_do_not_meet(
    chat: Chat, ledger: Ledger
) -> None:
    rows = [
        r for seed in (3, 4) for r in ask(chat, ledger, blank("a", 0), blank("a", 1), seed=seed)
    ]
    assert len({row.text for row in rows}) == 4


def test_puppets_with_equal_contexts_are_asked_apart_and_only_once(
    chat: Chat, ledger: Ledger
) -> None:
    twins = [
        Request("a", "c-anna", puppet, replicate)
        for puppet in ("anna", "her twin")
        for replicate in (0, 1)
    ]
    rows = ask(chat, ledger, *twins)
    assert [(row.puppet_id, row.replicate) for row in rows] == [
        ("anna", 0),
        ("anna", 1),
        ("her twin", 0),
        ("her twin", 1),
    ]
    assert len({row.ledger_key for row in rows}) == len(chat.requests) == 4
    assert ask(chat, ledger, *twins) == rows
    assert len(chat.requests) == 4


def test_rows_are_read_part_by_part_and_a_damaged_one_is_asked_again_alone(
    chat: Chat, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses, "ROWS_AT_ONCE", 2)
    first = ask(chat, ledger, *MIXED)
    damage(tmp_path, first[1].ledger_key)
    chat.requests.clear()
    again = ask(chat, ledger, *MIXED)
    assert [row.item_id for row in again] == ["b", "a", "a", "b", "c"]
    assert sorted(row.text or "" for row in again) == sorted(row.text or "" for row in first)
    assert chat.questions() == ["c"]


def test_a_disk_that_damages_what_it_keeps_is_told(
    chat: Chat, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = ask(chat, ledger, blank("a"))
    answered_keys = Ledger.answered_keys

    def spoil(self: Ledger, keys: Sequence[bytes]) -> set[bytes]:
        found = answered_keys(self, keys)
        damage(tmp_path, row.ledger_key)
        return found

    monkeypatch.setattr(Ledger, "answered_keys", spoil)
    store = Ledger.store

    def spoil_new(self: Ledger, entries: Iterable[Entry]) -> None:
        store(self, entries)
        damage(tmp_path, row.ledger_key)

    monkeypatch.setattr(Ledger, "store", spoil_new)
    with pytest.raises(StudyError, match=r"gpt\.sqlite: 1 answers were damaged.*check the disk"):
        ask(chat, ledger, blank("a"))


def damage(folder: Path, key: str) -> None:
    with closing(sqlite3.connect(folder / "m.sqlite")) as connection, connection:
        connection.execute("UPDATE answers SET attempts = 77 WHERE key = ?", (bytes.fromhex(key),))


def test_failures_are_counted_in_one_sentence_and_the_rest_is_safe(
    chat: Chat, ledger: Ledger
) -> None:
    chat.faults += [
        http_error(503, message="down", times=4, text="a"),
        http_error(400, message="too long", times=1, text="c"),
    ]
    requests = [blank("a"), blank("b"), blank("c"), after("a", "anna"), blank("b", 1)]
    with pytest.raises(StudyError) as caught:
        ask(chat, ledger, *requests)
    said = str(caught.value)
    assert said.startswith(
        "3 of 5 requests to gpt (mmlu, history) have no answer, 2 of them because of: HTTP 503: down;"
    )
    assert "the other 2 answers are safe in resources/ledger/gpt.sqlite" in said
    assert "\n" not in said
    chat.requests.clear()
    assert len(ask(chat, ledger, *requests)) == 5
    assert sorted(chat.questions()) == ["a", "a", "c"]
