import itertools

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import fig1
from fieldwork.figures.settings import FigureSettings

NULL = ("alpha", "rag", "films")


def draw(table: pd.DataFrame, conditions=frames.CONDITIONS, **further_settings) -> Figure:
    return fig1.draw(table, FigureSettings(conditions=conditions, **further_settings))


@pytest.mark.parametrize("conditions", [frames.CONDITIONS, frames.EXTRA])
def test_every_condition_is_drawn_at_every_item_in_every_panel(conditions) -> None:
    figure = draw(frames.heterogeneity(conditions=conditions), conditions)
    texts = [t.get_text() for t in figure.legends[0].get_texts()]
    assert len(texts) == len(conditions)
    assert texts[1].endswith(" (n = 51)")
    assert "equal n = 40–42 per prompt" in frames.words(figure)
    for text in texts:
        lines = frames.lines_with_label(figure, text.split(" (n")[0])
        assert [len(line.get_xdata()) for line in lines] == [len(frames.PROMPTS)] * 6


def test_a_point_stands_at_its_estimate_and_null_is_a_gap_with_a_mark() -> None:
    table = frames.heterogeneity(["alpha"])
    offline = frames.lines_with_label(draw(table[table["item_id"] == "films"]), "Offline")
    assert [line.get_ydata()[0] for line in offline] == pytest.approx([10.9, 0.32, 3.1])
    figure = draw(frames.heterogeneity(nulls=[NULL]))
    counts = sorted(len(line.get_xdata()) for line in frames.lines_with_label(figure, "SP-RAG"))
    assert counts == [2, 2, 2, 3, 3, 3]
    assert frames.words(figure).count("n/a") == 3


def test_models_stand_in_the_order_of_their_labels_and_items_by_what_offline_varies() -> None:
    figure = draw(frames.heterogeneity(), model_labels={"beta": "Beta 2"})
    titles = [a.get_title().split("\n")[0] for a in figure.axes if a.get_title()]
    assert titles == ["Beta 2", "alpha"]
    names = [t.get_text() for t in figure.axes[-1].get_xticklabels()]
    # offline entropy falls with the index
    assert names == ["academic majors", "films", "companies"]


LONG = "Which {} would you show a friend who visits your town for the first time in years?"


@pytest.mark.parametrize(("n_items", "rotation"), [(2, 0), (14, 40)])
def test_items_whose_ids_are_codes_are_called_by_their_questions(
    n_items: int, rotation: int
) -> None:
    texts = {f"q{k:02d}": LONG.format(f"{k} places") for k in range(n_items)}
    questions = frames.questions("recommendations", texts)
    figure = draw(frames.heterogeneity(["alpha"], items=[*texts]), questions=questions)
    frames.assert_readable(figure)
    labels = figure.axes[-1].get_xticklabels()
    names = [label.get_text().replace("\n", " ") for label in labels]
    assert all(name.removeprefix(f"q{name[1:3]}: ").startswith("Which ") for name in names)
    assert {label.get_rotation() for label in labels} == {rotation}
    boxes = [label.get_window_extent() for label in labels]
    assert rotation or all(a.x1 <= b.x0 for a, b in itertools.pairwise(boxes))
