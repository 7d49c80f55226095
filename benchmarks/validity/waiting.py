"""Waiting times and prices: quantiles, means, differences to a baseline, and the price of a point.

Logarithms of times are normal with variance 1, of which a part is a user's own, or the load of a server
that changes slowly from call to call.
"""

import math
from datetime import UTC, datetime, timedelta
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pandas as pd
from populations import Floats, rarest_covered
from simulations import Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.service.calls import COLUMNS, arms_of
from fieldwork.metrics.service.scores import PointScore
from fieldwork.metrics.service.table import measure_service
from fieldwork.records.service import ServiceMeasure
from fieldwork.statistics.intervals import Interval, student_interval
from fieldwork.statistics.quantiles import quantile_interval

START = datetime(2026, 11, 2, tzinfo=UTC)
SHARE = 0.5
"""Of the variance of log times: a user's own, or the load's."""
MEMORY = 0.95
"""Correlation of the load at two calls in a row."""
TRUTHS = {
    **{
        f"latency_p{percent}_s": math.exp(NormalDist().inv_cdf(percent / 100))
        for percent in (50, 95, 99)
    },
    "latency_mean_s": math.exp(0.5),
}
RUNS, ITEMS, SCORE, SCORE_SD, CHANCE = 20, 50, 0.6, 0.06, 0.25
INDEPENDENT, BUSY, USERS = "independent calls", "a server that is busy at times", "users differ"


class Size(NamedTuple):
    """Users, none for calls without one, and the calls of each, or of all."""

    users: int
    calls: int

    @property
    def name(self) -> str:
        """As the tables call it."""
        return f"{self.users} users × {self.calls} calls" if self.users else f"{self.calls} calls"

    @property
    def n(self) -> int:
        """Calls in all."""
        return max(1, self.users) * self.calls


SIZES = (
    *((INDEPENDENT, Size(0, calls)) for calls in (150, 400, 2000)),
    *((BUSY, Size(0, calls)) for calls in (400, 2000)),
    *((USERS, Size(100, calls)) for calls in (4, 20)),
)


def _estimates(source: str, size: Size, sets: Sets) -> Lines:
    studies = [_times(source, size, sets.random) for _ in range(sets.n)]
    tables = columns_of(_table(times, source, size) for times in studies)
    for measure, truth in TRUTHS.items():
        yield line_of(measure, tables[measure], truth, value="estimate", interval="ci")
    if source != INDEPENDENT:
        yield Line(
            "discarded: latency_p50_s, calls as independent", TRUTHS["latency_p50_s"],
            intervals=[quantile_interval(times, 0.5) for times in studies],
        )  # fmt: skip


def _times(source: str, size: Size, random: np.random.Generator, factor: float = 1.0) -> Floats:
    """Times in the order of the calls, those of a user together."""
    noise = random.normal(size=size.n)
    if source == INDEPENDENT:
        return factor * np.exp(noise)
    if source == USERS:
        common = np.repeat(random.normal(size=size.users), size.calls)
    else:
        common = random.normal(size=size.n)
        for place in range(1, size.n):
            step = math.sqrt(1 - MEMORY**2) * common[place]
            common[place] = MEMORY * common[place - 1] + step
    return factor * np.exp(math.sqrt(SHARE) * common + math.sqrt(1 - SHARE) * noise)


def _calls(times: Floats, size: Size, condition: str, *, in_order: bool) -> pd.DataFrame:
    n = len(times)
    frame = pd.DataFrame({name: [None] * n for name in COLUMNS}, dtype=object).assign(
        model="m", task="t", condition=condition, outcome="ok", dispatch="live", latency_s=times
    )
    if in_order:
        frame["started_at"] = [START + timedelta(seconds=place) for place in range(n)]
    if size.users:
        frame["puppet_id"] = [f"p{place // size.calls:05d}" for place in range(n)]
    return frame


def _table(times: Floats, source: str, size: Size) -> dict[str, ServiceMeasure]:
    calls = _calls(times, size, "c", in_order=source != INDEPENDENT)
    rarest = rarest_covered(max(2, size.users))
    rows = measure_service(arms_of(calls), {}, baseline="c", rarest_users=rarest)
    return {row.measure: row for row in rows}


def _differences(factor: float, size: Size, sets: Sets) -> Lines:
    tables = columns_of(sets.each(_difference_rows, factor, size))
    for measure in ("latency_mean_s", "latency_p50_s"):
        truth = TRUTHS[measure] * (factor - 1)
        name, rows = f"difference of {measure}", tables[measure]
        yield line_of(name, rows, truth, value="difference", interval="difference")


def _difference_rows(
    factor: float, size: Size, random: np.random.Generator
) -> dict[str, ServiceMeasure]:
    offline = Size(0, 400)
    sides = (
        _calls(_times(USERS, size, random, factor), size, "c", in_order=False),
        _calls(_times(INDEPENDENT, offline, random), offline, "offline", in_order=True),
    )
    rows = measure_service(
        arms_of(pd.concat(sides)), {}, baseline="offline", rarest_users=rarest_covered(size.users)
    )
    return {row.measure: row for row in rows if row.condition == "c"}


def _points(sets: Sets) -> Lines:
    """The price of a point, of calls with log-normal prices and runs with normal scores."""
    truth = ITEMS * math.exp(0.5) / (100 * (SCORE - CHANCE))
    rows = [row for study in sets.each(_point_rows) for row in study]
    yield line_of("usd_point", rows, truth, value="estimate", interval="ci")


def _point_rows(random: np.random.Generator) -> list[ServiceMeasure]:
    calls = _calls(np.ones(400), Size(0, 400), "c", in_order=False)
    calls["cost_usd"] = np.exp(random.normal(size=400))
    scores = random.normal(SCORE, SCORE_SD, RUNS)
    mean, error = float(scores.mean()), float(scores.std(ddof=1)) / math.sqrt(RUNS)
    low, high = student_interval(mean, error, RUNS - 1)
    score = PointScore(
        Quantity(mean, Interval(low, high)),
        Quantity(mean - CHANCE, Interval(low - CHANCE, high - CHANCE)),
        ITEMS,
    )
    table = measure_service(arms_of(calls), {Arm("m", "t", None, "c"): score}, baseline="c")
    return [row for row in table if row.measure == "usd_point"]


SIMULATIONS = (
    *(
        Simulation(
            "waiting", _estimates, (source, size), source, size.name, (*source.encode(), *size), 2
        )
        for source, size in SIZES
    ),
    *(
        Simulation(
            "waiting", _differences, (factor, Size(100, 4)), f"users differ, {source}",
            f"{Size(100, 4).name}, 400 offline", (*source.encode(),), 2,
        )
        for source, factor in (("no effect", 1.0), ("half as long again", 1.5))
    ),
    Simulation(
        "waiting", _points, (), "independent calls and runs", f"400 calls, {RUNS} runs of {ITEMS}",
        (9,), 2,
    ),
)  # fmt: skip
