"""How far raters agree, from counts: of pairs of options, or of the options that each unit was given.

Cohen's κ is scikit-learn's, α is krippendorff's. None stands where an agreement is not defined, as where
all raters give one option.
"""

import warnings
from typing import NamedTuple

import numpy as np

from fieldwork.records.judging import Level
from fieldwork.statistics.arrays import Counts, Floats

_NOTHING = 1e-12


class PairAgreement(NamedTuple):
    """How far two raters agree, from a table of their options.

    Attributes:
        exact_share, near_share: share of pairs with the same option, or with neighbouring ones.
        chance_exact, chance_near: the same of raters who draw from the table's margins.
        kappa: Cohen 1960; None where chance alone agrees always.
        largest_kappa: of tables with these margins (Cohen 1960).
        weighted_kappa: with squared distances between places of options as weights (Cohen 1968).
    """

    exact_share: float
    near_share: float
    chance_exact: float
    chance_near: float
    kappa: float | None
    largest_kappa: float | None
    weighted_kappa: float | None


def pair_agreement(pairs: Floats) -> PairAgreement | None:
    """Agreement of two raters; None without a pair.

    Args:
        pairs: how many pairs have option i of the first rater and option j of the second, shape
            (options, options), options in their order.
    """
    total = float(pairs.sum())
    if not total > 0:
        return None
    shares = pairs / total
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    chance_shares = np.outer(rows, columns)
    places = np.arange(len(pairs))
    is_near = abs(places[:, None] - places[None, :]) <= 1
    chance = float(np.trace(chance_shares))
    possible = float(np.minimum(rows, columns).sum())
    return PairAgreement(
        exact_share=float(np.trace(shares)),
        near_share=float(shares[is_near].sum()),
        chance_exact=chance,
        chance_near=float(chance_shares[is_near].sum()),
        kappa=_kappa(pairs, None) if 1 - chance > _NOTHING else None,
        largest_kappa=(possible - chance) / (1 - chance) if 1 - chance > _NOTHING else None,
        weighted_kappa=_kappa(pairs, "quadratic") if 1 - chance > _NOTHING else None,
    )


def _kappa(pairs: Floats, weights: str | None) -> float:
    from sklearn.metrics import cohen_kappa_score

    places = np.arange(len(pairs))
    first, second = np.repeat(places, len(pairs)), np.tile(places, len(pairs))
    value = cohen_kappa_score(
        first, second, labels=places, weights=weights, sample_weight=pairs.ravel()
    )
    return float(value)


def fleiss_kappa(counts: Counts) -> float | None:
    """Fleiss 1971 (Psychological Bulletin 76:378-382): agreement of as many raters on each unit.

    Args:
        counts: raters who gave each option, shape (units, options); each row has the same sum.
    """
    if not len(counts) or counts.sum(axis=1).min() < 2 or _is_unanimous(counts):
        return None
    agreement = _mean_agreement(counts)
    shares = counts.sum(axis=0) / counts.sum()
    chance = float((shares**2).sum())
    return (agreement - chance) / (1 - chance)


def _mean_agreement(counts: Counts) -> float:
    """Mean over units of the share of pairs of raters with one option."""
    sizes = counts.sum(axis=1)
    return float(((counts * (counts - 1)).sum(axis=1) / (sizes * (sizes - 1))).mean())


def krippendorff_alpha(counts: Counts, level: Level, numbers: Floats) -> float | None:
    """Krippendorff's α of any number of raters a unit; units with one rater do not count.

    Args:
        counts: raters who gave each option, shape (units, options).
        numbers: what options are worth, for the levels ordinal and interval.
    """
    import krippendorff

    pairable_counts = counts[counts.sum(axis=1) >= 2]
    if not len(pairable_counts) or _is_unanimous(pairable_counts):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = krippendorff.alpha(
            value_counts=pairable_counts, value_domain=numbers, level_of_measurement=level
        )
    return float(value)


def gwet_ac1(counts: Counts) -> float | None:
    """AC1 of any number of raters (Gwet 2008, Brit. J. of Math. and Stat. Psychology 61:29-48).

    Agreement over units with two raters or more; chance agreement from the mean shares of options over
    all units, 1 / (q - 1) sum of share * (1 - share).
    """
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes > 0], sizes[sizes > 0]
    is_paired = sizes >= 2
    n_options = counts.shape[1]
    if not is_paired.any() or n_options < 2:
        return None
    agreement = _mean_agreement(counts[is_paired])
    shares = (counts / sizes[:, None]).mean(axis=0)
    chance = float((shares * (1 - shares)).sum()) / (n_options - 1)
    return float((agreement - chance) / (1 - chance))


def _is_unanimous(counts: Counts) -> bool:
    """Whether all raters of all units gave one option, so that nothing tells agreement from habit."""
    return bool((counts.sum(axis=0) > 0).sum() < 2)
