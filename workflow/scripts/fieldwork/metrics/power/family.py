"""The tests that are corrected together with that of a supposed effect, and what is claimed then.

Owns which tests of the planned study are in one family, by the rules of `claims`, and their p-values
where nothing differs. Tests of a whole arm, and distances, keep their level: each has a p-value between 0
and 1, as those of scales and numbers have. Tests of options have few possible p-values, which Holm's
correction makes use of, so they are simulated. Not counted are tests of categories, of groups and against
the field.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.claims.families import PRIMARY, ClaimRules, correct_p_values, family_of
from fieldwork.metrics.claims.measures import ClaimKey
from fieldwork.metrics.power.effects import AnswerSource, LetterSource, ListSource
from fieldwork.metrics.power.lists import draw_lists, log_weights
from fieldwork.metrics.power.outcomes import SimulatedTest
from fieldwork.metrics.power.tests_of_shares import option_tests
from fieldwork.records.field import FIELD
from fieldwork.statistics.arrays import Counts
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.fisher import Support, least_p
from fieldwork.statistics.seeds import generator

N_POOL = 20
"""Simulated tasks without an effect, from which the options' tests of a study are taken."""

_LIST_MEASURES = ("share_who", "entropy_bits")
_LETTER_MEASURES = ("share_who", "score", "score_spread", "novelty")


class PlannedTask(NamedTuple):
    """A task of the study.

    Attributes:
        n_items: prompts whose options and distances are tested.
        n_settled: prompts of them that everybody answers alike.
        runs: users or reruns that the study asks.
        n_values: questions for a point of a scale or a number.
        n_scales: those of them for a point; several are tested together, too.
    """

    source: AnswerSource
    n_items: int
    n_settled: int
    runs: int
    n_values: int = 0
    n_scales: int = 0

    @property
    def arm_measures(self) -> tuple[str, ...]:
        """Measures with one test of a whole arm."""
        return _LIST_MEASURES if isinstance(self.source, ListSource) else _LETTER_MEASURES


class EffectPlace(NamedTuple):
    """The arm in which an effect is supposed."""

    measure: str
    model: str
    task: str
    condition: str


class OptionArms(NamedTuple):
    """Arms of a task whose options are all tested.

    Attributes:
        n_prompts: open prompts of each arm.
        has_place: whether the effect is in one of them.
    """

    task: str
    n_prompts: int
    n_arms: int
    has_place: bool


class Family(NamedTuple):
    """The tests beside that of the effect.

    Attributes:
        name: the family's, as in `claims`.
        n_plain: tests whose p-values may be anything between 0 and 1.
    """

    name: str
    n_plain: int
    options: tuple[OptionArms, ...] = ()


class PlannedTests(NamedTuple):
    """What the study tests, as far as the correction of its tests depends on it.

    Attributes:
        conditions: simulated users; real ones are there where the study has a field.
    """

    models: Sequence[str]
    conditions: Sequence[str]
    tasks: Mapping[str, PlannedTask]
    rules: ClaimRules

    def family(self, place: EffectPlace) -> Family:
        """The family of an effect's test. An effect of real users is that of a study with a field."""
        rules = self.rules
        if place.condition == FIELD and FIELD not in rules.users:
            rules = rules._replace(users=[*rules.users, FIELD])
        conditions = [*self.conditions, *([FIELD] if FIELD in rules.users else [])]
        name = family_of(self._keys(place, with_names=True)[0], rules)
        n_plain, options = 0, list[OptionArms]()
        for task in self.tasks:
            n_arms, n_prompts = 0, 0
            for arm in self._arms(task, conditions):
                keys = self._keys(arm, with_names=name == PRIMARY)
                n_tests = sum(family_of(key, rules) == name for key in keys)
                if arm.measure != "option_share" or keys[0].detail:
                    n_plain += n_tests - (arm == place)
                elif n_tests:
                    n_arms, n_prompts = n_arms + 1, n_tests
            if n_arms:
                has_place = (place.measure, place.task) == ("option_share", task)
                options.append(OptionArms(task, n_prompts, n_arms, has_place))
        return Family(name, n_plain, tuple(options))

    def sizes_with(self, task: str) -> Callable[[int], Mapping[str, int]]:
        """Users of each task where this one has so many; the others have those that the study asks."""
        runs = {name: planned_task.runs for name, planned_task in self.tasks.items()}
        return lambda n_users: runs | {task: n_users}

    def _arms(self, task: str, conditions: Sequence[str]) -> Iterator[EffectPlace]:
        measures = (*self.tasks[task].arm_measures, "value", "distance", "option_share")
        return (
            EffectPlace(measure, model, task, condition)
            for measure in measures
            for model in self.models
            for condition in conditions
            # values are compared with real users', which are secondary tests of another measure
            if measure != "value" or condition != FIELD
        )

    def _keys(self, place: EffectPlace, *, with_names: bool) -> list[ClaimKey]:
        """Keys of an arm's tests of one measure that can count.

        Without a name, an option stands for all of its prompt.

        Args:
            with_names: the items and options that `study.primary` names are there, and first.
        """
        key = ClaimKey(place.measure, place.model, place.task, place.condition, None, None)
        task = self.tasks[place.task]
        if place.measure == "value":
            return self._value_keys(key, task, place if with_names else None)
        if place.measure not in ("distance", "option_share"):
            return [key]
        generic_items = [f"#{k}" for k in range(task.n_items - task.n_settled)]
        names = self._names("items", place) if with_names else []
        options: list[str | None] = [*self._names("options", place)] if with_names else []
        items = [*names, *generic_items][: len(generic_items)]
        return [
            key._replace(item_id=item, detail=option)
            for item in items
            for option in options or [None]
        ]

    def _value_keys(
        self, key: ClaimKey, task: PlannedTask, place: EffectPlace | None
    ) -> list[ClaimKey]:
        """A key for each question, and one without a question for several scales together."""
        names = self._names("items", place) if place else []
        items = [*names, *(f"#{k}" for k in range(task.n_values))][: task.n_values]
        together = [key] if task.n_scales > 1 else []
        return [*together, *(key._replace(item_id=item) for item in items)]

    def _names(self, limit: str, place: EffectPlace) -> list[str]:
        """Items or options that `study.primary` names for a measure of a task."""
        entries = (
            entry
            for entry in self.rules.primary
            if entry.measure == place.measure and (entry.tasks is None or place.task in entry.tasks)
        )
        return [*dict.fromkeys(name for entry in entries for name in getattr(entry, limit) or ())]


