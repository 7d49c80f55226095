"""Sources in which few users carry the effect: most users answer alike, a few answer otherwise.

The truth is always that of the population of users, in which each is odd with the probability named. The
number of odd users in a sample is random, as users are drawn; where a size says "k of them odd", exactly
that many are in every sample, and the truth is that of a population with this share of odd users.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import (
    LETTERS,
    SHARES,
    Floats,
    Ints,
    draw_letters,
    letter_table,
)
from run_scores import score_estimates
from scipy.stats import f as snedecor
from scipy.stats import norm, ttest_ind

from fieldwork.metrics.accuracy import count_runs
from fieldwork.metrics.novelty import (
    NewLetters,
    excess_interval,
    expected_share,
    measure_novelty,
    share_interval,
)
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import Novelty, RunAccuracy
from fieldwork.statistics.intervals import (
    jackknife_variance,
    student_quantile,
)

PART = "odd"
REPLICATES, NEW_ITEMS, RERUNS = 2, 150, 10
ODD_SHARES = np.array([0.01, 0.01, 0.01, 0.97])
RESAMPLES, TRUTH_FACTOR = 300, 4
SCORE, LOSS, SD_USERS, SD_RERUNS = 0.6, 0.3, 0.01, 0.01
Bounds = tuple[float | None, float | None]


class Crowd(NamedTuple):
    """Users of a study: how many, the chance of each to be odd, and how many are where that is fixed."""

    users: int
    share: float
    n_odd: int | None = None

    def name(self) -> str:
        """As the tables call it."""
        if self.n_odd is not None:
            return f"{self.users} users, {self.n_odd} of them odd"
        return f"{self.users} users, each odd with chance {self.share:g}"

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """Which users are odd, shape (users,)."""
        if self.n_odd is not None:
            return np.arange(self.users) < self.n_odd
        return random.random(self.users) < self.share

    @property
    def rarest(self) -> float:
        """The rarest users that the study names: its odd ones, where they are not too rare."""
        return max(self.share, 0.05)

    @property
    def prefix(self) -> str:
        """Of estimators that no study can have: their interval would need fewer than 39 users."""
        return "discarded: " if self.rarest > 0.125 else ""

    @property
    def letter_items(self) -> int:
        """Large studies are simulated with fewer items."""
        return 75 if self.users < 72 else 12

    @property
    def seeds(self) -> tuple[int, int, int]:
        """Numbers that tell it from other crowds."""
        return self.users, int(self.share * 1000), self.n_odd or 0


CROWDS = (
    Crowd(10, 0.1), Crowd(20, 0.23), Crowd(40, 0.05), Crowd(40, 0.125), Crowd(100, 0.05),
    Crowd(100, 0.1), Crowd(100, 0.0),
)  # fmt: skip
FIXED = (Crowd(10, 0.1, n_odd=1), Crowd(40, 0.05, n_odd=2), Crowd(100, 0.05, n_odd=5))
RARER = Crowd(100, 0.02)
"""Odd users so rare that an interval does not guard against their absence."""


def jobs() -> Iterator[Job]:
    """Letters asked twice, scores and new letters, of every crowd."""
    for crowd in (*CROWDS, *FIXED, RARER):
        yield partial(_letters, crowd)
    for crowd in CROWDS:
        yield partial(_scores, crowd)
        yield partial(_new_letters, crowd)


def _letters(crowd: Crowd, sets: int, seed: int) -> Iterator[Outcome]:
    """Odd users nearly always choose the letter that others choose least."""
    random = np.random.default_rng([seed, 1, *crowd.seeds])
    kinds = np.stack([SHARES, ODD_SHARES])
    weights = np.array([1 - crowd.share, crowd.share])
    truth = 1 - weights @ (1 - (kinds**2).sum(axis=1)) / (1 - ((weights @ kinds) ** 2).sum())
    rows, intervals = [], dict[str, list[Bounds]]()
    for _ in range(sets):
        shares = kinds[crowd.draw(random).astype(int)]
        shape = (crowd.letter_items, crowd.users, len(SHARES))
        letters = draw_letters(np.broadcast_to(shares, shape), REPLICATES, random)
        frame = letter_table(letters[None], condition="c", puppets=True)
        rows += measure_variance(
            frame, baseline="offline", n_permutations=1, seed=1, rarest_users=crowd.rarest
        )
        for name, interval in _discarded_shares(letters, random).items():
            intervals.setdefault(name, []).append(interval)
    report = partial(outcome, PART, truth=float(truth))
    size = f"{crowd.name()}, {crowd.letter_items} items, {REPLICATES} answers each"
    source = "letters, the odd like one that others do not"
    yield report(
        f"{crowd.prefix}share_who", source, size, estimates=[row.share_who for row in rows],
        intervals=[(row.ci_low, row.ci_high) for row in rows],
    )  # fmt: skip
    for name, bounds in intervals.items():
        yield report(f"discarded: share_who, {name}", source, size, intervals=bounds)


def _discarded_shares(letters: Ints, random: np.random.Generator) -> dict[str, Bounds]:
    means = np.eye(len(LETTERS))[letters].mean(axis=2)
    rerun, between = _distances(means)
    whole, logs = _logarithms(rerun, between)
    n = len(logs)
    pseudo = n * whole - (n - 1) * logs
    error, t = float(pseudo.std(ddof=1)) / math.sqrt(n), student_quantile(n - 1)
    skewness = float(((pseudo - pseudo.mean()) ** 3).mean() / pseudo.std() ** 3)
    ends = {"jackknife of the logarithm, Student's t": (-t, t)}
    low, high = (_cubic(x, skewness / math.sqrt(n)) for x in (-t, t))
    ends["jackknife, skewness corrected"] = low, high
    intervals = {
        name: _share_bounds(float(pseudo.mean()) - high * error, float(pseudo.mean()) - low * error)
        for name, (low, high) in ends.items()
    }
    drawn, ratios = _resampled(rerun, between, whole, random)
    low, high = np.quantile(ratios, [0.025, 0.975])
    error = math.sqrt(float(jackknife_variance(logs)))
    intervals["bootstrap-t over users"] = _share_bounds(whole - high * error, whole - low * error)
    intervals["BCa bootstrap over users"] = _bca(drawn, whole, logs)
    return intervals


def _share_bounds(low_log: float, high_log: float) -> Bounds:
    return -math.expm1(high_log), -math.expm1(low_log)


def _cubic(value: float, skewness: float) -> float:
    """Hall's monotone transformation of a quantile, turned back (1992); `skewness` over root n."""
    if abs(skewness) < 1e-9:
        return value
    return float(3 / skewness * (np.cbrt(1 + skewness * (value - skewness / 6)) - 1))


