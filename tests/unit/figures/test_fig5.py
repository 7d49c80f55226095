import figure_frames as frames
import pandas as pd
from matplotlib.figure import Figure

from fieldwork.figures import fig5
from fieldwork.figures.settings import FigureSettings

NULL = ("alpha", "rag", "films")


def draw(table: pd.DataFrame) -> Figure:
    return fig5.draw(table, FigureSettings(conditions=frames.CONDITIONS))


def test_a_curve_a_condition_ends_in_its_marker_where_its_answers_end() -> None:
    figure = draw(frames.rarefaction(["alpha"]))
    for label, n in (("Offline", 10), ("Field", 25)):
        ends = frames.lines_with_label(figure, label)
        assert [tuple(line.get_xydata()[0]) for line in ends] == [(n, 5 + n**0.5)] * 4
    curves = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    assert sorted(len(line.get_xdata()) for line in curves) == [10] * 5 + [25]


def test_a_curve_that_is_not_there_is_told_in_its_panel_and_the_means() -> None:
    figure = draw(frames.rarefaction(["alpha"], nulls=[NULL]))
    absent = [t.get_text() for a in figure.axes for t in a.texts if "n/a" in t.get_text()]
    assert absent == ["n/a: SP-RAG", "n/a: SP-RAG"]
    assert len(frames.lines_with_label(figure, "SP-RAG")) == 2
    nothing = draw(frames.rarefaction(["alpha"], ["rag"], ["films"], nulls=[NULL]))
    assert "none of 10 answers gives an option" in frames.words(nothing).replace("\n", " ")
