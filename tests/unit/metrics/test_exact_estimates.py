"""Measures of probabilities: against closed forms, beside drawn letters, and where a part states none."""

import dataclasses
from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fieldwork.estimates.reasons import ASKED_ONCE
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import question as question_named
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.distributions import measure_distributions
from fieldwork.metrics.exact_estimates import MeasuredTables, measure_exactly
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import TOO_RARE, measure_shifts
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import ExactEstimate, ScoreSpread
from fieldwork.records.parsing import Answer
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.new_letters import new_answer_chances, new_letter_chance
from unit.metrics.metric_frames import answer_frame, chosen, item_frame, question, score_estimates

RAREST = 0.125
SETTINGS: dict[str, Any] = {"baseline": "offline", "n_permutations": 9, "seed": 1}
LETTERS = EstimateSettings("offline", 1, rarest_users=RAREST)
N_USERS, N_ITEMS = 40, 6


def answers_of(
    values: Floats, condition: str = "history", *, calls: int = 1, users: bool = True, seed: int = 1
) -> list[Answer]:
    """Letters drawn from probabilities of shape (users, items, letters), which the answers state."""
    random = np.random.default_rng(seed)
    rows = []
    for user, item in product(range(values.shape[0]), range(values.shape[1])):
        shares = values[user, item]
        letters = random.choice(list(ascii_uppercase[: len(shares)]), p=shares, size=calls)
        names = {"item_id": f"i{item}", "puppet_id": f"p{user:02}" if users else None}
        rows += [
            dataclasses.replace(row, option_probabilities=stated(shares))
            for row in chosen(letters, condition=condition, **names)
        ]
    return rows


def stated(shares: Sequence[float] | Floats) -> list[Any]:
    return [{"option": ascii_uppercase[k], "probability": float(p)} for k, p in enumerate(shares)]


def baseline_of(
    shares: Sequence[float], calls: int = 2, condition: str = "offline"
) -> list[Answer]:
    return answers_of(np.array([[shares]]), condition, calls=calls, users=False)


def items_of(n: int = N_ITEMS) -> pd.DataFrame:
    return item_frame(*(question(f"i{k}", gold="A") for k in range(n))).assign(task="t")


def scores(answers: list[Answer]) -> list[Estimate]:
    return score_estimates(
        measure_runs(answer_frame(answers), items_of()), baseline="offline", rarest_users=RAREST
    )


@cache
def study() -> dict[tuple[str, str], ExactEstimate]:
    random = np.random.default_rng(3)
    base = random.dirichlet(np.full(4, 0.5), size=N_ITEMS)
    tastes = random.dirichlet(np.full(4, 0.5), size=(N_USERS, N_ITEMS))
    answers = answers_of(base[None], "offline", calls=40, users=False)
    answers += answers_of(0.6 * base + 0.4 * tastes, calls=20)
    frame = answer_frame(answers)
    measured = MeasuredTables(
        measure_variance(frame, **SETTINGS),
        [*scores(answers), *estimate_question(question_named("letters"), frame, LETTERS)],
        measure_novelty(frame, **SETTINGS),
        measure_comparisons(frame, **SETTINGS),
    )
    rows = measure_exactly(frame, measured, baseline="offline", seed=1)
    return {(row.condition, row.measure): row for row in rows}


@pytest.mark.parametrize(
    ("measure", "near", "has_interval"),
    [
        ("share_who", 0.03, True),
        ("score", 0.06, True),
        ("novelty", 0.25, False),
        ("distance", 0.02, False),
        ("entropy", 0.1, True),
    ],
)
def test_probabilities_agree_with_what_is_drawn_of_them(
    measure: str, near: float, has_interval: bool
) -> None:
    row = study()["history", measure]
    assert row.estimate == pytest.approx(row.sampled, abs=near)
    assert (row.ci_low is not None) == has_interval == (row.reason is None)
    if has_interval:
        highest = 2 if measure == "entropy" else 1
        assert 0 <= (row.ci_low or 0) < (row.estimate or 0) < (row.ci_high or 0) <= highest
    assert (row.n_calls, row.n_answers) == (N_USERS * N_ITEMS, 20 * N_USERS * N_ITEMS)
    assert (row.n_users, row.n_items) == (N_USERS, N_ITEMS)


def test_without_users_a_score_is_known() -> None:
    row = study()["offline", "score"]
    assert row.estimate == row.ci_low == row.ci_high
    assert row.estimate == pytest.approx(row.sampled, abs=0.08)
    assert (row.n_users, row.n_calls) == (0, N_ITEMS)
    assert study()["offline", "share_who"].estimate is None


