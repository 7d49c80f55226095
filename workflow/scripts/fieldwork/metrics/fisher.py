"""Fisher's exact test of two shares, and Holm's correction of many of them.

Owns the p-values that a table of two counts can have once its margins are known, and a correction that
makes use of them: an option that two of eighty answers name cannot come out below p = .49, and must
not cost the others as if it could.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

from fieldwork.metrics.resampling import Floats

_TIE = 1 + 1e-7
"""Two tables of equal probability come out of logarithms a little apart."""


class Margins(NamedTuple):
    """What both sides together fix: answers that give the option, and answers of each side."""

    named: int
    answers: int
    answers_baseline: int


@lru_cache(maxsize=4096)
def p_of_tables(margins: Margins) -> Floats:
    """Two-sided p-values by how many of the `named` are the first side's: shape (named + 1,).

    The sum of the probabilities of all tables that are no more probable (Fisher 1935; two-sided as in
    R and scipy). Impossible tables have NaN.
    """
    named, answers, other = margins
    first = np.arange(named + 1)
    chances = hypergeom.pmf(first, answers + other, named, answers)
    possible = (first <= answers) & (named - first <= other)
    ascending = np.sort(chances)
    p_values = np.cumsum(ascending)[np.searchsorted(ascending, chances * _TIE, side="right") - 1]
    found: Floats = np.where(possible, np.minimum(p_values, 1.0), np.nan)
    return found


def fisher_p(named: int, margins: Margins) -> float:
    """Two-sided p-value that both sides give the option equally often; `named` on the first."""
    return float(p_of_tables(margins)[named])


def holm_of_discrete(p_values: Sequence[float], margins: Sequence[Margins]) -> list[float]:
    """Holm's step-down correction with the p-values that each test can have: Westfall and Wolfinger 1997.

    Where Holm 1979 adds up p once for each hypothesis left, this adds up the chance that each of them
    has to come out at p or below: its largest possible p-value that is not above p. It is never
    larger than Holm's and holds, as his, whatever the tests have to do with each other.
    """
    order = np.argsort(p_values, kind="stable")
    left = Counter(margins)
    steps = {of: _possible(of) for of in left}
    corrected = [0.0] * len(order)
    highest = 0.0
    for place in order:
        p = p_values[place] * _TIE
        total = math.fsum(count * _reached(steps[of], p) for of, count in left.items() if count)
        highest = max(highest, min(1.0, total))
        corrected[place] = highest
        left[margins[place]] -= 1
    return corrected


def _possible(margins: Margins) -> Floats:
    found = p_of_tables(margins)
    return np.unique(found[~np.isnan(found)])


def _reached(possible: Floats, p: float) -> float:
    """The largest possible p-value up to `p`, which is the chance to come out there or below."""
    at = int(np.searchsorted(possible, p, side="right"))
    return float(possible[at - 1]) if at else 0.0
