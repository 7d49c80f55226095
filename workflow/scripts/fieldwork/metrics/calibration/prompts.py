"""What calibration starts from: the prompts that both the field and the arms answer, and their answers.

Owns which prompts and arms are usable, and the tables of answers by prompt. Answers are those of
`comparisons`: the first of a puppet or participant to each prompt; an unreadable list is left out, an
unreadable letter is `unknown`. Promises one order, whatever the order of the rows.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import AnswerSet, ItemAnswers, Options, read_answer_sets
from fieldwork.metrics.calibration.weights import FitPrompt
from fieldwork.records.field import FIELD
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import sample_needed

N_DRAWS = 100
N_GROUPS = 10
"""Groups of participants and of puppets that are left out in turn for an interval."""

PromptKey = tuple[str, str]
"""Task and item."""

ModelAnswers = dict[str, dict[PromptKey, ItemAnswers]]
"""Answers of one model, by condition and prompt."""

_NO_ANSWERS = ItemAnswers([], 0)


class SideAnswers(NamedTuple):
    """Independent answers of one side to a prompt, with a random order for each draw.

    Attributes:
        units: who gave each, empty strings without users.
        indicator: which options each names, 0 and 1 of shape (answers, options).
        keys: sort the answers of a draw, shape (draws, answers).
        groups: of people that are left out together, shape (answers,).
    """

    units: tuple[str, ...]
    indicator: Floats
    keys: Floats
    groups: Counts

    def leave_out(self, group: int) -> "SideAnswers":
        """The answers without those of one group."""
        stays = self.groups != group
        units = tuple(unit for unit, stay in zip(self.units, stays, strict=True) if stay)
        return SideAnswers(units, self.indicator[stays], self.keys[:, stays], self.groups[stays])

    def ranks(self) -> Counts:
        """Place of each answer in each order."""
        order = np.argsort(self.keys, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(order.shape[1])[None, :], axis=1)
        return ranks

    def shares(self) -> Floats:
        """Share of mentions of each option over all answers."""
        return mention_shares(self.indicator)


def mention_shares(indicator: Floats) -> Floats:
    """Share of mentions of each option over all answers, shape (answers, options)."""
    counts = indicator.sum(axis=0)
    shares: Floats = counts / counts.sum()
    return shares


class CalibrationPrompt(NamedTuple):
    """A prompt with the field's answers and those of the arms, over the same options.

    Attributes:
        n_equal: answers that are drawn of each side.
        choices: assign each answer of a draw to a member of a mixture, shape (draws, n_equal).
    """

    task: str
    item_id: str
    options: Options
    field: SideAnswers
    arms: Mapping[str, SideAnswers]
    n_equal: int
    choices: Floats

    def fit_prompt(self) -> FitPrompt:
        """What the weights of conditions are fitted on."""
        arms = np.stack([answers.shares() for answers in self.arms.values()])
        return FitPrompt(self.field.shares(), arms)

    def leave_out(self, group: int, *, arms: bool) -> "CalibrationPrompt":
        """The prompt without a group of participants, and of every arm's puppets if `arms`."""
        sides = {c: side.leave_out(group) for c, side in self.arms.items()} if arms else self.arms
        return self._replace(field=self.field.leave_out(group), arms=sides)


class UsablePrompts(NamedTuple):
    """The prompts on which a model can be calibrated.

    Attributes:
        exclusions: arms that are left out, with the reason.
        n_answered: prompts to which the field has a readable answer.
    """

    prompts: list[CalibrationPrompt]
    exclusions: dict[str, str]
    n_answered: int


class MixtureMembers(NamedTuple):
    """The members of a mixture: the puppets of a condition, or, without them, the conditions.

    Puppets are more than prompts can tell apart, so that their weights are penalised. The weights are
    for these very puppets, so that none is left out for the interval. Chance in the arms' answers is
    part of the interval of conditions.

    Attributes:
        puppets_of: their condition; None where conditions are members.
        puppet_shares: for each prompt the mean of all answers of each puppet, (puppets, options).
    """

    names: tuple[str, ...]
    puppets_of: str | None = None
    puppet_shares: Sequence[Floats] = ()

    def fit_prompts(self, prompts: Sequence[CalibrationPrompt]) -> list[FitPrompt]:
        """What weights are fitted on."""
        if self.puppets_of is None:
            return [prompt.fit_prompt() for prompt in prompts]
        pairs = zip(prompts, self.puppet_shares, strict=True)
        return [FitPrompt(prompt.field.shares(), shares) for prompt, shares in pairs]

    def answer_weights(self, units: Sequence[str], weights: Floats) -> Floats:
        """Weights of the puppets that gave each answer, 0 for one that has none."""
        by_name = dict(zip(self.names, weights.tolist(), strict=True))
        return np.array([by_name.get(unit, 0.0) for unit in units])


