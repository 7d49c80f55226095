"""From measurements to `results.csv`, and from it to the page and the plot.

python benchmarks/scale/report.py      # page and plot again, from results.csv
"""

import csv
import math
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FIELDWORK = "fieldwork"
PEERS = ("polars", "pandas", "datasets")
LABELS = {FIELDWORK: "Fieldwork", **{name: name for name in PEERS}}
AGAIN = "again: generate_responses"
STEPS = (
    "plan_requests",
    "generate_responses",
    AGAIN,
    "parse_answers",
    "canonicalise_answers",
    "measure_heterogeneity",
    "measure_comparisons",
    "measure_variance",
    "measure_distributions",
    "measure_accuracy",
    "measure_scores",
    "measure_shifts",
    "measure_rarefaction",
    "plot_figures",
)
# A step this short is mostly its start, which does not grow.
SHORT_S = 0.5
REAL_BYTES = 3.4e9 / 838_000  # WildChat-1M: 838,000 conversations in 3.4 GB


class Row(NamedTuple):
    """One line of `results.csv`: a run, or words.

    Attributes:
        what: the corpus step, contexts, or a step of the study.
        n: conversations, or the scale of the study.
        turn: which round.
        seconds: without starting the tool.
        cpu_s: processor seconds over all cores, starting the tool included.
        private_mib: peak of what the processes held themselves.
        resident_mib: the same, with pages of mapped files.
        n_bytes: what was written, work files that stay included.
        kept: rows written (requests, for a step of the study).
        note: words, or why there are no numbers.
    """

    what: str
    tool: str
    n: int
    turn: int
    seconds: float | None
    cpu_s: float | None
    private_mib: float | None
    resident_mib: float | None
    n_bytes: int
    kept: int
    note: str


class Cell(NamedTuple):
    """The rounds of one measurement: medians, and the extremes of the time."""

    seconds: float
    low: float
    high: float
    cpu_s: float
    private_mib: float
    resident_mib: float
    n_bytes: int
    kept: int
    rounds: int


def told(what: str, tool: str, note: str) -> Row:
    """A row that holds words."""
    return Row(what, tool, 0, 0, None, None, None, None, 0, 0, note)


def write(folder: Path, rows: Iterable[Row]) -> None:
    """All three files."""
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows)
    render(folder)


def render(folder: Path) -> None:
    """Page and plot, from `results.csv`."""
    from plot import draw_growth

    with (folder / "results.csv").open(newline="", encoding="utf-8") as handle:
        results = Results([_row(line) for line in csv.DictReader(handle)])
    (folder / "results.md").write_text("\n".join([*page(results), ""]), encoding="utf-8")
    draw_growth(results, folder / "growth.png")


def _row(line: dict[str, str]) -> Row:
    names = ("seconds", "cpu_s", "private_mib", "resident_mib")
    numbers = {name: float(line[name]) if line[name] else None for name in names}
    counts = {name: int(line[name]) for name in ("n", "turn", "n_bytes", "kept")}
    words = {name: line[name] for name in ("what", "tool", "note")}
    return Row(**words, **counts, **numbers)  # type: ignore[arg-type]


class Results:
    """Rows by what was measured, tool and size."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def cell(self, what: str, tool: str, n: int) -> Cell | None:
        """The rounds of a measurement; None where there are none."""
        runs = [r for r in self.rows if (r.what, r.tool, r.n) == (what, tool, n) and not r.note]
        if not runs:
            return None
        times = [run.seconds or 0.0 for run in runs]
        middle = {
            name: statistics.median(getattr(run, name) or 0.0 for run in runs)
            for name in ("cpu_s", "private_mib", "resident_mib")
        }
        return Cell(
            statistics.median(times),
            min(times),
            max(times),
            **middle,
            n_bytes=runs[-1].n_bytes,
            kept=runs[-1].kept,
            rounds=len(runs),
        )

    def sizes(self, what: str) -> list[int]:
        """Sizes at which something was tried, ascending."""
        return sorted({row.n for row in self.rows if row.what == what})

    def note(self, what: str, tool: str = "", n: int = 0) -> str:
        """A row's words; empty where there are none."""
        found = (r.note for r in self.rows if (r.what, r.tool, r.n) == (what, tool, n) and r.note)
        return next(found, "")

    def exponent(self, what: str, tool: str = FIELDWORK) -> float | None:
        """The power of n with which processor time grew over the last step in size."""
        cells = [(n, c) for n in self.sizes(what) if (c := self.cell(what, tool, n))]
        if len(cells) < 2:
            return None
        (n0, before), (n1, after) = cells[-2:]
        return math.log(after.cpu_s / before.cpu_s) / math.log(n1 / n0)


