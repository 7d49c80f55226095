"""Power of tests of scores, points and numbers: what is promised, and what whole studies reach."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from populations import Floats, Ints, run_of, score_estimates
from power_sources import MANY, Source, likeness_of, odd_name
from promises import BEFORE, PERMUTATIONS, RAREST, RULES, USERS, is_claimed, lines_of, power_of
from simulations import Lines, Sets, Simulation

from fieldwork.metrics.power.study import PlannedTask
from fieldwork.metrics.values.comparisons import measure_value_comparisons
from fieldwork.records.metrics import RunAccuracy
from fieldwork.sections.study import PrimaryEntry

QUESTIONS, RIGHT = 75, 0.6
SCORE_RULES = RULES._replace(primary=[PrimaryEntry(measure="score")])
"""These studies have scores alone."""
CUTS = np.array([-1.4, -0.5, 0.3, 1.2])
FREEDOM = 5
SKEW = 0.25
VALUE_RULES = RULES._replace(primary=[PrimaryEntry(measure="value")])
VALUE_PERMUTATIONS = 1999
"""With fewer, no p-value of a mean of scales could be claimed among so many."""


def _no_answers(_: bool, size: tuple[int, int], __: np.random.Generator) -> Ints:
    return np.zeros((0, *size), dtype=np.int64)


class ScoredStudy(NamedTuple):
    """Letters of 75 questions, right with chance 0.6; users' chances differ around a mean that moves."""

    difference: float
    sd_users: float
    odd: float
    n_users: int
    before: float

    def source(self) -> Source:
        """Spreads of whole runs, which `power` takes from a pilot."""
        supposed = {
            "odd_users": self.odd,
            "sd_users": self.sd_users,
            "sd_reruns": float(np.sqrt(RIGHT * (1 - RIGHT) / QUESTIONS)),
        }
        odd = odd_name(self.odd)
        name = f"scores, {self.difference:g} higher, sd of users {self.sd_users:g}{odd}"
        effects = {"scores": [self.difference]}
        return Source(name, QUESTIONS, False, _no_answers, effects, supposed)

    def runs(self, condition: str, random: np.random.Generator) -> list[RunAccuracy]:
        """Counted runs; users of every condition differ, those of the first are better, too."""
        chances = np.full(self.n_users, RIGHT)
        if condition != "offline":
            chances += self.sd_users * random.normal(size=self.n_users)
        if condition == USERS[0]:
            chances += (random.random(self.n_users) < self.odd) * self.difference / self.odd
        scores = random.binomial(QUESTIONS, np.clip(chances, 0, 1)) / QUESTIONS
        return [
            run_of("main", condition, k, 0, score, run=k, n_items=QUESTIONS)
            for k, score in enumerate(scores.tolist())
        ]


def _scores(study: ScoredStudy, sets: Sets) -> Lines:
    claims, source = [], study.source()
    for number in range(sets.n):
        runs = [run for name in ("offline", *USERS) for run in study.runs(name, sets.random)]
        rows = score_estimates(
            runs, n_permutations=PERMUTATIONS, rarest_users=RAREST, seed=sets.seed + number
        )
        claims.append(
            is_claimed(
                {"estimates": rows},
                SCORE_RULES,
                lambda claim: (claim.measure, claim.condition) == ("score", USERS[0]),
            )
        )
    tasks = {"main": PlannedTask({"choice": QUESTIONS}, QUESTIONS)}
    power = power_of("score", study.n_users, source, tasks, rules=SCORE_RULES)
    yield from lines_of("score", source.name, {"": power, BEFORE: study.before}, claims)