def read_model_answers(answers: pd.DataFrame, *, tasks: Sequence[str]) -> dict[str, ModelAnswers]:
    """Answers of each model to the items of `tasks`, under each condition."""
    by_model: dict[str, ModelAnswers] = {}
    for arm, items in read_answer_sets(answers).items():
        if arm.task in tasks:
            prompts = by_model.setdefault(arm.model, {}).setdefault(arm.condition, {})
            prompts.update({(arm.task, item): item_answers for item, item_answers in items.items()})
    return by_model


def find_usable_prompts(
    answers: ModelAnswers,
    conditions: Sequence[str],
    *,
    rarest_users: float,
    seed: int,
    model: str,
) -> UsablePrompts:
    """Prompts with enough answers of the field to cover rare users, and the arms with enough of them.

    All arms are reduced to the smallest number of answers. An arm is left out where it has too few users,
    or fewer than half of the answers that the field needs to one of the prompts.
    """
    n_needed = sample_needed(rarest_users)
    n_field = {
        key: len(first_answers(answers, FIELD, key)) for key in sorted(answers.get(FIELD, {}))
    }
    keys = [key for key, n in n_field.items() if n >= n_needed]
    exclusions: dict[str, str] = {}
    for condition in conditions if keys else ():
        n_users = len(puppets_in(answers, condition))
        if 0 < n_users < n_needed:
            exclusions[condition] = (
                f"{n_users} puppets answer, and {n_needed} are needed (metrics.rarest_users)"
            )
        elif reason := _too_few_answers(answers, condition, keys, math.ceil(n_needed / 2)):
            exclusions[condition] = reason
    usable_arms = [condition for condition in conditions if condition not in exclusions]
    prompts = _calibration_prompts(answers, keys, usable_arms, seed, model) if usable_arms else []
    return UsablePrompts(prompts, exclusions, sum(n > 0 for n in n_field.values()))


def _too_few_answers(
    answers: ModelAnswers, condition: str, keys: Sequence[PromptKey], minimum: int
) -> str | None:
    """Why an arm is left out that has fewer answers than the minimum to one of the prompts."""
    counts = [len(first_answers(answers, condition, key)) for key in keys]
    n, (task, item) = min(zip(counts, keys, strict=True), key=lambda pair: pair[0])
    if n >= minimum:
        return None
    return (
        f"{n} {'answer' if n == 1 else 'answers'} to {item} ({task}); an arm needs {minimum}, because "
        "all arms are reduced to the smallest number of answers"
    )


