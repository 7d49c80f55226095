"""Answers to questions with options as a person reads them: a letter with the option it stands for."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_uppercase

from fieldwork.parsing.answers import parse_response
from fieldwork.records.generation import Response
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import LETTER_KINDS, Item

_MOST_OF_A_LETTER = 3
"""Characters of a reply that is a letter and perhaps brackets or a full stop, or a number of a scale."""


def in_words(responses: Iterable[Response], items: Mapping[ItemKey, Item]) -> Iterator[Response]:
    """The responses; where the text of the option does not stand in a reply, it follows the reply."""
    for response in responses:
        item = items[ItemKey(response.task, response.item_id)]
        words = _with_option(response, item) if item.kind in LETTER_KINDS else response.text
        yield dataclasses.replace(response, text=words)


def _with_option(response: Response, item: Item) -> str | None:
    reply = (response.text or "").strip()
    letter = parse_response(response, item).letter
    if letter is None:
        return response.text
    place = ascii_uppercase.index(letter)
    option = item.choices[place]
    if option.casefold() in reply.casefold():
        return response.text
    mark = letter if item.marks is None else item.marks[place]
    words = option if mark == option else f"{mark}. {option}"
    return words if len(reply) <= _MOST_OF_A_LETTER else f"{reply}\n\n({words})"