class ValuedStudy(NamedTuple):
    """Scales or a number that the first condition moves, of 40 users.

    A user's latent answer to a scale is t-distributed, part of it in all questions, and cut where points
    are as common as labels of agreement are. Numbers are skewed: their logarithm is normal.

    Attributes:
        n_scales: 0 for one number.
        is_together: whether the effect is in the mean of the scales.
    """

    shift: float
    n_scales: int
    shared: float
    is_together: bool
    n_users: int = 40

    @property
    def kind(self) -> str:
        """Of the questions."""
        return "scale" if self.n_scales else "number"

    def items(self) -> pd.DataFrame:
        """The questions."""
        names = [f"{k:05}" for k in range(max(1, self.n_scales))]
        items = pd.DataFrame({"item_id": names, "kind": self.kind, "task": "main"})
        points = [1.0, 2.0, 3.0, 4.0, 5.0] if self.n_scales else None
        return items.assign(points=pd.Series([points] * len(names), dtype=object))

    def draw(
        self, n: int, random: np.random.Generator, *, has_effect: bool, has_users: bool = True
    ) -> Floats:
        """Answers to questions of users or reruns: shape (questions, units)."""
        spread = np.sqrt(FREEDOM / (FREEDOM - 2))
        if not self.n_scales:
            latent = random.normal(size=(1, n)) + self.shift * has_effect
            return np.round(np.exp(SKEW * latent) * 20)
        common, single = (
            random.standard_t(FREEDOM, size=(k, n)) / spread for k in (1, self.n_scales)
        )
        shared = self.shared if has_users else 0.0
        latent = np.sqrt(shared) * common + np.sqrt(1 - shared) * single + self.shift * has_effect
        points: Floats = 1.0 + (latent[..., None] > CUTS).sum(axis=-1)
        return points

    def frame(self, condition: str, random: np.random.Generator) -> pd.DataFrame:
        """The answers of a condition."""
        is_user, has_effect = condition in USERS, condition == USERS[0]
        values = self.draw(self.n_users, random, has_effect=has_effect, has_users=is_user)
        item, unit = np.indices(values.shape).reshape(2, -1)
        letters = np.array(list("ABCDE"))[values.ravel().astype(int) - 1] if self.n_scales else None
        return pd.DataFrame(
            {
                "model": "m",
                "task": "main",
                "condition": condition,
                "item_id": [f"{k:05}" for k in item],
                "kind": self.kind,
                "puppet_id": [f"p{k:04}" for k in unit] if is_user else None,
                "replicate": 0 if is_user else unit,
                "outcome": "ok",
                "items": None,
                "letter": letters,
                "value": values.ravel(),
                "reason": None,
            }
        )

    def source(self) -> Source:
        """Difference and likeness are read off many users; the former in pooled standard deviations."""
        random = np.random.default_rng(5)
        moved, flat = (self.draw(10 * MANY, random, has_effect=effect) for effect in (True, False))
        spread = np.sqrt((moved.var(axis=1) + flat.var(axis=1)) / 2)
        difference = float(((moved.mean(axis=1) - flat.mean(axis=1)) / spread).mean())
        likeness = likeness_of(flat) if self.n_scales > 1 else 0.0
        kind = f"{self.n_scales} scales" if self.n_scales else "a skewed number"
        place = f"{kind}{' together' * self.is_together}, {difference:.2f} sd higher"
        name = f"{place}, {self.shared:.0%} of a user in all questions"
        effects, supposed = {"values": [difference]}, {"likeness": likeness}
        return Source(name, 1, False, _no_answers, effects, supposed)


def _values(study: ValuedStudy, sets: Sets) -> Lines:
    claims, items = [], study.items()
    effect = ("value", USERS[0], None if study.is_together else "00000")
    for number in range(sets.n):
        rows = measure_value_comparisons(
            pd.concat(study.frame(name, sets.random) for name in ("offline", *USERS)),
            items,
            baseline="offline",
            n_permutations=VALUE_PERMUTATIONS,
            seed=sets.seed + number,
            rarest_users=RAREST,
        )
        claims.append(
            is_claimed(
                {"value_comparisons": rows},
                VALUE_RULES,
                lambda claim: (claim.measure, claim.condition, claim.item_id) == effect,
            )
        )
    source, n = study.source(), study.n_scales
    power = power_of(
        "value",
        study.n_users,
        source,
        {"main": PlannedTask({"scale": n, "number": int(not n)})},
        rules=VALUE_RULES,
        n_permutations=VALUE_PERMUTATIONS,
        place=int(study.is_together),
    )
    yield from lines_of("value", source.name, {"": power}, claims)


SIMULATIONS = (
    *(
        Simulation("power", _scores, (study,), "", f"{study.n_users} users", (16,))
        for study in (
            ScoredStudy(0.05, 0.05, 1.0, 40, 0.794),
            ScoredStudy(0.02, 0.0, 0.1, 100, 0.537),
        )
    ),
    *(
        Simulation("power", _values, (study,), "", f"{study.n_users} users", (17,))
        for study in (
            ValuedStudy(0.35, 4, 0.0, is_together=True),
            ValuedStudy(0.45, 4, 0.5, is_together=True),
            ValuedStudy(0.8, 4, 0.5, is_together=False),
            ValuedStudy(0.7, 0, 0.0, is_together=False),
        )
    ),
)
