"""Whether a condition predicts the field's order: intervals, ceilings, and changes of place."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from outcomes import Job, Outcome, outcome
from populations import LETTERS, SHARES, Floats, Zipf, draw_letters, draw_lists

from fieldwork.metrics.agreement.items import entropy_gap, rank_change_p_values
from fieldwork.metrics.agreement.values import AnswerSample, measure_item, split_half_reliability
from fieldwork.statistics import rank_correlation
from fieldwork.statistics.families import holm
from fieldwork.statistics.rank_correlation import correlate_ranks, tau_permutation_test
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_USERS

PART = "agreement"
CORRELATIONS = (0.0, 0.4, 0.8, 0.95)
ITEMS, OPTIONS, OFFLINE, HABIT = 9, 60, 40, 1.0
EXPONENTS = np.linspace(1.0, 1.8, ITEMS)
ORDERS = (
    "one order",
    "one order, offline steeper",
    "a prompt falls from first to last",
    "no order offline",
)
SHARES_FLAT = np.array([0.4, 0.3, 0.2, 0.1])


def jobs() -> Iterator[Job]:
    """Pairs of values with a known correlation, and lists of nine prompts."""
    for n in (5, 9, 15, 60):
        for correlation in CORRELATIONS:
            yield partial(_pairs, n, correlation)
    for participants in (10, 40):
        for order in ORDERS:
            yield partial(_lists, participants, order)
    for n in (5, 10, 40):
        yield partial(_letters, n)


def _pairs(n: int, correlation: float, sets: int, seed: int) -> Iterator[Outcome]:
    """Normal pairs: rho is 6/pi asin(r/2), tau 2/pi asin(r)."""
    random = np.random.default_rng([seed, n, int(correlation * 100)])
    intervals: dict[str, list[tuple[float | None, float | None]]] = {"rho": [], "tau_b": []}
    values: dict[str, list[float | None]] = {"rho": [], "tau_b": []}
    p_values: list[float | None] = []
    for _ in range(max(1, sets // (2 if n < 15 else 4))):
        x, noise = random.normal(size=(2, n))
        y = correlation * x + math.sqrt(1 - correlation**2) * noise
        rank_correlations = correlate_ranks(x, y)
        # fewer than nine have no interval in a study: these show why
        limits = rank_correlation.percentile_intervals(x, y, random=random)
        for name in intervals:
            values[name].append(getattr(rank_correlations, name))
            interval = getattr(limits, name)
            intervals[name].append(tuple(interval) if interval else (None, None))
        p_values.append(tau_permutation_test(x, y, n_permutations=199, random=random).p_value)
    truths = {
        "rho": 6 / math.pi * math.asin(correlation / 2),
        "tau_b": 2 / math.pi * math.asin(correlation),
    }
    prefix = "discarded: " if n < rank_correlation.MIN_BOOTSTRAP else ""
    for name, truth in truths.items():
        yield outcome(
            PART, f"{prefix}{name}, bootstrap over items",
            f"normal pairs, correlation {correlation:g}", f"{n} items", truth=truth,
            estimates=values[name], intervals=intervals[name],
            p_values=p_values if name == "tau_b" else [],
        )  # fmt: skip


def _lists(participants: int, order: str, sets: int, seed: int) -> Iterator[Outcome]:
    sets = max(1, sets // 4)
    random = np.random.default_rng([seed, participants, ORDERS.index(order)])
    excesses: list[float | None] = []
    first_p: list[float | None] = []
    least_p: list[float | None] = []
    for k in range(sets):
        field = _field(participants, random)
        offline = {
            f"{i}": AnswerSample(_named(draw_lists(
                np.broadcast_to(log_weights, (OFFLINE, OPTIONS)), random)), [""] * OFFLINE, None)
            for i, log_weights in enumerate(_offline(order))
        }  # fmt: skip
        n_equal = min(participants, OFFLINE)
        sides = [
            [
                measure_item(s, "entropy_bits", n_equal, generator(seed, str(k), name, i))
                for i, s in samples.items()
            ]
            for name, samples in (("field", field), ("offline", offline))
        ]
        p_holm = holm(rank_change_p_values(*sides, random=random))
        first_p.append(p_holm[0])
        least_p.append(min(p_holm))
        if order.startswith("one order"):
            correlation = correlate_ranks([v.value for v in sides[0]], [v.value for v in sides[1]])
            field_reliability, offline_reliability = (
                split_half_reliability(
                    samples, "entropy_bits", seed=seed, names=(str(k), name)
                ).whole
                or 0.0
                for name, samples in (("field", field), ("offline", offline))
            )
            if min(field_reliability, offline_reliability) > 0 and correlation.rho is not None:
                excesses.append(
                    correlation.rho - math.sqrt(field_reliability * offline_reliability)
                )
    where = f"{participants} participants, {OFFLINE} offline"
    if excesses:
        yield outcome(
            PART,
            "rho - ceiling",
            f"lists, {ITEMS} prompts, {order}",
            where,
            truth=0.0,
            estimates=excesses,
        )
    if order.startswith("a prompt"):
        yield outcome(
            PART, "change of place of the prompt, Holm", f"lists, {ITEMS} prompts, {order}", where,
            truth=None, p_values=first_p,
        )  # fmt: skip
    else:
        yield outcome(
            PART, "change of place of any prompt, Holm", f"lists, {ITEMS} prompts, {order}", where,
            truth=None, p_values=least_p,
        )  # fmt: skip


def _field(participants: int, random: np.random.Generator) -> dict[str, AnswerSample]:
    habits = HABIT * random.normal(size=(participants, OPTIONS))
    names = [f"p{k:04}" for k in range(participants)]
    return {
        f"{i}": AnswerSample(
            _named(draw_lists(Zipf(OPTIONS, exponent).log_weights() + habits, random)), names, None
        )
        for i, exponent in enumerate(EXPONENTS)
    }


def _offline(order: str) -> list[Floats]:
    exponents = EXPONENTS.copy()
    if order.endswith("steeper"):
        exponents = 0.8 + 1.2 * (EXPONENTS - 0.8) ** 1.5
    if order.startswith("a prompt"):
        exponents[0] = 1.9
    if order.startswith("no order"):
        exponents[:] = 1.4
    return [Zipf(OPTIONS, float(e)).log_weights() for e in exponents]


def _named(lists: np.ndarray) -> list[tuple[str, ...]]:
    return [tuple(f"o{k:02}" for k in sorted(row)) for row in lists.tolist()]


def _letters(n: int, sets: int, seed: int) -> Iterator[Outcome]:
    """The gap of two entropies of letters, each at n answers."""
    random = np.random.default_rng([seed, n])
    big = [
        _entropies(draw_letters(s[None, :].repeat(20_000, 0), n, random))
        for s in (SHARES, SHARES_FLAT)
    ]
    truth = float(big[1].mean() - big[0].mean())
    gaps = []
    intervals: list[tuple[float | None, float | None]] = []
    for _ in range(sets):
        here, there = (
            measure_item(
                AnswerSample([(str(x),) for x in LETTERS[draw_letters(s, n, random)]], [""] * n, None),
                "entropy_bits", n, random,
            )
            for s in (SHARES_FLAT, SHARES)
        )  # fmt: skip
        gaps.append(here.value - there.value)
        intervals.append(entropy_gap(here, there, RAREST_USERS) or (None, None))
    yield outcome(
        PART,
        "entropy gap",
        "letters",
        f"n {n} and {n}",
        truth=truth,
        estimates=gaps,
        intervals=intervals,
    )


def _entropies(letters: np.ndarray) -> Floats:
    shares = np.stack([(letters == k).mean(axis=1) for k in range(4)], axis=1)
    bits: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    return bits
