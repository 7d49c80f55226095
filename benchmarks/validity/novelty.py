"""New letters of users and of reruns, at equal numbers: shares, their excess, and its test."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from outcomes import Job, Outcome, outcome
from populations import Floats, Ints, draw_letters, rarest_covered

from fieldwork.metrics.novelty import (
    NewLetters,
    excess_interval,
    excess_of_splits,
    expected_share,
    share_interval,
)
from fieldwork.statistics.intervals import wilson_interval
from fieldwork.statistics.permutation import p_value_of_first, unit_splits

PART = "novelty"
PERMUTATIONS, TRUTH_FACTOR = 199, 4


class Users(NamedTuple):
    """Users with a liking of their own for each letter, the same for all items, in log odds."""

    name: str
    habit: float
    share: float = 1.0

    def draw(self, shape: tuple[int, ...], random: np.random.Generator) -> Floats:
        """Likings of users; a part of them has any."""
        has_habit = random.random((*shape[:-1], 1)) < self.share
        likings: Floats = self.habit * random.normal(size=shape) * has_habit
        return likings


class Size(NamedTuple):
    """Users, each asked so many times; reruns of the baseline, and as many of the control; items."""

    users: int
    times: int
    reruns: int
    items: int

    def name(self) -> str:
        """As the tables call it."""
        return f"{self.users} users × {self.times}, {self.reruns} reruns, {self.items} items"


RERUNS = Users("users like reruns", 0.0)
USERS = (
    RERUNS,
    Users("users with habits of 0.5", 0.5),
    Users("users with habits of 1.5", 1.5),
    Users("one user in ten with habits of 3", 3.0, 0.1),
)
SIZES = (
    *(Size(10, 2, 10, 75), Size(10, 1, 10, 514), Size(40, 2, 10, 75), Size(40, 1, 40, 150)),
    Size(80, 1, 40, 150),
)


class Study(NamedTuple):
    """One data set: new letters of users and reruns, and of all answers by item."""

    sides: NewLetters
    share_all: float


def jobs() -> Iterator[Job]:
    """Every source at every size."""
    for users, size in product(USERS, SIZES):
        yield partial(_simulate, users, size)


def _simulate(users: Users, size: Size, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, *users.name.encode(), *size])
    item_likings = 2 * random.normal(size=(size.items, 4))
    studies = [_study(users, size, item_likings, random) for _ in range(sets)]
    others = [_study(users, size, item_likings, random).sides for _ in range(TRUTH_FACTOR * sets)]
    truth = float(np.mean([expected_share(s.condition, s.n_equal) for s in others]))
    excess = float(np.mean([_excess(s) for s in others])) if users.habit else 0.0
    shares = [expected_share(s.sides.condition, s.sides.n_equal) for s in studies]
    line = partial(outcome, PART, source=users.name, size=size.name())
    rarest = rarest_covered(size.users)
    yield line(
        estimator="share at equal n",
        truth=truth,
        estimates=shares,
        intervals=[
            share_interval(s.sides.condition, s.sides.n_equal, rarest_users=rarest) or (None, None)
            for s in studies
        ],
    )
    yield line(
        estimator="excess over as many reruns",
        truth=excess,
        estimates=[_excess(s.sides) for s in studies],
        intervals=[excess_interval(s.sides, rarest_users=rarest) or (None, None) for s in studies],
        p_values=[_p_value(s.sides, random) for s in studies],
    )
    yield line(
        estimator="discarded: share of all answers, beside as many reruns",
        truth=truth - excess,
        estimates=[s.share_all for s in studies],
    )
    yield line(
        estimator="discarded: share at equal n, Wilson",
        truth=truth,
        intervals=[wilson_interval(share * size.items, size.items) for share in shares],
    )


def _study(users: Users, size: Size, items: Floats, random: np.random.Generator) -> Study:
    """Letters of users, control and baseline: what users and control give that the baseline does not."""
    likings = users.draw((size.users, 1, 4), random)
    here = _letters(items + likings, size.times, random)
    again, offline = (
        _letters(np.broadcast_to(items, (size.reruns, *items.shape)), 1, random) for _ in range(2)
    )
    known = (offline[..., None] == np.arange(4)).any(axis=(0, 2))
    new, new_again = (~known[np.arange(len(items))[:, None], side] for side in (here, again))
    sides = NewLetters(
        new[..., 0].astype(np.float64),
        new_again[..., 0].astype(np.float64),
        min(size.users, size.reruns),
    )
    return Study(sides, float(new.any(axis=(0, 2)).mean()))


def _letters(log_weights: Floats, times: int, random: np.random.Generator) -> Ints:
    """Letters of shape (units, items, times)."""
    weights = np.exp(log_weights)
    return draw_letters(weights / weights.sum(axis=-1, keepdims=True), times, random)


def _excess(sides: NewLetters) -> float:
    units = len(sides.condition) + len(sides.control)
    return float(excess_of_splits(sides, np.arange(units)[None, :] < len(sides.condition))[0])


def _p_value(sides: NewLetters, random: np.random.Generator) -> float:
    splits = unit_splits(
        len(sides.condition), len(sides.control), n_permutations=PERMUTATIONS, random=random
    )
    return p_value_of_first(excess_of_splits(sides, splits.first))
