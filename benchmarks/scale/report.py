"""From measurements to `results.csv`, and from it to the page and the plot.

python benchmarks/scale/report.py      # page and plot again, from results.csv
"""

import csv
import math
from collections.abc import Iterable
from pathlib import Path

from measurements import (
    FIELDWORK,
    LABELS,
    PEERS,
    REAL_BYTES,
    SHORT_S,
    STEPS,
    Cell,
    Results,
    Row,
    row_of,
)
from paper import extrapolated
from plot import draw_growth


def write(folder: Path, rows: Iterable[Row]) -> None:
    """All three files."""
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows)
    render(folder)


def render(folder: Path) -> None:
    """Page and plot, from `results.csv`."""
    with (folder / "results.csv").open(newline="", encoding="utf-8") as handle:
        results = Results([row_of(line) for line in csv.DictReader(handle)])
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
