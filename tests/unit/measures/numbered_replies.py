"""Replies that say a number each, and what a measure of any kind takes of them.

A number stands for the options of a list, for a letter, or for itself: one study serves all measures.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.declaration import EqualSize, Measure, ReaderQuestion
from fieldwork.measures import ROW_TYPES
from fieldwork.records.tasks import LETTER_KINDS
from fieldwork.statistics.arrays import Counts

LETTERS = "ABCDEFGHI"


class Reply(NamedTuple):
    """A reply; None says nothing that a measure takes."""

    number: int | None
    condition: str
    item: str = "a"
    user: str | None = None
    replicate: int = 0
    task: str = "t"
    model: str = "m"
    outcome: str = "ok"


def by_users(numbers: Iterable[int | None], condition: str, **names: Any) -> list[Reply]:
    """Replies of as many users."""
    return [Reply(number, condition, user=f"p{k:02}", **names) for k, number in enumerate(numbers)]


def by_reruns(numbers: Iterable[int | None], condition: str, **names: Any) -> list[Reply]:
    """Replies without users."""
    return [Reply(number, condition, replicate=k, **names) for k, number in enumerate(numbers)]


def kind_of(question: ReaderQuestion) -> str:
    return str((question.kinds or ("list",))[0])


def options_of(question: ReaderQuestion, number: int) -> tuple[str, ...]:
    if kind_of(question) in LETTER_KINDS:
        return (LETTERS[number % len(LETTERS)],)
    return tuple(sorted({f"o{k % 30:02}" for k in (number, 7 * number, number * number)}))


def number_of(number: int) -> float:
    """A number that no binary fraction is, so that sums depend on their order."""
    return number / 7


def table(question: ReaderQuestion, replies: Sequence[Reply]) -> pd.DataFrame:
    """Rows of the question's source, which may not have those that failed."""
    blank: dict[str, Any] = {
        column.name: False if column.type in (bool, "bool") else None
        for column in dataclasses.fields(ROW_TYPES[question.source])
    }
    columns = {measure.of for measure in question.measures} - {"options"}
    rows = []
    for reply in replies:
        if reply.outcome == "failed" and "outcome" not in blank:
            continue
        content: dict[str, Any] = {}
        if reply.number is not None:
            options = options_of(question, reply.number)
            is_letter = kind_of(question) in LETTER_KINDS
            content = {"letter": options[0]} if is_letter else {"items": [*options]}
            content |= dict.fromkeys(columns, number_of(reply.number))
        names = {"item_id": reply.item, "puppet_id": reply.user, "kind": kind_of(question)}
        row = blank | content | reply._asdict() | names
        rows.append({name: row[name] for name in blank})
    frame = pd.DataFrame(rows, columns=[*blank])
    return frame.astype(dict.fromkeys(columns, float))


def counts_of(question: ReaderQuestion, numbers: Sequence[int]) -> Counts:
    """How often each option is named, in alphabetical order."""
    options = [option for number in numbers for option in options_of(question, number)]
    return np.array([options.count(option) for option in sorted(set(options))], dtype=np.int64)


def plain_value(
    measure: Measure, question: ReaderQuestion, numbers: Sequence[int], n_equal: int | None = None
) -> float:
    """The measure of the replies to one prompt, by its formula."""
    if measure.of != "options":
        return fmean(map(number_of, numbers))
    counts = counts_of(question, numbers)
    if measure.exact:
        return measure.exact(EqualSize(counts, len(numbers), n_equal or len(numbers)))
    assert measure.statistic
    return float(measure.statistic(counts[None, :])[0])


def plain_mean(
    measure: Measure, question: ReaderQuestion, prompts: Mapping[str, Sequence[int]]
) -> float:
    """The mean over prompts."""
    return fmean(plain_value(measure, question, numbers) for numbers in prompts.values())
