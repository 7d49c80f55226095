"""Sources in which few users carry the effect: most users answer alike, a few answer otherwise.

The truth is always that of the population of users, in which each is odd with the probability named. The
number of odd users in a sample is random, as users are drawn; where a size says "k of them odd", exactly
that many are in every sample, and the truth is that of a population with this share of odd users.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from novelty import new_letters
from populations import SHARES, Floats, Ints, answer_table, draw_letters, score_estimates
from scipy.stats import f as snedecor
from scipy.stats import norm, ttest_ind
from scores import runs_of, score_spreads
from simulations import Bounds, Line, Lines, Sets, Simulation, columns_of, line_of
from variance import letter_distances

from fieldwork.metrics.accuracy import count_runs
from fieldwork.metrics.novelty import (
    NewLetters,
    excess_interval,
    expected_share,
    measure_novelty,
    share_interval,
)
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import Novelty, VarianceShare
from fieldwork.statistics.intervals import jackknife_variance, student_quantile

REPLICATES, NEW_ITEMS, RERUNS = 2, 150, 10
ODD_SHARES = np.array([0.01, 0.01, 0.01, 0.97])
KINDS = np.stack([SHARES, ODD_SHARES])
RESAMPLES, TRUTH_FACTOR = 300, 4
SCORE, LOSS, SD_USERS, SD_RERUNS = 0.6, 0.3, 0.01, 0.01


class Crowd(NamedTuple):
    """Users of a study: how many, the chance of each to be odd, and how many are where that is fixed."""

    users: int
    share: float
    n_odd: int | None = None

    @property
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
    *(Crowd(10, 0.1), Crowd(20, 0.23), Crowd(40, 0.05), Crowd(40, 0.125), Crowd(100, 0.05)),
    *(Crowd(100, 0.1), Crowd(100, 0.0)),
)
FIXED = (Crowd(10, 0.1, n_odd=1), Crowd(40, 0.05, n_odd=2), Crowd(100, 0.05, n_odd=5))
RARER = Crowd(100, 0.02)
"""Odd users so rare that an interval does not guard against their absence."""


def _letters(crowd: Crowd, sets: Sets) -> Lines:
    """Odd users nearly always choose the letter that others choose least."""
    weights = np.array([1 - crowd.share, crowd.share])
    truth = 1 - weights @ (1 - (KINDS**2).sum(axis=1)) / (1 - ((weights @ KINDS) ** 2).sum())
    rows, intervals = zip(*sets.each(_letter_study, crowd), strict=True)
    name = f"{crowd.prefix}share_who"
    yield line_of(name, rows, float(truth), value="share_who", interval="ci")
    for name, bounds in columns_of(intervals).items():
        yield Line(f"discarded: share_who, {name}", float(truth), intervals=bounds)


def _letter_study(
    crowd: Crowd, random: np.random.Generator
) -> tuple[VarianceShare, dict[str, Bounds]]:
    """The row of one data set, and the intervals of what is not used."""
    shares = KINDS[crowd.draw(random).astype(int)]
    shape = (crowd.letter_items, crowd.users, len(SHARES))
    letters = draw_letters(np.broadcast_to(shares, shape), REPLICATES, random)
    frame = answer_table(letters[None])
    (row,) = measure_variance(
        frame, baseline="offline", n_permutations=1, seed=1, rarest_users=crowd.rarest
    )
    return row, _discarded_shares(letters, random)


def _discarded_shares(letters: Ints, random: np.random.Generator) -> dict[str, Bounds]:
    rerun, between = letter_distances(letters)
    whole, logs = _logarithms(rerun, between)
    n, t = len(logs), student_quantile(len(logs) - 1)
    pseudo = n * whole - (n - 1) * logs
    error, middle = float(pseudo.std(ddof=1)) / math.sqrt(n), float(pseudo.mean())
    skewness = float(((pseudo - middle) ** 3).mean() / pseudo.std() ** 3) / math.sqrt(n)
    drawn, ratios = _resampled(rerun, between, whole, random)
    low, high = np.quantile(ratios, [0.025, 0.975])
    error_of_logs = math.sqrt(float(jackknife_variance(logs)))
    ends = {
        "jackknife of the logarithm, Student's t": (middle - t * error, middle + t * error),
        "jackknife, skewness corrected": (
            middle - _cubic(t, skewness) * error,
            middle - _cubic(-t, skewness) * error,
        ),
        "bootstrap-t over users": (whole - high * error_of_logs, whole - low * error_of_logs),
        "BCa bootstrap over users": _bca(drawn, whole, logs),
    }
    return {name: (-math.expm1(high), -math.expm1(low)) for name, (low, high) in ends.items()}


def _cubic(value: float, skewness: float) -> float:
    """Hall's monotone transformation of a quantile, turned back (1992); `skewness` over root n."""
    if abs(skewness) < 1e-9:
        return value
    return float(3 / skewness * (np.cbrt(1 + skewness * (value - skewness / 6)) - 1))


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
    within, sums = weights @ rerun / n, weights @ between
    apart = (sums * weights).sum(axis=1) / (n**2 - (weights**2).sum(axis=1))
    influence = rerun / within[:, None] - 2 * sums / n / apart[:, None] + 1
    errors = np.sqrt((weights * influence**2).sum(axis=1) / (n * (n - 1)))
    logs = np.log(within / apart)
    return logs, (logs - whole) / errors


