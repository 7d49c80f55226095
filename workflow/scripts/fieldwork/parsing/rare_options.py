"""Options that few people wrote: their words stay in the answers, and leave with no estimate.

A text that one person alone gave may say who that is, and estimates stand beside groups. So it has a
number in place of its words, where it counts as before. Owns which options these are.
"""

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fieldwork.records.field import FIELD
from fieldwork.records.parsing import Answer, MergedItem
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item


class NumberedAnswers(NamedTuple):
    """Answers in which rare options have numbers, and the spellings of all other options."""

    answers: list[Answer]
    merges: list[MergedItem]


def number_rare_options(
    answers: Sequence[Answer],
    merges: Iterable[MergedItem],
    items: Mapping[ItemKey, Item],
    smallest_cell: int,
) -> NumberedAnswers:
    """Number the options that fewer people wrote, unless a model named them or the study did.

    Args:
        answers: with canonical options.
        items: candidate answers of list items are the study's.
        smallest_cell: people from whom an option has its words.
    """
    labels = _labels(answers, items, smallest_cell)
    if not labels:
        return NumberedAnswers([*answers], [*merges])
    return NumberedAnswers(
        [_with_numbers(answer, labels) for answer in answers],
        # a spelling goes with its option
        [m for m in merges if m.canonical not in labels.get(ItemKey(m.task, m.item_id), ())],
    )


def _with_numbers(answer: Answer, labels: Mapping[ItemKey, Mapping[str, str]]) -> Answer:
    of_item = labels.get(ItemKey(answer.task, answer.item_id))
    if not of_item or answer.condition != FIELD or not answer.items or answer.kind != "list":
        return answer
    return dataclasses.replace(answer, items=[of_item.get(name, name) for name in answer.items])


def _labels(
    answers: Iterable[Answer], items: Mapping[ItemKey, Item], smallest_cell: int
) -> dict[ItemKey, dict[str, str]]:
    """What stands for each rare option of each item."""
    writers: dict[ItemKey, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    of_models: dict[ItemKey, set[str]] = defaultdict(set)
    for answer in answers:
        if answer.kind != "list" or not answer.items:
            continue
        item = ItemKey(answer.task, answer.item_id)
        if answer.condition != FIELD:
            of_models[item].update(answer.items)
            continue
        for name in answer.items:
            writers[item][name].add(answer.puppet_id or "")
    return {
        item: labels
        for item, people in writers.items()
        if (
            labels := _item_labels(
                people, of_models[item] | _candidates(items, item), smallest_cell
            )
        )
    }


def _candidates(items: Mapping[ItemKey, Item], item: ItemKey) -> set[str]:
    return {*items[item].choices} if item in items else set()


def _item_labels(
    people: Mapping[str, set[str]], public_names: Iterable[str], smallest_cell: int
) -> dict[str, str]:
    public = {name.casefold() for name in public_names}
    rare = [
        name
        for name, writers in people.items()
        if len(writers) < smallest_cell and name.casefold() not in public
    ]
    # in an order that does not give the alphabet away
    rare.sort(key=lambda name: hashlib.sha256(name.encode()).digest())
    words = f"named by fewer than {smallest_cell} people"
    return {name: f"{words} ({number})" for number, name in enumerate(rare, start=1)}
