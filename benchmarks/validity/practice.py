"""Whether models stand in one order offline and in practice: the exact test, turned pairs, drops."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from outcomes import Job, Outcome, outcome
from populations import Floats

from fieldwork.metrics.practice.drops import explain_drop
from fieldwork.metrics.practice.orders import compare_orders
from fieldwork.metrics.practice.ways import WayScores
from fieldwork.statistics.shapley import all_combinations

PART = "practice"
MODELS = (3, 4, 5, 7, 9, 12)
NOISE, RUNS = 0.02, 5
"""Spread of the reruns of a model, and how many there are each way."""
RELATIONS = (
    "no relation",
    "no relation, ties",
    "perfect relation",
    "one order, differences of noise",
)
STEPS = {"casual": 0.05, "translated": 0.20, "typos": 0.10}


def jobs() -> Iterator[Job]:
    """Orders of few and many models, then parts of a drop."""
    for n_models in MODELS:
        for relation in RELATIONS:
            yield partial(_orders, n_models, relation)
    for n_models in (1, 3):
        yield partial(_drops, n_models)


def _orders(n_models: int, relation: str, sets: int, seed: int) -> Iterator[Outcome]:
    sets = max(1, sets // (4 if n_models > 7 else 1))
    random = np.random.default_rng([seed, n_models, RELATIONS.index(relation)])
    p_values: list[float | None] = []
    turned_pairs: list[float | None] = []
    for _ in range(sets):
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
        order, _ = compare_orders(sides[0], sides[1], n_permutations=199, random=random)
        p_values.append(order.p_value)
        if relation.startswith("one order"):
            turned_pairs.append(float(order.n_beyond_chance > 0))
    size = f"{n_models} models"
    yield outcome(PART, "rho, permutation test", relation, size, truth=None, p_values=p_values)
    if turned_pairs:
        yield outcome(
            PART,
            "share of orders with a pair turned beyond chance",
            relation,
            f"{size}, {RUNS} runs each way",
            truth=0.0,
            estimates=turned_pairs,
        )


def _scores(
    levels: np.ndarray, spread: float, digits: int, random: np.random.Generator
) -> dict[str, WayScores]:
    runs = np.round(levels[:, None] + spread * random.normal(size=(len(levels), RUNS)), digits)
    return {f"m{k:02}": WayScores(tuple(row)) for k, row in enumerate(runs.tolist())}


def _drops(n_models: int, sets: int, seed: int) -> Iterator[Outcome]:
    """Variants that add up: each explains what it takes."""
    random = np.random.default_rng([seed, n_models])
    parts: dict[str, list[float | None]] = {step: [] for step in STEPS}
    intervals: dict[str, list[tuple[float | None, float | None]]] = {step: [] for step in STEPS}
    for _ in range(max(1, sets // 2)):
        scores = {
            steps: _scores(
                np.full(n_models, 0.8 - sum(STEPS[step] for step in steps)), NOISE, 9, random
            )
            for steps in all_combinations(STEPS)
        }
        for part in explain_drop(scores):
            if part.model is None:
                parts[part.variant].append(part.drop)
                intervals[part.variant].append((part.ci_low, part.ci_high))
    for step, truth in STEPS.items():
        yield outcome(
            PART,
            "part of the drop, Shapley",
            f"{step} takes {truth:g} of {sum(STEPS.values()):g}",
            f"{n_models} model{'s' * (n_models > 1)}, {RUNS} runs of each of 8 combinations",
            truth=truth,
            estimates=parts[step],
            intervals=intervals[step],
        )
