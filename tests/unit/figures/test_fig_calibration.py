"""The figure of calibration: overfit is seen, the field's own distance is there, declines are told."""

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import calibration
from fieldwork.figures.settings import FigureSettings


def draw(table: pd.DataFrame, **further_settings) -> Figure:
    settings = FigureSettings(
        conditions=["offline", "history", "field"],
        condition_labels={"offline": "Offline", "history": "SP-History"},
        model_labels={"alpha": "Alpha"},
        **further_settings,
    )
    return calibration.draw(table, settings)


def stars(figure: Figure, *, is_filled: bool) -> list[tuple[float, float]]:
    star_lines = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "*"]
    return [
        (float(line.get_xdata()[0]), line.get_alpha())
        for line in star_lines
        if (line.get_markerfacecolor() != "white") == is_filled
    ]


def test_held_out_and_in_sample_marks_are_joined() -> None:
    figure = draw(frames.calibrations())
    assert [x for x, _ in stars(figure, is_filled=True)] == [0.03, 0.03]
    assert [x for x, _ in stars(figure, is_filled=False)] == [0.025, 0.025]
    thick = [c for c in figure.axes[0].collections if c.get_linewidth()[0] > 2]
    assert [sorted(c.get_segments()[0][:, 0]) for c in thick] == [[0.025, 0.03]] * 2


def test_what_may_not_be_used_is_pale_and_says_so() -> None:
    figure = draw(frames.calibrations())
    assert [alpha for _, alpha in stars(figure, is_filled=True)] == [1.0, 0.45]
    words = frames.words(figure)
    assert "calibrated: 0.020 bits (0.010 to 0.030)" in words
    assert "no better: 0.020 bits" in words


def test_the_field_beside_itself_is_a_band_and_a_line() -> None:
    panel = draw(frames.calibrations()).axes[0]
    (band,) = panel.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((0.02, 0.04))
    assert any(list(line.get_xdata()) == [0.05, 0.05] for line in panel.lines)


def test_a_decline_without_a_number_is_told_at_the_head() -> None:
    table = frames.calibrations()
    of = (table["level"] == "puppets") & (table["comparator"] == "calibrated")
    table.loc[of, ["js_bits", "in_sample_bits"]] = float("nan")
    table.loc[of, ["verdict", "reason"]] = ["cannot support", "3 puppets"]
    assert "puppets of history: cannot support, 3 puppets." in frames.words(draw(table))
