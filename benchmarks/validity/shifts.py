"""Shifts of options: Newcombe's interval and Fisher's test counted out, and families of options."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Floats, Zipf, draw_lists, list_table
from runs import replace_coverage
from scipy.stats import binom

from fieldwork.metrics.shifts import measure_shifts
from fieldwork.records.metrics import Shift
from fieldwork.statistics.families import holm
from fieldwork.statistics.fisher import Margins, holm_of_discrete, p_of_tables
from fieldwork.statistics.intervals import ShareCount, newcombe_interval

PART = "shift"
SIZES = ((10, 10), (40, 40), (100, 100), (40, 400))
SHARES = ((0.02, 0.02), (0.1, 0.1), (0.5, 0.5), (0.93, 0.93), (0.1, 0.3), (0.3, 0.6), (0.93, 0.35))
ITEMS, OPTIONS, LEVEL = 9, 60, 0.05
MOVED = 5


def jobs() -> Iterator[Job]:
    """Pairs of shares, and nine prompts with and without options that move."""
    for here, there in SIZES:
        yield partial(_counted_out, here, there)
    for n in (10, 40):
        for moved in (False, True):
            yield partial(_families, n, moved)


def _counted_out(n: int, m: int, _sets: int, _seed: int) -> Iterator[Outcome]:
    """All tables of two counts with their probabilities: no error of simulation."""
    intervals = [
        [newcombe_interval(ShareCount(a, n), [ShareCount(b, m)]) for b in range(m + 1)]
        for a in range(n + 1)
    ]
    low, high = (
        np.array([[getattr(cell, end) for cell in row] for row in intervals])
        for end in ("low", "high")
    )
    p_values = np.array(
        [[p_of_tables(Margins(a + b, n, m))[a] for b in range(m + 1)] for a in range(n + 1)]
    )
    a, b = np.arange(n + 1)[:, None] / n, np.arange(m + 1)[None, :] / m
    wald = 1.959964 * np.sqrt(a * (1 - a) / n + b * (1 - b) / m)
    for first, second in SHARES:
        chances = np.outer(
            binom.pmf(np.arange(n + 1), n, second), binom.pmf(np.arange(m + 1), m, first)
        )
        truth, size = second - first, f"n {n} and {m} offline"
        for name, held in (
            ("shift, Newcombe", (low <= truth) & (truth <= high)),
            ("discarded: shift, Wald", (a - b - wald <= truth) & (truth <= a - b + wald)),
        ):
            told = outcome(PART, name, f"shares {first:g} and {second:g}", size, truth=truth)
            told = replace_coverage(told, float(chances[held].sum()))
            yield _with_level(told, None if "Wald" in name else chances[p_values <= LEVEL].sum())


def _with_level(told: Outcome, share: float | None) -> Outcome:
    """`told` with a share of p-values at the level that was counted out."""
    if share is None:
        return told
    return Outcome(
        **{**told.__dict__, "false_positives": float(share), "false_positive_error": 0.0}
    )


def _families(n: int, moved: bool, sets: int, seed: int) -> Iterator[Outcome]:
    """Any false alarm among the options of nine prompts, or the options found that moved."""
    random = np.random.default_rng([seed, n, int(moved)])
    there = np.broadcast_to(
        Zipf(OPTIONS, 1.5).log_weights(), (max(1, sets // 4), ITEMS, n, 1, OPTIONS)
    )
    here = there + _moves() if moved else there
    frame = pd.concat(
        [
            list_table(draw_lists(here, random), condition="c", puppets=True),
            list_table(draw_lists(there, random), condition="offline", puppets=False),
        ]
    )
    families: dict[str, list[Shift]] = {}
    for row in measure_shifts(frame, baseline="offline"):
        families.setdefault(row.task, []).append(row)
    plain = {task: holm([row.p_value or 0.0 for row in rows]) for task, rows in families.items()}
    held = {
        task: holm_of_discrete([row.p_value or 0.0 for row in rows], [*map(_margins, rows)])
        for task, rows in families.items()
    }
    for name, corrected in (("Holm of discrete tests", held), ("Holm 1979", plain)):
        told = [
            p for task, rows in families.items() for p in _told(rows, corrected[task], moved=moved)
        ]
        which = "an option that moves" if moved else "any option"
        yield outcome(
            PART,
            f"{'discarded: ' if '1979' in name else ''}{which}, {name}",
            f"lists, {ITEMS} prompts, {'5 options move' if moved else 'the same'}",
            f"n {n} and {n} offline",
            truth=None,
            p_values=told,
        )


def _margins(row: Shift) -> Margins:
    return Margins(row.n_named + row.n_named_baseline, row.n_answers, row.n_baseline)


def _told(rows: Sequence[Shift], corrected: Sequence[float], *, moved: bool) -> list[float]:
    """The smallest p-value of a family, or those of the options that move."""
    if not moved:
        return [min(corrected)]
    names = {f"o{k:04}" for k in range(MOVED)}
    return [
        p
        for row, p in zip(rows, corrected, strict=True)
        if row.item_id == "00000" and row.answer in names
    ]


def _moves() -> Floats:
    """Log weights by which the commonest options of the first prompt become rarer."""
    moves = np.zeros((ITEMS, 1, 1, OPTIONS))
    moves[0, ..., :MOVED] = -np.linspace(2.0, 0.5, MOVED)
    return moves
