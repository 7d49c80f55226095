"""Tests between conditions: where nothing differs, where all but the tested measure does, and an effect.

A puppet has a favourite letter, drawn from the condition's shares, and gives it with some chance; else
it draws anew from the shares. So the shares of letters do not depend on the chance, and the share of
variance from who asks is its square, whatever the shares: one can differ while the other does not.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import LETTERS, SHARES, Floats, Ints, letter_table, rarest_covered

from fieldwork.estimates.answer_sets import Arm, read_answer_sets
from fieldwork.metrics.arms.tests import StudyArm, measure_arm_tests
from fieldwork.metrics.arms.values import MEASURES, all_cells, arm_values, build_cells
from fieldwork.statistics.arrays import Indices
from fieldwork.statistics.permutation import TIE, random_p_value

PART = "arms"
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
        own, offline = float((self.shares**2).sum()), float((OFFLINE**2).sum())
        return {
            "share_who": self.chance**2 / (FEW if self.is_rare else 1),
            "var_answers": 1 - own,
            "from_baseline": (own + offline) / 2 - float(self.shares @ OFFLINE),
            "em_strict": float(self.shares[0]),
        }[measure]


class Source(NamedTuple):
    """The conditions of a study."""

    name: str
    arms: tuple[Habit, ...]


class Size(NamedTuple):
    """Puppets of each condition, the same ones if there is one number."""

    puppets: tuple[int, ...]
    items: int = 9

    @property
    def is_paired(self) -> bool:
        """Whether the puppets stand in all conditions."""
        return len(self.puppets) == 1

    def name(self) -> str:
        """As the tables call it."""
        puppets = " and ".join(map(str, self.puppets))
        return f"{puppets} puppets{' in all' if self.is_paired else ''}, {self.items} items"


ALIKE = Source("alike", (Habit(SHARES, 0.5), Habit(SHARES, 0.5)))
ONE_WITH_HABITS = Source("one with habits", (Habit(SHARES, 0.9), Habit(SHARES, 0.0)))
ONE_SURER = Source("one surer", (Habit(SURE, 0.5, False), Habit(SHARES, 0.5, False)))
RARE = Source("one surer, habits over items", (Habit(SURE, 0.5), Habit(SHARES, 0.5)))
OPPOSITE = Source("apart in opposite directions", (Habit(SHARES, 0.5), Habit(OTHER_SIDE, 0.5)))
ODD = Source(
    "odd puppets, one in ten",
    (Habit(SHARES, 0.9, is_rare=True), Habit(SHARES, 0.9 / FEW**0.5)),
)
SHORTER = Source("habits fade", tuple(Habit(SHARES, c) for c in (0.9, 0.7, 0.5, 0.3, 0.1, 0.0)))
SAME = Source("alike, six conditions", (Habit(SHARES, 0.5),) * 6)
DRIFT = Source(
    "letters drift, six conditions",
    tuple(Habit(OFFLINE + step * (SHARES - OFFLINE), 0.5) for step in np.linspace(0, 2, 6)),
)
CASES = (
    *((ALIKE, Size(n)) for n in ((10, 10), (10, 40), (8,), (20,))),
    *((ONE_WITH_HABITS, Size(n)) for n in ((10, 40), (40, 10), (20, 20), (10,), (20,))),
    *((ONE_SURER, Size(n)) for n in ((10, 40), (20, 20), (20,))),
    (ONE_SURER, Size((10, 40), 75)),
    *((RARE, Size(n)) for n in ((10, 40), (20, 20), (40, 40), (20,))),
    *((OPPOSITE, Size(n)) for n in ((40, 40), (40,))),
    *((ODD, Size(n)) for n in ((10, 10), (40, 40))),
    *((source, Size((n,))) for source in (SAME, SHORTER, DRIFT) for n in (10, 20)),
)


def jobs() -> Iterator[Job]:
    """Pairs of conditions, and trends over six."""
    for source, size in CASES:
        yield partial(_simulate, source, size)


def _simulate(source: Source, size: Size, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, len(source.name), size.items, *size.puppets])
    letters = _draw_arms(source, size, sets, random)
    offline = random.choice(4, p=OFFLINE, size=(sets, size.items, OFFLINE_ANSWERS, 1))
    is_trend = len(source.arms) > 2
    frame, runs = _tables(letters, offline, is_paired=size.is_paired)
    arms = [StudyArm(f"c{k}", k) for k in range(len(source.arms))]
    rows = measure_arm_tests(
        frame,
        runs,
        arms=arms,
        trend=is_trend,
        baseline="offline",
        rarest_users=rarest_covered(min(size.puppets)),
    )
    ranks = np.arange(len(arms)) - (len(arms) - 1) / 2
    weights = ranks / (ranks**2).sum() if is_trend else np.array([1.0, -1.0])
    permuted = _permutation_tests(frame, runs, weights, size, random)
    for measure in MEASURES:
        truth = round(float(weights @ [arm.truth(measure) for arm in source.arms]), 9) + 0.0
        own = [row for row in rows if row.measure == measure]
        name = f"{'trend' if is_trend else 'difference'} of {measure}"
        yield outcome(
            PART, name, source.name, size.name(), truth=truth,
            estimates=[row.estimate for row in own],
            intervals=[(row.ci_low, row.ci_high) for row in own],
            p_values=[row.p_value for row in own],
        )  # fmt: skip
        if truth == 0:
            yield outcome(
                PART, f"discarded: {name}, values permuted", source.name, size.name(), truth=truth,
                p_values=permuted[measure],
            )  # fmt: skip


def _draw_arms(source: Source, size: Size, sets: int, random: np.random.Generator) -> list[Ints]:
    """Letters of each condition: shape (sets, items, puppets, replicates)."""
    sizes = size.puppets * (len(source.arms) if size.is_paired else 1)
    places = [random.random((sets, size.items, n, 1)) for n in size.puppets]
    draws = []
    for number, (arm, n) in enumerate(zip(source.arms, sizes, strict=True)):
        place = places[0 if size.is_paired else number]
        place = place[:, :1] if arm.over_items else place
        favourites = (place[..., None] > np.cumsum(arm.shares)[:-1]).sum(axis=-1)
        shape = (sets, size.items, n, REPLICATES)
        fresh = random.choice(4, p=arm.shares, size=shape)
        is_odd = random.random((sets, 1, n, 1)) < (1 / FEW if arm.is_rare else 1)
        is_favourite = (random.random(shape) < arm.chance) & is_odd
        draws.append(np.where(is_favourite, favourites, fresh))
    return draws


def _tables(
    letters: list[Ints], offline: Ints, *, is_paired: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The answers, and a run for each replicate of a puppet; the first letter is right."""
    frames = [letter_table(offline, condition="offline", puppets=False)]
    runs = []
    for number, draw in enumerate(letters):
        frame = letter_table(draw, condition=f"c{number}", puppets=True)
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
    size: Size,
    random: np.random.Generator,
) -> dict[str, list[float | None]]:
    """P-values without studentising: sets of answers exchanged within puppets, or whole puppets."""
    by_arm = read_answer_sets(frame)
    scores = runs.groupby(["task", "condition", "puppet_id"])["em_strict"].mean()
    p_values: dict[str, list[float | None]] = {measure: [] for measure in MEASURES}
    for task in frame["task"].unique():
        arms = [by_arm[Arm("m", task, "choice", f"c{k}")] for k in range(len(weights))]
        own = [scores[task, f"c{k}"].to_dict() for k in range(len(weights))]
        baseline = by_arm[Arm("m", task, "choice", "offline")]
        cells = build_cells(arms, [sorted(names) for names in own], baseline, own)
        order = _orders(cells.n_puppets, random, is_paired=size.is_paired)
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
