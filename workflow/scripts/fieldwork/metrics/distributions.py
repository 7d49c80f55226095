"""How the answers to choice items spread over the letters.

Owns the answer shares of each cell (model, task, condition, item), and the reading of choice answers
and their items. Letters are the flexible reading. Responses that failed are no data and are left out;
refused and unreadable ones count as `unknown`.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from string import ascii_uppercase
from typing import NamedTuple

import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.records.metrics import AnswerShare
from fieldwork.records.parsing import UNKNOWN
from fieldwork.statistics.intervals import wilson_interval


class Question(NamedTuple):
    """What the metrics need of a choice item."""

    letters: str
    gold: str | None
    subject: str | None


class QuestionKey(NamedTuple):
    """An item's id is unique within its task only."""

    task: str
    item_id: str


class _Cell(NamedTuple):
    model: str
    task: str
    condition: str
    item_id: str

    def question(self) -> QuestionKey:
        return QuestionKey(self.task, self.item_id)


def measure_distributions(answers: pd.DataFrame, items: pd.DataFrame) -> list[AnswerShare]:
    """One row for each letter of each cell, never given ones and `unknown` included.

    The denominator is all responses of the cell; puppets who answer unequally often count alike. A
    letter the item does not have is `unknown`.
    A cell without responses has no rows. Order: model, task, condition, item, letter.

    Raises:
        StudyError: an answer's item is missing from `items`, or is there with two meanings.
    """
    given = choice_answers(answers, "letter", "puppet_id")
    questions = read_questions(items, sorted(set(given["task"])))
    counts: dict[_Cell, Counter[str]] = {}
    own: dict[_Cell, dict[str, Counter[str]]] = {}
    for row in given.itertuples(index=False, name=None):
        cell = _Cell(row[0], row[1], row[2], row[3])
        letter = text_or_none(row[4])
        known = letter is not None and letter in find_question(questions, cell.question()).letters
        answer = str(letter) if known else UNKNOWN
        counts.setdefault(cell, Counter())[answer] += 1
        puppet = text_or_none(row[5])
        if puppet is not None:
            own.setdefault(cell, {}).setdefault(puppet, Counter())[answer] += 1
    return [
        row
        for cell in sorted(counts)
        for row in _answer_shares(
            cell, counts[cell], own.get(cell, {}), find_question(questions, cell.question())
        )
    ]


def _answer_shares(
    cell: _Cell, counts: Counter[str], own: Mapping[str, Counter[str]], question: Question
) -> Iterator[AnswerShare]:
    total = counts.total()
    # answers of one puppet hang together: at worst they are one answer
    units = len(own) or total
    for answer in [*question.letters, UNKNOWN]:
        share = _share(answer, counts, own)
        interval = wilson_interval(counts[answer] if units == total else share * units, units)
        yield AnswerShare(
            model=cell.model,
            task=cell.task,
            condition=cell.condition,
            item_id=cell.item_id,
            answer=answer,
            is_correct=answer == question.gold,
            n_answers=counts[answer],
            n_responses=total,
            share=share,
            ci_low=interval.low,
            ci_high=interval.high,
        )


def _share(answer: str, counts: Counter[str], own: Mapping[str, Counter[str]]) -> float:
    """Share of the responses; where puppets answer unequally often, the mean of the puppets' shares."""
    if len({given.total() for given in own.values()}) < 2:
        return counts[answer] / counts.total()
    return math.fsum(given[answer] / given.total() for given in own.values()) / len(own)


def choice_answers(answers: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Choice answers that arrived, with columns model, task, condition, item_id, then `columns`."""
    names = ["model", "task", "condition", "item_id", *columns]
    if answers.empty:
        return pd.DataFrame(columns=names)
    arrived = (answers["kind"] == "choice") & (answers["outcome"] != "failed")
    return answers.loc[arrived, names]


def read_questions(items: pd.DataFrame, tasks: list[str]) -> dict[QuestionKey, Question]:
    """Choice items by task and id.

    Item tables do not say which task they belong to. Where `items` has a column `task` it decides;
    without one, an id means the same item in every task of `tasks`.

    Raises:
        StudyError: one id stands for two different items.
    """
    if items.empty:
        return {}
    choices = items[items["kind"] == "choice"]
    names = ["item_id", "choices", "gold", "subject"] + ["task"] * ("task" in choices.columns)
    questions: dict[QuestionKey, Question] = {}
    for item_id, options, gold, subject, *own in choices[names].itertuples(index=False, name=None):
        letters = ascii_uppercase[: len(options)]
        question = Question(letters, text_or_none(gold), text_or_none(subject))
        for task in own or tasks:
            if questions.setdefault(QuestionKey(task, item_id), question) != question:
                raise StudyError(
                    f"items: {item_id} is in the tables twice with different gold, subject or "
                    f"choices; give the items a column task, or ids that differ between tasks"
                )
    return questions


def find_question(questions: Mapping[QuestionKey, Question], key: QuestionKey) -> Question:
    """The item an answer belongs to.

    Raises:
        StudyError: there is no such item.
    """
    if key in questions:
        return questions[key]
    raise StudyError(
        f"answers: item {key.item_id} is not in the study's tasks/{key.task}.parquet; "
        f"make the answers again, or give field answers the ids of that table"
    )


def text_or_none(value: object) -> str | None:
    """NULL text comes out of pandas as NaN or None."""
    return value if isinstance(value, str) else None
