"""Estimates from the probabilities of the options, without the chance of drawing one of them.

Owns what a study knows where a model says how probable each letter is: the share of variance between
contexts, the expected score, and the expected share of items with a new letter. Each stands beside what
the drawn letters give. What is left of chance is that of users; without users there is none.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.distributions import (
    ChoiceItem,
    QuestionKey,
    choice_answers,
    find_question,
    read_questions,
)
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import ExactEstimate, ExactMeasure, Novelty, VarianceShare
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    mean_interval,
    too_few_users,
    variance_share_interval,
)

NO_USERS = "no interval: without users nothing is left to chance"
NO_INTERVAL_OF_NOVELTY = (
    "no interval: a letter is new once a single user gives it, so few users decide it, and an interval "
    "over users covered as little as 87 % in simulations"
)
MOST_LETTERS = 12
"""Of an item, for `novelty`: the sum has a term for each of their 2 to that power sets."""
NO_SPREAD = "no interval: leaving out a user never changes the value"


Ends = tuple[float | None, float | None, float | None]
"""An estimate from drawn letters, with the ends of its interval."""


class ArmProbabilities(NamedTuple):
    """The probabilities of an arm's letters.

    Attributes:
        items: in alphabetical order.
        users: in alphabetical order; one empty text without users.
        values: shape (users, items, letters); 0 where an item has fewer letters, NaN where a user has no
            answer with probabilities.
        n_answers: answers that the sampled estimates rest on.
    """

    items: list[str]
    users: list[str]
    values: Floats
    n_answers: int

    @property
    def n_calls(self) -> int:
        """Calls that these probabilities take: one for each user and item."""
        return int((~np.isnan(self.values[:, :, 0])).sum())

    @property
    def has_users(self) -> bool:
        """Whether users gave the answers."""
        return self.users != [""]


def measure_exactly(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    variance: Sequence[VarianceShare],
    accuracy: Sequence[Estimate],
    novelty: Sequence[Novelty],
    *,
    baseline: str,
    rarest_users: float = RAREST_USERS,
) -> list[ExactEstimate]:
    """Three estimates of each model, task and condition whose answers have probabilities.

    In order of model, task, condition and measure; empty where no answer has any.

    Args:
        items: choice items, as in `distributions`.
        variance, accuracy, novelty: what the drawn letters give.
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: an answer's item is missing from `items`, or is there with two meanings.
    """
    arms = _read_arms(answers)
    questions = read_questions(items, sorted({arm.task for arm in arms}))
    by_letters = _values_of_letters(variance, accuracy, novelty)
    novelties = {Arm.of(row.model, row.task, row.condition): row for row in novelty}
    rows = []
    for arm, probabilities in arms.items():
        offline = arms.get(arm._replace(condition=baseline))
        if arm.condition == baseline:
            offline = None
        estimates: dict[ExactMeasure, Quantity] = {
            "novelty": _novelty(probabilities, offline, novelties.get(arm), baseline),
            "score": _score(arm, probabilities, questions, rarest_users),
            "share_who": _share_who(probabilities, rarest_users),
        }
        for measure, estimate in estimates.items():
            value, low, high = by_letters.get((arm, measure), (None, None, None))
            rows.append(
                ExactEstimate(
                    **arm.columns,
                    measure=measure,
                    **estimate.columns(),
                    reason=estimate.reason,
                    sampled=value,
                    sampled_low=low,
                    sampled_high=high,
                    n_items=len(probabilities.items),
                    n_users=len(probabilities.users) if probabilities.has_users else 0,
                    n_calls=probabilities.n_calls,
                    n_answers=probabilities.n_answers,
                )
            )
    return rows


def _values_of_letters(
    variance: Sequence[VarianceShare], accuracy: Sequence[Estimate], novelty: Sequence[Novelty]
) -> dict[tuple[Arm, ExactMeasure], Ends]:
    """What the drawn letters give, by arm and measure."""
    rows: list[tuple[Any, ExactMeasure, float | None]] = [
        *((r, "share_who", r.share_who) for r in variance if r.kind == "choice"),
        *(
            (r, "score", r.value)
            for r in accuracy
            if (r.measure, r.reference) == ("em_flexible", "baseline")
        ),
        *((r, "novelty", r.share) for r in novelty),
    ]
    return {
        (Arm.of(row.model, row.task, row.condition), measure): (value, row.ci_low, row.ci_high)
        for row, measure, value in rows
    }


def _read_arms(answers: pd.DataFrame) -> dict[Arm, ArmProbabilities]:
    """Probabilities by arm, in alphabetical order; of several calls of a user for an item, the mean."""
    choices = choice_answers(answers, "option_probabilities", "puppet_id").fillna({"puppet_id": ""})
    arms = {}
    for names, rows in choices.groupby(["model", "task", "condition"]):
        calls_of_arm = rows.dropna(subset="option_probabilities")
        if calls_of_arm.empty:
            continue
        calls = [
            [s["probability"] for s in shares] for shares in calls_of_arm["option_probabilities"]
        ]
        table = pd.DataFrame(calls, dtype=float).fillna(0.0)
        users, items = (
            sorted(calls_of_arm[column].unique()) for column in ("puppet_id", "item_id")
        )
        cells = table.groupby(
            [calls_of_arm["puppet_id"].to_numpy(), calls_of_arm["item_id"].to_numpy()]
        ).mean()
        whole = cells.reindex(pd.MultiIndex.from_product([users, items]))
        values = whole.to_numpy().reshape(len(users), len(items), -1)
        arms[Arm.of(*map(str, names))] = ArmProbabilities(items, users, values, len(rows))
    return arms


def _share_who(probabilities: ArmProbabilities, rarest_users: float) -> Quantity:
    if not probabilities.has_users:
        reason = "this condition has no users: all variance within an item comes from reruns"
        return Quantity(reason=reason)
    var_who, var_answers = exact_components(probabilities.values)
    if not var_answers > 0:
        reason = "one letter is certain for all users and items: there is no variance to share out"
        return Quantity(reason=reason)
    interval, shortage = None, too_few_users(len(probabilities.users), rarest_users)
    if shortage is None:
        left_out = [exact_components(rest) for rest in _leave_one_out(probabilities.values)]
        rests = np.array(
            [1 - var_between / total if total > 0 else math.nan for var_between, total in left_out]
        )
        interval = variance_share_interval(var_who / var_answers, rests)
        shortage = None if interval else NO_SPREAD
    return Quantity(var_who / var_answers, interval, reason=shortage)


def exact_components(values: Floats) -> tuple[float, float]:
    """Variance between users and of all answers to an item, sums over items with two users or more.

    The law of total variance for indicators of letters: with p the users' probabilities of shape (users,
    items, letters), the variance between users is the unbiased variance of p, and that of a user's reruns
    is the mean of 1 - Σ p². Cells without an answer are NaN.
    """
    is_there = ~np.isnan(values[:, :, 0])
    counts = is_there.sum(axis=0)
    cells = np.nan_to_num(values)
    has_two_users = counts >= 2
    means = cells[:, has_two_users].sum(axis=0) / counts[has_two_users, None]
    deviations = (cells[:, has_two_users] - means) * is_there[:, has_two_users, None]
    var_who = (deviations**2).sum(axis=(0, 2)) / (counts[has_two_users] - 1)
    squares = (cells[:, has_two_users] ** 2).sum(axis=(0, 2)) / counts[has_two_users]
    var_rerun = 1 - squares
    return float(var_who.sum()), float((var_who + var_rerun).sum())


def _leave_one_out(values: Floats) -> Iterator[Floats]:
    for user in range(len(values)):
        yield np.delete(values, user, axis=0)


def _score(
    arm: Arm,
    probabilities: ArmProbabilities,
    questions: Mapping[QuestionKey, ChoiceItem],
    rarest_users: float,
) -> Quantity:
    """The mean over users of the expected share of right answers, as a run's score is made."""
    subjects: dict[str, list[Floats]] = {}
    for place, item in enumerate(probabilities.items):
        question = find_question(questions, QuestionKey(arm.task, item))
        if question.gold is not None and question.gold in question.letters:
            right = probabilities.values[:, place, question.letters.index(question.gold)]
            subjects.setdefault(question.subject or "", []).append(right)
    if not subjects:
        return Quantity(reason="no item has a gold letter")
    scores = np.mean([np.mean(rights, axis=0) for rights in subjects.values()], axis=0)
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        return Quantity(reason="no user has probabilities for all items")
    value = float(scores.mean())
    if not probabilities.has_users:
        return Quantity(value, reason=NO_USERS)
    interval = mean_interval(scores.tolist(), rarest_users)
    if interval is None:
        return Quantity(value, reason=too_few_users(len(scores), rarest_users) or NO_SPREAD)
    return Quantity(value, interval.clip(0.0, 1.0))


