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
    AnswerSet,
    Arm,
    ItemAnswers,
    Options,
    read_answer_sets,
)
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import LETTER_KINDS, VALUE_KINDS
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
    option_arms = read_answer_sets(answers[~answers["kind"].isin(VALUE_KINDS)])
    rows = answers[answers["kind"].isin(VALUE_KINDS) & (answers["outcome"] != "failed")]
    steps = _steps(rows)
    columns = ["model", "task", "kind", "condition", "item_id", "puppet_id", "replicate"]
    arms: dict[Arm, dict[str, list[AnswerSet]]] = {}
    n_unread: dict[tuple[Arm, str], int] = {}
    for *names, item, puppet, replicate, letter, value in rows[
        [*columns, "letter", "value"]
    ].itertuples(index=False, name=None):
        arm = Arm(*names)
        answer_sets = arms.setdefault(arm, {}).setdefault(item, [])
        options = _options(steps[*arm.family, item], value, letter)
        if not options:
            n_unread[arm, item] = n_unread.get((arm, item), 0) + 1
        if options or arm.kind in LETTER_KINDS:
            user = puppet if isinstance(puppet, str) else ""
            answer_sets.append(AnswerSet(user, int(replicate), options or (UNKNOWN,)))
    value_arms = {
        arm: {i: ItemAnswers(sorted(items[i]), n_unread.get((arm, i), 0)) for i in sorted(items)}
        for arm, items in arms.items()
    }
    return dict(sorted((option_arms | value_arms).items()))


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
