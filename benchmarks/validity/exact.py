"""Estimates from the probabilities of options, of users whose probabilities are known.

Six questions with four options, as in the quickstart: four open ones, one that is nearly settled and one
that is settled. The truth is that of the population of users. Beside each share and score stands the one
from two letters of each user, drawn from the same probabilities; of these a score counts the first.

Tests are of users whose mean is what the baseline states, so that answers differ between users and not on
average, and of users who differ on average. A server may state less than it knows: rounded, without the
least letters, or with a part of a letter at other spellings of it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from odd_users import ODD_SHARES
from populations import (
    LETTERS,
    SHARES,
    Floats,
    answer_table,
    choice_items,
    draw_letters,
    puppet_shares,
    rarest_covered,
    score_estimates,
)
from simulations import Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import question
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.exact_estimates import MeasuredTables, measure_exactly
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.variance import measure_variance
from fieldwork.parsing.answers import letter_shares, share_of_unlisted
from fieldwork.records.estimates import Estimate
from fieldwork.records.generation import OptionProbability
from fieldwork.records.metrics import ExactEstimate, Novelty
from fieldwork.statistics.arrays import Flags
from fieldwork.statistics.entropy import entropy_bits

DRAWS = 2
"""Letters of each user and question."""
FROM_LETTERS = {
    "share_who": "share_who from two letters",
    "score": "score from the first letter",
    "entropy": "entropy from the first letter",
}
POPULATION = 200_000
"""Users, and sets of the baseline's letters, that stand for all where a truth is computed."""
OPEN_ITEMS = 4
NEARLY_SETTLED, SETTLED = (0.94, 0.03, 0.02, 0.01), (1.0, 0.0, 0.0, 0.0)


def _means(open_shares: Floats, nearly_settled: Floats) -> Floats:
    """Probabilities of the letters of each question, shape (items, letters); the right one is A.

    Each question has its letters in another order, so that some are easy and some are hard.
    """
    rows = (*[open_shares] * OPEN_ITEMS, nearly_settled, np.array(SETTLED))
    return np.stack([np.roll(row, item) for item, row in enumerate(rows)])


MEANS = _means(SHARES, np.array(NEARLY_SETTLED))
ODD_MEANS = _means(ODD_SHARES, ODD_SHARES)
ITEMS = choice_items(
    [f"{item:05}" for item in range(len(MEANS))], [f"s{item}" for item in range(len(MEANS))]
)


class Users(NamedTuple):
    """How the users of a source differ.

    Attributes:
        correlation: intra-class, of users' probabilities around the means of the questions.
        habit: standard deviation of a liking for a letter, in log odds, the same in all questions.
        odd: chance of a user to like the letter that others like least.
    """

    name: str
    correlation: float = 0.0
    habit: float = 0.0
    odd: float = 0.0

    def draw(self, n: int, random: np.random.Generator) -> Floats:
        """Probabilities of `n` users: shape (users, items, letters)."""
        return self._mix(random.random(n) < self.odd, random)

    def population(self, random: np.random.Generator) -> Floats:
        """Probabilities of so many users that they stand for all, exactly `odd` of them odd."""
        return self._mix(np.arange(POPULATION) < self.odd * POPULATION, random)

    def _mix(self, is_odd: Flags, random: np.random.Generator) -> Floats:
        shares = puppet_shares(self.correlation, (len(is_odd), len(MEANS)), random, MEANS)
        if self.habit:
            likings = self.habit * random.normal(size=(len(is_odd), 1, len(LETTERS)))
            weights = shares * np.exp(likings)
            shares = weights / weights.sum(axis=-1, keepdims=True)
        return np.where(is_odd[:, None, None], ODD_MEANS, shares)


ALIKE = Users("users alike")
CORRELATED = Users("users differ, correlation 0.3", 0.3)
HABITS = Users("users like letters by 0.7, the same in all questions", habit=0.7)
ODD = Users("one user in eight odd, others alike", odd=0.125)
USERS = (
    *(ALIKE, Users("users differ, correlation 0.05", 0.05), CORRELATED),
    *(Users("users differ, correlation 0.7", 0.7), HABITS, ODD),
    Users("one user in eight odd, others differ, correlation 0.1", 0.1, odd=0.125),
)
FEW_USERS = (ALIKE, CORRELATED, ODD)
"""Of studies with too few users for an interval."""
NOVELTIES = ((CORRELATED, 10), (ODD, 10), (CORRELATED, 40), (HABITS, 40), (ODD, 40))
"""Users, and reruns of the baseline: as many users are drawn for a share of new letters."""
N_USERS, N_FEW = 40, 10


