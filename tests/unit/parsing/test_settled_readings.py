"""Replies whose reading is settled, by reader: `cases/` holds them in groups that say why.

A case is a text and its reading. A group may say what is asked beside the text, and that each case of it
has options or letters of its own, which then stand third.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldwork.parsing.canonical import canonicalise
from fieldwork.parsing.choices import ParsedChoice, parse_choice
from fieldwork.parsing.item_names import item_names
from fieldwork.parsing.lists import parse_list
from fieldwork.parsing.refusals import is_refusal

CASES = Path(__file__).parent / "cases"


def groups(name: str) -> list[dict[str, Any]]:
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def every(name: str) -> pytest.MarkDecorator:
    """All cases of a reader, with the group of each."""
    cases = [
        pytest.param(group, *case[:2], case[2:], id=f"{group['why']}, {number}")
        for group in groups(name)
        for number, case in enumerate(group["cases"], 1)
    ]
    return pytest.mark.parametrize(("group", "text", "reading", "own"), cases)


@every("letters")
def test_letters(group: dict[str, Any], text: str, reading: str | None, own: list[Any]) -> None:
    options = own[0] if group.get("own") == "options" else group.get("options", [])
    letters = own[0] if group.get("own") == "letters" else group.get("letters", "ABCD")
    if 0 < len(options) < 4:
        letters = letters[: len(options)]
    choice = parse_choice(text, letters=letters, choices=options)
    if group.get("reads") == "reason":
        assert choice == ParsedChoice(None, None, reading)
    else:
        assert getattr(choice, group.get("reads", "letter")) == reading


def lengths(group: dict[str, Any]) -> Iterator[dict[str, int | None]]:
    """The numbers of items that a question may ask for; nothing is said where all are the same."""
    if "lengths" not in group:
        yield {}
    for length in group.get("lengths", ()):
        yield {"expected_length": length}


@every("lists")
def test_lists(group: dict[str, Any], text: str, reading: str | list[str], own: list[Any]) -> None:
    assert not own
    expected = (None, reading) if isinstance(reading, str) else (tuple(reading), None)
    more = {name: group[name] for name in ("question", "is_truncated") if name in group}
    for length in lengths(group):
        assert parse_list(text, **length, **more)[:2] == expected, length


@every("refusals")
def test_refusals(group: dict[str, Any], text: str, reading: bool, own: list[Any]) -> None:
    assert not own, group["why"]
    assert is_refusal(text) is reading


@every("names")
def test_names_that_merge(group: dict[str, Any], text: str, reading: str, own: tuple[bool]) -> None:
    """Of two names the commoner one stands for both where they are one."""
    merges = canonicalise({text: 3, reading: 1}, aliases={}, overrides={})
    assert merges[text].canonical == text, group["why"]
    assert merges[reading].canonical == (text if own[0] else reading)


@every("entries")
def test_names_of_entries(group: dict[str, Any], text: str, reading: str, own: list[Any]) -> None:
    assert not own, group["why"]
    assert item_names([text, "Heat"]) == (reading, "Heat")
