"""Scores of runs, by themselves and beside reruns, and their places among others."""

from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from populations import Floats, draw_letters, rarest_covered, run_of, score_estimates
from scipy.stats import f as snedecor
from simulations import Bounds, Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.files.leaderboards import read_leaderboard
from fieldwork.metrics.accuracy import count_runs
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.ranks import measure_ranks, place_of, scores_of_others
from fieldwork.metrics.ranks import share_of_pairs as differing
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.records.metrics import RunAccuracy, ScoreSpread
from fieldwork.records.shared import Leaderboard
from fieldwork.sections.study import PrimaryEntry
from fieldwork.statistics.intervals import student_quantile

UNITS, ITEMS, PERMUTATIONS = 10, 514, 199
DRAWN, CHANCE = 150, 0.65
"""Items that a run answers by chance, and how often rightly; the others are always right or wrong."""
SIZE = f"{UNITS} users, {UNITS} reruns, {ITEMS} items"
LEADERBOARD = Path(__file__).resolve().parents[2] / "resources" / "helm_lite_mmlu.csv"
SCORE_RULES = ClaimRules([PrimaryEntry(measure="score")], ["c"], [], {"score": 0.02})


class Users(NamedTuple):
    """What users do to the score: the same for all, normal, or a loss for one in ten.

    With `both` reruns are drawn alike, so that neither side spreads further.
    """

    name: str
    shift: float = 0.0
    sd: float = 0.0
    loss: float = 0.0
    tails: bool = False
    both: bool = False

    def draw(self, shape: tuple[int, ...], random: np.random.Generator) -> Floats:
        """An effect on the score for each user."""
        effects = random.standard_t(3, size=shape) if self.tails else random.normal(size=shape)
        return self.shift + self.sd * effects - self.loss * (random.random(shape) < 0.1)


USERS = (
    Users("users like reruns"),
    Users("users 15 answers lower, no wider", shift=-15 / ITEMS),
    Users("users 1 point wide", sd=0.01),
    Users("users 3 points wide", sd=0.03),
    Users("users with heavy tails", sd=0.01, tails=True),
    Users("heavy tails on both sides", sd=0.01, tails=True, both=True),
    Users("one user in ten loses 10 points", loss=0.1),
)
PLACES = ((0.668, 0.004), (0.668, 0.012), (0.8, 0.003), (0.5, 0.004), (0.49, 0.01))


def _scores(effects: Floats, random: np.random.Generator) -> Floats:
    """Scores of runs, one an effect: 264 items are always right, 100 always wrong."""
    right = ITEMS - 250 + random.binomial(DRAWN, CHANCE, size=effects.shape)
    return np.clip((right + np.rint(effects * ITEMS)) / ITEMS, 0, 1)


def runs_of(scores: Floats, condition: str = "c") -> list[RunAccuracy]:
    """Runs of scores of shape (sets, units, runs); every set is a task."""
    at = np.indices(scores.shape).reshape(3, -1).T.tolist()
    runs = zip(at, scores.ravel().tolist(), strict=True)
    return [
        run_of(task, condition, unit, replicate, score) for (task, unit, replicate), score in runs
    ]


def score_spreads(
    runs: list[RunAccuracy], rarest_users: float, n_permutations: int = PERMUTATIONS
) -> list[ScoreSpread]:
    """Of the strict scores of users, beside the baseline's."""
    rows = measure_score_spreads(
        runs,
        baseline="offline",
        n_permutations=n_permutations,
        seed=1,
        rarest_users=rarest_users,
    )
    return [row for row in rows if (row.condition, row.metric) == ("c", "em_strict")]


def _compared(users: Users, sets: Sets) -> Lines:
    shape, rarest = (sets.n, UNITS), rarest_covered(UNITS)
    scores = _scores(users.draw(shape, sets.random), sets.random)
    effects = users.draw(shape, sets.random) if users.both else np.zeros(shape)
    offline = _scores(effects, sets.random)
    runs = count_runs([*runs_of(scores[..., None]), *runs_of(offline[..., None], "offline")])
    yield line_of(
        "score difference",
        score_estimates(
            runs, measure="em_strict", n_permutations=PERMUTATIONS, rarest_users=rarest
        ),
        0.0 if users.both else users.shift - 0.1 * users.loss,
        value="difference", interval="difference", p_value="p_value",
    )  # fmt: skip
    yield line_of("spread beyond reruns", score_spreads(runs, rarest), p_value="p_value")
    ratios = scores.var(axis=1, ddof=1) / offline.var(axis=1, ddof=1)
    p_values = snedecor.sf(ratios, UNITS - 1, UNITS - 1).tolist()
    yield Line("discarded: spread, F-test", p_values=p_values)


def _lost_form(sets: Sets) -> Lines:
    """Users choose as reruns do, and a tenth of their letters stand in another form than asked for."""
    studies = (_claims_of_lost_form(sets.seed + k, sets.random) for k in range(sets.n))
    for name, claims in columns_of(studies).items():
        yield Line(name, claims=claims)


