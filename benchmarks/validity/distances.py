"""Distances between conditions, and shares and shifts of single options: what is left of chance."""

from itertools import product

import numpy as np
import pandas as pd
from populations import (
    SHARES,
    Floats,
    Zipf,
    beside_offline,
    draw_letters,
    draw_lists,
    puppet_shares,
)
from scipy.stats import binom
from simulations import LEVEL, Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.metrics.comparisons import measure_comparisons, total_variation
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.records.metrics import Comparison, Shift
from fieldwork.statistics.entropy import jensen_shannon_bits
from fieldwork.statistics.families import holm, holm_by_family
from fieldwork.statistics.fisher import Margins, holm_of_discrete, p_of_tables
from fieldwork.statistics.intervals import ShareCount, newcombe_interval, wilson_interval

PERMUTATIONS = 199
FAMILY = 9
OTHERS = {
    "the same": SHARES,
    "a little apart": np.array([0.45, 0.35, 0.15, 0.05]),
    "far apart": np.array([0.15, 0.25, 0.55, 0.05]),
}
SIZES = ((10, 10), (40, 40), (100, 100), (100, 10))
METRICS = {"js_bits": jensen_shannon_bits, "total_variation": total_variation}


def _near_and_far(name: str, sizes: tuple[int, int], sets: Sets) -> Lines:
    yield from _excess(_letters(OTHERS[name], sizes, sets.n, sets.random), OTHERS[name])


def _puppets(puppets: int, sets: Sets) -> Lines:
    shares = puppet_shares(0.5, (sets.n, 1, puppets), sets.random)
    letters = draw_letters(shares, 2, sets.random)
    offline = draw_letters(np.broadcast_to(SHARES, (sets.n, 1, 1, 4)), 40, sets.random)
    yield from _excess(beside_offline(letters, offline, sets_are="item"), SHARES)


def _one_source(n: int, sets: Sets) -> Lines:
    weights = np.broadcast_to(Zipf(60, 1.5).log_weights(), (sets.n, 1, n, 1, 60))
    lists = [draw_lists(weights, sets.random) for _ in range(2)]
    yield from _excess(beside_offline(*lists, sets_are="item"), SHARES)


def _letters(
    shares: Floats, sizes: tuple[int, int], n: int, random: np.random.Generator
) -> pd.DataFrame:
    letters = draw_letters(np.broadcast_to(shares, (n, 1, sizes[0], 4)), 1, random)
    offline = draw_letters(np.broadcast_to(SHARES, (n, 1, 1, 4)), sizes[1], random)
    return beside_offline(letters, offline, sets_are="item")


def _measure(frame: pd.DataFrame) -> dict[str, list[Comparison]]:
    rows = measure_comparisons(frame, baseline="offline", n_permutations=PERMUTATIONS, seed=1)
    return columns_of({row.metric: row} for row in rows)


def _excess(frame: pd.DataFrame, shares: Floats) -> Lines:
    """Lines of answers whose sources have these shares, and those of the baseline."""
    for metric, rows in _measure(frame).items():
        truth = float(METRICS[metric](SHARES[None], shares[None])[0])
        yield line_of(f"{metric}: distance", rows, truth, value="distance")
        yield line_of(f"{metric}: excess", rows, truth, value="excess", p_value="p_value")


def _any_of_family(sets: Sets) -> Lines:
    """The chance that any of nine items without a difference is found, after Holm."""
    frames = [
        _letters(SHARES, (40, 40), FAMILY, sets.random).assign(task=f"t{number:05}")
        for number in range(sets.n)
    ]
    for metric, every_row in _measure(pd.concat(frames)).items():
        rows = [row for row in every_row if row.p_value is not None]
        p_holms = holm_by_family([row.p_value for row in rows], [row.task for row in rows])
        families = columns_of({row.task: p} for row, p in zip(rows, p_holms, strict=True))
        least = [min(1.0, *(p or 0.0 for p in family)) for family in families.values()]
        yield Line(f"{metric}: any of {FAMILY}, Holm", p_values=least)


# ---- shares and shifts of options ----------------------------------------------------------------------

ITEMS, OPTIONS, MOVED = 9, 60, 5
SHIFTS = ((0.02, 0.02), (0.1, 0.1), (0.5, 0.5), (0.93, 0.93), (0.1, 0.3), (0.3, 0.6), (0.93, 0.35))


def _wilson(_: Sets) -> Lines:
    """Over all numbers of successes."""
    for n, share in product((10, 40, 100), (0.02, 0.1, 0.3, 0.5, 0.93)):
        weights = binom.pmf(np.arange(n + 1), n, share)
        intervals = [wilson_interval(k, n) for k in range(n + 1)]
        held = [interval.low <= share <= interval.high for interval in intervals]
        yield Line(
            "share of an option, Wilson", share, coverage=float(weights[held].sum()),
            place={"source": f"share {share:g}", "size": f"n {n}"},
        )  # fmt: skip


