"""The form of answers by condition and by group of participants: means, and differences.

Owns the mean of a measure over the items of a task, its interval over users or reruns, and the
difference from the baseline, or from the other groups, on the items that both answer. Promises no
number of a group with fewer than `MIN_ANSWERS` answers, and NULL with a reason where there is no value.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from fieldwork.records.answer_form import AnswerForm, FormMeasure
from fieldwork.records.field import FIELD
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import (
    CONFIDENCE,
    MIN_ALIKE,
    NO_ERROR,
    BoundedValue,
    Interval,
    StudentTest,
    difference_interval,
    p_value_with_interval,
    student_test,
)
from fieldwork.statistics.user_intervals import RAREST_USERS, too_few_users, unit_interval

MEASURES: tuple[FormMeasure, ...] = get_args(FormMeasure)
TESTED_MEASURES: tuple[FormMeasure, ...] = ("words", "reading_ease")
"""Measures whose differences are tested, and of which the findings speak."""
OTHER_GROUPS = "other groups"
MIN_ANSWERS = 5
"""Answers below which a number would say too little of a group, and too much of single people."""
Numbers = npt.NDArray[np.int64]
"""Places of items or users, one an answer."""
_ALL_ALIKE = "no interval: leaving out an answer never changes the value"


class FormArm(NamedTuple):
    """A model's answers to a task under a condition, or those of a group of participants."""

    model: str
    task: str
    condition: str
    variable: str | None = None
    group: str | None = None


class FormValues(NamedTuple):
    """One measure of an arm's answers, one entry an answer: the first of each user to an item.

    Attributes:
        items, units: numbers of the items and users; without users each answer is a unit.
        has_users: whether units are users.
    """

    values: Floats
    items: Numbers
    units: Numbers
    has_users: bool


class FormMean(NamedTuple):
    """A mean over items, and how far leaving out each unit moves it, shape (units,)."""

    value: float
    moves: Floats
    freedom: float
    has_users: bool

    def interval(self, rarest_users: float, confidence: float = CONFIDENCE) -> Interval | None:
        return unit_interval(
            self.value,
            self.moves,
            rarest_users=rarest_users if self.has_users else None,
            freedom=self.freedom,
            confidence=confidence,
        )

    @property
    def variance(self) -> float:
        """The jackknife's."""
        deviations = self.moves - self.moves.mean()
        return float((deviations**2).sum()) * self.freedom / len(self.moves)

    @property
    def is_settled(self) -> bool:
        """Whether so many answers never varied that they are taken to be always alike."""
        return not self.variance > NO_ERROR**2 and len(self.moves) >= MIN_ALIKE


class FormDifference(NamedTuple):
    """A difference of two means; the p-value is that of the interval, or Student's where larger."""

    value: float
    interval: Interval | None
    p_value: float | None


