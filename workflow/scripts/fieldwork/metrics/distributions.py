"""How the answers to choice items spread over the letters, and which letters are new.

Owns the answer shares of each cell (model, task, condition, item) and the share of items on which a
condition gives a letter the baseline never gave. Letters are the flexible reading. Responses that
failed are no data and are left out; refused and unreadable ones count as `unknown`.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import NamedTuple

import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.resampling import Interval, student_quantile, wilson_interval
from fieldwork.records import UNKNOWN, AnswerShare, Novelty

_Givers = dict[str, set[str]]
"""Who gave each letter; empty text where nobody asks."""


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


class _Arm(NamedTuple):
    model: str
    task: str
    condition: str


def measure_distributions(answers: pd.DataFrame, items: pd.DataFrame) -> list[AnswerShare]:
    """One row for each letter of each cell, never given ones and `unknown` included.

    The denominator is all responses of the cell. A letter the item does not have is `unknown`.
    A cell without responses has no rows. Order: model, task, condition, item, letter.

    Raises:
        StudyError: an answer's item is missing from `items`, or is there with two meanings.
    """
    given = choice_answers(answers, "letter", "puppet_id")
    questions = read_questions(items, sorted(set(given["task"])))
    counts: dict[_Cell, Counter[str]] = {}
    puppets: dict[_Cell, set[str]] = {}
    for row in given.itertuples(index=False, name=None):
        cell = _Cell(row[0], row[1], row[2], row[3])
        letter = text_or_none(row[4])
        known = letter is not None and letter in find_question(questions, cell.question()).letters
        counts.setdefault(cell, Counter())[str(letter) if known else UNKNOWN] += 1
        puppets.setdefault(cell, set()).add(text_or_none(row[5]) or "")
    return [
        row
        for cell in sorted(counts)
        for row in _answer_shares(
            cell, counts[cell], puppets[cell] - {""}, find_question(questions, cell.question())
        )
    ]


def _answer_shares(
    cell: _Cell, counts: Counter[str], puppets: set[str], question: Question
) -> Iterator[AnswerShare]:
    total = counts.total()
    # answers of one puppet hang together: at worst they are one answer
    units = len(puppets) or total
    for answer in [*question.letters, UNKNOWN]:
        share = counts[answer] / total
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


def measure_novelty(answers: pd.DataFrame, *, baseline: str) -> list[Novelty]:
    """Share of items with a readable letter that is absent from the baseline's letters.

    One row for each model, task and condition other than the baseline. Items without a readable
    letter on either side are left out of the denominator.
    """
    letters: dict[_Arm, dict[str, _Givers]] = {}
    for row in choice_answers(answers, "letter", "puppet_id").itertuples(index=False, name=None):
        by_item = letters.setdefault(_Arm(row[0], row[1], row[2]), {})
        letter = text_or_none(row[4])
        if letter is not None:
            by_item.setdefault(row[3], {}).setdefault(letter, set()).add(text_or_none(row[5]) or "")
    return [
        _novelty(arm, letters[arm], letters.get(arm._replace(condition=baseline)), baseline)
        for arm in sorted(letters)
        if arm.condition != baseline
    ]


def _novelty(
    arm: _Arm,
    given: Mapping[str, _Givers],
    offline: Mapping[str, _Givers] | None,
    baseline: str,
) -> Novelty:
    shared = [item for item in given if item in offline] if offline is not None else []
    givers = [
        [given[item][letter] for letter in given[item].keys() - (offline or {})[item].keys()]
        for item in shared
    ]
    puppets = {who for item in given.values() for of in item.values() for who in of} - {""}
    interval = _novelty_interval(givers, sorted(puppets)) if shared else None
    n_novel = sum(1 for of in givers if of)
    return Novelty(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        baseline=baseline,
        n_items=len(shared),
        n_novel=n_novel,
        share=n_novel / len(shared) if shared else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        reason=None if shared else _no_novelty(baseline, offline),
    )


def _novelty_interval(givers: Sequence[Sequence[set[str]]], puppets: Sequence[str]) -> Interval:
    """The wider reach of Wilson's interval over items and the jackknife over puppets.

    `givers` holds, for each item, who gave each of its new letters. Puppets answer all items, so
    that the items are not independent draws.
    """
    n_items, n_novel = len(givers), sum(1 for of in givers if of)
    wilson = wilson_interval(n_novel, n_items)
    if len(puppets) < 2:
        return wilson
    lost = Counter(next(iter(who)) for of in givers if len(who := set().union(*of)) == 1 and of)
    losses = [lost[puppet] / n_items for puppet in puppets]
    mean = math.fsum(losses) / len(losses)
    squares = math.fsum((loss - mean) ** 2 for loss in losses)
    error = math.sqrt((len(puppets) - 1) / len(puppets) * squares)
    share, half = n_novel / n_items, student_quantile(len(puppets) - 1) * error
    return Interval(
        max(0.0, min(wilson.low, share - half)), min(1.0, max(wilson.high, share + half))
    )


def _no_novelty(baseline: str, offline: Mapping[str, _Givers] | None) -> str:
    if offline is None:
        return f"there are no answers under the baseline condition {baseline}"
    return f"no item has a readable letter both here and under the baseline condition {baseline}"


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
        f"answers: item {key.item_id} is not in results/tasks/{key.task}.parquet; "
        f"make the answers again, or give field answers the ids of that table"
    )


def text_or_none(value: object) -> str | None:
    """NULL text comes out of pandas as NaN or None."""
    return value if isinstance(value, str) else None
