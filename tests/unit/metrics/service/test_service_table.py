"""Times, tokens and prices of arms, by hand and on sources whose truth is known."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fieldwork import tables
from fieldwork.metrics.service.calls import read_first_times
from fieldwork.metrics.service.scores import chance_shares, point_scores
from fieldwork.records.service import FirstToken
from fieldwork.statistics.seeds import generator
from unit.metrics.findings.finding_rows import filled
from unit.metrics.metric_frames import item_frame, question
from unit.metrics.service.service_calls import accuracy, call, of_users, rows, timed


def items(*options: int, subjects: str = "s" * 10) -> pd.DataFrame:
    """Questions of task `t` with so many options, of subjects by letter."""
    questions = [
        question(f"q{n}", n_choices=k, subject=subject)
        for n, (k, subject) in enumerate(zip(options, subjects, strict=False))
    ]
    return item_frame(*questions).assign(task="t")


def test_times_tokens_and_dollars_by_hand() -> None:
    times = [float(n) for n in range(1, 101)]
    found = rows(timed(times, input_tokens=80, cached_tokens=60))
    assert {measure: row.estimate for (_, measure), row in found.items()} == pytest.approx(
        {
            **{"latency_p50_s": 50.5, "latency_p95_s": 95.05, "latency_p99_s": 99.01},
            **{"latency_mean_s": 50.5, "tokens_s": 10 / 50.5, "output_tokens": 10},
            **{"tokens_s_median": (10 / 50 + 10 / 51) / 2, "usd_call": 0.002},
            **{"input_tokens": 80, "cached_tokens": 60},
        }
    )
    assert {(row.unit, row.n_units) for row in found.values()} == {("stretch", 10)}


def test_errors_are_counted_and_never_timed() -> None:
    answers = timed([1.0] * 10)
    errors = [call(60.0, outcome="failed", cost_usd=5.0, output_tokens=0) for _ in range(4)]
    found = rows([*answers, *errors])
    row = found["offline", "latency_mean_s"]
    assert (row.n_calls, row.n_errors, row.n_answers, row.estimate) == (14, 4, 10, 1.0)
    assert found["offline", "usd_call"].estimate == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("dispatch", "reason"),
    [
        ("live", "none is kept of a model on this machine"),
        ("batch", "batches, which have no time of their own"),
        ("recorded", "recorded without a time"),
    ],
)
def test_answers_without_a_time_say_why(dispatch: str, reason: str) -> None:
    found = rows([call(None, dispatch=dispatch, started_at=None)] * 30)
    row = found["offline", "latency_p50_s"]
    assert row.estimate is None
    assert reason in (row.reason or "")
    assert found["offline", "usd_call"].estimate == pytest.approx(0.002)


def test_times_of_the_slow_tier_and_of_no_length_are_left_out() -> None:
    calls = [*timed([1.0] * 8), call(900.0, dispatch="flex"), call(0.0), call(math.nan)]
    row = rows(calls)["offline", "latency_mean_s"]
    assert (row.estimate, row.n_answers) == (1.0, 8)
    assert "1 of 11 answers are of the flex tier" in (row.reason or "")
    assert row.dispatch == "flex, live"


@pytest.mark.parametrize(
    ("n", "measure", "needed"),
    [(1, "latency_p50_s", 2), (19, "latency_p95_s", 20), (99, "latency_p99_s", 100)],
)
def test_quantiles_need_answers_beyond_them(n: int, measure: str, needed: int) -> None:
    few, enough = rows(timed([1.0] * n)), rows(timed([1.0] * needed))
    assert few["offline", measure].estimate is None
    assert f"{needed} are needed" in (few["offline", measure].reason or "")
    assert enough["offline", measure].estimate == 1.0


def test_a_quantile_with_too_few_answers_for_an_interval_says_how_many_it_needs() -> None:
    times = list(np.linspace(1, 2, 150))
    found = rows([call(seconds, started_at=None) for seconds in times])
    assert found["offline", "latency_p95_s"].ci_low is not None
    row = found["offline", "latency_p99_s"]
    assert row.estimate is not None
    assert row.ci_low is None
    assert row.reason == "no interval: 150 answers, and 368 independent ones are needed"


def test_a_condition_is_held_against_the_baseline() -> None:
    draws = generator(3, "service")
    offline = timed([float(s) for s in draws.gamma(4, 0.25, 400)])
    users = of_users([list(draws.gamma(4, 0.5, 4)) for _ in range(100)], cost_usd=0.005)
    found = rows([*offline, *users])
    row = found["history", "latency_mean_s"]
    assert row.difference == pytest.approx(
        (row.estimate or 0) - (found["offline", "latency_mean_s"].estimate or 0)
    )
    assert 0 < (row.difference_low or 0) < row.difference < (row.difference_high or 0)
    assert found["history", "usd_call"].difference == pytest.approx(0.003)
    assert found["offline", "usd_call"].difference is None
    # all prices are alike: an interval of no width would say that nothing is uncertain
    assert "all units are alike" in (found["history", "usd_call"].reason or "")


def streamed(tmp_path: Path, name: str, calls: list[tuple[str | None, float | None]]) -> str:
    """A table of streamed calls of the condition, from users and seconds to the first text."""
    path = str(tmp_path / f"{name}.parquet")
    rows = [
        filled(FirstToken, task="t", condition=name, puppet_id=puppet, first_token_s=seconds)
        for puppet, seconds in calls
    ]
    tables.write_table(path, rows, FirstToken)
    return path


def test_first_texts_are_quantiles_of_the_streamed_calls(tmp_path: Path) -> None:
    paths = [
        streamed(tmp_path, "offline", [(None, 0.1 + n / 100) for n in range(40)]),
        streamed(tmp_path, "history", [("p1", 0.5), ("p2", 0.9), ("p3", None)]),
    ]
    calls = [*timed([1.0] * 9), *of_users([[2.0], [2.5], [3.0]])]
    found = rows(calls, first_times=read_first_times(paths))
    offline, users = found["offline", "first_token_p50_s"], found["history", "first_token_p50_s"]
    assert offline.estimate == pytest.approx(0.295)
    assert (offline.unit, offline.n_answers) == ("call", 40)
    assert offline.ci_low is not None
    assert users.estimate == pytest.approx(0.7)
    assert users.difference == pytest.approx(0.7 - 0.295)
    assert (users.unit, users.n_answers) == ("puppet", 2)
    assert (users.reason or "").startswith("1 of 3 streamed calls came in one piece")
    assert found["history", "first_token_p95_s"].estimate is None


def test_chance_is_averaged_over_subjects_as_the_score_is() -> None:
    assert chance_shares(items(4, 4)) == {"t": 0.25}
    assert chance_shares(items(2, 4, 4, subjects="abb")) == {"t": pytest.approx(0.375)}
    assert chance_shares(items(4).assign(gold=None)) == {}


def test_a_point_costs_a_run_over_the_points_above_chance() -> None:
    scores = point_scores([accuracy()], items(*[4] * 10))
    found = rows([*timed([1.0, 3.0] * 100)], scores=scores)
    # 10 calls of 0.2 cents for 35 points; 20 seconds for them
    assert found["offline", "usd_point"].estimate == pytest.approx(10 * 0.002 / 35)
    assert found["offline", "s_point"].estimate == pytest.approx(20 / 35)
    assert found["offline", "usd_right"].estimate == pytest.approx(0.002 / 0.6)


def test_a_point_has_an_interval_that_covers_cost_and_score() -> None:
    draws = generator(4, "points")
    costs = draws.gamma(4, 0.001, 300)
    calls = [call(started_at=None, cost_usd=float(cost)) for cost in costs]
    scores = point_scores([accuracy()], items(*[4] * 10))
    row = rows(calls, scores=scores)["offline", "usd_point"]
    # the score alone gives 35 / 40 to 35 / 30
    assert 0 < (row.ci_low or 0) < (row.estimate or 0) * 35 / 40
    assert (row.ci_high or 0) > (row.estimate or 9) * 35 / 30


@pytest.mark.parametrize(
    ("changes", "has_estimate", "reason"),
    [
        ({"value": 0.2, "ci_low": 0.1, "ci_high": 0.3}, False, "not above chance, 0.25"),
        ({"ci_low": 0.2}, True, "the score may be chance alone"),
        ({"value": None, "ci_low": None, "ci_high": None, "reason": "unread"}, False, "unread"),
    ],
)
def test_no_point_is_bought_by_guessing(
    changes: dict[str, float | None], has_estimate: bool, reason: str
) -> None:
    scores = point_scores([accuracy(**changes)], items(*[4] * 10))
    calls = [call(cost_usd=0.001 * n) for n in range(1, 50)]
    row = rows(calls, scores=scores)["offline", "usd_point"]
    assert (row.estimate is not None) is has_estimate
    assert row.ci_low is None
    assert reason in (row.reason or "")


def _busy_times(draws: np.random.Generator, n: int) -> list[float]:
    """Log times whose noise decays over some ten calls, as a server's load does; median e."""
    load = draws.normal(size=n)
    for place in range(1, n):
        load[place] = 0.9 * load[place - 1] + math.sqrt(1 - 0.9**2) * load[place]
    return [float(s) for s in np.exp(1 + 0.5 * load + 0.5 * draws.normal(size=n))]


