"""The figure of arms: everything that was measured is in it, and what was not says why."""

import figure_frames as frames
import pandas as pd
import pytest
from figure_frames import arm_rows, arm_trends
from matplotlib.figure import Figure

from fieldwork.figures import arms
from fieldwork.figures.settings import FigureSettings

LENGTHS = {"offline": 0, "history_1": 1, "history_10": 10, "history_100": 100}
KINDS = {"offline": None, "history_3": 3, "profile": None, "both": 3}


def draw(table: pd.DataFrame, x: str = "conversations", **further_settings) -> Figure:
    settings = FigureSettings(
        conditions=list(dict.fromkeys(table["condition"])), x=x, **further_settings
    )
    return arms.draw(table, arm_trends(), settings)


def lines_with_label(figure: Figure, label: str) -> list:
    return [line for axes in figure.axes for line in axes.lines if line.get_label() == label]


@pytest.mark.parametrize("models", [["alpha"], ["alpha", "beta"]])
def test_each_model_has_a_point_for_each_arm_in_every_panel(models) -> None:
    figure = draw(arm_rows(LENGTHS, models=models), model_labels={"alpha": "Alpha"})
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert labels == ["Alpha", "beta"][: len(models)]
    for label in labels:
        counts = [len(line.get_xdata()) for line in lines_with_label(figure, label)]
        # offline has no distance and no share
        assert counts == [3, 3, 3, 3, 4, 4]


def test_lengths_are_spaced_by_their_size_and_told_with_what_is_held() -> None:
    figure = draw(arm_rows(LENGTHS))
    (line, *_) = (line for line in lines_with_label(figure, "alpha") if len(line.get_xdata()) == 4)
    x = line.get_xdata()
    assert x[0] == 0
    assert x[1] == 1
    assert x[2] < 10
    assert x[3] < 2 * x[2]
    ticks = [t.get_text() for t in figure.axes[-1].get_xticklabels()]
    assert ticks[0] == "0\n–\n–"
    assert ticks[-1] == "100\n90\n30k"


def test_what_is_null_is_a_mark_and_its_reason_stands_at_the_head() -> None:
    words = frames.words(draw(arm_rows(LENGTHS)))
    # offline, in two panels of two tasks
    assert words.splitlines().count("n/a") == 4
    assert "share_who, offline: nobody asks" in words.replace("\n", " ")


@pytest.mark.parametrize(("lengths", "x"), [(LENGTHS, "conversations"), (KINDS, "condition")])
@pytest.mark.parametrize("models", [["alpha"], ["alpha", "a model of a rather long name", "c"]])
def test_nothing_is_cut_off_small_or_covered(lengths, x, models) -> None:
    figure = draw(arm_rows(lengths, models=models), x)
    frames.assert_readable(figure)
