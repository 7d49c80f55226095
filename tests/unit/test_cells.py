"""Which answers count: the first of each user that gives something, and every one without a user."""

import dataclasses

import pytest

from fieldwork.cells import mark_counted
from fieldwork.records.tasks import ItemKind
from unit.table_rows import answer_of

BLANK = answer_of(condition="history", item_id="one", puppet_id="u", kind="list")


def counted(kind: ItemKind, *changes: dict[str, object]) -> list[tuple[bool | None, bool | None]]:
    """The marks of answers of one kind that are as these changes say."""
    answers = [dataclasses.replace(BLANK, kind=kind, **change) for change in changes]  # type: ignore[arg-type]
    return [(answer.is_counted, answer.is_value_counted) for answer in mark_counted(answers)]


def test_of_lists_the_first_with_an_option_counts_whatever_the_order_of_rows() -> None:
    second, first = {"replicate": 2, "items": ["a"]}, {"replicate": 1, "items": ["b"]}
    assert counted("list", second, {"items": []}, first) == [
        (False, False),
        (False, False),
        (True, False),
    ]


def test_an_unread_letter_counts_and_of_its_values_the_first_there_is() -> None:
    unread, read = {"letter": None}, {"replicate": 1, "letter": "B", "value": 2.0}
    assert counted("choice", unread, read) == [(True, False), (False, False)]
    assert counted("scale", unread, read) == [(True, False), (False, True)]
    assert counted("number", unread, read) == [(False, False), (True, True)]


@pytest.mark.parametrize("kind", ["list", "choice", "scale", "number", "text"])
def test_what_failed_counts_nowhere_and_without_a_user_all_do(kind: ItemKind) -> None:
    reading = {"items": ["a"], "letter": "A", "value": 1.0, "puppet_id": None}
    marks = counted(kind, reading, reading | {"replicate": 1}, reading | {"outcome": "failed"})
    has_value = kind in ("scale", "number")
    assert marks == [(True, has_value), (True, has_value), (False, False)]


def test_users_items_and_arms_are_counted_by_themselves() -> None:
    readings = [
        {"items": ["a"], name: value}
        for name in ("model", "task", "condition", "item_id", "puppet_id")
        for value in ("x", "y")
    ]
    assert {mark for mark, _ in counted("list", *readings)} == {True}