def _bca(drawn: Floats, whole: float, without: Floats) -> tuple[float, float]:
    """Bias-corrected and accelerated (Efron 1987): the ends of the logarithm."""
    moves = without.mean() - without
    acceleration = float((moves**3).sum() / 6 / (moves**2).sum() ** 1.5)
    below = np.clip((drawn < whole).mean(), 1 / RESAMPLES, 1 - 1 / RESAMPLES)
    bias = float(norm.ppf(below))
    shifted = [bias + z for z in (-1.959964, 1.959964)]
    low, high = np.quantile(drawn, [norm.cdf(bias + z / (1 - acceleration * z)) for z in shifted])
    return float(low), float(high)


def _scores(crowd: Crowd, sets: Sets) -> Lines:
    """Odd users score `LOSS` below the others, in both of their runs; as many reruns of the same mean."""
    mean = SCORE - LOSS * crowd.share
    drawn = sets.each(_score_pair, crowd)
    scores, offline = (np.stack(side) for side in zip(*drawn, strict=True))
    runs = count_runs([*runs_of(scores), *runs_of(offline, "offline")])
    means = score_estimates(
        runs, measure="em_strict", n_permutations=199, rarest_users=crowd.rarest
    )
    yield line_of(f"{crowd.prefix}mean score", means, mean, value="value", interval="ci")
    yield line_of(
        f"{crowd.prefix}score difference", means, 0.0,
        value="difference", interval="difference", p_value="p_value",
    )  # fmt: skip
    tests = [ttest_ind(a[:, 0], b[:, 0], equal_var=False) for a, b in drawn]
    yield Line(
        "discarded: score difference, Welch", 0.0,
        intervals=[test.confidence_interval() for test in tests],
        p_values=[float(test.pvalue) for test in tests],
    )  # fmt: skip
    between = SD_USERS**2 + LOSS**2 * crowd.share * (1 - crowd.share)
    truth, spreads = between / (between + SD_RERUNS**2), score_spreads(runs, crowd.rarest)
    name = f"{crowd.prefix}share_between"
    yield line_of(name, spreads, truth, value="share_between", interval="ci")
    yield Line("discarded: share_between, F", truth, intervals=[_f_interval(a) for a, _ in drawn])


