"""Tests between conditions: where nothing differs, where all but the tested measure does, and an effect.

A puppet has a favourite letter, drawn from the condition's shares, and gives it with some chance; else
it draws anew from the shares. So the shares of letters do not depend on the chance, and the share of
variance from who asks is its square, whatever the shares: one can differ while the other does not.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from populations import LETTERS, SHARES, Floats, Ints, answer_table, rarest_covered
from simulations import Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.estimates.answer_sets import Arm, read_answer_sets
from fieldwork.metrics.arms.tests import StudyArm, measure_arm_tests
from fieldwork.metrics.arms.values import MEASURES, all_cells, arm_values, build_cells
from fieldwork.statistics.arrays import Indices
from fieldwork.statistics.permutation import TIE, random_p_value

OFFLINE_ANSWERS, REPLICATES, PERMUTATIONS = 20, 2, 199
OFFLINE = np.array([0.4, 0.3, 0.2, 0.1])
SURE = np.array([0.85, 0.08, 0.05, 0.02])
OTHER_SIDE = 2 * OFFLINE - SHARES
"""As far from the baseline's shares as `SHARES`, in the other direction."""
FEW = 10
"""One puppet in so many is odd, where a few carry the effect."""


class Habit(NamedTuple):
    """A condition: shares of letters, the chance of the favourite, and whether all items share it.

    Where `is_rare` only one puppet in `FEW` has a favourite.
    """

    shares: Floats
    chance: float
    over_items: bool = True
    is_rare: bool = False

    def truth(self, measure: str) -> float:
        """The condition's value."""
        same, offline = float((self.shares**2).sum()), float((OFFLINE**2).sum())
        return {
            "share_who": self.chance**2 / (FEW if self.is_rare else 1),
            "var_answers": 1 - same,
            "from_baseline": (same + offline) / 2 - float(self.shares @ OFFLINE),
            "em_strict": float(self.shares[0]),
        }[measure]


SOURCES = {
    "alike": (Habit(SHARES, 0.5), Habit(SHARES, 0.5)),
    "one with habits": (Habit(SHARES, 0.9), Habit(SHARES, 0.0)),
    "one surer": (Habit(SURE, 0.5, False), Habit(SHARES, 0.5, False)),
    "one surer, habits over items": (Habit(SURE, 0.5), Habit(SHARES, 0.5)),
    "apart in opposite directions": (Habit(SHARES, 0.5), Habit(OTHER_SIDE, 0.5)),
    "odd puppets, one in ten": (
        Habit(SHARES, 0.9, is_rare=True),
        Habit(SHARES, 0.9 / FEW**0.5),
    ),
    "alike, six conditions": (Habit(SHARES, 0.5),) * 6,
    "habits fade": tuple(Habit(SHARES, c) for c in (0.9, 0.7, 0.5, 0.3, 0.1, 0.0)),
    "letters drift, six conditions": tuple(
        Habit(OFFLINE + step * (SHARES - OFFLINE), 0.5) for step in np.linspace(0, 2, 6)
    ),
}
"""The conditions of a study."""
CASES = (
    *(("alike", n, 9) for n in ((10, 10), (10, 40), (8,), (20,))),
    *(("one with habits", n, 9) for n in ((10, 40), (40, 10), (20, 20), (10,), (20,))),
    *(("one surer", n, 9) for n in ((10, 40), (20, 20), (20,))),
    ("one surer", (10, 40), 75),
    *(("one surer, habits over items", n, 9) for n in ((10, 40), (20, 20), (40, 40), (20,))),
    *(("apart in opposite directions", n, 9) for n in ((40, 40), (40,))),
    *(("odd puppets, one in ten", n, 9) for n in ((10, 10), (40, 40))),
    *((source, (n,), 9) for source in [*SOURCES][6:] for n in (10, 20)),
)
"""Sources, puppets of each condition (the same ones if there is one number), and items."""


def _simulate(source: str, puppets: tuple[int, ...], n_items: int, sets: Sets) -> Lines:
    habits, is_paired = SOURCES[source], len(puppets) == 1
    letters = _draw_arms(habits, puppets, n_items, sets)
    shape = (sets.n, n_items, OFFLINE_ANSWERS, 1)
    offline = sets.random.choice(4, p=OFFLINE, size=shape)
    is_trend = len(habits) > 2
    frame, runs = _tables(letters, offline, is_paired=is_paired)
    arms = [StudyArm(f"c{k}", k) for k in range(len(habits))]
    table = measure_arm_tests(
        frame,
        runs,
        arms=arms,
        trend=is_trend,
        baseline="offline",
        rarest_users=rarest_covered(min(puppets)),
    )
    ranks = np.arange(len(arms)) - (len(arms) - 1) / 2
    weights = ranks / (ranks**2).sum() if is_trend else np.array([1.0, -1.0])
    permuted = _permutation_tests(frame, runs, weights, sets.random, is_paired=is_paired)
    rows = columns_of({row.measure: row} for row in table)
    for measure in MEASURES:
        truth = round(float(weights @ [habit.truth(measure) for habit in habits]), 9) + 0.0
        name = f"{'trend' if is_trend else 'difference'} of {measure}"
        yield line_of(
            name, rows.get(measure, []), truth, value="estimate", interval="ci", p_value="p_value"
        )
        if truth == 0:
            yield Line(f"discarded: {name}, values permuted", truth, p_values=permuted[measure])


