"""Scores of runs, and shares of single options."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from outcomes import Job, Outcome, outcome
from populations import Floats, draw_letters, rarest_covered
from run_scores import score_estimates
from scipy.stats import binom

from fieldwork.records.metrics import RunAccuracy
from fieldwork.statistics.intervals import wilson_interval

ITEMS = 150
HABITS = (0.0, 0.5, 1.5)
"""Standard deviation of a puppet's own liking of a letter, in log odds, the same for all items."""


def jobs() -> Iterator[Job]:
    """Shares by themselves, then scores."""
    yield _wilson
    for puppets in (10, 40):
        for habit in HABITS:
            yield partial(_scores, puppets, habit)


def _scores(puppets: int, habit: float, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, puppets, int(habit * 10)])
    yield _accuracy(sets, puppets, habit, random)


def _wilson(_sets: int, _seed: int) -> Iterator[Outcome]:
    """Counted out over all numbers of successes: no error of simulation."""
    for n in (10, 40, 100):
        for share in (0.02, 0.1, 0.3, 0.5, 0.93):
            weights = binom.pmf(np.arange(n + 1), n, share)
            held = [
                interval.low <= share <= interval.high
                for interval in (wilson_interval(k, n) for k in range(n + 1))
            ]
            told = outcome(
                "share", "share of an option, Wilson", f"share {share:g}", f"n {n}", truth=share
            )
            yield replace_coverage(told, float(weights[held].sum()))


def replace_coverage(told: Outcome, coverage: float) -> Outcome:
    """`told` with a coverage that was counted out."""
    return Outcome(**{**told.__dict__, "coverage": coverage, "coverage_error": 0.0})


def _likings(items: int, random: np.random.Generator) -> Floats:
    return 2 * random.normal(size=(items, 4))


def _shares(likings: Floats, puppets: int, habit: float, random: np.random.Generator) -> Floats:
    """Shape (items, puppets, letters)."""
    own = habit * random.normal(size=(1, puppets, 4))
    weights = np.exp(likings[:, None, :] + own)
    shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def _accuracy(sets: int, puppets: int, habit: float, random: np.random.Generator) -> Outcome:
    """Items fixed, puppets drawn; the first letter is right."""
    likings = _likings(ITEMS, random)
    many = _shares(likings, 20_000, habit, random)[..., 0].mean()
    scores = [
        (draw_letters(_shares(likings, puppets, habit, random), 1, random) == 0).mean(axis=(0, 2))
        for _ in range(sets)
    ]
    rows = score_estimates(
        [
            RunAccuracy("m", f"t{k:05}", "c", p, f"p{p}", 0, em, em, 0.0, ITEMS, 1, True)
            for k, of in enumerate(scores)
            for p, em in enumerate(of.tolist())
        ],
        rarest_users=rarest_covered(puppets),
    )
    strict = [row for row in rows if row.measure == "em_strict"]
    return outcome(
        "run",
        "mean score",
        f"puppets with habits of {habit:g}",
        f"{puppets} puppets, {ITEMS} items",
        truth=float(many),
        estimates=[row.value for row in strict],
        intervals=[(row.ci_low, row.ci_high) for row in strict],
    )
