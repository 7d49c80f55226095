"""Answers of lists, choices and scales in one form: the set of options that an answer gives.

Owns how an answers table is read where lists and letters are alike. An answer by letter is
the set of its one letter, or of `unknown` where it has none. A list answer without a readable option is
counted and left out. Numbers and texts are no options, and left out. Responses that failed are no data.
An answer may state how probable each letter was: then it says more than the letter that was drawn.
Promises an order that does not depend on the order of the rows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import LETTER_KINDS, OPTION_KINDS
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.first_answers import first_answers

Options = tuple[str, ...]

ROUNDING = 1e-4
"""Probabilities that differ by less are alike: servers round, and sums in another order differ."""

_COLUMNS = ("model", "task", "kind", "condition", "item_id", "puppet_id", "replicate")


class Arm(NamedTuple):
    """A model's answers to a task under one condition, or those of a group of participants.

    Attributes:
        kind: the `ItemKind` of their items; None of all kinds together.
        variable, group: what defines the group; None of everyone.
    """

    model: str
    task: str
    kind: Any
    condition: str
    variable: str | None = None
    group: str | None = None

    @classmethod
    def of(cls, model: str, task: str, condition: str) -> "Arm":
        """An arm of all kinds together."""
        return cls(model, task, None, condition)

    @property
    def columns(self) -> dict[str, Any]:
        """Its model, task and condition, as columns of a row."""
        return {"model": self.model, "task": self.task, "condition": self.condition}

    @property
    def names(self) -> tuple[str, ...]:
        """What tells its random numbers from those of other arms."""
        return self.model, self.task, self.kind, self.condition

    @property
    def family(self) -> tuple[str, str]:
        """Arms that are brought to equal n share it."""
        return self.model, self.task


class AnswerSet(NamedTuple):
    """The options of one answer; `puppet` is empty where the model is asked without a user.

    Attributes:
        probabilities: of the letters, in alphabetical order; none where the answer does not state them.
        unlisted_share: of the probability, what is left for letters that the answer does not list; their
            probabilities are 0.
    """

    puppet: str
    replicate: int
    options: Options
    probabilities: tuple[float, ...] = ()
    unlisted_share: float = 0.0


class StatedShares(NamedTuple):
    """The probabilities of the letters of an item, as each unit states them.

    Attributes:
        users: in alphabetical order; an empty text for each call without a user.
        calls: of each unit, of shape (calls, letters), letters in alphabetical order.
        unlisted_share: of each unit, the most that its answers leave to letters that they do not list,
            shape (units,).
    """

    users: list[str]
    calls: list[Floats]
    unlisted_share: Floats

    @property
    def has_users(self) -> bool:
        """Whether users gave the answers."""
        return any(self.users)

    @property
    def shares(self) -> Floats:
        """The means of each unit's calls: shape (units, letters)."""
        return np.array([of_unit.mean(axis=0) for of_unit in self.calls])

    @property
    def repeats(self) -> list[Floats]:
        """Calls that ask the same, two or more of each."""
        asked_alike = self.calls if self.has_users else [np.concatenate(self.calls)]
        return [calls for calls in asked_alike if len(calls) > 1]


class ItemAnswers(NamedTuple):
    """The answers to an item in order of puppet and replicate, and how many cannot be read."""

    answers: list[AnswerSet]
    n_unread: int

    def first_answers(self) -> list[AnswerSet]:
        """The first answer of each puppet, or all answers without a user, in order."""
        return first_answers(self.answers, lambda answer: answer.puppet)

    def stated_shares(self) -> StatedShares | None:
        """The probabilities of the letters; None where a unit has no answer that states them."""
        if not any(answer.probabilities for answer in self.answers):
            return None
        calls: dict[tuple[str, int], list[tuple[float, ...]]] = {}
        unlisted_share: dict[tuple[str, int], list[float]] = {}
        for answer in self.answers:
            unit = (answer.puppet, 0 if answer.puppet else answer.replicate)
            of_unit = calls.setdefault(unit, [])
            of_unit += [answer.probabilities] if answer.probabilities else []
            unlisted_share.setdefault(unit, []).append(answer.unlisted_share)
        if not all(calls.values()):
            return None
        return StatedShares(
            [user for user, _ in calls],
            [np.array(c) for c in calls.values()],
            np.array([max(rests) for rests in unlisted_share.values()]),
        )

    def independent(self) -> list[Options]:
        """The options of the first answers, in alphabetical order."""
        return sorted(answer.options for answer in self.first_answers())

    @property
    def unit(self) -> str:
        """The unit of resampling: `puppet`, or `response` where no answer has a user."""
        return "puppet" if any(answer.puppet for answer in self.answers) else "response"


