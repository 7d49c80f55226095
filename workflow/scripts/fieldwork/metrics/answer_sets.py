"""Answers of both kinds in one form: the set of options an answer gives.

Owns the reading of an answers table for metrics that do not care whether a question asks for a list or
a letter. A choice answer is the set of its one letter, or of `unknown` where there is none; a list
answer without a readable option is counted and left out, as in `heterogeneity`. Responses that
failed are no data. Promises an order that does not depend on the order of the rows.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import ItemKind

Options = tuple[str, ...]

_COLUMNS = ("model", "task", "condition", "item_id", "kind", "puppet_id", "replicate")


class Arm(NamedTuple):
    """A model's answers to one kind of item of a task, under one condition."""

    model: str
    task: str
    kind: ItemKind
    condition: str


class Given(NamedTuple):
    """One answer; `puppet` is empty where nobody asked."""

    puppet: str
    replicate: int
    options: Options


class ItemAnswers(NamedTuple):
    """The answers to an item that say something, in order, and how many do not."""

    given: list[Given]
    n_unread: int


def read_answer_sets(answers: pd.DataFrame) -> dict[Arm, dict[str, ItemAnswers]]:
    """Answers by arm and item, both in alphabetical order, an item's by puppet and replicate.

    An item of which nothing arrived is there without answers. An unreadable choice answer is among
    `given` and counted in `n_unread` too.
    """
    if answers.empty:
        return {}
    found: dict[Arm, dict[str, list[Given]]] = {}
    unread: dict[tuple[Arm, str], int] = {}
    rows = answers[[*_COLUMNS, "outcome", "letter", "items"]].itertuples(index=False, name=None)
    for model, task, condition, item, kind, puppet, replicate, outcome, letter, options in rows:
        arm = Arm(model, task, kind, condition)
        given = found.setdefault(arm, {}).setdefault(item, [])
        if outcome == "failed":
            continue
        read = _listed(options) if kind == "list" else _chosen(letter)
        if not read:
            unread[arm, item] = unread.get((arm, item), 0) + 1
        if read or kind == "choice":
            who = puppet if isinstance(puppet, str) else ""
            given.append(Given(who, int(replicate), read or (UNKNOWN,)))
    return {
        arm: {i: ItemAnswers(sorted(items[i]), unread.get((arm, i), 0)) for i in sorted(items)}
        for arm, items in sorted(found.items())
    }


def _listed(value: Any) -> Options:
    """Distinct options in alphabetical order; NULL comes out of pandas as None or NaN."""
    if not isinstance(value, (np.ndarray, list, tuple)):
        return ()
    return tuple(sorted({str(option) for option in value}))


def _chosen(value: Any) -> Options:
    return (value,) if isinstance(value, str) else ()


def independent(answers: ItemAnswers) -> list[Options]:
    """The first answer of each puppet, or all answers where nobody asks."""
    chosen: list[Options] = []
    for puppet, given in groupby(answers.given, key=lambda answer: answer.puppet):
        options = [answer.options for answer in given]
        chosen += options[:1] if puppet else options
    return sorted(chosen)


def says_nothing(items: Mapping[str, ItemAnswers]) -> bool:
    """Whether not one answer could be read."""
    return all(
        answer.options == (UNKNOWN,) for answers in items.values() for answer in answers.given
    )


def count_unread(items: Mapping[str, ItemAnswers]) -> int:
    """Answers that could not be read."""
    return sum(answers.n_unread for answers in items.values())
