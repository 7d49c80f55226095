"""The table of kinds agrees with the settings, with what makes contexts, and with the shipped config."""

from itertools import chain
from typing import Any, get_args

import pytest

from fieldwork.conditions import KINDS, counts_conversations, has_user, kind_of, materials_of
from fieldwork.puppets.context_kinds import MAKERS
from fieldwork.sections.conditions import AnyCondition


def test_the_settings_know_the_same_kinds() -> None:
    entries = get_args(get_args(AnyCondition)[0])
    kinds = [get_args(entry.model_fields["context"].annotation) for entry in entries]
    assert sorted(chain.from_iterable(kinds)) == sorted(KINDS)


def test_every_kind_with_contexts_has_something_that_makes_them() -> None:
    assert set(MAKERS) == {name for name, kind in KINDS.items() if kind.has_contexts}


@pytest.mark.parametrize(
    ("condition", "materials"),
    [
        ({"context": "none"}, set()),
        ({"context": "history", "profile": None}, {"conversations"}),
        ({"context": "history", "profile": "system"}, {"conversations", "profiles"}),
        ({"context": "rag", "profile": None}, {"conversations", "vectors", "questions"}),
        ({"context": "profile", "role": "system"}, {"profiles"}),
        ({"context": "recorded"}, {"recordings"}),
    ],
    ids=["none", "history", "history and profile", "rag", "profile", "recorded"],
)
def test_what_contexts_are_made_from(condition: dict[str, Any], materials: set[str]) -> None:
    assert materials_of(condition) == materials
    assert has_user(condition) == bool(materials)


def test_profiles_memories_and_recordings_have_no_number_of_conversations() -> None:
    without = {name for name in KINDS if not counts_conversations({"context": name})}
    assert without == {"profile", "memory", "memory_relevant", "recorded"}
    assert kind_of({"context": "history"}).has_conversations
