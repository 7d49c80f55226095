"""Waves: asked in their time alone, with answers of their own, and taken as they are afterwards."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from senders import context_of, item_of, loopback_entry, sender_of

from fieldwork.errors import StudyError
from fieldwork.generation.ledger import Ledger, open_ledger
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request, Response
from servers.provider import Chat, http_error, serve_chat

ARM = GenerationArm("gpt", "mmlu", "offline_w47", 0.7, 9, 3, wave="2026-W47")
ITEMS = {name: item_of(name, "choice") for name in "abc"}
CONTEXTS = {"c-anna": context_of("anna")}
REQUESTS = [
    *(Request(item, None, None, replicate) for item in "abc" for replicate in range(2)),
    Request("a", "c-anna", "anna", 0),
]
IN_TIME = datetime(2026, 11, 18, tzinfo=UTC)
AFTER_IT = datetime(2026, 11, 23, 0, 0, 1, tzinfo=UTC)


class Clock:
    """The present time, as a test sets it."""

    def __init__(self) -> None:
        self.time = IN_TIME


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("fieldwork.generation.responses.present", lambda: clock.time)
    monkeypatch.setattr("fieldwork.generation.calling.FIRST_WAIT_S", 0.001)
    return clock


class Study:
    """One model on loopback, asked under any arm."""

    def __init__(self, chat: Chat, ledger: Ledger) -> None:
        self.chat = chat
        provider = make_provider(loopback_entry(chat.base_url, concurrency=2), Path("unused"))
        self._sender = sender_of(provider, ledger, ceiling=2)

    def ask(self, *requests: Request, **changes: Any) -> list[Response]:
        arm = ARM._replace(**changes)
        return list(generate(requests, ITEMS, CONTEXTS, sender=self._sender, arm=arm))


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with (
        serve_chat(answer=lambda body: str(body["seed"])) as chat,
        open_ledger(tmp_path / "gpt.sqlite") as ledger,
    ):
        yield Study(chat, ledger)


def test_a_wave_has_answers_of_its_own(study: Study, clock: Clock) -> None:
    usual = study.ask(*REQUESTS, wave=None)
    first = study.ask(*REQUESTS)
    clock.time = AFTER_IT
    second = study.ask(*REQUESTS, wave="2026-W48")
    keys = [{row.ledger_key for row in rows} for rows in (usual, first, second)]
    assert len(set.union(*keys)) == 3 * len(REQUESTS)
    # a seed is never used twice, so that a model that honours seeds does not copy its answers
    assert len({row.text for rows in (usual, first, second) for row in rows}) == 3 * 2
    assert [row.replicate for row in first] == [request.replicate for request in REQUESTS]


def test_a_wave_that_is_over_is_taken_as_it_is(
    study: Study, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    in_time = study.ask(*REQUESTS[:4])
    n_calls = len(study.chat.requests)
    clock.time = AFTER_IT
    with caplog.at_level(logging.WARNING):
        assert study.ask(*REQUESTS) == in_time
    assert len(study.chat.requests) == n_calls
    assert (
        "4 of 7 questions were answered in 2026-W47, which is over; nothing is asked" in caplog.text
    )


def test_a_wave_without_answers_is_refused_unless_it_has_a_record(
    study: Study, clock: Clock, tmp_path: Path
) -> None:
    # answers at any other time are none of the wave's
    study.ask(*REQUESTS, wave=None)
    clock.time = AFTER_IT
    n_calls = len(study.chat.requests)
    with pytest.raises(
        StudyError, match=r"offline_w47.wave: 2026-W47 ended on 2026-11-23 .* no answer"
    ):
        study.ask(*REQUESTS)
    assert study.ask(*REQUESTS, wave_record=str(tmp_path / "drift/2026-W47.txt")) == []
    # what is over leaves no record of a run
    assert not (tmp_path / "drift").exists()
    assert len(study.chat.requests) == n_calls


def test_nothing_is_sent_once_a_wave_ends(study: Study, clock: Clock) -> None:
    def late(body: dict[str, Any]) -> str:
        clock.time = AFTER_IT
        return str(body["seed"])

    study.chat.answer = late
    with pytest.raises(StudyError, match=r"ended while gpt .mmlu. was asked; .* run again"):
        study.ask(*REQUESTS)
    n_calls = len(study.chat.requests)
    # no more than were under way when the first answer came
    assert 1 <= n_calls <= 2
    assert len(study.ask(*REQUESTS)) == n_calls
    assert len(study.chat.requests) == n_calls


@pytest.mark.usefixtures("clock")
def test_a_run_without_any_answer_leaves_no_record(study: Study, tmp_path: Path) -> None:
    record = tmp_path / "drift/2026-W47.txt"
    study.chat.faults.append(http_error(400, times=2))
    with pytest.raises(StudyError):
        study.ask(*REQUESTS[:2], wave_record=str(record))
    # else a study would begin with a wave that nobody answered
    assert not record.exists()
    # a later failure takes no wave away that has answers
    assert len(study.ask(*REQUESTS[:2], wave_record=str(record))) == 2
    study.chat.faults.append(http_error(400, times=1))
    with pytest.raises(StudyError):
        study.ask(REQUESTS[2], wave_record=str(record))
    assert record.exists()
