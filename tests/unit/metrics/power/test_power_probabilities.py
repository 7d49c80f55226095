"""Power where probabilities are the answers: the study's own tests, their sizes, and what is asked."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from power_plans import (
    FakeArms,
    plan_power,
    planned_study,
    score_difference,
    share_change,
    with_power,
)

from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.power.effects import (
    Effect,
    LetterProbabilities,
    LetterSource,
    ListSource,
    ProbabilitySource,
    Scenario,
)
from fieldwork.metrics.power.likeness import LEAST_USERS, measure_share_who
from fieldwork.metrics.power.outcomes import SimulatedStudies
from fieldwork.metrics.power.simulation import simulation_of
from fieldwork.metrics.power.study import CAUTIOUS_SHARE
from fieldwork.metrics.power.tests_of_arms import own_shares
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.statistics.families import LEVEL
from unit.metrics.metric_frames import answer_frame, chosen

N = 40
RAREST = 0.125
SPREAD = ProbabilitySource(0.3)


def studies(n_studies: int = 200, n_users: int = N) -> SimulatedStudies:
    return SimulatedStudies(n_users, n_studies, 199, 199, RAREST, np.random.default_rng(3))


def share_claimed(scenario: Scenario, n_users: int = N) -> float:
    simulate = simulation_of(scenario)
    assert simulate
    p_values = [test.p_value for test in simulate(studies(n_users=n_users))]
    return float(np.mean([p is not None and p < LEVEL for p in p_values]))


def stated_answers(shares: np.ndarray, condition: str, *, with_users: bool) -> list[Any]:
    return [
        dataclasses.replace(
            row, option_probabilities=_of_two(share), replicate=0 if with_users else k
        )
        for k, share in enumerate(shares.tolist())
        for row in chosen("A", condition=condition, puppet_id=f"p{k:03}" if with_users else None)
    ]


def _of_two(share: float) -> list[Any]:
    return [{"option": "A", "probability": share}, {"option": "B", "probability": 1 - share}]


@pytest.mark.parametrize("measure", ["option_share", "distance"])
def test_the_test_is_that_of_the_study(measure: str) -> None:
    """The same probabilities have the same p-values in `shifts` and `comparisons`."""
    scenario = Scenario(measure, share_change(0.5, 0.35), SPREAD)
    simulate = simulation_of(scenario)
    assert simulate
    tests = [*simulate(studies(3))]
    random = np.random.default_rng(3)
    for test in tests:
        random.random((N,))  # who carries the effect: everybody
        users = own_shares(0.3, 0.35, (N,), random)
        own_shares(0.3, 0.5, (N,), random)
        frame = answer_frame(
            [
                *stated_answers(users, "history", with_users=True),
                *stated_answers(np.array([0.5, 0.5]), "offline", with_users=False),
            ]
        )
        settings: dict[str, Any] = {"baseline": "offline", "rarest_users": RAREST}
        if measure == "distance":
            (row,) = measure_comparisons(
                frame, n_permutations=9, seed=1, metrics=["js_bits"], **settings
            )
        else:
            (row,) = [r for r in measure_shifts(frame, **settings) if r.answer == "A"]
        assert test.p_value == pytest.approx(row.p_value)


@pytest.mark.parametrize("measure", ["option_share", "distance"])
def test_users_that_differ_around_the_baseline_are_hardly_ever_claimed(measure: str) -> None:
    assert share_claimed(Scenario(measure, share_change(0.5, 0.5), SPREAD)) < 0.1


def test_the_surer_each_user_is_the_more_users_it_takes() -> None:
    change = share_change(0.5, 0.4)
    powers = [
        share_claimed(Scenario("option_share", change, ProbabilitySource(share)))
        for share in (0.02, 0.2, 0.9)
    ]
    assert powers[0] > powers[1] > powers[2]
    drawn = share_claimed(Scenario("option_share", change, LetterSource(0.5)))
    assert powers[1] > drawn


def test_one_call_says_whether_contexts_differ() -> None:
    assert share_claimed(Scenario("share_who", Effect("who", 0.01), SPREAD), 5) == 1
    assert share_claimed(Scenario("share_who", Effect("who", 0.0), SPREAD), 5) == 0


def test_expected_scores_have_the_spread_of_users_alone() -> None:
    def power(difference: float, sd_users: float) -> float:
        effect = score_difference(difference, sd_users, 0.05)
        return share_claimed(Scenario("score", effect, SPREAD))

    assert power(0.0, 0.02) < 0.1
    assert power(0.02, 0.02) > 0.9 > power(0.02, 0.1)


@pytest.mark.parametrize("share_who", [0.0, 0.3, 1.0])
def test_variety_of_stated_letters_is_seen_where_it_is_and_hardly_ever_else(
    share_who: float,
) -> None:
    letters = LetterProbabilities(share_who, 4, 1.5)

    def power(bits: float, source: LetterProbabilities | ListSource = letters) -> float:
        effect = Effect("entropy", bits)
        return share_claimed(Scenario("letter_entropy", effect, source, 4, 1, task="t"))

    assert power(0.0) < 0.1
    assert power(0.15) >= power(0.15, letters.letters)


def test_a_study_by_probabilities_asks_choices_once_and_says_what_it_supposes() -> None:
    study = planned_study({}, runs={"t": 12}, is_by_probabilities=True)
    study = with_power(study, share_who=None)
    planned = plan_power(study, ["t"], FakeArms("choice", graded=4))
    assert {row.replicates for row in planned.advice} == {1}
    sources = {row.source for row in planned.advice if row.measure == "distance"}
    assert sources == {ProbabilitySource(CAUTIOUS_SHARE).label}
    who = [row for row in planned.advice if row.measure == "share_who"]
    assert {row.power for row in who} == {1}
    assert "each asked once" in planned.page
    cautious = "50 % of the variance of letters lies between users (cautious, as no answers"
    assert cautious in " ".join(planned.page.split())
    assert "permutation" not in planned.page
    stated = with_power(study, share_who=0.1)
    page = " ".join(plan_power(stated, ["t"], FakeArms("choice")).page.split())
    assert "10 % of the variance of letters lies between users (`power.share_who`)" in page


def pilot(share: float, n_users: int, calls: int) -> pd.DataFrame:
    """Users with probabilities of their own for five prompts; each is drawn from them so often."""
    random = np.random.default_rng(5)
    rows = []
    for item in range(5):
        for user, own in enumerate(own_shares(share, 0.5, (n_users,), random).tolist()):
            letters = random.choice(["A", "B"], p=[own, 1 - own], size=calls)
            names = {"item_id": f"i{item}", "puppet_id": f"p{user:03}"}
            rows += [
                dataclasses.replace(row, option_probabilities=_of_two(own) if calls == 1 else None)
                for row in chosen(letters, **names)
            ]
    return answer_frame(rows)


@pytest.mark.parametrize("calls", [1, 2])
def test_a_pilot_shows_how_sure_contexts_make_the_model(calls: int) -> None:
    (share,) = measure_share_who(pilot(0.3, 300, calls)).values()
    assert share == pytest.approx(0.3, abs=0.05)


def test_few_users_and_single_draws_say_nothing_of_it() -> None:
    assert measure_share_who(pilot(0.3, LEAST_USERS - 1, 2)) == {}
    drawn_once = pilot(0.3, 30, 1).assign(option_probabilities=None)
    assert measure_share_who(drawn_once) == {}
