"""Heterogeneity of lists: values at equal n, and intervals that were discarded."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Ints, Zipf, draw_lists, list_table, named, rarest_covered
from scipy.stats import t as student

from fieldwork.metrics.heterogeneity import measure_heterogeneity, top5_share
from fieldwork.records.metrics import Heterogeneity
from fieldwork.statistics.entropy import plug_in_bits

PART = "heterogeneity"
SOURCES = (Zipf(60, 1.0), Zipf(60, 1.5), Zipf(200, 1.0), Zipf(30, 2.0), Zipf(30, 0.5))
SIZES = ((10, 10), (40, 40), (100, 100), (100, 40))
"""Responses, and responses of the condition it is brought to."""
USERS = (10, 40, 100)
"""Users of one answer each."""
TRUTH_SETS = 4000
DISCARDED_SETS = 400
RESAMPLES = 200


def jobs() -> Iterator[Job]:
    """Every source at every size."""
    for source in SOURCES:
        for n, n_equal in SIZES:
            yield partial(_simulate, source, n, n_equal)
        for n in USERS:
            yield partial(_of_users, source, n)


def _of_users(source: Zipf, n: int, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, source.n_options, int(source.exponent * 10), n])
    truths = _truths(source, n, random)
    bounded = {metric: truths[metric] for metric in ("top5_share", "entropy_bits")}
    lists = _draw(source, sets, n, random)
    yield from _measured(source, lists, n, bounded, random, has_users=True)


def _simulate(source: Zipf, n: int, n_equal: int, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, source.n_options, int(source.exponent * 10), n, n_equal])
    truths = _truths(source, n_equal, random)
    lists = _draw(source, sets, n, random)
    yield from _measured(source, lists, n_equal, truths, random)
    if n == n_equal:
        yield from _discarded(source, lists[:DISCARDED_SETS], truths, random)


def _draw(source: Zipf, sets: int, n: int, random: np.random.Generator) -> Ints:
    weights = np.broadcast_to(source.log_weights(), (n, source.n_options))
    return np.stack([draw_lists(weights, random) for _ in range(sets)])


def _truths(source: Zipf, n: int, random: np.random.Generator) -> dict[str, float]:
    counts = named(_draw(source, TRUTH_SETS, n, random), source.n_options)
    top5, entropy = float(top5_share(counts).mean()), float(plug_in_bits(counts).mean())
    return {
        "unique_items": float((counts > 0).sum(axis=1).mean()),
        "top5_share": top5,
        "entropy_bits": entropy,
    }


def _measured(
    source: Zipf,
    lists: Ints,
    n_equal: int,
    truths: dict[str, float],
    random: np.random.Generator,
    *,
    has_users: bool = False,
) -> Iterator[Outcome]:
    sets, n = lists.shape[:2]
    frame = list_table(lists[:, None, :, None], condition="c", puppets=has_users, sets_are="item")
    if n_equal < n:
        other = _draw(source, sets, n_equal, random)[:, None, :, None]
        small = list_table(other, condition="small", puppets=False, sets_are="item")
        frame = pd.concat([frame, small])
    rows: dict[str, list[Heterogeneity]] = {}
    for row in measure_heterogeneity(frame, seed=1, rarest_users=rarest_covered(n)):
        if row.condition == "c":
            rows.setdefault(row.metric, []).append(row)
    size = f"n {n}" if n == n_equal else f"n {n}, at {n_equal}"
    size = f"{n} users" if has_users else size
    for metric, truth in truths.items():
        yield outcome(
            PART,
            metric,
            source.name(),
            size,
            truth=truth,
            estimates=[row.estimate for row in rows[metric]],
            intervals=[(row.ci_low, row.ci_high) for row in rows[metric]],
        )


def _discarded(
    source: Zipf, lists: Ints, truths: dict[str, float], random: np.random.Generator
) -> Iterator[Outcome]:
    """The recentred bootstrap Fieldwork once used, and the jackknife where it is not used."""
    n = lists.shape[1]
    held: dict[str, list[tuple[float, float]]] = {
        name: [] for name in ("unique_items", "entropy_bits", "top5_share", "jackknife")
    }
    reach = float(student.ppf(0.975, n - 1))
    for sample in lists:
        indicator = np.zeros((n, source.n_options), dtype=np.int64)
        np.put_along_axis(indicator, sample, 1, axis=1)
        counts = indicator.sum(axis=0, keepdims=True)
        drawn = random.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) @ indicator
        for name, measure in (
            ("unique_items", _unique),
            ("entropy_bits", plug_in_bits),
            ("top5_share", top5_share),
        ):
            values, estimate = measure(drawn), float(measure(counts)[0])
            low, high = np.quantile(values, [0.025, 0.975]) + estimate - values.mean()
            held[name].append((float(low), float(high)))
        left_out = _unique(counts - indicator)
        half = reach * np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
        held["jackknife"].append(
            (float(_unique(counts)[0] - half), float(_unique(counts)[0] + half))
        )
    for name, intervals in held.items():
        kind = "jackknife" if name == "jackknife" else "recentred bootstrap"
        metric = "unique_items" if name == "jackknife" else name
        yield outcome(
            PART,
            f"discarded: {metric}, {kind}",
            source.name(),
            f"n {n}",
            truth=truths[metric],
            intervals=intervals,
        )


def _unique(counts: Ints) -> np.ndarray:
    return (counts > 0).sum(axis=1).astype(np.float64)
