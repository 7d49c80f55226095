"""Sources of whole studies whose truth is known, for every measure that is declared.

A user has habits that are the same for all prompts; an answer without a user has habits of its own, drawn
alike, so that the sides differ in nothing but the effect.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from populations import Floats, Ints, draw_options, rarest_covered

from fieldwork.estimates.table import OTHER_GROUPS, EstimateSettings
from fieldwork.records.field import FIELD
from fieldwork.statistics.arrays import Flags
from fieldwork.statistics.user_intervals import RAREST_PROMPTS

BASELINE, CONDITION, GROUPS = "offline", "c", OTHER_GROUPS.versus
PERMUTATIONS = 199
EXPONENT, HABIT = 1.5, 0.2
"""Options weigh 1 / rank ** exponent; a habit is a spread of exponents."""
NUMBERS: Mapping[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "skewed": lambda random, shape: random.lognormal(-0.5, 1.0, shape),
    "normal": lambda random, shape: random.normal(1.0, 0.5, shape),
    "mostly zero": lambda random, shape: random.binomial(1, 0.1, shape) * random.exponential(10, shape),
}  # fmt: skip
"""Numbers whose mean is 1."""


class Side(NamedTuple):
    """What tells the answers of one side: arrays of shape (sets, prompts, answers).

    Attributes:
        group: of its users; None without users.
    """

    condition: str
    group: str | None
    levels: Floats
    is_odd: Flags
    is_usual: Flags

    def options(self, n_named: int, n_options: int, random: np.random.Generator) -> Ints:
        """Numbers of the options that each answer names, on a new last axis."""
        log_ranks = np.log(np.arange(1, n_options + 1))
        drawn = draw_options((self.levels - EXPONENT)[..., None] * log_ranks, n_named, random)
        drawn = np.where(self.is_odd[..., None], n_options - 1 - drawn, drawn)
        return np.where(self.is_usual[..., None], np.arange(n_named), drawn)

    def numbers(self, distribution: str, random: np.random.Generator) -> Floats:
        """The number of each answer."""
        drawn = NUMBERS[distribution](random, self.levels.shape)
        return np.where(self.is_usual, 0.0, drawn * (1 + self.levels) * (1 + self.is_odd))


class Source(NamedTuple):
    """Answers of some users, and of those that they are compared with.

    Attributes:
        users, others: how many; without users, others are answers to a prompt.
        effect: how far the users' exponents are below the others', and their numbers above.
        affected: chance of a prompt to have the effect.
        odd: chance to be odd: to name most what others name least, or to have twice the number.
        varying: chance of an answer to be another than the usual one.
        reference: the baseline, the field, or the other groups of participants.
        is_drawn_anew: whether each study has prompts of its own.
        numbers: their distribution.
    """

    name: str
    users: int = 40
    others: int = 40
    prompts: int = 9
    effect: float = 0.0
    affected: float = 1.0
    odd: float = 0.0
    varying: float = 1.0
    reference: str = BASELINE
    is_drawn_anew: bool = False
    numbers: str = "skewed"
    rarest_prompts: float = RAREST_PROMPTS

    @property
    def size(self) -> str:
        """As the tables call it."""
        others = {BASELINE: "n {} offline", FIELD: "{} participants", GROUPS: "{} of other groups"}
        names = others[self.reference].format(self.others)
        return f"{self.users} users, {names}, {self.prompts} prompts"

    @property
    def condition(self) -> str:
        """Of the users."""
        return FIELD if self.reference == GROUPS else CONDITION

    @property
    def mean_numbers(self) -> tuple[float, float]:
        """Of the users and of the others."""
        others = self.varying * (1 + self.odd)
        return (1 + self.effect * self.affected) * others, others

    def settings(self) -> EstimateSettings:
        """Intervals cover the rarest users that such a study can name."""
        fewest = self.users if self.reference == BASELINE else min(self.users, self.others)
        rarest = rarest_covered(fewest)
        return EstimateSettings(BASELINE, 1, (), (), rarest, self.rarest_prompts, PERMUTATIONS)

    def sides(self, sets: int, random: np.random.Generator) -> list[Side]:
        """The users, and the others."""
        shape = (sets, self.prompts, 1)
        others = random.uniform(-0.5, 0.5, shape) if self.is_drawn_anew else np.zeros(shape)
        users = others + self.effect * (random.random(shape) < self.affected)
        names = (self.condition, FIELD if self.reference == GROUPS else self.reference)
        groups = ("0", None if self.reference == BASELINE else "1")
        return [
            Side(name, group, *self._draw(n, group is not None, levels, random))
            for name, group, n, levels in zip(
                names, groups, (self.users, self.others), (users, others), strict=True
            )
        ]

    def _draw(
        self, n: int, has_users: bool, levels: Floats, random: np.random.Generator
    ) -> tuple[Floats, Flags, Flags]:
        """Levels, and which answers are odd and usual: a user is odd under all prompts."""
        shape = (*levels.shape[:2], n)
        units = (len(levels), 1, n) if has_users else shape
        return (
            levels + HABIT * random.normal(size=units),
            np.broadcast_to(random.random(units) < self.odd, shape),
            random.random(shape) >= self.varying,
        )


SOURCES = (
    Source("no effect"),
    Source("no effect", numbers="normal"),
    Source("no effect", numbers="mostly zero"),
    Source("an effect", effect=0.3),
    Source("few odd users", odd=0.125),
    Source("few odd users", users=100, others=100, odd=0.05),
    Source("two crowds, a third odd", odd=1 / 3),
    Source("far more users", users=100, others=10),
    Source("far more reruns", others=200),
    Source("nearly always the same", varying=0.005),
    Source("no effect", reference=FIELD),
    Source("an effect", reference=FIELD, effect=0.3),
    Source("few odd users", reference=FIELD, odd=0.125),
    Source("no effect", reference=GROUPS),
    Source("no effect", is_drawn_anew=True),
    Source("an effect on half the prompts", is_drawn_anew=True, effect=0.6, affected=1 / 2),
    Source(
        "an effect on one prompt in seven", prompts=34, is_drawn_anew=True, effect=1.0,
        affected=1 / 7, rarest_prompts=1 / 7,
    ),
)  # fmt: skip