def _novelty(
    probabilities: ArmProbabilities,
    offline: ArmProbabilities | None,
    novelty: Novelty | None,
    baseline: str,
) -> Quantity:
    """At the numbers of users and reruns of the sampled share; without one there is nothing beside it."""
    if offline is None or novelty is None or not novelty.n_equal:
        return Quantity(reason=f"there is no share beside it from {baseline}")
    if probabilities.values.shape[2] > MOST_LETTERS:
        return Quantity(reason=f"an item has more than {MOST_LETTERS} letters")
    shared_items = [i for i in probabilities.items if i in set(offline.items)]
    chances = _new_letter_chances(
        probabilities, offline, shared_items, novelty.n_baseline or 0, novelty.n_equal
    )
    reason = NO_INTERVAL_OF_NOVELTY if probabilities.has_users else NO_USERS
    return Quantity(float(chances.mean()), reason=reason)


def _new_letter_chances(
    probabilities: ArmProbabilities,
    offline: ArmProbabilities,
    items: list[str],
    n_baseline: int,
    n_equal: int,
) -> Floats:
    """`new_letter_chance` of each item: shape (items,)."""
    values = probabilities.values
    chances = []
    for item in items:
        user_shares = values[:, probabilities.items.index(item)]
        user_shares = user_shares[~np.isnan(user_shares[:, 0])]
        baseline_shares = np.nanmean(offline.values[:, offline.items.index(item)], axis=0)
        n_letters = max(user_shares.shape[1], len(baseline_shares))
        user_shares, baseline_shares = (
            np.pad(user_shares, ((0, 0), (0, n_letters - user_shares.shape[1]))),
            np.pad(baseline_shares, (0, n_letters - len(baseline_shares))),
        )
        size = len(user_shares) if probabilities.has_users else n_equal
        if not probabilities.has_users:
            user_shares = np.repeat(user_shares.mean(axis=0)[None], n_equal, axis=0)
        chances.append(
            new_letter_chance(user_shares, baseline_shares, n_baseline, min(n_equal, size))
        )
    return np.array(chances)


