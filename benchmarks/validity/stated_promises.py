"""Does `snakemake power` keep its promises where answers state the probabilities of letters?

Whole studies as in `promises`: every condition states each user's probabilities once, the baseline its
own twice. The first condition has an effect: in all prompts, or for single letters in the first one.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from exact import stated_answers
from populations import LETTERS, Floats, by_table, choice_items, score_estimates
from power_sources import EXPONENT, Supposition
from promises import (
    PERMUTATIONS,
    RAREST,
    RULES,
    USERS,
    is_claimed,
    is_effect,
    lines_of,
    power_of,
)
from simulations import Lines, Sets, Simulation

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import question
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.power.study import PlannedTask
from fieldwork.metrics.power.tests_of_probabilities import letter_means, own_probabilities
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.variance import measure_variance
from fieldwork.statistics.entropy import entropy_bits


class StatedPromise(NamedTuple):
    """A study whose answers state probabilities, and the test of its effect.

    Attributes:
        share_who: of the variance of letters, what lies between users.
        before, after: mean probabilities of the letters without the effect and with it.
    """

    measure: str
    n_items: int
    n_users: int
    share_who: float
    before: Floats
    after: Floats

    @property
    def source(self) -> Supposition:
        """What the config of `power` says of such answers."""
        rise = float(entropy_bits(self.after) - entropy_bits(self.before))
        gain = float(self.after[0] - self.before[0])
        change = {"baseline": float(self.before[0]), "condition": float(self.after[0])}
        effects = {"letter_entropy": {"entropy": [rise]}, "score": {"scores": [gain]}}
        spread = float(self.after[0] * (1 - self.after[0])) * self.share_who / self.n_items
        supposed = {"share_who": self.share_who, "sd_users": spread**0.5}
        name = f"{self.n_items} letters, share_who {self.share_who:g}, {self._change()}"
        return Supposition(name, effects.get(self.measure, {"shares": [change]}), supposed)

    def _change(self) -> str:
        if self.measure == "letter_entropy":
            bits = float(entropy_bits(self.after) - entropy_bits(self.before))
            return f"{bits:.2f} bits more"
        return f"{self.before[0]:.0%} to {self.after[0]:.0%}"

    def study(self, random: np.random.Generator) -> pd.DataFrame:
        """Answers of a whole study."""
        baseline = np.broadcast_to(self.before, (1, self.n_items, len(LETTERS)))
        frames = [stated_answers(baseline, "offline", 2, random)]
        for condition in USERS:
            means = np.tile(self.before, (self.n_users, self.n_items, 1))
            if condition == USERS[0]:
                n_moved = 1 if self.measure in ("option_share", "distance") else self.n_items
                means[:, :n_moved] = self.after
            flat = own_probabilities(means.reshape(-1, len(LETTERS)), self.share_who, random)
            frames.append(stated_answers(flat.reshape(means.shape), condition, 1, random))
        return pd.concat(frames, ignore_index=True).assign(task="main")

    def tables(self, frame: pd.DataFrame, seed: int) -> dict[str, Sequence[Any]]:
        """The metric tables of the effect's family."""
        drawing: dict[str, Any] = {"n_permutations": PERMUTATIONS, "seed": seed}
        settings: dict[str, Any] = {"baseline": "offline", "rarest_users": RAREST}
        if self.measure == "option_share":
            return by_table(measure_shifts(frame, **settings))
        if self.measure == "distance":
            return by_table(measure_comparisons(frame, metrics=["js_bits"], **drawing, **settings))
        if self.measure == "letter_entropy":
            of_estimates = EstimateSettings("offline", seed, USERS, rarest_users=RAREST)
            return by_table(estimate_question(question("letters"), frame, of_estimates))
        items = choice_items([*frame["item_id"].unique()], ["s"] * self.n_items)
        runs = measure_runs(frame, items.assign(task="main"))
        return by_table(
            measure_variance(frame, **drawing, **settings),
            measure_score_spreads(runs, **drawing, **settings),
            score_estimates(runs, **drawing, **settings),
        )


def _reach(promise: StatedPromise, sets: Sets) -> Lines:
    source = promise.source
    is_of_effect = partial(is_effect, promise.measure)
    claims = [
        is_claimed(promise.tables(promise.study(sets.random), sets.seed + n), RULES, is_of_effect)
        for n in range(sets.n)
    ]
    tasks = {"main": PlannedTask({"choice": promise.n_items}, promise.n_items)}
    power = power_of(promise.measure, promise.n_users, source, tasks, is_by_probabilities=True)
    yield from lines_of(promise.measure, f"probabilities, {source.name}", {"": power}, claims)


def _two(share: float) -> Floats:
    return np.array([share, 1 - share, 0.0, 0.0])


PROMISES = (
    *(
        StatedPromise(measure, 9, n_users, 0.3, _two(0.6), _two(0.35))
        for measure in ("option_share", "distance")
        for n_users in (20, 40)
    ),
    *(
        StatedPromise("score", 30, 40, share_who, _two(0.6), _two(after))
        for share_who, after in ((0.1, 0.612), (0.5, 0.63))
    ),
    *(
        StatedPromise(
            "letter_entropy", 9, 40, share_who, letter_means(4, EXPONENT), letter_means(4, exponent)
        )
        for share_who, exponent in ((0.1, 1.42), (0.5, 1.3))
    ),
)
SIMULATIONS = tuple(
    Simulation("power", _reach, (promise,), "", f"{promise.n_users} users", (19,))
    for promise in PROMISES
)
