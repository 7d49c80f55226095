"""Estimates from the probabilities of the options, without the chance of drawing one of them.

Owns what a study knows where a model says how probable each letter is: the share of variance between
contexts, the expected score, and the expected share of items with a new letter. Each stands beside what
the drawn letters give. What is left of chance is that of users; without users there is none.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.distributions import (
    ChoiceArm,
    ChoiceItem,
    QuestionKey,
    choice_answers,
    find_question,
    read_questions,
    text_or_none,
)
from fieldwork.records.metrics import (
    Accuracy,
    ExactEstimate,
    ExactMeasure,
    Novelty,
    VarianceShare,
)
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    too_few_users,
    unit_interval,
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


class LetterTables(NamedTuple):
    """What the drawn letters give: rows of `variance`, `accuracy` and `novelty`."""

    variance: list[VarianceShare]
    accuracy: list[Accuracy]
    novelty: list[Novelty]


class LetterValue(NamedTuple):
    """An estimate from drawn letters, with the ends of its interval."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None


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


class _ExactValue(NamedTuple):
    measure: ExactMeasure
    value: float | None
    interval: Interval | None
    reason: str | None


def measure_exactly(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    letter_tables: LetterTables,
    *,
    baseline: str,
    rarest_users: float = RAREST_USERS,
) -> list[ExactEstimate]:
    """Three estimates of each model, task and condition whose answers have probabilities.

    In order of model, task, condition and measure; empty where no answer has any.

    Args:
        items: choice items, as in `distributions`.
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: an answer's item is missing from `items`, or is there with two meanings.
    """
    arms = _read_arms(answers)
    questions = read_questions(items, sorted({arm.task for arm in arms}))
    letter_values = _letter_values(letter_tables)
    rows = []
    for arm, probabilities in sorted(arms.items(), key=lambda entry: entry[0]):
        offline = arms.get(arm._replace(condition=baseline))
        estimates = [
            _share_who(probabilities, rarest_users),
            _score(arm, probabilities, questions, rarest_users),
            _novelty(arm, probabilities, offline, letter_tables.novelty, baseline),
        ]
        rows += [_row(arm, probabilities, estimate, letter_values) for estimate in estimates]
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.measure))


def _row(
    arm: ChoiceArm,
    probabilities: ArmProbabilities,
    estimate: _ExactValue,
    letter_values: Mapping[tuple[ChoiceArm, str], LetterValue],
) -> ExactEstimate:
    letter_value = letter_values.get((arm, estimate.measure), LetterValue())
    interval = estimate.interval
    return ExactEstimate(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        measure=estimate.measure,
        estimate=estimate.value,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        sampled=letter_value.estimate,
        sampled_low=letter_value.low,
        sampled_high=letter_value.high,
        n_items=len(probabilities.items),
        n_users=len(probabilities.users) if probabilities.has_users else 0,
        n_calls=probabilities.n_calls,
        n_answers=probabilities.n_answers,
        reason=estimate.reason,
    )


def _letter_values(letter_tables: LetterTables) -> dict[tuple[ChoiceArm, str], LetterValue]:
    def arm_of(row: VarianceShare | Accuracy | Novelty) -> ChoiceArm:
        return ChoiceArm(row.model, row.task, row.condition)

    shares = {
        (arm_of(r), "share_who"): LetterValue(r.share_who, r.ci_low, r.ci_high)
        for r in letter_tables.variance
        if r.kind == "choice"
    }
    scores = {
        (arm_of(r), "score"): LetterValue(r.mean, r.ci_low, r.ci_high)
        for r in letter_tables.accuracy
        if r.metric == "em_flexible"
    }
    novelties = {
        (arm_of(r), "novelty"): LetterValue(r.share, r.ci_low, r.ci_high)
        for r in letter_tables.novelty
    }
    return {**shares, **scores, **novelties}


# ---- reading -----------------------------------------------------------------------------------------


def _read_arms(answers: pd.DataFrame) -> dict[ChoiceArm, ArmProbabilities]:
    """Probabilities by arm; of several calls of a user for an item, the mean."""
    rows = choice_answers(answers, "option_probabilities", "puppet_id")
    cells: dict[ChoiceArm, dict[tuple[str, str], list[Floats]]] = {}
    n_answers: dict[ChoiceArm, int] = {}
    for model, task, condition, item, shares, puppet in rows.itertuples(index=False, name=None):
        arm = ChoiceArm(model, task, condition)
        n_answers[arm] = n_answers.get(arm, 0) + 1
        if isinstance(shares, np.ndarray | list):
            cell = (text_or_none(puppet) or "", item)
            values = np.array([share["probability"] for share in shares], dtype=np.float64)
            cells.setdefault(arm, {}).setdefault(cell, []).append(values)
    return {arm: _table(by_cell, n_answers[arm]) for arm, by_cell in cells.items()}


