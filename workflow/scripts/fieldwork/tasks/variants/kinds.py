"""The kinds of changes by which a task is derived from another, and how they are made.

This is the one table of them. A new kind is an entry here, its setting in the config's schema, and a
function. Promises that item ids stay, so that answers pair by item; that options, their letters and the
right one stay; and that what is drawn for a question depends on the seed and its id alone.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.list_lengths import list_length
from fieldwork.records.tasks import Item
from fieldwork.tasks.items import read_sources
from fieldwork.tasks.own_items import TaskSource
from fieldwork.tasks.variants import names, scaffolds, translations
from fieldwork.tasks.variants.casual import put_casual, read_chat_words
from fieldwork.tasks.variants.dialects import put_dialect, read_dialect
from fieldwork.tasks.variants.fragments import put_fragment, read_politeness
from fieldwork.tasks.variants.misspellings import put_misspellings, read_misspellings
from fieldwork.tasks.variants.typos import put_typos


class Step(NamedTuple):
    """One change.

    Attributes:
        setting: where it stands in the config, for messages.
        kind: a key of `KINDS`.
        value: of the setting.
        table: file of its words, features or names; None for a kind without one.
        seed: of what is drawn.
    """

    setting: str
    kind: str
    value: Any
    table: str | None
    seed: int


ItemChange = Callable[[Item, random.Random], Item]
"""Puts one question otherwise; what could not be changed comes back as it is."""


def change_items(items: Sequence[Item], steps: Sequence[Step]) -> list[Item]:
    """The questions after all steps, in order, each with whether all of them could be made.

    Raises:
        StudyError: a step cannot be made for any question, or its files do not fit.
    """
    if steps:
        # read from the clean prompt: a slip may hide the number of options
        items = [replace(item, list_length=_list_length(item)) for item in items]
    for step in steps:
        change = KINDS[step.kind].prepare(step, items)
        results = [change(item, _generator(step, item)) for item in items]
        is_changed = [result != item for result, item in zip(results, items, strict=True)]
        if not any(is_changed):
            raise StudyError(_nothing_changed(step, items))
        items = [
            replace(result, applied=was_changed and item.applied is not False)
            for result, item, was_changed in zip(results, items, is_changed, strict=True)
        ]
    return list(items)


def _list_length(item: Item) -> int | None:
    is_open = item.kind == "list" and item.list_length is None
    return list_length(item.prompt) if is_open else item.list_length


def _generator(step: Step, item: Item) -> random.Random:
    return random.Random(f"{step.seed} {step.kind} {item.item_id}")


def _nothing_changed(step: Step, items: Sequence[Item]) -> str:
    questions = f"none of the {len(items)} questions of the task can be changed so"
    if len(items) == 1:
        questions = "the one question of the task cannot be changed so"
    return (
        f"{step.setting}: {questions} ({KINDS[step.kind].reason}); "
        f"choose another kind of change, or leave the task out of study.tasks"
    )


# ---- changes of texts ----------------------------------------------------------------------------


def in_question(change: Callable[[str, random.Random], str]) -> ItemChange:
    """A change of a text, made where the text of the question stands: by itself and in the prompt.

    In a prompt with worked examples the question is the last of the texts like it. A prompt that does
    not hold the question is changed as a text of its own.
    """

    def change_item(item: Item, generator: random.Random) -> Item:
        question = change(item.question, generator)
        head, question_text, tail = item.prompt.rpartition(item.question)
        prompt = f"{head}{question}{tail}" if question_text else change(item.prompt, generator)
        return replace(item, question=question, prompt=prompt)

    return change_item


def _typos(step: Step, items: Sequence[Item]) -> ItemChange:  # noqa: ARG001
    return in_question(lambda text, generator: put_typos(text, step.value, generator))


def _misspellings(step: Step, items: Sequence[Item]) -> ItemChange:  # noqa: ARG001
    table = read_misspellings(_table(step))
    return in_question(lambda text, generator: put_misspellings(text, step.value, table, generator))


def _casual(step: Step, items: Sequence[Item]) -> ItemChange:  # noqa: ARG001
    table = read_chat_words(_table(step))
    return in_question(lambda text, _: put_casual(text, table))


def _fragment(step: Step, items: Sequence[Item]) -> ItemChange:  # noqa: ARG001
    table = read_politeness(_table(step))
    return in_question(lambda text, _: put_fragment(text, table))


def _dialect(step: Step, items: Sequence[Item]) -> ItemChange:  # noqa: ARG001
    features = read_dialect(_table(step), str(step.value))
    return in_question(lambda text, _: put_dialect(text, features))


# ---- changes of whole questions ------------------------------------------------------------------


def _names(step: Step, items: Sequence[Item]) -> ItemChange:
    people = names.read_people(_table(step), str(step.value), step.setting)
    names.require_slots(items, people, _table(step), step.setting)
    return lambda item, generator: names.name_person(item, generator.choice(people))


def _scaffold(step: Step, items: Sequence[Item]) -> ItemChange:  # noqa: ARG001
    return lambda item, _: scaffolds.scaffold(item, step.value)


def _translation(step: Step, items: Sequence[Item]) -> ItemChange:
    texts = translations.read_translations(
        items, read_sources([TaskSource(**step.value)]), step.setting
    )
    return lambda item, _: translations.translate(item, texts[item.item_id])


def _table(step: Step) -> str:
    assert step.table, f"a step of kind {step.kind} has a table"
    return step.table


class ChangeKind(NamedTuple):
    """A kind of change.

    Attributes:
        prepare: from a step and all questions of the task to the change of one; reads the step's files.
        reason: why no question of a task may be changed so, for a message.
    """

    prepare: Callable[[Step, Sequence[Item]], ItemChange]
    reason: str


KINDS: Mapping[str, ChangeKind] = {
    "typos": ChangeKind(_typos, "slips need letters of a script that is typed letter by letter"),
    "misspellings": ChangeKind(
        _misspellings, "the table has none of their words; the shipped one is English"
    ),
    "casual": ChangeKind(_casual, "they are in lower case and without punctuation already"),
    "fragment": ChangeKind(
        _fragment, "they have no politeness or lead; the shipped table of phrases is English"
    ),
    "dialect": ChangeKind(_dialect, "no feature of the dialect has a place in them"),
    "scaffold": ChangeKind(_scaffold, "they are put so already, or are no choice questions"),
    "translated": ChangeKind(_translation, "the translations equal the questions"),
    "names": ChangeKind(_names, "they have no slots"),
}
"""By the key in `put`."""
