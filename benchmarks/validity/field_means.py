"""Heterogeneity of simulated users less the field's: coverage, level, and equivalence within a margin."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Ints, Zipf, draw_lists, list_table, named, rarest_covered

from fieldwork.metrics.agreement.means import measure_field_heterogeneity
from fieldwork.records.field import FIELD, FieldHeterogeneity
from fieldwork.statistics.entropy import plug_in_bits

PART = "field means"
ITEMS, OPTIONS, MARGIN = 9, 60, 0.25
TRUTH_ANSWERS = 40_000
METRICS = {
    "share beyond the top five less the field's": "one_minus_top5_share",
    "entropy less the field's": "entropy_bits",
}
FEWER = 2
"""A data set is a whole study: this many times fewer of them than asked for."""
SIZES = ((10, 40), (40, 40))
LARGE = (100, 100)
"""Puppets, and participants."""


class People(NamedTuple):
    """Users with a liking of their own for each option, the same for all prompts, in log odds.

    `odd` is the share of users who like all options nearly alike; `offline` responses have no user.
    """

    name: str
    exponent: float = 1.5
    habit: float = 1.0
    odd: float = 0.0
    offline: bool = False

    def draw(self, sets: int, n: int, random: np.random.Generator) -> Ints:
        """Lists of shape (sets, items, users, 1, 5)."""
        shape = (sets, 1 if not self.offline else ITEMS, n, 1, OPTIONS)
        weights = Zipf(OPTIONS, self.exponent).log_weights() + self.habit * random.normal(
            size=shape
        )
        is_odd = random.random((*shape[:3], 1, 1)) < self.odd
        weights = np.where(is_odd, Zipf(OPTIONS, 0.3).log_weights(), weights)
        return draw_lists(np.broadcast_to(weights, (sets, ITEMS, n, 1, OPTIONS)), random)

    def expected(self, metric: str, n: int, random: np.random.Generator) -> float:
        """Expected value of a metric of n answers."""
        sets = TRUTH_ANSWERS // n
        counts = named(self.draw(sets, n, random).reshape(sets * ITEMS, n, -1), OPTIONS)
        if metric == "entropy_bits":
            return float(plug_in_bits(counts).mean())
        top_counts = np.sort(counts, axis=1)[:, -5:].sum(axis=1)
        return float((1 - top_counts / counts.sum(axis=1)).mean())


FIELD_PEOPLE = People("participants")
SOURCES = (
    People("puppets like participants"),
    People("puppets without habits", habit=0.0),
    People("puppets of steeper likings", exponent=1.7),
    People("one puppet in ten odd", odd=0.1),
    People("offline, of participants' answers", offline=True),
)


def jobs() -> Iterator[Job]:
    """Every source at both sizes, and the first two of a large study."""
    for source in SOURCES:
        for sizes in SIZES:
            yield partial(_simulate, source, sizes)
    for source in SOURCES[:2]:
        yield partial(_simulate, source, LARGE)


def _simulate(source: People, sizes: tuple[int, int], sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, *source.name.encode(), *sizes])
    all_rows = list(_measured(source, sizes, max(1, sets // FEWER), random))
    n = min(sizes)
    is_alike = source._replace(name="", offline=False) == FIELD_PEOPLE._replace(name="")
    line = partial(
        outcome, PART, source=source.name, size=f"{sizes[0]} puppets, {sizes[1]} participants"
    )
    # the entropy comes last: equivalence is of its differences
    for estimator, metric in METRICS.items():
        rows = [row for row in all_rows if row.metric == metric]
        truth = 0.0
        if not is_alike:
            truth = source.expected(metric, n, random) - FIELD_PEOPLE.expected(metric, n, random)
        intervals = [(row.difference_low, row.difference_high) for row in rows]
        yield line(
            estimator=estimator,
            truth=truth,
            estimates=[row.difference for row in rows],
            intervals=intervals,
            p_values=[row.p_value for row in rows],
        )
    yield line(
        estimator=f"equivalence within {MARGIN:g} bits",
        truth=truth,
        p_values=[_equivalence(bounds, MARGIN) for bounds in intervals],
    )
    if truth:
        yield line(
            estimator="equivalence within the true difference",
            truth=truth,
            p_values=[_equivalence(bounds, abs(truth)) for bounds in intervals],
        )


def _equivalence(bounds: tuple[float | None, float | None], margin: float) -> float | None:
    """0 where the page says equivalent, else 1; None without an interval."""
    low, high = bounds
    return None if low is None or high is None else float(not -margin < low <= high < margin)


def _measured(
    source: People, sizes: tuple[int, int], sets: int, random: np.random.Generator
) -> Iterator[FieldHeterogeneity]:
    here, there = source.draw(sets, sizes[0], random), FIELD_PEOPLE.draw(sets, sizes[1], random)
    answers = pd.concat(
        [
            list_table(here, condition="c", puppets=not source.offline),
            list_table(there, condition=FIELD, puppets=True),
        ]
    )
    rarest = rarest_covered(min(sizes))
    yield from measure_field_heterogeneity(answers, seed=1, rarest_users=rarest)
