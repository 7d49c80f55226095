"""The page of the retrieval benchmark, from `results.csv`.

python benchmarks/retrieval/report.py      # the page again
"""

import sys
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

from result_rows import Results, Row, number, read_rows, table

FIELDWORK, HELD, FAISS = "fieldwork", "held", "faiss"
CORPUS = 838_000
STAGES = ("BM25", "static", "static, mapped")
SHARES = ("0.05", "0.1", "0.2", "0.5")


def render(folder: Path) -> None:
    """The page, from `results.csv`."""
    results = Results(read_rows(folder, Row))
    (folder / "results.md").write_text(page(results), encoding="utf-8")


def _curve(results: Results, stage: str, n: int, k: int, name: str) -> float | None:
    """A point of a recall curve."""
    place = ("curve", stage, n, f"k={k} {name}")
    points = (r.median for r in results.rows if (r.scenario, r.tool, r.n, r.measure) == place)
    return next(points, None)


def page(results: Results) -> str:
    """`results.md`."""
    lines = [
        "# Encoding and retrieval",
        "",
        f"{results.note('day')}. Made by `make bench-retrieval` ([how](run.py)) from",
        "[results.csv](results.csv).",
        "",
        f"- Machine: {results.machine()}; {results.note('asked', 'threads')} threads.",
        *[f"- Left out: {r.tool} ({r.note})." for r in results.rows if r.scenario == "left out"],
        *([f"- {results.note('remark')}"] if results.note("remark") else []),
    ]
    scenarios = {row.scenario for row in results.rows}
    if "search" in scenarios:
        lines += ["", *_search(results)]
    if "curve" in scenarios:
        lines += ["", *_encode(results), "", *_first_stage(results)]
    return "\n".join([*lines, ""])


def _search(results: Results) -> list[str]:
    n = next(row.n for row in results.rows if row.scenario == "search")
    lines = [
        "## Exact search",
        "",
        f"The {results.note('asked', 'k')} nearest of {n:,} made-up unit vectors of 384 numbers, for",
        f"{results.note('asked', 'questions')} questions at once. Median of the rounds (lowest–highest).",
        "",
        "| | search, s | reading and search, s | processor, s | memory, MiB | as Fieldwork finds |",
        "|---|---|---|---|---|---|",
    ]
    titles = {
        FIELDWORK: "Fieldwork, streamed from disk",
        HELD: "Fieldwork, vectors in memory",
        FAISS: f"faiss {results.note('version', FAISS)}, flat index",
    }
    for tool, title in titles.items():
        if results.median("search", tool, "cpu_s") is None:
            continue
        same = results.median("search", tool, "same")
        lines.append(
            f"| {title} | {results.spread('search', tool, 'search_s')} "
            f"| {results.spread('search', tool, 'total_s')} "
            f"| {results.spread('search', tool, 'cpu_s')} "
            f"| {number(results.median('search', tool, 'private_mib'))} "
            f"| {'' if same is None else f'{100 * same:.3f} %'} |"
        )
    ours = results.median("search", FIELDWORK, "total_s")
    theirs = results.median("search", FAISS, "total_s")
    alone = results.median("search", FAISS, "search_s")
    memory = results.median("search", FIELDWORK, "private_mib")
    if ours and theirs and alone and memory:
        lines += [
            "",
            "Aimed at: at most 1.5 times faiss's time, in at most 2 GiB. Measured:",
            f"{ours / theirs:.2f} times with reading on both sides, {ours / alone:.2f} times faiss's",
            f"search without its reading, in {memory / 1024:.2f} GiB. faiss settles ties by position and",
            "rounds as its blocks fall; Fieldwork orders by the exact score and then by id, whatever the",
            "blocks.",
        ]
    return lines


def _encode(results: Results) -> list[str]:
    base = results.median("encode", FIELDWORK, "fp32 1") or 1.0
    n = next((row.n for row in results.rows if row.scenario == "encode"), 0)
    rates = [
        (precision, batch, rate)
        for precision in ("fp32", "bf16")
        for batch in (1, 8, 32)
        if (rate := results.median("encode", FIELDWORK, f"{precision} {batch}"))
    ]
    hours = f"{CORPUS:,} conversations, h"
    lines = [
        "all-MiniLM-L6-v2, 300 real conversations; the last column is a corpus of the size of",
        "WildChat-1M at that rate.",
        "",
        *table(
            ("precision", "texts together", "texts/s", "times the default", hours),
            (
                (*rated, number(rate), f"{rate / base:.2f}", f"{CORPUS / rate / 3600:.1f}")
                for *rated, rate in rates
            ),
        ),
    ]
    prompts = results.median("encode", FIELDWORK, "bf16 recall, prompts")
    mmlu = results.median("encode", FIELDWORK, "bf16 recall, MMLU")
    if not rates:
        lines = ["Rates were not measured in this run."]
    return [
        "## Precision",
        "",
        *lines,
        "",
        f"Recall@{results.note('asked', 'k')} of bf16 against fp32 over {n:,} conversations:",
        f"{number(prompts)} for the 13 prompts, {number(mmlu)} for the 514 MMLU questions. The default",
        "is fp32 nonetheless, as bf16 is slow on a processor without the instructions",
        "([by machine](precision.md)). ONNX int8 is not offered: its package would pull",
        "sentence-transformers and transformers back.",
    ]


def _first_stage(results: Results) -> list[str]:
    curves = [row for row in results.rows if row.scenario == "curve"]
    sizes = sorted({row.n for row in curves})
    rate = results.median("first_stage", FIELDWORK, "first stage, texts/s")
    lines = [
        "## A first stage before the encoder",
        "",
        "Wanted: a cheap first stage that picks a tenth of the corpus at most, so that only that is",
        "encoded, and keeps 95 % of the neighbours that exhaustive search finds. The 13 prompts share",
        f"the candidates. Tokenising and averaging: {number(rate)} texts/s. N conversations, k",
        "neighbours a prompt:",
        "",
    ]
    titles = ("first stage", "N", "k", "k / N", "recall in 5 %", "10 %", "20 %", "50 %")
    rows = []
    for stage, n, k in product(STAGES, sizes, (1, 3, 10, 30, 100)):
        points = [_curve(results, stage, n, k, name) for name in SHARES]
        needed = _curve(results, stage, n, k, "needed")
        cells = (stage, f"{n:,}", k, f"{100 * k / n:.2f} %")
        shown = ["–" if p is None else f"{p:.2f}" for p in points]
        rows.append((*cells, *shown, "–" if needed is None else f"{100 * needed:.0f} %"))
    lines += table((*titles, "share for 95 %"), rows)
    return [
        *lines,
        "",
        "The corpus is small: 100 neighbours of 838,000 are 0.012 % of it, less than one conversation",
        "here, and for small k the 13 prompts are few. Read along equal k / N, and towards smaller ones.",
        *_verdict(results, sizes[-1]),
    ]


def _verdict(results: Results, n: int) -> list[str]:
    best = [_curve(results, s, n, k, "0.1") or 0.0 for s in STAGES for k in (1, 3, 10, 30, 100)]
    if max(best) >= 0.95:
        return ["A first stage reaches 95 % within a tenth at some k: look at it again."]
    return [
        "No first stage reaches 95 % within a tenth of the corpus at any k: the best is",
        f"{max(best):.2f}. The workflow therefore has none: every conversation is encoded once.",
    ]


if __name__ == "__main__":
    render(Path(__file__).parent)