def answer_options(kind: str, items: Any, letter: Any) -> Options:
    """Distinct options of an answer in alphabetical order, none where it cannot be read.

    NULL comes out of pandas as None or NaN.
    """
    if kind in LETTER_KINDS:
        return (letter,) if isinstance(letter, str) else ()
    if not isinstance(items, (np.ndarray, list, tuple)):
        return ()
    return tuple(sorted({str(option) for option in items}))


def read_answer_sets(answers: pd.DataFrame) -> dict[Arm, dict[str, ItemAnswers]]:
    """Answers by arm and item, both in alphabetical order, an item's by puppet and replicate.

    An item of which nothing arrived is there without answers. An answer by letter that cannot be read is
    among the answers and counted in `n_unread` too.
    """
    if answers.empty:
        return {}
    rows = answers[answers["kind"].isin(OPTION_KINDS)]
    columns = (rows["outcome"], rows["kind"], rows["items"], rows["letter"])
    return collect_answers(
        rows,
        [
            None if outcome == "failed" else answer_options(kind, items, letter)
            for outcome, kind, items, letter in zip(*columns, strict=True)
        ],
        letter_probabilities(rows),
        unlisted_probabilities(rows),
    )


def letter_probabilities(answers: pd.DataFrame) -> list[tuple[float, ...]]:
    """Of each answer by letter, the probabilities of the letters; none where it does not state them."""
    if "option_probabilities" not in answers:
        return [()] * len(answers)
    probability_lists = answers["option_probabilities"].where(
        answers["kind"].isin(LETTER_KINDS), None
    )
    return [
        ()
        if shares is None or isinstance(shares, float)
        else tuple(s["probability"] for s in shares)
        for shares in probability_lists
    ]


def unlisted_probabilities(answers: pd.DataFrame) -> list[float]:
    """Of each answer, the probability left for letters that it does not list."""
    if "unlisted_share" not in answers:
        return [0.0] * len(answers)
    rests: list[float] = answers["unlisted_share"].astype(float).fillna(0.0).tolist()
    return rests


def collect_answers(
    rows: pd.DataFrame,
    readings: Iterable[Options | None],
    probabilities: Iterable[tuple[float, ...]] | None = None,
    unlisted_share: Iterable[float] | None = None,
) -> dict[Arm, dict[str, ItemAnswers]]:
    """Rows of answers as `read_answer_sets` gives them.

    Args:
        readings: the options of each row, none where it cannot be read; None where nothing arrived.
        probabilities: of the letters of each row, as `letter_probabilities` gives them.
        unlisted_share: of each row, as `unlisted_probabilities` gives it.
    """
    arms: dict[Arm, dict[str, list[AnswerSet]]] = {}
    n_unread: Counter[tuple[Arm, str]] = Counter()
    names = rows[[*_COLUMNS]].itertuples(index=False, name=None)
    probability_lists = [()] * len(rows) if probabilities is None else probabilities
    rests = [0.0] * len(rows) if unlisted_share is None else unlisted_share
    for (*arm_names, item, puppet, replicate), options, shares, rest in zip(
        names, readings, probability_lists, rests, strict=True
    ):
        arm = Arm(*arm_names)
        answer_sets = arms.setdefault(arm, {}).setdefault(item, [])
        if options is None:
            continue
        n_unread[arm, item] += not options
        if options or arm.kind in LETTER_KINDS:
            user = puppet if isinstance(puppet, str) else ""
            answer_sets.append(AnswerSet(user, int(replicate), options or (UNKNOWN,), shares, rest))
    return {
        arm: {item: ItemAnswers(sorted(items[item]), n_unread[arm, item]) for item in sorted(items)}
        for arm, items in sorted(arms.items())
    }


def read_list_answers(answers: pd.DataFrame) -> dict[Arm, dict[str, ItemAnswers]]:
    """`read_answer_sets` of the list items alone."""
    return {arm: items for arm, items in read_answer_sets(answers).items() if arm.kind == "list"}


def has_readable_answer(items: Mapping[str, ItemAnswers]) -> bool:
    """Whether one answer at least can be read."""
    return any(
        answer.options != (UNKNOWN,) for answers in items.values() for answer in answers.answers
    )


def count_unread(items: Mapping[str, ItemAnswers]) -> int:
    """Answers that could not be read."""
    return sum(answers.n_unread for answers in items.values())
