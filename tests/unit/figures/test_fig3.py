from collections.abc import Sequence
from pathlib import Path
from typing import Any

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.errors import StudyError
from fieldwork.figures import fig3
from fieldwork.figures.settings import FigureSettings

FIVE = frames.CONDITIONS[:5]
ALPHA = {"alpha": 0.7}
CLOSE = frames.leaderboard().assign(score=[0.72, 0.71, 0.70, 0.69, 0.68, 0.67])
FIRST = {"alpha": str(CLOSE["model"][0])}


def draw(
    centres: dict[str, float],
    conditions: Sequence[str] = FIVE,
    board: pd.DataFrame | None = None,
    change: Any = lambda spread: spread,
    nulls: Sequence[tuple[str, str]] = (),
    **further: Any,
) -> Figure:
    runs = frames.run_scores(centres, conditions)
    spread = change(frames.spreads(runs, nulls))
    leaderboard = frames.board(frames.leaderboard() if board is None else board)
    settings = FigureSettings(conditions=conditions, **further)
    return fig3.draw(runs, spread, frames.ranks(spread), leaderboard, settings)


def texts(figure: Figure, panel: int) -> list[str]:
    return [t.get_text() for t in figure.axes[panel].texts]


def rows(figure: Figure) -> list[str]:
    return [t.get_text() for t in figure.axes[2].get_yticklabels()]


@pytest.mark.parametrize("conditions", [FIVE, frames.EXTRA])
def test_every_run_is_a_dot_by_both_readings_and_every_condition_a_row(conditions) -> None:
    figure = draw({"alpha": 0.72, "beta": 0.66}, conditions)
    assert len(rows(figure)) == len(conditions)
    for name in rows(figure):
        label, _, users = name.partition("\n")
        assert users == "10 users"
        for reading in (label, f"{label}, flexible"):
            lines = frames.lines_with_label(figure, reading)
            assert [len(line.get_xdata()) for line in lines] == [10, 10]


def test_all_of_the_leaderboard_is_in_the_strip_and_lines_are_named(root: Path) -> None:
    board = pd.read_csv(root / "resources" / "helm_lite_mmlu.csv")
    strip = draw(ALPHA, board=board).axes[0]
    assert sorted(line.get_xdata()[0] for line in strip.lines) == sorted(board["score"])
    assert "All 91 models" in strip.get_title(loc="left")
    words = " ".join(frames.words(draw({"alpha": 0.72, "beta": 0.66})).split())
    assert "#1 a model of a rather long name 0 80.9 %" in words
    assert "80.3 %: 0.6 points below #1" in words
    assert "77.2 %: 3.7 points below #1" in words
    assert "#1 to #2: 0.6 points" in words
    assert "#3 a model" not in words


def test_places_and_chances_stand_beside_the_bars_and_reruns_have_no_other_user() -> None:
    words = texts(draw(ALPHA), 3)
    assert words.count("3–6 (4.5)") == words.count("80 %") == words.count("40 %") == 2 * len(FIVE)
    figure = draw(ALPHA, change=lambda spread: spread.assign(unit="rerun"))
    assert "80 %" not in texts(figure, 3)
    assert texts(figure, 3).count("–") == 2 * len(FIVE)
    assert "Offline\n10 reruns" in rows(figure)


def test_null_is_said() -> None:
    figure = draw(ALPHA, nulls=[("alpha", "rag")])
    assert frames.words(figure).count("n/a: no complete run") == 2
    assert texts(figure, 3).count("n/a") == 2


def test_the_models_own_line_is_dashed() -> None:
    panel = draw({"alpha": 0.72}, board=CLOSE, own_names=FIRST).axes[2]
    (own_line,) = [line for line in panel.lines if line.get_linestyle() == "--"]
    assert own_line.get_xdata()[0] == 0.72


def test_a_leaderboard_of_other_questions_only_gives_scale() -> None:
    figure = draw(ALPHA, board=CLOSE, leaderboard_note="Sample.", own_names=FIRST)
    strip, _, panel = figure.axes
    assert strip.get_title(loc="left") == "All 6 models of the leaderboard, for scale"
    words = frames.words(figure)
    assert "#1 to #2: 1.0 points" in words
    assert not [w for w in ("places", "chance", "the model's own", "a model of the") if w in words]
    # no line of the leaderboard stands among the scores
    assert not [line for line in panel.lines if {*line.get_xdata()} == {0.72}]
    assert panel.get_position().width > 0.7


def test_several_tasks_need_a_choice() -> None:
    def two(spread: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([spread, spread.assign(task="another")])

    with pytest.raises(StudyError, match=r"another, mmlu_helm..*figures\.fig3"):
        draw(ALPHA, change=two)
    assert frames.lines_with_label(draw(ALPHA, change=two, task="mmlu_helm"), "Offline")


@pytest.mark.real_data
def test_the_shipped_leaderboard_agrees_with_the_extract(root: Path) -> None:
    extract = root.parent / "shared" / "data" / "helm" / "helm_lite_scores.csv.gz"
    if not extract.exists():
        pytest.skip(f"{extract} is not on this machine")
    scores = pd.read_csv(extract).query("evaluation_name == 'MMLU'")
    board = pd.read_csv(root / "resources" / "helm_lite_mmlu.csv")
    published = dict(zip(scores["model_name"], scores["score"], strict=True))
    assert dict(zip(board["model"], board["score"], strict=True)) == pytest.approx(published)
