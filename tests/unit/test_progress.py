"""Progress tells a log how far work is, how fast, and how long it will take."""

import logging
from collections.abc import Iterator

import pytest

from fieldwork import progress
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
    told: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    ear, level = Ear(), progress.logger.level
    progress.logger.addHandler(ear)
    progress.logger.setLevel(logging.INFO)
    yield told
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


@pytest.mark.parametrize(
    ("total", "done", "seconds", "line"),
    [
        (0, 0, 0.0, "w: 0 of 0 x, 0.0/s, 0 s left"),
        (5, 0, 10.0, "w: 0 of 5 x, 0.0/s, unknown left"),
        (4, 4, 2.0, "w: 4 of 4 x, 2.0/s, 0 s left"),
    ],
)
def test_nothing_done_yet_has_no_end_in_sight(
    clock: Clock, lines: list[str], total: int, done: int, seconds: float, line: str
) -> None:
    with Progress("w", total, "x") as bar:
        clock.now += seconds
        bar.update(done)
    assert lines == [line]


@pytest.mark.usefixtures("clock")
def test_quiet_work_says_nothing(lines: list[str]) -> None:
    with Progress("w", 3, "x", quiet=True) as bar:
        bar.update(3)
    assert lines == []


@pytest.mark.usefixtures("clock")
def test_an_error_is_told_how_far_it_came_and_goes_on(lines: list[str]) -> None:
    def stop_half_way() -> None:
        with Progress("w", 4, "x") as bar:
            bar.update(2)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stop_half_way()
    assert lines[-1].startswith("w: 2 of 4 x")
