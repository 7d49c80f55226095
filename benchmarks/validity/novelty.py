"""New letters of users and of reruns, at equal numbers: shares, their excess, and its test."""

from itertools import product
from typing import NamedTuple

import numpy as np
from populations import Floats, Ints, draw_letters, rarest_covered
from simulations import Line, Lines, Sets, Simulation

from fieldwork.metrics.novelty import (
    NewLetters,
    excess_interval,
    excess_of_splits,
    expected_share,
    share_interval,
)
from fieldwork.statistics.arrays import Flags
from fieldwork.statistics.intervals import wilson_interval
from fieldwork.statistics.permutation import p_value_of_first, unit_splits

PERMUTATIONS, TRUTH_FACTOR = 199, 4
USERS = {
    "users like reruns": (0.0, 1.0),
    "users with habits of 0.5": (0.5, 1.0),
    "users with habits of 1.5": (1.5, 1.0),
    "one user in ten with habits of 3": (3.0, 0.1),
}
"""Users' likings of letters in log odds, the same for all items: their sd, and who has any."""


class Size(NamedTuple):
    """Users, each asked so many times; reruns of the baseline, and as many of the control; items."""

    users: int
    times: int
    reruns: int
    items: int


SIZES = (
    *(Size(10, 2, 10, 75), Size(10, 1, 10, 514), Size(40, 2, 10, 75), Size(40, 1, 40, 150)),
    Size(80, 1, 40, 150),
)


class Study(NamedTuple):
    """One data set: new letters of users and reruns, and of all answers by item."""

    sides: NewLetters
    share_all: float

    @property
    def share(self) -> float:
        """At equal n."""
        return expected_share(self.sides.condition, self.sides.n_equal)

    def excess(self) -> float:
        """Beyond that of as many reruns."""
        users = len(self.sides.condition)
        first = np.arange(users + len(self.sides.control))[None, :] < users
        return float(excess_of_splits(self.sides, first)[0])

    def p_value(self, random: np.random.Generator) -> float:
        """Of the excess."""
        splits = unit_splits(
            len(self.sides.condition),
            len(self.sides.control),
            n_permutations=PERMUTATIONS,
            random=random,
        )
        return p_value_of_first(excess_of_splits(self.sides, splits.first))


def _simulate(habit: float, share: float, size: Size, sets: Sets) -> Lines:
    item_likings = 2 * sets.random.normal(size=(size.items, 4))
    arguments = (habit, share, size, item_likings)
    studies: list[Study] = sets.each(_study, *arguments)
    many: list[Study] = sets._replace(n=TRUTH_FACTOR * sets.n).each(_study, *arguments)
    truth = float(np.mean([study.share for study in many]))
    excess = float(np.mean([study.excess() for study in many])) if habit else 0.0
    shares, rarest = [study.share for study in studies], rarest_covered(size.users)
    yield Line(
        "share at equal n", truth, shares,
        [share_interval(s.sides.condition, s.sides.n_equal, rarest_users=rarest) for s in studies],
    )  # fmt: skip
    yield Line(
        "excess over as many reruns", excess, [study.excess() for study in studies],
        [excess_interval(study.sides, rarest_users=rarest) for study in studies],
        [study.p_value(sets.random) for study in studies],
    )  # fmt: skip
    name = "discarded: share of all answers, beside as many reruns"
    yield Line(name, truth - excess, [study.share_all for study in studies])
    intervals = [wilson_interval(share * size.items, size.items) for share in shares]
    yield Line("discarded: share at equal n, Wilson", truth, intervals=intervals)


def _study(
    habit: float, share: float, size: Size, items: Floats, random: np.random.Generator
) -> Study:
    """Letters of users, control and baseline: what users and control give that the baseline does not."""
    has_habit = random.random((size.users, 1, 1)) < share
    likings = habit * random.normal(size=(size.users, 1, 4)) * has_habit
    letters = _letters(items + likings, size.times, random)
    again, offline = (
        _letters(np.broadcast_to(items, (size.reruns, *items.shape)), 1, random) for _ in range(2)
    )
    new, new_again = new_letters(letters, again, offline)
    first, first_again = (side[..., 0].astype(np.float64) for side in (new, new_again))
    sides = NewLetters(first, first_again, min(size.users, size.reruns))
    return Study(sides, float(new.any(axis=(0, 2)).mean()))


def new_letters(users: Ints, control: Ints, baseline: Ints) -> list[Flags]:
    """Whether users and control give letters that the baseline does not.

    Args:
        users, control, baseline: letters of shape (units, items, times).
    """
    is_usual = (baseline[..., None] == np.arange(4)).any(axis=(0, 2))
    items = np.arange(len(is_usual))[:, None]
    return [~is_usual[items, side] for side in (users, control)]


def _letters(log_weights: Floats, times: int, random: np.random.Generator) -> Ints:
    """Letters of shape (units, items, times)."""
    weights = np.exp(log_weights)
    return draw_letters(weights / weights.sum(axis=-1, keepdims=True), times, random)


SIMULATIONS = [
    Simulation(
        "novelty", _simulate, (*USERS[users], size), users,
        "{} users × {}, {} reruns, {} items".format(*size), (*users.encode(), *size),
    )
    for users, size in product(USERS, SIZES)
]  # fmt: skip