def page(results: Results) -> list[str]:
    """`results.md`, line by line."""
    from paper import extrapolated

    facts = [
        f"{r.what.partition(': ')[2]} {r.note}"
        for r in results.rows
        if r.what.startswith("machine:")
    ]
    versions = [f"{tool} {v}" for tool in PEERS if (v := results.note("version", tool))]
    return [
        "# How cost grows",
        "",
        f"{results.note('day')}. Made by `make bench-scale` ([how](run.py)) from "
        "[results.csv](results.csv).",
        "",
        f"- Machine: {', '.join(facts)}.",
        f"- Peers: {', '.join(versions) or 'none'}; exact pins in [environments](environments).",
        "- Corpora are generated in the shape of WildChat-1M from words and lengths of real",
        f"  conversations ([how](wildchat.py)), texts at scale {results.note('scale of texts')}:",
        *_generated(results),
        "- Seconds are medians of the rounds, without starting the tool; processor seconds count all",
        "  cores and the start. Memory is the peak of what the processes hold themselves (`private`),",
        "  and with the pages of mapped files (`resident`).",
        "",
        "![Growth](growth.png)",
        "",
        *_targets(results),
        "",
        "## Corpus: the same filter",
        "",
        "English, at least five user turns, neither toxic nor redacted, readable, each once, sorted by",
        "id, tokens counted, Zstandard. All tools do all of this (but `datasets`, whose `to_parquet`",
        "knows Snappy only, does not compress as well), and keep the same number of conversations.",
        "Three rounds, each begun by another tool.",
        "",
        *_corpus(results),
        "",
        *_behind(results),
        "",
        "## From corpus to contexts",
        "",
        "One history for each puppet, a puppet for every 200 conversations of the corpus.",
        "",
        *_contexts(results),
        "",
        "## From requests to figures",
        "",
        *_study(results),
        "",
        *extrapolated(results),
    ]


def _generated(results: Results) -> list[str]:
    made = [row for row in results.rows if row.what == "generated"]
    each = [f"{row.n:,} in {row.n_bytes / 1e9:.2f} GB" for row in made]
    largest = made[-1].n_bytes / made[-1].n if made else 0.0
    return [f"  {', '.join(each)} ({largest:,.0f} bytes each; WildChat-1M: {REAL_BYTES:,.0f})."]


def _targets(results: Results) -> list[str]:
    lines = ["| what | aimed at | measured | |", "|---|---|---|---|"]
    for what, words in (("corpus", "corpus"), ("contexts", "contexts")):
        lines.append(_at_most(f"growth of the {words}, power of n", 1.05, results.exponent(what)))
    for size in results.sizes("corpus")[-1:]:
        ours = results.cell("corpus", FIELDWORK, size)
        memory = ours.resident_mib if ours else None
        lines.append(_at_most(f"memory at {size:,} conversations, MiB", 2_048, memory))
    for peer, least in (("datasets", 4.0), ("polars", 1.0), ("pandas", 1.0)):
        lines += _beside(results, peer, least)
    return lines


def _beside(results: Results, peer: str, least: float) -> list[str]:
    both = [
        (size, ours, theirs)
        for size in results.sizes("corpus")
        if (ours := results.cell("corpus", FIELDWORK, size))
        and (theirs := results.cell("corpus", peer, size))
    ]
    lines = []
    for size, ours, theirs in both[-1:]:
        times, share = theirs.seconds / ours.seconds, ours.private_mib / theirs.private_mib
        met = "met" if times >= least else "missed"
        lines.append(
            f"| times as fast as {peer}, at {size:,} | ≥ {least:g} | {times:.2f} | {met} |"
        )
        lines.append(_at_most(f"memory over that of {peer}, at {size:,}", 1.0, share))
    return lines


