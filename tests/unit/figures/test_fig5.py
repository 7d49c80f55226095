import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import fig5
from fieldwork.figures.settings import FigureSettings

NULL = ("alpha", "rag", "films")


def draw(
    table: pd.DataFrame, conditions: tuple[str, ...] = frames.CONDITIONS, **further_settings
) -> Figure:
    return fig5.draw(table, FigureSettings(conditions=conditions, **further_settings))


def ends(figure: Figure, label: str) -> list:
    return [line for axes in figure.axes for line in axes.lines if line.get_label() == label]


def test_a_curve_a_condition_ends_in_its_marker_where_its_answers_end() -> None:
    figure = draw(frames.rarefaction(["alpha"]))
    for label, n in (("Offline", 10), ("Field", 25)):
        end_marks = ends(figure, label)
        assert len(end_marks) == 4
        assert {(line.get_xdata()[0], line.get_ydata()[0]) for line in end_marks} == {
            (n, 5 + n**0.5)
        }
    curves = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    assert sorted(len(line.get_xdata()) for line in curves) == [10] * 5 + [25]


def test_a_curve_that_is_not_there_is_told_in_its_panel_and_the_means() -> None:
    figure = draw(frames.rarefaction(["alpha"], nulls=[NULL]))
    missing = [t.get_text() for a in figure.axes for t in a.texts if "n/a" in t.get_text()]
    assert missing == ["n/a: SP-RAG", "n/a: SP-RAG"]
    assert len(ends(figure, "SP-RAG")) == 2


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (frames.rarefaction(["alpha"]).iloc[:0], "the table has no rows"),
        (
            frames.rarefaction(["alpha"], ["rag"], ["films"], nulls=[NULL]),
            "none of 10 answers gives an option",
        ),
    ],
)
def test_without_a_curve_the_figure_says_why(table: pd.DataFrame, words: str) -> None:
    assert words in frames.words(draw(table)).replace("\n", " ")
