"""A job to which nothing comes says what it waits for and until when, on a terminal and in its log."""

import logging
import math
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from senders import loopback_entry, make_quick, numbered, sender_of

from fieldwork import progress
from fieldwork.errors import StudyError
from fieldwork.generation import engine
from fieldwork.generation.agenda import ContextGroup
from fieldwork.generation.engine import settle
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.limits import Hold
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.waiting import CallWaits
from servers.provider import FOREVER, Fault, serve_chat

TIME = r"\d\d:\d\d:\d\d"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def seconds_to(text: str) -> float:
    """Seconds from now to the first time of day in a text."""
    clock_time = re.search(TIME, text)
    assert clock_time
    now = datetime.now()
    due = datetime.combine(now, datetime.strptime(clock_time[0], "%H:%M:%S").time())
    return ((due - now) % timedelta(days=1)).total_seconds()


def test_calls_under_way_have_an_end_and_an_age() -> None:
    clock = Clock()
    waits = CallWaits(120.0, clock)
    assert waits.sentence([]) == ""
    with waits.call_under_way():
        clock.now = 60.0
        with waits.call_under_way():
            clock.now = 80.0
            text = waits.sentence([])
            form = rf"2 calls under way until {TIME} \(models\.\*\.timeout_s\), the oldest for 80 s"
            assert re.fullmatch(form, text)
            assert seconds_to(text) == pytest.approx(40, abs=3)
        assert waits.sentence([]).startswith("1 call under way")
    assert waits.sentence([]) == ""


def test_the_next_try_and_what_holds_calls_up_are_told_with_their_reasons() -> None:
    clock = Clock()
    waits = CallWaits(120.0, clock)
    slow = f"HTTP 429: {'slow ' * 100}"
    with waits.before_retry(90.0, "HTTP 500: oops"), waits.before_retry(40.0, slow):
        clock.now = 10.0
        text = waits.sentence([])
    assert re.match(rf"waiting 30 s, until {TIME}, before another try: HTTP 429: slow", text)
    assert seconds_to(text) == pytest.approx(30, abs=3)
    assert len(text) < 200
    assert waits.sentence([]) == ""
    narrow = "the server takes only 2 calls at once"
    holds = [Hold(40.2, "the server asked for it"), Hold(math.inf, narrow)]
    form = rf"waiting 40 s, until {TIME}, because the server asked for it; waiting because {narrow}"
    assert re.fullmatch(form, waits.sentence(holds))


def test_the_log_speaks_while_a_server_hangs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_quick(monkeypatch)
    monkeypatch.setattr(engine, "TICK_S", 0.02)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.1)
    monkeypatch.setattr(progress, "QUIET_S", 0.05)
    with (
        serve_chat(faults=[Fault(wait_s=60.0, times=FOREVER)]) as chat,
        open_ledger(tmp_path / "m.sqlite") as ledger,
        caplog.at_level(logging.INFO, "fieldwork.progress"),
    ):
        entry = loopback_entry(chat.base_url, timeout_s=0.8, concurrency=8)
        sender = sender_of(make_provider(entry, tmp_path), ledger, attempts=3, ceiling=8)
        with pytest.raises(StudyError):
            settle([ContextGroup(None, [], numbered(50))], sender, total=50, label="gpt")
    lines = [r.getMessage() for r in caplog.records if r.name == "fieldwork.progress"]
    assert len(lines) > 5
    assert all(line.startswith("gpt: 0 of 50 answers, 0.0/s, unknown left") for line in lines)
    under_way = rf"; 4 calls under way until {TIME} \(models\.\*\.timeout_s\), the oldest for \d s"
    assert any(re.search(under_way, line) for line in lines)
    # four are on the wire, the fifth waits to be let in, and three workers more for the first answer
    assert any(line.endswith("; 3 more requests wait for the first answer") for line in lines)
