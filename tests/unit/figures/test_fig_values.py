"""The figure of values: panels, axes with the ends of a scale, and what is said of none."""

from typing import Any

import figure_frames as frames

from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.values import TABLES, draw
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from unit.table_rows import row_of

LABELS = ["Not at all", "A little", "Very much"]
SCALE: dict[str, Any] = {"kind": "scale", "choices": LABELS, "points": [1.0, 2.0, 3.0]}
QUARTILES = {"sd": 1.0, "lower_quartile": 1.0, "median": 2.0, "upper_quartile": 3.0}


def row(condition: str, item_id: str | None, mean: float | None = 2.0, **changes: Any) -> Any:
    keys = {"model": "m", "task": "t", "condition": condition, "kind": "scale", "item_id": item_id}
    sizes = {"n_units": 0 if mean is None else 40, "n_without": 0, "n_items": 1, "unit": "puppet"}
    return keys | QUARTILES | sizes | {"mean": mean} | changes


def figure_of(*rows: dict[str, Any], **changes: Any) -> Any:
    """The items a and b; b may be another."""
    columns = {"a": SCALE | changes.pop("a", {}), "b": SCALE | changes}
    items = {
        ItemKey("t", name): row_of(Item, item_id=name, question=f"Question {name}?", **item)
        for name, item in columns.items()
    }
    settings = FigureSettings(conditions=["offline", "history", "field"], questions=items)
    (row_type,) = TABLES.values()
    return draw(frames.table_of(row_type, rows), settings)


def ticks(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


def test_scales_together_stand_first_and_questions_follow() -> None:
    together = row("history", None, 0.5, n_items=2, alpha=-0.25)
    figure = figure_of(row("history", "b"), row("history", "a"), together)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["All 2 scales together (Cronbach's α −0.25)", "Question a?", "Question b?"]


def test_the_ends_of_a_scale_are_named_and_turned_with_a_reversed_item() -> None:
    figure = figure_of(row("history", "a"), row("history", "b"), points=[3.0, 2.0, 1.0])
    first, second = figure.axes
    assert ticks(first) == ["1\nNot at all", "2", "3\nVery much"]
    assert ticks(second) == ["1\nVery much", "2", "3\nNot at all"]


def test_conditions_say_how_many_answers_they_have_or_that_there_is_none() -> None:
    (axes,) = figure_of(row("offline", "a"), row("history", "a", None)).axes
    lines = [label.get_text() for label in axes.get_yticklabels()]
    assert lines == ["Offline, n = 40", "SP-History"]
    assert [text.get_text() for text in axes.texts] == ["n/a"]


def test_the_mark_of_a_number_is_its_median() -> None:
    values = {"kind": "number", "median": 2.5, "median_low": 2.0, "median_high": 3.0}
    number = {"points": None, "kind": "number", "choices": []}
    figure = figure_of(row("history", "a", 900.0, **values), a=number)
    ((_, _, _, mark),) = figure.drawn_marks
    assert mark.text() == "Median, SP-History: 2.50 [2.00, 3.00], n = 40"