def _at_most(words: str, bound: float, value: float | None) -> str:
    if value is None:
        return f"| {words} | ≤ {bound:,g} | – | not measured |"
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
    return f"| {words} | ≤ {bound:,g} | {shown} | {'met' if value <= bound else 'missed'} |"


def _corpus(results: Results) -> list[str]:
    lines = [
        "| conversations | tool | seconds | lowest–highest | processor s | private | resident "
        "| written | kept |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for size in results.sizes("corpus"):
        for tool in LABELS:
            cell = results.cell("corpus", tool, size)
            if cell is None:
                why = results.note("corpus", tool, size) or "not measured"
                lines.append(f"| {size:,} | {LABELS[tool]} | {why} | | | | | | |")
                continue
            lines.append(
                f"| {size:,} | {LABELS[tool]} | {cell.seconds:.2f} | {cell.low:.2f}–{cell.high:.2f} "
                f"| {cell.cpu_s:.1f} | {cell.private_mib:,.0f} MiB | {cell.resident_mib:,.0f} MiB "
                f"| {cell.n_bytes / 1e6:,.1f} MB | {cell.kept:,} |"
            )
    return lines


def _behind(results: Results) -> list[str]:
    """Where another tool does better, size by size."""
    lines = ["Where another tool does better:", ""]
    for size in results.sizes("corpus"):
        ours = results.cell("corpus", FIELDWORK, size)
        for peer in PEERS:
            theirs = results.cell("corpus", peer, size)
            if ours is None or theirs is None:
                continue
            better = [
                f"{mine / other:.2g} times {words}"
                for words, mine, other in (
                    ("as fast", ours.seconds, theirs.seconds),
                    ("as frugal of processor time", ours.cpu_s, theirs.cpu_s),
                    ("as frugal of memory", ours.private_mib, theirs.private_mib),
                )
                if other < mine
            ]
            if better:
                lines.append(f"- At {size:,}, {peer} is {', '.join(better)}.")
    return (
        lines if len(lines) > 2 else ["No other tool does better at any size, in time or memory."]
    )


def _contexts(results: Results) -> list[str]:
    lines = [
        "| conversations | puppets | seconds | processor s | resident | written |",
        "|---|---|---|---|---|---|",
    ]
    for size in results.sizes("contexts"):
        if cell := results.cell("contexts", FIELDWORK, size):
            lines.append(
                f"| {size:,} | {cell.kept:,} | {cell.seconds:.2f} | {cell.cpu_s:.1f} "
                f"| {cell.resident_mib:,.0f} MiB | {cell.n_bytes / 1e6:,.1f} MB |"
            )
    return lines


def _study(results: Results) -> list[str]:
    scales = results.sizes(STEPS[0])
    sizes = [cell.kept if (cell := results.cell(STEPS[0], FIELDWORK, n)) else 0 for n in scales]
    lines = [
        "Seconds (and peak memory) of each stage; the embedded model answers, its texts encoded before.",
        f"`power` is how seconds grew over the last step, told where they are above {SHORT_S:g} s.",
        "",
        f"| step | {' | '.join(f'{size:,} requests' for size in sizes)} | power |",
        f"|---|{'---|' * len(sizes)}---|",
    ]
    for step in STEPS:
        cells = [results.cell(step, FIELDWORK, n) for n in scales]
        shown = [f"{c.seconds:.2f} s, {c.resident_mib:,.0f} MiB" if c else "–" for c in cells]
        lines.append(f"| {step} | {' | '.join(shown)} | {_power(cells, scales)} |")
    failed = [(r.what, r.n, r.note) for r in results.rows if r.what in STEPS and r.note]
    return lines + [f"\n{step} at {n}: {note}." for step, n, note in failed]


def _power(cells: list[Cell | None], scales: list[int]) -> str:
    if len(cells) < 2 or cells[-2] is None or cells[-1] is None or cells[-2].seconds < SHORT_S:
        return ""
    growth = math.log(cells[-1].seconds / cells[-2].seconds)
    return f"{growth / math.log(scales[-1] / scales[-2]):.2f}"


if __name__ == "__main__":
    render(Path(__file__).parent)
