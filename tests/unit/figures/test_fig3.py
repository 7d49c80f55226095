from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.errors import StudyError
from fieldwork.figures import fig3
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.shared import Leaderboard


class Fig3Tables(NamedTuple):
    """The tables in the order in which `draw` takes them."""

    runs: pd.DataFrame
    accuracy: pd.DataFrame
    ranks: pd.DataFrame
    leaderboard: Leaderboard


CLOSE_SCORES = {"alpha": 0.72, "beta": 0.66}
FIVE = frames.CONDITIONS[:5]


def tables(
    runs: pd.DataFrame,
    *,
    nulls: Collection[tuple[str, str]] = (),
    board: pd.DataFrame | None = None,
    unit: str = "puppet",
) -> Fig3Tables:
    spread = frames.spreads(runs, nulls).assign(unit=unit)
    lines = frames.leaderboard() if board is None else board
    return Fig3Tables(runs, spread, frames.ranks(spread), frames.board(lines))


def draw(
    centres: Mapping[str, float] = CLOSE_SCORES,
    *,
    conditions: Sequence[str] = FIVE,
    nulls: Collection[tuple[str, str]] = (),
    board: pd.DataFrame | None = None,
    **further_settings: object,
) -> Figure:
    score_tables = tables(frames.run_scores(dict(centres), conditions), nulls=nulls, board=board)
    return fig3.draw(*score_tables, FigureSettings(conditions=conditions, **further_settings))  # type: ignore[arg-type]


def dots(figure: Figure, label: str) -> list[list[float]]:
    """Scores of the runs of a condition, a list a panel."""
    lines = [line for axes in figure.axes for line in axes.lines if line.get_label() == label]
    return [list(line.get_xdata()) for line in lines]


@pytest.mark.parametrize("conditions", [FIVE, frames.EXTRA])
def test_every_run_is_a_dot_by_both_readings_and_every_condition_a_row(
    conditions: Sequence[str],
) -> None:
    figure = draw(conditions=conditions)
    rows = [t.get_text() for t in figure.axes[2].get_yticklabels()]
    assert len(rows) == len(conditions)
    assert all(name.endswith("\n10 users") for name in rows)
    for name in rows:
        label = name.partition("\n")[0]
        assert [len(xs) for xs in dots(figure, label)] == [10, 10]
        assert [len(xs) for xs in dots(figure, f"{label}, flexible")] == [10, 10]


def test_all_of_the_leaderboard_is_in_the_strip(root: Path) -> None:
    board = pd.read_csv(root / "resources" / "helm_lite_mmlu.csv")
    strip = draw(board=board).axes[0]
    assert sorted(line.get_xdata()[0] for line in strip.lines) == sorted(board["score"])
    assert "All 91 models" in strip.get_title(loc="left")


def test_the_lines_are_named_with_score_and_distance() -> None:
    words = " ".join(frames.words(draw()).split())
    assert "#1 a model of a rather long name 0 80.9 %" in words
    assert "80.3 %: 0.6 points below #1" in words
    assert "77.2 %: 3.7 points below #1" in words
    assert "#1 to #2: 0.6 points" in words
    assert "#3 a model" not in words


def test_places_and_chances_stand_beside_the_bars() -> None:
    places_axes = draw({"alpha": 0.7}).axes[3]
    words = [t.get_text() for t in places_axes.texts]
    assert words.count("3–6 (4.5)") == 2 * len(FIVE)
    assert words.count("80 %") == words.count("40 %") == 2 * len(FIVE)


def test_reruns_have_no_other_user() -> None:
    runs = frames.run_scores({"alpha": 0.7})
    figure = fig3.draw(*tables(runs, unit="rerun"), FigureSettings(conditions=FIVE))
    words = [t.get_text() for t in figure.axes[3].texts]
    assert "80 %" not in words
    assert words.count("–") == 2 * len(FIVE)
    assert "Offline\n10 reruns" in [t.get_text() for t in figure.axes[2].get_yticklabels()]


def test_null_is_said() -> None:
    figure = draw({"alpha": 0.7}, nulls=[("alpha", "rag")])
    assert frames.words(figure).count("n/a: no complete run") == 2
    assert [t.get_text() for t in figure.axes[3].texts].count("n/a") == 2


def test_the_models_own_line_is_dashed() -> None:
    board = frames.leaderboard().assign(score=[0.72, 0.71, 0.70, 0.69, 0.68, 0.67])
    name = str(board["model"][0])
    panel = draw({"alpha": 0.72}, board=board, own_names={"alpha": name}).axes[2]
    (own_line,) = [line for line in panel.lines if line.get_linestyle() == "--"]
    assert own_line.get_xdata()[0] == 0.72


def test_a_leaderboard_of_other_questions_only_gives_scale() -> None:
    board = frames.leaderboard().assign(score=[0.72, 0.71, 0.70, 0.69, 0.68, 0.67])
    name = str(board["model"][0])
    figure = draw(
        {"alpha": 0.7}, board=board, leaderboard_note="Sample.", own_names={"alpha": name}
    )
    strip, _, panel = figure.axes
    assert strip.get_title(loc="left") == "All 6 models of the leaderboard, for scale"
    words = frames.words(figure)
    assert "#1 to #2: 1.0 points" in words
    assert not [w for w in ("places", "chance", "the model's own", "a model of the") if w in words]
    # no line of the leaderboard stands among the scores
    assert not [line for line in panel.lines if line.get_xdata()[0] == line.get_xdata()[-1] == 0.72]
    assert panel.get_position().width > 0.7


def test_several_tasks_need_a_choice() -> None:
    score_tables = tables(frames.run_scores({"alpha": 0.7}))
    two_tasks = score_tables._replace(
        accuracy=pd.concat([score_tables.accuracy, score_tables.accuracy.assign(task="another")])
    )
    with pytest.raises(StudyError, match=r"another, mmlu_helm..*figures\.fig3"):
        fig3.draw(*two_tasks, FigureSettings(conditions=frames.CONDITIONS))
    settings = FigureSettings(conditions=frames.CONDITIONS, task="mmlu_helm")
    assert dots(fig3.draw(*two_tasks, settings), "Offline")


@pytest.mark.real_data
def test_the_shipped_leaderboard_agrees_with_the_extract(root: Path) -> None:
    extract = root.parent / "shared" / "data" / "helm" / "helm_lite_scores.csv.gz"
    if not extract.exists():
        pytest.skip(f"{extract} is not on this machine")
    scores = pd.read_csv(extract)
    scores = scores[scores["evaluation_name"] == "MMLU"].set_index("model_name")["score"]
    board = pd.read_csv(root / "resources" / "helm_lite_mmlu.csv").set_index("model")["score"]
    pd.testing.assert_series_equal(
        board.sort_index(), scores.sort_index(), check_names=False, check_index_type=False
    )
