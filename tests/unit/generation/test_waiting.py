"""A job to which nothing comes says what it waits for and until when, on a terminal and in its log."""

import asyncio
import logging
import math
import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from scripted_provider import ScriptedProvider
from test_agenda import group
from test_engine import numbered

from fieldwork import progress
from fieldwork.errors import StudyError
from fieldwork.generation import engine, outage
from fieldwork.generation.agenda import Agenda, ContextGroup, PrefixCache
from fieldwork.generation.engine import settle
from fieldwork.generation.ledger import Ledger, open_ledger
from fieldwork.generation.limits import Hold
from fieldwork.generation.sending import open_sender
from fieldwork.generation.waiting import CallWaits
from servers.provider import FOREVER, Fault, http_error, serve_chat

TIME = r"\d\d:\d\d:\d\d"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def seconds_to(text: str) -> float:
    """Seconds from now to the first time of day in a text."""
    clock_time = re.search(TIME, text)
    assert clock_time
    now = datetime.now()
    due = datetime.combine(now, datetime.strptime(clock_time[0], "%H:%M:%S").time())
    return ((due - now) % timedelta(days=1)).total_seconds()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "m.sqlite") as opened:
        yield opened


def test_calls_under_way_have_an_end_and_an_age() -> None:
    clock = Clock()
    waits = CallWaits(120.0, clock)
    assert waits.sentence([]) == ""
    with waits.call_under_way():
        clock.now = 60.0
        with waits.call_under_way():
            clock.now = 80.0
            text = waits.sentence([])
            assert re.fullmatch(
                rf"2 calls under way until {TIME} \(models\.\*\.timeout_s\), the oldest for 80 s",
                text,
            )
            assert seconds_to(text) == pytest.approx(40, abs=3)
        assert waits.sentence([]).startswith("1 call under way")
    assert waits.sentence([]) == ""


def test_a_local_model_has_no_time_limit() -> None:
    waits = CallWaits(None, Clock())
    with waits.call_under_way():
        assert waits.sentence([]) == "1 call under way, the oldest for 0 s"


def test_the_next_try_is_told_with_its_reason() -> None:
    clock = Clock()
    waits = CallWaits(120.0, clock)
    with (
        waits.before_retry(90.0, "HTTP 500: oops"),
        waits.before_retry(40.0, f"HTTP 429: {'slow ' * 100}"),
    ):
        clock.now = 10.0
        text = waits.sentence([])
    assert re.match(rf"waiting 30 s, until {TIME}, before another try: HTTP 429: slow", text)
    assert seconds_to(text) == pytest.approx(30, abs=3)
    assert len(text) < 200
    assert waits.sentence([]) == ""


def test_what_holds_calls_up_is_told() -> None:
    narrow = Hold(math.inf, "the server takes only 2 calls at once")
    holds = [Hold(40.2, "the server asked for it"), narrow]
    assert re.fullmatch(
        rf"waiting 40 s, until {TIME}, because the server asked for it; "
        r"waiting because the server takes only 2 calls at once",
        CallWaits(120.0, Clock()).sentence(holds),
    )


def test_a_question_that_waits_for_its_prefix_is_a_hold(ledger: Ledger) -> None:
    async def story() -> tuple[Hold | None, Hold | None]:
        cache = PrefixCache(min_tokens=10, requests_per_minute=1)
        agenda = Agenda(iter([group("a", *"123")]), ScriptedProvider(), ledger, cache)
        first = await agenda.next()
        assert first is not None
        agenda.note_sent(first)
        before = agenda.hold
        agenda.note_end(first)
        second = await agenda.next()
        assert second is not None
        agenda.note_sent(second)
        agenda.note_end(second)
        return before, agenda.hold

    before, after = asyncio.run(story())
    assert before is None
    assert after is not None
    assert 50 < after.wait_s <= 61.2
    assert "prefix_cache" in (after.reason or "")


# --- the log of a job --------------------------------------------------------------------------------


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TICK_S", 0.02)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.1)
    monkeypatch.setattr(progress, "QUIET_S", 0.05)
    monkeypatch.setattr(outage, "THROTTLED_S", 1.0)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


def lines_of(fault: Fault, folder: Path, caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of progress while 50 requests meet a server that always does the same."""
    entry = {
        "provider": "openai",
        "model": "loopback",
        "api_key_env": None,
        "token_limit_field": "max_tokens",
        "send_temperature": True,
        "send_seed": False,
        "timeout_s": 0.8,
        "concurrency": 8,
    }
    with (
        serve_chat(faults=[fault]) as chat,
        open_sender(
            "m",
            {**entry, "base_url": chat.base_url},
            {"attempts": 3, "budget_usd": None},
            {},
            max_tokens=16,
            folder=folder,
            vector_store=folder / "unused",
        ) as sender,
        caplog.at_level(logging.INFO, "fieldwork.progress"),
        pytest.raises(StudyError),
    ):
        settle([ContextGroup(None, [], numbered(50))], sender, total=50, label="gpt")
    return [r.getMessage() for r in caplog.records if r.name == "fieldwork.progress"]


@pytest.mark.usefixtures("_quick")
def test_the_log_speaks_while_a_server_hangs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = lines_of(Fault(wait_s=60.0, times=FOREVER), tmp_path, caplog)
    assert len(lines) > 5
    assert all(line.startswith("gpt: 0 of 50 answers, 0.0/s, unknown left") for line in lines)
    under_way = rf"; 4 calls under way until {TIME} \(models\.\*\.timeout_s\), the oldest for \d s"
    assert any(re.search(under_way, line) for line in lines)
    # four are on the wire, the fifth waits to be let in, and three workers more for the first answer
    assert any(line.endswith("; 3 more requests wait for the first answer") for line in lines)


@pytest.mark.usefixtures("_quick")
def test_the_log_speaks_while_a_server_asks_to_wait(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    slow = http_error(429, retry_after="0.6", message="slow down", times=FOREVER)
    lines = lines_of(slow, tmp_path, caplog)
    assert len(lines) > 5
    next_try = rf"waiting [01] s, until {TIME}, before another try: HTTP 429: slow down"
    assert any(re.search(next_try, line) for line in lines)
    assert any("because the server asked for it" in line for line in lines)