def _counted_out(n: int, m: int, _: Sets) -> Lines:
    """Newcombe's interval and Fisher's test over all tables of two counts with their probabilities."""
    intervals = np.array(
        [
            [newcombe_interval(ShareCount(a, n), [ShareCount(b, m)])[:2] for b in range(m + 1)]
            for a in range(n + 1)
        ]
    )
    p_values = np.array(
        [[p_of_tables(Margins(a + b, n, m))[a] for b in range(m + 1)] for a in range(n + 1)]
    )
    a, b = np.arange(n + 1)[:, None] / n, np.arange(m + 1)[None, :] / m
    wald = 1.959964 * np.sqrt(a * (1 - a) / n + b * (1 - b) / m)
    for first, second in SHIFTS:
        truth, place = second - first, {"source": f"shares {first:g} and {second:g}"}
        chances = np.outer(
            binom.pmf(np.arange(n + 1), n, second), binom.pmf(np.arange(m + 1), m, first)
        )
        held = (intervals[..., 0] <= truth) & (truth <= intervals[..., 1])
        level = float(chances[p_values <= LEVEL].sum())
        coverage = float(chances[held].sum())
        yield Line("shift, Newcombe", truth, coverage=coverage, level=level, place=place)
        held = (a - b - wald <= truth) & (truth <= a - b + wald)
        coverage = float(chances[held].sum())
        yield Line("discarded: shift, Wald", truth, coverage=coverage, place=place)


def _families(n: int, moved: bool, sets: Sets) -> Lines:
    """Any false alarm among the options of nine prompts, or the options found that moved."""
    weights = np.broadcast_to(Zipf(OPTIONS, 1.5).log_weights(), (sets.n, ITEMS, n, 1, OPTIONS))
    # log weights by which the commonest options of the first prompt become rarer
    moves = np.zeros((ITEMS, 1, 1, OPTIONS))
    moves[0, ..., :MOVED] = -np.linspace(2.0, 0.5, MOVED)
    lists = [draw_lists(side, sets.random) for side in (weights + moves * moved, weights)]
    rows = measure_shifts(beside_offline(*lists), baseline="offline")
    families = columns_of({row.task: row} for row in rows).values()
    which = "an option that moves" if moved else "any option"
    for name, correct in (
        (f"{which}, Holm of discrete tests", _holm_of_shifts),
        (f"discarded: {which}, Holm 1979", lambda rows: holm([r.p_value or 0.0 for r in rows])),
    ):
        p_values = [p for family in families for p in _least(family, correct(family), moved)]
        yield Line(name, p_values=p_values)


def _holm_of_shifts(rows: list[Shift]) -> list[float]:
    margins = [
        Margins(row.n_named + row.n_named_baseline, row.n_answers, row.n_baseline) for row in rows
    ]
    return [*holm_of_discrete([row.p_value or 0.0 for row in rows], margins)]


def _least(rows: list[Shift], corrected: list[float], moved: bool) -> list[float]:
    """The smallest p-value of a family, or those of the options that move."""
    if not moved:
        return [min(corrected)]
    names = {f"o{k:04}" for k in range(MOVED)}
    return [
        p
        for row, p in zip(rows, corrected, strict=True)
        if row.item_id == "00000" and row.answer in names
    ]


SIMULATIONS = (
    *(
        Simulation(
            "distance", _near_and_far, (name, sizes), f"letters, {name}", "n {} and {}".format(*sizes),
            (*sizes, len(name)),
        )
        for name, sizes in product(OTHERS, SIZES)
    ),
    *(
        Simulation(
            "distance", _puppets, (puppets,), "letters, the same, correlation 0.5",
            f"{puppets} puppets of 2 answers, n 40 offline", (puppets, 7),
        )
        for puppets in (10, 100)
    ),
    *(
        Simulation(
            "distance", _one_source, (n,), "lists, the same", f"n {n} and {n}", (n, 8), 2
        )
        for n in (10, 40)
    ),
    Simulation(
        "distance", _any_of_family, (), "letters, the same", "n 40 and 40", (FAMILY,), 4
    ),
    Simulation("share", _wilson),
    *(
        Simulation("shift", _counted_out, (n, m), size=f"n {n} and {m} offline")
        for n, m in ((10, 10), (40, 40), (100, 100), (40, 400))
    ),
    *(
        Simulation(
            "shift", _families, (n, moved),
            f"lists, {ITEMS} prompts, {'5 options move' if moved else 'the same'}",
            f"n {n} and {n} offline", (n, int(moved)), 4,
        )
        for n, moved in product((10, 40), (False, True))
    ),
)  # fmt: skip