def test_stretches_hold_the_median_of_a_server_that_is_busy_at_times() -> None:
    held = []
    for study in range(60):
        times = _busy_times(generator(6, "load", str(study)), 600)
        for calls in (timed(times), [call(s, started_at=None) for s in times]):
            row = rows(calls)["offline", "latency_p50_s"]
            held.append((row.ci_low or 9) <= math.e <= (row.ci_high or 0))
    # as if calls were independent, too few would
    assert np.mean(held[1::2]) < 0.8
    assert np.mean(held[::2]) > 0.9


def test_an_equal_condition_is_rarely_said_to_take_longer() -> None:
    n_longer, n_studies = 0, 80
    for study in range(n_studies):
        draws = generator(8, "nothing", str(study))
        offline = [call(float(s), started_at=None) for s in draws.gamma(2, 1, 100)]
        users = of_users([[float(s)] for s in draws.gamma(2, 1, 100)])
        row = rows([*offline, *users])["history", "latency_mean_s"]
        n_longer += not (row.difference_low or 9) <= 0 <= (row.difference_high or -9)
    assert n_longer / n_studies < 0.09


def test_prices_of_two_ways_of_sending_are_not_compared() -> None:
    offline, users = timed([1.0] * 4), of_users([[1.0], [2.0]], dispatch="batch", latency_s=None)
    found = rows([*offline, *users])
    assert found["history", "usd_call"].difference is None
    assert "sent otherwise (batch and live)" in (found["history", "usd_call"].reason or "")
    assert found["history", "input_tokens"].difference == 0
