"""Rarefaction curves: how many distinct options a number of answers is expected to name.

Owns the curve of each item and condition, and the mean curve of a task. A puppet's first readable
answer counts, so that answers are independent. The curve is `unique_items` of `heterogeneity` at every
number of answers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm, ItemAnswers, read_list_answers
from fieldwork.records.metrics import Rarefaction
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.richness import rarefaction_curve


class _RarefactionCurve(NamedTuple):
    """Expected distinct options at 1, 2, … answers; without a value where there are none."""

    values: Floats
    n_unread: int


def measure_rarefaction(answers: pd.DataFrame) -> list[Rarefaction]:
    """The curve of every list item under every condition, and the mean over the items of the task.

    The mean is taken over all items that the task has under any condition, up to the fewest answers
    among them; where one of them has no readable answer there is no mean. A curve that does not
    exist is one row with `n_answers` 0 and a reason. In order of model, task, condition, item (the
    mean first) and number of answers; empty input gives no rows.
    """
    arms = read_list_answers(answers)
    names = sorted({(*arm.family, item) for arm, items in arms.items() for item in items})
    rows: list[Rarefaction] = []
    for arm, items in arms.items():
        task_items = [item for *family, item in names if tuple(family) == arm.family]
        curves = {item: _curve(item_answers) for item, item_answers in items.items()}
        rows += _mean_rows(arm, curves, task_items)
        rows += [row for item in curves for row in _rows(arm, item, curves[item])]
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.item_id or "", r.n_answers))


def _curve(answers: ItemAnswers) -> _RarefactionCurve:
    independent = answers.independent()
    counts = Counter(option for options in independent for option in options)
    values = rarefaction_curve(counts.values(), len(independent)) if independent else np.zeros(0)
    return _RarefactionCurve(values, answers.n_unread)


def _rows(arm: Arm, item: str, curve: _RarefactionCurve) -> Iterator[Rarefaction]:
    reason = None if len(curve.values) else f"none of {curve.n_unread} answers gives an option"
    yield from _points(arm, item, curve, n_items=1, reason=reason)


def _mean_rows(
    arm: Arm, curves: Mapping[str, _RarefactionCurve], items: Sequence[str]
) -> Iterator[Rarefaction]:
    n_unread = sum(curve.n_unread for curve in curves.values())
    empty = [item for item in items if item not in curves or not len(curves[item].values)]
    if empty:
        reason = f"no mean over the items: no answer to {empty[0]} can be read"
        values = np.zeros(0)
    else:
        reason = None
        length = min(len(curves[item].values) for item in items)
        values = np.mean([curves[item].values[:length] for item in items], axis=0)
    mean = _RarefactionCurve(values, n_unread)
    yield from _points(arm, None, mean, n_items=len(items), reason=reason)


def _points(
    arm: Arm, item: str | None, curve: _RarefactionCurve, *, n_items: int, reason: str | None
) -> Iterator[Rarefaction]:
    values: list[float | None] = [None] if reason else [float(v) for v in curve.values]
    for place, value in enumerate(values):
        yield Rarefaction(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            item_id=item,
            n_answers=0 if reason else place + 1,
            unique_items=value,
            n_responses=len(curve.values),
            n_items=n_items,
            n_unread=curve.n_unread,
            reason=reason,
        )