def measure_answer_form(
    arms: Mapping[FormArm, pd.DataFrame], *, baseline: str, rarest_users: float = RAREST_USERS
) -> list[AnswerForm]:
    """A row for each arm and measure, the baseline's own included; without an answer there is no row.

    In the order of the table. P-values are corrected over all tests of the rows.

    Args:
        arms: rows of `answers/forms` of each arm.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    firsts = {arm: _first_forms(frame) for arm, frame in arms.items() if not frame.empty}
    rows = [
        _row(arm, measure, firsts, baseline, rarest_users) for arm in firsts for measure in MEASURES
    ]
    rows = correct_rows(rows, lambda _: None)
    return sorted(rows, key=_place)


def split_groups(
    field_arms: Mapping[FormArm, pd.DataFrame], members: pd.DataFrame
) -> Iterator[tuple[FormArm, pd.DataFrame]]:
    """The answers of each group of each variable; a participant without a group is in none.

    Args:
        members: rows of `field/participants`.
    """
    for variable, groups in members.groupby("variable"):
        group_of = dict(zip(groups["participant_id"], groups["group"], strict=True))
        for arm, frame in field_arms.items():
            names = frame["puppet_id"].map(group_of)
            for group, answers in frame.groupby(names):
                yield arm._replace(variable=str(variable), group=str(group)), answers


def _place(row: AnswerForm) -> tuple[str | tuple[bool, str], ...]:
    group = [(name is not None, name or "") for name in (row.variable, row.group)]
    return (row.model, row.task, row.condition, *group, row.measure)


def _first_forms(frame: pd.DataFrame) -> pd.DataFrame:
    """The first answer of each user to an item; all of those without a user."""
    by_replicate = frame.sort_values("replicate", kind="stable")
    is_later = by_replicate["puppet_id"].notna() & by_replicate.duplicated(["item_id", "puppet_id"])
    return by_replicate[~is_later]


def _row(
    arm: FormArm,
    measure: FormMeasure,
    firsts: Mapping[FormArm, pd.DataFrame],
    baseline: str,
    rarest_users: float,
) -> AnswerForm:
    frame, reference = firsts[arm], _compared_with(arm, firsts, baseline)
    answers = frame[frame[measure].notna()]
    is_small = arm.group is not None and len(answers) < MIN_ANSWERS
    is_compared = arm.group is not None or arm.condition != baseline
    mean = None if is_small else mean_form(form_values(answers, measure))
    interval = mean.interval(rarest_users) if mean else None
    difference = None
    if mean and is_compared and reference is not None:
        difference = form_difference(answers, reference, measure, rarest_users)
    ends = difference.interval if difference else None
    return AnswerForm(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        variable=arm.variable,
        group=arm.group,
        measure=measure,
        mean=mean.value if mean else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        versus=baseline if arm.group is None else OTHER_GROUPS,
        difference=difference.value if difference else None,
        difference_low=ends.low if ends else None,
        difference_high=ends.high if ends else None,
        p_value=difference.p_value if difference and measure in TESTED_MEASURES else None,
        p_holm=None,
        n_answers=len(answers),
        n_units=_count_units(answers),
        n_items=answers["item_id"].nunique(),
        n_without=len(frame) - len(answers),
        n_truncated=int(frame["is_truncated"].sum()),
        unit="puppet" if _has_users(frame) else "response",
        reason=_reason(arm, measure, answers, mean, interval, rarest_users)
        or _no_difference(difference, is_compared=is_compared),
    )


def _compared_with(
    arm: FormArm, firsts: Mapping[FormArm, pd.DataFrame], baseline: str
) -> pd.DataFrame | None:
    """The answers of the baseline, or of the other groups of the variable; None where there are none."""
    if arm.group is None:
        return firsts.get(arm._replace(condition=baseline))
    frames = [
        frame
        for other, frame in firsts.items()
        if other._replace(group=arm.group) == arm and other.group != arm.group
    ]
    reference = pd.concat(frames) if frames else pd.DataFrame()
    return reference if len(reference) >= MIN_ANSWERS else None


def _reason(
    arm: FormArm,
    measure: FormMeasure,
    answers: pd.DataFrame,
    mean: FormMean | None,
    interval: Interval | None,
    rarest_users: float,
) -> str | None:
    if mean is None and arm.group is not None and len(answers):
        return f"fewer than {MIN_ANSWERS} answers"
    if mean is None and arm.condition == FIELD and measure not in ("reading_ease", "grade"):
        return "participants paste a page, which keeps no markup"
    if mean is None:
        return "no answer has enough English prose"
    if interval is not None:
        return None
    n_units = _count_units(answers)
    return (too_few_users(n_units, rarest_users) if mean.has_users else None) or _ALL_ALIKE


def _no_difference(difference: FormDifference | None, *, is_compared: bool) -> str | None:
    if not is_compared:
        return None
    if difference is None:
        return "no difference: no item has a value here and where it is compared"
    if difference.interval is None:
        return "no interval of the difference: there is none of what it is compared with"
    return None


def _has_users(frame: pd.DataFrame) -> bool:
    return bool(frame["puppet_id"].notna().any())


def _count_units(frame: pd.DataFrame) -> int:
    return int(frame["puppet_id"].nunique()) if _has_users(frame) else len(frame)


def form_values(answers: pd.DataFrame, measure: FormMeasure) -> FormValues:
    """A measure of answers that have it."""
    has_users = _has_users(answers)
    units = _numbers(answers["puppet_id"]) if has_users else np.arange(len(answers))
    return FormValues(
        answers[measure].to_numpy(dtype=float),
        _numbers(answers["item_id"]),
        units,
        has_users,
    )


def _numbers(names: "pd.Series[str]") -> Numbers:
    return pd.factorize(names)[0].astype(np.int64)


def mean_form(form: FormValues) -> FormMean | None:
    """The mean over items of the means of their answers; None without an answer.

    An item's mean without a unit is that of its other answers. An item with one answer has none, so it
    moves nothing and takes a degree of freedom with it; an arm of such items has no interval.
    """
    if not len(form.values):
        return None
    counts = np.bincount(form.items)
    means = np.bincount(form.items, weights=form.values) / counts
    n_others = np.maximum(counts[form.items] - 1, 1)
    moves = (means[form.items] - form.values) / n_others / len(counts)
    unit_moves: Floats = np.bincount(form.units, weights=moves).astype(float)
    freedom = len(unit_moves) - (1 if form.has_users else len(counts))
    value = math.fsum(means.tolist()) / len(counts)
    return FormMean(value, unit_moves, float(freedom), form.has_users)


def form_difference(
    answers: pd.DataFrame, reference: pd.DataFrame, measure: FormMeasure, rarest_users: float
) -> FormDifference | None:
    """The difference on the items that both sides answer; None where there is none.

    With users the interval is made of those of both sides (MOVER), without users it is Welch's.
    """
    reference = reference[reference[measure].notna()]
    sides = [
        mean_form(form_values(side[side["item_id"].isin(other["item_id"])], measure))
        for side, other in ((answers, reference), (reference, answers))
    ]
    means = [mean for mean in sides if mean is not None]
    if len(means) < len(sides):
        return None
    value = means[0].value - means[1].value
    test = student_test(
        value,
        [mean.variance for mean in means],
        [mean.freedom for mean in means],
        [len(mean.moves) for mean in means],
    )
    if test is None:
        return FormDifference(value, None, None)
    if not any(mean.has_users for mean in means):
        return FormDifference(value, test.interval, test.p_value)
    return _over_users(means, value, test, rarest_users, is_tested=measure in TESTED_MEASURES)


def _over_users(
    means: Iterable[FormMean],
    value: float,
    test: StudentTest,
    rarest_users: float,
    *,
    is_tested: bool,
) -> FormDifference:
    interval_at = partial(_difference_interval, means, rarest_users)
    interval = interval_at(CONFIDENCE)
    p_value = None
    if is_tested and interval is not None:
        p_value = p_value_with_interval(test.p_value, interval_at)
    return FormDifference(value, interval, p_value)


def _difference_interval(
    means: Iterable[FormMean], rarest_users: float, confidence: float
) -> Interval | None:
    bounded_values = []
    for mean in means:
        interval = mean.interval(rarest_users, confidence)
        if interval is None and mean.is_settled:
            interval = Interval(mean.value, mean.value)
        if interval is None:
            return None
        bounded_values.append(BoundedValue(mean.value, interval))
    return difference_interval(bounded_values[0], bounded_values[1:])
