import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import fig4
from fieldwork.figures.settings import FigureSettings

CONDITIONS = frames.CONDITIONS[1:]


def draw(table: pd.DataFrame, conditions=CONDITIONS, **further_settings) -> Figure:
    settings = {"conditions": conditions, "users": frames.USERS, **further_settings}
    return fig4.draw(table, FigureSettings(**settings))


def names(figure: Figure) -> list[str]:
    return [label.get_text().replace("\n", " ") for label in figure.axes[0].get_yticklabels()]


def test_options_stand_by_their_largest_shift_and_shown_ones_have_a_line_and_full_colour() -> None:
    figure = draw(frames.shifts(["alpha"]))
    assert names(figure)[:2] == ["option 19 (films)", "option 18 (companies)"]
    assert len(names(figure)) == 12
    assert "12 of 20 options" in frames.words(figure)
    thick = [c for axes in figure.axes for c in axes.collections if c.get_linewidth()[0] > 2]
    assert len(thick) == 12
    alphas = {
        label: {line.get_alpha() for line in frames.lines_with_label(figure, label)}
        for label in ("Field", "SP-RAG")
    }
    assert alphas["Field"] == {1.0}
    assert max(alphas["SP-RAG"]) < 0.6
    assert "No share differs" not in frames.words(figure)


def test_a_point_stands_at_its_share_and_the_baseline_in_every_row() -> None:
    figure = draw(frames.shifts(["alpha"]), max_items=1)
    points = {n: frames.lines_with_label(figure, n)[0].get_xdata()[0] for n in ("Offline", "Field")}
    assert points == pytest.approx({"Offline": 90.0, "Field": 31.5})
    assert len({line.get_ydata()[0] for line in figure.axes[0].lines}) == len(CONDITIONS)


def test_null_is_a_mark_and_no_point() -> None:
    figure = draw(frames.shifts(["alpha"], nulls=[("alpha", "rag")]))
    assert frames.lines_with_label(figure, "SP-RAG") == []
    assert frames.words(figure).count("n/a") == 12
    assert "SP-RAG (n = 0)" in frames.words(figure)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (frames.shifts(["alpha"], ["again"]), "no condition with a user is in the table"),
        (
            frames.shifts(nulls=[(m, c) for m in ("alpha", "beta") for c in frames.USERS]),
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
    of = f"({texts['capital_aus']})"
    assert names(draw(table, questions=questions)) == [f"B Canberra {of}", f"A Sydney {of}"]
