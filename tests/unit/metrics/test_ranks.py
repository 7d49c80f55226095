"""Places on a leaderboard and changes of place, against counts by hand."""

import dataclasses

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.leaderboards import rank_models
from fieldwork.metrics.accuracy import count_runs
from fieldwork.metrics.ranks import (
    measure_places,
    measure_ranks,
    place_of,
    require_names,
    scores_of_others,
)
from fieldwork.records.metrics import Rank, RunAccuracy
from unit.metrics.metric_frames import runs_of

BOARD = rank_models("Board", "board.csv", {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.5})
Arms = list[list[RunAccuracy]]


def ranks(*arms: list[RunAccuracy]) -> dict[str, Rank]:
    rows = measure_ranks(
        count_runs([run for arm in arms for run in arm]), BOARD, own_names={}, baseline="offline"
    )
    return {row.condition: row for row in rows if row.metric == "em_strict"}


PLACES = {0.95: 1, 0.9: 1, 0.8999: 1, 0.8: 2, 0.7996: 2, 0.7994: 4, 0.5: 4, 0.1: 5}


def test_a_tie_takes_the_better_place_at_three_decimals() -> None:
    assert {score: place_of(score, scores_of_others(BOARD, None)) for score in PLACES} == PLACES


def test_places_by_hand() -> None:
    row = ranks(runs_of([0.95, 0.85, 0.85, 0.6], "offline"))["offline"]
    # places 1, 2, 2, 4; five of six pairs differ; the mean .8125 is at 2
    assert (row.rank_best, row.rank_median, row.rank_worst, row.rank_of_mean) == (1, 2.0, 4, 2)
    assert row.p_change == pytest.approx(5 / 6)
    assert row.p_change_rerun == row.p_change == row.p_change_baseline
    # means of the other three: .7667, .8, .8, .8833: places 4, 2, 2, 2
    assert row.p_change_from_baseline == pytest.approx(2 / 4)
    assert (row.leaderboard, row.n_models, row.n_units, row.unit) == ("Board", 4, 4, "rerun")
    assert row.reason is None


def test_users_beside_reruns() -> None:
    # puppets at places 1, 2 and 5, by their first runs; their second runs at 1, 4, 5
    users = runs_of([0.95, 0.95, 0.85, 0.6, 0.1, 0.1], "history", replicates=2)
    row = ranks(runs_of([0.85, 0.85], "offline"), users)["history"]
    assert (row.rank_best, row.rank_median, row.rank_worst) == (1, 2, 5)
    assert (row.p_change, row.p_change_rerun) == (1.0, pytest.approx(1 / 3))
    assert (row.p_change_baseline, row.rank_baseline) == (0.0, 2)
    assert row.p_change_from_baseline == pytest.approx(2 / 3)


USERS = runs_of([0.5, 0.6], replicates=1)


@pytest.mark.parametrize(
    ("arms", "why"),
    [
        ([runs_of([0.5])], "no p_change: one run has no other to differ from"),
        ([USERS, runs_of([0.5, 0.5], "offline")], "no user has two complete"),
        ([USERS], "no run is counted under the baseline"),
        ([USERS, runs_of([0.5], "offline")], "the baseline has one run"),
    ],
)
def test_what_there_is_not_says_why(arms: Arms, why: str) -> None:
    assert why in (ranks(*arms)["c"].reason or "")


def test_an_arm_without_a_complete_run_is_null() -> None:
    short = [dataclasses.replace(run, n_items=3) for run in runs_of([0.9, 0.8])]
    row = ranks(short, runs_of([0.5, 0.6], "offline"))["c"]
    assert (row.rank_best, row.rank_of_mean, row.p_change, row.n_units) == (None, None, None, 0)
    assert row.reason == "no run is counted: none answers all items, or no answer can be read"


def test_each_task_has_places_on_its_own_leaderboard_which_names_the_model() -> None:
    runs = count_runs(runs_of([0.5, 0.6], "offline"))
    others = [dataclasses.replace(run, task="another") for run in runs]
    rows = measure_places([*runs, *others], {"t": BOARD}, baseline="offline", own_names={})
    assert rows == measure_ranks(runs, BOARD, baseline="offline")
    assert measure_places(runs, {}, baseline="offline", own_names={"m": "z"}) == []
    with pytest.raises(StudyError, match=r"models\.m\.leaderboard_name: 'z' is not in board\.csv"):
        measure_places(runs, {"t": BOARD}, baseline="offline", own_names={"m": "z"})
    require_names([BOARD, rank_models("Other", "other.csv", {"z": 0.5})], {"m": "z"})
    require_names([], {"m": "z"})
