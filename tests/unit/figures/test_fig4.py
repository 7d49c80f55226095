import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import fig4
from fieldwork.figures.settings import FigureSettings

CONDITIONS = frames.CONDITIONS[1:]


def draw(
    table: pd.DataFrame, conditions: tuple[str, ...] = CONDITIONS, **further_settings
) -> Figure:
    settings = {"conditions": conditions, "users": frames.USERS, **further_settings}
    return fig4.draw(table, FigureSettings(**settings))


def marks(figure: Figure, label: str) -> list:
    return [line for axes in figure.axes for line in axes.lines if line.get_label() == label]


def names(figure: Figure, panel: int = 0) -> list[str]:
    labels = figure.axes[panel].get_yticklabels()
    return [label.get_text().replace("\n", " ") for label in labels]


def lines_to_the_baseline(figure: Figure) -> list:
    """Thick lines, which say that a test found a difference."""
    return [c for axes in figure.axes for c in axes.collections if c.get_linewidth()[0] > 2]


def test_options_stand_by_their_largest_shift() -> None:
    figure = draw(frames.shifts(["alpha"]))
    assert names(figure)[:2] == ["option 19 (films)", "option 18 (companies)"]
    assert len(names(figure)) == 12
    assert "12 of 20 options" in frames.words(figure)
    assert len(names(draw(frames.shifts(["alpha"]), max_items=3))) == 3


def test_a_point_stands_at_its_share_and_the_baseline_in_every_row() -> None:
    figure = draw(frames.shifts(["alpha"]), max_items=1)
    at = {label: marks(figure, label)[0].get_xdata()[0] for label in ("Offline", "Field")}
    assert at == pytest.approx({"Offline": 90.0, "Field": 31.5})
    ys = [line.get_ydata()[0] for line in figure.axes[0].lines]
    assert len(set(ys)) == len(CONDITIONS)


def test_only_what_a_test_shows_has_a_line_and_full_colour() -> None:
    figure = draw(frames.shifts(["alpha"]))
    assert len(lines_to_the_baseline(figure)) == 12
    assert {line.get_alpha() for line in marks(figure, "Field")} == {1.0}
    assert max(line.get_alpha() for line in marks(figure, "SP-RAG")) < 0.6
    assert "No share differs" not in frames.words(figure)


def test_null_is_a_mark_and_no_point() -> None:
    figure = draw(frames.shifts(["alpha"], nulls=[("alpha", "rag")]))
    assert marks(figure, "SP-RAG") == []
    assert frames.words(figure).count("n/a") == 12
    assert "SP-RAG (n = 0)" in frames.words(figure)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (frames.shifts(["alpha"]).iloc[:0], "the table has no rows"),
        (frames.shifts(["alpha"], ["again"]), "no condition with a user is in the table"),
        (
            frames.shifts(["alpha"], nulls=[("alpha", c) for c in frames.USERS]),
            "no answer can be read",
        ),
    ],
)
def test_without_a_shift_the_figure_says_why(table: pd.DataFrame, words: str) -> None:
    conditions = ("offline", "again", *frames.USERS)
    assert words in frames.words(draw(table, conditions)).replace("\n", " ")


def test_an_option_of_a_choice_has_its_text_and_its_question() -> None:
    table = frames.shifts(["alpha"], n_options=2).assign(item_id="capital_aus", kind="choice")
    table["answer"] = table["answer"].map({"option 0": "A", "option 1": "B"})
    texts = {"capital_aus": "What is the capital of Australia?"}
    questions = frames.questions("recommendations", texts, ["Sydney", "Canberra"], "B")
    assert names(draw(table, questions=questions)) == [
        "B Canberra (What is the capital of Australia?)",
        "A Sydney (What is the capital of Australia?)",
    ]
