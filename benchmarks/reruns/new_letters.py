"""How many questions get a letter from fresh reruns that the reruns before never gave.

Exactly for few runs against few, from all ways to choose them. Ten against ten cannot be counted in
five runs: how often five answers agree says which mixtures of letter shares are possible, and each
mixture has an expected number of new letters among ten fresh answers. The likeliest mixture gives the
estimate, the least and the most of all possible ones its range.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from fieldwork.statistics.intervals import wilson_interval

Floats = NDArray[np.float64]

RUNS, TEN, LETTERS = 5, 10, 4
PATTERNS = ((5, 0, 0, 0), (4, 1, 0, 0), (3, 2, 0, 0), (3, 1, 1, 0), (2, 2, 1, 0), (2, 1, 1, 1))
"""How five answers divide among the letters, the commonest first."""
STEPS, ROUNDS = 50, 3_000
_CONFIDENCE = 1 - 0.05 / len(PATTERNS)


class NewShare(NamedTuple):
    """Share of questions with a new letter: the likeliest, the least and the most."""

    value: float
    least: float
    most: float


def counted_share(series: Sequence[str], n: int) -> float:
    """Share with a new letter among `n` fresh runs after `n` others, over all choices of the runs."""
    return float(np.mean([_counted(letters, n) for letters in series]))


def _counted(letters: str, n: int) -> float:
    runs = range(len(letters))
    choices = [
        (first, second)
        for first in combinations(runs, n)
        for second in combinations([run for run in runs if run not in first], n)
    ]
    new = [bool({letters[k] for k in b} - {letters[k] for k in a}) for a, b in choices]
    return float(np.mean(new))


def ten_against_ten(series: Sequence[str]) -> NewShare:
    """The share for ten fresh runs after ten others, from series of five.

    The range holds all mixtures that divide five answers as often as was observed, within Wilson
    intervals of the six patterns at 95 % together.
    """
    counts = Counter(tuple(sorted(Counter(letters).values(), reverse=True)) for letters in series)
    numbers = np.array([counts[tuple(k for k in p if k)] for p in PATTERNS], dtype=np.float64)
    shares = _letter_shares()
    chances = np.stack([_pattern_chance(shares, pattern) for pattern in PATTERNS])
    new = new_chance(shares, TEN)
    bands = [wilson_interval(k, len(series), confidence=_CONFIDENCE) for k in numbers]
    ends = [sign * _extreme(sign * new, chances, bands) for sign in (1, -1)]
    return NewShare(float(new @ _likeliest(chances, numbers)), *ends)


def _letter_shares() -> Floats:
    """Shares of four letters, the commonest first, in steps of 0.02, finer near 1: shape (points, 4)."""
    coarse = [
        (a, b, c, STEPS - a - b - c)
        for a, b, c in product(range(STEPS + 1), repeat=3)
        if a >= b >= c >= STEPS - a - b - c >= 0
    ]
    rare = (0.001, 0.002, 0.005, 0.01, 0.015)
    fine = [
        (1 - n * x, *(x if k < n else 0.0 for k in range(LETTERS - 1)))
        for n in range(1, LETTERS)
        for x in rare
    ]
    return np.vstack([np.array(coarse, dtype=np.float64) / STEPS, np.array(fine)])


def _pattern_chance(shares: Floats, pattern: tuple[int, ...]) -> Floats:
    """Chance that five answers divide like this, for each row of shares."""
    orders = set(permutations(pattern))
    ways = math.factorial(RUNS) // math.prod(map(math.factorial, pattern))
    chances: Floats = ways * sum(np.prod(shares ** np.array(o), axis=1) for o in orders)
    return chances


def new_chance(shares: Floats, n: int) -> Floats:
    """Chance that `n` answers hold a letter that `n` others do not, for each row of shares."""
    known = np.zeros(len(shares))
    subsets = [np.array(s) for s in product((0, 1), repeat=LETTERS)]
    for subset in subsets:
        # the first answers are exactly of these letters, by inclusion and exclusion
        exactly = sum(
            (-1) ** int((subset - part).sum()) * (shares @ part) ** n
            for part in subsets
            if (part <= subset).all()
        )
        known += exactly * (shares @ subset) ** n
    chances: Floats = 1 - known
    return chances


def _likeliest(chances: Floats, numbers: Floats) -> Floats:
    """Weights of the shares that make the patterns likeliest (EM; Laird 1978)."""
    weights = np.full(chances.shape[1], 1 / chances.shape[1])
    for _ in range(ROUNDS):
        weights *= (numbers / (chances @ weights)) @ chances / numbers.sum()
    return weights


def _extreme(new: Floats, chances: Floats, bands: Sequence[tuple[float, float]]) -> float:
    """The least `new` of all weights whose patterns lie within the bands."""
    low, high = np.array(bands).T
    best = linprog(
        new,
        A_ub=np.vstack([chances, -chances]),
        b_ub=np.concatenate([high, -low]),
        A_eq=np.ones((1, len(new))),
        b_eq=[1],
    )
    return float(best.fun)


def known_part(series: Sequence[str]) -> NewShare:
    """Ten against ten where series end early, most of them at the first answer that differs.

    The value is the least share: a question of an ended series may get a new letter or not. A space is
    an answer without a readable letter, which is not new.
    """
    is_new = [bool(set(s[TEN : 2 * TEN]) - set(s[:TEN]) - {" "}) for s in series]
    is_open = [len(s) < 2 * TEN and not new for s, new in zip(series, is_new, strict=True)]
    least = float(np.mean(is_new))
    return NewShare(least, least, least + float(np.mean(is_open)))
