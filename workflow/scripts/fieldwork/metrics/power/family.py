"""The tests that are corrected together with that of a supposed effect, and what is claimed then.

Owns which tests of the planned study are in one family, by the rules of `claims`, and their p-values
where nothing differs. What a task is tested for depends on the kinds of its questions. Tests of a whole
arm, and distances, keep their level: each has a p-value between 0 and 1, as those of scales and numbers
have. Tests of options have few possible p-values, which Holm's correction makes use of, so they are
simulated. Promises as many tests as `claims` has of the measures in `counted_measures`.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.claims.families import PRIMARY, correct_p_values, family_of
from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.metrics.power.effects import (
    AnswerSource,
    LetterSource,
    ListSource,
    ProbabilitySource,
)
from fieldwork.metrics.power.lists import draw_lists, log_weights
from fieldwork.metrics.power.outcomes import SimulatedTest
from fieldwork.metrics.power.study import PlannedStudy, declared_questions
from fieldwork.metrics.power.tests_of_shares import option_tests
from fieldwork.records.field import FIELD
from fieldwork.records.tasks import VALUE_KINDS
from fieldwork.statistics.arrays import Counts
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.fisher import Support, least_p
from fieldwork.statistics.intervals import wilson_interval
from fieldwork.statistics.seeds import generator

N_POOL = 20
"""Simulated tasks without an effect, from which the options' tests of a study are taken."""

_OF_USERS = ("share_who", "share_user", "share_context")
_OF_PROMPTS = ("distance", "option_share")

PromptTests = Sequence[tuple[float, Support]]
"""p-value and support of the test of each option of a prompt."""


def counted_measures() -> Sequence[str]:
    """Measures whose tests are counted: not those of categories, groups, two tasks and the field."""
    return (
        *_OF_USERS,
        *declared_questions(),
        "score",
        "score_spread",
        "novelty",
        "value",
        *_OF_PROMPTS,
    )


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


def effect_family(place: ClaimKey, study: PlannedStudy) -> Family:
    """The family of an effect's test. An effect of real users is that of a study with a field.

    That of who asks is in a study that asks each user of its condition more than once.

    Args:
        place: the arm; with the detail `scale` the effect is in the mean of several scales.
    """
    study, arm_of_place = _with_condition_of(place, study), place._replace(detail=None)
    rules, is_together = study.rules, place.detail is not None
    of_place = _keys(arm_of_place, study, with_names=True)
    if place.measure == "value":
        of_place = [key for key in of_place if (key.item_id is None) == is_together]
    name = family_of(of_place[0], rules)
    n_plain, options = 0, list[OptionArms]()
    for task in study.tasks:
        n_arms, n_prompts = 0, 0
        for arm in _arms(task, study):
            # of options outside the primary family a prompt's stand for themselves
            with_names = name == PRIMARY or arm.measure != "option_share"
            keys = _keys(arm, study, with_names=with_names)
            n_tests = sum(family_of(key, rules) == name for key in keys)
            if arm.measure != "option_share" or (keys and keys[0].detail):
                n_plain += n_tests - (arm == arm_of_place)
            elif n_tests:
                n_arms, n_prompts = n_arms + 1, n_tests
        if n_arms:
            has_place = (place.measure, place.task) == ("option_share", task)
            options.append(OptionArms(task, n_prompts, n_arms, has_place))
    return Family(name, n_plain, tuple(options))


def _with_condition_of(place: ClaimKey, study: PlannedStudy) -> PlannedStudy:
    """The study where the effect's own test can be made."""
    users, asked_again = dict.fromkeys(study.rules.users), {*study.asked_again}
    if place.condition == FIELD:
        users[FIELD] = None
    if place.measure == "share_who":
        asked_again.add(place.condition)
    return study._replace(rules=study.rules._replace(users=[*users]), asked_again=asked_again)


def _arms(task: str, study: PlannedStudy) -> Iterator[ClaimKey]:
    rules = study.rules
    conditions = [*study.conditions, *([FIELD] if FIELD in rules.users else [])]
    return (
        ClaimKey(measure, model, task, condition, None, None)
        for measure in counted_measures()
        for model in study.models
        for condition in conditions
        if condition not in rules.later_waves
    )


def _keys(arm: ClaimKey, study: PlannedStudy, *, with_names: bool) -> list[ClaimKey]:
    """Keys of an arm's tests of one measure that can count.

    Without a name, an option stands for all of its prompt.

    Args:
        with_names: the items and options that `study.primary` names are there, and first.
    """
    questions = study.tasks[arm.task]
    if arm.measure in _OF_USERS:
        kinds = questions.by_kind if _is_asked(arm, study) else ()
        return [arm._replace(detail=kind) for kind in kinds]
    if arm.measure not in ("value", *_OF_PROMPTS):
        return [arm] * _has_test(arm, study)
    names, options = (
        _names(arm, study, limit) if with_names else [] for limit in ("items", "options")
    )
    is_value = arm.measure == "value"
    n_items = questions.count(VALUE_KINDS) if is_value else study.n_open(arm.task)
    items = [*names, *(f"#{k}" for k in range(n_items))][:n_items]
    if not is_value:
        details = options or [None]
        return [arm._replace(item_id=i, detail=option) for i in items for option in details]
    if arm.condition == FIELD:
        # compared with real users, values are secondary tests of another measure
        return []
    n_scales = questions.count(["scale"])
    kinds_of_items = ["scale"] * n_scales + ["number"] * questions.count(["number"])
    together = [arm._replace(detail="scale")] if n_scales > 1 else []
    of_items = zip(items, kinds_of_items, strict=True)
    return [*together, *(arm._replace(item_id=item, detail=kind) for item, kind in of_items)]


