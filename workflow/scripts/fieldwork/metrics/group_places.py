"""Who is ranked first: by group, by position in the prompt, and by document, each given the others.

Owns counts of first places with their test, the impact ratio, and a conditional logit of being first. A
run is one reply that ranks options; its first place is one draw. Promises the same result whatever the
order of the rows.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from fieldwork.errors import StudyError
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.conditional_logit import Choices, LogitFit, fit_choices
from fieldwork.statistics.intervals import Interval, student_interval, wilson_interval
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.shapley import Combination, all_combinations, shapley_values

COLUMNS = ("run", "option", "group", "position", "document", "place")
COVARIATES = ("group", "position", "document")
FOUR_FIFTHS = 0.8
"""Impact ratios below this are taken for adverse impact (29 CFR 1607.4 D, 1978)."""
N_DRAWS = 1_999


class FirstCount(NamedTuple):
    """First places of a group, or of a position.

    Attributes:
        n_listed: options with it, in the runs that have a first place.
        n_expected: first places if chance alone decided among a run's options.
        share: n_first / n_listed, the selection rate, with Wilson's interval.
    """

    level: str
    n_first: int
    n_listed: int
    n_expected: float
    share: float
    interval: Interval


class FirstPlaces(NamedTuple):
    """First places by level, the most frequent first, and the test that chance alone decides.

    Attributes:
        statistic: Pearson's chi-squared (1900), with levels - 1 degrees of freedom.
        impact_ratio: smallest selection rate over the largest; None of fewer than two levels.
        expected_ratio: its mean if all levels had one rate: the smallest of several is always smaller.
        p_ratio: chance of a ratio as small then.
        n_runs: runs with a first place.
        n_without: runs whose reply names none of the options.
    """

    counts: tuple[FirstCount, ...]
    statistic: float
    p_value: float | None
    impact_ratio: float | None
    expected_ratio: float | None
    p_ratio: float | None
    n_runs: int
    n_without: int

    @property
    def is_below_four_fifths(self) -> bool | None:
        """Whether the ratio breaks the four-fifths rule; the rule knows no chance."""
        return None if self.impact_ratio is None else self.impact_ratio < FOUR_FIFTHS


class LevelEffect(NamedTuple):
    """Log odds of being first at one level of a covariate, less those at its reference level."""

    covariate: str
    level: str
    reference: str
    estimate: float
    interval: Interval | None


class CovariateTest(NamedTuple):
    """What one covariate says of being first, given the others.

    Attributes:
        statistic: twice the gain of log-likelihood over the model without it (Wilks 1938).
        share: Shapley's share of the gain of the whole model over chance.
    """

    covariate: str
    statistic: float
    freedom: int
    p_value: float | None
    share: float | None


class FirstPlaceModel(NamedTuple):
    """A conditional logit of being first, with all covariates."""

    effects: tuple[LevelEffect, ...]
    tests: tuple[CovariateTest, ...]
    log_likelihood: float
    chance_log_likelihood: float
    n_runs: int
    reason: str | None


def read_rankings(frame: pd.DataFrame) -> pd.DataFrame:
    """Rankings in one order: by run and position.

    A row is an option of a run: its group, its position in the prompt, its document, and its place in the
    answer, NaN where the answer lacks it.

    Raises:
        StudyError: a column is missing, a run has one option, or two at one position or place.
    """
    missing_columns = [column for column in COLUMNS if column not in frame.columns]
    if missing_columns:
        raise StudyError(
            f"rankings: there is no column {missing_columns[0]}; give {', '.join(COLUMNS)}"
        )
    rows = frame.sort_values(["run", "position"], ignore_index=True)
    rows["place"] = pd.to_numeric(rows["place"], errors="coerce")
    for column in ("position", "place"):
        repeats = rows.dropna(subset=column).duplicated(["run", column])
        if repeats.any():
            run = rows.loc[repeats[repeats].index[0], "run"]
            raise StudyError(
                f"rankings: run {run} has two options with one {column}; give each its own"
            )
    sizes = rows.groupby("run").size()
    if (sizes < 2).any():
        raise StudyError(f"rankings: run {sizes.idxmin()} has one option; a ranking needs two")
    return rows


def _runs_with_first(rows: pd.DataFrame) -> pd.DataFrame:
    """The options of runs that name one, with `is_first` and the `chance` of each."""
    smallest = rows.groupby("run")["place"].transform("min")
    rows = rows.assign(is_first=rows["place"] == smallest)[smallest.notna()]
    sizes = rows.groupby("run")["place"].transform("size")
    return rows.assign(chance=1 / sizes).reset_index(drop=True)


def count_first_places(
    frame: pd.DataFrame, covariate: str = "group", *, seed: int = 0
) -> FirstPlaces:
    """First places by group, or by another column of the rankings."""
    rows = read_rankings(frame)
    rows_of_runs = _runs_with_first(rows)
    n_all, n_runs = rows["run"].nunique(), rows_of_runs["run"].nunique()
    levels = rows_of_runs.groupby(covariate, sort=True)
    counts = [_count(str(level), own_rows) for level, own_rows in levels]
    statistic = math.fsum((c.n_first - c.n_expected) ** 2 / c.n_expected for c in counts)
    p_value = float(chi2.sf(statistic, len(counts) - 1)) if len(counts) > 1 else None
    ratios = _ratios(counts, n_runs, generator(seed, "impact ratio", covariate))
    return FirstPlaces(
        tuple(sorted(counts, key=lambda count: (-count.share, count.level))),
        statistic,
        p_value,
        *ratios,
        n_runs=n_runs,
        n_without=n_all - n_runs,
    )


def _count(level: str, rows: pd.DataFrame) -> FirstCount:
    n_first, n_listed = int(rows["is_first"].sum()), len(rows)
    return FirstCount(
        level=level,
        n_first=n_first,
        n_listed=n_listed,
        n_expected=float(rows["chance"].sum()),
        share=n_first / n_listed,
        interval=wilson_interval(n_first, n_listed),
    )


class _Ratios(NamedTuple):
    impact_ratio: float | None
    expected_ratio: float | None
    p_ratio: float | None


def _ratios(counts: Sequence[FirstCount], n_runs: int, random: np.random.Generator) -> _Ratios:
    """The smallest rate over the largest, beside draws in which all levels have one rate."""
    if len(counts) < 2:
        return _Ratios(None, None, None)
    n_listed = np.array([count.n_listed for count in counts])
    chances = np.array([count.n_expected for count in counts]) / n_runs
    rates = random.multinomial(n_runs, chances / chances.sum(), size=N_DRAWS) / n_listed
    ratios = rates.min(axis=1) / rates.max(axis=1)
    shares = [count.share for count in counts]
    ratio = min(shares) / max(shares)
    p_value = (1 + int((ratios <= ratio).sum())) / (N_DRAWS + 1)
    return _Ratios(ratio, float(ratios.mean()), p_value)


def model_first_places(
    frame: pd.DataFrame, covariates: Sequence[str] = COVARIATES
) -> FirstPlaceModel:
    """A conditional logit (McFadden 1974) of which option is first, and each covariate given the others.

    Every level has an effect of its own; the first in alphabetical order is the reference. Standard
    errors are from the curvature, intervals normal.

    Raises:
        StudyError: no run has a first place, or `read_rankings` refuses the rows.
    """
    rows = _runs_with_first(read_rankings(frame))
    choices = _choices(rows)
    designs = {name: _dummies(rows[name]) for name in covariates}
    fits = {
        combination: fit_choices(_joint(designs, combination, len(rows)), choices)
        for combination in all_combinations(covariates)
    }
    full, chance = fits[frozenset(covariates)], fits[frozenset()]
    never_first = [
        f"{name} {level}"
        for name in covariates
        for level, own_rows in rows.groupby(name)
        if not own_rows["is_first"].any()
    ]
    reason = _no_intervals(never_first, full)
    return FirstPlaceModel(
        tuple(_effects(designs, full, has_intervals=reason is None)),
        tuple(_tests(fits, covariates)),
        full.log_likelihood,
        chance.log_likelihood,
        len(choices.starts),
        reason,
    )


def _choices(rows: pd.DataFrame) -> Choices:
    if rows.empty:
        raise StudyError("rankings: no reply names any of its options; there is nothing to model")
    starts = np.flatnonzero(~rows["run"].duplicated().to_numpy())
    return Choices(starts, np.flatnonzero(rows["is_first"].to_numpy()), len(rows))


def _dummies(column: pd.Series) -> pd.DataFrame:
    """A column for each level but the first, which its name `columns.name` tells."""
    dummies = pd.get_dummies(column.astype(str), dtype=np.float64)
    return dummies.iloc[:, 1:].rename_axis(columns=str(dummies.columns[0]))


def _joint(designs: Mapping[str, pd.DataFrame], names: Combination, n_rows: int) -> Floats:
    columns = [designs[name].to_numpy() for name in designs if name in names]
    return np.hstack([np.zeros((n_rows, 0)), *columns])


def _no_intervals(never_first: Sequence[str], fit: LogitFit) -> str | None:
    if never_first:
        return f"no intervals: never first is {', '.join(never_first)}, whose log odds have no end"
    if fit.rank < len(fit.coefficients):
        return "no intervals: covariates go together, so that their effects cannot be told apart"
    return None


def _effects(
    designs: Mapping[str, pd.DataFrame], fit: LogitFit, *, has_intervals: bool
) -> list[LevelEffect]:
    columns = [
        (name, str(level), str(dummies.columns.name))
        for name, dummies in designs.items()
        for level in dummies.columns
    ]
    return [
        LevelEffect(
            *column,
            estimate=float(value),
            interval=_normal_interval(float(value), float(error)) if has_intervals else None,
        )
        for column, value, error in zip(columns, fit.coefficients, fit.errors, strict=True)
    ]


def _normal_interval(value: float, error: float) -> Interval:
    low, high = student_interval(value, error, math.inf)
    return Interval(float(low), float(high))


def _tests(fits: Mapping[Combination, LogitFit], covariates: Sequence[str]) -> list[CovariateTest]:
    whole, chance = frozenset(covariates), frozenset[str]()
    worths = {combination: fit.log_likelihood for combination, fit in fits.items()}
    gain = worths[whole] - worths[chance]
    values = shapley_values(covariates, worths)
    tests = []
    for name in covariates:
        rest = whole - {name}
        statistic = max(0.0, 2 * (worths[whole] - worths[rest]))
        freedom = fits[whole].rank - fits[rest].rank
        p_value = float(chi2.sf(statistic, freedom)) if freedom else None
        share = values[name] / gain if gain > 0 else None
        tests.append(CovariateTest(name, statistic, freedom, p_value, share))
    return tests
