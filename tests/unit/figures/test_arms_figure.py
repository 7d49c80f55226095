"""The figure of arms: everything that was measured is in it, and what was not says why."""

import figure_frames as frames
import pytest

from fieldwork.figures import arms
from fieldwork.figures.settings import FigureSettings

LENGTHS = {"offline": 0, "history_1": 1, "history_10": 10, "history_100": 100}
KINDS = {"offline": None, "history_3": 3, "profile": None, "both": 3}


@pytest.mark.parametrize(("lengths", "x"), [(LENGTHS, "conversations"), (KINDS, "condition")])
@pytest.mark.parametrize("models", [["alpha"], ["alpha", "a model of a rather long name"]])
def test_each_model_has_a_point_for_each_arm_in_every_panel(lengths, x, models) -> None:
    settings = FigureSettings(conditions=[*lengths], x=x, model_labels={"alpha": "Alpha"})
    figure = arms.draw(frames.arm_rows(lengths, models=models), frames.arm_trends(), settings)
    frames.assert_readable(figure)
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert labels == ["Alpha", *models[1:]]
    # offline has no distance and no share, in two panels of two tasks
    for label in labels:
        counts = [len(line.get_xdata()) for line in frames.lines_with_label(figure, label)]
        assert counts == [3, 3, 3, 3, 4, 4]
    words = frames.words(figure)
    assert words.splitlines().count("n/a") == 4
    assert "share_who, offline: nobody asks" in words.replace("\n", " ")
    if lengths == LENGTHS and len(models) == 1:
        # they are spaced by their size, and told with what is held
        places = frames.lines_with_label(figure, "Alpha")[-1].get_xdata()
        assert [*places[:2]] == [0, 1]
        assert places[2] < 10
        assert places[3] < 2 * places[2]
        ticks = [t.get_text() for t in figure.axes[-1].get_xticklabels()]
        assert (ticks[0], ticks[-1]) == ("0\n–\n–", "100\n90\n30k")
