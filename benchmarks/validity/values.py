"""Scales and numbers from sources that a study may meet: skewed numbers, scales at their floor, refusals.

Numbers are told by their medians and by how often one is the higher; lines that are called *discarded*
are of their means, as pages were before.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from populations import Floats, rarest_covered
from scipy.stats import lognorm, pareto
from simulations import Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.values.comparisons import measure_value_comparisons
from fieldwork.metrics.values.estimates import measure_values
from fieldwork.records.values import ValueComparison
from fieldwork.sections.study import PrimaryEntry
from fieldwork.statistics.user_intervals import mean_difference_interval, mean_interval

PERMUTATIONS = 199
POINTS = [1.0, 2.0, 3.0, 4.0, 5.0]
RULES = ClaimRules([PrimaryEntry(measure="value")], ["c"], [], {})


class Numbers(NamedTuple):
    """A source of numbers with its median and its mean; every user is of the same one."""

    name: str
    draw: Callable[[int, np.random.Generator], Floats]
    median: float
    mean: float


def _of_law(name: str, law: Any) -> Numbers:
    def draw(n: int, random: np.random.Generator) -> Floats:
        return law.rvs(n, random_state=random)

    return Numbers(name, draw, float(law.median()), float(law.mean()))


def _few_in_thousands(n: int, random: np.random.Generator) -> Floats:
    usual = random.normal(20, 3, n)
    return np.where(random.random(n) < 1 / 25, random.uniform(1000, 9000, n), usual)


SKEWED = (
    *(_of_law(f"log-normal numbers, sd {sd:g}", lognorm(sd)) for sd in (1.0, 1.5, 2.0)),
    _of_law("Pareto numbers, 2.2", pareto(2.2)),
    # the median lies where half of all, thus 25/48 of the usual ones, are below
    Numbers("one number in 25 in thousands", _few_in_thousands, 20.1567, 0.96 * 20 + 0.04 * 5000),
)
FLOORS = {"one in 8": (0.875, 0.06, 0.035, 0.02, 0.01), "half": (0.5, 0.25, 0.15, 0.07, 0.03)}
"""Shares of the points of a scale, most answers at the lowest: how many are above it."""


class Answers(NamedTuple):
    """Answers of users and of the baseline to one question; NULL for refusals."""

    users: Sequence[float | None]
    offline: Sequence[float | None]
    kind: str

    def frame(self) -> pd.DataFrame:
        """As a table."""
        rows = [
            {
                "model": "m", "task": "t", "condition": condition, "item_id": "q",
                "kind": self.kind, "puppet_id": f"p{n:04}" if condition == "c" else None,
                "replicate": 0 if condition == "c" else n, "outcome": "ok", "value": value,
            }
            for condition, side in (("c", self.users), ("offline", self.offline))
            for n, value in enumerate(side)
        ]  # fmt: skip
        return pd.DataFrame(rows).astype({"value": "float64"})

    def item(self) -> pd.DataFrame:
        """The question."""
        points = POINTS if self.kind == "scale" else None
        return pd.DataFrame(
            {"item_id": ["q"], "kind": [self.kind], "task": ["t"], "points": [points]}
        )

    def compare(self, seed: int) -> ValueComparison:
        """The two sides."""
        (row,) = measure_value_comparisons(
            self.frame(),
            self.item(),
            baseline="offline",
            n_permutations=PERMUTATIONS,
            seed=seed,
            rarest_users=rarest_covered(len(self.users)),
        )
        return row


def _compared(studies: Sequence[Answers], seed: int) -> list[ValueComparison]:
    return [study.compare(seed + k) for k, study in enumerate(studies)]


def _direction(kind: str, rows: Sequence[ValueComparison]) -> Line:
    """How many studies claim a direction; each has one test."""
    claims = [c for row in rows for c in measure_claims({"value_comparisons": [row]}, RULES)]
    return Line(
        f"a {kind} is higher or lower", claims=[c.direction in ("higher", "lower") for c in claims]
    )


def _numbers(source: Numbers, n: int, sets: Sets) -> Lines:
    """Users and baseline are of one source."""
    sides = [(source.draw(n, sets.random), source.draw(n, sets.random)) for _ in range(sets.n)]
    studies = [Answers(users.tolist(), offline.tolist(), "number") for users, offline in sides]
    rows = _compared(studies, sets.seed)
    medians = [measure_values(study.frame(), study.item())[0] for study in studies]
    yield line_of("median of a number", medians, source.median, value="median", interval="median")
    yield line_of("difference of medians", rows, 0.0, value="difference", interval="ci")
    yield from _ranks(rows)
    rarest = rarest_covered(n)
    yield Line(
        "discarded: mean of a number", source.mean, [float(users.mean()) for users, _ in sides],
        [mean_interval(study.users, rarest) for study in studies],
    )  # fmt: skip
    yield Line(
        "discarded: difference of means of numbers", 0.0,
        intervals=[
            mean_difference_interval(study.users, study.offline, (rarest, None))
            for study in studies
        ],
    )  # fmt: skip


def _ranks(rows: Sequence[ValueComparison]) -> Lines:
    yield line_of(
        "superiority", rows, 0.5, value="superiority", interval="superiority", p_value="p_value"
    )
    yield _direction("number", rows)


def _unequal_spread(n: int, sets: Sets) -> Lines:
    """Users' numbers spread far more than the baseline's around one median: none is the higher one."""
    studies = [
        Answers(
            sets.random.lognormal(0, 1.5, n).tolist(), sets.random.lognormal(0, 0.5, n).tolist(),
            "number",
        )
        for _ in range(sets.n)
    ]  # fmt: skip
    yield from _ranks(_compared(studies, sets.seed))


def _scale(floor: str, n: int, sets: Sets) -> Lines:
    shares = np.array(FLOORS[floor])
    sides = sets.random.choice(POINTS, size=(sets.n, 2, n), p=shares / shares.sum()).tolist()
    studies = [Answers(users, offline, "scale") for users, offline in sides]
    rows, rarest = _compared(studies, sets.seed), rarest_covered(n)
    means = [measure_values(s.frame(), s.item(), rarest_users=rarest)[0] for s in studies]
    truth = float(shares @ POINTS / shares.sum())
    yield line_of("mean of a scale", means, truth, value="mean", interval="ci")
    yield line_of(
        "difference of means of a scale", rows, 0.0,
        value="difference", interval="ci", p_value="p_value",
    )  # fmt: skip
    yield _direction("scale", rows)


def _refusals(n: int, sets: Sets) -> Lines:
    """Users would answer as the baseline does; most with a low answer refuse: 19 % of all."""
    studies = columns_of(sets.each(_refusing_study, n))
    for kind, answers in studies.items():
        rows = _compared(answers, sets.seed)
        yield _direction(kind, rows)
        yield line_of(f"discarded: a {kind}, whatever is missing", rows, p_value="p_value")


def _refusing_study(n: int, random: np.random.Generator) -> dict[str, Answers]:
    users, offline = random.choice(POINTS, size=(2, n), p=[0.18, 0.2, 0.24, 0.2, 0.18])
    is_lost = np.isin(users, (1.0, 2.0)) & (random.random(n) < 0.5)
    answers = [None if lost else v for v, lost in zip(users.tolist(), is_lost, strict=True)]
    return {kind: Answers(answers, offline.tolist(), kind) for kind in ("scale", "number")}


SIMULATIONS = [
    Simulation("values", make, (*arguments, n), source, f"{n} users, n {n} offline", seeds)
    for n in (40, 100)
    for make, arguments, source, seeds in (
        *(
            (_numbers, (numbers,), numbers.name, (n, len(numbers.name), int(100 * numbers.mean)))
            for numbers in SKEWED
        ),
        *(
            (_scale, (floor,), f"a scale, {floor} above its floor", (n, len(floor)))
            for floor in FLOORS
        ),
        (_unequal_spread, (), "log-normal numbers, sd 1.5 and .5", (n, 77)),
        (_refusals, (), "refusals of low answers alone, 19 %", (n, 19)),
    )
]
