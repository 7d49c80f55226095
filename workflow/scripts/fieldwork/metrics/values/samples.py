"""The values that answers give: of each item one a user, and of the scales of a task together.

Owns how an answers table is read by metrics of values. A user's first answer with a value counts; without
users all answers count. Responses that failed are no data. Promises an order that does not depend on the
order of the rows.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.records.tasks import VALUE_KINDS
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import Interval

OF_ARM = ["model", "task", "kind", "condition"]
"""Columns that name an arm."""


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


def counted_values(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers to scales and numbers that count, in order, an item's with a value before the others.

    Of a user these are the first with a value, or the first of those that have none. Further columns:
    `user`, empty without one, `is_missing`, and `n_without`: answers to the item without a value.
    """
    rows = answers[answers["kind"].isin(VALUE_KINDS) & (answers["outcome"] != "failed")]
    rows = rows.assign(
        user=rows["puppet_id"].astype(object).fillna(""), is_missing=rows["value"].isna()
    )
    rows["n_without"] = rows.groupby([*OF_ARM, "item_id"])["is_missing"].transform("sum")
    rows = rows.sort_values([*OF_ARM, "item_id", "is_missing", "user", "replicate", "value"])
    return rows[~rows.duplicated([*OF_ARM, "item_id", "user"]) | (rows["user"] == "")]


def read_value_samples(answers: pd.DataFrame, items: pd.DataFrame) -> ValueSamples:
    """The samples of all arms.

    Args:
        items: with the points of scales; without a column `task`, an id means the same in every task.
    """
    rows = counted_values(answers)
    if "task" not in items:
        items = items.merge(rows[["task"]].drop_duplicates(), how="cross")
    scales = items.loc[items["kind"] == "scale", ["task", "item_id", "points"]]
    ranges = {
        (task, item): Interval(min(points), max(points))
        for task, item, points in scales.itertuples(index=False, name=None)
    }
    names = rows[rows["kind"] == "scale"].groupby(["model", "task"])["item_id"].unique()
    samples: dict[Arm, dict[str | None, ValueSample]] = {}
    for arm_names, of_arm in rows.groupby(OF_ARM):
        arm = Arm(*map(str, arm_names))
        samples[arm] = {
            str(item): _item_sample(of_item, ranges.get((arm.task, item)))
            for item, of_item in of_arm.groupby("item_id")
        }
        if arm.kind == "scale" and len(names[arm.family]) > 1:
            samples[arm][None] = _battery(of_arm, samples[arm], sorted(names[arm.family]))
    return samples


def _item_sample(rows: pd.DataFrame, scale: Interval | None) -> ValueSample:
    """The sample of an item; `scale` is None for a number."""
    valued = rows[~rows["is_missing"]]
    return ValueSample(
        parts=valued[["value"]].to_numpy(dtype=np.float64),
        has_users=bool((valued["user"] != "").any()),
        n_without=int(rows["n_without"].iloc[0]),
        gaps=[scale or Interval(-math.inf, math.inf)] * (len(rows) - len(valued)),
        scale=scale,
    )


def _battery(
    rows: pd.DataFrame, samples: Mapping[str | None, ValueSample], names: list[str]
) -> ValueSample:
    """The scales of a task as one, each from 0 (lowest point) to 1 (highest).

    Units that lack an item are left out, and could have anything where it is missing.

    Args:
        names: the scales that every unit answers.
    """
    has_users = any(sample.has_users for sample in samples.values())
    low, high = (
        rows["item_id"].map({i: s.scale[k] for i, s in samples.items() if s.scale}) for k in (0, 1)
    )
    shares = ((rows["value"] - low) / (high - low)).groupby(
        [rows["user" if has_users else "replicate"], rows["item_id"]]
    )
    table = shares.last().unstack().reindex(columns=names)
    gaps = []
    for row in table[table.isna().any(axis=1)].to_numpy().tolist():
        parts = [part for part in row if not math.isnan(part)]
        score = math.fsum(parts) / len(names)
        gaps.append(Interval(score, score + (1 - len(parts) / len(names))))
    return ValueSample(
        parts=table.dropna().to_numpy(),
        has_users=has_users,
        n_without=sum(sample.n_without for sample in samples.values()),
        gaps=gaps,
        scale=Interval(0.0, 1.0),
    )
