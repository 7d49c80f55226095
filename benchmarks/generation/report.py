"""From measurements to `results.csv`, and from it to the page and to the README's table.

python benchmarks/generation/report.py      # the pages again, from results.csv
"""

import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import scenarios
from result_rows import Results, Row, number, read_rows, table
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


class Target(NamedTuple):
    """What was aimed at; `at_least` is false for what must stay below."""

    words: str
    scenario: str
    measure: str
    bound: float
    at_least: bool
    scale: float = 1.0
    unit: str = ""


TARGETS = (
    Target("short prompts", "short", "requests_per_s", 3_000, True, 1, " req/s"),
    Target("of the ideal at 200 ms", "latency", "requests_per_s", 85, True, 0.1, " %"),
    Target("400 KB prompts", "long", "requests_per_s", 1_500, True, 1, " req/s"),
    Target("resident memory, 400 KB prompts", "long", "peak_mib", 150, False, 1, " MiB"),
    Target("ledger, 400 KB prompts", "long", "disk_bytes_a_row", 2_000, False, 1, " bytes a row"),
    Target("warm rerun of 100,000 rows", "warm", "seconds", 3, False, 1, " s"),
    Target("repeatable tokens cached", "ordered", "cached_share", 95, True, 100, " %"),
    Target("plan over the bill", "ordered", "plan_error", 2, False, 100, " %"),
)
"""In the order of the page."""
ALONE = (
    ("warm", "seconds", "warm rerun, 100,000 rows: ledger to Parquet, s", 1.0),
    ("warm", "with_inputs_s", "the same with reading the job's inputs, s", 1.0),
    ("ordered", "cached_share", "repeatable tokens cached, in the workflow's order, %", 100.0),
    ("unordered", "cached_share", "the same requests shuffled, without keys or warm-up, %", 100.0),
    ("paced", "cached_share", "the same, no faster than the workflow's order may go, %", 100.0),
    ("ordered", "billed_usd", "bill, in the workflow's order, $", 1.0),
    ("unordered", "billed_usd", "bill, shuffled, $", 1.0),
    ("ordered", "planned_usd", "what the plan expected, $", 1.0),
    ("ordered", "plan_error", "plan over the bill, %", 100.0),
)
"""What this project is measured by alone: scenario, measure, words and scale."""


def render(folder: Path) -> None:
    """The pages, from `results.csv`."""
    results = Results(read_rows(folder, Row))
    (folder / "results.md").write_text(page(results), encoding="utf-8")
    (folder / "readme_table.md").write_text(readme_table(results), encoding="utf-8")


def page(results: Results) -> str:
    """`results.md`."""
    versions = [f"{LABELS[tool]} {v}" for tool in PEERS if (v := results.note("version", tool))]
    lines = [
        "# Asking models, side by side",
        "",
        f"{results.note('day')}. Made by `make bench` ([how](run.py)) from [results.csv](results.csv).",
        "",
        f"- Machine: {results.machine()}; the server runs on the same cores.",
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
    rows = []
    for target in TARGETS:
        median = results.median(target.scenario, FIELDWORK, target.measure)
        sign = "≥" if target.at_least else "≤"
        shown, verdict = "–", "not measured"
        if median is not None:
            value = median * target.scale
            met = value >= target.bound if target.at_least else abs(value) <= target.bound
            shown, verdict = f"{number(value)}{target.unit}", "met" if met else "missed"
        rows.append((target.words, f"{sign} {target.bound:,.0f}{target.unit}", shown, verdict))
    return table(("what", "aimed at", "measured", ""), rows)


def _shared(results: Results, scenario: str) -> list[str]:
    rows = []
    for tool in (FIELDWORK, *PEERS):
        rate = results.find(scenario, tool, "requests_per_s")
        if rate is None:
            rows.append((LABELS[tool], results.note(scenario, tool) or "not measured", *[""] * 4))
            continue
        memory = number(results.median(scenario, tool, "peak_mib"))
        disk = number(results.median(scenario, tool, "disk_bytes_a_row"))
        cells = (number(rate.median), f"{number(rate.low)}–{number(rate.high)}")
        runs = f"{rate.n:,} × {rate.rounds}"
        rows.append((LABELS[tool], *cells, runs, f"{memory} MiB", f"{disk} bytes"))
    return table(("tool", "req/s", "lowest–highest", "n", "memory", "disk a row"), rows)


def _own(results: Results) -> list[str]:
    rows = []
    for scenario, measure, words, scale in ALONE:
        row = results.find(scenario, FIELDWORK, measure)
        if row is None or row.median is None or row.low is None or row.high is None:
            continue
        middle, low, high = (number(x * scale) for x in (row.median, row.low, row.high))
        rows.append((words, middle, f"{low}–{high}", row.rounds))
    return [
        "## Fieldwork alone",
        "",
        *table(("what", "measured", "lowest–highest", "rounds"), rows),
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
    rows = []
    for tool in (FIELDWORK, *PEERS):
        cells = [
            (results.median(scenario, tool, measure), unit)
            for scenario, measure, unit in (
                ("short", "requests_per_s", "req/s"),
                ("long", "requests_per_s", "req/s"),
                ("long", "peak_mib", "MiB"),
            )
        ]
        shown = ["–" if value is None else f"{number(value)} {unit}" for value, unit in cells]
        rows.append((LABELS[tool], *shown, KEPT[tool]))
    titles = ("tool", "short prompts", "400 KB prompts", "memory, 400 KB", "what it keeps")
    return "\n".join([*table(titles, rows), ""])


if __name__ == "__main__":
    render(Path(__file__).parent)
