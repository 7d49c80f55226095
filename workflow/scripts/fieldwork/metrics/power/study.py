"""The simulations that `snakemake power` makes of a study's settings, and the sizes they lead to.

Owns which effect is simulated for which task, by which of the study's tests it is to be seen, and the
smallest size that reaches the target power.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.power.effects import (
    EntropyRise,
    LetterSource,
    ListSource,
    Scenario,
    ScoreDifference,
    ShareChange,
    UserShare,
    ValueDifference,
    ValueSource,
)
from fieldwork.metrics.power.family import (
    EffectPlace,
    Family,
    OptionPool,
    PlannedTask,
    PlannedTests,
    TaskQuestions,
)
from fieldwork.metrics.power.likeness import NO_PILOT, TaskLikeness, supposed_likeness
from fieldwork.metrics.power.simulation import PowerEstimate, SimulationSettings, power_curve
from fieldwork.progress import Progress
from fieldwork.records.field import FIELD
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.permutation import permutations_to_resolve
from fieldwork.statistics.user_intervals import RAREST_USERS


class StudyShape(NamedTuple):
    """What the study asks and tests.

    Attributes:
        items: number of prompts of each task, texts included.
        questions: those of each task that have tests, by kind.
        runs: users or reruns of each task.
        score_task: task whose scores are compared, None where the study has none.
        conditions: those with simulated users.
        n_comparisons: conditions that are compared with the baseline, with users or without.
        asked_again: conditions in which a user answers a prompt more than once.
        nests: conditions with the same users, by the one whose users they are.
        pilot: how alike a user's answers to two prompts are, where that was measured.
    """

    models: Sequence[str]
    items: Mapping[str, int]
    questions: Mapping[str, TaskQuestions]
    runs: Mapping[str, int]
    score_task: str | None
    conditions: Sequence[str]
    n_comparisons: int
    rules: ClaimRules
    asked_again: Collection[str] = ()
    nests: Mapping[str, Sequence[str]] = {}
    pilot: TaskLikeness = NO_PILOT


class ArmPower(NamedTuple):
    """Power at rising sizes in one family of tests.

    Attributes:
        arms: models and conditions whose tests are in this family.
    """

    family: Family
    arms: Sequence[tuple[str, str]]
    estimates: Sequence[PowerEstimate]


class EffectCurve(NamedTuple):
    """Power of one effect in one task, for each family that its test may be in.

    Attributes:
        n_prompts: of the task, which all cost.
        basis: where the scenario's likeness is from; empty where it has none.
    """

    scenario: Scenario
    task: str
    arm_powers: Sequence[ArmPower]
    n_prompts: int
    basis: str = ""


class _PlannedEffect(NamedTuple):
    """What is simulated for a task."""

    task: str
    scenario: Scenario
    basis: str = ""


class SmallestSize(NamedTuple):
    """The smallest size that reaches a target.

    Attributes:
        n_users: read off a straight line between two simulated sizes; None if the target is not
            reached.
        estimate: power at the next larger size that was simulated, or at the largest if none
            reaches the target.
    """

    n_users: int | None
    estimate: PowerEstimate
    reason: str | None


def simulate_effects(
    power: Mapping[str, Any],
    outline: StudyShape,
    *,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[EffectCurve]:
    """Every effect of the config's section `power`, in the order of measures and tasks."""
    tests = planned_tests(power, outline)
    n_arms, questions = len(outline.models) * outline.n_comparisons, outline.questions.values()
    # scales are also tested together
    n_most, n_most_values = (
        permutations_to_resolve(n_arms * n, LEVEL)
        for n in (
            sum(kinds.options for kinds in questions),
            sum(kinds.values + (kinds.scales > 1) for kinds in questions),
        )
    )
    settings = SimulationSettings(
        sorted(power["sizes"]),
        power["simulations"],
        n_permutations,
        n_most,
        n_most_values,
        rarest_users,
        seed,
        len(outline.rules.controls),
    )
    pool = OptionPool(tests, seed)
    effects = [*_planned_effects(power, outline, tests)]
    curves = []
    with Progress("Power", len(effects) * len(settings.sizes), "sizes") as progress:
        for task, scenario, basis in effects:
            families = _families(task, scenario, outline, tests)
            estimates: dict[Family, list[PowerEstimate]] = {family: [] for family in families}
            for size in power_curve(scenario, families, settings, tests.sizes_with(task), pool):
                for family, estimate in size.items():
                    estimates[family].append(estimate)
                progress.update(note=f"{scenario.measure} {scenario.effect.label}")
            powers = [ArmPower(f, arms, estimates[f]) for f, arms in families.items()]
            curves.append(EffectCurve(scenario, task, powers, outline.items[task], basis))
    return curves


