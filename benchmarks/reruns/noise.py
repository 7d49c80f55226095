"""What reruns alone do to a list of models, from how often single answers change.

Each question's answer is right with a chance of its own; v is the variance of that, averaged over
questions. A subject's score over n questions then has the variance v / n from run to run, and the
macro mean of S subjects the mean of these over S: normal, as hundreds of answers are summed.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from fieldwork.metrics.ranks import DECIMALS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Moved(NamedTuple):
    """Between two reruns of a whole list, for each model in order of its published score.

    `changes` is the chance of another place, `places` the expected number of places moved, both of
    shape (models,); `top_changes` the chance that another model is first, `five_change` that the first
    five are others or in another order, `pairs` the expected number of pairs that turn.
    """

    changes: Floats
    places: Floats
    top_changes: float
    five_change: float
    pairs: float


def score_sd(variance: float, sizes: Sequence[int]) -> float:
    """Standard deviation over runs of the macro mean of subjects with `sizes` questions."""
    return math.sqrt(variance * math.fsum(1 / n for n in sizes)) / len(sizes)


def places(scores: Floats) -> Ints:
    """1 + the number of models that score higher, at a leaderboard's decimals: shape (runs, models)."""
    rounded = np.round(scores, DECIMALS)
    higher = rounded[:, None, :] > rounded[:, :, None] + 1e-9
    return 1 + higher.sum(axis=2)


def rerun_list(published: Sequence[float], sd: float, *, sets: int, seed: int) -> Moved:
    """Simulate two runs of every model, its published score being what its runs scatter about."""
    random = np.random.default_rng([seed, len(published), round(sd * 1e7)])
    centres = np.sort(np.array(published))[::-1]
    moved = np.zeros((2, len(centres)))
    totals = np.zeros(3)
    for _ in range(sets):
        scores = centres + sd * random.normal(size=(2, len(centres)))
        first, second = places(scores)
        moved += [first != second, np.abs(first - second)]
        leaders = [np.lexsort((np.arange(len(p)), p))[:5] for p in (first, second)]
        turned = np.sign(scores[:, :, None] - scores[:, None, :])
        totals += [
            leaders[0][0] != leaders[1][0],
            bool((leaders[0] != leaders[1]).any()),
            (turned[0] != turned[1]).sum() / 2,
        ]
    changes, distance = moved / sets
    return Moved(changes, distance, *(totals / sets).tolist())


def expected_turned_pairs(published: Sequence[float], sd: float) -> float:
    """Closed form: a pair d apart is in one order with p = F(d / (sd sqrt 2)), turns with 2 p (1 - p)."""
    centres = np.array(published)
    gaps = (centres[:, None] - centres[None, :])[np.triu_indices(len(centres), 1)]
    chance = norm.cdf(gaps / (sd * math.sqrt(2)))
    return float((2 * chance * (1 - chance)).sum())