def test_scores_to_expect_spread_by_users_alone() -> None:
    def spreads(answers: list[Answer]) -> dict[str, ScoreSpread]:
        runs = measure_runs(answer_frame(answers), items_of())
        rows = measure_score_spreads(runs, baseline="offline", n_permutations=99, seed=1)
        return {row.condition: row for row in rows if row.metric == "expected_score"}

    likings = np.linspace(0.2, 0.8, N_USERS)[:, None, None]
    users = answers_of(np.tile(np.concatenate([likings, 1 - likings], axis=2), (1, N_ITEMS, 1)))
    base = np.full((1, N_ITEMS, 2), 0.5)
    baseline = answers_of(base, "offline", calls=2, users=False)
    rows = spreads(users + baseline)
    assert rows["offline"].sd == 0
    assert rows["history"].sd == pytest.approx(likings.std(ddof=1))
    assert (rows["history"].p_value or 1) < 0.05
    alike = answers_of(np.repeat(base, N_USERS, axis=0)) + baseline
    assert (spreads(alike)["history"].sd, spreads(alike)["history"].p_value) == (0, 1)
    # what a server computes otherwise in its last digits is no spread
    noise = np.linspace(-1e-6, 1e-6, N_USERS)[:, None, None] * np.array([1.0, -1.0])
    noisy = answers_of(np.repeat(base, N_USERS, axis=0) + noise) + baseline
    assert spreads(noisy)["history"].p_value == 1
    silent = [dataclasses.replace(users[0], option_probabilities=None), *users[1:]]
    assert spreads(silent + baseline).keys() == {"offline"}


def test_a_share_has_the_same_interval_in_both_tables() -> None:
    answers = answers_of(users_around(BASE, 20, 0.1)) + baseline_of(BASE)
    frame = answer_frame(answers)
    items = item_frame(question("i0", gold="A", n_choices=3)).assign(task="t")
    shares = measure_distributions(frame, items, rarest_users=RAREST)
    for shift in measure_shifts(frame, baseline="offline", rarest_users=RAREST):
        (row,) = [r for r in shares if (r.condition, r.answer) == ("history", shift.answer)]
        assert (row.ci_low, row.ci_high) == (shift.share_ci_low, shift.share_ci_high)


def test_without_probabilities_there_are_no_rows() -> None:
    frame = answer_frame(chosen("AB", condition="offline") + chosen("AB"))
    variance = measure_variance(frame, **SETTINGS)
    assert not any(row.is_stated for row in variance)
    nothing = MeasuredTables(variance, [], [], [])
    assert measure_exactly(frame, nothing, baseline="offline", seed=1) == []


# ---- variance ----------------------------------------------------------------------------------------

CERTAIN = [[[1.0, 0.0]], [[0.0, 1.0]]]
COINS = [[[0.5, 0.5]], [[0.5, 0.5]]]


@pytest.mark.parametrize(
    ("values", "who", "all_answers", "p"),
    [
        (CERTAIN, 1.0, 1.0, 0.0),
        (COINS, 0.0, 0.5, 1.0),
        (np.hstack([CERTAIN, COINS]), 0.5, 0.75, 0.0),
    ],
)
def test_one_call_of_each_user_says_the_variance(
    values: Any, who: float, all_answers: float, p: float
) -> None:
    """Two users who are certain of different letters, two who toss the same coin, and both."""
    values = np.array(values)
    reruns = [stated_reruns for k in range(values.shape[1]) for stated_reruns in reruns_of(k)]
    rows = measure_variance(answer_frame(answers_of(values) + reruns), **SETTINGS)
    row = next(row for row in rows if row.condition == "history")
    assert (row.var_who, row.var_answers) == pytest.approx((who, all_answers))
    assert (row.share_who, row.p_value) == pytest.approx((who / all_answers, p))
    assert (row.is_stated, row.n_permutations, row.ci_low) == (True, None, None)


def reruns_of(item: int) -> list[Answer]:
    return [dataclasses.replace(a, item_id=f"i{item}") for a in baseline_of([0.5, 0.5])]


def test_the_variance_is_unbiased_for_the_users_drawn() -> None:
    """Over many studies of three users the mean is that of the population of users."""
    random = np.random.default_rng(5)
    population = random.dirichlet(np.full(3, 0.7), size=2000)
    # of independent questions, each of which is a study
    drawn = population[random.integers(0, 2000, size=(3, 1500))]
    (row,) = measure_variance(answer_frame(answers_of(drawn)), **SETTINGS)
    truth = population.var(axis=0).sum(), 1 - (population.mean(axis=0) ** 2).sum()
    assert (row.var_who, row.var_answers) == pytest.approx(truth, rel=0.05)


