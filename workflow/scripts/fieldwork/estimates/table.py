"""The rows of the table of estimates: every measure of a question, by arm and, where declared, prompt.

An arm is a model's answers to a task under a condition, or those of a group of participants. Owns which
arms are compared, and on which prompts. Promises that neither the order of the rows nor other arms change
a value, except through the number of answers that all conditions of a prompt are brought to.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.arm_values import ArmValues, NumberValues, OptionValues
from fieldwork.estimates.declaration import Measure, ReaderQuestion
from fieldwork.estimates.means import (
    Mean,
    MeanDifference,
    difference_of_means,
    mean_over,
    other_prompts_interval,
    permuted_difference,
)
from fieldwork.estimates.prompts import equal_sizes, prompt_values
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.reasons import (
    FEW_ANSWERS,
    MIN_ANSWERS,
    drawn_among_stated,
    join_reasons,
    missing_parts,
    no_interval,
    no_other_prompts,
    no_value,
)
from fieldwork.estimates.samples import (
    number_frames,
    number_samples,
    option_samples,
    split_groups,
)
from fieldwork.records.estimates import Estimate, ReferenceKind
from fieldwork.records.field import FIELD
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_PROMPTS, RAREST_USERS

_NOTHING = 1e-9
"""Differences below this are rounding."""


class ComparedWith(NamedTuple):
    """What an arm is compared with, by its kind and its name."""

    reference: ReferenceKind
    versus: str


OTHER_GROUPS = ComparedWith("other groups", "other groups")


class EstimateSettings(NamedTuple):
    """What a study says of its estimates.

    Attributes:
        users: conditions with a user, real ones included.
        controls: conditions that ask the baseline again.
        rarest_users, rarest_prompts: shares of the rarest kinds that intervals cover.
        n_permutations: random ones of a test, where there are too many to list.
    """

    baseline: str
    seed: int
    users: Sequence[str] = ()
    controls: Sequence[str] = ()
    rarest_users: float = RAREST_USERS
    rarest_prompts: float = RAREST_PROMPTS
    n_permutations: int = 1999


def estimate_question(
    question: ReaderQuestion,
    answers: pd.DataFrame,
    settings: EstimateSettings,
    participants: pd.DataFrame | None = None,
) -> list[Estimate]:
    """Every measure of a question, in the order of the table; without answers there are no rows.

    Args:
        answers: rows of the question's source.
        participants: rows of `field/participants`, where groups have rows too.

    Raises:
        StudyError: a formula fails.
    """
    if question.kinds is not None and not answers.empty:
        answers = answers[answers["kind"].isin(question.kinds)]
    if answers.empty:
        return []
    options = [measure for measure in question.measures if measure.of == "options"]
    numbers = [measure for measure in question.measures if measure.of != "options"]
    rows = [*(_option_rows(question, options, answers, settings) if options else ())]
    rows += _number_rows(question, numbers, answers, settings, participants) if numbers else ()
    return sorted(rows, key=_place)


def _place(row: Estimate) -> tuple[Any, ...]:
    names = [(name is not None, name or "") for name in (row.item_id, row.variable, row.group)]
    return (row.measure, row.model, row.task, row.condition, *names, row.versus)


# ---- options ------------------------------------------------------------------------------------------


def _option_rows(
    question: ReaderQuestion,
    measures: Sequence[Measure],
    answers: pd.DataFrame,
    settings: EstimateSettings,
) -> Iterator[Estimate]:
    arms = option_samples(answers)
    sizes = equal_sizes(arms)
    values = {arm: prompt_values(arm, arms[arm], measures, sizes, settings.seed) for arm in arms}
    for measure in measures:
        of_arms = {arm: OptionValues(arms[arm], values[arm][measure.name]) for arm in arms}
        for arm, of_arm in of_arms.items():
            n_equals = {
                item: sample.n_equal(sizes.get((*arm.family, item), 0))
                for item, sample in of_arm.samples.items()
            }
            if measure.is_by_item:
                for item in of_arm.samples:
                    yield _prompt_row(measure, arm, of_arm, item, n_equals[item], settings)
            if measure.is_over_items:
                yield from _mean_rows(question, measure, arm, of_arms, settings, n_equals)


def _prompt_row(
    measure: Measure,
    arm: Arm,
    values: OptionValues,
    item: str,
    n_equal: int,
    settings: EstimateSettings,
) -> Estimate:
    sample, prompt = values.samples[item], values.prompts.get(item)
    mean = mean_over([prompt]) if prompt else None
    interval = mean.interval(settings.rarest_users) if mean and not measure.exact else None
    reason: str | None = no_value(measure, sample.n_without)
    if mean:
        reason = no_interval(measure, mean, interval, settings.rarest_users)
    n_mentions = n_equal * max(map(len, sample.options), default=0)
    if sample.shares is not None:
        n_mentions = sample.shares.shape[1]
    if mean and interval and measure.bounds:
        low, high = interval.clip(*measure.bounds(n_mentions))
        interval = Interval(min(low, mean.value), max(high, mean.value))
    return _row(
        measure,
        arm,
        ComparedWith("baseline", settings.baseline),
        item_id=item,
        mean=mean,
        interval=interval,
        n_items=1,
        n_equal=n_equal,
        n_answers=len(sample.options),
        n_without=sample.n_without,
        has_users=any(sample.users),
        reason=reason,
    )


# ---- numbers ------------------------------------------------------------------------------------------


def _number_rows(
    question: ReaderQuestion,
    measures: Sequence[Measure],
    answers: pd.DataFrame,
    settings: EstimateSettings,
    participants: pd.DataFrame | None,
) -> Iterator[Estimate]:
    columns = [measure.of for measure in measures]
    of_probabilities = [measure.of for measure in measures if measure.is_stated]
    frames = dict(number_frames(answers))
    samples = {
        arm: number_samples(frame, columns, of_probabilities) for arm, frame in frames.items()
    }
    for measure in measures:
        if measure.is_stated and not any(len(s[measure.of].values) for s in samples.values()):
            continue
        of_arms = {arm: NumberValues(sample[measure.of]) for arm, sample in samples.items()}
        for arm in of_arms:
            yield from _mean_rows(question, measure, arm, of_arms, settings)
    if question.has_groups and participants is not None:
        in_field = {arm: frame for arm, frame in frames.items() if arm.condition == FIELD}
        yield from _group_rows(measures, dict(split_groups(in_field, participants)), settings)


def _group_rows(
    measures: Sequence[Measure],
    groups: Mapping[Arm, pd.DataFrame],
    settings: EstimateSettings,
) -> Iterator[Estimate]:
    """Each group beside the other groups of its variable together."""
    columns = [measure.of for measure in measures]
    for arm, frame in groups.items():
        rest = [
            rows
            for other, rows in groups.items()
            if other._replace(group=arm.group) == arm and other.group != arm.group
        ]
        sample, reference = number_samples(frame, columns), None
        if sum(map(len, rest)) >= MIN_ANSWERS:
            reference = number_samples(pd.concat(rest), columns)
        for measure in measures:
            values = NumberValues(sample[measure.of])
            if 0 < values.n_answers(values.items) < MIN_ANSWERS:
                yield _missing_row(measure, arm, OTHER_GROUPS, values, FEW_ANSWERS)
                continue
            others_values = NumberValues(reference[measure.of]) if reference else None
            yield _mean_row(measure, arm, OTHER_GROUPS, values, others_values, settings)


# ---- means over prompts -------------------------------------------------------------------------------


def _mean_rows(
    question: ReaderQuestion,
    measure: Measure,
    arm: Arm,
    of_arms: Mapping[Arm, ArmValues],
    settings: EstimateSettings,
    n_equals: Mapping[str, int] | None = None,
) -> Iterator[Estimate]:
    for against in _references(question, arm, of_arms.keys(), settings):
        other = None
        if against.versus != arm.condition:
            other = of_arms.get(arm._replace(condition=against.versus))
        yield _mean_row(measure, arm, against, of_arms[arm], other, settings, n_equals)


def _references(
    question: ReaderQuestion, arm: Arm, arms: Collection[Arm], settings: EstimateSettings
) -> Iterator[ComparedWith]:
    """The conditions that an arm is compared with, the baseline first."""
    yield ComparedWith("baseline", settings.baseline)
    if "controls" in question.references and arm.condition in settings.users:
        yield from (ComparedWith("control", name) for name in settings.controls)
    has_field = arm._replace(condition=FIELD) in arms
    if "field" in question.references and has_field and arm.condition != FIELD:
        yield ComparedWith("field", FIELD)


def _mean_row(
    measure: Measure,
    arm: Arm,
    against: ComparedWith,
    values: ArmValues,
    other: ArmValues | None,
    settings: EstimateSettings,
    n_equals: Mapping[str, int] | None = None,
) -> Estimate:
    """Over the prompts that both sides answer; over all where there are none, or no other side."""
    shared_items = [item for item in values.items if other and item in set(other.items)]
    items = shared_items or [*values.items]
    if not items:
        reason = no_value(measure, values.n_without)
        return _missing_row(measure, arm, against, values, reason, n_equals)
    mean = values.mean(items)
    interval = None if measure.exact else mean.interval(settings.rarest_users)
    interval = _within_bounds(measure, interval)
    reference = other.mean(items) if other and shared_items else None
    difference = None
    if reference:
        difference = _difference(measure, arm, (values, other), (mean, reference), settings)
    is_compared = against.versus != arm.condition
    return _row(
        measure,
        arm,
        against,
        mean=mean,
        interval=interval,
        difference=difference,
        n_items=len(items) * (values.run_size or 1),
        n_equal=min(n_equals[item] for item in items) if n_equals else None,
        n_answers=values.n_answers(items),
        n_units_versus=reference.n_units if reference else 0,
        n_without=values.n_without,
        n_truncated=values.n_truncated,
        has_users=mean.has_users,
        n_higher=int((mean.values > reference.values + _NOTHING).sum()) if reference else None,
        reason=join_reasons(
            missing_parts(
                measure,
                mean,
                interval,
                difference,
                against.versus if is_compared else None,
                reference,
                settings.rarest_users,
            ),
            drawn_among_stated(values.n_unstated, other.n_unstated if other else 0, against.versus),
        ),
        **_other_prompts(measure, mean, reference, interval, difference, settings),
    )


def _difference(
    measure: Measure,
    arm: Arm,
    sides: Sequence[ArmValues | None],
    means: tuple[Mean, Mean],
    settings: EstimateSettings,
) -> MeanDifference:
    """Of two means; of runs tested by permutation of the runs."""
    if measure.noun == "answer" or all(mean.is_stated for mean in means):
        return difference_of_means(*means, settings.rarest_users)
    return permuted_difference(
        [side.sample for side in sides if isinstance(side, NumberValues)],
        rarest_users=settings.rarest_users,
        n_permutations=settings.n_permutations,
        random=generator(settings.seed, "scores", arm.model, arm.task, arm.condition),
    )


def _within_bounds(
    measure: Measure, interval: Interval | None, *, of_difference: bool = False
) -> Interval | None:
    """The interval of a mean of numbers, or of the difference of two, cut at what they can reach."""
    if interval is None or measure.bounds is None or measure.of == "options":
        return interval
    low, high = measure.bounds(1)
    return interval.clip(low - high, high - low) if of_difference else interval.clip(low, high)


def _other_prompts(
    measure: Measure,
    mean: Mean,
    reference: Mean | None,
    interval: Interval | None,
    difference: MeanDifference | None,
    settings: EstimateSettings,
) -> dict[str, Any]:
    """The columns about prompts like these."""
    if not measure.is_for_other_prompts:
        return {}
    reason = no_other_prompts(mean, interval, settings.rarest_prompts)
    if reason:
        return {"prompts_reason": reason}
    of_mean = other_prompts_interval(mean)
    columns = {"prompts_low": of_mean.low, "prompts_high": of_mean.high}
    if reference and difference and difference.interval:
        of_difference = other_prompts_interval(mean, reference)
        columns["prompts_difference_low"] = of_difference.low
        columns["prompts_difference_high"] = of_difference.high
    return columns


def _missing_row(
    measure: Measure,
    arm: Arm,
    against: ComparedWith,
    values: ArmValues,
    reason: str,
    n_equals: Mapping[str, int] | None = None,
) -> Estimate:
    return _row(
        measure,
        arm,
        against,
        n_items=len(values.items),
        n_equal=0 if n_equals is not None else None,
        n_answers=values.n_answers(values.items),
        n_without=values.n_without,
        n_truncated=values.n_truncated,
        has_users=False,
        reason=reason,
        prompts_reason="no interval for prompts like these: there is none for these"
        if measure.is_for_other_prompts
        else None,
    )


_NULLS: Mapping[str, Any] = {
    **dict.fromkeys(("item_id", "prompts_low", "prompts_high", "prompts_reason", "n_higher")),
    **dict.fromkeys(("prompts_difference_low", "prompts_difference_high", "n_truncated")),
    "n_units_versus": 0,
}


def _row(
    measure: Measure,
    arm: Arm,
    against: ComparedWith,
    *,
    mean: Mean | None = None,
    interval: Interval | None = None,
    difference: MeanDifference | None = None,
    has_users: bool,
    **columns: Any,
) -> Estimate:
    value, of_difference = Quantity(mean.value if mean else None, interval), Quantity()
    if difference:
        ends = _within_bounds(measure, difference.interval, of_difference=True)
        of_difference = Quantity(difference.value, ends)
    return Estimate(
        measure=measure.name,
        **arm.columns,
        variable=arm.variable,
        group=arm.group,
        **against._asdict(),
        **value.columns("value"),
        **of_difference.columns("difference", "difference_low", "difference_high"),
        p_value=difference.p_value if difference and measure.is_tested else None,
        n_permutations=difference.n_permutations if difference and measure.is_tested else None,
        n_units=mean.n_units if mean else 0,
        unit="puppet" if has_users else "response",
        is_stated=mean is not None and mean.is_stated,
        **{**_NULLS, **columns},
    )