def _is_asked(arm: ClaimKey, study: PlannedStudy) -> bool:
    """Whether the users of an arm answer so that its share of variance has a test."""
    nest = study.nests.get(arm.condition, ())
    if arm.measure == "share_context":
        return any(condition in study.asked_again for condition in nest)
    return arm.condition in study.asked_again if arm.measure == "share_who" else bool(nest)


def _has_test(arm: ClaimKey, study: PlannedStudy) -> bool:
    """Whether an arm has a test of this measure over its whole task."""
    questions = study.tasks[arm.task]
    if arm.measure in ("score", "score_spread"):
        return questions.n_graded > 0
    if arm.measure == "novelty":
        # what is new is set beside the baseline asked again
        return questions.count(["choice"]) > 0 and bool(study.rules.controls)
    return questions.count(declared_questions()[arm.measure].kinds) > 0


def _names(arm: ClaimKey, study: PlannedStudy, limit: str) -> list[str | None]:
    """Items or options that `study.primary` names for a measure of a task."""
    entries = (
        entry
        for entry in study.rules.primary
        if entry.measure == arm.measure and (entry.tasks is None or arm.task in entry.tasks)
    )
    return [*dict.fromkeys(name for entry in entries for name in getattr(entry, limit) or ())]


# ---- what is claimed -----------------------------------------------------------------------------------


class PowerEstimate(NamedTuple):
    """Power at one size; None, with a reason, where it was not simulated.

    Attributes:
        n_tests: tests corrected together, this one and the mean of others; None where not simulated.
        n_needed: users that reach a target, where that was looked for.
    """

    n_users: int
    power: float | None = None
    low: float | None = None
    high: float | None = None
    n_simulations: int = 0
    n_tests: int | None = None
    reason: str | None = None
    n_needed: int | None = None


def estimate_power(
    simulated_tests: Sequence[SimulatedTest],
    family: Family,
    sizes: Mapping[str, int],
    study: PlannedStudy,
    n_users: int,
) -> PowerEstimate:
    """How many studies claim the effect after correction.

    Args:
        sizes: users of each task.
    """
    random = generator(study.seed, "power family", *map(repr, family), str(n_users))
    n_claimed, n_tests = 0, []
    for test in simulated_tests:
        pairs = [
            pair
            for arms in family.options
            for prompt in draw_option_tests(arms, sizes[arms.task], study, random)
            for pair in prompt
        ]
        # a test that could not be claimed is set aside, as in `claims`
        pairs += [pair for pair in test.companions if _counts(pair[1])]
        pairs += [(p_value, 0.0) for p_value in random.random(family.n_plain).tolist()]
        n_tests.append(len(pairs) + 1)
        n_claimed += _is_claimed(test, pairs, family.name)
    n_studies = len(simulated_tests)
    low, high = wilson_interval(n_claimed, n_studies)
    n_mean = round(float(np.mean(n_tests)))
    return PowerEstimate(n_users, n_claimed / n_studies, low, high, n_studies, n_mean)


def _counts(support: Support) -> bool:
    return least_p(support) < LEVEL


def _is_claimed(test: SimulatedTest, companions: PromptTests, family: str) -> bool:
    # a correction only raises a p-value
    if test.p_value is None or test.p_value >= LEVEL or not _counts(test.support):
        return False
    p_values, supports = zip((test.p_value, test.support), *companions, strict=True)
    return correct_p_values(p_values, supports, family)[0] < LEVEL


def draw_option_tests(
    arms: OptionArms, n_users: int, study: PlannedStudy, random: np.random.Generator
) -> Iterator[PromptTests]:
    """Tests of the arms without an effect, prompt by prompt; the prompt of the effect is left out.

    Args:
        n_users: of each arm.
    """
    source, n_open = study.source(arms.task), study.n_open(arms.task)
    if isinstance(source, ProbabilitySource):
        # tests of probabilities may have any p-value; that of the other of two letters is the same
        for number in range(arms.n_arms):
            n_prompts = min(n_open, arms.n_prompts) - (arms.has_place and number == 0)
            for p_value in random.random(n_prompts).tolist():
                yield [(p_value, 0.0)] * 2
        return
    tasks = _null_tasks(source, n_open, n_users, study.seed)
    for number in range(arms.n_arms):
        prompts = tasks[int(random.integers(len(tasks)))]
        is_place = arms.has_place and number == 0
        yield from prompts[: arms.n_prompts - is_place]


@lru_cache(maxsize=256)
def _null_tasks(
    source: AnswerSource, n_open: int, n_users: int, seed: int
) -> list[list[PromptTests]]:
    """Tests of options in tasks without an effect, simulated once for each task and size."""
    random = generator(seed, "power options", repr(source), str(n_open), str(n_users))
    return [[_null_prompt(source, n_users, random) for _ in range(n_open)] for _ in range(N_POOL)]


def _null_prompt(source: AnswerSource, n: int, random: np.random.Generator) -> PromptTests:
    first, second = (_option_counts(source, n, random) for _ in range(2))
    return [pair for pair in option_tests(first, second, n) if _counts(pair[1])]


def _option_counts(source: AnswerSource, n: int, random: np.random.Generator) -> Counts:
    if isinstance(source, LetterSource):
        ones = int(random.binomial(n, source.answer_share))
        return np.array([ones, n - ones])
    assert isinstance(source, ListSource)
    shape = (n, source.n_options)
    weights = np.broadcast_to(log_weights(source.n_options, source.exponent), shape)
    counts: Counts = draw_lists(weights, random.gumbel(size=shape), source.n_named).sum(axis=0)
    return counts