def test_the_variance_has_no_test_where_nothing_says_that_the_model_repeats_itself() -> None:
    once = answers_of(np.array(CERTAIN))
    (row,) = measure_variance(answer_frame(once), **SETTINGS)
    assert (row.p_value, ASKED_ONCE in (row.reason or "")) == (None, True)
    unsteady = [*baseline_of([0.5, 0.5], 1), *later(baseline_of([0.4, 0.6], 1), 1)]
    rows = measure_variance(answer_frame(once + unsteady), **SETTINGS)
    assert [row.p_value for row in rows] == [None, None]
    assert "states different probabilities" in (rows[0].reason or "")


def later(answers: list[Answer], replicate: int) -> list[Answer]:
    return [dataclasses.replace(answer, replicate=replicate) for answer in answers]


# ---- shares, distances and scores --------------------------------------------------------------------

BASE = [0.7, 0.2, 0.1]


def users_around(shares: Sequence[float], n: int, spread: float) -> Floats:
    """Users of one question, in pairs on both sides of the shares."""
    moves = np.array([spread, -spread, 0.0])
    signs = np.where(np.arange(n) % 2, 1, -1)
    return (np.array(shares) + signs[:, None] * moves)[:, None, :]


def test_a_shift_is_that_of_the_mean_from_what_the_baseline_states() -> None:
    users = users_around([0.5, 0.4, 0.1], N_USERS, 0.1)
    frame = answer_frame(answers_of(users) + baseline_of(BASE))
    shifts = {row.answer: row for row in measure_shifts(frame, baseline="offline")}
    assert [*shifts] == ["A", "B", "C"]
    first = shifts["A"]
    assert (first.baseline_share, first.share, first.shift) == pytest.approx((0.7, 0.5, -0.2))
    assert first.baseline_ci_low == first.baseline_ci_high == pytest.approx(0.7)
    assert (first.ci_low or 0) < -0.2 < (first.ci_high or 0) < 0
    assert (first.p_value or 1) < 1e-6
    assert (first.n_named, first.n_named_baseline, first.is_stated) == (None, None, True)
    # nobody moves C
    assert (shifts["C"].shift, shifts["C"].p_value) == (pytest.approx(0), 1.0)
    rows = measure_comparisons(frame, **SETTINGS)
    by_metric = {row.metric: row for row in rows if row.condition == "history"}
    assert by_metric["total_variation"].distance == pytest.approx(0.2)
    assert (by_metric["js_bits"].p_value or 1) < 1e-6
    assert by_metric["js_bits"].expected_same == 0


@pytest.mark.parametrize("n_users", [2, 20, N_USERS])
def test_contexts_that_change_nothing_are_alike(n_users: int) -> None:
    users = np.repeat(np.array([[BASE]]), n_users, axis=0)
    frame = answer_frame(answers_of(users) + baseline_of(BASE) + baseline_of(BASE, 2, "again"))
    rows: list[Any] = [*measure_shifts(frame, baseline="offline")]
    rows += measure_comparisons(frame, **SETTINGS)
    rows += [row for row in measure_variance(frame, **SETTINGS) if row.condition == "history"]
    assert {row.p_value for row in rows} == {1.0}


def test_users_who_all_differ_alike_may_miss_those_who_do_not() -> None:
    users = np.repeat(np.array([[[0.6, 0.3, 0.1]]]), 20, axis=0)
    frame = answer_frame(answers_of(users) + baseline_of(BASE))
    shifts = {row.answer: row for row in measure_shifts(frame, baseline="offline")}
    # with a quarter of users who always give A the mean would be the baseline's
    assert shifts["A"].p_value == pytest.approx((0.3 / 0.4) ** 20)
    assert shifts["C"].p_value == 1.0


def test_sides_that_are_both_sure_of_a_letter_are_alike() -> None:
    users = users_around([0.995, 0.005, 0.0], 20, 0.001)
    frame = answer_frame(answers_of(users) + baseline_of([0.999, 0.001, 0.0]))
    assert {row.p_value for row in measure_comparisons(frame, **SETTINGS)} == {1.0}
    assert {(row.p_value, row.reason) for row in measure_shifts(frame, baseline="offline")} == {
        (None, TOO_RARE)
    }


def test_a_baseline_asked_once_has_no_test() -> None:
    frame = answer_frame(answers_of(users_around(BASE, 20, 0.1)) + baseline_of(BASE, 1))
    rows: list[Any] = [*measure_shifts(frame, baseline="offline")]
    rows += measure_comparisons(frame, **SETTINGS)
    assert {(row.p_value, row.reason) for row in rows} == {(None, ASKED_ONCE)}


