"""Scales and numbers from sources that a study may meet: skewed numbers, scales at their floor, refusals.

Numbers are told by their medians and by how often one is the higher; lines that are called *discarded*
are of their means, as pages were before.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Floats, rarest_covered
from scipy.stats import lognorm, pareto

from fieldwork.metrics.claims.families import ClaimRules, PrimaryTests
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.values.comparisons import measure_value_comparisons
from fieldwork.metrics.values.estimates import measure_values
from fieldwork.records.claims import Claim
from fieldwork.records.values import ValueComparison
from fieldwork.statistics.user_intervals import mean_difference_interval, mean_interval

PART = "values"
PERMUTATIONS = 199
POINTS = [1.0, 2.0, 3.0, 4.0, 5.0]
RULES = ClaimRules([PrimaryTests("value")], ["c"], [], {})
Draw = Callable[[int, np.random.Generator], Floats]


class Numbers(NamedTuple):
    """A source of numbers with its median and its mean; every user is of the same one."""

    name: str
    draw: Draw
    median: float
    mean: float


def _log_normal(sd: float) -> Numbers:
    law = lognorm(sd)
    return Numbers(
        f"log-normal numbers, sd {sd:g}", lambda n, random: law.rvs(n, random_state=random),
        float(law.median()), float(law.mean()),
    )  # fmt: skip


def _few_in_thousands(n: int, random: np.random.Generator) -> Floats:
    usual = random.normal(20, 3, n)
    return np.where(random.random(n) < 1 / 25, random.uniform(1000, 9000, n), usual)


def _pareto(n: int, random: np.random.Generator) -> Floats:
    values: Floats = pareto(2.2).rvs(n, random_state=random)
    return values


SKEWED = (
    _log_normal(1.0),
    _log_normal(1.5),
    _log_normal(2.0),
    Numbers("Pareto numbers, 2.2", _pareto, float(pareto(2.2).median()), float(pareto(2.2).mean())),
    # the median lies where half of all, thus 25/48 of the usual ones, are below
    Numbers("one number in 25 in thousands", _few_in_thousands, 20.1567, 0.96 * 20 + 0.04 * 5000),
)
FLOORS = {"one in 8": (0.875, 0.06, 0.035, 0.02, 0.01), "half": (0.5, 0.25, 0.15, 0.07, 0.03)}
"""Shares of the points of a scale, most answers at the lowest: how many are above it."""
SIZES = (40, 100)


def jobs() -> Iterator[Job]:
    """Numbers, scales, and refusals of one kind of answer."""
    for n in SIZES:
        for source in SKEWED:
            yield partial(_numbers, source, n)
        for floor in FLOORS:
            yield partial(_scale, floor, n)
        yield partial(_unequal_spread, n)
        yield partial(_refusals, n)


def _sides(
    values: Sequence[float | None], baseline: Sequence[float | None], kind: str
) -> pd.DataFrame:
    sides = (("c", values), ("offline", baseline))
    rows = [
        {
            "model": "m", "task": "t", "condition": condition, "item_id": "q", "kind": kind,
            "puppet_id": f"p{n:04}" if condition == "c" else None,
            "replicate": 0 if condition == "c" else n, "outcome": "ok", "value": value,
        }
        for condition, side in sides
        for n, value in enumerate(side)
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"value": "float64"})


def _items(kind: str) -> pd.DataFrame:
    points = POINTS if kind == "scale" else None
    return pd.DataFrame({"item_id": ["q"], "kind": [kind], "task": ["t"], "points": [points]})


def _compare(frame: pd.DataFrame, n: int, seed: int) -> ValueComparison:
    (row,) = measure_value_comparisons(
        frame,
        _items(str(frame["kind"].iloc[0])),
        baseline="offline",
        n_permutations=PERMUTATIONS,
        seed=seed,
        rarest_users=rarest_covered(n),
    )
    return row


def _claims(rows: Sequence[ValueComparison]) -> list[Claim]:
    """The claim of each study: one test a study."""
    return [claim for row in rows for claim in measure_claims({"value_comparisons": [row]}, RULES)]


def _has_direction(claims: Sequence[Claim]) -> list[float]:
    return [0.0 if claim.direction in ("higher", "lower") else 1.0 for claim in claims]


def _numbers(source: Numbers, n: int, sets: int, seed: int) -> Iterator[Outcome]:
    """Users and baseline are of one source."""
    random = np.random.default_rng([seed, n, len(source.name), int(100 * source.mean)])
    sides = [(source.draw(n, random), source.draw(n, random)) for _ in range(sets)]
    frames = [_sides(here.tolist(), there.tolist(), "number") for here, there in sides]
    rows = [_compare(frame, n, seed + k) for k, frame in enumerate(frames)]
    own = [measure_values(frame, _items("number"))[0] for frame in frames]
    report = partial(outcome, PART, source=source.name, size=f"{n} users, n {n} offline")
    yield report(
        "median of a number", truth=source.median, estimates=[row.median for row in own],
        intervals=[(row.median_low, row.median_high) for row in own],
    )  # fmt: skip
    yield report(
        "difference of medians", truth=0.0, estimates=[row.difference for row in rows],
        intervals=[(row.ci_low, row.ci_high) for row in rows],
    )  # fmt: skip
    yield from _ranks(report, rows)
    rarest = rarest_covered(n)
    old = [mean_interval(here.tolist(), rarest) for here, _ in sides]
    yield report(
        "discarded: mean of a number", truth=source.mean,
        estimates=[float(here.mean()) for here, _ in sides],
        intervals=[i or (None, None) for i in old],
    )  # fmt: skip
    differences = [
        mean_difference_interval(here.tolist(), there.tolist(), (rarest, None))
        for here, there in sides
    ]
    yield report(
        "discarded: difference of means of numbers", truth=0.0,
        intervals=[i or (None, None) for i in differences],
    )  # fmt: skip


def _ranks(report: Callable[..., Outcome], rows: Sequence[ValueComparison]) -> Iterator[Outcome]:
    yield report(
        "superiority", truth=0.5, estimates=[row.superiority for row in rows],
        intervals=[(row.superiority_low, row.superiority_high) for row in rows],
        p_values=[row.p_value for row in rows],
    )  # fmt: skip
    yield report("a number is higher or lower", truth=None, p_values=_has_direction(_claims(rows)))


def _unequal_spread(n: int, sets: int, seed: int) -> Iterator[Outcome]:
    """Users' numbers spread far more than the baseline's around one median: none is the higher one."""
    random = np.random.default_rng([seed, n, 77])
    rows = [
        _compare(
            _sides(
                random.lognormal(0, 1.5, n).tolist(), random.lognormal(0, 0.5, n).tolist(), "number"
            ),
            n,
            seed + k,
        )
        for k in range(sets)
    ]
    report = partial(
        outcome, PART, source="log-normal numbers, sd 1.5 and .5", size=f"{n} users, n {n} offline"
    )
    yield from _ranks(report, rows)


def _scale(floor: str, n: int, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, n, len(floor)])
    shares = np.array(FLOORS[floor])
    sides = random.choice(POINTS, size=(sets, 2, n), p=shares / shares.sum())
    frames = [_sides(here.tolist(), there.tolist(), "scale") for here, there in sides]
    rows = [_compare(frame, n, seed + k) for k, frame in enumerate(frames)]
    own = [
        measure_values(frame, _items("scale"), rarest_users=rarest_covered(n))[0]
        for frame in frames
    ]
    report = partial(
        outcome, PART, source=f"a scale, {floor} above its floor", size=f"{n} users, n {n} offline"
    )
    yield report(
        "mean of a scale", truth=float(shares @ POINTS / shares.sum()),
        estimates=[row.mean for row in own], intervals=[(row.ci_low, row.ci_high) for row in own],
    )  # fmt: skip
    yield report(
        "difference of means of a scale", truth=0.0, estimates=[row.difference for row in rows],
        intervals=[(row.ci_low, row.ci_high) for row in rows], p_values=[r.p_value for r in rows],
    )  # fmt: skip
    yield report("a scale is higher or lower", truth=None, p_values=_has_direction(_claims(rows)))


def _refusals(n: int, sets: int, seed: int) -> Iterator[Outcome]:
    """Users would answer as the baseline does; most with a low answer refuse: 19 % of all."""
    random = np.random.default_rng([seed, n, 19])
    low, refuse = (1.0, 2.0), 0.5
    shares = [0.18, 0.2, 0.24, 0.2, 0.18]
    kinds: dict[str, list[ValueComparison]] = {"scale": [], "number": []}
    for k in range(sets):
        here, there = random.choice(POINTS, size=(2, n), p=shares)
        is_lost = np.isin(here, low) & (random.random(n) < refuse)
        answers: list[Any] = [None if lost else v for v, lost in zip(here, is_lost, strict=True)]
        for kind, rows in kinds.items():
            rows.append(_compare(_sides(answers, there.tolist(), kind), n, seed + k))
    report = partial(
        outcome,
        PART,
        source="refusals of low answers alone, 19 %",
        size=f"{n} users, n {n} offline",
    )
    for kind, rows in kinds.items():
        claims = _has_direction(_claims(rows))
        yield report(f"a {kind} is higher or lower", truth=None, p_values=claims)
        lower = [row.p_value for row in rows]
        yield report(f"discarded: a {kind}, whatever is missing", truth=None, p_values=lower)
