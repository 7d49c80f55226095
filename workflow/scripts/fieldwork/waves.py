"""Waves: spans of time in which the same questions are asked anew, by name.

A wave is a week (`2026-W47`, ISO 8601), a month (`2026-11`) or a day (`2026-11-23`), all in UTC. Read
while Snakemake parses the workflow, so it imports no scientific package.
"""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Literal, NamedTuple

Span = Literal["day", "week", "month"]

SPANS: tuple[Span, ...] = ("day", "week", "month")

PATTERNS: dict[Span, str] = {
    "day": r"\d{4}-\d{2}-\d{2}",
    "week": r"\d{4}-W\d{2}",
    "month": r"\d{4}-\d{2}",
}

DRAWS_OF_A_WAVE = 10_000_000
"""More than the repeats of any question, so that no two waves share a draw."""

_EPOCH = date(2000, 1, 1)


class Wave(NamedTuple):
    """A span of time.

    Attributes:
        start: its first day.
        end: the first day after it.
    """

    name: str
    span: Span
    start: date
    end: date

    @property
    def first_draw(self) -> int:
        """Number of the wave's first draw of a model: no other wave, and no call without one, has it."""
        number = (self.start - _EPOCH).days * len(SPANS) + SPANS.index(self.span) + 1
        return number * DRAWS_OF_A_WAVE

    def is_over(self, time: datetime) -> bool:
        """Whether the wave has ended; `time` has a time zone."""
        return time.astimezone(UTC).date() >= self.end

    def is_ahead(self, time: datetime) -> bool:
        """Whether the wave has not begun; `time` has a time zone."""
        return time.astimezone(UTC).date() < self.start


def present() -> datetime:
    """The present time in UTC, by which waves begin and end."""
    return datetime.now(UTC)


def read_wave(name: str) -> Wave:
    """The wave of a name.

    Raises:
        ValueError: it is no week, month or day from 2000 on.
    """
    for span, pattern in PATTERNS.items():
        if re.fullmatch(pattern, name):
            start = _start(name, span)
            if start < _EPOCH:
                break
            return Wave(name, span, start, _end(start, span))
    raise ValueError(f"{name} is no week, month or day")


def wave_of(day: date, span: Span) -> Wave:
    """The wave that a day lies in."""
    week = day.isocalendar()
    names: dict[Span, str] = {
        "day": day.isoformat(),
        "week": f"{week.year}-W{week.week:02d}",
        "month": f"{day:%Y-%m}",
    }
    return read_wave(names[span])


def _start(name: str, span: Span) -> date:
    if span == "month":
        return date.fromisoformat(f"{name}-01")
    return date.fromisoformat(name)


def _end(start: date, span: Span) -> date:
    if span == "month":
        return (start.replace(day=1) + timedelta(days=31)).replace(day=1)
    return start + timedelta(days=7 if span == "week" else 1)