class _FlatTests(NamedTuple):
    p_values: list[float]
    supports: list[Support]


class OptionPool:
    """Tests of options in tasks without an effect, simulated once for each task and size."""

    def __init__(self, tests: PlannedTests, seed: int) -> None:
        self._tests = tests
        self._seed = seed
        self._tasks: dict[tuple[str, int], list[list[_FlatTests]]] = {}

    def draw(
        self, arms: OptionArms, n_users: int, random: np.random.Generator
    ) -> Iterator[_FlatTests]:
        """Tests of the arms, prompt by prompt; the prompt of the effect is left out.

        Args:
            n_users: of each arm.
        """
        pool = self._pool(arms.task, n_users)
        for number in range(arms.n_arms):
            prompts = pool[int(random.integers(len(pool)))]
            is_place = arms.has_place and number == 0
            yield from prompts[: arms.n_prompts - is_place]

    def _pool(self, task: str, n_users: int) -> list[list[_FlatTests]]:
        if (task, n_users) not in self._tasks:
            planned_task = self._tests.tasks[task]
            random = generator(self._seed, "power options", *map(repr, planned_task), str(n_users))
            n_open = planned_task.n_items - planned_task.n_settled
            self._tasks[task, n_users] = [
                [_null_prompt(planned_task.source, n_users, random) for _ in range(n_open)]
                for _ in range(N_POOL)
            ]
        return self._tasks[task, n_users]


def _null_prompt(source: AnswerSource, n: int, random: np.random.Generator) -> _FlatTests:
    first, second = (_option_counts(source, n, random) for _ in range(2))
    tests = option_tests(first, second, n)
    return _FlatTests([p for p, _ in tests], [support for _, support in tests])


def _option_counts(source: AnswerSource, n: int, random: np.random.Generator) -> Counts:
    if isinstance(source, LetterSource):
        ones = int(random.binomial(n, source.answer_share))
        return np.array([ones, n - ones])
    shape = (n, source.n_options)
    weights = np.broadcast_to(log_weights(source.n_options, source.exponent), shape)
    counts: Counts = draw_lists(weights, random.gumbel(size=shape), source.n_named).sum(axis=0)
    return counts


class ClaimedShare(NamedTuple):
    """Simulated studies that claim the effect, and the mean number of tests corrected together."""

    n_claimed: int
    n_tests: int


def count_claims(
    simulated_tests: Sequence[SimulatedTest],
    family: Family,
    sizes: Mapping[str, int],
    pool: OptionPool,
    random: np.random.Generator,
) -> ClaimedShare:
    """How many studies claim the effect after correction.

    Args:
        sizes: users of each task.
    """
    n_claimed, n_tests = 0, []
    for test in simulated_tests:
        parts = [
            part for arms in family.options for part in pool.draw(arms, sizes[arms.task], random)
        ]
        p_values = [p for part in parts for p in part.p_values]
        supports = [support for part in parts for support in part.supports]
        plain = random.random(family.n_plain).tolist()
        p_values += [p for p, _ in test.companions] + plain
        supports += [support for _, support in test.companions] + [0.0] * len(plain)
        n_tests.append(len(p_values) + 1)
        n_claimed += _is_claimed(test, p_values, supports, family.name)
    return ClaimedShare(n_claimed, round(float(np.mean(n_tests))))


def _is_claimed(
    test: SimulatedTest, p_values: list[float], supports: list[Support], family: str
) -> bool:
    # a correction only raises a p-value; a test that could not be claimed is set aside, as in `claims`
    if test.p_value is None or test.p_value >= LEVEL or least_p(test.support) >= LEVEL:
        return False
    p_corrected = correct_p_values([test.p_value, *p_values], [test.support, *supports], family)
    return p_corrected[0] < LEVEL
