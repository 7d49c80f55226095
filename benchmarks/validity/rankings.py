"""Who is ranked first: coverage of the conditional logit, and the test that groups do not matter."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome

from fieldwork.metrics.group_places import COLUMNS, count_first_places, model_first_places

PART = "rankings"
POSITIONS = np.array([0.0, -0.5, -1.0, -1.0])
"""Log odds of being first by position in the prompt."""
GROUPS = {
    "groups matter": np.array([0.0, 0.5, -0.4, 0.0]),
    "positions matter, groups do not": np.zeros(4),
    "nothing matters": np.zeros(4),
}


def jobs() -> Iterator[Job]:
    """Runs of four options."""
    for source in GROUPS:
        for n_runs in (50, 200, 1000):
            yield partial(_rankings, source, n_runs)


def _rankings(source: str, n_runs: int, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, n_runs, [*GROUPS].index(source)])
    positions = POSITIONS if source != "nothing matters" else np.zeros(4)
    truths = {f"group g{k}": GROUPS[source][k] for k in (1, 2)} | {"position 3": positions[2]}
    estimates: dict[str, list[float | None]] = {name: [] for name in truths}
    intervals: dict[str, list[tuple[float | None, float | None]]] = {name: [] for name in truths}
    tests: dict[str, list[float | None]] = {"given position and document": [], "of counts": []}
    for k in range(max(1, sets // 4)):
        rows = _draw(n_runs, GROUPS[source], positions, random)
        model, places = model_first_places(rows), count_first_places(rows, seed=k)
        tests["given position and document"].append(model.tests[0].p_value)
        tests["of counts"].append(places.p_value)
        for effect in model.effects:
            name = f"{effect.covariate} {effect.level}"
            if name in truths:
                estimates[name].append(effect.estimate)
                intervals[name].append(tuple(effect.interval or (None, None)))
    size = f"{n_runs} runs of 4 options"
    for name, truth in truths.items():
        yield outcome(
            PART,
            f"log odds of being first, {name}",
            source,
            size,
            truth=float(truth),
            estimates=estimates[name],
            intervals=intervals[name],
        )
    for name, p_values in tests.items():
        yield outcome(PART, f"test of groups, {name}", source, size, truth=None, p_values=p_values)


def _draw(
    n_runs: int, groups: np.ndarray, positions: np.ndarray, random: np.random.Generator
) -> pd.DataFrame:
    """Groups and documents are dealt to positions; places are in order of utility and Gumbel noise."""
    members = random.permuted(np.tile(np.arange(4), (n_runs, 1)), axis=1)
    documents = random.permuted(np.tile(np.arange(4), (n_runs, 1)), axis=1)
    utilities = groups[members] + positions + random.gumbel(size=(n_runs, 4))
    places = np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1
    runs = np.repeat([f"r{k:05}" for k in range(n_runs)], 4)
    columns = (
        runs,
        np.tile(["o1", "o2", "o3", "o4"], n_runs),
        [f"g{k}" for k in members.ravel()],
        np.tile(np.arange(1, 5), n_runs),
        [f"d{k}" for k in documents.ravel()],
        places.ravel(),
    )
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