def _claims_of_lost_form(seed: int, random: np.random.Generator) -> dict[str, bool]:
    n, runs = 40, list[RunAccuracy]()
    for condition, lost in (("c", 0.1), ("offline", 0.0)):
        scores = _scores(np.zeros(n), random)
        strict = random.binomial(np.rint(scores * ITEMS).astype(int), 1 - lost) / ITEMS
        runs += [
            run_of("t", condition, k, 0, em, run=k, em_flexible=flexible, format_failure=lost)
            for k, (em, flexible) in enumerate(zip(strict.tolist(), scores.tolist(), strict=True))
        ]
    rows = score_estimates(
        runs, n_permutations=PERMUTATIONS, seed=seed, rarest_users=rarest_covered(n)
    )
    strict_alone = [row for row in rows if row.measure == "em_strict"]
    return {
        name: any(
            claim.verdict == "differs" and claim.measure == "score"
            for claim in measure_claims({"estimates": tests}, SCORE_RULES)
        )
        for name, tests in (
            ("a score is higher or lower", rows),
            ("discarded: a score is higher or lower, by strict scores alone", strict_alone),
        )
    }


def _between(sd: float, sets: Sets) -> Lines:
    """Two runs of each user; the variance of a run is that of its drawn items."""
    effects = sd * sets.random.normal(size=(sets.n, UNITS))
    scores = _scores(np.repeat(effects[:, :, None], 2, axis=2), sets.random)
    rows = score_spreads(count_runs(runs_of(scores)), rarest_covered(UNITS), 1)
    rerun = DRAWN * CHANCE * (1 - CHANCE) / ITEMS**2
    truth = sd**2 / (sd**2 + rerun)
    yield line_of("share_between", rows, truth, value="share_between", interval="ci")


@cache
def _leaderboard() -> Leaderboard:
    return read_leaderboard(str(LEADERBOARD))


def _places(centre: float, sd: float, sets: Sets) -> Lines:
    others = scores_of_others(_leaderboard(), None)
    many = [place_of(s, others) for s in sets.random.normal(centre, sd, size=20_000).tolist()]
    shares = np.unique(many, return_counts=True)[1] / len(many)
    scores = np.clip(sets.random.normal(centre, sd, size=(sets.n, UNITS)), 0, 1)
    table = measure_ranks(
        count_runs(runs_of(scores[..., None])), _leaderboard(), baseline="offline"
    )
    rows = [row for row in table if row.metric == "em_strict"]
    line = line_of("p_change", rows, float(1 - (shares**2).sum()), value="p_change")
    yield line
    places = [[place_of(score, others) for score in study] for study in scores.tolist()]
    name = "discarded: p_change, jackknife"
    yield line._replace(estimator=name, intervals=[*map(_jackknife, places)])


def _jackknife(places: list[int]) -> Bounds | None:
    n = len(places)
    whole = differing(combinations(places, 2)) or 0.0
    left = [differing(combinations([*places[:k], *places[k + 1 :]], 2)) for k in range(n)]
    half = student_quantile(n - 1) * float(np.sqrt((n - 1) * np.array(left, np.float64).var()))
    return (whole - half, whole + half) if half > 0 else None


def _habits(puppets: int, habit: float, sets: Sets) -> Lines:
    """Items fixed, puppets drawn; the first letter is right."""
    likings = 2 * sets.random.normal(size=(150, 4))
    truth = float(_habit_shares(likings, 20_000, habit, sets.random)[..., 0].mean())
    letters = (
        draw_letters(_habit_shares(likings, puppets, habit, sets.random), 1, sets.random)
        for _ in range(sets.n)
    )
    scores = np.stack([(of == 0).mean(axis=(0, 2)) for of in letters])
    rows = score_estimates(
        runs_of(scores[..., None]), measure="em_strict", rarest_users=rarest_covered(puppets)
    )
    yield line_of("mean score", rows, truth, value="value", interval="ci")


def _habit_shares(
    likings: Floats, puppets: int, habit: float, random: np.random.Generator
) -> Floats:
    """Shape (items, puppets, letters); a habit is the sd of a puppet's log odds, under all items."""
    weights = np.exp(likings[:, None, :] + habit * random.normal(size=(1, puppets, 4)))
    shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return shares


SIMULATIONS = (
    *(
        Simulation("scores", _compared, (users,), users.name, SIZE, (*users.name.encode(),))
        for users in USERS
    ),
    Simulation(
        "scores", _lost_form, (), "letters alike, a tenth in another form", "40 users, 40 reruns",
        (10,),
    ),
    *(
        Simulation(
            "scores", _between, (sd,), f"users {100 * sd:g} points wide",
            f"{UNITS} users, 2 runs each, {ITEMS} items", (2, int(sd * 1e4)),
        )
        for sd in (0.0, 0.005, 0.01, 0.03)
    ),
    *(
        Simulation(
            "scores", _places, (centre, sd), f"scores of {100 * centre:g} ± {100 * sd:g} on HELM Lite",
            f"{UNITS} users", (3, int(centre * 1e3), int(sd * 1e4)),
        )
        for centre, sd in PLACES
    ),
    *(
        Simulation(
            "run", _habits, (puppets, habit), f"puppets with habits of {habit:g}",
            f"{puppets} puppets, 150 items", (puppets, int(habit * 10)),
        )
        for puppets, habit in product((10, 40), (0.0, 0.5, 1.5))
    ),
)  # fmt: skip
