"""The figure of waves: where they stand in time, what a line begins with, and which marks there are."""

from typing import Any

import figure_frames as frames
import pytest
from matplotlib.figure import Figure

from fieldwork.figures.drift import draw, wave_places
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.drift import Drift
from fieldwork.records.figures import FigureMark

WAVES = {"w40": "2026-W40", "w41": "2026-W41", "w45": "2026-W45"}


def row(condition: str, **changes: Any) -> dict[str, Any]:
    keys = {"model": "m", "task": "t", "condition": condition, "wave": WAVES[condition]}
    first = {"first_wave": "2026-W40", "first_condition": "w40", "first_value": 0.8}
    change = {"value": 0.7, "change": -0.1, "ci_low": -0.2, "ci_high": 0.0, "has_moved": False}
    sizes = {"measure": "accuracy", "n_answers": 20, "n_first_answers": 20}
    return keys | first | change | sizes | changes


def drawn(*rows: dict[str, Any]) -> Figure:
    settings = FigureSettings(conditions=[*WAVES], waves=WAVES, model_labels={"m": "Model"})
    return draw(frames.table_of(Drift, rows), settings)


def marks(*rows: dict[str, Any]) -> list[FigureMark]:
    return marks_of(drawn(*rows))


def test_weeks_months_and_days_stand_where_they_are_in_time() -> None:
    first, *others = wave_places(WAVES.values()).values()
    assert [place - first for place in others] == [7, 35]
    months = wave_places(["2026-11", "2026-12-01"])
    assert months["2026-12-01"] - months["2026-11"] == 30


def test_a_line_begins_with_the_first_wave() -> None:
    line = marks(row("w41"), row("w45", value=0.5, change=-0.3, ci_low=-0.9, has_moved=True))
    values = [(mark.condition, mark.value) for mark in line]
    assert values == [("w40", 0.8), ("w41", 0.7), ("w45", 0.5)]
    # the interval is that of the change, at the value, and no share is below 0
    assert (line[1].ci_low, line[1].ci_high) == pytest.approx((0.6, 0.8))
    assert line[2].ci_low == 0
    assert line[2].text.startswith("Accuracy, Model, t, 2026-W45, moved: 50.0")
    assert line[0].left < line[1].left < line[2].left


def test_a_distance_begins_at_0_and_shows_its_change() -> None:
    distance = {"measure": "letters", "first_value": None, "value": 0.3, "change": 0.12}
    line = marks(row("w41", **distance, ci_low=None, ci_high=None))
    assert [mark.value for mark in line] == [0.0, 0.12]


def test_a_wave_without_answers_has_no_mark() -> None:
    names = ("first_value", "value", "change", "ci_low", "ci_high", "has_moved")
    absent = row("w41", **dict.fromkeys(names))
    assert [mark.condition for mark in marks(absent, row("w45"))] == ["w40", "w45"]
    assert "no question is answered" in drawn(absent).axes[0].texts[0].get_text()


def test_tasks_that_moved_come_first_and_the_others_are_counted() -> None:
    figure = drawn(*(row("w41", task=f"t{k}", has_moved=k == 3) for k in range(5)))
    assert {mark.task for mark in marks_of(figure)} == {"t0", "t1", "t3"}
    assert "Only 3 of 5 tasks" in " ".join(text.get_text() for text in figure.texts)
