"""Distances between conditions: what is left of chance, and how often a test errs."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import (
    SHARES,
    Floats,
    Zipf,
    draw_letters,
    draw_lists,
    letter_table,
    list_table,
    puppet_shares,
)

from fieldwork.metrics.comparisons import measure_comparisons, total_variation
from fieldwork.records.metrics import Comparison
from fieldwork.statistics.entropy import jensen_shannon_bits
from fieldwork.statistics.families import holm_by_family

PART = "distance"
PERMUTATIONS = 199
FAMILY = 9
OTHERS = {
    "the same": SHARES,
    "a little apart": np.array([0.45, 0.35, 0.15, 0.05]),
    "far apart": np.array([0.15, 0.25, 0.55, 0.05]),
}
SIZES = ((10, 10), (40, 40), (100, 100), (100, 10))


def jobs() -> Iterator[Job]:
    """Letters near and far, puppets with reruns, lists of one source, and a family of items."""
    for name in OTHERS:
        for sizes in SIZES:
            yield partial(_near_and_far, name, sizes)
    for puppets in (10, 100):
        yield partial(_puppets, puppets)
    for n in (10, 40):
        yield partial(_one_source, n)
    yield _families


def _near_and_far(name: str, sizes: tuple[int, int], sets: int, seed: int) -> Iterator[Outcome]:
    frame = _letters(sets, sizes, OTHERS[name], np.random.default_rng([seed, *sizes, len(name)]))
    truths = _truths(OTHERS[name])
    yield from _told(frame, f"letters, {name}", f"n {sizes[0]} and {sizes[1]}", truths)


def _puppets(puppets: int, sets: int, seed: int) -> Iterator[Outcome]:
    frame = _clustered(sets, puppets, np.random.default_rng([seed, puppets, 7]))
    size = f"{puppets} puppets of 2 answers, n 40 offline"
    yield from _told(frame, "letters, the same, correlation 0.5", size, _truths(SHARES))


def _one_source(n: int, sets: int, seed: int) -> Iterator[Outcome]:
    frame = _lists(max(1, sets // 2), n, np.random.default_rng([seed, n, 8]))
    yield from _told(frame, "lists, the same", f"n {n} and {n}", None)


def _truths(shares: Floats) -> dict[str, float]:
    return {
        "js_bits": float(jensen_shannon_bits(SHARES[None], shares[None])[0]),
        "total_variation": float(total_variation(SHARES[None], shares[None])[0]),
    }


def _letters(
    sets: int, sizes: tuple[int, int], shares: Floats, random: np.random.Generator
) -> pd.DataFrame:
    here = draw_letters(np.broadcast_to(shares, (sets, 1, sizes[0], 4)), 1, random)
    there = draw_letters(np.broadcast_to(SHARES, (sets, 1, 1, 4)), sizes[1], random)
    return pd.concat(
        [
            letter_table(here, condition="c", puppets=True, sets_are="item"),
            letter_table(there, condition="offline", puppets=False, sets_are="item"),
        ]
    )


def _clustered(sets: int, puppets: int, random: np.random.Generator) -> pd.DataFrame:
    here = draw_letters(puppet_shares(0.5, (sets, 1, puppets), random), 2, random)
    there = draw_letters(np.broadcast_to(SHARES, (sets, 1, 1, 4)), 40, random)
    return pd.concat(
        [
            letter_table(here, condition="c", puppets=True, sets_are="item"),
            letter_table(there, condition="offline", puppets=False, sets_are="item"),
        ]
    )


def _lists(sets: int, n: int, random: np.random.Generator) -> pd.DataFrame:
    weights = np.broadcast_to(Zipf(60, 1.5).log_weights(), (sets, 1, n, 1, 60))
    sides = [draw_lists(weights, random) for _ in range(2)]
    return pd.concat(
        [
            list_table(sides[0], condition="c", puppets=True, sets_are="item"),
            list_table(sides[1], condition="offline", puppets=False, sets_are="item"),
        ]
    )


def _measure(frame: pd.DataFrame) -> list[Comparison]:
    return measure_comparisons(frame, baseline="offline", n_permutations=PERMUTATIONS, seed=1)


def _told(
    frame: pd.DataFrame, source: str, size: str, truths: dict[str, float] | None
) -> Iterator[Outcome]:
    rows = _measure(frame)
    for metric in ("js_bits", "total_variation"):
        own = [row for row in rows if row.metric == metric]
        truth = truths[metric] if truths else 0.0
        for estimator, values in (
            (f"{metric}: distance", [row.distance for row in own]),
            (f"{metric}: excess", [row.excess for row in own]),
        ):
            test = [row.p_value for row in own] if "excess" in estimator else []
            yield outcome(
                PART, estimator, source, size, truth=truth, estimates=values, p_values=test
            )


def _families(sets: int, seed: int) -> Iterator[Outcome]:
    """The chance that any of nine items without a difference is found, after Holm."""
    random = np.random.default_rng([seed, FAMILY])
    frames = [
        _letters(FAMILY, (40, 40), SHARES, random).assign(task=f"t{number:05}")
        for number in range(max(1, sets // 4))
    ]
    rows = _measure(pd.concat(frames))
    for metric in ("js_bits", "total_variation"):
        least: dict[str, float] = {}
        own = [row for row in rows if row.metric == metric and row.p_value is not None]
        p_holms = holm_by_family([row.p_value for row in own], [row.task for row in own])
        for row, p_holm in zip(own, p_holms, strict=True):
            least[row.task] = min(p_holm or 0.0, least.get(row.task, 1.0))
        yield outcome(
            PART,
            f"{metric}: any of {FAMILY}, Holm",
            "letters, the same",
            "n 40 and 40",
            truth=None,
            p_values=list(least.values()),
        )
