"""What calibration starts from: the field's and the arms' answers to the prompts that both answered.

Owns which prompts and arms are usable, and the tables of answers by prompt. Answers are those of
`comparisons`: of a puppet or participant the first to each prompt, an unreadable list left out, an
unreadable letter `unknown`. Promises one order, whatever the order of the rows.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.answer_sets import AnswerSet, ItemAnswers, Options, read_answer_sets
from fieldwork.metrics.calibration.weights import Part
from fieldwork.records.field import FIELD
from fieldwork.statistics.arrays import Floats

GROUPS = 10
"""Groups of participants and of puppets that are left out in turn for an interval."""

Answered = dict[str, dict[tuple[str, str], ItemAnswers]]
"""Answers of one model: condition, then (task, item)."""


class Side(NamedTuple):
    """Independent answers to a prompt: who gave each, and which options it names.

    `named` has shape (answers, options), 0 and 1; `units` is empty where nobody asked.
    """

    units: tuple[str, ...]
    named: Floats

    def shares(self) -> Floats:
        """Share of mentions of each option."""
        return mention_shares(self.named)


def mention_shares(named: Floats) -> Floats:
    """Share of mentions of each option over all answers, shape (answers, options)."""
    counts = named.sum(axis=0)
    shares: Floats = counts / counts.sum()
    return shares


class Prompt(NamedTuple):
    """A prompt with the field's answers and those of the arms, over the same options."""

    task: str
    item_id: str
    options: Options
    field: Side
    arms: Mapping[str, Side]
    n_equal: int

    def part(self) -> Part:
        """What the weights of conditions are fitted on."""
        return Part(self.field.shares(), np.stack([side.shares() for side in self.arms.values()]))


class Prompts(NamedTuple):
    """The prompts a model can be calibrated on, and what was left out, arm by arm, with the reason."""

    prompts: list[Prompt]
    left_out: dict[str, str]
    n_answered: int


class Puppets(NamedTuple):
    """Puppets of a condition, and their answers to each prompt, shape (puppets, options).

    Rows are the mean of all of a puppet's answers to the prompt.
    """

    condition: str
    names: tuple[str, ...]
    every: list[Floats]

    def of(self, units: Sequence[str], weights: Floats) -> Floats:
        """Weights of the puppets that gave each answer, 0 for one that has none."""
        known = dict(zip(self.names, weights.tolist(), strict=True))
        return np.array([known.get(unit, 0.0) for unit in units])


def read_answered(answers: pd.DataFrame, *, tasks: Sequence[str]) -> dict[str, Answered]:
    """Answers of each model to the items of `tasks`, under each condition."""
    found: dict[str, Answered] = {}
    for arm, items in read_answer_sets(answers).items():
        if arm.task in tasks:
            of = found.setdefault(arm.model, {}).setdefault(arm.condition, {})
            of.update({(arm.task, item): given for item, given in items.items()})
    return found


def usable_prompts(
    answered: Answered, conditions: Sequence[str], *, minimum_answers: int
) -> Prompts:
    """Prompts with at least `minimum_answers` of the field, and the arms that keep up with it.

    An arm is left out where it has fewer than half as many answers to one of them, as all are brought
    to the fewest.
    """
    field = answered.get(FIELD, {})
    with_answers = [key for key in sorted(field) if field[key].answers]
    keys = [k for k in with_answers if len(field[k].first_answers()) >= minimum_answers]
    left_out: dict[str, str] = {}
    for condition in conditions:
        counts = [
            len(answered.get(condition, {}).get(k, ItemAnswers([], 0)).first_answers())
            for k in keys
        ]
        if counts and min(counts) < math.ceil(minimum_answers / 2):
            worst = keys[int(np.argmin(counts))]
            left_out[condition] = (
                f"{min(counts)} answers to {worst[1]} ({worst[0]}), and all arms would be brought to "
                f"so few; an arm needs {math.ceil(minimum_answers / 2)}"
            )
    kept = [condition for condition in conditions if condition not in left_out]
    prompts = [_prompt(answered, key, kept) for key in keys] if kept else []
    return Prompts(prompts, left_out, len(with_answers))


def _prompt(answered: Answered, key: tuple[str, str], conditions: Sequence[str]) -> Prompt:
    given = {c: answered[c][key].first_answers() for c in (FIELD, *conditions)}
    options = tuple(sorted({o for answers in given.values() for a in answers for o in a.options}))
    sides = {c: _side(answers, options) for c, answers in given.items()}
    field = sides.pop(FIELD)
    # a group of each side can be left out, and the field is cut in halves
    spared = {c: len(given[c]) - math.ceil(len(given[c]) / GROUPS) for c in given}
    n_equal = max(1, min(spared[FIELD] // 2, *(spared[c] for c in sides)))
    return Prompt(*key, options, field, sides, n_equal)


def _side(answers: Sequence[AnswerSet], options: Options) -> Side:
    return Side(tuple(given.puppet for given in answers), _named(answers, options))


def _named(answers: Sequence[AnswerSet], options: Options) -> Floats:
    return np.array(
        [[option in given.options for option in options] for given in answers], dtype=np.float64
    ).reshape(len(answers), len(options))


def shares_of(answers: Sequence[AnswerSet], options: Options) -> Floats | None:
    """Share of mentions of each option, None without an answer."""
    return _side(answers, options).shares() if answers else None


def puppets_in(answered: Answered, condition: str) -> set[str]:
    """The puppets that answer anything under a condition."""
    items = answered.get(condition, {}).values()
    return {given.puppet for of in items for given in of.answers if given.puppet}


def puppet_answers(
    answered: Answered,
    condition: str,
    keys: Mapping[tuple[str, str], Options],
    *,
    names: Sequence[str] = (),
) -> Puppets:
    """Puppets of a condition over prompts and their options; where `names` are given, these ones.

    A puppet without a readable answer to a prompt stands there with the mean of those who have one.
    """
    of = answered.get(condition, {})
    found = names or sorted({g.puppet for key in keys for g in _given(of, key) if g.puppet})
    every = []
    for key, options in keys.items():
        given = [g for g in _given(of, key) if g.puppet in set(found)]
        every.append(_by_puppet(given, found, options))
    return Puppets(condition, tuple(found), every)


def _given(of: Mapping[tuple[str, str], ItemAnswers], key: tuple[str, str]) -> list[AnswerSet]:
    return of[key].answers if key in of else []


def _by_puppet(given: Sequence[AnswerSet], names: Sequence[str], options: Options) -> Floats:
    shares = np.zeros((len(names), len(options)))
    place = {name: number for number, name in enumerate(names)}
    rows = np.array([place[g.puppet] for g in given], dtype=np.int64)
    np.add.at(shares, rows, _named(given, options))
    totals = shares.sum(axis=1, keepdims=True)
    missing = totals[:, 0] == 0
    shares[~missing] /= totals[~missing]
    if missing.any() and not missing.all():
        shares[missing] = shares[~missing].mean(axis=0)
    return shares
