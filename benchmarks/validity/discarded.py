"""Intervals and tests of lists that were tried and are not used."""

from itertools import product

import numpy as np
from declared import N_LISTED
from populations import LISTED, Floats, Ints, Zipf, draw_lists, named
from simulations import Bounds, Line, Lines, Sets, Simulation, columns_of
from sources import Source

from fieldwork.measures.lists import top5_share
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.user_intervals import unit_interval

TRUTH_SETS, RESAMPLES = 1000, 300


def _unique(counts: Ints) -> Floats:
    n_options: Floats = (counts > 0).sum(axis=1).astype(np.float64)
    return n_options


MEASURES = {"unique_items": _unique, "entropy_bits": plug_in_bits, "top5_share": top5_share}


def _recentred(source: Zipf, n: int, sets: Sets) -> Lines:
    """A bootstrap whose values are moved to the estimate; of a count the jackknife, too."""
    weights = np.broadcast_to(source.log_weights(), (n, source.n_options))
    intervals = columns_of(sets.each(_intervals, weights))
    lists = draw_lists(np.broadcast_to(weights, (TRUTH_SETS, *weights.shape)), sets.random)
    many = named(lists, source.n_options)
    for (measure, how), bounds in intervals.items():
        truth = float(MEASURES[measure](many).mean())
        yield Line(f"discarded: {measure}, one prompt, {how}", truth, intervals=bounds)


def _intervals(
    weights: Floats, random: np.random.Generator
) -> dict[tuple[str, str], Bounds | None]:
    n, indicator = len(weights), np.zeros(weights.shape, dtype=np.int64)
    np.put_along_axis(indicator, draw_lists(weights, random), 1, axis=1)
    counts = indicator.sum(axis=0, keepdims=True)
    drawn = random.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) @ indicator
    intervals: dict[tuple[str, str], Bounds | None] = {}
    for name, measure in MEASURES.items():
        values = measure(drawn)
        low, high = np.quantile(values, [0.025, 0.975]) + measure(counts)[0] - values.mean()
        intervals[name, "recentred bootstrap"] = float(low), float(high)
    moves = _unique(counts - indicator) - _unique(counts)
    of_moves = unit_interval(float(_unique(counts)[0]), moves, rarest_users=None)
    return intervals | {("unique_items", "jackknife"): of_moves}


def _sign_flips(source: Source, sets: Sets) -> Lines:
    """Exact two-sided p-values of mean differences over prompts."""
    sides = source.sides(sets.n, sets.random)
    lists = [side.options(LISTED, N_LISTED, sets.random) for side in sides]
    users, others = (
        plug_in_bits(named(side.reshape(-1, side.shape[2], LISTED), N_LISTED)) for side in lists
    )
    differences = (users - others).reshape(sets.n, -1)
    signs = np.array(list(product((-1, 1), repeat=source.prompts)))
    observed = np.abs(differences.sum(axis=1, keepdims=True))
    p_values = (np.abs(differences @ signs.T) >= observed - 1e-9).mean(axis=1).tolist()
    yield Line("discarded: entropy_bits, difference, sign flips over prompts", p_values=p_values)


SIMULATIONS = (
    *(
        Simulation(
            "lists", _recentred, (source, n), source.name(), f"n {n}",
            (source.n_options, int(source.exponent * 10), n),
        )
        for source, n in product((Zipf(60, 1.5), Zipf(200, 1.0), Zipf(30, 0.5)), (10, 40, 100))
    ),
    *(
        Simulation(
            "lists", _sign_flips, (source,), f"lists, {source.name}", source.size,
            (*repr(source).encode(),),
        )
        for source in (Source("no effect"), Source("few odd users", odd=0.125))
    ),
)  # fmt: skip
