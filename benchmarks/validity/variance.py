"""The share of variance that comes from who asks, and its test."""

from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import (
    Floats,
    Ints,
    Zipf,
    draw_letters,
    draw_lists,
    letter_table,
    list_table,
    puppet_shares,
    rarest_covered,
)

from fieldwork.metrics.variance import measure_variance

PART = "share_who"
PERMUTATIONS = 199
CORRELATIONS = (0.0, 0.1, 0.3, 0.7, 0.95)
SOURCE = Zipf(60, 1.5)


class Size(NamedTuple):
    """Of a study."""

    puppets: int
    items: int
    reruns: int

    def name(self) -> str:
        """As the tables call it."""
        return f"{self.puppets} puppets, {self.items} items, {self.reruns} answers each"


LETTER_SIZES = (
    *(Size(10, 4, 2), Size(10, 4, 5), Size(40, 4, 2), Size(100, 4, 2), Size(10, 75, 2)),
    Size(72, 30, 2),
)
LIST_SIZES = (Size(10, 9, 2), Size(40, 9, 2), Size(100, 9, 2))
TRUTH_PARTS = 20
TASTES = (0.0, 1.0, 3.0)
"""Standard deviation of a puppet's own log weights of the options."""


class Uneven(NamedTuple):
    """Of a field study: everyone answers once, some puppets or some answers come again."""

    size: Size
    puppets: int
    cells: float

    def name(self) -> str:
        """As the tables call it."""
        again = f"{self.puppets} of them again, half of these three times"
        if self.cells:
            again = f"{self.cells:.0%} of the answers again"
        return f"{self.size.puppets} participants, {self.size.items} items, {again}"


UNEVEN = (
    *(Uneven(Size(40, 9, 3), k, 0.0) for k in (3, 5, 10, 20)),
    Uneven(Size(40, 9, 3), 0, 0.25),
    Uneven(Size(40, 4, 3), 5, 0.0),
    Uneven(Size(120, 4, 3), 72, 0.0),
)


def jobs() -> Iterator[Job]:
    """Letters with a known intra-class correlation, lists with tastes, and uneven repeats."""
    for size in LETTER_SIZES:
        for icc in CORRELATIONS:
            yield partial(_letters, size, icc)
    for size in LIST_SIZES:
        for taste in TASTES:
            yield partial(_lists, size, taste)


def uneven_jobs() -> Iterator[Job]:
    """Studies in which few answer a prompt again."""
    for uneven in UNEVEN:
        for icc in (0.0, 0.3, 0.7):
            yield partial(_uneven, uneven, icc)


def _uneven(uneven: Uneven, icc: float, sets: int, seed: int) -> Iterator[Outcome]:
    size = uneven.size
    random = np.random.default_rng([seed, size.items, uneven.puppets, int(icc * 100)])
    shares = puppet_shares(icc, (_fewer(sets, size), size.items, size.puppets), random)
    frame = letter_table(draw_letters(shares, 3, random), condition="c", puppets=True)
    puppet, rerun = frame["puppet_id"].str[1:].astype(int), frame["replicate"]
    again = (puppet < uneven.puppets) & (rerun == 1) | (puppet < uneven.puppets // 2) & (rerun == 2)
    if uneven.cells:
        again = (rerun == 1) & (random.random(len(frame)) < uneven.cells)
    yield _measure(
        frame[(rerun == 0) | again],
        f"letters, correlation {icc:g}, uneven repeats",
        uneven.name(),
        icc,
        uneven.puppets or size.puppets // 2,
    )


def _letters(size: Size, icc: float, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, *size, int(icc * 100)])
    shares = puppet_shares(icc, (_fewer(sets, size), size.items, size.puppets), random)
    letters = draw_letters(shares, size.reruns, random)
    yield _measured(f"letters, correlation {icc:g}", size, icc, letters)


def _lists(size: Size, taste: float, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, *size, int(taste * 100)])
    lists = _draw_lists(taste, size, _fewer(sets, size), random)
    yield _measured(f"lists, taste {taste:g}", size, _true_share(taste), lists)


def _fewer(sets: int, size: Size) -> int:
    """Large studies are simulated half as often."""
    return sets if size.puppets * size.items < 300 else max(1, sets // 2)


def _draw_lists(taste: float, size: Size, sets: int, random: np.random.Generator) -> Ints:
    return np.stack([draw_lists(_weights(taste, size, random), random) for _ in range(sets)])


def _weights(taste: float, size: Size, random: np.random.Generator) -> Floats:
    # a puppet's taste holds for all items, so that its answers hang together
    own = SOURCE.log_weights() + taste * random.normal(size=(size.puppets, SOURCE.n_options))
    shape = (size.items, size.puppets, size.reruns, SOURCE.n_options)
    return np.broadcast_to(own[None, :, None, :], shape)


@cache
def _true_share(taste: float) -> float:
    """By the definition: 1 - (differences within puppets) / (differences between)."""
    if taste == 0:
        return 0.0
    random = np.random.default_rng([TRUTH_PARTS, int(taste * 100)])
    within, between = [], []
    for _ in range(TRUTH_PARTS):
        lists = draw_lists(_weights(taste, Size(20_000, 1, 2), random), random)[0]
        first, second = lists[:, 0], lists[:, 1]
        within.append(_mean_difference(first, second))
        # every answer beside those of several other puppets
        between += [_mean_difference(first, np.roll(second, k, axis=0)) for k in range(1, 6)]
    return float(1 - np.mean(within) / np.mean(between))


def _mean_difference(first: Ints, second: Ints) -> float:
    shared = (first[:, :, None] == second[:, None, :]).sum(axis=(1, 2))
    return float((first.shape[1] - shared).mean())


def _measured(source: str, size: Size, truth: float, given: Ints) -> Outcome:
    lay = list_table if source.startswith("lists") else letter_table
    frame = lay(given, condition="c", puppets=True)
    return _measure(frame, source, size.name(), truth, size.puppets)


def _measure(
    frame: pd.DataFrame, source: str, size: str, truth: float, n_repeating: int
) -> Outcome:
    rows = measure_variance(
        frame,
        baseline="offline",
        n_permutations=PERMUTATIONS,
        seed=1,
        rarest_users=rarest_covered(n_repeating),
    )
    return outcome(
        PART,
        "share_who",
        source,
        size,
        truth=truth,
        estimates=[row.share_who for row in rows],
        intervals=[(row.ci_low, row.ci_high) for row in rows],
        p_values=[row.p_value for row in rows],
    )
