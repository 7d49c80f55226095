"""What was tried for the share of variance and is not used: the bootstrap, and offline reruns."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import LETTERS, SHARES, Floats, draw_letters, letter_table, puppet_shares
from variance import CORRELATIONS, Size

from fieldwork.metrics.variance import measure_variance

PART = "share_who"
SIZES = (Size(10, 4, 2), Size(10, 4, 5), Size(40, 4, 2), Size(100, 4, 2))
RESAMPLES = 300
OFFLINE = np.array([0.93, 0.03, 0.03, 0.01])


def jobs() -> Iterator[Job]:
    """The bootstrap at every size and correlation; then a context that only blurs answers."""
    for size in SIZES:
        for icc in CORRELATIONS:
            yield partial(_bootstrapped, size, icc)
    yield _blurred


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
