"""Groups of participants drawn: dots by estimate, filled by test, names in bold, pages that fit."""

from collections.abc import Sequence
from typing import Any

import figure_frames as frames
import pytest
from matplotlib.figure import Figure

from fieldwork.figures.field_groups import MEAN, draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.field import GroupDifference, GroupEstimate

KEYS = {"model": "m", "task": "t", "kind": "list", "variable": "gender", "metric": "entropy_bits"}
Row = dict[str, Any]


def estimate(item: str | None, group: str, value: float = 3.0, **other: Any) -> Row:
    ends = {"estimate": value, "ci_low": value - 0.2, "ci_high": value + 0.3}
    return KEYS | ends | {"item_id": item, "group": group} | other


def difference(item: str | None, group: str | None, p: float) -> Row:
    metric = "entropy_bits" if group else "js_bits"
    return KEYS | {"item_id": item, "group": group, "metric": metric, "p_corrected": p}


ROWS = [estimate(i, g, 3 + k / 10) for k, i in enumerate((None, "a", "b")) for g in "xyz"]


def draw_groups(rows: Sequence[Row], *differences: Row) -> Figure:
    differing = frames.table_of(GroupDifference, differences or [difference(None, None, 1.0)])
    figure = draw(frames.table_of(GroupEstimate, rows), differing, FigureSettings(conditions=[]))
    figure.draw_without_rendering()
    return figure


def test_a_row_a_prompt_with_the_mean_on_top_and_a_dot_a_group() -> None:
    axes = draw_groups(ROWS).axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == [MEAN, "a", "b"]
    assert axes.yaxis_inverted()
    assert [line.get_xdata()[0] for line in axes.lines] == [3.0] * 3 + [3.1] * 3 + [3.2] * 3
    assert axes.collections[0].get_segments()[0][:, 0] == pytest.approx([2.8, 3.3])


def test_a_dot_is_filled_by_its_test_and_a_name_bold_by_its() -> None:
    tests = difference("a", "y", 0.01), difference("b", "x", 0.2), difference("b", None, 0.01)
    axes = draw_groups(ROWS, *tests).axes[0]
    filled = [line for line in axes.lines if line.get_markerfacecolor() != "white"]
    assert [tuple(line.get_xydata()[0]) for line in filled] == [(3.1, 1.0)]
    assert [t.get_fontweight() for t in axes.get_yticklabels()] == ["normal", "normal", "bold"]


def test_nothing_to_draw_says_why() -> None:
    why = {"estimate": None, "reason": "2 answers of the group can be read"}
    figure = draw_groups([estimate("a", "x", **why)])
    assert "2 answers of the group" in figure.axes[0].texts[0].get_text()


def test_variables_that_one_page_cannot_hold_stand_side_by_side_with_what_differs_first() -> None:
    items = [None, *(f"item {n:02}" for n in range(12))]
    rows = [estimate(i, g, variable=v) for v in ("age", "gender") for i in items for g in "vwxyz"]
    first, second = draw_groups(rows, difference(None, "x", 0.01)).axes
    assert first.get_title(loc="left") == "m, t, gender"
    assert second.get_title(loc="left") == "m, t, age"
    assert first.get_position().y0 == second.get_position().y0
    assert (len(first.get_yticks()), len(second.get_yticks())) == (len(items), 0)
