"""How far two orders of the same things agree: rank correlations and what chance makes of them.

Owns Spearman's rho, Kendall's tau-b, the pairs behind it, the permutation test of tau-b, and the
bootstrap over the things ranked. Ties share their mean rank and are pairs of neither order. Promises
that all orders are counted out where they are at most 9!.
"""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.intervals import Interval, percentile_interval
from fieldwork.statistics.permutation import TIE, random_p_value

MAX_COUNTED = 9
"""Things of which all orders are counted out: 9! = 362,880."""
MIN_BOOTSTRAP = 9
"""Fewer things have no interval: docs/methods.md says what the bootstrap does with them."""
N_BOOTSTRAP = 1999

Values = Sequence[float] | Floats


class Pairs(NamedTuple):
    """Pairs of things: in opposite order, tied by at least one side, and all."""

    discordant: int
    tied: int
    total: int


class OrderTest(NamedTuple):
    """Chance of a tau-b as far from 0, the least chance any order has, and the orders drawn."""

    p_value: float
    p_least: float
    n_permutations: int


class Agreement(NamedTuple):
    """The two rank correlations; None where one side ties everything."""

    rho: float | None
    tau_b: float | None
    pairs: Pairs


def agree(first: Values, second: Values) -> Agreement:
    """Rank correlations of two sets of values of the same things.

    Spearman 1904, American Journal of Psychology 15:72-101, on mean ranks; Kendall 1945, Biometrika
    33:239-251 (tau-b). Values closer than rounding are ties.
    """
    x, y = (_settled(side) for side in (first, second))
    signs = _signs(x), _signs(y)
    product = np.triu(signs[0] * signs[1], k=1)
    total = len(x) * (len(x) - 1) // 2
    discordant, concordant = int((product < 0).sum()), int((product > 0).sum())
    pairs = Pairs(discordant, total - discordant - concordant, total)
    bound = math.sqrt(float(_untied(signs[0])) * float(_untied(signs[1])))
    if not bound > 0:
        return Agreement(None, None, pairs)
    return Agreement(
        float(_rho(x[None, :], y[None, :])[0]), (concordant - discordant) / bound, pairs
    )


def ranks(values: Values) -> Floats:
    """Places from the highest value, 1 the first; ties share their mean place."""
    places: Floats = rankdata(-_settled(values))
    return places


def _settled(values: Values) -> Floats:
    """Values without their last bits, which sums in another order move."""
    settled = np.array(values, dtype=np.float64)
    np.round(settled, 9, out=settled)
    return settled


def _signs(values: Floats) -> Indices:
    return np.sign(values[:, None] - values[None, :]).astype(np.int64)


def _untied(signs: Indices) -> int:
    return int(np.abs(signs).sum()) // 2


def _rho(x: Floats, y: Floats) -> Floats:
    """Pearson's correlation of mean ranks, row by row; NaN where a row ties everything."""
    centred = [r - r.mean(axis=1, keepdims=True) for r in (rankdata(s, axis=1) for s in (x, y))]
    bound = np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
    rho = np.full(len(x), np.nan)
    np.divide((centred[0] * centred[1]).sum(axis=1), bound, out=rho, where=bound > 0)
    return rho


def mean_rho(first: Floats, second: Floats) -> float | None:
    """Mean of Spearman's rho over rows; None where no row has one."""
    rho = _rho(np.round(first, 9), np.round(second, 9))
    known = rho[np.isfinite(rho)]
    return float(known.mean()) if len(known) else None


def order_test(
    first: Values,
    second: Values,
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> OrderTest:
    """Two-sided permutation test of tau-b: ties keep its bound, so that the sum of signs decides.

    Exact over all orders of at most `MAX_COUNTED` things; else (hits + 1) / (n_permutations + 1)
    (Phipson and Smyth 2010).
    """
    x, y = (_signs(_settled(side)) for side in (first, second))
    n = len(x)
    observed = abs(int(np.triu(x * y, k=1).sum()))
    if n <= MAX_COUNTED:
        sums = np.abs(_sums(x, y, all_orders(n)))
        hit, most = float((sums >= observed).mean()), float((sums == sums.max()).mean())
        return OrderTest(hit, most, 0)
    orders = np.argsort(random.random((n_permutations, n)), axis=1, kind="stable")
    hits = int((np.abs(_sums(x, y, orders)) >= observed).sum())
    p_value, p_least = (random_p_value(n, n_permutations) for n in (hits, 0))
    return OrderTest(p_value, p_least, n_permutations)


def all_orders(n: int) -> Indices:
    """Every order of n things: shape (n!, n)."""
    orders: Indices = np.zeros((1, 0), dtype=np.int64)
    for k in range(n):
        placed = [np.insert(orders, at, k, axis=1) for at in range(k + 1)]
        orders = np.concatenate(placed)
    return orders


def _sums(x: Indices, y: Indices, orders: Indices) -> Indices:
    """Concordant less discordant pairs, for each order of the second side."""
    flat, n = y.ravel(), len(x)
    sums = np.zeros(len(orders), dtype=np.int64)
    for i, j in itertools.combinations(range(n), 2):
        if x[i, j]:
            sums += x[i, j] * flat[orders[:, i] * n + orders[:, j]]
    return sums


class Reach(NamedTuple):
    """Intervals of rho and tau-b; None where there is none."""

    rho: Interval | None
    tau_b: Interval | None


def bootstrap(
    first: Values,
    second: Values,
    *,
    random: np.random.Generator,
) -> Reach:
    """Percentile bootstrap over the things ranked, from `MIN_BOOTSTRAP` on."""
    if len(first) < MIN_BOOTSTRAP:
        return Reach(None, None)
    return percentiles(first, second, random=random)


def percentiles(first: Values, second: Values, *, random: np.random.Generator) -> Reach:
    """Percentile bootstrap over the things ranked, of any number of them.

    No interval of width zero: where all samples have one order, nothing shows the uncertainty.
    """
    x, y = (_settled(side) for side in (first, second))
    drawn = random.integers(0, len(x), size=(N_BOOTSTRAP, len(x)))
    intervals = (
        percentile_interval(values) for values in (_rho(x[drawn], y[drawn]), _taus(x, y, drawn))
    )
    return Reach(*(i if i and i.high - i.low > TIE else None for i in intervals))


def _taus(x: Floats, y: Floats, drawn: Indices) -> Floats:
    """Tau-b of each sample of the things."""
    signs = [_signs(side).astype(np.float64) for side in (x, y)]
    counts = np.stack([np.bincount(row, minlength=len(x)) for row in drawn]).astype(np.float64)

    def total(weights: Floats) -> Floats:
        summed: Floats = ((counts @ weights) * counts).sum(axis=1)
        return summed

    bound = np.sqrt(total(np.abs(signs[0])) * total(np.abs(signs[1])))
    taus = np.full(len(drawn), np.nan)
    np.divide(total(signs[0] * signs[1]), bound, out=taus, where=bound > 0)
    return taus
