"""The test of who asks on lists of options, simulated.

Owns a source of lists in which the share of variance that comes from who asks is known, and the test
that deals the lists to an item to its users. A list names options in the order of log weight and Gumbel
noise, without replacement; users have tastes, normal deviations of their own of the log weights of each
item. How strong tastes must be for a share is found on a large sample of users.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fieldwork.statistics.arrays import Counts, Floats

DEALS = 199
"""Random deals of a test; the study's own test, with more of them, finds a little more."""

BLOCKS = 10
"""Groups of simulated studies that share their deals."""

_SAMPLE = 4000
_STEPS = 30
_STRONGEST = 50.0


class Lists(NamedTuple):
    """A source: `named` of `options` options in a list, with weights 1 / rank ** exponent."""

    named: int
    options: int
    exponent: float


class _Noise(NamedTuple):
    """Tastes before they are scaled, and the noise of two lists of each user."""

    tastes: Floats
    gumbel: Floats


def draw_lists(log_weights: Floats, gumbel: Floats, named: int) -> Counts:
    """Which options each list names, 0 or 1, in the shape of the arguments."""
    keys = log_weights + gumbel
    order = np.argpartition(-keys, named - 1, axis=-1)[..., :named]
    lists: Counts = np.zeros(keys.shape, dtype=np.int64)
    np.put_along_axis(lists, order, 1, axis=-1)
    return lists


def _log_weights(source: Lists) -> Floats:
    ranks = np.arange(1, source.options + 1, dtype=np.float64)
    return -source.exponent * np.log(ranks)


@lru_cache(maxsize=64)
def taste_of(share_who: float, source: Lists) -> float:
    """Standard deviation of the log weights of users for which `share_who` is so large.

    From one sample of users for every strength, so that the share rises with it; the same for equal
    arguments. At most 50: there, a user's lists hardly differ.
    """
    if share_who <= 0:
        return 0.0
    random = np.random.default_rng(0)
    noise = _Noise(
        random.standard_normal((_SAMPLE, 1, source.options)),
        random.gumbel(size=(_SAMPLE, 2, source.options)),
    )
    low, high = 0.0, _STRONGEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if true_share(middle, source, noise) < share_who:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def true_share(taste: float, source: Lists, noise: _Noise) -> float:
    """1 - D_same / D_other over the users of the sample."""
    lists = draw_lists(_log_weights(source) + taste * noise.tastes, noise.gumbel, source.named)
    first, second = lists[:, 0], lists[:, 1]
    same = source.named - float((first * second).sum()) / len(lists)
    counts, n = lists.sum(axis=1), len(lists)
    totals = counts.sum(axis=0)
    # products of the lists of two different users, of whom each has two
    shared = float((totals**2).sum() - (counts**2).sum()) / (4 * n * (n - 1))
    return 1 - same / (source.named - shared)


def list_p_values(
    taste: float,
    source: Lists,
    shape: tuple[int, int, int, int],
    random: np.random.Generator,
) -> Floats:
    """p-values of the test of `share_who` in simulated studies.

    Takes a shape (studies, items, users, answers of each), gives (studies,).
    """
    studies, n_items, n, answers = shape
    found: list[Floats] = []
    for block in np.array_split(np.arange(studies), BLOCKS):
        deals = [_deals(n * answers, random) for _ in range(n_items)]
        for _ in block:
            shared = np.zeros(DEALS + 1, dtype=np.int64)
            for item in range(n_items):
                lists = _draw_item(taste, source, n, answers, random)
                shared += shared_options(lists, deals[item], answers)
            # as few differences as observed: as many options in common; the observed deal is a hit
            found.append(np.array([(shared >= shared[0]).mean()]))
    return np.concatenate(found)


def _draw_item(
    taste: float, source: Lists, n: int, answers: int, random: np.random.Generator
) -> Counts:
    tastes = taste * random.standard_normal((n, 1, source.options))
    gumbel = random.gumbel(size=(n, answers, source.options))
    drawn = draw_lists(_log_weights(source) + tastes, gumbel, source.named)
    return drawn.reshape(n * answers, source.options)


def _deals(n_answers: int, random: np.random.Generator) -> Counts:
    """The deal as it was observed, and random ones: shape (deals + 1, answers)."""
    drawn = np.argsort(random.random((DEALS, n_answers)), axis=1)
    return np.concatenate([np.arange(n_answers)[None, :], drawn])


def shared_options(lists: Counts, deals: Counts, answers: int) -> Counts:
    """Options that two answers of one user share, over all pairs of answers, of each deal.

    Takes lists of shape (users * answers, options), users one after another.
    """
    as_floats = lists.astype(np.float32)
    common = (as_floats @ as_floats.T).astype(np.int16)
    total = np.zeros(len(deals), dtype=np.int64)
    for a in range(answers):
        for b in range(a):
            pairs = common[deals[:, a::answers], deals[:, b::answers]]
            total += pairs.sum(axis=1, dtype=np.int64)
    return total