def _distances(means: Floats) -> tuple[Floats, Floats]:
    """Of answers of each user, and of each pair of users; from shape (items, users, letters)."""
    rerun = REPLICATES / (REPLICATES - 1) * (1 - (means**2).sum(axis=2)).mean(axis=0)
    between = 1 - np.einsum("ijk,ilk->jl", means, means, optimize=True) / len(means)
    # a user with itself is no pair
    np.fill_diagonal(between, 0.0)
    return rerun, between


def _logarithms(rerun: Floats, between: Floats) -> tuple[float, Floats]:
    """log(var_rerun / var_answers), whole and without each user."""
    n, sums = len(rerun), between.sum(axis=1)
    total = sums.sum()
    without = (total - 2 * sums) / ((n - 1) * (n - 2))
    logs: Floats = np.log((rerun.sum() - rerun) / (n - 1) / without)
    return math.log(rerun.mean() / (total / (n * (n - 1)))), logs


def _resampled(
    rerun: Floats, between: Floats, whole: float, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Logarithms of bootstrap samples of users and their distances in standard errors."""
    n = len(rerun)
    weights = random.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)
    pairs = n**2 - (weights**2).sum(axis=1)
    within, sums = weights @ rerun / n, weights @ between
    apart = (sums * weights).sum(axis=1) / pairs
    influence = rerun / within[:, None] - 2 * sums / n / apart[:, None] + 1
    errors = np.sqrt((weights * influence**2).sum(axis=1) / (n * (n - 1)))
    logs = np.log(within / apart)
    return logs, (logs - whole) / errors


def _bca(drawn: Floats, whole: float, without: Floats) -> Bounds:
    """Bias-corrected and accelerated (Efron 1987)."""
    moves = without.mean() - without
    acceleration = float((moves**3).sum() / 6 / (moves**2).sum() ** 1.5)
    below = np.clip((drawn < whole).mean(), 1 / RESAMPLES, 1 - 1 / RESAMPLES)
    bias = float(norm.ppf(below))
    shifted = [bias + z for z in (-1.959964, 1.959964)]
    levels = [norm.cdf(bias + z / (1 - acceleration * z)) for z in shifted]
    low, high = np.quantile(drawn, levels)
    return _share_bounds(float(low), float(high))


def _scores(crowd: Crowd, sets: int, seed: int) -> Iterator[Outcome]:
    """Odd users score `LOSS` below the others, in both of their runs; as many reruns of the same mean."""
    random = np.random.default_rng([seed, 4, *crowd.seeds])
    runs, drawn = [], []
    loss = -LOSS * crowd.share
    for task in range(sets):
        own = SCORE + random.normal(0, SD_USERS, crowd.users) - LOSS * crowd.draw(random)
        scores = own[:, None] + random.normal(0, SD_RERUNS, (crowd.users, 2))
        offline = SCORE + loss + random.normal(0, SD_RERUNS, (crowd.users, 1))
        runs += [*_runs(task, "c", scores), *_runs(task, "offline", offline)]
        drawn.append((scores, offline[:, 0]))
    counted_runs = count_runs(runs)
    means = [
        row
        for row in score_estimates(counted_runs, n_permutations=199, rarest_users=crowd.rarest)
        if (row.condition, row.measure) == ("c", "em_strict")
    ]
    spreads = [
        row
        for row in measure_score_spreads(
            counted_runs, baseline="offline", n_permutations=199, seed=1, rarest_users=crowd.rarest
        )
        if (row.condition, row.metric) == ("c", "em_strict")
    ]
    line = partial(outcome, PART, source="scores, the odd lose 30 points", size=crowd.name())
    between = SD_USERS**2 + LOSS**2 * crowd.share * (1 - crowd.share)
    yield line(
        f"{crowd.prefix}mean score", truth=SCORE + loss, estimates=[row.value for row in means],
        intervals=[(row.ci_low, row.ci_high) for row in means],
    )  # fmt: skip
    yield line(
        f"{crowd.prefix}score difference", truth=0.0, estimates=[row.difference for row in means],
        intervals=[(row.difference_low, row.difference_high) for row in means],
        p_values=[row.p_value for row in means],
    )  # fmt: skip
    tests = [ttest_ind(scores[:, 0], offline, equal_var=False) for scores, offline in drawn]
    yield line(
        "discarded: score difference, Welch", truth=0.0,
        intervals=[test.confidence_interval() for test in tests],
        p_values=[float(test.pvalue) for test in tests],
    )  # fmt: skip
    yield line(
        f"{crowd.prefix}share_between", truth=between / (between + SD_RERUNS**2),
        estimates=[row.share_between for row in spreads],
        intervals=[(row.ci_low, row.ci_high) for row in spreads],
    )  # fmt: skip
    yield line(
        "discarded: share_between, F", truth=between / (between + SD_RERUNS**2),
        intervals=[_f_interval(scores) for scores, _ in drawn],
    )  # fmt: skip


def _runs(task: int, condition: str, scores: Floats) -> Iterator[RunAccuracy]:
    """Of scores of shape (units, runs)."""
    for unit, pair in enumerate(scores.tolist()):
        for replicate, em in enumerate(pair):
            puppet = f"p{unit:03}" if condition == "c" else None
            number = replicate if puppet else unit
            yield RunAccuracy(
                "m", f"t{task:05}", condition, 0, puppet, number, em, em, 0.0, 500, 1, False
            )


def _f_interval(scores: Floats) -> Bounds:
    """Snedecor's F, for normal scores of shape (users, 2)."""
    n = len(scores)
    between = 2 * scores.mean(axis=1).var(ddof=1)
    within = ((scores[:, 0] - scores[:, 1]) ** 2).mean() / 2
    low, high = (between / within / snedecor.ppf(tail, n - 1, n) for tail in (0.975, 0.025))
    return float((low - 1) / (low + 1)), float((high - 1) / (high + 1))


def _new_letters(crowd: Crowd, sets: int, seed: int) -> Iterator[Outcome]:
    """Users who answer as reruns do, and odd ones who choose letters at random."""
    random = np.random.default_rng([seed, 2, *crowd.seeds])
    sets = max(1, sets // 2)
    weights = np.exp(2 * random.normal(size=(NEW_ITEMS, 1, 4)))
    likings = weights / weights.sum(axis=-1, keepdims=True)
    many = [_letters_of(likings, crowd, random) for _ in range(TRUTH_FACTOR * sets)]
    new = [_sides(*letters) for letters in many]
    shares = [[expected_share(side, RERUNS) for side in (s.condition, s.control)] for s in new]
    truths = np.mean([(here, here - again) for here, again in shares], axis=0)
    rows = [_novelty_row(crowd.rarest, *letters) for letters in many[:sets]]
    size = f"{crowd.name()}, {NEW_ITEMS} items, {RERUNS} reruns"
    source = "letters, the odd choose at random"
    for name, truth, estimates, intervals, olds in (
        ("novelty", truths[0], [row.share for row in rows],
         [(row.ci_low, row.ci_high) for row in rows],
         [share_interval(s.condition, RERUNS, rarest_users=None) for s in new[:sets]]),
        ("novelty excess", truths[1], [row.excess for row in rows],
         [(row.excess_low, row.excess_high) for row in rows],
         [excess_interval(s, rarest_users=None) for s in new[:sets]]),
    ):  # fmt: skip
        told = partial(outcome, PART, truth=float(truth))
        yield told(crowd.prefix + name, source, size, estimates=estimates, intervals=intervals)
        bounds = [interval or (None, None) for interval in olds]
        yield told(f"discarded: {name}, Student's t", source, size, intervals=bounds)


def _letters_of(
    likings: Floats, crowd: Crowd, random: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Letters of the users, of the control and of the baseline: each of shape (items, units)."""
    is_odd = crowd.draw(random)[None, :, None]
    own = np.where(is_odd, 0.25, likings)
    again, offline = (np.broadcast_to(likings, (NEW_ITEMS, RERUNS, 4)) for _ in range(2))
    here, control, baseline = (draw_letters(s, 1, random)[..., 0] for s in (own, again, offline))
    return here, control, baseline


def _sides(here: Ints, control: Ints, baseline: Ints) -> NewLetters:
    known = (baseline[:, :, None] == np.arange(4)).any(axis=1)
    new_here, new_again = (
        (~np.take_along_axis(known, arm, axis=1)).T.astype(np.float64) for arm in (here, control)
    )
    return NewLetters(new_here, new_again, n_equal=RERUNS)


def _novelty_row(rarest: float, here: Ints, control: Ints, baseline: Ints) -> Novelty:
    tables = [
        letter_table(letters[None, :, :, None], condition=name, puppets=name == "c")
        for name, letters in (("c", here), ("offline_again", control), ("offline", baseline))
    ]
    rows = measure_novelty(
        pd.concat(tables),
        baseline="offline",
        control="offline_again",
        n_permutations=1,
        rarest_users=rarest,
    )
    return next(row for row in rows if row.condition == "c")