def test_a_server_that_does_not_repeat_itself_has_an_error() -> None:
    noise = [[0.68, 0.22, 0.1], [0.72, 0.18, 0.1], [0.7, 0.2, 0.1]]
    arms = [
        later(baseline_of(shares, 1, condition), k)
        for condition in ("offline", "again")
        for k, shares in enumerate(noise if condition == "offline" else noise[::-1])
    ]
    again, *_ = measure_shifts(answer_frame([a for arm in arms for a in arm]), baseline="offline")
    assert (again.ci_low or 0) < 0 < (again.ci_high or 0)
    assert again.p_value == 1.0


def test_where_a_side_states_nothing_letters_are_counted_on_both() -> None:
    users, silent = answers_of(users_around(BASE, 20, 0.1)), chosen("AAB", condition="offline")
    silent = [dataclasses.replace(a, item_id="i0", replicate=k) for k, a in enumerate(silent)]
    lost = [dataclasses.replace(users[0], option_probabilities=None), *users[1:]]
    for answers in (users + silent, lost + baseline_of(BASE)):
        frame = answer_frame(answers)
        shifts = measure_shifts(frame, baseline="offline")
        assert not any(row.is_stated for row in shifts)
        assert all(row.n_named is not None for row in shifts)
        assert not any(row.is_stated for row in measure_comparisons(frame, **SETTINGS))


def test_what_a_server_does_not_list_may_be_what_the_other_side_has() -> None:
    """The baseline lists A and B, users C as well, with no more than the baseline leaves."""
    users = answers_of(users_around([0.7, 0.27, 0.03], N_USERS, 0.01))
    listed, cut = baseline_of([0.72, 0.28, 0.0]), baseline_of([0.72, 0.28, 0.0])
    cut = [dataclasses.replace(answer, unlisted_share=0.04) for answer in cut]
    for baseline, is_different in ((listed, True), (cut, False)):
        frame = answer_frame(users + baseline)
        shifts = {row.answer: row for row in measure_shifts(frame, baseline="offline")}
        assert ((shifts["C"].p_value or 0) < 0.01) == is_different
        (distance,) = (
            row for row in measure_comparisons(frame, **SETTINGS) if row.metric == "js_bits"
        )
        assert ((distance.p_value or 0) < 0.05) == is_different
        (new,) = (row for row in novelty_of(users, baseline) if row.condition == "history")
        assert ((new.p_value or 0) < 0.05) == is_different
    four = [
        dataclasses.replace(answer, option_probabilities=stated([0.72, 0.28, 0, 0]))
        for answer in cut
    ]
    rows = {row.answer: row for row in measure_distributions(answer_frame(four), items_of(1))}
    assert (rows["C"].share, rows["C"].ci_low, rows["C"].ci_high) == pytest.approx((0, 0, 0.04))


def novelty_of(users: list[Answer], baseline: list[Answer]) -> list[Any]:
    again = [dataclasses.replace(answer, condition="again") for answer in baseline]
    frame = answer_frame(users + baseline + again)
    return measure_novelty(frame, control="again", **SETTINGS)


def test_a_score_may_be_off_by_what_is_not_listed() -> None:
    users = answers_of(users_around([0.5, 0.4, 0.1], N_USERS, 0.02))
    for unlisted_share, is_different in ((0.0, True), (0.3, False)):
        cut = [
            dataclasses.replace(answer, unlisted_share=unlisted_share)
            for answer in baseline_of(BASE)
        ]
        (row,) = (
            row
            for row in scores(users + cut)
            if (row.measure, row.reference, row.condition)
            == ("expected_score", "baseline", "history")
        )
        assert ((row.p_value or 0) < 0.05) == is_different


def test_a_distribution_is_the_mean_of_what_is_stated() -> None:
    users = np.dstack([users_around([0.5, 0.4, 0.1], 20, 0.1), np.zeros((20, 1, 1))])
    frame = answer_frame(answers_of(users, calls=3) + baseline_of([*BASE, 0.0]))
    rows = measure_distributions(frame, items_of(1))
    shares = {(row.condition, row.answer): row for row in rows}
    assert shares["history", "A"].share == pytest.approx(0.5)
    assert (shares["history", "A"].n_units, shares["history", "A"].n_responses) == (20, 60)
    assert shares["offline", "B"].ci_low == shares["offline", "B"].share == pytest.approx(0.2)
    assert shares["history", "unknown"].share == 0