def planned_tests(power: Mapping[str, Any], outline: StudyShape) -> PlannedTests:
    """The study's tasks with the sources that the config supposes."""
    tasks = {}
    for task, questions in outline.questions.items():
        n_tested = power["prompts"] or questions.options if questions.options else 0
        tasks[task] = PlannedTask(
            _list_source(power) if 2 * questions.lists > questions.options else _letters(power),
            n_tested,
            _n_settled(power, n_tested),
            outline.runs[task],
            questions,
        )
    return PlannedTests(
        outline.models, outline.conditions, tasks, outline.rules, outline.asked_again, outline.nests
    )


def _list_source(power: Mapping[str, Any]) -> ListSource:
    return ListSource(*(power["lists"][key] for key in ("named", "options", "exponent")))


def _letters(power: Mapping[str, Any]) -> LetterSource:
    return LetterSource(float(power["answer_share"]))


def _n_settled(power: Mapping[str, Any], n_items: int) -> int:
    """Prompts that everybody answers alike; one is always open."""
    return max(0, min(round(float(power["settled_items"]) * n_items), n_items - 1))


def _families(
    task: str, scenario: Scenario, outline: StudyShape, tests: PlannedTests
) -> dict[Family, list[tuple[str, str]]]:
    """The models and conditions by the family that the effect's test is in for them."""
    families: dict[Family, list[tuple[str, str]]] = {}
    effect = scenario.effect
    is_together = isinstance(effect, ValueDifference) and effect.n_together > 1
    # real users' points and numbers are compared in other tests, of `field_value`
    field = [] if scenario.measure == "value" else [FIELD]
    for model in outline.models:
        for condition in (*outline.conditions, *field):
            place = EffectPlace(scenario.measure, model, task, condition, is_together)
            families.setdefault(tests.family(place), []).append((model, condition))
    return families


def _planned_effects(
    power: Mapping[str, Any], outline: StudyShape, tests: PlannedTests
) -> Iterator[_PlannedEffect]:
    score_task = _score_task(outline)
    for task, questions in outline.questions.items():
        if questions.options:
            yield from _share_changes(power, task, questions, tests)
        if questions.by_kind:
            yield from _user_shares(power, task, outline)
        if questions.lists:
            yield from _entropy_rises(power, task, outline)
        if questions.values:
            yield from _value_differences(power, task, outline)
        if task == score_task:
            yield from _score_differences(power, task, questions)


def _score_task(outline: StudyShape) -> str | None:
    """The task of figure 3 if its questions have right answers, else the first task whose have."""
    tasks = [task for task, questions in outline.questions.items() if questions.n_graded]
    return outline.score_task if outline.score_task in tasks else next(iter(tasks), None)


def _share_changes(
    power: Mapping[str, Any], task: str, questions: TaskQuestions, tests: PlannedTests
) -> Iterator[_PlannedEffect]:
    n, source = questions.options, tests.tasks[task].source
    shape = (source, n, _n_settled(power, n), float(power["odd_users"]))
    for effect in power["effects"]["shares"]:
        change = ShareChange(float(effect["baseline"]), float(effect["condition"]))
        yield _PlannedEffect(task, Scenario("option_share", change, *shape))
        yield _PlannedEffect(task, Scenario("distance", change, *shape))