def _shares_and_scores(users: Users, n_users: int, sets: Sets) -> Lines:
    truths = _truths(users, sets.random)
    studies = columns_of(
        _study(users.draw(n_users, sets.random), sets.random) for _ in range(sets.n)
    )
    for measure, truth in truths.items():
        rows = studies[measure]
        yield line_of(measure, rows, truth, value="estimate", interval="ci")
        if users == ALIKE or n_users == N_FEW:
            yield Line(f"any interval: {measure}", claims=[row.ci_low is not None for row in rows])
            continue
        yield line_of(FROM_LETTERS[measure], rows, truth, value="sampled", interval="sampled")
        ratios = [
            (row.ci_high - row.ci_low) / (row.sampled_high - row.sampled_low)
            for row in rows
            if row.ci_low is not None and row.sampled_low is not None
        ]
        name = f"width of {measure} over that from letters (bias: ratio - 1)"
        yield Line(name, 1.0, ratios)


def _truths(users: Users, random: np.random.Generator) -> dict[str, float]:
    """`share_who`, the score and the letters' entropy of the population of users."""
    shares = users.population(random)
    # from the first user, so that the variance of users who are alike is 0 without rounding
    var_who = float((shares - shares[:1]).var(axis=0).sum())
    var_answers = float((1 - (shares.mean(axis=0) ** 2).sum(axis=1)).sum())
    return {
        "share_who": var_who / var_answers,
        "score": float(shares[:, :, 0].mean()),
        "entropy": float(entropy_bits(shares.mean(axis=0)).mean()),
    }


def _entropies(frame: pd.DataFrame, rarest: float) -> list[Estimate]:
    settings = EstimateSettings("offline", 1, rarest_users=rarest)
    return estimate_question(question("letters"), frame, settings)


def _study(shares: Floats, random: np.random.Generator) -> dict[str, ExactEstimate]:
    """Rows of one data set by measure; `shares` has shape (users, items, letters)."""
    frame = stated_answers(shares, "c", DRAWS, random)
    rarest = rarest_covered(len(shares))
    measured = MeasuredTables(
        measure_variance(frame, baseline="offline", n_permutations=1, seed=1, rarest_users=rarest),
        [
            *score_estimates(measure_runs(frame, ITEMS), rarest_users=rarest),
            *_entropies(frame, rarest),
        ],
        [],
        [],
    )
    rows = measure_exactly(frame, measured, baseline="offline", seed=1, rarest_users=rarest)
    return {row.measure: row for row in rows}


def stated_answers(
    shares: Floats,
    condition: str,
    draws: int,
    random: np.random.Generator,
    stated: Floats | None = None,
) -> pd.DataFrame:
    """Letters of each user and question, which state their probabilities.

    Of the condition `offline` there is one user, who is none: its letters are reruns.

    Args:
        shares: shape (users, items, letters).
        stated: what the server lists of them, NaN where nothing; all without it.
    """
    by_item = shares.swapaxes(0, 1)
    frame = answer_table(draw_letters(by_item, draws, random)[None], condition)
    rows = (by_item if stated is None else stated.swapaxes(0, 1)).reshape(-1, len(LETTERS)).tolist()
    read_rows = [_as_read(row) for row in rows for _ in range(draws)]
    frame["option_probabilities"] = pd.Series(
        [shares for shares, *_ in read_rows], index=frame.index, dtype=object
    )
    frame["unlisted_share"] = [rest for *_, rest in read_rows]
    frame["letter_share"] = [of_letters for _, of_letters, _ in read_rows]
    return frame.assign(letter_strict=frame["letter"], reason=None)


def _as_read(
    row: Sequence[float],
) -> tuple[list[dict[str, object]] | None, float | None, float | None]:
    """What is read of a reply that lists these probabilities, of letters together and of others.

    NaN stands for a letter that it does not list.
    """
    listed = [
        OptionProbability(letter, share)
        for letter, share in zip(LETTERS, row, strict=True)
        if share == share
    ]
    letters = "".join(LETTERS)
    shares = letter_shares(listed, letters)
    if shares is None:
        return None, None, None
    stated: list[dict[str, object]] = [
        {"option": one.option, "probability": one.probability} for one in shares
    ]
    of_letters = min(1.0, sum(one.probability for one in listed))
    return stated, of_letters, share_of_unlisted(listed, letters)


def _new_letters(users: Users, n_reruns: int, sets: Sets) -> Lines:
    """At as many users as reruns; the baseline has the means of the questions. There is no interval."""
    truth = _new_letter_truth(users, n_reruns, sets.random)
    rows = [
        _novelty(users.draw(N_USERS, sets.random), n_reruns, sets.random) for _ in range(sets.n)
    ]
    yield line_of("novelty", rows, truth, value="share", interval="ci")


def _new_letter_truth(users: Users, n_reruns: int, random: np.random.Generator) -> float:
    """Share of questions with a letter that no rerun gave, from as many users of the population.

    Given the reruns' letters, users drawn one by one all stay among them with a power of the mean
    probability.
    """
    means = users.population(random).mean(axis=0)
    is_usual = random.multinomial(n_reruns, MEANS, size=(POPULATION, len(MEANS))) > 0
    staying = (is_usual * means).sum(axis=2) ** n_reruns
    return float(1 - staying.mean())


