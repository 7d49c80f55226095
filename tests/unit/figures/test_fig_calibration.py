"""The figure of calibration: overfit is seen, the field's own distance is there, declines are told."""

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import calibration
from fieldwork.figures.settings import FigureSettings


def draw(table: pd.DataFrame) -> Figure:
    return calibration.draw(table, FigureSettings(conditions=["offline", "history", "field"]))


def test_held_out_and_in_sample_marks_are_joined_and_what_may_not_be_used_is_pale() -> None:
    figure = draw(frames.calibrations())
    stars = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "*"]
    filled = [line for line in stars if line.get_markerfacecolor() != "white"]
    assert [(line.get_xdata()[0], line.get_alpha()) for line in filled] == [
        (0.03, 1.0),
        (0.03, 0.45),
    ]
    assert [s.get_xdata()[0] for s in stars if s not in filled] == [0.025, 0.025]
    panel = figure.axes[0]
    thick = [c for c in panel.collections if c.get_linewidth()[0] > 2]
    assert [sorted(c.get_segments()[0][:, 0]) for c in thick] == [[0.025, 0.03]] * 2
    words = frames.words(figure)
    assert "calibrated: 0.020 bits (0.010 to 0.030)" in words
    assert "no better: 0.020 bits" in words
    # the field beside itself is a band and a line
    (band,) = panel.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((0.02, 0.04))
    assert any(list(line.get_xdata()) == [0.05, 0.05] for line in panel.lines)


def test_a_decline_without_a_number_is_told_at_the_head() -> None:
    table = frames.calibrations()
    of = (table["level"] == "puppets") & (table["comparator"] == "calibrated")
    table.loc[of, ["js_bits", "in_sample_bits"]] = float("nan")
    table.loc[of, ["verdict", "reason"]] = ["cannot support", "3 puppets"]
    assert "puppets of history: cannot support, 3 puppets." in frames.words(draw(table))