def _calibration_prompts(
    answers: ModelAnswers, keys: Sequence[PromptKey], arms: Sequence[str], seed: int, model: str
) -> list[CalibrationPrompt]:
    """The prompts with random orders; a participant has one place in an order over all prompts."""
    by_prompt = {key: {c: first_answers(answers, c, key) for c in (FIELD, *arms)} for key in keys}
    units = {
        c: sorted({a.puppet for sides in by_prompt.values() for a in sides[c] if a.puppet})
        for c in (FIELD, *arms)
    }
    groups = {c: _random_groups(names, seed, (model, c)) for c, names in units.items()}
    places = {unit: place for place, unit in enumerate(units[FIELD])}
    halves = generator(seed, "calibration halves", model).random((N_DRAWS, len(places)))
    prompts = []
    for key, sides in by_prompt.items():
        options, names = distinct_options(sides), (model, *key)
        orders = {FIELD: halves[:, [places[a.puppet] for a in sides[FIELD]]]}
        for c in arms:
            random = generator(seed, "calibration order", *names, c)
            orders[c] = random.random((N_DRAWS, len(sides[c])))
        sides_in_order = {c: _side(sides[c], options, orders[c], groups[c]) for c in sides}
        # one group of each side can be left out, and the field is cut in halves
        smallest = {c: len(a) - math.ceil(len(a) / N_GROUPS) for c, a in sides.items()}
        n_equal = max(1, min(smallest[FIELD] // 2, *(smallest[c] for c in arms)))
        choices = generator(seed, "calibration deal", *names).random((N_DRAWS, n_equal))
        field = sides_in_order.pop(FIELD)
        prompts.append(CalibrationPrompt(*key, options, field, sides_in_order, n_equal, choices))
    return prompts


def _random_groups(units: Sequence[str], seed: int, names: Sequence[str]) -> dict[str, int]:
    order = generator(seed, "calibration groups", *names).permutation(len(units))
    return dict(zip(units, (order % N_GROUPS).tolist(), strict=True))


def _side(
    answers: Sequence[AnswerSet], options: Options, keys: Floats, groups: Mapping[str, int]
) -> SideAnswers:
    units = tuple(answer.puppet for answer in answers)
    # answers without a user are interchangeable
    numbers = [groups.get(unit, number % N_GROUPS) for number, unit in enumerate(units)]
    return SideAnswers(units, _indicator(answers, options), keys, np.array(numbers, dtype=np.int64))


def all_answers(answers: ModelAnswers, condition: str, key: PromptKey) -> list[AnswerSet]:
    """Every readable answer to a prompt under a condition, none where nobody answered it."""
    return answers.get(condition, {}).get(key, _NO_ANSWERS).answers


def first_answers(answers: ModelAnswers, condition: str, key: PromptKey) -> list[AnswerSet]:
    """The first of these answers of each puppet, or all of them without puppets, in order."""
    return answers.get(condition, {}).get(key, _NO_ANSWERS).first_answers()


def distinct_options(by_side: Mapping[str, Sequence[AnswerSet]]) -> Options:
    """The options that any answer names, in alphabetical order."""
    options = {o for answers in by_side.values() for answer in answers for o in answer.options}
    return tuple(sorted(options))


def _indicator(answers: Sequence[AnswerSet], options: Options) -> Floats:
    return np.array(
        [[option in answer.options for option in options] for answer in answers], dtype=np.float64
    ).reshape(len(answers), len(options))


def shares_of(answers: Sequence[AnswerSet], options: Options) -> Floats | None:
    """Share of mentions of each option, None without an answer."""
    return mention_shares(_indicator(answers, options)) if answers else None


def puppets_in(answers: ModelAnswers, condition: str) -> set[str]:
    """The puppets that answer anything under a condition."""
    prompts = answers.get(condition, {}).values()
    return {answer.puppet for prompt in prompts for answer in prompt.answers if answer.puppet}


def puppet_shares(
    answers: ModelAnswers,
    condition: str,
    prompts: Mapping[PromptKey, Options],
    *,
    names: Sequence[str] = (),
) -> MixtureMembers:
    """Puppets of a condition over prompts and their options; all puppets unless `names` are given.

    A puppet without a readable answer to a prompt gets the mean of those that have one.
    """
    by_prompt = {
        key: [a for a in all_answers(answers, condition, key) if a.puppet] for key in prompts
    }
    names = names or sorted({a.puppet for prompt in by_prompt.values() for a in prompt})
    shares = []
    for key, options in prompts.items():
        member_answers = [a for a in by_prompt[key] if a.puppet in set(names)]
        shares.append(_shares_by_puppet(member_answers, names, options))
    return MixtureMembers(tuple(names), condition, shares)


def _shares_by_puppet(
    answers: Sequence[AnswerSet], names: Sequence[str], options: Options
) -> Floats:
    shares = np.zeros((len(names), len(options)))
    place = {name: number for number, name in enumerate(names)}
    rows = np.array([place[answer.puppet] for answer in answers], dtype=np.int64)
    np.add.at(shares, rows, _indicator(answers, options))
    totals = shares.sum(axis=1, keepdims=True)
    missing = totals[:, 0] == 0
    shares[~missing] /= totals[~missing]
    if missing.any() and not missing.all():
        shares[missing] = shares[~missing].mean(axis=0)
    return shares
