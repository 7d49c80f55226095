"""Whether models stand in one order offline and in practice: the exact test, turned pairs, drops."""

from itertools import product

import numpy as np
from populations import Floats
from simulations import Bounds, Line, Lines, Sets, Simulation, columns_of

from fieldwork.metrics.practice.drops import explain_drop
from fieldwork.metrics.practice.orders import compare_orders
from fieldwork.metrics.practice.ways import WayScores
from fieldwork.records.practice import PracticeOrder
from fieldwork.statistics.shapley import all_combinations

NOISE, RUNS = 0.02, 5
"""Spread of the reruns of a model, and how many there are each way."""
RELATIONS = (
    "no relation",
    "no relation, ties",
    "perfect relation",
    "one order, differences of noise",
)
STEPS = {"casual": 0.05, "translated": 0.20, "typos": 0.10}


def _orders(n_models: int, relation: str, sets: Sets) -> Lines:
    orders = sets.each(_order, n_models, relation)
    yield Line("rho, permutation test", p_values=[order.p_value for order in orders])
    if relation.startswith("one order"):
        yield Line(
            "share of orders with a pair turned beyond chance", 0.0,
            [float(order.n_beyond_chance > 0) for order in orders],
            place={"size": f"{n_models} models, {RUNS} runs each way"},
        )  # fmt: skip


def _order(n_models: int, relation: str, random: np.random.Generator) -> PracticeOrder:
    levels: Floats = 0.4 + 0.3 * random.random(size=n_models)
    if relation == "one order, differences of noise":
        levels = 0.5 + 0.01 * np.arange(n_models, dtype=np.float64)
    practice: Floats = levels - 0.2
    if relation.startswith("no relation"):
        practice = random.permutation(practice)
    # whole tenths tie; without noise reruns would be alike
    spread = 0.0 if relation in ("no relation, ties", "perfect relation") else NOISE
    digits = 1 if relation.endswith("ties") else 9
    sides = [_scores(side, spread, digits, random) for side in (levels, practice)]
    return compare_orders(*sides, n_permutations=199, random=random)[0]


def _scores(
    levels: np.ndarray, spread: float, digits: int, random: np.random.Generator
) -> dict[str, WayScores]:
    runs = np.round(levels[:, None] + spread * random.normal(size=(len(levels), RUNS)), digits)
    return {f"m{k:02}": WayScores(tuple(row)) for k, row in enumerate(runs.tolist())}


def _drops(n_models: int, sets: Sets) -> Lines:
    """Variants that add up: each explains what it takes."""
    parts = columns_of(sets.each(_parts, n_models))
    for step, truth in STEPS.items():
        drops, intervals = zip(*parts[step], strict=True)
        source = f"{step} takes {truth:g} of {sum(STEPS.values()):g}"
        yield Line("part of the drop, Shapley", truth, drops, intervals, place={"source": source})


def _parts(n_models: int, random: np.random.Generator) -> dict[str, tuple[float | None, Bounds]]:
    """The drop that each variant explains, with its interval, over all models."""
    scores = {
        steps: _scores(
            np.full(n_models, 0.8 - sum(STEPS[step] for step in steps)), NOISE, 9, random
        )
        for steps in all_combinations(STEPS)
    }
    return {
        part.variant: (part.drop, (part.ci_low, part.ci_high))
        for part in explain_drop(scores)
        if part.model is None
    }


SIMULATIONS = (
    *(
        Simulation(
            "practice", _orders, (n_models, relation), relation, f"{n_models} models",
            (n_models, RELATIONS.index(relation)), 4 if n_models > 7 else 1,
        )
        for n_models, relation in product((3, 4, 5, 7, 9, 12), RELATIONS)
    ),
    *(
        Simulation(
            "practice", _drops, (n_models,), "",
            f"{n_models} model{'s' * (n_models > 1)}, {RUNS} runs of each of 8 combinations",
            (n_models,), 2,
        )
        for n_models in (1, 3)
    ),
)  # fmt: skip
