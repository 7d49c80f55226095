"""The values that answers give: of each item by user, and of the scales of a task together.

Owns how an answers table is read by metrics of values. A user's first answer with a value counts; without
users all answers count. Responses that failed are no data. Promises an order that does not depend on the
order of the rows.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.records.tasks import VALUE_KINDS
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.first_answers import first_answers


class ValueAnswer(NamedTuple):
    """A value; `puppet` is empty where the model is asked without a user."""

    puppet: str
    replicate: int
    value: float


class ItemValues(NamedTuple):
    """The values that answers to an item give, in order of puppet and replicate.

    Attributes:
        missing: puppet and replicate of the answers without a value; refusals are among them.
    """

    answers: list[ValueAnswer]
    missing: list[tuple[str, int]]

    @property
    def n_without(self) -> int:
        """Answers without a value."""
        return len(self.missing)

    @property
    def n_missing(self) -> int:
        """Users none of whose answers has a value, or answers without a user and a value."""
        users_with_value = {answer.puppet for answer in self.answers}
        users = {puppet for puppet, _ in self.missing} - {""}
        return len(users - users_with_value) + sum(not puppet for puppet, _ in self.missing)

    def firsts(self) -> list[ValueAnswer]:
        """The first answer of each user, or all answers without a user."""
        return first_answers(self.answers, lambda answer: answer.puppet)

    @property
    def has_users(self) -> bool:
        """Whether users gave the answers."""
        return any(answer.puppet for answer in self.answers)


class Battery(NamedTuple):
    """The scales of a task together.

    Attributes:
        values: shape (units, items), each from 0 (lowest point) to 1 (highest). A unit is a user, or
            without users a rerun of all items; those who lack an item are left out.
        n_without: answers without a value.
        gaps: of each unit that lacks an item, the score with 0 for what is missing, and the missing
        share.
    """

    values: Floats
    n_without: int
    has_users: bool
    gaps: list[tuple[float, float]]

    def scores(self) -> list[float]:
        """The mean of each unit over the items."""
        return [math.fsum(row) / len(row) for row in self.values.tolist()]


class ScaleRange(NamedTuple):
    """The least and the largest value of a scale."""

    low: float
    high: float

    @property
    def span(self) -> float:
        """From one end to the other."""
        return self.high - self.low


ItemRanges = Mapping[tuple[str, str], ScaleRange]
"""Of scales, by task and item."""


def read_values(answers: pd.DataFrame) -> dict[Arm, dict[str, ItemValues]]:
    """Values by arm and item, both in alphabetical order."""
    rows = answers[answers["kind"].isin(VALUE_KINDS) & (answers["outcome"] != "failed")]
    columns = ["model", "task", "kind", "condition", "item_id", "puppet_id", "replicate", "value"]
    arms: dict[Arm, dict[str, list[ValueAnswer]]] = {}
    missing: dict[tuple[Arm, str], list[tuple[str, int]]] = {}
    for *names, item, puppet, replicate, value in rows[columns].itertuples(index=False, name=None):
        arm = Arm(*names)
        values = arms.setdefault(arm, {}).setdefault(item, [])
        user = puppet if isinstance(puppet, str) else ""
        if value is None or math.isnan(value):
            missing.setdefault((arm, item), []).append((user, int(replicate)))
            continue
        values.append(ValueAnswer(user, int(replicate), float(value)))
    return {
        arm: {
            item: ItemValues(sorted(items[item]), sorted(missing.get((arm, item), [])))
            for item in sorted(items)
        }
        for arm, items in sorted(arms.items())
    }


def read_ranges(items: pd.DataFrame, tasks: Sequence[str]) -> dict[tuple[str, str], ScaleRange]:
    """The ranges of the scales; without a column `task`, an id means the same item in every task."""
    scales = items[items["kind"] == "scale"]
    tasks_of = [[task] for task in scales["task"]] if "task" in scales else [tasks] * len(scales)
    return {
        (task, item): ScaleRange(min(points), max(points))
        for item, points, own_tasks in zip(
            scales["item_id"], scales["points"], tasks_of, strict=True
        )
        for task in own_tasks
    }


def read_battery(
    arm: Arm, items: Mapping[str, ItemValues], names: Sequence[str], ranges: ItemRanges
) -> Battery:
    """The scales of a task as one.

    Args:
        names: the scales that every unit answers.
    """
    has_users = any(values.has_users for values in items.values())
    units: dict[str, dict[str, float]] = {}
    for name in names:
        low, high = ranges[arm.task, name]
        answers = items[name] if name in items else ItemValues([], [])
        for puppet, replicate in answers.missing:
            units.setdefault(puppet if has_users else f"{replicate:09d}", {})
        for answer in answers.firsts():
            unit = answer.puppet if has_users else f"{answer.replicate:09d}"
            units.setdefault(unit, {})[name] = (answer.value - low) / (high - low)
    complete = [
        [units[unit][name] for name in names]
        for unit in sorted(units)
        if len(units[unit]) == len(names)
    ]
    table = np.array(complete, dtype=np.float64).reshape(len(complete), len(names))
    gaps = [
        (math.fsum(unit.values()) / len(names), 1 - len(unit) / len(names))
        for _, unit in sorted(units.items())
        if len(unit) < len(names)
    ]
    return Battery(
        values=table,
        n_without=sum(values.n_without for values in items.values()),
        has_users=has_users,
        gaps=gaps,
    )
