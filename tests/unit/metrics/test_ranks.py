"""Places on a leaderboard and changes of place, against counts by hand."""

import dataclasses
from collections.abc import Sequence

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

BOARD = rank_models("Board", "board.csv", {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.5})


def arm(
    scores: Sequence[float], condition: str = "offline", *, replicates: int = 0, model: str = "m"
) -> list[RunAccuracy]:
    return [
        RunAccuracy(
            model, "t", condition, run,
            f"p{run // replicates}" if replicates else None,
            run % replicates if replicates else run,
            score, score, 0.0, 500, 5, False,
        )
        for run, score in enumerate(scores)
    ]  # fmt: skip


def ranks(*arms: list[RunAccuracy], own: dict[str, str] | None = None) -> dict[str, Rank]:
    runs = count_runs([run for of in arms for run in of])
    rows = measure_ranks(runs, BOARD, own_names=own or {}, baseline="offline")
    return {row.condition: row for row in rows if row.metric == "em_strict"}


@pytest.mark.parametrize(
    ("score", "place"),
    [
        (0.95, 1), (0.9, 1), (0.8999, 1), (0.8, 2), (0.7996, 2), (0.7994, 4), (0.5, 4), (0.1, 5),
    ],
)  # fmt: skip
def test_a_tie_takes_the_better_place_at_three_decimals(score: float, place: int) -> None:
    assert place_of(score, scores_of_others(BOARD, None)) == place


def test_places_by_hand() -> None:
    row = ranks(arm([0.95, 0.85, 0.85, 0.6]))["offline"]
    # places 1, 2, 2, 4; five of six pairs differ; the mean .8125 is at 2
    assert (row.rank_best, row.rank_median, row.rank_worst, row.rank_of_mean) == (1, 2.0, 4, 2)
    assert row.p_change == pytest.approx(5 / 6)
    assert row.p_change_rerun == row.p_change == row.p_change_baseline
    # means of the other three: .7667, .8, .8, .8833: places 4, 2, 2, 2
    assert row.p_change_from_baseline == pytest.approx(2 / 4)
    assert (row.leaderboard, row.n_models, row.n_units, row.unit) == ("Board", 4, 4, "rerun")
    assert row.reason is None


def test_users_beside_reruns() -> None:
    found = ranks(
        arm([0.85, 0.85]),
        # puppets at places 1, 2 and 5, by their first runs; their second runs at 1, 4, 5
        arm([0.95, 0.95, 0.85, 0.6, 0.1, 0.1], "history", replicates=2),
    )
    row = found["history"]
    assert (row.rank_best, row.rank_median, row.rank_worst) == (1, 2, 5)
    assert (row.p_change, row.p_change_rerun) == (1.0, pytest.approx(1 / 3))
    assert (row.p_change_baseline, row.rank_baseline) == (0.0, 2)
    assert row.p_change_from_baseline == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("arms", "condition", "why"),
    [
        ([arm([0.5])], "offline", "no p_change: one run has no other to differ from"),
        ([arm([0.5, 0.6], "c", replicates=1), arm([0.5, 0.5])], "c", "no user has two complete"),
        ([arm([0.5, 0.6], "c", replicates=1)], "c", "no run is counted under the baseline"),
        ([arm([0.5, 0.6], "c", replicates=1), arm([0.5])], "c", "the baseline has one run"),
    ],
)
def test_what_there_is_not_says_why(
    arms: list[list[RunAccuracy]], condition: str, why: str
) -> None:
    assert why in (ranks(*arms)[condition].reason or "")


def test_an_arm_without_a_complete_run_is_null() -> None:
    short = [dataclasses.replace(run, n_items=3) for run in arm([0.9, 0.8], "c")]
    row = ranks(short, arm([0.5, 0.6]))["c"]
    assert (row.rank_best, row.rank_of_mean, row.p_change, row.n_units) == (None, None, None, 0)
    assert row.reason == "no run is counted: none answers all items, or no answer can be read"


def test_a_name_that_is_on_no_leaderboard_is_refused() -> None:
    other = rank_models("Other", "other.csv", {"z": 0.5})
    with pytest.raises(StudyError, match=r"models\.m\.leaderboard_name: 'z' is not in board\.csv"):
        require_names([BOARD], {"m": "z"})
    require_names([BOARD, other], {"m": "z"})
    require_names([], {"m": "z"})


def test_each_task_has_places_on_its_own_leaderboard() -> None:
    own = count_runs(arm([0.5, 0.6]))
    (task,) = {run.task for run in own}
    others = [dataclasses.replace(run, task="another") for run in own]
    rows = measure_places([*own, *others], {task: BOARD}, baseline="offline", own_names={})
    assert rows == measure_ranks(own, BOARD, baseline="offline")
    assert measure_places(own, {}, baseline="offline", own_names={"m": "z"}) == []
    with pytest.raises(StudyError, match="is not in board"):
        measure_places(own, {task: BOARD}, baseline="offline", own_names={"m": "z"})
