"""Sources of lists with a known effect.

A list names options in the order of log weight plus Gumbel noise, without replacement. Users who carry
an effect have log weights of their own: with tastes, normal deviations for each prompt, where who asks
matters; or with another exponent, where lists become more varied. What gives the effect over all users is
read off one large sample.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from fieldwork.metrics.power.effects import ListSource
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.entropy import entropy_bits

_N_SAMPLE_USERS = 8000
_MAX_TASTE = 1000.0


def bisect(is_below: Callable[[float], bool], largest: float, n_steps: int = 24) -> float:
    """Where something that holds at 0, and not at `largest`, ceases to hold."""
    low, high = 0.0, largest
    for _ in range(n_steps):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def draw_lists(log_weights: Floats, gumbel: Floats, n_named: int) -> Counts:
    """Which options each list names, 0 or 1, in the shape of the arguments."""
    keys = log_weights + gumbel
    order = np.argpartition(-keys, n_named - 1, axis=-1)[..., :n_named]
    lists: Counts = np.zeros(keys.shape, dtype=np.int64)
    np.put_along_axis(lists, order, 1, axis=-1)
    return lists


def log_weights(n_options: int, exponent: float) -> Floats:
    """Of the options, the commonest first."""
    weights: Floats = -exponent * np.log(np.arange(1, n_options + 1, dtype=np.float64))
    return weights


def draw_moved_lists(
    share: float, source: ListSource, n_lists: int, random: np.random.Generator
) -> Counts:
    """Lists whose first option is named with this chance; the others fill the places that are left.

    Shape (n_lists, options).
    """
    is_named = random.random(n_lists) < share
    keys = log_weights(source.n_options - 1, source.exponent)
    keys = keys + random.gumbel(size=(n_lists, source.n_options - 1))
    # the one at its sorted place is the last of those named
    order = np.argpartition(-keys, source.n_named - 1, axis=1)[:, : source.n_named]
    lists: Counts = np.zeros((n_lists, source.n_options), dtype=np.int64)
    np.put_along_axis(lists, order + 1, 1, axis=1)
    # who names the first option has no place for the last of the others
    lists[is_named, order[is_named, -1] + 1] = 0
    lists[is_named, 0] = 1
    return lists


@lru_cache(maxsize=64)
def taste_strength(share_who: float, source: ListSource, odd_users: float = 1.0) -> float | None:
    """Standard deviation of odd users' log weights at which `share_who` over all users has this value.

    One sample of users serves every strength, so that the share rises with it, and equal arguments
    give equal results. None where no strength suffices; at most 1000, where a user's lists hardly differ.
    """
    if share_who <= 0:
        return 0.0
    random = np.random.default_rng(0)
    tastes = random.standard_normal((_N_SAMPLE_USERS, 1, source.n_options))
    gumbel = random.gumbel(size=(_N_SAMPLE_USERS, 2, source.n_options))
    weights = log_weights(source.n_options, source.exponent)
    other_lists = draw_lists(np.broadcast_to(weights, gumbel.shape), gumbel, source.n_named)

    def share_at(taste: float) -> float:
        odd = draw_lists(weights + taste * tastes, gumbel, source.n_named)
        return _share_who(odd, other_lists, odd_users)

    if share_at(_MAX_TASTE) < share_who * 0.98:
        return None
    return bisect(lambda taste: share_at(taste) < share_who, _MAX_TASTE)


def _share_who(odd: Counts, other_lists: Counts, odd_users: float) -> float:
    """1 - D_same / D_other over users of whom a share is odd; samples have shape (users, 2, options)."""
    n_named = float(odd[0, 0].sum())
    odd_means, means = (lists.mean(axis=(0, 1)) for lists in (odd, other_lists))
    squares = float((means**2).sum())
    overlap_same = odd_users * float((odd[:, 0] * odd[:, 1]).sum()) / len(odd)
    overlap_same += (1 - odd_users) * squares
    counts, n = odd.sum(axis=1), len(odd)
    # products of the lists of two different odd users, of whom each has two
    odd_squares = float((counts.sum(axis=0) ** 2).sum() - (counts**2).sum()) / (4 * n * (n - 1))
    overlap_other = (
        odd_users**2 * odd_squares
        + (1 - odd_users) ** 2 * squares
        + 2 * odd_users * (1 - odd_users) * float(odd_means @ means)
    )
    return 1 - (n_named - overlap_same) / (n_named - overlap_other)


@lru_cache(maxsize=64)
def varied_exponent(bits: float, source: ListSource, odd_users: float = 1.0) -> float | None:
    """Exponent of odd users at which the entropy of all users' mentions is `bits` above the source's.

    None where not even equal weights suffice.
    """
    if bits <= 0:
        return source.exponent
    gumbel = np.random.default_rng(0).gumbel(size=(_N_SAMPLE_USERS, source.n_options))

    def shares_at(exponent: float) -> Floats:
        weights = log_weights(source.n_options, exponent)
        lists = draw_lists(np.broadcast_to(weights, gumbel.shape), gumbel, source.n_named)
        shares: Floats = lists.mean(axis=0) / source.n_named
        return shares

    other_shares = shares_at(source.exponent)
    target = float(entropy_bits(other_shares)) + bits

    def entropy_at(exponent: float) -> float:
        return float(entropy_bits(odd_users * shares_at(exponent) + (1 - odd_users) * other_shares))

    if entropy_at(0.0) < target:
        return None
    return bisect(lambda exponent: entropy_at(exponent) > target, source.exponent)
