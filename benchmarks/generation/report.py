"""From measurements to `results.csv`, and from it to the page and to the README's table.

python benchmarks/generation/report.py      # the pages again, from results.csv
"""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import scenarios
from scenarios import FIELDWORK, PEERS

LABELS = {
    FIELDWORK: "Fieldwork",
    "lm_eval": "lm-evaluation-harness",
    "openai": "openai SDK, bare",
    "curator": "Curator",
    "inspect_ai": "inspect_ai",
}
KEPT = {
    FIELDWORK: "ledger, on disk before an answer counts",
    "lm_eval": "its cache",
    "openai": "nothing",
    "curator": "its cache",
    "inspect_ai": "its log",
}
IDEAL_PER_S = 1_000


class Row(NamedTuple):
    """One line of `results.csv`.

    Attributes:
        n: requests of a run.
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


class Target(NamedTuple):
    """What was aimed at; `at_least` is false for what must stay below."""

    words: str
    scenario: str
    measure: str
    bound: float
    at_least: bool
    scale: float = 1.0
    unit: str = ""


def targets() -> list[Target]:
    """In the order of the page."""
    return [
        Target("short prompts", "short", "requests_per_s", 3_000, True, 1, " req/s"),
        Target("of the ideal at 200 ms", "latency", "requests_per_s", 85, True, 0.1, " %"),
        Target("400 KB prompts", "long", "requests_per_s", 1_500, True, 1, " req/s"),
        Target("resident memory, 400 KB prompts", "long", "peak_mib", 150, False, 1, " MiB"),
        Target(
            "ledger, 400 KB prompts", "long", "disk_bytes_a_row", 2_000, False, 1, " bytes a row"
        ),
        Target("warm rerun of 100,000 rows", "warm", "seconds", 3, False, 1, " s"),
        Target("repeatable tokens cached", "ordered", "cached_share", 95, True, 100, " %"),
        Target("plan over the bill", "ordered", "plan_error", 2, False, 100, " %"),
    ]


def write(folder: Path, rows: Iterable[Row]) -> None:
    """All three files."""
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows([_cell(value) for value in row] for row in rows)
    render(folder)


def _cell(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def render(folder: Path) -> None:
    """The pages, from `results.csv`."""
    with (folder / "results.csv").open(newline="", encoding="utf-8") as handle:
        results = Results([_row(line) for line in csv.DictReader(handle)])
    (folder / "results.md").write_text(page(results), encoding="utf-8")
    (folder / "readme_table.md").write_text(readme_table(results), encoding="utf-8")


def _row(line: dict[str, str]) -> Row:
    numbers = {
        name: float(line[name]) if line[name] else None for name in ("median", "low", "high")
    }
    counts = {name: int(line[name]) for name in ("n", "rounds")}
    words = {name: line[name] for name in ("scenario", "tool", "measure", "note")}
    return Row(**words, **counts, **numbers)  # type: ignore[arg-type]


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

    def note(self, scenario: str, tool: str = "") -> str:
        """A row's words; empty where there are none."""
        row = self.find(scenario, tool, "note") or self.find(scenario, tool, "failed")
        return row.note if row else ""


def page(results: Results) -> str:
    """`results.md`."""
    facts = [
        f"{r.scenario.partition(': ')[2]} {r.note}"
        for r in results.rows
        if "machine:" in r.scenario
    ]
    versions = [f"{LABELS[tool]} {v}" for tool in PEERS if (v := results.note("version", tool))]
    lines = [
        "# Asking models, side by side",
        "",
        f"{results.note('day')}. Made by `make bench` ([how](run.py)) from [results.csv](results.csv).",
        "",
        f"- Machine: {', '.join(facts)}; the server runs on the same cores.",
        f"- Peers: {', '.join(versions) or 'none'}; exact pins in [environments](environments).",
        "- Each tool asks different questions at temperature 1, five tokens at most, and keeps on disk",
        "  what it keeps by itself. Only answered requests count; starting a tool does not.",
        "- Tools take turns; a number is the median of the rounds, with the lowest and the highest.",
        "- Disk a row is all that a tool left behind, over its answers; memory is the process's peak.",
        *([f"- {remark}"] if (remark := results.note("remark")) else []),
        *[
            f"- Left out: {LABELS[row.tool]} ({row.note})."
            for row in results.rows
            if row.scenario == "left out"
        ],
        "",
        *_targets(results),
    ]
    for scenario in scenarios.shared():
        lines += [
            "",
            f"## {scenario.title[0].upper()}{scenario.title[1:]}",
            "",
            *_shared(results, scenario.name),
        ]
    return "\n".join([*lines, "", *_own(results), *_failures(results), ""])


