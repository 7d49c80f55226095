"""The figure of values: where answers to scales and numbers lie, by condition, beside the field's.

Owns the drawing of `records.ValueEstimate` rows: a row of panels an item, a column a model. A mark is the
mean of a scale or the median of a number with its interval; the pale bar behind it holds the middle half
of the answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import draw_points, fit, inches_of, own_words
from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark, span_of
from fieldwork.figures.selection import (
    absence_reason,
    conditions_in,
    float_or_none,
    models_in,
    range_of,
    rows_of,
    rows_of_task,
    select_items,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_WIDTH,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    drawn_styles,
    empty_figure,
    marker_arguments,
    new_figure,
    wrap_text,
)
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from fieldwork.records.values import ValueEstimate

MOST_ITEMS = 6
_LINE_HEIGHT = 0.19
_PANEL_HEIGHT = 0.68
"""Of a panel's title and axis, inches."""
_TITLE_LINES = 2
_MARGIN_INCHES = 0.25
"""Inches of the page that neither names nor questions take."""
_PALE = 0.3


class _ItemPanel(NamedTuple):
    """An item, or the scales together (None), and its rows by model and condition."""

    item: ItemKey | None
    title: str
    rows: Mapping[tuple[str, str], Any]


TABLES = {"values": ValueEstimate}
SETTINGS = FigureSettings