def new_letter_chance(users: Floats, baseline: Floats, n_baseline: int, n_equal: int) -> float:
    """Chance that `n_equal` of the users, each once, give a letter that `n_baseline` reruns never gave.

    Sums over the sets of letters that the reruns may give: the chance of the set (inclusion and exclusion
    over its subsets) times the mean chance, over all choices of users, that all their letters are in it.

    Args:
        users: probabilities, shape (users, letters).
        baseline: probabilities, shape (letters,).
    """
    n_letters = len(baseline)
    sets = (np.arange(2**n_letters)[:, None] >> np.arange(n_letters) & 1).astype(np.float64)
    set_chances = (sets @ baseline) ** n_baseline
    # of "all reruns within the set" to "the reruns give exactly the set": Möbius over one letter a time
    for letter in range(n_letters):
        has = sets[:, letter] == 1
        subsets = np.flatnonzero(has) - (1 << letter)
        set_chances[has] -= set_chances[subsets]
    staying = _mean_product(sets @ users.T, n_equal)
    return float(1 - (set_chances * staying).sum() / set_chances.sum())


def _mean_product(chances: Floats, size: int) -> Floats:
    """Mean product of `size` of the users' chances, over all choices: (sets, users) to (sets,).

    The elementary symmetric polynomial over the number of choices, kept as a mean from user to user, so
    that no number grows.
    """
    n_users = chances.shape[1]
    means = np.zeros((len(chances), size + 1))
    means[:, 0] = 1.0
    for user in range(n_users):
        for k in range(min(size, user + 1), 0, -1):
            # of the choices of k among user + 1, k / (user + 1) hold the new one
            share = k / (user + 1)
            means[:, k] = (1 - share) * means[:, k] + share * means[:, k - 1] * chances[:, user]
    result: Floats = means[:, size]
    return result
