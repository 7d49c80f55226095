"""Conditions with the same users: which form a nest, which conversations each takes, what is refused."""

from typing import Any

import pytest
from tests.unit.shipped_config import shipped_config

from fieldwork.config.nests import context_number, nests_of
from fieldwork.config.settings import check_config
from fieldwork.errors import StudyError

FIRST = {"context": "history", "label": "First", "out_of": 3}
SECOND = {**FIRST, "label": "Second", "same_users_as": "first"}
THIRD = {**SECOND, "label": "Third"}


def config(selected: list[str], **conditions: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = shipped_config()
    settings["conditions"] |= {"first": FIRST, "second": SECOND, "third": THIRD} | conditions
    settings["study"]["conditions"] = ["offline", *selected]
    check_config(settings, "config.yaml")
    return settings


def test_conditions_with_the_same_users_are_a_nest() -> None:
    settings = config(["first", "history", "third", "second"])
    assert nests_of(settings) == {"first": ["first", "third", "second"]}
    assert nests_of(config(["first", "history"])) == {}


def test_a_selection_changes_no_contexts() -> None:
    for selected in (["first", "third"], ["third", "second", "first"]):
        settings = config(selected)
        numbers = [context_number(settings, name) for name in ("first", "second", "third")]
        assert numbers == [0, 1, 2]
    assert context_number(settings, "offline") == 0


@pytest.mark.parametrize(
    ("selected", "conditions", "words"),
    [
        (["first"], {"second": {**SECOND, "same_users_as": "frist"}}, "'frist' is not in conditions"),
        (["first"], {"third": {**THIRD, "same_users_as": "second"}}, "'second' has no users of its own"),
        (["first"], {"second": {**SECOND, "same_users_as": "offline"}}, "has no users of its own"),
        (
            ["first"],
            {name: {**entry, "pool": "corpus"} for name, entry in
             (("first", FIRST), ("second", SECOND), ("third", THIRD))},
            "name a condition with context: history and pool: user",
        ),
        (["first"], {"second": {**SECOND, "replicates": 3}}, "have different replicates"),
        (["first"], {"second": {**SECOND, "context": "rag"}}, "have different context"),
        (
            ["first"],
            {name: {**entry, "out_of": 2} for name, entry in
             (("first", FIRST), ("second", SECOND), ("third", THIRD))},
            "the contexts of a user need 3 conversations; set out_of to 3 or more",
        ),
        (["second"], {}, "'first' is not in study.conditions; select it, or leave 'second' out"),
    ],
)  # fmt: skip
def test_users_that_cannot_be_asked_again_are_refused(
    selected: list[str], conditions: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError) as refusal:
        config(selected, **conditions)
    assert words in str(refusal.value)
