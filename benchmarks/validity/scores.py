"""Scores and places beside reruns: ten users and ten reruns of 514 items."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from outcomes import Job, Outcome, outcome
from populations import Floats, rarest_covered
from run_scores import score_estimates
from scipy.stats import f as snedecor

from fieldwork.files.leaderboards import read_leaderboard
from fieldwork.metrics.accuracy import count_runs
from fieldwork.metrics.claims.families import ClaimRules, PrimaryTests
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.ranks import measure_ranks, place_of, scores_of_others
from fieldwork.metrics.ranks import share_of_pairs as differing
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.shared import Leaderboard
from fieldwork.statistics.intervals import student_quantile

PART = "scores"
UNITS, ITEMS, PERMUTATIONS = 10, 514, 199
OLD = "discarded: a score is higher or lower, "
DRAWN, CHANCE = 150, 0.65
"""Items that a run answers by chance, and how often rightly; the others are always right or wrong."""
SIZE = f"{UNITS} users, {UNITS} reruns, {ITEMS} items"
LEADERBOARD = Path(__file__).resolve().parents[2] / "resources" / "helm_lite_mmlu.csv"


class Users(NamedTuple):
    """What users do to the score: the same for all, normal, or a loss for one in ten.

    With `both` reruns are drawn alike, so that neither side spreads further.
    """

    name: str
    shift: float
    sd: float
    loss: float
    tails: bool = False
    both: bool = False

    def draw(self, shape: tuple[int, ...], random: np.random.Generator) -> Floats:
        """An effect on the score for each user."""
        own = random.standard_t(3, size=shape) if self.tails else random.normal(size=shape)
        return self.shift + self.sd * own - self.loss * (random.random(shape) < 0.1)

    def mean(self) -> float:
        """Their expected effect."""
        return 0.0 if self.both else self.shift - 0.1 * self.loss


SAME = Users("users like reruns", 0, 0, 0)
USERS = (
    SAME,
    Users("users 15 answers lower, no wider", -15 / ITEMS, 0, 0),
    Users("users 1 point wide", 0, 0.01, 0),
    Users("users 3 points wide", 0, 0.03, 0),
    Users("users with heavy tails", 0, 0.01, 0, tails=True),
    Users("heavy tails on both sides", 0, 0.01, 0, tails=True, both=True),
    Users("one user in ten loses 10 points", 0, 0, 0.1),
)
BETWEEN = (0.0, 0.005, 0.01, 0.03)
PLACES = ((0.668, 0.004), (0.668, 0.012), (0.8, 0.003), (0.5, 0.004), (0.49, 0.01))


def jobs() -> Iterator[Job]:
    """Differences and spreads, then the rest."""
    for users in USERS:
        yield partial(_compared, users)
    yield _lost_form
    for sd in BETWEEN:
        yield partial(_between, sd)
    for centre, sd in PLACES:
        yield partial(_places, centre, sd)


def _lost_form(sets: int, seed: int) -> Iterator[Outcome]:
    """Users choose as reruns do, and a tenth of their letters stand in another form than asked for."""
    random = np.random.default_rng([seed, 10])
    n, rules = 40, ClaimRules([PrimaryTests("score")], ["c"], [], {"score": 0.02})
    flags: dict[str, list[float]] = {
        "a score is higher or lower": [],
        f"{OLD}by strict scores alone": [],
    }
    for number in range(sets):
        runs = []
        for condition, lost in (("c", 0.1), ("offline", 0.0)):
            scores = _scores(np.zeros(n), random)
            strict = random.binomial(np.rint(scores * ITEMS).astype(int), 1 - lost) / ITEMS
            runs += [
                RunAccuracy(
                    "m", "t", condition, k, f"p{k}" if lost else None, 0 if lost else k, em, any_form,
                    lost, ITEMS, 1, True,
                )
                for k, (em, any_form) in enumerate(zip(strict.tolist(), scores.tolist(), strict=True))
            ]  # fmt: skip
        rows = score_estimates(
            runs, n_permutations=PERMUTATIONS, seed=seed + number, rarest_users=rarest_covered(n)
        )
        strict_alone = [row for row in rows if row.measure == "em_strict"]
        for name, tests in zip(flags, (rows, strict_alone), strict=True):
            claims = measure_claims({"estimates": tests}, rules)
            claimed = any(c.verdict == "differs" and c.measure == "score" for c in claims)
            flags[name].append(0.0 if claimed else 1.0)
    for name, p_values in flags.items():
        yield outcome(
            PART, name, "letters alike, a tenth in another form", f"{n} users, {n} reruns",
            truth=None, p_values=p_values,
        )  # fmt: skip


def _scores(effects: Floats, random: np.random.Generator) -> Floats:
    """Scores of runs, one an effect: 264 items are always right, 100 always wrong."""
    right = ITEMS - 250 + random.binomial(DRAWN, CHANCE, size=effects.shape)
    return np.clip((right + np.rint(effects * ITEMS)) / ITEMS, 0, 1)


def _run(task: int, condition: str, unit: int, replicate: int, score: float) -> RunAccuracy:
    puppet = f"p{unit:02}" if condition == "c" else None
    return RunAccuracy(
        "m", f"t{task:05}", condition, 0, puppet, replicate, score, score, 0.0, ITEMS, 5, False
    )


def _compared(users: Users, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, *users.name.encode()])
    here = _scores(users.draw((sets, UNITS), random), random)
    effects = users.draw((sets, UNITS), random) if users.both else np.zeros((sets, UNITS))
    there = _scores(effects, random)
    runs = [
        _run(task, condition, unit, unit if condition == "offline" else 0, score)
        for condition, arm in (("c", here), ("offline", there))
        for task, scores in enumerate(arm.tolist())
        for unit, score in enumerate(scores)
    ]
    counted, rarest = count_runs(runs), rarest_covered(UNITS)
    rows = [
        row
        for row in score_estimates(counted, n_permutations=PERMUTATIONS, rarest_users=rarest)
        if (row.condition, row.measure) == ("c", "em_strict")
    ]
    yield outcome(
        PART, "score difference", users.name, SIZE,
        truth=users.mean(),
        estimates=[row.difference for row in rows],
        intervals=[(row.difference_low, row.difference_high) for row in rows],
        p_values=[row.p_value for row in rows],
    )  # fmt: skip
    spreads = measure_score_spreads(
        counted, baseline="offline", n_permutations=PERMUTATIONS, seed=1, rarest_users=rarest
    )
    strict = [row for row in spreads if (row.condition, row.metric) == ("c", "em_strict")]
    yield outcome(
        PART, "spread beyond reruns", users.name, SIZE,
        truth=None,
        p_values=[row.p_value for row in strict],
    )  # fmt: skip
    ratios = here.var(axis=1, ddof=1) / there.var(axis=1, ddof=1)
    yield outcome(
        PART, "discarded: spread, F-test", users.name, SIZE,
        truth=None,
        p_values=snedecor.sf(ratios, UNITS - 1, UNITS - 1).tolist(),
    )  # fmt: skip


def _between(sd: float, sets: int, seed: int) -> Iterator[Outcome]:
    """Two runs of each user; the variance of a run is that of its drawn items."""
    random = np.random.default_rng([seed, 2, int(sd * 1e4)])
    effects = np.repeat((sd * random.normal(size=(sets, UNITS)))[:, :, None], 2, axis=2)
    scores = _scores(effects, random)
    runs = [
        _run(task, "c", unit, replicate, score)
        for task, users in enumerate(scores.tolist())
        for unit, pair in enumerate(users)
        for replicate, score in enumerate(pair)
    ]
    rows = [
        row
        for row in measure_score_spreads(
            count_runs(runs),
            baseline="offline",
            n_permutations=1,
            seed=1,
            rarest_users=rarest_covered(UNITS),
        )
        if row.metric == "em_strict"
    ]
    rerun = DRAWN * CHANCE * (1 - CHANCE) / ITEMS**2
    yield outcome(
        PART, "share_between", f"users {100 * sd:g} points wide",
        f"{UNITS} users, 2 runs each, {ITEMS} items",
        truth=sd**2 / (sd**2 + rerun),
        estimates=[row.share_between for row in rows],
        intervals=[(row.ci_low, row.ci_high) for row in rows],
    )  # fmt: skip


@cache
def _leaderboard() -> Leaderboard:
    return read_leaderboard(str(LEADERBOARD))


def _places(centre: float, sd: float, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, 3, int(centre * 1e3), int(sd * 1e4)])
    others = scores_of_others(_leaderboard(), None)
    many = [place_of(s, others) for s in random.normal(centre, sd, size=20_000).tolist()]
    shares = np.unique(many, return_counts=True)[1] / len(many)
    scores = np.clip(random.normal(centre, sd, size=(sets, UNITS)), 0, 1).tolist()
    runs = [_run(t, "c", u, 0, score) for t, of in enumerate(scores) for u, score in enumerate(of)]
    rows = [
        row
        for row in measure_ranks(count_runs(runs), _leaderboard(), baseline="offline")
        if row.metric == "em_strict"
    ]
    told: dict[str, Any] = {
        "truth": float(1 - (shares**2).sum()),
        "estimates": [row.p_change for row in rows],
    }
    source = f"scores of {100 * centre:g} ± {100 * sd:g} on HELM Lite"
    yield outcome(PART, "p_change", source, f"{UNITS} users", **told)
    tried = [_jackknife([place_of(score, others) for score in of]) for of in scores]
    name = "discarded: p_change, jackknife"
    yield outcome(PART, name, source, f"{UNITS} users", **told, intervals=tried)


def _jackknife(places: Sequence[int]) -> tuple[float | None, float | None]:
    n = len(places)
    whole = differing(combinations(places, 2)) or 0.0
    left = np.array(
        [differing(combinations([p for j, p in enumerate(places) if j != k], 2)) for k in range(n)],
        dtype=np.float64,
    )
    half = student_quantile(n - 1) * float(np.sqrt((n - 1) * left.var()))
    return (whole - half, whole + half) if half > 0 else (None, None)
