"""Rarefaction curves: how many distinct options so many answers may be expected to name.

Owns the curve of each cell and the mean curve of a task. Independent answers only: of a puppet that
answers an item several times the first readable one counts. The formula is that of `unique_items` in
`heterogeneity`, for every number of answers there are.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.answer_sets import Arm, ItemAnswers, Options, read_answer_sets
from fieldwork.records.metrics import Rarefaction
from fieldwork.statistics.arrays import Floats


class _Curve(NamedTuple):
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
    arms = {a: items for a, items in read_answer_sets(answers).items() if a.kind == "list"}
    rows: list[Rarefaction] = []
    for arm, items in arms.items():
        asked = {
            item
            for sibling in arms
            if sibling._replace(condition="") == arm._replace(condition="")
            for item in arms[sibling]
        }
        curves = {item: _curve(answers) for item, answers in items.items()}
        rows += _mean_rows(arm, curves, sorted(asked))
        rows += [row for item in curves for row in _rows(arm, item, curves[item])]
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.item_id or "", r.n_answers))


def rarefaction_curve(responses: Sequence[Options]) -> Floats:
    """Expected distinct options among m of the responses, m = 1..N, shape (N,).

    S(m) = sum over options of 1 - C(N - k, m) / C(N, m), with k responses naming the option:
    Hurlbert 1971; sample-based: Colwell, Mao and Chang 2004.
    """
    total = len(responses)
    named = Counter(option for options in responses for option in options)
    counts, options = np.unique(np.array(list(named.values()), dtype=np.int64), return_counts=True)
    # chance that none of the m answers drawn names an option that k name, built up over m
    m = np.arange(total, dtype=np.float64)
    factors = np.maximum(total - counts[:, None] - m, 0.0) / (total - m)
    curve: Floats = (options[:, None] * (1.0 - np.cumprod(factors, axis=1))).sum(axis=0)
    return curve


def _curve(answers: ItemAnswers) -> _Curve:
    chosen = answers.independent()
    values = rarefaction_curve(chosen) if chosen else np.zeros(0)
    return _Curve(values, answers.n_unread)


def _rows(arm: Arm, item: str, curve: _Curve) -> Iterator[Rarefaction]:
    reason = None if len(curve.values) else f"none of {curve.n_unread} answers gives an option"
    yield from _points(arm, item, curve, n_items=1, reason=reason)


def _mean_rows(
    arm: Arm, curves: Mapping[str, _Curve], asked: Sequence[str]
) -> Iterator[Rarefaction]:
    unread = sum(curve.n_unread for curve in curves.values())
    empty = [item for item in asked if item not in curves or not len(curves[item].values)]
    if empty:
        reason = f"no mean over the items: no answer to {empty[0]} can be read"
        mean = _Curve(np.zeros(0), unread)
    else:
        reason = None
        least = min(len(curves[item].values) for item in asked)
        mean = _Curve(np.mean([curves[item].values[:least] for item in asked], axis=0), unread)
    yield from _points(arm, None, mean, n_items=len(asked), reason=reason)


def _points(
    arm: Arm, item: str | None, curve: _Curve, *, n_items: int, reason: str | None
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
