"""The values that answers give: of each item one a user, and of the scales of a task together.

Owns how an answers table is read by metrics of values. A user's first answer with a value counts; without
users all answers count. Responses that failed are no data. Promises an order that does not depend on the
order of the rows.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.records.tasks import VALUE_KINDS
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.first_answers import first_answers
from fieldwork.statistics.intervals import Interval


class ValueAnswer(NamedTuple):
    """A value, NaN where it is missing; `user` is empty where the model is asked without one."""

    is_missing: bool
    user: str
    replicate: int
    value: float


class ValueSample(NamedTuple):
    """Independent values, with their unit: a user (puppet), or a response or rerun of all items.

    Attributes:
        parts: shape (units, items), of which each value is the mean: of an item alone the value itself.
        has_users: whether users gave the answers.
        n_without: answers without a value.
        gaps: the least and the largest value that each unit without one could have.
        scale: the least and the largest point; None for numbers.
    """

    parts: Floats
    has_users: bool
    n_without: int
    gaps: list[Interval]
    scale: Interval | None

    @property
    def values(self) -> list[float]:
        """The mean of each unit over the items."""
        return [math.fsum(row) / len(row) for row in self.parts.tolist()]

    @property
    def unit(self) -> str:
        """What one value is."""
        return "puppet" if self.has_users else "response"

    def rarest(self, rarest_users: float) -> float | None:
        """The setting, for values of users; None for responses."""
        return rarest_users if self.has_users else None


ValueSamples = Mapping[Arm, Mapping[str | None, ValueSample]]
"""By arm and item, both in alphabetical order; under None the scales of a task, if there are several."""


def read_values(answers: pd.DataFrame) -> dict[Arm, dict[str, list[ValueAnswer]]]:
    """The answers to scales and numbers by arm and item, both in alphabetical order.

    An item's answers are in order of user and replicate, those with a value before the others.
    """
    rows = answers[answers["kind"].isin(VALUE_KINDS) & (answers["outcome"] != "failed")]
    columns = ["model", "task", "kind", "condition", "item_id", "puppet_id", "replicate", "value"]
    arms: dict[Arm, dict[str, list[ValueAnswer]]] = {}
    for *names, item, puppet, replicate, value in rows[columns].itertuples(index=False, name=None):
        user = puppet if isinstance(puppet, str) else ""
        number = math.nan if value is None else float(value)
        answer = ValueAnswer(math.isnan(number), user, int(replicate), number)
        arms.setdefault(Arm(*names), {}).setdefault(item, []).append(answer)
    return {
        arm: {item: sorted(items[item]) for item in sorted(items)}
        for arm, items in sorted(arms.items())
    }


def counted_values(answers: Iterable[ValueAnswer]) -> list[ValueAnswer]:
    """The first with a value of each user, or one of who has none; without users all."""
    return first_answers(answers, lambda answer: answer.user)


def read_value_samples(answers: pd.DataFrame, items: pd.DataFrame) -> ValueSamples:
    """The samples of all arms.

    Args:
        items: with the points of scales; without a column `task`, an id means the same in every task.
    """
    arms = read_values(answers)
    if "task" not in items:
        tasks = pd.DataFrame({"task": sorted({arm.task for arm in arms})})
        items = items.merge(tasks, how="cross")
    scales = items.loc[items["kind"] == "scale", ["task", "item_id", "points"]]
    ranges = {
        (task, item): Interval(min(points), max(points))
        for task, item, points in scales.itertuples(index=False, name=None)
    }
    samples: dict[Arm, dict[str | None, ValueSample]] = {
        arm: {
            item: _item_sample(values, ranges.get((arm.task, item)))
            for item, values in of_arm.items()
        }
        for arm, of_arm in arms.items()
    }
    scale_arms = [arm for arm in arms if arm.kind == "scale"]
    for arm in scale_arms:
        alike = (arms[other] for other in scale_arms if other.family == arm.family)
        names = sorted({name for of_arm in alike for name in of_arm})
        if len(names) > 1:
            samples[arm][None] = _battery(arms[arm], samples[arm], names)
    return samples


def _item_sample(answers: Sequence[ValueAnswer], scale: Interval | None) -> ValueSample:
    """The sample of an item; `scale` is None for a number."""
    firsts = counted_values(answers)
    values = [answer for answer in firsts if not answer.is_missing]
    return ValueSample(
        parts=np.array([answer.value for answer in values], dtype=np.float64).reshape(-1, 1),
        has_users=any(answer.user for answer in values),
        n_without=sum(answer.is_missing for answer in answers),
        gaps=[scale or Interval(-math.inf, math.inf)] * (len(firsts) - len(values)),
        scale=scale,
    )


def _battery(
    items: Mapping[str, Sequence[ValueAnswer]],
    samples: Mapping[str | None, ValueSample],
    names: Sequence[str],
) -> ValueSample:
    """The scales of a task as one, each from 0 (lowest point) to 1 (highest).

    Units that lack an item are left out, and could have anything where it is missing.

    Args:
        names: the scales that every unit answers.
    """
    has_users = any(sample.has_users for sample in samples.values())
    units: dict[str | int, dict[str, float]] = {}
    for item, answers in items.items():
        low, high = samples[item].scale or (0.0, 1.0)
        for answer in counted_values(answers):
            parts = units.setdefault(answer.user if has_users else answer.replicate, {})
            if not answer.is_missing:
                parts[item] = (answer.value - low) / (high - low)
    gaps, complete = [], []
    for _, parts in sorted(units.items()):
        if len(parts) == len(names):
            complete.append([parts[name] for name in names])
        else:
            score = math.fsum(parts.values()) / len(names)
            gaps.append(Interval(score, score + (1 - len(parts) / len(names))))
    return ValueSample(
        parts=np.array(complete, dtype=np.float64).reshape(-1, len(names)),
        has_users=has_users,
        n_without=sum(sample.n_without for sample in samples.values()),
        gaps=gaps,
        scale=Interval(0.0, 1.0),
    )
