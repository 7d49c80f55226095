"""Answers with values as sets of steps, so that their variance counts how far apart answers are.

A point of a scale is the set of all points up to it, a number the set of the steps that it reaches: half
the squared distance of two such sets is half the number of steps between the answers. Lists and choices
are the sets of their options, as in `answer_sets`.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import (
    Arm,
    ItemAnswers,
    Options,
    collect_answers,
    read_answer_sets,
)
from fieldwork.records.tasks import VALUE_KINDS
from fieldwork.statistics.arrays import Floats

MOST_STEPS = 20
"""Steps of a number: quantiles of all answers to the item, so that no far number decides alone."""


def read_ordered_answers(answers: pd.DataFrame) -> dict[Arm, dict[str, ItemAnswers]]:
    """`read_answer_sets` of lists and choices, and of scales and numbers the steps that they reach.

    A scale's answer without a value is the option beside the scale, or `unknown`; a number's is left out
    and counted.
    """
    if answers.empty or not answers["kind"].isin(VALUE_KINDS).any():
        return read_answer_sets(answers)
    is_value = answers["kind"].isin(VALUE_KINDS)
    rows = answers[is_value & (answers["outcome"] != "failed")]
    steps = _steps(rows)
    columns = ["model", "task", "item_id", "value", "letter"]
    readings = [
        _options(steps[model, task, item], value, letter)
        for model, task, item, value, letter in rows[columns].itertuples(index=False, name=None)
    ]
    arms = read_answer_sets(answers[~is_value]) | collect_answers(rows, readings)
    return dict(sorted(arms.items()))


def _steps(rows: pd.DataFrame) -> Mapping[tuple[str, str, str], Floats]:
    """The steps of each item, ascending: its values, or of many values quantiles."""
    groups: Any = rows.groupby(["model", "task", "item_id"], sort=True)["value"]
    steps: dict[tuple[str, str, str], Floats] = {}
    for (model, task, item), values in groups:
        distinct = np.unique(values.dropna().to_numpy(dtype=np.float64))
        if len(distinct) > MOST_STEPS:
            shares = np.arange(MOST_STEPS) / MOST_STEPS
            quantiles = np.quantile(values.dropna(), shares, method="inverted_cdf")
            distinct = np.unique(quantiles)
        steps[model, task, item] = distinct
    return steps


def _options(steps: Floats, value: float | None, letter: object) -> Options:
    if value is None or math.isnan(value):
        return (f"beside {letter}",) if isinstance(letter, str) else ()
    return tuple(f"step {n:02d}" for n in range(int(np.searchsorted(steps, value, side="right"))))