def _table(cells: Mapping[tuple[str, str], list[Floats]], n_answers: int) -> ArmProbabilities:
    users, items = (sorted({cell[k] for cell in cells}) for k in (0, 1))
    n_letters = max(len(shares) for calls in cells.values() for shares in calls)
    values = np.full((len(users), len(items), n_letters), np.nan)
    user_places = {user: place for place, user in enumerate(users)}
    item_places = {item: place for place, item in enumerate(items)}
    for (user, item), calls in cells.items():
        mean = np.mean(calls, axis=0)
        values[user_places[user], item_places[item]] = np.pad(mean, (0, n_letters - len(mean)))
    return ArmProbabilities(items, users, values, n_answers)


# ---- estimates ---------------------------------------------------------------------------------------


def _share_who(probabilities: ArmProbabilities, rarest_users: float) -> _ExactValue:
    if not probabilities.has_users:
        reason = "this condition has no users: all variance within an item comes from reruns"
        return _ExactValue("share_who", None, None, reason)
    var_who, var_answers = exact_components(probabilities.values)
    if not var_answers > 0:
        reason = "one letter is certain for all users and items: there is no variance to share out"
        return _ExactValue("share_who", None, None, reason)
    interval, shortage = None, too_few_users(len(probabilities.users), rarest_users)
    if shortage is None:
        left_out = [exact_components(rest) for rest in _leave_one_out(probabilities.values)]
        rests = np.array(
            [1 - var_between / total if total > 0 else math.nan for var_between, total in left_out]
        )
        interval = variance_share_interval(var_who / var_answers, rests)
        shortage = None if interval else NO_SPREAD
    return _ExactValue("share_who", var_who / var_answers, interval, shortage)


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
    arm: ChoiceArm,
    probabilities: ArmProbabilities,
    questions: Mapping[QuestionKey, ChoiceItem],
    rarest_users: float,
) -> _ExactValue:
    by_item = [find_question(questions, QuestionKey(arm.task, i)) for i in probabilities.items]
    subjects: dict[str, list[int]] = {}
    for place, question in enumerate(by_item):
        if question.gold is not None and question.gold in question.letters:
            subjects.setdefault(question.subject or "", []).append(place)
    if not subjects:
        return _ExactValue("score", None, None, "no item has a gold letter")
    places = {
        k: by_item[k].letters.index(by_item[k].gold or "") for s in subjects.values() for k in s
    }
    right = np.full(probabilities.values.shape[:2], np.nan)
    for item, letter in places.items():
        right[:, item] = probabilities.values[:, item, letter]
    user_scores = np.mean([right[:, items].mean(axis=1) for items in subjects.values()], axis=0)
    user_scores = user_scores[~np.isnan(user_scores)]
    if not len(user_scores):
        return _ExactValue("score", None, None, "no user has probabilities for all items")
    value = float(user_scores.mean())
    moves = -(user_scores - value) / max(len(user_scores) - 1, 1)
    return _with_interval("score", value, moves, probabilities, rarest_users)


def _with_interval(
    measure: ExactMeasure,
    value: float,
    moves: Floats,
    probabilities: ArmProbabilities,
    rarest_users: float,
) -> _ExactValue:
    """An estimate with its interval over users, from how far leaving each out moves it."""
    if not probabilities.has_users:
        return _ExactValue(measure, value, None, NO_USERS)
    reason = too_few_users(len(moves), rarest_users)
    interval = None if reason else unit_interval(value, moves, rarest_users=rarest_users)
    if interval is None:
        return _ExactValue(measure, value, None, reason or NO_SPREAD)
    return _ExactValue(measure, value, interval.clip(0.0, 1.0), None)


def _novelty(
    arm: ChoiceArm,
    probabilities: ArmProbabilities,
    offline: ArmProbabilities | None,
    novelties: list[Novelty],
    baseline: str,
) -> _ExactValue:
    """At the numbers of users and reruns of the sampled share; without one there is nothing beside it."""
    novelty = next(
        (r for r in novelties if (r.model, r.task, r.condition) == tuple(arm) and r.n_equal), None
    )
    if arm.condition == baseline or offline is None or novelty is None:
        return _ExactValue("novelty", None, None, f"there is no share beside it from {baseline}")
    if probabilities.values.shape[2] > MOST_LETTERS:
        return _ExactValue("novelty", None, None, f"an item has more than {MOST_LETTERS} letters")
    shared_items = [i for i in probabilities.items if i in set(offline.items)]
    n_baseline, n_equal = novelty.n_baseline or 0, novelty.n_equal or 0
    chances = _new_letter_chances(probabilities, offline, shared_items, n_baseline, n_equal)
    value = float(chances.mean())
    reason = NO_INTERVAL_OF_NOVELTY if probabilities.has_users else NO_USERS
    return _ExactValue("novelty", value, None, reason)


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
