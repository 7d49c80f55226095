"""Which answers count where answers have to be independent: of each user the first, and all of nobody.

Owns the columns `is_counted` and `is_value_counted` of `answers`, which the page and SQL read; estimates
take the same answers. Responses that failed are no data.
"""

import dataclasses
from collections.abc import Callable, Hashable, Sequence

from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import LETTER_KINDS, VALUE_KINDS
from fieldwork.statistics.first_answers import first_answers


def mark_counted(answers: Sequence[Answer]) -> list[Answer]:
    """The answers, in the same order, with the columns that say which of them count."""
    firsts, values = _first_places(answers, _is_answer), _first_places(answers, _is_value)
    return [
        dataclasses.replace(answer, is_counted=k in firsts, is_value_counted=k in values)
        for k, answer in enumerate(answers)
    ]


def _is_answer(answer: Answer) -> bool:
    """A letter that cannot be read is the option `unknown`, and a text is for people to read."""
    match answer.kind:
        case "list":
            return bool(answer.items)
        case "number":
            return answer.value is not None
        case "text":
            return answer.reason is None
        case _:
            return True


def _is_value(answer: Answer) -> bool:
    return answer.kind in VALUE_KINDS and answer.value is not None


def _first_places(answers: Sequence[Answer], counts: Callable[[Answer], bool]) -> set[int]:
    def user(place: int) -> Hashable:
        answer = answers[place]
        names = (answer.model, answer.task, answer.kind, answer.condition, answer.item_id)
        return (*names, answer.puppet_id) if answer.puppet_id else None

    places = [
        k for k, answer in enumerate(answers) if answer.outcome != "failed" and counts(answer)
    ]
    # by repeat; of one repeat answered twice, by what it says
    places.sort(key=lambda k: (answers[k].replicate, _options(answers[k])))
    return set(first_answers(places, user))


def _options(answer: Answer) -> tuple[str, ...]:
    return (
        (answer.letter or "",)
        if answer.kind in LETTER_KINDS
        else tuple(sorted({*(answer.items or ())}))
    )
