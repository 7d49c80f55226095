"""From measurements to `results.csv`, and from it to the page and the plot.

python benchmarks/scale/report.py      # page and plot again, from results.csv
"""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

from measurements import (
    FIELDWORK,
    LABELS,
    PEERS,
    REAL_BYTES,
    SHORT_S,
    STEPS,
    Results,
    Row,
)
from paper import extrapolated
from plot import draw_growth
from result_rows import read_rows, table


def render(folder: Path) -> None:
    """Page and plot, from `results.csv`."""
    results = Results(read_rows(folder, Row))
    (folder / "results.md").write_text("\n".join([*page(results), ""]), encoding="utf-8")
    draw_growth(results, folder / "growth.png")


def page(results: Results) -> list[str]:
    """`results.md`, line by line."""
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
    rows = [
        _at_most(f"growth of the {what}, power of n", 1.05, results.exponent(what))
        for what in ("corpus", "contexts")
    ]
    for size in results.sizes("corpus")[-1:]:
        ours = results.cell("corpus", FIELDWORK, size)
        memory = ours.resident_mib if ours else None
        rows.append(_at_most(f"memory at {size:,} conversations, MiB", 2_048, memory))
    for peer, least in (("datasets", 4.0), ("polars", 1.0), ("pandas", 1.0)):
        for size, ours, theirs in _both(results, peer)[-1:]:
            times, share = theirs.seconds / ours.seconds, ours.private_mib / theirs.private_mib
            words = f"times as fast as {peer}, at {size:,}"
            met = "met" if times >= least else "missed"
            rows.append((words, f"≥ {least:g}", f"{times:.2f}", met))
            rows.append(_at_most(f"memory over that of {peer}, at {size:,}", 1.0, share))
    return table(("what", "aimed at", "measured", ""), rows)


def _both(results: Results, peer: str) -> list[tuple[int, Row, Row]]:
    """Sizes of the corpus that this project and a peer went through, with what they took."""
    return [
        (size, ours, theirs)
        for size in results.sizes("corpus")
        if (ours := results.cell("corpus", FIELDWORK, size))
        and (theirs := results.cell("corpus", peer, size))
    ]


def _at_most(words: str, bound: float, value: float | None) -> tuple[str, ...]:
    if value is None:
        return words, f"≤ {bound:,g}", "–", "not measured"
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
    return words, f"≤ {bound:,g}", shown, "met" if value <= bound else "missed"


def _corpus(results: Results) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for size in results.sizes("corpus"):
        for tool, label in LABELS.items():
            cell = results.cell("corpus", tool, size)
            if cell is None:
                why = results.note("corpus", tool, size) or "not measured"
                rows.append((f"{size:,}", label, why, *[""] * 6))
                continue
            seconds = [run.seconds or 0.0 for run in results.runs("corpus", tool, size)]
            spread = f"{min(seconds):.2f}–{max(seconds):.2f}"
            times = (f"{cell.seconds:.2f}", spread, f"{cell.cpu_s:.1f}")
            memory = (f"{cell.private_mib:,.0f} MiB", f"{cell.resident_mib:,.0f} MiB")
            bytes_and_rows = (f"{cell.n_bytes / 1e6:,.1f} MB", f"{cell.kept:,}")
            rows.append((f"{size:,}", label, *times, *memory, *bytes_and_rows))
    titles = ("conversations", "tool", "seconds", "lowest–highest", "processor s", "private")
    return table((*titles, "resident", "written", "kept"), rows)


def _behind(results: Results) -> list[str]:
    """Where another tool does better, size by size."""
    lines = []
    for peer in PEERS:
        for size, ours, theirs in _both(results, peer):
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
                lines.append((size, f"- At {size:,}, {peer} is {', '.join(better)}."))
    if not lines:
        return ["No other tool does better at any size, in time or memory."]
    in_order = sorted(lines, key=lambda line: line[0])
    return ["Where another tool does better:", "", *(line for _, line in in_order)]


def _contexts(results: Results) -> list[str]:
    sizes = results.sizes("contexts")
    cells = [(n, cell) for n in sizes if (cell := results.cell("contexts", FIELDWORK, n))]
    rows = (
        (
            *(f"{size:,}", f"{cell.kept:,}", f"{cell.seconds:.2f}", f"{cell.cpu_s:.1f}"),
            *(f"{cell.resident_mib:,.0f} MiB", f"{cell.n_bytes / 1e6:,.1f} MB"),
        )
        for size, cell in cells
    )
    titles = ("conversations", "puppets", "seconds", "processor s", "resident", "written")
    return table(titles, rows)


def _study(results: Results) -> list[str]:
    scales, rows = results.sizes(STEPS[0]), []
    sizes = [cell.kept if (cell := results.cell(STEPS[0], FIELDWORK, n)) else 0 for n in scales]
    for step in STEPS:
        cells = [results.cell(step, FIELDWORK, n) for n in scales]
        shown = [f"{c.seconds:.2f} s, {c.resident_mib:,.0f} MiB" if c else "–" for c in cells]
        rows.append((step, *shown, _power(cells, scales)))
    failed = [(r.what, r.n, r.note) for r in results.rows if r.what in STEPS and r.note]
    return [
        "Seconds (and peak memory) of each stage; the embedded model answers, its texts encoded before.",
        f"`power` is how seconds grew over the last step, told where they are above {SHORT_S:g} s.",
        "",
        *table(("step", *(f"{size:,} requests" for size in sizes), "power"), rows),
        *(f"\n{step} at {n}: {note}." for step, n, note in failed),
    ]


def _power(cells: list[Row | None], scales: list[int]) -> str:
    if len(cells) < 2 or cells[-2] is None or cells[-1] is None or cells[-2].seconds < SHORT_S:
        return ""
    growth = math.log(cells[-1].seconds / cells[-2].seconds)
    return f"{growth / math.log(scales[-1] / scales[-2]):.2f}"


if __name__ == "__main__":
    render(Path(__file__).parent)
