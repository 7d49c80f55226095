"""The permutation test of who asks on lists of options, simulated.

Owns a source of lists in which a known share of the variance comes from who asks, and the test that
permutes the lists to an item among its users. A list names options in the order of log weight plus
Gumbel noise, without replacement. Users have tastes: normal deviations of their own from the log
weights of each item. The strength of tastes that gives a share is read off a large sample of users.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fieldwork.statistics.arrays import Counts, Floats

N_PERMUTATIONS = 199
"""Random permutations of a test. The study's own test has more of them and a little more power."""

N_BLOCKS = 10
"""Groups of simulated studies that share their permutations."""

_N_SAMPLE_USERS = 4000
_BISECTION_STEPS = 30
_MAX_TASTE = 50.0


class ListSource(NamedTuple):
    """Lists that name `n_named` of `n_options` options, whose weights are 1 / rank ** exponent."""

    n_named: int
    n_options: int
    exponent: float

    @property
    def seed_name(self) -> str:
        """The source as the seeds of simulations spell it; another spelling would move every number."""
        return (
            f"Lists(named={self.n_named!r}, options={self.n_options!r}, exponent={self.exponent!r})"
        )


class _UserSample(NamedTuple):
    """Tastes of users before they are scaled, and the noise of two lists of each user."""

    tastes: Floats
    gumbel: Floats


def draw_lists(log_weights: Floats, gumbel: Floats, n_named: int) -> Counts:
    """Which options each list names, 0 or 1, in the shape of the arguments."""
    keys = log_weights + gumbel
    order = np.argpartition(-keys, n_named - 1, axis=-1)[..., :n_named]
    lists: Counts = np.zeros(keys.shape, dtype=np.int64)
    np.put_along_axis(lists, order, 1, axis=-1)
    return lists


def _log_weights(source: ListSource) -> Floats:
    ranks = np.arange(1, source.n_options + 1, dtype=np.float64)
    return -source.exponent * np.log(ranks)


@lru_cache(maxsize=64)
def taste_strength(share_who: float, source: ListSource) -> float:
    """Standard deviation of users' log weights at which `share_who` has the given value.

    One sample of users serves every strength, so that the share rises with it, and equal arguments
    give equal results. At most 50, where a user's lists hardly differ.
    """
    if share_who <= 0:
        return 0.0
    random = np.random.default_rng(0)
    sample = _UserSample(
        random.standard_normal((_N_SAMPLE_USERS, 1, source.n_options)),
        random.gumbel(size=(_N_SAMPLE_USERS, 2, source.n_options)),
    )
    low, high = 0.0, _MAX_TASTE
    for _ in range(_BISECTION_STEPS):
        middle = (low + high) / 2
        if _share_in_sample(middle, source, sample) < share_who:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _share_in_sample(taste: float, source: ListSource, sample: _UserSample) -> float:
    """`share_who` over the users of the sample: 1 - D_same / D_other."""
    lists = draw_lists(_log_weights(source) + taste * sample.tastes, sample.gumbel, source.n_named)
    first, second = lists[:, 0], lists[:, 1]
    same = source.n_named - float((first * second).sum()) / len(lists)
    counts, n = lists.sum(axis=1), len(lists)
    totals = counts.sum(axis=0)
    # products of the lists of two different users, of whom each has two
    overlap = float((totals**2).sum() - (counts**2).sum()) / (4 * n * (n - 1))
    return 1 - same / (source.n_named - overlap)


def list_p_values(
    taste: float,
    source: ListSource,
    *,
    simulations: int,
    n_items: int,
    n_users: int,
    answers: int,
    random: np.random.Generator,
) -> Floats:
    """p-values of the test of `share_who` in simulated studies, shape (simulations,).

    Args:
        answers: of each user to each item.
    """
    p_values: list[Floats] = []
    for block in np.array_split(np.arange(simulations), N_BLOCKS):
        orders = [_permuted_orders(n_users * answers, random) for _ in range(n_items)]
        for _ in block:
            overlap = np.zeros(N_PERMUTATIONS + 1, dtype=np.int64)
            for item in range(n_items):
                lists = _draw_item_lists(taste, source, n_users, answers, random)
                overlap += count_shared_options(lists, orders[item], answers)
            # as few differences as observed: as many options in common; the observed order is a hit
            p_values.append(np.array([(overlap >= overlap[0]).mean()]))
    return np.concatenate(p_values)


def _draw_item_lists(
    taste: float, source: ListSource, n_users: int, answers: int, random: np.random.Generator
) -> Counts:
    tastes = taste * random.standard_normal((n_users, 1, source.n_options))
    gumbel = random.gumbel(size=(n_users, answers, source.n_options))
    lists = draw_lists(_log_weights(source) + tastes, gumbel, source.n_named)
    return lists.reshape(n_users * answers, source.n_options)


def _permuted_orders(n_answers: int, random: np.random.Generator) -> Counts:
    """The observed order of the answers, then random ones: shape (permutations + 1, answers)."""
    orders = np.argsort(random.random((N_PERMUTATIONS, n_answers)), axis=1)
    return np.concatenate([np.arange(n_answers)[None, :], orders])


def count_shared_options(lists: Counts, orders: Counts, answers: int) -> Counts:
    """Options that two answers of one user share, over all pairs of answers, for each order.

    Takes lists of shape (users * answers, options), users one after another.
    """
    as_floats = lists.astype(np.float32)
    overlap = (as_floats @ as_floats.T).astype(np.int16)
    total = np.zeros(len(orders), dtype=np.int64)
    for a in range(answers):
        for b in range(a):
            pairs = overlap[orders[:, a::answers], orders[:, b::answers]]
            total += pairs.sum(axis=1, dtype=np.int64)
    return total