def draw(values: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw the scales together, then the first items.

    Args:
        values: `records.ValueEstimate` rows; a table without any gives a figure that says so.
    """
    table = rows_of_task(values, settings)
    reason = absence_reason(table, settings)
    if reason:
        return empty_figure(reason, settings)
    styles = drawn_styles(conditions_in(table, settings), settings)
    table = table[table["condition"].isin(styles)]
    keys = [ItemKey(row.task, row.item_id) for row in rows_of(table) if _is_text(row.item_id)]
    selection = select_items(sorted(keys), at_most=MOST_ITEMS)
    panels = list(_panels(table, selection.items, settings))
    models = models_in(table, settings)
    figure = new_figure(
        height=len(panels) * (_PANEL_HEIGHT + _LINE_HEIGHT * len(styles)) + 0.2,
    )
    grid = figure.subplots(len(panels), len(models), squeeze=False)
    labels = [f"{style.label}, n = 000" for style in styles.values()]
    room = PAGE_WIDTH - max(inches_of(figure, label) for label in labels) - _MARGIN_INCHES
    for i, panel in enumerate(panels):
        for j, model in enumerate(models):
            name = settings.model_name(model) if i == 0 and len(models) > 1 else ""
            _draw_panel(grid[i, j], panel, model, styles)
            item = settings.questions.get(panel.item) if panel.item else None
            _scale_axis(grid[i, j], panel, item, room / len(models))
            title = fit(figure, panel.title, inches=room, lines=_TITLE_LINES) if j == 0 else ""
            _head(grid[i, j], title, name)
            if j:
                grid[i, j].set_yticklabels([""] * len(styles))
    add_head(figure, handles=_handles(), notes=[settings.note, selection.remark])
    return figure


def _panels(
    table: pd.DataFrame, items: Sequence[ItemKey], settings: FigureSettings
) -> Iterator[_ItemPanel]:
    by_item: dict[ItemKey | None, dict[tuple[str, str], Any]] = {}
    for row in rows_of(table):
        key = ItemKey(row.task, row.item_id) if _is_text(row.item_id) else None
        by_item.setdefault(key, {})[row.model, row.condition] = row
    if together := by_item.get(None):
        n_items = range_of(row.n_items for row in together.values())
        alphas = range_of_alphas(together.values())
        yield _ItemPanel(None, f"All {n_items} scales together{alphas}", together)
    named_items = [key for key in items if key in settings.questions]
    texts = own_words([settings.questions[key].question for key in named_items])
    titles = dict(zip(named_items, texts, strict=True))
    for key in items:
        yield _ItemPanel(key, titles.get(key, key.item_id), by_item[key])


def range_of_alphas(rows: Any) -> str:
    """Cronbach's alpha of the conditions, as a part of a title; empty where none has one."""
    alphas = sorted(alpha for row in rows if (alpha := float_or_none(row.alpha)) is not None)
    if not alphas:
        return ""
    ends = dict.fromkeys(f"{alpha:.2f}".replace("-", "−") for alpha in (alphas[0], alphas[-1]))
    return f" (Cronbach's α {' to '.join(ends)})"


def _draw_panel(
    axes: Any,
    panel: _ItemPanel,
    model: str,
    styles: Mapping[str, ConditionStyle],
) -> None:
    names = []
    for place, (condition, style) in enumerate(styles.items()):
        row = panel.rows.get((model, condition))
        n_units = int(row.n_units) if row is not None else 0
        names.append(f"{style.label}, n = {n_units:,}" if n_units else style.label)
        if not n_units:
            axes.annotate("n/a", (0, place), xycoords=("axes fraction", "data"), color=GREY)
            continue
        _draw_row(axes, place, row, style)
    axes.set_yticks(range(len(styles)), names)
    axes.set_ylim(len(styles) - 0.4, -0.6)
    axes.grid(axis="x", color=GREY, alpha=0.25, linewidth=0.5)


def _draw_row(axes: Any, place: int, row: Any, style: ConditionStyle) -> None:
    axes.barh(
        place,
        row.upper_quartile - row.lower_quartile,
        left=row.lower_quartile,
        height=0.62,
        color=style.colour,
        alpha=_PALE,
        linewidth=0,
    )
    is_number = row.kind == "number"
    value = float(row.median if is_number else row.mean)
    ends = ("median_low", "median_high") if is_number else ("ci_low", "ci_high")
    low, high = (float_or_none(getattr(row, end)) for end in ends)
    if low is not None and high is not None:
        axes.hlines(place, low, high, color=style.colour, linewidth=1.0)
    axes.plot([value], [place], linestyle="none", **marker_arguments(style, size=4.5))
    caption = MarkedValue(
        measure="Median" if is_number else "Mean",
        label=style.label,
        value=value,
        ci_low=low,
        ci_high=high,
    )
    item = row.item_id if _is_text(row.item_id) else None
    answers = MarkedAnswers(
        model=row.model,
        condition=row.condition,
        task=row.task,
        item_id=item,
        kind=row.kind,
        base="values",
        # the scales together are of users, not of answers
        n=int(row.n_units) if item else None,
    )
    add_mark(axes, span_of(value, row, *ends), (place - 0.3, place + 0.3), caption, answers)


def _scale_axis(axes: Any, panel: _ItemPanel, item: Item | None, inches: float) -> None:
    """A scale shows all of its points, with its ends named; a number what its answers reach."""
    if panel.item is None:
        axes.set_xlim(-0.03, 1.03)
        axes.set_xticks(
            [0, 0.25, 0.5, 0.75, 1], ["0\nlowest point", "", "½", "", "1\nhighest point"]
        )
    elif item is not None and item.points:
        # two labels fit side by side, with a gap
        labels = [wrap_text(label, inches=inches / 2.3) for label in item.choices]
        draw_points(axes, dict(zip(item.points, labels, strict=False)))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set_xlabel(item.unit or "" if item else "")


def _head(axes: Any, title: str, model: str) -> None:
    """The question over the first column, and over the first row the model."""
    lines = [*([model] if model else []), *([title] if title else [])]
    text = axes.set_title("\n".join(lines), loc="left", fontsize=TEXT_POINTS)
    # a question may reach over all columns
    text.set_in_layout(not title or bool(model))


def _handles() -> list[Any]:
    mean = Line2D([], [], color=GREY, marker="o", markersize=4, linewidth=1.0)
    mean.set_label("mean, of a number the median, and its 95 % interval")
    return [mean, Patch(facecolor=GREY, alpha=_PALE, label="middle half of the answers")]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
