"""Simulated tests are those of the study: the same answers have the same p-values."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from power_plans import score_difference, share_change

from fieldwork.estimates import prompts as estimates_of_prompts
from fieldwork.measures import measures
from fieldwork.metrics.accuracy import count_runs
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.power import tests_of_arms, tests_of_shares
from fieldwork.metrics.power.effects import Effect, LetterSource, ListSource, Scenario
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest
from fieldwork.metrics.power.simulation import simulation_of
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.variance import measure_variance
from fieldwork.statistics.delete_many import third_samples
from unit.metrics.metric_frames import (
    answer_frame,
    chosen,
    list_means,
    listed,
    runs_of,
    score_estimates,
)

SMALL = ListSource(2, 6, 1.0)
CHANGE = share_change(0.8, 0.3)
N = 12
RAREST = 0.31
"""Ten users are enough for intervals, which tests of means take into account."""


def moved(measure: str, source: LetterSource | ListSource) -> Scenario:
    return Scenario(measure, CHANGE, source)


def declared(scenario: Scenario, own: SimulatedStudies) -> list[SimulatedTest]:
    simulate = tests_of_arms.declared_simulation(measures()[scenario.measure], scenario)
    assert simulate
    return [*simulate(own)]


def studies(n_users: int = N, n_studies: int = 12, n_permutations: int = 999) -> SimulatedStudies:
    random = np.random.default_rng(3)
    return SimulatedStudies(n_users, n_studies, n_permutations, n_permutations, RAREST, random)


class Recorder:
    """Keeps what a function returns."""

    def __init__(self, module: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.values: list[Any] = []
        function = getattr(module, name)

        def record(*arguments: Any) -> Any:
            self.values.append(function(*arguments))
            return self.values[-1]

        monkeypatch.setattr(module, name, record)


def in_order(lists: np.ndarray) -> np.ndarray:
    """Lists of shape (answers, options), as their options' names are sorted."""
    return np.array(sorted(lists.tolist(), key=lambda one: tuple(np.flatnonzero(one))))


def list_rows(
    lists: np.ndarray, condition: str, item: str = "i", *, puppets: bool
) -> Iterator[Any]:
    """Lists of shape (users, answers, options)."""
    for user, own in enumerate(lists):
        answers = listed(
            *([f"o{o}" for o in np.flatnonzero(one)] for one in own),
            condition=condition,
            item_id=item,
        )
        for row in answers:
            # without users, answers are numbered through
            names = {"puppet_id": f"p{user:04}"} if puppets else {"replicate": user}
            yield dataclasses.replace(row, **names)


def error_of(p_value: float) -> float:
    """Four standard errors: a p-value far above the level rests on 200 permutations, others on 999."""
    n_permutations = 200 if p_value > 0.08 else 999
    return 4 * math.sqrt(p_value * (1 - p_value) / n_permutations) + 0.005


def test_who_asks_of_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = Recorder(tests_of_arms, "draw_lists", monkeypatch)
    scenario = Scenario("share_who", Effect("who", 0.1), SMALL, n_items=2, replicates=3)
    p_values = [
        test.p_value for test in tests_of_arms.list_user_tests(0.8, scenario, SMALL, studies(6))
    ]
    for number, p_value in enumerate(p_values):
        items = [*lists.values[2 * number : 2 * number + 2]]
        rows = [
            r for k, one in enumerate(items) for r in list_rows(one, "c", f"i{k}", puppets=True)
        ]
        (expected,) = measure_variance(
            answer_frame(rows), baseline="offline", n_permutations=999, seed=number
        )
        assert p_value == pytest.approx(expected.p_value, abs=error_of(expected.p_value))


def test_distances_of_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = Recorder(tests_of_shares, "draw_moved_lists", monkeypatch)
    tests = [*tests_of_shares.list_distances(moved("distance", SMALL), studies())]
    for number, test in enumerate(tests):
        settings = {
            "baseline": "offline",
            "n_permutations": 1999,
            "seed": 1,
            "metrics": ["js_bits"],
        }
        (expected,) = measure_comparisons(two_sides(lists, number), **settings)
        assert test.p_value == pytest.approx(expected.p_value, abs=error_of(expected.p_value))


def two_sides(lists: Recorder, number: int) -> pd.DataFrame:
    """Lists of a simulated study, those of the condition first."""
    condition, baseline = lists.values[2 * number : 2 * number + 2]
    rows = list_rows(condition[:, None], "c", puppets=True)
    return answer_frame([*rows, *list_rows(baseline[:, None], "offline", puppets=False)])


