"""Slots of a question filled with a person of a group: `{name}` and what else a table of people has.

A row of the table is a person: the group, and a text for each slot. Promises that a question names one
person, wherever its slots stand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fieldwork.errors import StudyError
from fieldwork.files import texts
from fieldwork.files.headers import name_list
from fieldwork.records.tasks import Item

Person = Mapping[str, str]
"""A person's texts, by slot."""


def read_people(table: str, group: str, setting: str) -> list[Person]:
    """The people of a group.

    Args:
        setting: that names the group, for messages.

    Raises:
        StudyError: the table has no such group, no slot, or an empty cell.
    """
    rows = texts.read_table(table, ("group",))
    people = [row for row in rows if row["group"] == group]
    if not people:
        groups = name_list(sorted({row["group"] for row in rows}))
        raise StudyError(f"{setting}: {table} has no group {group!r}; its groups are {groups}")
    slots = [name for name in people[0] if name != "group"]
    if not slots:
        raise StudyError(
            f"{table}: has no column beside `group`; add one for a slot, such as `name`"
        )
    for person in people:
        for slot in slots:
            if not person[slot].strip():
                raise StudyError(
                    f"{table}: a row of the group {group!r} has an empty cell in the column {slot!r}; "
                    f"complete or delete the row"
                )
    return [{slot: person[slot] for slot in slots} for person in people]


def require_slots(
    items: Sequence[Item], people: Sequence[Person], table: str, setting: str
) -> None:
    """Raise StudyError where no question has a slot of the table."""
    slots = [f"{{{slot}}}" for slot in people[0]]
    if not any(slot in item.prompt for item in items for slot in slots):
        raise StudyError(
            f"{setting}: no question of the task has a slot of {table}; its slots are "
            f"{', '.join(slots)}: write one into the questions, or give another table in put.table"
        )


def name_person(item: Item, person: Person) -> Item:
    """The question about this person."""
    return replace(
        item,
        question=_fill(item.question, person),
        prompt=_fill(item.prompt, person),
        choices=[_fill(choice, person) for choice in item.choices],
    )


def _fill(text: str, person: Person) -> str:
    for slot, words in person.items():
        text = text.replace(f"{{{slot}}}", words)
    return text
