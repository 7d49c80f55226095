"""The tests that are corrected together with that of a supposed effect, and what is claimed then.

Owns which tests of the planned study are in one family, by the rules of `claims`, and their p-values
where nothing differs. What a task is tested for depends on the kinds of its questions. Tests of a whole
arm, and distances, keep their level: each has a p-value between 0 and 1, as those of scales and numbers
have. Tests of options have few possible p-values, which Holm's correction makes use of, so they are
simulated. Promises as many tests as `claims` has of the measures in `COUNTED_MEASURES`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.claims.families import PRIMARY, ClaimRules, correct_p_values, family_of
from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.metrics.power.effects import AnswerSource, LetterSource
from fieldwork.metrics.power.lists import draw_lists, log_weights
from fieldwork.metrics.power.outcomes import SimulatedTest
from fieldwork.metrics.power.tests_of_shares import option_tests
from fieldwork.records.field import FIELD
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.arrays import Counts
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.fisher import Support, least_p
from fieldwork.statistics.seeds import generator

N_POOL = 20
"""Simulated tasks without an effect, from which the options' tests of a study are taken."""

COUNTED_MEASURES = (
    "share_who",
    "share_user",
    "share_context",
    "entropy_bits",
    "score",
    "score_spread",
    "novelty",
    "value",
    "distance",
    "option_share",
)
"""Measures whose tests are counted: not those of categories, of groups, of two tasks and of the field."""


class TaskQuestions(NamedTuple):
    """How many questions of each kind a task has. Texts have no test.

    Attributes:
        n_graded: choices that have a right answer.
    """

    lists: int = 0
    choices: int = 0
    scales: int = 0
    numbers: int = 0
    n_graded: int = 0

    @property
    def by_kind(self) -> dict[ItemKind, int]:
        """The kinds that are there, the commonest first: each has its own test of who asks."""
        counts: dict[ItemKind, int] = {
            "list": self.lists,
            "choice": self.choices,
            "scale": self.scales,
            "number": self.numbers,
        }
        kinds = sorted(counts, key=lambda kind: -counts[kind])
        return {kind: counts[kind] for kind in kinds if counts[kind]}

    @property
    def options(self) -> int:
        """Questions whose answers are options."""
        return self.lists + self.choices + self.scales

    @property
    def values(self) -> int:
        """Questions whose answers have means."""
        return self.scales + self.numbers


class PlannedTask(NamedTuple):
    """A task of the study.

    Attributes:
        source: of answers that are options.
        n_items: prompts whose options and distances are tested.
        n_settled: prompts of them that everybody answers alike.
        runs: users or reruns that the study asks.
    """

    source: AnswerSource
    n_items: int
    n_settled: int
    runs: int
    questions: TaskQuestions


