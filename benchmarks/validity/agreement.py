"""Whether a condition predicts the field's order: intervals, ceilings, and changes of place."""

import math
from itertools import product

import numpy as np
from populations import LETTERS, SHARES, Floats, Ints, Zipf, draw_letters, draw_lists
from simulations import Line, Lines, Sets, Simulation, columns_of

from fieldwork.metrics.agreement.items import entropy_gap, rank_change_p_values
from fieldwork.metrics.agreement.values import AnswerSample, measure_item, split_half_reliability
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.families import holm
from fieldwork.statistics.rank_correlation import (
    MIN_BOOTSTRAP,
    correlate_ranks,
    percentile_intervals,
    tau_permutation_test,
)
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_USERS

ITEMS, OPTIONS, OFFLINE, HABIT = 9, 60, 40, 1.0
EXPONENTS = np.linspace(1.0, 1.8, ITEMS)
ORDERS = {
    "one order": EXPONENTS,
    "one order, offline steeper": 0.8 + 1.2 * (EXPONENTS - 0.8) ** 1.5,
    "a prompt falls from first to last": np.array([1.9, *EXPONENTS[1:]]),
    "no order offline": np.full(ITEMS, 1.4),
}
"""Exponents of the prompts offline; in the field they are ascending."""
SHARES_FLAT = np.array([0.4, 0.3, 0.2, 0.1])


def _pairs(n: int, correlation: float, sets: Sets) -> Lines:
    """Normal pairs: rho is 6/pi asin(r/2), tau 2/pi asin(r)."""
    pairs = columns_of(sets.each(_pair, n, correlation))
    # fewer than nine have no interval in a study: these show why
    prefix = "discarded: " if n < MIN_BOOTSTRAP else ""
    for name, truth, p_values in (
        ("rho", 6 / math.pi * math.asin(correlation / 2), ()),
        ("tau_b", 2 / math.pi * math.asin(correlation), pairs["p_value"]),
    ):
        values = [getattr(correlations, name) for correlations in pairs["correlations"]]
        intervals = [getattr(limits, name) for limits in pairs["limits"]]
        yield Line(f"{prefix}{name}, bootstrap over items", truth, values, intervals, p_values)


def _pair(n: int, correlation: float, random: np.random.Generator) -> dict[str, object]:
    x, noise = random.normal(size=(2, n))
    y = correlation * x + math.sqrt(1 - correlation**2) * noise
    return {
        "correlations": correlate_ranks(x, y),
        "limits": percentile_intervals(x, y, random=random),
        "p_value": tau_permutation_test(x, y, n_permutations=199, random=random).p_value,
    }


def _lists(participants: int, order: str, sets: Sets) -> Lines:
    studies = columns_of(_list_study(participants, order, k, sets) for k in range(sets.n))
    if excesses := studies.get("excess"):
        yield Line("rho - ceiling", 0.0, excesses)
    if order.startswith("a prompt"):
        name, p_values = "the prompt", [p_holm[0] for p_holm in studies["p_holm"]]
    else:
        name, p_values = "any prompt", [min(p_holm) for p_holm in studies["p_holm"]]
    yield Line(f"change of place of {name}, Holm", p_values=p_values)


def _list_study(participants: int, order: str, k: int, sets: Sets) -> dict[str, object]:
    """Corrected p-values of changes of place; of one order, the correlation less its ceiling."""
    habits = HABIT * sets.random.normal(size=(participants, OPTIONS))
    people = [f"p{k:04}" for k in range(participants)]
    samples = {
        "field": [_sample(exponent, habits, people, sets.random) for exponent in EXPONENTS],
        "offline": [
            _sample(exponent, np.zeros((OFFLINE, 1)), [""] * OFFLINE, sets.random)
            for exponent in ORDERS[order]
        ],
    }
    n_equal = min(participants, OFFLINE)
    field, offline = (
        [
            measure_item(s, "entropy_bits", n_equal, generator(sets.seed, str(k), name, f"{i}"))
            for i, s in enumerate(side)
        ]
        for name, side in samples.items()
    )
    study: dict[str, object] = {
        "p_holm": holm(rank_change_p_values(field, offline, random=sets.random))
    }
    if order.startswith("one order"):
        rho = correlate_ranks([v.value for v in field], [v.value for v in offline]).rho
        reliabilities = [
            split_half_reliability(
                {f"{i}": s for i, s in enumerate(side)}, "entropy_bits", seed=sets.seed,
                names=(str(k), name),
            ).whole
            or 0.0
            for name, side in samples.items()
        ]  # fmt: skip
        if min(reliabilities) > 0 and rho is not None:
            study["excess"] = rho - math.sqrt(math.prod(reliabilities))
    return study


def _sample(
    exponent: float, habits: Floats, people: list[str], random: np.random.Generator
) -> AnswerSample:
    lists = draw_lists(
        np.broadcast_to(Zipf(OPTIONS, exponent).log_weights() + habits, (len(people), OPTIONS)),
        random,
    )
    options = [tuple(f"o{k:02}" for k in sorted(row)) for row in lists.tolist()]
    return AnswerSample(options, people, None)


def _letters(n: int, sets: Sets) -> Lines:
    """The gap of two entropies of letters, each at n answers."""
    usual, flat = (
        _mean_entropy(draw_letters(s[None, :].repeat(20_000, 0), n, sets.random))
        for s in (SHARES, SHARES_FLAT)
    )
    pairs = [
        [
            measure_item(
                AnswerSample(
                    [(str(x),) for x in LETTERS[draw_letters(s, n, sets.random)]], [""] * n, None
                ),
                "entropy_bits", n, sets.random,
            )
            for s in (SHARES_FLAT, SHARES)
        ]
        for _ in range(sets.n)
    ]  # fmt: skip
    gaps = [here.value - there.value for here, there in pairs]
    intervals = [entropy_gap(here, there, RAREST_USERS) for here, there in pairs]
    yield Line("entropy gap", flat - usual, gaps, intervals)


def _mean_entropy(letters: Ints) -> float:
    counts = np.stack([(letters == k).sum(axis=1) for k in range(4)], axis=1)
    return float(plug_in_bits(counts).mean())


SIMULATIONS = (
    *(
        Simulation(
            "agreement", _pairs, (n, correlation), f"normal pairs, correlation {correlation:g}",
            f"{n} items", (n, int(correlation * 100)), 2 if n < 15 else 4,
        )
        for n, correlation in product((5, 9, 15, 60), (0.0, 0.4, 0.8, 0.95))
    ),
    *(
        Simulation(
            "agreement", _lists, (participants, order), f"lists, {ITEMS} prompts, {order}",
            f"{participants} participants, {OFFLINE} offline",
            (participants, [*ORDERS].index(order)), 4,
        )
        for participants, order in product((10, 40), ORDERS)
    ),
    *(
        Simulation("agreement", _letters, (n,), "letters", f"n {n} and {n}", (n,))
        for n in (5, 10, 40)
    ),
)  # fmt: skip
