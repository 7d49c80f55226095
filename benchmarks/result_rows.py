"""Rows of `results.csv` and tables of `results.md`, as several benchmarks have them."""

import csv
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import machine

AnyRow = TypeVar("AnyRow", bound=NamedTuple)


def write_rows(folder: Path, rows: Sequence[Any], name: str = "results.csv") -> None:
    """Write a table of rows of one type, numbers to six digits."""
    with (folder / name).open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(rows[0]._fields)
        writer.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows)


def read_rows(folder: Path, row_type: type[AnyRow], name: str = "results.csv") -> list[AnyRow]:
    """The rows of a table, none where it is not there; an empty cell is None, or an empty text."""
    if not (folder / name).exists():
        return []
    kinds = {name: get_args(hint) or (hint,) for name, hint in get_type_hints(row_type).items()}
    with (folder / name).open(newline="", encoding="utf-8") as handle:
        return [
            row_type(*(_value(line[column], kind) for column, (kind, *_) in kinds.items()))
            for line in csv.DictReader(handle)
        ]


def _value(text: str, kind: type) -> Any:
    return kind(text) if text or kind is str else None


class Row(NamedTuple):
    """A line of `results.csv`: what a tool took in a scenario, or words.

    Attributes:
        n: requests of a run, vectors or texts.
        rounds: runs behind median, low and high.
        note: words, where there is no number.
    """

    scenario: str
    tool: str
    measure: str
    n: int
    rounds: int
    median: float | None
    low: float | None
    high: float | None
    note: str


def row_of(scenario: str, tool: str, measure: str, n: int, values: Sequence[float]) -> Row:
    """The row of all rounds."""
    middle = statistics.median(values)
    return Row(scenario, tool, measure, n, len(values), middle, min(values), max(values), "")


def note_row(scenario: str, tool: str, note: str, measure: str = "note") -> Row:
    """A row that holds words."""
    return Row(scenario, tool, measure, 0, 0, None, None, None, note)


def machine_rows(day: str) -> list[Row]:
    """When and on what it was measured."""
    facts = machine.facts().items()
    return [note_row("day", "", day), *(note_row(f"machine: {name}", "", v) for name, v in facts)]


class Results:
    """Rows by scenario, tool and measure."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self._by = {(row.scenario, row.tool, row.measure): row for row in rows}

    def find(self, scenario: str, tool: str, measure: str) -> Row | None:
        """A row; None where it was not measured."""
        return self._by.get((scenario, tool, measure))

    def median(self, scenario: str, tool: str, measure: str) -> float | None:
        """The middle of a row's rounds; None where it was not measured."""
        row = self.find(scenario, tool, measure)
        return row.median if row else None

    def spread(self, scenario: str, tool: str, measure: str) -> str:
        """Median, and lowest to highest."""
        row = self.find(scenario, tool, measure)
        if row is None or row.median is None:
            return "–"
        return f"{number(row.median)} ({number(row.low)}–{number(row.high)})"

    def note(self, scenario: str, tool: str = "") -> str:
        """A row's words; empty where there are none."""
        row = self.find(scenario, tool, "note") or self.find(scenario, tool, "failed")
        return row.note if row else ""

    def machine(self) -> str:
        """What it was measured on."""
        facts = [row for row in self.rows if row.scenario.startswith("machine: ")]
        return ", ".join(f"{row.scenario.partition(': ')[2]} {row.note}" for row in facts)


def number(value: float | None) -> str:
    """With three digits, as a page shows it; a dash for none."""
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{round(value, -1):,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Lines of a table of a page."""
    head, *lines = (
        "|" + "".join(f" {cell} |" if cell != "" else " |" for cell in cells)
        for cells in (titles, *rows)
    )
    return [head, "|" + "---|" * len(titles), *lines]
