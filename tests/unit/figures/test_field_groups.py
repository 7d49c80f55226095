"""Groups of participants drawn: dots by estimate, filled by test, names in bold, pages that fit."""

import dataclasses
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures.field_groups import MEAN, draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.field import GroupDifference, GroupEstimate


def estimate(
    item: str | None, group: str, value: float | None = 3.0, **other: Any
) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(f.name for f in dataclasses.fields(GroupEstimate))
    row |= {
        "model": "m", "task": "t", "item_id": item, "kind": "list", "variable": "gender",
        "group": group, "metric": "entropy_bits", "estimate": value,
    }  # fmt: skip
    if value is not None:
        row |= {"ci_low": value - 0.2, "ci_high": value + 0.3}
    return row | other


def difference(item: str | None, group: str | None, p: float, **other: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(f.name for f in dataclasses.fields(GroupDifference))
    row |= {
        "model": "m", "task": "t", "item_id": item, "kind": "list", "variable": "gender",
        "group": group, "versus": None, "p_corrected": p,
        "metric": "entropy_bits" if group else "js_bits",
    }  # fmt: skip
    return row | other


ROWS = [estimate(i, g, 3 + k / 10) for k, i in enumerate((None, "a", "b")) for g in "xyz"]


def draw_groups(
    rows: list[dict[str, Any]], differences: list[dict[str, Any]], **values: Any
) -> Figure:
    columns = [*(f.name for f in dataclasses.fields(GroupDifference)), "p_corrected"]
    figure = draw(
        pd.DataFrame(rows),
        pd.DataFrame(differences, columns=columns),
        FigureSettings(**({"conditions": []} | values)),
    )
    figure.draw_without_rendering()
    return figure


def filled_dots(figure: Figure) -> list[tuple[float, float]]:
    return [
        (float(line.get_xdata()[0]), round(float(line.get_ydata()[0]), 2))  # type: ignore[arg-type, index]
        for line in figure.axes[0].lines
        if line.get_markerfacecolor() != "white"
    ]


def test_a_row_a_prompt_with_the_mean_on_top_and_a_dot_a_group() -> None:
    axes = draw_groups(ROWS, []).axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == [MEAN, "a", "b"]
    assert axes.yaxis_inverted()
    assert [line.get_xdata()[0] for line in axes.lines] == [3.0] * 3 + [3.1] * 3 + [3.2] * 3
    bars = [c.get_segments()[0][:, 0].tolist() for c in axes.collections]
    assert bars[0] == pytest.approx([2.8, 3.3])


def test_a_dot_is_filled_by_its_test_and_a_name_bold_by_its() -> None:
    figure = draw_groups(
        ROWS,
        [difference("a", "y", 0.01), difference("b", "x", 0.2), difference("b", None, 0.01)],
    )
    assert filled_dots(figure) == [(3.1, 1.0)]
    weights = [t.get_fontweight() for t in figure.axes[0].get_yticklabels()]
    assert weights == ["normal", "normal", "bold"]


def test_nothing_to_draw_says_why() -> None:
    figure = draw_groups(
        [estimate("a", "x", None, reason="2 answers of the group can be read")], []
    )
    assert "2 answers of the group" in figure.axes[0].texts[0].get_text()


def test_variables_that_one_page_cannot_hold_stand_side_by_side_with_what_differs_first() -> None:
    items = [None, *(f"item {n:02}" for n in range(12))]
    rows = [
        estimate(item, group, variable=variable)
        for variable in ("age", "gender")
        for item in items
        for group in "vwxyz"
    ]
    figure = draw_groups(rows, [difference(None, "x", 0.01)])
    first, second = figure.axes
    assert first.get_title(loc="left") == "m, t, gender"
    assert second.get_title(loc="left") == "m, t, age"
    assert first.get_position().y0 == second.get_position().y0
    assert len(first.get_yticks()) == len(items)
    assert not len(second.get_yticks())