def _targets(results: Results) -> list[str]:
    lines = ["| what | aimed at | measured | |", "|---|---|---|---|"]
    for target in targets():
        median = results.median(target.scenario, FIELDWORK, target.measure)
        sign = "≥" if target.at_least else "≤"
        shown, verdict = "–", "not measured"
        if median is not None:
            value = median * target.scale
            met = value >= target.bound if target.at_least else abs(value) <= target.bound
            shown, verdict = f"{_number(value)}{target.unit}", "met" if met else "missed"
        aim = f"{sign} {target.bound:,.0f}{target.unit}"
        lines.append(f"| {target.words} | {aim} | {shown} | {verdict} |")
    return lines


def _shared(results: Results, scenario: str) -> list[str]:
    lines = [
        "| tool | req/s | lowest–highest | n | memory | disk a row |",
        "|---|---|---|---|---|---|",
    ]
    for tool in (FIELDWORK, *PEERS):
        rate = results.find(scenario, tool, "requests_per_s")
        if rate is None:
            why = results.note(scenario, tool) or "not measured"
            lines.append(f"| {LABELS[tool]} | {why} | | | | |")
            continue
        memory = results.median(scenario, tool, "peak_mib")
        disk = results.median(scenario, tool, "disk_bytes_a_row")
        lines.append(
            f"| {LABELS[tool]} | {_number(rate.median)} | {_number(rate.low)}–{_number(rate.high)} "
            f"| {rate.n:,} × {rate.rounds} | {_number(memory)} MiB | {_number(disk)} bytes |"
        )
    return lines


def _own(results: Results) -> list[str]:
    lines = [
        "## Fieldwork alone",
        "",
        "| what | measured | lowest–highest | rounds |",
        "|---|---|---|---|",
    ]
    shown = [
        ("warm", "seconds", "warm rerun, 100,000 rows: ledger to Parquet, s", 1.0),
        ("warm", "with_inputs_s", "the same with reading the job's inputs, s", 1.0),
        ("ordered", "cached_share", "repeatable tokens cached, in the workflow's order, %", 100.0),
        (
            "unordered",
            "cached_share",
            "the same requests shuffled, without keys or warm-up, %",
            100.0,
        ),
        ("paced", "cached_share", "the same, no faster than the workflow's order may go, %", 100.0),
        ("ordered", "billed_usd", "bill, in the workflow's order, $", 1.0),
        ("unordered", "billed_usd", "bill, shuffled, $", 1.0),
        ("ordered", "planned_usd", "what the plan expected, $", 1.0),
        ("ordered", "plan_error", "plan over the bill, %", 100.0),
    ]
    for scenario, measure, words, scale in shown:
        row = results.find(scenario, FIELDWORK, measure)
        if row is None or row.median is None or row.low is None or row.high is None:
            continue
        low, high = _number(row.low * scale), _number(row.high * scale)
        lines.append(f"| {words} | {_number(row.median * scale)} | {low}–{high} | {row.rounds} |")
    return [
        *lines,
        "",
        "The prefix cache is simulated by the rules that OpenAI documents for the 4o family: from 1,024",
        "tokens on, in steps of 128, for 300 s, 15 requests a minute for a prefix before the next go to",
        "another machine. Ten contexts of 4,000 tokens, 514 questions of 520 after each, a second for an",
        "answer. `Repeatable` are the tokens of a prompt that an earlier prompt after its context began",
        f"with. The paced runs go by a clock {scenarios.CLOCK_SPEED:g} times as fast as a real one; the",
        "shuffled run, which never waits, by a real one.",
    ]


def _failures(results: Results) -> list[str]:
    failed = [row for row in results.rows if row.measure == "failed"]
    lines = [f"- {LABELS[row.tool]}, {row.scenario}: {row.note}" for row in failed]
    return ["", "## Failed", "", *lines] if lines else []


def readme_table(results: Results) -> str:
    """The README's five lines."""
    lines = [
        "| tool | short prompts | 400 KB prompts | memory, 400 KB | what it keeps |",
        "|---|---|---|---|---|",
    ]
    for tool in (FIELDWORK, *PEERS):
        short = results.median("short", tool, "requests_per_s")
        long = results.median("long", tool, "requests_per_s")
        memory = results.median("long", tool, "peak_mib")
        cells = [f"{_number(short)} req/s", f"{_number(long)} req/s", f"{_number(memory)} MiB"]
        shown = ["–" if cell.startswith("–") else cell for cell in cells]
        lines.append(f"| {LABELS[tool]} | {' | '.join(shown)} | {KEPT[tool]} |")
    return "\n".join([*lines, ""])


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{round(value, -1):,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    render(Path(__file__).parent)
