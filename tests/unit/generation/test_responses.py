"""From requests to rows: their order, every column, waves, and the sentence when something is missing."""

import dataclasses
import logging
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
    provider = make_provider(loopback_entry(chat.base_url, concurrency=2), Path("unused"))
    sender = sender_of(provider, ledger, attempts=2, ceiling=2)
    return list(generate(requests, ITEMS, CONTEXTS, sender=sender, arm=ARM._replace(**changes)))


def blank(item_id: str, replicate: int = 0) -> Request:
    return Request(item_id, None, None, replicate)


def after(item_id: str, name: str, replicate: int = 0, puppet: str | None = None) -> Request:
    return Request(item_id, f"c-{name}", puppet or name, replicate)


MIXED = [after("b", "bert", 1), blank("c"), after("a", "anna"), blank("a"), after("b", "anna")]


def test_answers_to_numbers_with_a_point_are_taken(
    chat: Chat, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [blank("a"), blank("b"), after("c", "anna")]
    with monkeypatch.context() as patched:
        # as calls were made before
        patched.setattr(responses, "plain_numbers", lambda value: value)
        answers = ask(chat, ledger, *requests[:2], temperature=1.0)
    assert b'"temperature":1.0,' in chat.requests[-1].raw
    for _ in range(2):
        assert ask(chat, ledger, *requests, temperature=1.0)[:2] == answers
        assert len(chat.requests) == 3
    assert b'"temperature":1,' in chat.requests[-1].raw


def test_rows_come_in_the_order_of_the_requests(chat: Chat, ledger: Ledger) -> None:
    rows = ask(chat, ledger, *MIXED)
    asked = [Request(r.item_id, r.context_id, r.puppet_id, r.replicate) for r in rows]
    assert asked == MIXED
    texts = ["I am bert / b / 3000010", "c / 3000009", "I am anna / a / 3000009", "a / 3000009"]
    assert [row.text for row in rows] == [*texts, "I am anna / b / 3000009"]


def test_every_column_is_filled(chat: Chat, ledger: Ledger) -> None:
    began = datetime.now(UTC)
    chat.faults.append(http_error(503))
    (row,) = ask(chat, ledger, after("b", "bert", 1))
    found = dataclasses.asdict(row)
    started_at, latency_s, key = (found.pop(n) for n in ("started_at", "latency_s", "ledger_key"))
    assert found.pop("request_id")
    expected = {"model": "gpt", "task": "mmlu", "condition": "history", "item_id": "b"}
    expected |= {"context_id": "c-bert", "puppet_id": "bert", "text": "I am bert / b / 3000010"}
    expected |= {"outcome": "ok", "finish_reason": "stop", "returned_model": "loopback"}
    expected |= {"fingerprint": "fp_loopback", "dispatch": "live", "service_tier": "default"}
    # the server's rule: ceil(bytes / 4) + 4 a message
    counts: dict[str, Any] = {"input_tokens": 12, "cached_tokens": 0, "output_tokens": 6}
    counts |= {"replicate": 1, "reasoning_tokens": 0, "attempts": 2}
    absent = ("cache_write_tokens", "cost_usd", "price_as_of", "option_probabilities", "source")
    others = {"temperature_sent": True, "defects": [], **dict.fromkeys(absent)}
    assert found == expected | counts | others
    assert began <= started_at <= datetime.now(UTC)
    assert 0 < latency_s < 5
    assert ledger.answered_keys([bytes.fromhex(key)]) == {bytes.fromhex(key)}


def test_replicates_of_studies_with_neighbouring_seeds_do_not_meet(
    chat: Chat, ledger: Ledger
) -> None:
    rows = [r for n in (3, 4) for r in ask(chat, ledger, blank("a"), blank("a", 1), seed=n)]
    assert len({row.text for row in rows}) == 4


def test_puppets_with_equal_contexts_are_asked_apart_and_once(chat: Chat, ledger: Ledger) -> None:
    twins = [after("a", "anna", n, puppet) for puppet in ("anna", "her twin") for n in (0, 1)]
    rows = ask(chat, ledger, *twins)
    places = [("anna", 0), ("anna", 1), ("her twin", 0), ("her twin", 1)]
    assert [(row.puppet_id, row.replicate) for row in rows] == places
    assert len({row.ledger_key for row in rows}) == 4
    assert ask(chat, ledger, *twins) == rows
    assert len(chat.requests) == 4


def damage(folder: Path, key: str) -> None:
    with closing(sqlite3.connect(folder / "m.sqlite")) as connection, connection:
        connection.execute("UPDATE answers SET attempts = 77 WHERE key = ?", (bytes.fromhex(key),))


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
    answered_keys, store = Ledger.answered_keys, Ledger.store

    def look_and_spoil(self: Ledger, keys: Sequence[bytes]) -> set[bytes]:
        found = answered_keys(self, keys)
        damage(tmp_path, row.ledger_key)
        return found

    def store_and_spoil(self: Ledger, entries: Iterable[Entry]) -> None:
        store(self, entries)
        damage(tmp_path, row.ledger_key)

    monkeypatch.setattr(Ledger, "answered_keys", look_and_spoil)
    monkeypatch.setattr(Ledger, "store", store_and_spoil)
    with pytest.raises(StudyError, match=r"gpt\.sqlite: 1 answers were damaged.*check the disk"):
        ask(chat, ledger, blank("a"))


def test_failures_are_counted_in_one_sentence_and_the_rest_is_safe(
    chat: Chat, ledger: Ledger
) -> None:
    chat.faults.append(http_error(503, message="down", times=4, text="a"))
    chat.faults.append(http_error(400, message="too long", times=1, text="c"))
    requests = [blank("a"), blank("b"), blank("c"), after("a", "anna"), blank("b", 1)]
    with pytest.raises(StudyError) as caught:
        ask(chat, ledger, *requests)
    assert str(caught.value).startswith(
        "3 of 5 requests to gpt (mmlu, history) have no answer, 2 of them because of: HTTP 503: down;"
    )
    assert "the other 2 answers are safe in resources/ledger/gpt.sqlite" in str(caught.value)
    assert "\n" not in str(caught.value)
    chat.requests.clear()
    assert len(ask(chat, ledger, *requests)) == 5
    assert sorted(chat.questions()) == ["a", "a", "c"]


# --- waves: asked in their time alone, with answers of their own, and taken as they are afterwards


class Clock:
    """The present time, as a test sets it."""

    time = datetime(2026, 11, 18, tzinfo=UTC)

    def end_the_wave(self) -> None:
        self.time = datetime(2026, 11, 23, 0, 0, 1, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(responses, "present", lambda: clock.time)
    return clock


WAVE = {"condition": "offline_w47", "wave": "2026-W47"}
SEVEN = [*(blank(item, n) for item in "abc" for n in range(2)), after("a", "anna")]


def test_a_wave_has_answers_of_its_own(chat: Chat, ledger: Ledger, clock: Clock) -> None:
    usual, first = ask(chat, ledger, *SEVEN), ask(chat, ledger, *SEVEN, **WAVE)
    clock.end_the_wave()
    second = ask(chat, ledger, *SEVEN, wave="2026-W48")
    assert len({row.ledger_key for row in (*usual, *first, *second)}) == 3 * len(SEVEN)
    # a seed is never used twice, so that a model that honours seeds does not copy its answers
    seeds = {(row.text or "").split()[-1] for row in (*usual, *first, *second)}
    assert len(seeds) == 3 * 2
    assert [row.replicate for row in first] == [request.replicate for request in SEVEN]


def test_a_wave_that_is_over_is_taken_as_it_is(
    chat: Chat, ledger: Ledger, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    in_time = ask(chat, ledger, *SEVEN[:4], **WAVE)
    clock.end_the_wave()
    with caplog.at_level(logging.WARNING):
        assert ask(chat, ledger, *SEVEN, **WAVE) == in_time
    assert len(chat.requests) == 4
    sentence = "4 of 7 questions were answered in 2026-W47, which is over; nothing is asked"
    assert sentence in caplog.text


def test_a_wave_without_answers_is_refused_unless_it_has_a_record(
    chat: Chat, ledger: Ledger, clock: Clock, tmp_path: Path
) -> None:
    # answers at any other time are none of the wave's
    ask(chat, ledger, *SEVEN)
    clock.end_the_wave()
    with pytest.raises(StudyError, match=r"offline_w47.wave: 2026-W47 ended on 2026-11-23 .* no a"):
        ask(chat, ledger, *SEVEN, **WAVE)
    record = tmp_path / "drift/2026-W47.txt"
    assert ask(chat, ledger, *SEVEN, **WAVE, wave_record=str(record)) == []
    # what is over leaves no record of a run
    assert not record.parent.exists()
    assert len(chat.requests) == len(SEVEN)


def test_nothing_is_sent_once_a_wave_ends(chat: Chat, ledger: Ledger, clock: Clock) -> None:
    def late(body: Mapping[str, Any]) -> str:
        clock.end_the_wave()
        return str(body["seed"])

    chat.answer = late
    with pytest.raises(StudyError, match=r"ended while gpt .mmlu. was asked; .* run again"):
        ask(chat, ledger, *SEVEN, **WAVE)
    n_calls = len(chat.requests)
    # no more than were under way when the first answer came
    assert 1 <= n_calls <= 2
    assert len(ask(chat, ledger, *SEVEN, **WAVE)) == n_calls
    assert len(chat.requests) == n_calls


@pytest.mark.usefixtures("clock")
def test_a_run_without_any_answer_leaves_no_record(
    chat: Chat, ledger: Ledger, tmp_path: Path
) -> None:
    record = tmp_path / "drift/2026-W47.txt"
    wave = {**WAVE, "wave_record": str(record)}
    chat.faults.append(http_error(400, times=2))
    with pytest.raises(StudyError):
        ask(chat, ledger, *SEVEN[:2], **wave)
    # else a study would begin with a wave that nobody answered
    assert not record.exists()
    # a later failure takes no wave away that has answers
    assert len(ask(chat, ledger, *SEVEN[:2], **wave)) == 2
    chat.faults.append(http_error(400, times=1))
    with pytest.raises(StudyError):
        ask(chat, ledger, SEVEN[2], **wave)
    assert record.exists()
