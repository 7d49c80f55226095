"""How the answers by letter spread over the letters: of choices and of scales.

Owns the answer shares of each item under each condition, and how these answers and their items are
read. Letters are the flexible reading. Responses that failed are no data and are left out; refused and
unreadable ones count as `unknown`. Where all answers to an item state how probable each letter was,
shares are means of that.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from string import ascii_uppercase
from typing import NamedTuple

import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.estimates.answer_sets import Arm, StatedShares, read_answer_sets
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.stated import share_interval, share_mean
from fieldwork.records.metrics import AnswerShare
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import LETTER_KINDS, ItemKind
from fieldwork.statistics.intervals import Interval, wilson_interval
from fieldwork.statistics.user_intervals import RAREST_USERS


class ChoiceItem(NamedTuple):
    """What the metrics need of a choice or a scale."""

    letters: str
    gold: str | None
    subject: str | None


class QuestionKey(NamedTuple):
    """An item's id is unique within its task only."""

    task: str
    item_id: str


class _ItemLetters(NamedTuple):
    """How often each letter is given to an item: by all answers, and by each puppet."""

    counts: Counter[str]
    counts_by_puppet: dict[str, Counter[str]]


def measure_distributions(
    answers: pd.DataFrame, items: pd.DataFrame, *, rarest_users: float = RAREST_USERS
) -> list[AnswerShare]:
    """One row for each letter of each item and condition; letters without an answer have one too.

    A letter that the item does not have is `unknown`, which has a row too. The denominator is all
    responses; puppets who answer unequally often count alike. An item without responses has no rows.
    Order: model, task, condition, item, letter.

    Args:
        rarest_users: share of users of the rarest kind that intervals of probabilities cover.

    Raises:
        StudyError: an answer's item is missing from `items`, or is there with two meanings.
    """
    choices = letter_answers(answers, LETTER_KINDS, "letter", "puppet_id")
    questions = read_questions(items, sorted(set(choices["task"])))
    letters_by_item: dict[tuple[Arm, str], _ItemLetters] = {}
    for model, task, condition, item, letter, puppet in choices.itertuples(index=False, name=None):
        question = find_question(questions, QuestionKey(task, item))
        is_valid = isinstance(letter, str) and letter in question.letters
        answer = letter if is_valid else UNKNOWN
        key = (Arm.of(model, task, condition), item)
        letters = letters_by_item.setdefault(key, _ItemLetters(Counter(), {}))
        letters.counts[answer] += 1
        if isinstance(puppet, str):
            letters.counts_by_puppet.setdefault(puppet, Counter())[answer] += 1
    letter_shares = {
        (arm._replace(kind=None), item): shares
        for arm, items_of_arm in read_answer_sets(answers).items()
        if arm.kind in LETTER_KINDS
        for item, of_item in items_of_arm.items()
        if (shares := of_item.stated_shares())
    }
    return [
        row
        for (arm, item), letters in sorted(letters_by_item.items(), key=lambda entry: entry[0])
        for row in _with_probabilities(
            [
                *_answer_shares(
                    arm, item, letters, find_question(questions, QuestionKey(arm.task, item))
                )
            ],
            letter_shares.get((arm, item)),
            rarest_users,
        )
    ]


def _with_probabilities(
    rows: list[AnswerShare], letter_shares: StatedShares | None, rarest_users: float
) -> list[AnswerShare]:
    """The shares that answers state in the place of those drawn; no answer is `unknown` then."""
    if letter_shares is None:
        return rows
    means = [share_mean(letter_shares, letter) for letter in range(letter_shares.shares.shape[1])]
    shares = [
        # a single call says no more of the next than a drawn letter does
        Quantity(m.value, share_interval(m, rarest_users) or wilson_interval(min(m.value, 1.0), 1))
        for m in means
    ]
    return [
        replace(row, n_units=len(letter_shares.users), **share.columns("share"), is_stated=True)
        for row, share in zip(rows, [*shares, Quantity(0.0, Interval(0.0, 0.0))], strict=True)
    ]


def _answer_shares(
    arm: Arm, item: str, letters: _ItemLetters, question: ChoiceItem
) -> Iterator[AnswerShare]:
    counts, n_responses = letters.counts, letters.counts.total()
    # answers of one puppet are correlated: at worst they are one answer
    n_units = len(letters.counts_by_puppet) or n_responses
    for answer in [*question.letters, UNKNOWN]:
        share = _share(answer, letters)
        n_named = counts[answer] if n_units == n_responses else share * n_units
        interval = wilson_interval(n_named, n_units)
        yield AnswerShare(
            **arm.columns,
            item_id=item,
            answer=answer,
            is_correct=answer == question.gold,
            n_answers=counts[answer],
            n_responses=n_responses,
            n_units=n_units,
            share=share,
            ci_low=interval.low,
            ci_high=interval.high,
            is_stated=False,
        )


def _share(answer: str, letters: _ItemLetters) -> float:
    """Share of the responses; where puppets answer unequally often, the mean of the puppets' shares."""
    by_puppet = letters.counts_by_puppet.values()
    if len({counts.total() for counts in by_puppet}) < 2:
        return letters.counts[answer] / letters.counts.total()
    return math.fsum(counts[answer] / counts.total() for counts in by_puppet) / len(by_puppet)


def choice_answers(answers: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Choice answers without failed responses: model, task, condition, item_id, then `columns`."""
    return letter_answers(answers, {"choice"}, *columns)


def letter_answers(
    answers: pd.DataFrame, kinds: Collection[ItemKind], *columns: str
) -> pd.DataFrame:
    """Answers of some kinds without failed responses; columns as in `choice_answers`."""
    names = ["model", "task", "condition", "item_id", *columns]
    if answers.empty:
        return pd.DataFrame(columns=names)
    is_counted = answers["kind"].isin(kinds) & (answers["outcome"] != "failed")
    return answers.loc[is_counted, names]


def read_questions(items: pd.DataFrame, tasks: list[str]) -> dict[QuestionKey, ChoiceItem]:
    """Items of choices and scales by task and id.

    Item tables do not say which task they belong to. Where `items` has a column `task` it decides;
    without one, an id means the same item in every task of `tasks`.

    Raises:
        StudyError: one id stands for two different items.
    """
    if items.empty:
        return {}
    choices = items[items["kind"].isin(LETTER_KINDS)]
    names = ["item_id", "choices", "gold", "subject"] + ["task"] * ("task" in choices.columns)
    questions: dict[QuestionKey, ChoiceItem] = {}
    for item_id, options, gold, subject, *task_of in choices[names].itertuples(
        index=False, name=None
    ):
        letters = ascii_uppercase[: len(options)]
        question = ChoiceItem(letters, text_or_none(gold), text_or_none(subject))
        for task in task_of or tasks:
            if questions.setdefault(QuestionKey(task, item_id), question) != question:
                raise StudyError(
                    f"items: {item_id} is in the tables twice with different gold, subject or "
                    f"choices; give the items a column task, or ids that differ between tasks"
                )
    return questions


def find_question(questions: Mapping[QuestionKey, ChoiceItem], key: QuestionKey) -> ChoiceItem:
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