class EffectPlace(NamedTuple):
    """The arm in which an effect is supposed.

    Attributes:
        is_together: whether it is in the mean of several scales, not in one question.
    """

    measure: str
    model: str
    task: str
    condition: str
    is_together: bool = False


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
        asked_again: conditions in which a user answers a prompt more than once, real users too.
        nests: conditions with the same users, by the one whose users they are.
    """

    models: Sequence[str]
    conditions: Sequence[str]
    tasks: Mapping[str, PlannedTask]
    rules: ClaimRules
    asked_again: Collection[str] = ()
    nests: Mapping[str, Sequence[str]] = {}

    def family(self, place: EffectPlace) -> Family:
        """The family of an effect's test. An effect of real users is that of a study with a field.

        That of who asks is in a study that asks each user of its condition more than once.
        """
        tests = self._with_condition_of(place)
        name = family_of(tests._effect_key(place), tests.rules)
        n_plain, options = 0, list[OptionArms]()
        for task in tests.tasks:
            n_arms, n_prompts = 0, 0
            for arm in tests._arms(task):
                # of options outside the primary family a prompt's stand for themselves
                with_names = name == PRIMARY or arm.measure != "option_share"
                keys = tests._keys(arm, with_names=with_names)
                n_tests = sum(family_of(key, tests.rules) == name for key in keys)
                if arm.measure != "option_share" or (keys and keys[0].detail):
                    n_plain += n_tests - (arm == place._replace(is_together=False))
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

    def _with_condition_of(self, place: EffectPlace) -> "PlannedTests":
        """These tests where the effect's own can be made."""
        rules, asked_again = self.rules, {*self.asked_again}
        if place.condition == FIELD and FIELD not in rules.users:
            rules = rules._replace(users=[*rules.users, FIELD])
        if place.measure == "share_who":
            asked_again.add(place.condition)
        return self._replace(rules=rules, asked_again=asked_again)

    def _arms(self, task: str) -> Iterator[EffectPlace]:
        rules = self.rules
        conditions = [*self.conditions, *([FIELD] if FIELD in rules.users else [])]
        return (
            EffectPlace(measure, model, task, condition)
            for measure in COUNTED_MEASURES
            for model in self.models
            for condition in conditions
            if condition not in rules.later_waves
        )

    def _effect_key(self, place: EffectPlace) -> ClaimKey:
        keys = self._keys(place, with_names=True)
        if place.measure == "value":
            return next(key for key in keys if (key.item_id is None) == place.is_together)
        return keys[0]

    def _keys(self, place: EffectPlace, *, with_names: bool) -> list[ClaimKey]:
        """Keys of an arm's tests of one measure that can count.

        Without a name, an option stands for all of its prompt.

        Args:
            with_names: the items and options that `study.primary` names are there, and first.
        """
        key = ClaimKey(place.measure, place.model, place.task, place.condition, None, None)
        task, n_whole = self.tasks[place.task], self._n_whole(place)
        if place.measure == "value":
            return self._value_keys(key, task.questions, place, with_names=with_names)
        if place.measure in ("share_who", "share_user", "share_context"):
            return [key._replace(detail=kind) for kind in task.questions.by_kind] * n_whole
        if place.measure not in ("distance", "option_share"):
            return [key] * n_whole
        generic_items = [f"#{k}" for k in range(task.n_items - task.n_settled)]
        names = self._names("items", place) if with_names else []
        options: list[str | None] = [*self._names("options", place)] if with_names else []
        items = [*names, *generic_items][: len(generic_items)]
        return [
            key._replace(item_id=item, detail=option)
            for item in items
            for option in options or [None]
        ]

    def _n_whole(self, place: EffectPlace) -> int:
        """1 where an arm has a test of this measure over its whole task, or over each kind; else 0."""
        questions = self.tasks[place.task].questions
        nest = self.nests.get(place.condition, ())
        match place.measure:
            case "share_who":
                return int(place.condition in self.asked_again)
            case "share_user":
                return int(bool(nest))
            case "share_context":
                return int(any(condition in self.asked_again for condition in nest))
            case "entropy_bits":
                return int(questions.lists > 0)
            case "score" | "score_spread":
                return int(questions.n_graded > 0)
            case "novelty":
                # what is new is set beside the baseline asked again
                return int(questions.choices > 0 and bool(self.rules.controls))
        return 0

    def _value_keys(
        self, key: ClaimKey, questions: TaskQuestions, place: EffectPlace, *, with_names: bool
    ) -> list[ClaimKey]:
        """A key for each question, and one without a question for several scales together."""
        if place.condition == FIELD:
            # compared with real users, values are secondary tests of another measure
            return []
        names = self._names("items", place) if with_names else []
        items = [*names, *(f"#{k}" for k in range(questions.values))][: questions.values]
        kinds = ["scale"] * questions.scales + ["number"] * questions.numbers
        together = [key._replace(detail="scale")] if questions.scales > 1 else []
        return [
            *together,
            *(
                key._replace(item_id=item, detail=kind)
                for item, kind in zip(items, kinds, strict=True)
            ),
        ]

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
            n_open = planned_task.n_items - planned_task.n_settled
            names = (repr(planned_task.source), str(n_open), str(n_users))
            random = generator(self._seed, "power options", *names)
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
