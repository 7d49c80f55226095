"""Progress tells a log how far work is, how fast, and how long it will take."""

import fcntl
import logging
import os
import pty
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from fieldwork import progress, stage
from fieldwork.progress import Progress


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What is logged, whatever other tests did to the package's logger."""
    lines: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    ear, level = Ear(), progress.logger.level
    progress.logger.addHandler(ear)
    progress.logger.setLevel(logging.INFO)
    yield lines
    progress.logger.removeHandler(ear)
    progress.logger.setLevel(level)


def test_one_line_a_minute_and_one_at_the_end(clock: Clock, lines: list[str]) -> None:
    with Progress("embed", 100, "texts") as bar:
        for _ in range(9):
            clock.now += 20
            bar.update(10)
    assert lines == [
        "embed: 30 of 100 texts, 0.5/s, 140 s left",
        "embed: 60 of 100 texts, 0.5/s, 80 s left",
        "embed: 90 of 100 texts, 0.5/s, 20 s left",
        "embed: 90 of 100 texts, 0.5/s, 20 s left",
    ]


def test_a_line_a_minute_comes_when_nothing_does(clock: Clock, lines: list[str]) -> None:
    with Progress("ask", 100, "answers") as bar:
        bar.update(3, "$0.10")
        for second in range(130):
            clock.now += 1
            bar.tick(f"waiting for {130 - second} s")
    assert lines == [
        "ask: 3 of 100 answers, 0.1/s, 1940 s left, $0.10; waiting for 71 s",
        "ask: 3 of 100 answers, 0.0/s, 3880 s left, $0.10; waiting for 11 s",
        "ask: 3 of 100 answers, 0.0/s, 4203 s left, $0.10",
    ]


def test_units_of_earlier_runs_tell_nothing_of_how_fast_this_goes(
    clock: Clock, lines: list[str]
) -> None:
    with Progress("ask", 100, "answers") as bar:
        bar.skip(80)
        clock.now += 60
        bar.update(10)
    with Progress("ask", 3, "answers") as bar:
        bar.skip(3)
    half = "ask: 90 of 100 answers, 0.2/s, 60 s left"
    assert lines == [half, half, "ask: 3 of 3 answers, 0.0/s, 0 s left"]


class Terminal:
    """A terminal of so many columns, as this process's standard error; 0 tells no size at all."""

    def __init__(self, columns: int) -> None:
        self._far, near = pty.openpty()
        size = struct.pack("HHHH", 24 if columns else 0, columns, 0, 0)
        fcntl.ioctl(near, termios.TIOCSWINSZ, size)
        self.stderr = os.fdopen(near, "w", encoding="utf-8")

    def shown(self) -> list[str]:
        """All lines so far, those that were written over by the next one too."""
        self.stderr.close()
        output = b""
        while True:
            try:
                output += os.read(self._far, 65_536)
            except OSError:  # nobody has the other end any more
                os.close(self._far)
                return output.decode().replace("\n", "\r").split("\r")


@pytest.mark.parametrize("columns", [0, 80, 120])
def test_a_terminal_has_one_line_that_is_alive(
    columns: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(columns)
    monkeypatch.setattr("sys.stderr", terminal.stderr)
    with Progress("gpt", 8, "answers") as bar:
        bar.skip(2)
        bar.update(3, "1 unreadable, $0.10")
        bar.tick("")
        clock.now += 6
        bar.tick("3 calls under way")
    lines = terminal.shown()
    assert any("5/8" in line and "1 unreadable, $0.10" in line for line in lines)
    assert any("5/8" in line and "3 calls under way" in line for line in lines)
    assert all(len(line) <= (columns or 120) for line in lines)
    assert lines[-1].strip() == "", "it leaves nothing behind"


def test_a_terminal_is_told_where_the_log_is_above_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, log = Terminal(120), tmp_path / "ask.log"
    monkeypatch.setattr("sys.stderr", terminal.stderr)
    logger = logging.getLogger("fieldwork")
    before = (logger.handlers, logger.level, logger.propagate)

    def main() -> None:
        with Progress("gpt", 8, "answers") as bar:
            bar.tick("")
            part = logging.getLogger("fieldwork.part")
            part.info("asking gpt", extra={"is_shown": True})
            part.info("for the log alone")
            part.warning("beware")

    try:
        stage.run(main, log=str(log))
        lines = [line.strip() for line in terminal.shown()]
    finally:
        for handler in logger.handlers:
            handler.close()
        logger.handlers, logger.level, logger.propagate = before
    assert f"INFO: asking gpt; the log is {log}" in lines
    assert "WARNING: beware" in lines
    assert not any("for the log alone" in line for line in lines)
    assert log.read_text().count("INFO asking gpt\n") == 1
