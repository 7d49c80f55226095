"""Ids of units without people's ids: whole or in part, in any spelling, and nothing else changed."""

import re

import pytest

from fieldwork.judging.unit_names import UnitNames
from fieldwork.privacy import pseudonym

KEY = b"k" * 32
NAMES = UnitNames(["rater-1", "team/ann", "Zoë"], KEY)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rater-1/7", f"{pseudonym('rater-1', KEY)}/7"),
        ("task/RATER-1 /7", f"task/{pseudonym('rater-1', KEY)}/7"),
        ("team/ann", pseudonym("team/ann", KEY)),
        # the same name, composed of a letter and an accent
        ("Zoe\u0308/1", f"{pseudonym('Zoë', KEY)}/1"),
        ("rater-12/7", "rater-12/7"),
        ("81/gpt-4/1", "81/gpt-4/1"),
    ],
)
def test_parts_that_are_a_raters_id_are_hashed_as_the_rater_is(name: str, expected: str) -> None:
    assert NAMES.name(name) == expected


@pytest.mark.parametrize(
    "name", ["ann@example.org", "ann@example.org-7", "5f1a2b3c4d5e6f7a8b9c0d1e"]
)
def test_the_address_or_panel_id_of_somebody_else_is_hashed_too(name: str) -> None:
    assert re.fullmatch(r"p[0-9a-f]{16}/7", NAMES.name(f"{name}/7"))
    assert NAMES.name(name) == NAMES.name(name)
