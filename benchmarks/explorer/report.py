"""The page of the benchmark of the study's page, from `results.csv`.

python benchmarks/explorer/report.py      # the page again
"""

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

from result_rows import read_rows, table

OPEN_S, FILTER_S = 2.0, 0.2
"""What was aimed at: seconds to open, and to filter, at 100,000 answers on two cores."""


class Row(NamedTuple):
    """One line of `results.csv`.

    Attributes:
        part: `run`, `size`, `write`, `open` or `filter`.
        rounds: measurements behind median, low and high.
        note: words, where there is no number.
    """

    part: str
    name: str
    unit: str
    rounds: int
    median: float | None
    low: float | None
    high: float | None
    note: str


def row_of(part: str, name: str, unit: str, values: Sequence[float]) -> Row:
    """The row of all rounds."""
    middle = statistics.median(values)
    return Row(part, name, unit, len(values), middle, min(values), max(values), "")


def render(folder: Path) -> None:
    """The page, from `results.csv`."""
    text = page(read_rows(folder, Row))
    (folder / "results.md").write_text(text, encoding="utf-8")


def page(rows: list[Row]) -> str:
    """What was measured, in two tables and a verdict."""
    facts = {row.name: row.note for row in rows if row.part == "run"}
    machine = ", ".join(
        f"{name} {note}" for name, note in facts.items() if name not in ("day", "note")
    )
    sizes = [row for row in rows if row.part in ("size", "write")]
    times = [row for row in rows if row.part in ("open", "filter")]
    slowest = {
        part: max(row.median or 0.0 for row in times if row.part == part)
        for part in ("open", "filter")
    }
    is_met = slowest["open"] <= OPEN_S and slowest["filter"] <= FILTER_S
    lines = [
        "# The study's page",
        "",
        f"{facts['day']}. Made by `make bench-explorer` ([how](run.py)) from [results.csv](results.csv).",
        "",
        f"- Machine: {machine}.",
        *([f"- {facts['note']}."] if facts.get("note") else []),
        "",
        "A study of invented answers is written by the workflow's own writer, with the template that is",
        "shipped. Chromium opens it from a file, each time with nothing in its caches. Times are by the",
        "page's own clock, until the browser has drawn. Median (lowest–highest).",
        "",
        *table(
            ("time", "seconds", "rounds"), ((row.name, _range(row), row.rounds) for row in times)
        ),
        "",
        f"Aimed at: {OPEN_S:g} s to open and {FILTER_S:g} s to filter. The slowest medians are "
        f"{slowest['open']:.2f} s and {slowest['filter']:.2f} s: "
        f"{'both are met' if is_met else 'this is not met'}.",
        "",
        *table(("page", ""), ((row.name, _size(row)) for row in sizes)),
        "",
    ]
    return "\n".join(lines)


def _range(row: Row) -> str:
    return f"{row.median:.3f} ({row.low:.3f}–{row.high:.3f})"


def _size(row: Row) -> str:
    value = row.median or 0.0
    return f"{value:,.0f} {row.unit}".strip() if value >= 100 else f"{value:.3g} {row.unit}"


if __name__ == "__main__":
    render(Path(__file__).parent)
