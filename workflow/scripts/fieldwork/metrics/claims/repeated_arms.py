"""Conditions that sent the very calls of another one, so that their answers are the same answers.

A memory of which all is relevant is one: two tests of one set of answers would count it twice. Owns which
conditions those are, by the keys of the ledger.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fieldwork import tables
from fieldwork.metrics.claims.keys import ArmKey
from fieldwork.records.generation import Response

_COLUMNS = (
    "model",
    "task",
    "condition",
    "item_id",
    "puppet_id",
    "replicate",
    "ledger_key",
    "context_id",
)


class _Calls(NamedTuple):
    """The calls of an arm.

    Attributes:
        total: a number that depends on calls and users, not on their order.
        n: how many there are.
        keys: what was asked, whoever asked: question and key of the ledger.
        contexts: what stood before the questions; None of a question without a user.
    """

    total: int
    n: int
    keys: set[tuple[object, object]]
    contexts: set[object]


def repeated_arms(responses: Iterable[str]) -> dict[ArmKey, str]:
    """The arms whose every answer is that of an earlier condition, each with that condition.

    Users who bring nothing, such as empty memories, ask what is asked without a user: their arm repeats
    that one, also where one of the two has more draws.

    Args:
        responses: tables of responses, earlier conditions first.
    """
    conditions: dict[tuple[str | None, str, int, int], str] = {}
    without_users: dict[tuple[str | None, str], dict[str, set[tuple[object, object]]]] = (
        defaultdict(dict)
    )
    repeats: dict[ArmKey, str] = {}
    for path in responses:
        for arm, calls in _arms_of(tables.read_columns(path, Response, _COLUMNS)).items():
            place = arm.model, arm.task
            first = conditions.setdefault((*place, calls.total, calls.n), arm.condition)
            if calls.contexts != {None}:
                first = next(
                    (
                        name
                        for name, keys in without_users[place].items()
                        # of users with memories some may have an empty one
                        if calls.keys <= keys or (keys <= calls.keys and len(calls.contexts) == 1)
                    ),
                    first,
                )
            else:
                without_users[place][arm.condition] = calls.keys
            if first != arm.condition:
                repeats[arm] = first
    return repeats


def _arms_of(rows: Iterable[Sequence[object]]) -> dict[ArmKey, _Calls]:
    """The calls of each arm; an arm with an answer that is in no ledger is left out."""
    arms: dict[ArmKey, _Calls] = {}
    unknown: set[ArmKey] = set()
    for model, task, condition, *call, context_id in rows:
        arm = ArmKey(str(model), str(task), str(condition))
        item_id, *_, key = call
        if key is None:
            unknown.add(arm)
        calls = arms.get(arm, _Calls(0, 0, set(), set()))
        calls.keys.add((item_id, key))
        calls.contexts.add(context_id)
        number = int.from_bytes(hashlib.sha256(repr(call).encode()).digest())
        arms[arm] = calls._replace(total=calls.total + number, n=calls.n + 1)
    return {arm: calls for arm, calls in arms.items() if arm not in unknown}
