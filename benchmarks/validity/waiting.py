"""Waiting times and prices: quantiles, means, differences to a baseline, and the price of a point.

Logarithms of times are normal with variance 1, of which a part is a user's own, or the load of a server
that changes slowly from call to call.
"""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Floats, rarest_covered

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.service.calls import COLUMNS, arms_of
from fieldwork.metrics.service.scores import PointScore
from fieldwork.metrics.service.table import measure_service
from fieldwork.records.service import ServiceMeasure
from fieldwork.statistics.intervals import Interval, student_interval
from fieldwork.statistics.quantiles import quantile_interval

PART = "waiting"
START = datetime(2026, 11, 2, tzinfo=UTC)
SHARE = 0.5
"""Of the variance of log times: a user's own, or the load's."""
MEMORY = 0.95
"""Correlation of the load at two calls in a row."""
QUANTILES = {"latency_p50_s": 0.5, "latency_p95_s": 0.95, "latency_p99_s": 0.99}
RUNS, ITEMS, SCORE, SCORE_SD, CHANCE = 20, 50, 0.6, 0.06, 0.25


class Size(NamedTuple):
    """Users, none for calls without one, and the calls of each, or of all."""

    users: int
    calls: int

    def name(self) -> str:
        """As the tables call it."""
        return f"{self.users} users × {self.calls} calls" if self.users else f"{self.calls} calls"

    @property
    def n(self) -> int:
        """Calls in all."""
        return max(1, self.users) * self.calls


SOURCES = {
    "independent calls": (Size(0, 150), Size(0, 400), Size(0, 2000)),
    "a server that is busy at times": (Size(0, 400), Size(0, 2000)),
    "users differ": (Size(100, 4), Size(100, 20)),
}


def jobs() -> Iterator[Job]:
    """Every source at every size, then differences and the price of a point."""
    for source, sizes in SOURCES.items():
        for size in sizes:
            yield partial(_estimates, source, size)
    for source, size in product(("no effect", "half as long again"), (Size(100, 4),)):
        yield partial(_differences, source, size)
    yield _points


def _estimates(source: str, size: Size, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, *source.encode(), *size])
    sets = max(1, sets // 2)
    studies = [_times(source, size, random) for _ in range(sets)]
    tables = [_table(times, source, size) for times in studies]
    line = partial(outcome, PART, source=source, size=size.name())
    truths = {name: math.exp(NormalDist().inv_cdf(share)) for name, share in QUANTILES.items()}
    for measure, truth in (truths | {"latency_mean_s": math.exp(0.5)}).items():
        rows = [table[measure] for table in tables]
        yield line(
            estimator=measure,
            truth=truth,
            estimates=[row.estimate for row in rows],
            intervals=[(row.ci_low, row.ci_high) for row in rows],
        )
    if source != "independent calls":
        yield line(
            estimator="discarded: latency_p50_s, calls as independent",
            truth=truths["latency_p50_s"],
            intervals=[quantile_interval(times, 0.5) or (None, None) for times in studies],
        )


def _times(source: str, size: Size, random: np.random.Generator, factor: float = 1.0) -> Floats:
    """Times in the order of the calls, those of a user together."""
    noise = random.normal(size=size.n)
    match source:
        case "users differ":
            common = np.repeat(random.normal(size=size.users), size.calls)
        case "a server that is busy at times":
            common = _load(size.n, random)
        case _:
            return factor * np.exp(noise)
    return factor * np.exp(math.sqrt(SHARE) * common + math.sqrt(1 - SHARE) * noise)


def _load(n: int, random: np.random.Generator) -> Floats:
    steps, load = random.normal(size=n), np.empty(n)
    load[0] = steps[0]
    for place in range(1, n):
        load[place] = MEMORY * load[place - 1] + math.sqrt(1 - MEMORY**2) * steps[place]
    return load


def _calls(times: Floats, size: Size, condition: str, *, in_order: bool) -> pd.DataFrame:
    n = len(times)
    frame = pd.DataFrame({name: [None] * n for name in COLUMNS}, dtype=object)
    frame = frame.assign(
        model="m", task="t", condition=condition, outcome="ok", dispatch="live", latency_s=times
    )
    if in_order:
        frame["started_at"] = [START + timedelta(seconds=place) for place in range(n)]
    if size.users:
        frame["puppet_id"] = [f"p{place // size.calls:05d}" for place in range(n)]
    return frame


def _table(times: Floats, source: str, size: Size) -> dict[str, ServiceMeasure]:
    calls = _calls(times, size, "c", in_order=source != "independent calls")
    rows = measure_service(
        arms_of(calls), {}, baseline="c", rarest_users=rarest_covered(max(2, size.users))
    )
    return {row.measure: row for row in rows}


def _differences(source: str, size: Size, sets: int, seed: int) -> Iterator[Outcome]:
    random, sets = np.random.default_rng([seed, *source.encode()]), max(1, sets // 2)
    factor, measures = 1.0 if source == "no effect" else 1.5, ("latency_mean_s", "latency_p50_s")
    rows: dict[str, list[ServiceMeasure]] = {measure: [] for measure in measures}
    for _ in range(sets):
        sides = (
            _calls(_times("users differ", size, random, factor), size, "c", in_order=False),
            _calls(_times("", Size(0, 400), random), Size(0, 400), "offline", in_order=True),
        )
        table = measure_service(
            arms_of(pd.concat(sides)),
            {},
            baseline="offline",
            rarest_users=rarest_covered(size.users),
        )
        for row in table:
            if row.condition == "c" and row.measure in measures:
                rows[row.measure].append(row)
    for measure, truth in zip(measures, (math.exp(0.5), 1.0), strict=True):
        yield outcome(
            PART,
            f"difference of {measure}",
            f"users differ, {source}",
            f"{size.name()}, 400 offline",
            truth=truth * (factor - 1),
            estimates=[row.difference for row in rows[measure]],
            intervals=[(row.difference_low, row.difference_high) for row in rows[measure]],
        )


def _points(sets: int, seed: int) -> Iterator[Outcome]:
    """The price of a point, of calls with log-normal prices and runs with normal scores."""
    random, sets, rows = np.random.default_rng([seed, 9]), max(1, sets // 2), []
    for _ in range(sets):
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
        rows += [row for row in table if row.measure == "usd_point"]
    yield outcome(
        PART,
        "usd_point",
        "independent calls and runs",
        f"400 calls, {RUNS} runs of {ITEMS}",
        truth=ITEMS * math.exp(0.5) / (100 * (SCORE - CHANCE)),
        estimates=[row.estimate for row in rows],
        intervals=[(row.ci_low, row.ci_high) for row in rows],
    )