def _user_shares(
    power: Mapping[str, Any], task: str, outline: StudyShape
) -> Iterator[_PlannedEffect]:
    """In the commonest kind of question; what is no list is one of two answers."""
    kind, n = next(iter(outline.questions[task].by_kind.items()))
    source = _list_source(power) if kind == "list" else _letters(power)
    shape = (source, n, _n_settled(power, n), float(power["odd_users"]))
    likeness = supposed_likeness(power["likeness"], outline.pilot, task, kind)
    for share in map(float, power["effects"]["who"]):
        for replicates in sorted(power["replicates"]):
            effect = UserShare(share)
            scenario = Scenario("share_who", effect, *shape, replicates, likeness.value)
            yield _PlannedEffect(task, scenario, likeness.basis)


def _entropy_rises(
    power: Mapping[str, Any], task: str, outline: StudyShape
) -> Iterator[_PlannedEffect]:
    n = outline.questions[task].lists
    shape = (_list_source(power), n, _n_settled(power, n), float(power["odd_users"]))
    likeness = supposed_likeness(power["likeness"], outline.pilot, task, "list")
    for bits in map(float, power["effects"]["entropy"]):
        scenario = Scenario("entropy_bits", EntropyRise(bits), *shape, likeness=likeness.value)
        yield _PlannedEffect(task, scenario, likeness.basis)


def _value_differences(
    power: Mapping[str, Any], task: str, outline: StudyShape
) -> Iterator[_PlannedEffect]:
    """In one question of the commoner kind, and in all scales together."""
    questions, odd_users = outline.questions[task], float(power["odd_users"])
    points = ValueSource(int(power["scale_points"]))
    source = points if questions.scales >= questions.numbers else ValueSource(0)
    likeness = supposed_likeness(power["likeness"], outline.pilot, task, "scale")
    for difference in map(float, power["effects"]["values"]):
        effect = ValueDifference(difference)
        yield _PlannedEffect(
            task, Scenario("value", effect, source, questions.values, odd_users=odd_users)
        )
        if questions.scales > 1:
            effect = ValueDifference(difference, questions.scales)
            shape = (points, questions.scales, 0, odd_users)
            scenario = Scenario("value", effect, *shape, likeness=likeness.value)
            yield _PlannedEffect(task, scenario, likeness.basis)


def _score_differences(
    power: Mapping[str, Any], task: str, questions: TaskQuestions
) -> Iterator[_PlannedEffect]:
    n, spreads = questions.n_graded, (float(power["sd_users"]), float(power["sd_reruns"]))
    shape = (_letters(power), n, _n_settled(power, n), float(power["odd_users"]))
    for difference in map(float, power["effects"]["scores"]):
        effect = ScoreDifference(difference, *spreads)
        yield _PlannedEffect(task, Scenario("score", effect, *shape))


def find_smallest_size(estimates: Sequence[PowerEstimate], target: float) -> SmallestSize:
    """The smallest size from which on every simulated size reaches the target."""
    simulations = [estimate for estimate in estimates if estimate.power is not None]
    if not simulations:
        return SmallestSize(None, estimates[0], estimates[0].reason)
    first = len(simulations)
    while first and (simulations[first - 1].power or 0.0) >= target:
        first -= 1
    if first == len(simulations):
        last = simulations[-1]
        reason = f"not reached with {last.n_users}: power is {last.power:.2f}"
        return SmallestSize(None, last, reason)
    estimate = simulations[first]
    if first == 0:
        reason = f"{estimate.n_users} is the smallest size tried: fewer may do"
        return SmallestSize(estimate.n_users, estimate, reason)
    smaller = simulations[first - 1]
    low, high = smaller.power or 0.0, estimate.power or 0.0
    part = (target - low) / (high - low)
    n_users = smaller.n_users + part * (estimate.n_users - smaller.n_users)
    return SmallestSize(math.ceil(n_users - 1e-9), estimate, None)
