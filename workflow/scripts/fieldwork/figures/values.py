"""The figure of values: where answers to scales and numbers lie, by condition, beside the field's.

Owns the drawing of `records.ValueEstimate` rows: a row of panels an item, a column a model. A mark is the
mean of a scale or the median of a number with its interval; the pale bar behind it holds the middle half
of the answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import fit, inches_of, own_words, scale_axis
from fieldwork.figures.marks import PageMark, ends_of
from fieldwork.figures.panel import Panel, Points, draw_page
from fieldwork.figures.selection import (
    float_or_none,
    models_in,
    range_of,
    rest_remark,
    row_by,
    rows_to_draw,
    text_or_none,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_WIDTH,
    TEXT_POINTS,
    ConditionStyle,
    legend_line,
    says_what_is_missing,
    styles_in,
    wrap_text,
)
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from fieldwork.records.values import ValueEstimate

TABLES = {"values": ValueEstimate}

_MOST_ITEMS = 6
_LINE_HEIGHT = 0.19
_PANEL_HEIGHT = 0.68
"""Of a panel's title and axis, inches."""
_TITLE_LINES = 2
_MARGIN_INCHES = 0.25
"""Inches of the page that neither names nor questions take."""
_PALE = 0.3

Rows = Mapping[tuple[Any, ...], Any]
"""Rows of an item and a model by condition."""


@says_what_is_missing
def draw(values: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw the scales together, then the first items.

    Args:
        values: `records.ValueEstimate` rows; a table without any gives a figure that says so.
        settings: of the study.
    """
    table = rows_to_draw(values, settings)
    models, styles = models_in(table, settings), styles_in(table, settings)
    single = table[table["item_id"].notna()]
    keys = sorted(set(map(ItemKey, single["task"], single["item_id"])))
    items = keys[: settings.max_items or _MOST_ITEMS]
    titles = _titles(table, items, settings)
    room = PAGE_WIDTH - _MARGIN_INCHES
    room -= max(inches_of(f"{style.label}, n = 000") for style in styles.values())
    page: list[list[Panel]] = []
    for item, title in titles.items():
        part = table[table["item_id"].isna()]
        if item is not None:
            part = table[(table["task"] == item.task) & (table["item_id"] == item.item_id)]
        question = settings.questions.get(item) if item else None
        axis = _scale_axis(question, room / len(models), is_of_all=item is None)
        words = fit(title, inches=room, lines=_TITLE_LINES)
        page_row: list[Panel] = []
        for model in models:
            # the question stands over the first column, the model over the first row
            name = settings.model_name(model) if not page and len(models) > 1 else ""
            rows = row_by(part[part["model"] == model], "condition")
            panel = Panel(
                series=_series(rows, styles),
                look={"size": 4.5, "width": 1.0, "half": 0.3},
                names=[""] * len(styles) if page_row else _names(rows, styles),
                name_look={"margins": (0.6, 0.6), "length": 2.5},
                is_upright=False,
                title="\n".join(filter(None, [name, "" if page_row else words])),
                # a question may reach over all columns
                title_look={
                    "loc": "left",
                    "fontsize": TEXT_POINTS,
                    "in_layout": bool(page_row or not title or name),
                },
                axes=axis,
                locator=None if "xticks" in axis else MaxNLocator(5),
                grid={"color": GREY, "alpha": 0.25, "linewidth": 0.5},
                further=partial(_draw_halves, rows=rows, styles=styles),
            )
            page_row.append(panel)
        page.append(page_row)
    mean = legend_line("mean, of a number the median, and its 95 % interval", width=1.0)
    mean.set(marker="o", markersize=4)
    half = Patch(facecolor=GREY, alpha=_PALE, label="middle half of the answers")
    return draw_page(
        page,
        settings,
        height=len(page) * (_PANEL_HEIGHT + _LINE_HEIGHT * len(styles)) + 0.2,
        handles=[mean, half],
        notes=[rest_remark(len(items), len(keys))],
    )


def _titles(
    table: pd.DataFrame, items: Sequence[ItemKey], settings: FigureSettings
) -> dict[ItemKey | None, str]:
    """The panels with their titles: the scales together (None) and each item."""
    together = table[table["item_id"].isna()]
    titles: dict[ItemKey | None, str] = {}
    if len(together):
        alphas = range_of_alphas(together["alpha"])
        titles[None] = f"All {range_of(together['n_items'])} scales together{alphas}"
    named_items = [key for key in items if key in settings.questions]
    texts = own_words([settings.questions[key].question for key in named_items])
    return titles | {key: key.item_id for key in items} | dict(zip(named_items, texts, strict=True))


def range_of_alphas(values: Iterable[Any]) -> str:
    """Cronbach's alpha of the conditions, as a part of a title; empty where none has one."""
    alphas = sorted(alpha for value in values if (alpha := float_or_none(value)) is not None)
    if not alphas:
        return ""
    ends = dict.fromkeys(f"{alpha:.2f}".replace("-", "−") for alpha in (alphas[0], alphas[-1]))
    return f" (Cronbach's α {' to '.join(ends)})"


def _names(rows: Rows, styles: Mapping[str, ConditionStyle]) -> list[str]:
    counts = [int(rows[(one,)].n_units) if (one,) in rows else 0 for one in styles]
    return [
        f"{style.label}, n = {n:,}" if n else style.label
        for style, n in zip(styles.values(), counts, strict=True)
    ]


def _series(
    rows: Rows, styles: Mapping[str, ConditionStyle]
) -> list[tuple[ConditionStyle, Points]]:
    return [
        (style, [(place, _mark(rows[(condition,)], style))])
        for place, (condition, style) in enumerate(styles.items())
        if (condition,) in rows and rows[(condition,)].n_units
    ]


def _draw_halves(axes: Any, *, rows: Rows, styles: Mapping[str, ConditionStyle]) -> None:
    """The middle half of the answers, or that there is none."""
    for place, (condition, style) in enumerate(styles.items()):
        row = rows.get((condition,))
        if row is None or not row.n_units:
            axes.annotate("n/a", (0, place), xycoords=("axes fraction", "data"), color=GREY)
            continue
        axes.barh(
            place,
            row.upper_quartile - row.lower_quartile,
            left=row.lower_quartile,
            height=0.62,
            color=style.colour,
            alpha=_PALE,
            linewidth=0,
        )


def _mark(row: Any, style: ConditionStyle) -> PageMark:
    is_number, item = row.kind == "number", text_or_none(row.item_id)
    columns = ("median", "median_low", "median_high") if is_number else ("mean",)
    return PageMark(
        measure="Median" if is_number else "Mean",
        label=style.label,
        **ends_of(row, *columns),
        model=row.model,
        condition=row.condition,
        task=row.task,
        item_id=item,
        kind=row.kind,
        base="values",
        # the scales together are of users, not of answers
        n=int(row.n_units) if item else None,
    )


def _scale_axis(item: Item | None, inches: float, *, is_of_all: bool) -> dict[str, Any]:
    """A scale shows all of its points, with its ends named; a number what its answers reach."""
    if is_of_all:
        names = ["0\nlowest point", "", "½", "", "1\nhighest point"]
        return {"xlim": (-0.03, 1.03), "xticks": [0, 0.25, 0.5, 0.75, 1], "xticklabels": names}
    if item is not None and item.points:
        # two labels fit side by side, with a gap
        labels = [wrap_text(label, inches=inches / 2.3) for label in item.choices]
        return scale_axis(dict(zip(item.points, labels, strict=False)))
    return {"xlabel": item.unit or "" if item else ""}
