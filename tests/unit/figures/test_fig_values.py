"""The figure of values: panels, axes with the ends of a scale, and what is said of none."""

from typing import Any

import pandas as pd

from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.values import draw
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item

LABELS = ["Not at all", "A little", "Very much"]


def item(item_id: str, points: tuple[float, ...] = (1.0, 2.0, 3.0), **changes: Any) -> Item:
    columns: dict[str, Any] = {"kind": "scale", "question": f"Question {item_id}?", "prompt": "?"}
    columns |= {"choices": LABELS, "gold": None, "subject": None, "provenance": "mine"}
    return Item(item_id=item_id, points=[*points], **columns | changes)


def row(
    condition: str, item_id: str | None, mean: float | None = 2.0, **changes: Any
) -> dict[str, Any]:
    values = {
        "model": "m", "task": "t", "condition": condition, "kind": "scale", "item_id": item_id,
        "mean": mean, "ci_low": None, "ci_high": None, "sd": 1.0, "lower_quartile": 1.0, "median": 2.0,
        "median_low": None, "median_high": None,
        "upper_quartile": 3.0, "alpha": None, "n_units": 0 if mean is None else 40, "n_without": 0,
        "n_items": 1, "unit": "puppet", "reason": None,
    }  # fmt: skip
    return values | changes


def figure_of(*rows: dict[str, Any], **items: Item) -> Any:
    settings = FigureSettings(
        conditions=["offline", "history", "field"],
        questions={ItemKey("t", name): one for name, one in items.items()},
    )
    return draw(pd.DataFrame(rows), settings)


def ticks(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


def test_scales_together_stand_first_and_questions_follow() -> None:
    together = row("history", None, 0.5, n_items=2, alpha=-0.25)
    figure = figure_of(row("history", "b"), row("history", "a"), together, a=item("a"), b=item("b"))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["All 2 scales together (Cronbach's α −0.25)", "Question a?", "Question b?"]


def test_the_ends_of_a_scale_are_named_and_turned_with_a_reversed_item() -> None:
    turned = item("b", (3.0, 2.0, 1.0))
    first, second = figure_of(row("history", "a"), row("history", "b"), a=item("a"), b=turned).axes
    assert ticks(first) == ["1\nNot at all", "2", "3\nVery much"]
    assert ticks(second) == ["1\nVery much", "2", "3\nNot at all"]


def test_conditions_say_how_many_answers_they_have_or_that_there_is_none() -> None:
    (axes,) = figure_of(row("offline", "a"), row("history", "a", None), a=item("a")).axes
    lines = [label.get_text() for label in axes.get_yticklabels()]
    assert lines == ["Offline, n = 40", "SP-History"]
    assert [text.get_text() for text in axes.texts] == ["n/a"]


def test_the_mark_of_a_number_is_its_median() -> None:
    values = {"kind": "number", "median": 2.5, "median_low": 2.0, "median_high": 3.0}
    figure = figure_of(
        row("history", "a", 900.0, **values), a=item("a", (), kind="number", choices=[])
    )
    ((_, _, _, mark),) = figure.drawn_marks
    assert mark.text() == "Median, SP-History: 2.50 [2.00, 3.00], n = 40"
