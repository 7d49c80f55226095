"""What each of several parts adds to a whole, when they can be put together in any order.

Owns Shapley's value: the mean, over all orders in which the parts may be added, of what a part changes
when its turn comes. The parts' values sum to the whole change. Promises that the order of the arguments
changes no bit.
"""

import math
from collections.abc import Iterable
from itertools import combinations

Combination = frozenset[str]
"""Parts that are there together; the empty one is where all parts are absent."""


def all_combinations(parts: Iterable[str]) -> list[Combination]:
    """Every combination of the parts, the smallest first."""
    names = sorted(parts)
    return [frozenset(c) for size in range(len(names) + 1) for c in combinations(names, size)]


def missing_combinations(parts: Iterable[str], worths: Iterable[Combination]) -> list[Combination]:
    """The combinations that Shapley's value of the parts needs and `worths` lacks."""
    available = set(worths)
    return [combination for combination in all_combinations(parts) if combination not in available]


def shapley_weights(parts: Iterable[str]) -> dict[str, dict[Combination, float]]:
    """How much the worth of each combination counts in the value of each part.

    Of n parts, a combination of s parts without the part counts -s! (n - s - 1)! / n!, and the same
    combination with it as much with the other sign (Shapley 1953, Annals of Mathematics Studies 28).
    """
    names = sorted(parts)
    n = len(names)
    weights: dict[str, dict[Combination, float]] = {}
    for part in names:
        weights[part] = {}
        for rest in all_combinations(name for name in names if name != part):
            size = len(rest)
            share = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            weights[part] |= {rest: -share, rest | {part}: share}
    return weights
