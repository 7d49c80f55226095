"""The page of the retrieval benchmark, from `results.csv`.

python benchmarks/retrieval/report.py      # the page again
"""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FIELDWORK, HELD, FAISS = "fieldwork", "held", "faiss"
CORPUS = 838_000
STAGES = ("BM25", "static", "static, mapped")
SHARES = ("0.05", "0.1", "0.2", "0.5")


class Row(NamedTuple):
    """One line of `results.csv`.

    Attributes:
        n: vectors or texts.
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


def told(what: str, tool: str, note: str) -> Row:
    """A row that holds words."""
    return Row(what, tool, "note", 0, 0, None, None, None, note)


def write(folder: Path, rows: Iterable[Row]) -> None:
    """Both files."""
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows([_cell(value) for value in row] for row in rows)
    render(folder)


def _cell(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def render(folder: Path) -> None:
    """The page, from `results.csv`."""
    with (folder / "results.csv").open(newline="", encoding="utf-8") as handle:
        results = Results([_row(line) for line in csv.DictReader(handle)])
    (folder / "results.md").write_text(page(results), encoding="utf-8")


def _row(line: dict[str, str]) -> Row:
    median, low, high = (float(line[n]) if line[n] else None for n in ("median", "low", "high"))
    return Row(
        line["scenario"],
        line["tool"],
        line["measure"],
        int(line["n"]),
        int(line["rounds"]),
        median,
        low,
        high,
        line["note"],
    )


class Results:
    """Rows by scenario, tool and measure."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self._by = {(row.scenario, row.tool, row.measure): row for row in rows}

    def median(self, scenario: str, tool: str, measure: str) -> float | None:
        """The middle of a row's rounds; None where it was not measured."""
        row = self._by.get((scenario, tool, measure))
        return row.median if row else None

    def spread(self, scenario: str, tool: str, measure: str) -> str:
        """Median, and lowest to highest."""
        row = self._by.get((scenario, tool, measure))
        if row is None or row.median is None:
            return "–"
        return f"{_number(row.median)} ({_number(row.low)}–{_number(row.high)})"

    def note(self, scenario: str, tool: str = "") -> str:
        """A row's words; empty where there are none."""
        row = self._by.get((scenario, tool, "note"))
        return row.note if row else ""

    def curve(self, stage: str, n: int, k: int, name: str) -> float | None:
        """A point of a recall curve."""
        for row in self.rows:
            if (row.scenario, row.tool, row.n, row.measure) == ("curve", stage, n, f"k={k} {name}"):
                return row.median
        return None


def page(results: Results) -> str:
    """`results.md`."""
    facts = [
        f"{r.scenario.partition(': ')[2]} {r.note}"
        for r in results.rows
        if "machine:" in r.scenario
    ]
    lines = [
        "# Encoding and retrieval",
        "",
        f"{results.note('day')}. Made by `make bench-retrieval` ([how](run.py)) from",
        "[results.csv](results.csv).",
        "",
        f"- Machine: {', '.join(facts)}; {results.note('asked', 'threads')} threads.",
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
            f"| {_number(results.median('search', tool, 'private_mib'))} "
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
    lines = [
        "all-MiniLM-L6-v2, 300 real conversations; the last column is a corpus of the size of",
        "WildChat-1M at that rate.",
        "",
        f"| precision | texts together | texts/s | times the default | {CORPUS:,} conversations, h |",
        "|---|---|---|---|---|",
    ]
    n_head = len(lines)
    for precision in ("fp32", "bf16"):
        for batch in (1, 8, 32):
            rate = results.median("encode", FIELDWORK, f"{precision} {batch}")
            if rate:
                lines.append(
                    f"| {precision} | {batch} | {_number(rate)} | {rate / base:.2f} "
                    f"| {CORPUS / rate / 3600:.1f} |"
                )
    prompts = results.median("encode", FIELDWORK, "bf16 recall, prompts")
    mmlu = results.median("encode", FIELDWORK, "bf16 recall, MMLU")
    if len(lines) == n_head:
        lines = ["Rates were not measured in this run."]
    return [
        "## Precision",
        "",
        *lines,
        "",
        f"Recall@{results.note('asked', 'k')} of bf16 against fp32 over {n:,} conversations:",
        f"{_number(prompts)} for the 13 prompts, {_number(mmlu)} for the 514 MMLU questions. The default",
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
        f"the candidates. Tokenising and averaging: {_number(rate)} texts/s. N conversations, k",
        "neighbours a prompt:",
        "",
        "| first stage | N | k | k / N | recall in 5 % | 10 % | 20 % | 50 % | share for 95 % |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for stage in STAGES:
        for n in sizes:
            for k in (1, 3, 10, 30, 100):
                points = [results.curve(stage, n, k, name) for name in SHARES]
                needed = results.curve(stage, n, k, "needed")
                shown = " | ".join("–" if p is None else f"{p:.2f}" for p in points)
                lines.append(
                    f"| {stage} | {n:,} | {k} | {100 * k / n:.2f} % | {shown} "
                    f"| {'–' if needed is None else f'{100 * needed:.0f} %'} |"
                )
    return [
        *lines,
        "",
        "The corpus is small: 100 neighbours of 838,000 are 0.012 % of it, less than one conversation",
        "here, and for small k the 13 prompts are few. Read along equal k / N, and towards smaller ones.",
        *_verdict(results, sizes[-1]),
    ]


def _verdict(results: Results, n: int) -> list[str]:
    best = [results.curve(s, n, k, "0.1") or 0.0 for s in STAGES for k in (1, 3, 10, 30, 100)]
    if max(best) >= 0.95:
        return ["A first stage reaches 95 % within a tenth at some k: look at it again."]
    return [
        "No first stage reaches 95 % within a tenth of the corpus at any k: the best is",
        f"{max(best):.2f}. The workflow therefore has none: every conversation is encoded once.",
    ]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{round(value, -1):,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    render(Path(__file__).parent)
