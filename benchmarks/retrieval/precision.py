"""How fast each precision encodes on this machine, and what `embedding.precision: auto` makes of it.

usage: PYTHONPATH=workflow/scripts python benchmarks/retrieval/precision.py    minutes, on a quiet machine

Encodes real conversations of `../shared/data` where they are, else the sample's, in rounds that alternate
between the precisions. What was measured is added to `precision.csv`, which has a line for each machine
and setting, and `precision.md` is written from it. `--page` writes the page alone.
"""

import random
import statistics
import sys
import time
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import machine
import texts
from command_line import Option, read_options
from result_rows import read_rows, table, write_rows

from fieldwork.encoder import PRECISIONS, Encoder, EncoderSettings
from fieldwork.encoder_settings import GAIN, NEARNESS, try_precisions, verdict
from fieldwork.puppets.embedding import N_TRIAL_TEXTS, trial_texts

HERE = Path(__file__).parent
RESULTS = "precision.csv"
SAMPLE = HERE.parents[1] / "resources/sample/conversations.parquet"
N_TEXTS = 20
ROUNDS = 3
SETTINGS = ((1, 1), (2, 8))
"""Threads, and texts together; the first is the default."""
HEAD = (
    "day",
    "processor",
    "bfloat16",
    "threads",
    "texts together",
    "fp32",
    "bf16",
    "times",
    "least cosine",
    "`auto` takes",
    "remark",
)
BFLOAT16 = ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")


class Measured(NamedTuple):
    """A line of `precision.csv`: one machine, one setting.

    Attributes:
        bfloat16: the processor's instructions for it.
        fp32_rate, bf16_rate: texts a second, the median of the rounds; low and high beside it.
        least_cosine, mean_cosine: of a text's two vectors.
        auto: what `auto` takes with this setting, on its own texts, and after how many seconds.
    """

    day: str
    processor: str
    cores: str
    bfloat16: str
    torch: str
    texts: str
    threads: int
    batch: int
    fp32_rate: float
    fp32_low: float
    fp32_high: float
    bf16_rate: float
    bf16_low: float
    bf16_high: float
    least_cosine: float
    mean_cosine: float
    auto: str
    auto_gain: float
    auto_s: float
    note: str


def measure(texts_name: str, samples: list[str], note: str, threads: int, batch: int) -> Measured:
    """Rates of one setting, and the choice that `auto` makes with it."""
    encoder = Encoder(EncoderSettings(batch_size=batch, threads=threads), Path())
    rates: dict[str, list[float]] = {precision: [] for precision in PRECISIONS}
    vectors = {precision: encoder.compute(samples, precision) for precision in PRECISIONS}
    for _ in range(ROUNDS):
        for precision in PRECISIONS:
            begun = time.perf_counter()
            encoder.compute(samples, precision)
            rates[precision].append(len(samples) / (time.perf_counter() - begun))
    cosines = (vectors["fp32"] * vectors["bf16"]).sum(axis=1)
    begun = time.perf_counter()
    trial = try_precisions(encoder, trial_texts(str(SAMPLE), "user_turns"))
    auto_s = time.perf_counter() - begun
    facts, skills = machine.facts(), torch.cpu.get_capabilities()
    return Measured(
        date.today().isoformat(),
        facts["cpu"],
        facts["cores"],
        " ".join(name for name in BFLOAT16 if skills.get(name)) or "none",
        torch.__version__,
        texts_name,
        threads,
        batch,
        *(f(rates[p]) for p in PRECISIONS for f in (statistics.median, min, max)),
        float(cosines.min()),
        float(np.mean(cosines)),
        verdict(trial)[0],
        trial.rates["bf16"] / trial.rates["fp32"],
        auto_s,
        note,
    )


def write_results(rows: Iterable[Measured]) -> None:
    """Add rows, in the place of those of the same machine and setting."""
    names = ("processor", "cores", "bfloat16", "threads", "batch")
    lines = [*read_rows(HERE, Measured, RESULTS), *rows]
    kept = {tuple(getattr(line, name) for name in names): line for line in lines}
    write_rows(HERE, [*kept.values()], RESULTS)


def page() -> str:
    """`precision.md`."""
    lines = [
        "# Precision of the encoder, by machine",
        "",
        f"all-MiniLM-L6-v2, {N_TEXTS} conversations: texts a second, median of {ROUNDS} rounds in turn",
        "(lowest–highest). Made by [precision.py](precision.py) from [precision.csv](precision.csv),",
        "which has a line for each machine and setting.",
        "",
        *table(HEAD, map(_cells, read_rows(HERE, Measured, RESULTS))),
    ]
    return "\n".join(
        [
            *lines,
            "",
            f"`auto` encodes {N_TRIAL_TEXTS} conversations of the sample in both precisions. It takes",
            f"bf16 where that is more than {GAIN} times as fast and no cosine is below {NEARNESS}.",
            "",
        ]
    )


def _cells(row: Measured) -> list[object]:
    rates = (
        (row.fp32_rate, row.fp32_low, row.fp32_high),
        (row.bf16_rate, row.bf16_low, row.bf16_high),
    )
    return [
        row.day,
        f"{row.processor}, {row.cores} cores",
        row.bfloat16,
        row.threads,
        row.batch,
        *(f"{rate:.3g} ({low:.3g}–{high:.3g})" for rate, low, high in rates),
        f"{row.bf16_rate / row.fp32_rate:.2f}",
        f"{row.least_cosine:.4f}",
        f"{row.auto}, after {row.auto_s:.0f} s",
        row.note,
    ]


def main() -> None:
    """Measure, unless only the page is asked for; write both files."""
    options = read_options(
        __doc__,
        HERE,
        page=Option(False, "write the page alone"),
        note=Option("", "what a reader must know of this run"),
    )
    if not options.page:
        has_real = texts.available()
        pool = texts.conversations() if has_real else trial_texts(str(SAMPLE), "user_turns")
        samples = random.Random(2509).sample(pool, min(N_TEXTS, len(pool)))
        name = "real conversations" if has_real else "the sample"
        for setting in SETTINGS:
            write_results([measure(name, samples, options.note, *setting)])
    (HERE / "precision.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