@pytest.mark.parametrize("measure", ["distance", "option_share"])
def test_letters_of_one_prompt(measure: str) -> None:
    plan = studies()
    source = LetterSource(0.5)
    if measure == "distance":
        ones = np.random.default_rng(3).binomial(N, [0.3, 0.8], size=(12, 2)).tolist()
        tests = [*tests_of_shares.letter_distances(moved(measure, source), plan)]
    else:
        random = np.random.default_rng(3)
        ones = [[int(random.binomial(N, share)) for share in (0.3, 0.8)] for _ in range(12)]
        tests = [*tests_of_shares.share_tests(moved(measure, source), plan)]
    for (condition, baseline), test in zip(ones, tests, strict=True):
        rows = [
            *chosen("A" * condition + "B" * (N - condition), condition="c"),
            *chosen("A" * baseline + "B" * (N - baseline), condition="offline"),
        ]
        frame = answer_frame(rows)
        if measure == "distance":
            (expected,) = measure_comparisons(
                frame, baseline="offline", n_permutations=9, seed=1, metrics=["js_bits"]
            )
            assert test.support == pytest.approx(expected.p_least)
        else:
            expected = measure_shifts(frame, baseline="offline")[0]
            named = expected.n_named + expected.n_named_baseline
            assert test.support == (named, N, N)
        assert test.p_value == pytest.approx(expected.p_value)


def test_options_of_lists_come_with_the_tests_of_their_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lists = Recorder(tests_of_shares, "draw_moved_lists", monkeypatch)
    tests = [*tests_of_shares.share_tests(moved("option_share", SMALL), studies(n_studies=3))]
    for number, test in enumerate(tests):
        rows = measure_shifts(two_sides(lists, number), baseline="offline")
        expected = {row.answer: row for row in rows}
        assert test.p_value == pytest.approx(expected["o0"].p_value)
        others = sorted(row.p_value for name, row in expected.items() if name != "o0")
        own = [p_value for p_value, _ in test.companions]
        # those that can count are among them
        assert 0 < len(own) <= len(others)
        assert all(any(abs(p - q) < 1e-12 for q in others) for p in own)


def test_entropy_of_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    # both read the same answers in the same order, and leave out the same of them
    draw = tests_of_arms.draw_lists
    monkeypatch.setattr(tests_of_arms, "draw_lists", lambda *a: in_order(draw(*a)))
    lists = Recorder(tests_of_arms, "draw_lists", monkeypatch)
    for module in (tests_of_arms, estimates_of_prompts):
        monkeypatch.setattr(
            module, "third_samples", lambda n, _: third_samples(n, np.random.default_rng(5))
        )
    scenario = Scenario("entropy_bits", Effect("entropy", 0.1), SMALL, n_items=3, n_settled=1)
    tests = declared(scenario, studies(n_studies=4))
    settled = np.tile(np.arange(6) < 2, (N, 1)).astype(np.int64)
    for number, test in enumerate(tests):
        drawn = lists.values[4 * number : 4 * number + 4]
        sides = {"c": [*drawn[:2], settled], "offline": [*drawn[2:], settled]}
        rows = [
            row
            for condition, prompts in sides.items()
            for item, prompt in enumerate(prompts)
            for row in list_rows(prompt[:, None], condition, f"i{item}", puppets=condition == "c")
        ]
        expected = [
            row.p_value
            for row in list_means(answer_frame(rows), rarest_users=RAREST)
            if (row.condition, row.measure) == ("c", "entropy_bits")
        ]
        assert [test.p_value] == pytest.approx(expected)


def test_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: list[np.ndarray] = []
    statistic = tests_of_arms.welch_statistic
    monkeypatch.setattr(
        tests_of_arms,
        "welch_statistic",
        lambda scores, splits: (arguments.append(scores), statistic(scores, splits))[1],
    )
    scenario = Scenario("score", score_difference(0.01, 0.02, 0.01), LetterSource(0.5))
    tests = [*tests_of_arms.score_simulation(scenario)(studies())]
    for test, scores in zip(tests, arguments, strict=True):
        runs = runs_of(scores[:N].tolist(), replicates=1) + runs_of(scores[N:].tolist(), "offline")
        rows = score_estimates(count_runs(runs), n_permutations=1999, rarest_users=RAREST)
        row = next(row for row in rows if (row.condition, row.measure) == ("c", "em_strict"))
        assert test.p_value == pytest.approx(row.p_value, abs=0.06)


CONFIRMED = [
    moved("option_share", LetterSource(0.5)),
    moved("distance", LetterSource(0.5)),
    moved("distance", SMALL),
    Scenario("score", score_difference(0.02, 0.01, 0.02), SMALL, n_items=9),
]


@pytest.mark.parametrize("scenario", CONFIRMED, ids=lambda s: f"{s.measure} {s.source_label}")
def test_a_control_has_to_confirm_a_difference(scenario: Scenario) -> None:
    """Both tests have the same users, so that both show it more often than two of their own would."""
    simulate = simulation_of(scenario)
    assert simulate
    alone, confirmed = (
        np.mean([(test.p_value or 0.0) < 0.05 for test in simulate(own)])
        for own in (studies(14, 200, 199), studies(14, 200, 199)._replace(n_controls=1))
    )
    assert 0.3 < alone < 0.97
    assert alone**2 - 0.05 < confirmed < alone - 0.02
