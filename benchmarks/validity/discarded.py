"""What was tried and is not used: bootstraps, offline reruns for a share of variance, and sign flips."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from declared import N_LISTED
from outcomes import Job, Outcome, outcome
from populations import (
    LETTERS,
    LISTED,
    SHARES,
    Floats,
    Ints,
    Zipf,
    draw_letters,
    draw_lists,
    letter_table,
    named,
    puppet_shares,
)
from sources import Source
from variance import CORRELATIONS, Size

from fieldwork.measures.lists import top5_share
from fieldwork.metrics.variance import measure_variance
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.user_intervals import unit_interval

PART, OF_LISTS = "share_who", "lists"
LISTS = (Zipf(60, 1.5), Zipf(200, 1.0), Zipf(30, 0.5))
RESPONSES = (10, 40, 100)
FLIPPED = (Source("no effect"), Source("few odd users", odd=0.125))
JACKKNIFE, TRUTH_SETS = "jackknife", 1000
SIZES = (Size(10, 4, 2), Size(10, 4, 5), Size(40, 4, 2), Size(100, 4, 2))
RESAMPLES = 300
OFFLINE = np.array([0.93, 0.03, 0.03, 0.01])


def jobs() -> Iterator[Job]:
    """Bootstraps at every size; a context that only blurs answers; sign flips without an effect."""
    for size in SIZES:
        for icc in CORRELATIONS:
            yield partial(_bootstrapped, size, icc)
    yield _blurred
    for lists, n in product(LISTS, RESPONSES):
        yield partial(_recentred, lists, n)
    for source in FLIPPED:
        yield partial(_sign_flips, source)


def _bootstrapped(size: Size, icc: float, sets: int, seed: int) -> Iterator[Outcome]:
    """Puppets drawn with replacement; a pair of one puppet with itself is no pair of two."""
    random = np.random.default_rng([seed, *size, int(icc * 100), 1])
    intervals = []
    for _ in range(max(1, sets // 2)):
        shares = puppet_shares(icc, (size.items, size.puppets), random)
        letters = draw_letters(shares, size.reruns, random)
        drawn = _resampled_shares(np.eye(len(LETTERS))[letters].mean(axis=2), size.reruns, random)
        low, high = np.quantile(drawn, [0.025, 0.975])
        intervals.append((float(low), float(high)))
    yield outcome(
        PART,
        "discarded: share_who, percentile bootstrap",
        f"letters, correlation {icc:g}",
        size.name(),
        truth=icc,
        intervals=intervals,
    )


def _resampled_shares(means: Floats, reruns: int, random: np.random.Generator) -> Floats:
    """From mean vectors of shape (items, puppets, letters)."""
    items, puppets = means.shape[:2]
    rerun = reruns / (reruns - 1) * (1 - (means**2).sum(axis=2)).mean(axis=0)
    between = 1 - np.einsum("ijk,ilk->jl", means, means) / items
    np.fill_diagonal(between, 0.0)
    weights = random.multinomial(puppets, np.full(puppets, 1 / puppets), size=RESAMPLES)
    pairs = puppets**2 - (weights**2).sum(axis=1)
    apart = np.einsum("bj,jl,bl->b", weights, between, weights) / np.maximum(pairs, 1)
    shares: Floats = 1 - (weights @ rerun / puppets) / np.maximum(apart, 1e-12)
    return shares


def _blurred(sets: int, seed: int) -> Iterator[Outcome]:
    """Every user's context makes the model less certain in the same way: nobody matters."""
    random = np.random.default_rng([seed, 93])
    size = Size(10, 4, 2)
    few = max(1, sets // 2)
    here = draw_letters(puppet_shares(0.0, (few, size.items, size.puppets), random), 2, random)
    offline = np.broadcast_to(OFFLINE, (few, size.items, 1, len(OFFLINE)))
    frame = pd.concat(
        [
            letter_table(here, condition="c", puppets=True),
            letter_table(draw_letters(offline, 20, random), condition="offline", puppets=False),
        ]
    )
    rows = measure_variance(frame, baseline="offline", n_permutations=19, seed=1)
    own = [row for row in rows if row.condition == "c"]
    source = f"letters, {OFFLINE[0]:.0%} one letter offline, {SHARES[0]:.0%} with any user"
    for name, values in (
        ("share_who", [row.share_who for row in own]),
        ("discarded: share_who, rerun variance from offline", [row.over_baseline for row in own]),
    ):
        yield outcome(PART, name, source, size.name(), truth=0.0, estimates=values)


def _recentred(source: Zipf, n: int, sets: int, seed: int) -> Iterator[Outcome]:
    """Of lists, a bootstrap whose values are moved to the estimate; of a count the jackknife, too."""
    random = np.random.default_rng([seed, source.n_options, int(source.exponent * 10), n])
    weights = np.broadcast_to(source.log_weights(), (n, source.n_options))
    measures = {"unique_items": _unique, "entropy_bits": plug_in_bits, "top5_share": top5_share}
    intervals: dict[str, list[tuple[float | None, float | None]]] = {
        name: [] for name in (*measures, JACKKNIFE)
    }
    for _ in range(sets):
        indicator = np.zeros(weights.shape, dtype=np.int64)
        np.put_along_axis(indicator, draw_lists(weights, random), 1, axis=1)
        counts = indicator.sum(axis=0, keepdims=True)
        drawn = random.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) @ indicator
        for name, measure in measures.items():
            values = measure(drawn)
            low, high = np.quantile(values, [0.025, 0.975]) + measure(counts)[0] - values.mean()
            intervals[name].append((float(low), float(high)))
        moves = _unique(counts - indicator) - _unique(counts)
        of_moves = unit_interval(float(_unique(counts)[0]), moves, rarest_users=None)
        intervals[JACKKNIFE].append(of_moves or (None, None))
    many = named(
        draw_lists(np.broadcast_to(weights, (TRUTH_SETS, *weights.shape)), random), source.n_options
    )
    for name, bounds in intervals.items():
        metric, how = ("unique_items", name) if name == JACKKNIFE else (name, "recentred bootstrap")
        yield outcome(
            OF_LISTS, f"discarded: {metric}, one prompt, {how}", source.name(), f"n {n}",
            truth=float(measures[metric](many).mean()), intervals=bounds,
        )  # fmt: skip


def _unique(counts: Ints) -> Floats:
    n_options: Floats = (counts > 0).sum(axis=1).astype(np.float64)
    return n_options


def _sign_flips(source: Source, sets: int, seed: int) -> Iterator[Outcome]:
    """Exact two-sided p-values of mean differences over prompts."""
    random = np.random.default_rng([seed, *repr(source).encode()])
    lists = [side.options(LISTED, N_LISTED, random) for side in source.sides(sets, random)]
    users, others = (
        plug_in_bits(named(own.reshape(-1, own.shape[2], LISTED), N_LISTED)) for own in lists
    )
    differences = (users - others).reshape(sets, -1)
    signs = np.array(list(product((-1, 1), repeat=source.prompts)))
    observed = np.abs(differences.sum(axis=1, keepdims=True))
    p_values = (np.abs(differences @ signs.T) >= observed - 1e-9).mean(axis=1)
    yield outcome(
        OF_LISTS, "discarded: entropy_bits, difference, sign flips over prompts",
        f"lists, {source.name}", source.size, truth=None, p_values=p_values.tolist(),
    )  # fmt: skip