def _novelty(shares: Floats, n_reruns: int, random: np.random.Generator) -> Novelty:
    """The row of one data set; `shares` has shape (users, items, letters)."""
    frame = pd.concat(
        [
            stated_answers(shares, "c", 1, random),
            stated_answers(MEANS[None], "offline", n_reruns, random),
        ]
    )
    (row,) = measure_novelty(
        frame, baseline="offline", n_permutations=1, rarest_users=rarest_covered(N_USERS)
    )
    return row


# ---- tests against a baseline that is known ----------------------------------------------------------

DISTORTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "": lambda shares: shares,
    "rounded to two digits": lambda shares: shares.round(2),
    "without the least letter": lambda shares: np.where(
        shares == shares.min(axis=-1, keepdims=True), np.nan, shares
    ),
    "a tenth of A at other spellings": lambda shares: shares * [0.9, 1.0, 1.0, 1.0],
}
"""What a server states of the probabilities that it draws from."""
MOVED = Users("one user in eight odd, others differ, correlation 0.1", 0.1, odd=0.125)
TESTED_ITEM, TESTED_LETTER = "00000", "A"


def _tests(users: Users, n_users: int, distortion: str, sets: Sets) -> Lines:
    """p-values of each measure; of sources whose mean is the baseline's they are false."""
    distort = DISTORTIONS[distortion]
    means = users.population(sets.random).mean(axis=0)
    truth = float(means[0, 0] - MEANS[0, 0])
    entropy_truth = float((entropy_bits(means) - entropy_bits(MEANS)).mean())
    drawn = columns_of(
        dict(_tested_study(users.draw(n_users, sets.random), distort, sets.random))
        for _ in range(sets.n)
    )
    for measure, rows in drawn.items():
        if measure == "option_share":
            yield line_of(
                f"{measure} (test)", rows, truth, value="shift", interval="ci", p_value="p_value"
            )
        elif measure == "letter_entropy":
            yield line_of(
                f"{measure} (test)", rows, entropy_truth,
                value="difference", interval="difference", p_value="p_value",
            )  # fmt: skip
        else:
            yield line_of(f"{measure} (test)", rows, p_value="p_value")


def _tested_study(
    shares: Floats, distort: Callable[[Floats], Floats], random: np.random.Generator
) -> Iterator[tuple[str, object]]:
    """Rows of one data set, of one call a user and question and two of the baseline."""
    arms = {"c": shares, "offline": MEANS[None], "again": MEANS[None]}
    frame = pd.concat(
        [
            stated_answers(values, name, 1 if name == "c" else 2, random, distort(values))
            for name, values in arms.items()
        ],
        ignore_index=True,
    )
    frame.loc[frame["condition"] == "again", "puppet_id"] = None
    rarest = rarest_covered(max(len(shares), N_USERS))
    settings = {"baseline": "offline", "rarest_users": rarest}
    item = {"condition": "c", "item_id": TESTED_ITEM}
    compared = measure_comparisons(frame, metrics=["js_bits"], n_permutations=1, seed=1, **settings)
    yield "distance", _row_of(compared, **item)
    yield "option_share", _row_of(measure_shifts(frame, **settings), **item, answer=TESTED_LETTER)
    scores = score_estimates(measure_runs(frame, ITEMS), rarest_users=rarest)
    yield (
        "score",
        _row_of(scores, condition="c", measure="expected_score", reference="baseline"),
    )
    yield (
        "letter_entropy",
        _row_of(_entropies(frame, rarest), condition="c", item_id=None, reference="baseline"),
    )
    new = measure_novelty(frame, control="again", n_permutations=1, **settings)
    yield "novelty", _row_of(new, condition="c")


def _row_of(rows: Sequence[object], **values: object) -> object:
    return next(row for row in rows if all(getattr(row, n) == v for n, v in values.items()))


SIMULATIONS = (
    *(
        Simulation(
            "exact", _shares_and_scores, (users, n), users.name, f"{n} users, {len(MEANS)} questions",
            (1, n, *users.name.encode()), 2.5,
        )
        for users, n in (*((u, N_USERS) for u in USERS), *((u, N_FEW) for u in FEW_USERS))
    ),
    *(
        Simulation(
            "exact", _new_letters, (users, n_reruns), users.name,
            f"{N_USERS} users, {n_reruns} reruns, {len(MEANS)} questions",
            (2, n_reruns, *users.name.encode()), 4,
        )
        for users, n_reruns in NOVELTIES
    ),
    *(
        Simulation(
            "exact", _tests, (users, n, distortion), f"{users.name}{', ' * bool(distortion)}{distortion}",
            f"{n} users, one call each, {len(MEANS)} questions",
            (3, n, *users.name.encode(), *distortion.encode()), 3,
        )
        for users, n, distortion in (
            *((users, n, "") for users in (*USERS[:5], MOVED) for n in (N_FEW, N_USERS)),
            *((users, N_USERS, name) for users in (CORRELATED, MOVED) for name in DISTORTIONS if name),
        )
    ),
)  # fmt: skip