def test_a_score_to_expect_is_the_probability_of_the_right_letter() -> None:
    answers = answers_of(np.array([[[0.7, 0.3], [0.2, 0.8]]]))
    (run,) = measure_runs(answer_frame(answers), items_of(2))
    assert run.expected_score == pytest.approx(0.45)
    assert run.brier_score == pytest.approx((2 * 0.3**2 + 2 * 0.8**2) / 2)
    # one bin each: 0.7 is right, 0.8 is wrong
    assert run.calibration_error == pytest.approx((0.3 + 0.8) / 2)
    assert run.n_stated == 2
    lost = [answers[0], dataclasses.replace(answers[1], option_probabilities=None, letter="A")]
    (run,) = measure_runs(answer_frame(lost), items_of(2))
    assert run.expected_score == pytest.approx((0.7 + 1) / 2)
    assert (run.brier_score, run.calibration_error, run.n_stated) == (None, None, 1)
    drawn = [dataclasses.replace(answer, option_probabilities=None) for answer in answers]
    (run,) = measure_runs(answer_frame(drawn), items_of(2))
    assert (run.expected_score, run.n_stated) == (None, 0)


def test_scores_of_probabilities_mixed_with_letters_say_so() -> None:
    users = answers_of(users_around([0.5, 0.4, 0.1], N_USERS, 0.1))
    mixed = [dataclasses.replace(users[0], option_probabilities=None), *users[1:]]
    for answers, is_mixed in ((users, False), (mixed, True)):
        rows = {
            row.condition: row
            for row in scores(answers + baseline_of(BASE))
            if (row.measure, row.reference) == ("expected_score", "baseline")
        }
        assert (rows["history"].p_value or 1) < 0.01
        assert ("count as drawn: 1 here" in (rows["history"].reason or "")) == is_mixed


# ---- new letters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_baseline", "n_equal"), [(1, 1), (2, 2), (3, 2), (2, 3)])
def test_the_chance_of_a_new_letter_by_listing_every_outcome(n_baseline: int, n_equal: int) -> None:
    random = np.random.default_rng(n_baseline * 10 + n_equal)
    baseline, users = random.dirichlet(np.ones(3)), random.dirichlet(np.ones(3), size=3)
    chance, n_choices = 0.0, 0
    for chosen_users in combinations(range(3), n_equal):
        n_choices += 1
        for reruns in product(range(3), repeat=n_baseline):
            for letters in product(range(3), repeat=n_equal):
                p = np.prod(baseline[list(reruns)])
                p *= np.prod([users[u, k] for u, k in zip(chosen_users, letters, strict=True)])
                chance += float(p) * (not set(letters) <= set(reruns))
    listed = chance / n_choices
    assert new_letter_chance(users, baseline, n_baseline, n_equal) == pytest.approx(listed)
    if n_equal == 1:
        assert new_answer_chances(users, baseline, n_baseline).mean() == pytest.approx(listed)


def test_new_answers_are_tested_one_by_one() -> None:
    users = users_around([0.3, 0.3, 0.4], N_USERS, 0.2)
    again = baseline_of([0.9, 0.1, 0.0], 5, "again")
    answers = answers_of(users) + baseline_of([0.9, 0.1, 0.0], 5) + again
    rows = measure_novelty(answer_frame(answers), control="again", **SETTINGS)
    by_condition = {row.condition: row for row in rows}
    row = by_condition["history"]
    assert (row.is_stated, row.ci_low, row.excess_low) == (True, None, None)
    assert (row.excess or 0) == pytest.approx((row.share or 0) - (row.control_share or 0))
    assert (row.p_value or 1) < 1e-6
    twice = [a for a in answers if a.puppet_id or a.replicate < 2]
    frame = answer_frame(twice)
    rows = measure_novelty(frame, control="again", reruns={"t": 5}, **SETTINGS)
    assert {r.condition: r for r in rows}["history"] == row
    same = answers_of(np.repeat(np.array([[[0.9, 0.1, 0.0]]]), 20, axis=0))
    alike = [*same, *(answer for answer in answers if answer.puppet_id is None)]
    row, _ = measure_novelty(answer_frame(alike), control="again", **SETTINGS)[::-1]
    assert (row.condition, row.excess) == ("history", pytest.approx(0.0, abs=1e-9))
    assert (row.p_value or 0) >= 0.5


def test_other_words_than_letters_are_no_right_answer() -> None:
    answers = answers_of(np.array([[[0.5, 0.5]]]))
    (run,) = measure_runs(
        answer_frame([dataclasses.replace(a, letter_share=0.9) for a in answers]), items_of(1)
    )
    assert run.expected_score == pytest.approx(0.45)