def _score_pair(crowd: Crowd, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores of users, shape (users, 2), and of reruns, shape (reruns, 1)."""
    users = SCORE + random.normal(0, SD_USERS, crowd.users) - LOSS * crowd.draw(random)
    scores = users[:, None] + random.normal(0, SD_RERUNS, (crowd.users, 2))
    mean = SCORE - LOSS * crowd.share
    return scores, mean + random.normal(0, SD_RERUNS, (crowd.users, 1))


def _f_interval(scores: Floats) -> Bounds:
    """Snedecor's F, for normal scores of shape (users, 2)."""
    n = len(scores)
    between = 2 * scores.mean(axis=1).var(ddof=1)
    within = ((scores[:, 0] - scores[:, 1]) ** 2).mean() / 2
    low, high = (between / within / snedecor.ppf(tail, n - 1, n) for tail in (0.975, 0.025))
    return float((low - 1) / (low + 1)), float((high - 1) / (high + 1))


def _new_letters(crowd: Crowd, sets: Sets) -> Lines:
    """Users who answer as reruns do, and odd ones who choose letters at random."""
    weights = np.exp(2 * sets.random.normal(size=(NEW_ITEMS, 1, 4)))
    likings = weights / weights.sum(axis=-1, keepdims=True)
    many = sets._replace(n=TRUTH_FACTOR * sets.n).each(_letters_of, likings, crowd)
    new = [_sides(*letters) for letters in many]
    shares = [[expected_share(side, RERUNS) for side in (s.condition, s.control)] for s in new]
    share, excess = np.mean([(users, users - again) for users, again in shares], axis=0).tolist()
    rows = [_novelty_row(crowd.rarest, *letters) for letters in many[: sets.n]]
    name = f"{crowd.prefix}novelty"
    yield line_of(name, rows, share, value="share", interval="ci")
    yield Line(
        "discarded: novelty, Student's t", share,
        intervals=[share_interval(s.condition, RERUNS, rarest_users=None) for s in new[: sets.n]],
    )  # fmt: skip
    yield line_of(f"{name} excess", rows, excess, value="excess", interval="excess")
    yield Line(
        "discarded: novelty excess, Student's t", excess,
        intervals=[excess_interval(s, rarest_users=None) for s in new[: sets.n]],
    )  # fmt: skip


def _letters_of(
    likings: Floats, crowd: Crowd, random: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Letters of the users, of the control and of the baseline: each of shape (items, units)."""
    shares = np.where(crowd.draw(random)[None, :, None], 0.25, likings)
    reruns = np.broadcast_to(likings, (NEW_ITEMS, RERUNS, 4))
    users, control, baseline = (
        draw_letters(s, 1, random)[..., 0] for s in (shares, reruns, reruns)
    )
    return users, control, baseline


def _sides(*letters: Ints) -> NewLetters:
    arms = new_letters(*(side.T[:, :, None] for side in letters))
    users, control = (arm[..., 0].astype(np.float64) for arm in arms)
    return NewLetters(users, control, n_equal=RERUNS)


def _novelty_row(rarest: float, users: Ints, control: Ints, baseline: Ints) -> Novelty:
    tables = [
        answer_table(letters[None, :, :, None], name, puppets=name == "c")
        for name, letters in (("c", users), ("offline_again", control), ("offline", baseline))
    ]
    rows = measure_novelty(
        pd.concat(tables),
        baseline="offline",
        control="offline_again",
        n_permutations=1,
        rarest_users=rarest,
    )
    return next(row for row in rows if row.condition == "c")


SIMULATIONS = (
    *(
        Simulation(
            "odd", _letters, (crowd,), "letters, the odd like one that others do not",
            f"{crowd.name}, {crowd.letter_items} items, {REPLICATES} answers each",
            (1, *crowd.seeds),
        )
        for crowd in (*CROWDS, *FIXED, RARER)
    ),
    *(
        Simulation(
            "odd", _scores, (crowd,), "scores, the odd lose 30 points", crowd.name,
            (4, *crowd.seeds),
        )
        for crowd in CROWDS
    ),
    *(
        Simulation(
            "odd", _new_letters, (crowd,), "letters, the odd choose at random",
            f"{crowd.name}, {NEW_ITEMS} items, {RERUNS} reruns", (2, *crowd.seeds), 2,
        )
        for crowd in CROWDS
    ),
)  # fmt: skip