def _draw_arms(
    habits: tuple[Habit, ...], puppets: tuple[int, ...], n_items: int, sets: Sets
) -> list[Ints]:
    """Letters of each condition: shape (sets, items, puppets, replicates)."""
    random, is_paired = sets.random, len(puppets) == 1
    places = [random.random((sets.n, n_items, n, 1)) for n in puppets]
    draws = []
    for number, habit in enumerate(habits):
        place = places[0 if is_paired else number]
        n = place.shape[2]
        place = place[:, :1] if habit.over_items else place
        favourites = (place[..., None] > np.cumsum(habit.shares)[:-1]).sum(axis=-1)
        shape = (sets.n, n_items, n, REPLICATES)
        fresh = random.choice(4, p=habit.shares, size=shape)
        is_odd = random.random((sets.n, 1, n, 1)) < (1 / FEW if habit.is_rare else 1)
        is_favourite = (random.random(shape) < habit.chance) & is_odd
        draws.append(np.where(is_favourite, favourites, fresh))
    return draws


def _tables(
    letters: list[Ints], offline: Ints, *, is_paired: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The answers, and a run for each replicate of a puppet; the first letter is right."""
    frames, runs = [answer_table(offline, "offline")], []
    for number, draw in enumerate(letters):
        frame = answer_table(draw, f"c{number}")
        if not is_paired:
            frame["puppet_id"] = f"{number}" + frame["puppet_id"]
        frames.append(frame)
        keys = ["model", "task", "condition", "puppet_id", "replicate"]
        is_right = (frame["letter"] == LETTERS[0]).astype(float)
        scores = frame.assign(em_strict=is_right).groupby(keys, as_index=False)["em_strict"].mean()
        runs.append(scores.assign(n_items=draw.shape[1]))
    return pd.concat(frames), pd.concat(runs)


def _permutation_tests(
    frame: pd.DataFrame,
    runs: pd.DataFrame,
    weights: Floats,
    random: np.random.Generator,
    *,
    is_paired: bool,
) -> dict[str, list[float]]:
    """P-values without studentising: sets of answers exchanged within puppets, or whole puppets."""
    by_arm = read_answer_sets(frame)
    scores = runs.groupby(["task", "condition", "puppet_id"])["em_strict"].mean()
    p_values: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    for task in frame["task"].unique():
        arms = [by_arm[Arm("m", task, "choice", f"c{k}")] for k in range(len(weights))]
        of_arms = [scores[task, f"c{k}"].to_dict() for k in range(len(weights))]
        baseline = by_arm[Arm("m", task, "choice", "offline")]
        cells = build_cells(arms, [sorted(names) for names in of_arms], baseline, of_arms)
        order = _orders(cells.n_puppets, random, is_paired=is_paired)
        members = (order[:, None, :] == np.arange(len(weights))[:, None]).astype(np.float64)
        samples = np.concatenate([all_cells(cells.n_puppets)[None], members])
        for measure, values in arm_values(cells, samples).items():
            contrasts = np.abs(values @ weights)
            hits = int((contrasts[1:] >= contrasts[0] - TIE).sum())
            p_values[measure].append(random_p_value(hits, PERMUTATIONS))
    return p_values


def _orders(sizes: list[int], random: np.random.Generator, *, is_paired: bool) -> Indices:
    """The arm of each cell in each permutation: shape (permutations, cells)."""
    if not is_paired:
        arm_of = np.tile(np.repeat(np.arange(len(sizes)), sizes), (PERMUTATIONS, 1))
        return random.permuted(arm_of, axis=1)
    arms = np.tile(np.arange(len(sizes)), (PERMUTATIONS, sizes[0], 1))
    return random.permuted(arms, axis=2).transpose(0, 2, 1).reshape(PERMUTATIONS, -1)


SIMULATIONS = [
    Simulation(
        "arms", _simulate, (source, puppets, n_items), source,
        f"{' and '.join(map(str, puppets))} puppets{' in all' * (len(puppets) == 1)}, "
        f"{n_items} items",
        (len(source), n_items, *puppets),
    )
    for source, puppets, n_items in CASES
]  # fmt: skip
