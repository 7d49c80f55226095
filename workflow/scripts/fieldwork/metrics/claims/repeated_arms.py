"""Conditions that sent the very calls of another one, so that their answers are the same answers.

A memory of which all is relevant is one: two tests of one set of answers would count it twice. Owns which
conditions those are, by the keys of the ledger.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fieldwork import tables
from fieldwork.records.generation import Response

_COLUMNS = ("model", "task", "condition", "item_id", "puppet_id", "replicate", "ledger_key")


class RepeatedArm(NamedTuple):
    """A model's answers to a task under a condition that repeats another."""

    model: str
    task: str
    condition: str


class _CallSum(NamedTuple):
    """The calls of an arm as a number that does not depend on their order, and how many there are."""

    total: int
    n: int


def repeated_arms(responses: Iterable[str]) -> dict[RepeatedArm, str]:
    """The arms whose every answer is that of an earlier condition, each with that condition.

    Args:
        responses: tables of responses, earlier conditions first.
    """
    conditions: dict[tuple[str, str, _CallSum], str] = {}
    repeats: dict[RepeatedArm, str] = {}
    for path in responses:
        for arm, calls in _arms_of(tables.read_columns(path, Response, _COLUMNS)).items():
            first = conditions.setdefault((arm.model, arm.task, calls), arm.condition)
            if first != arm.condition:
                repeats[arm] = first
    return repeats


def _arms_of(rows: Iterable[Sequence[object]]) -> dict[RepeatedArm, _CallSum]:
    """The calls of each arm; an arm with an answer that is in no ledger is left out."""
    arms: dict[RepeatedArm, _CallSum] = defaultdict(lambda: _CallSum(0, 0))
    unknown: set[RepeatedArm] = set()
    for model, task, condition, *call in rows:
        arm = RepeatedArm(str(model), str(task), str(condition))
        if call[-1] is None:
            unknown.add(arm)
        number = int.from_bytes(hashlib.sha256(repr(call).encode()).digest())
        arms[arm] = _CallSum(arms[arm].total + number, arms[arm].n + 1)
    return {arm: calls for arm, calls in arms.items() if arm not in unknown}
