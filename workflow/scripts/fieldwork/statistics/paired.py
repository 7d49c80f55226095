"""Items that are answered twice, once under each of two circumstances: tests and intervals.

Owns what holds for differences between -1 and 1 of which most may be 0. Promises that equal arguments
give equal bits.
"""

import math

import numpy as np
from scipy.stats import binomtest

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import Interval, student_interval, student_quantile
from fieldwork.statistics.permutation import PermutationTest, sign_flips

_NOTHING = 1e-12
"""Differences below this are rounding."""


def paired_test(
    differences: Floats, *, n_permutations: int, random: np.random.Generator
) -> PermutationTest:
    """Two-sided test that differences are as likely of either sign, whatever their size.

    Where all that are not 0 have one size this is McNemar's exact test (1947), counted out; else signs
    are flipped. Without any such difference p is 1.
    """
    changes = differences[np.abs(differences) > _NOTHING]
    if not len(changes):
        return PermutationTest(1.0, 0, 1.0)
    if float(np.ptp(np.abs(changes))) > _NOTHING:
        return sign_flips(changes, n_permutations=n_permutations, random=random)
    n_up = int((changes > 0).sum())
    p_value = float(binomtest(n_up, len(changes)).pvalue)
    return PermutationTest(p_value, 0, min(1.0, 2 * 0.5 ** len(changes)))


def paired_interval(differences: Floats, n_answers: int) -> Interval:
    """Interval of a mean difference over items, each between -1 and 1.

    Two items are added, as Bonett and Price 2012 do; Student's t then.

    Args:
        n_answers: how many answers each difference is a mean of, the fewest of all items.
    """
    values = np.concatenate([differences, added_items(differences, n_answers)])
    n = len(values)
    error = math.sqrt(float(values.var(ddof=1)) / n)
    return student_interval(math.fsum(values.tolist()) / n, error, n - 1).clip(-1.0, 1.0)


def paired_ratio_interval(
    numerators: Floats, denominators: Floats, n_answers: int
) -> Interval | None:
    """Interval of mean(numerators) / mean(denominators), paired by item and from 0 to 1: Fieller 1954.

    With the items that `paired_interval` adds: one is 1 on either side, and 0 on the other. None where
    the mean of `denominators` is not told from 0, so that no ratio can be excluded.
    """
    up, down = added_items(numerators - denominators, n_answers)
    above = np.concatenate([numerators, [up, 0.0]])
    below = np.concatenate([denominators, [0.0, -down]])
    n = len(above)
    (var_above, covariance), (_, var_below) = np.cov(above, below, ddof=1) / n
    scale = student_quantile(n - 1) ** 2
    # the ratios r for which t does not tell the mean of above - r * below from 0
    square = float(below.mean()) ** 2 - scale * var_below
    if square <= 0:
        return None
    half = float(above.mean() * below.mean()) - scale * covariance
    rest = float(above.mean()) ** 2 - scale * var_above
    reach = math.sqrt(max(0.0, half**2 - square * rest))
    return Interval((half - reach) / square, (half + reach) / square)


def added_items(differences: Floats, n_answers: int) -> Floats:
    """Two items that changed, one up and one down: items without a difference do not seem certain then.

    They are 1 in size where an item has one answer. A mean of several varies less, and so they are
    smaller, but not than the largest difference there is: what one item does, others like it can.
    """
    size = max(1 / math.sqrt(n_answers), float(np.abs(differences).max()))
    return np.array([size, -size])
