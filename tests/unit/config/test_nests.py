"""Conditions with the same users: which form a nest, which conversations each takes, what is refused."""

from typing import Any

import pytest

from fieldwork.config.nests import context_number, nests_of
from unit.shipped_config import checked_config, complaint, config_with

FIRST = {"context": "history", "label": "First", "out_of": 3}
SECOND = {**FIRST, "label": "Second", "same_users_as": "first"}
THIRD = {**SECOND, "label": "Third"}
NEST = {"first": FIRST, "second": SECOND, "third": THIRD}


def selecting(selected: str, **conditions: Any) -> dict[str, Any]:
    entries = {f"conditions/{name}": entry for name, entry in (NEST | conditions).items()}
    return entries | {"study/conditions": ["offline", *selected.split()]}


def all_with(**changes: Any) -> dict[str, Any]:
    return {name: entry | changes for name, entry in NEST.items()}


def test_conditions_with_the_same_users_are_a_nest() -> None:
    config = checked_config(selecting("first history third second"))
    assert nests_of(config) == {"first": ["first", "third", "second"]}
    assert nests_of(checked_config(selecting("first history"))) == {}


@pytest.mark.parametrize("selected", ["first third", "third second first"])
def test_a_selection_changes_no_contexts(selected: str) -> None:
    config = checked_config(selecting(selected))
    assert [context_number(config, name) for name in ("offline", *NEST)] == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("selected", "conditions", "words"),
    [
        ("first", {"second": {**SECOND, "same_users_as": "frist"}}, "'frist' is not in conditions"),
        ("first", {"third": {**THIRD, "same_users_as": "second"}}, "'second' has no users of its own"),
        ("first", {"second": {**SECOND, "same_users_as": "offline"}}, "has no users of its own"),
        ("first", all_with(pool="corpus"), "name a condition with context: history and pool: user"),
        ("first", {"second": {**SECOND, "replicates": 3}}, "have different replicates"),
        ("first", {"second": {**SECOND, "context": "rag"}}, "have different context"),
        ("first", all_with(out_of=2), "contexts of a user need 3 conversations; set out_of to 3 or more"),
        ("second", {}, "'first' is not in study.conditions; select it, or leave 'second' out"),
    ],
)  # fmt: skip
def test_users_that_cannot_be_asked_again_are_refused(
    selected: str, conditions: dict[str, Any], words: str
) -> None:
    assert words in complaint(config_with(selecting(selected, **conditions)))
