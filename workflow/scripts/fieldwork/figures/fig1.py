"""Figure 1: how varied the answers to the recommendation prompts are, by condition.

Owns the drawing of estimates of lists, by prompt. Each model has a column of three panels; models are
stacked in blocks where the points would touch side by side. All models share the y axis of a
measure. A NULL in the table is a gap with a mark, never a zero.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import item_names
from fieldwork.figures.marks import PageMark, ends_of
from fieldwork.figures.panel import Panel, Points, dodge, draw_page
from fieldwork.figures.selection import (
    float_or_none,
    models_in,
    range_of,
    rest_remark,
    row_by,
    rows_to_draw,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    ConditionStyle,
    legend_entry,
    says_what_is_missing,
    styles_in,
)
from fieldwork.records.estimates import Estimate
from fieldwork.records.shared import ItemKey

METRICS = {
    "unique_items": "Unique\nitems",
    "one_minus_top5_share": "1 − top-5\nshare",
    "entropy_bits": "Entropy\n(bits)",
}
"""The measures, from the top, with their printed names."""

TABLES = {"lists": Estimate}

_MOST_ITEMS = 18
"""The first by rising entropy under the baseline in the first model are drawn."""
_DODGE = 0.88
_NARROWEST_SLOT = 2.9
_NAME_LINES = 3
_SLANTED_LETTERS = 32
_SLANT = 40
"""Degrees that names of items are turned by where they would touch."""


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw rows of `Estimate` about single prompts, with their 95 % intervals.

    Each model has three rows of panels: unique items, 1 − top-5 share, Shannon entropy in bits. An
    empty table gives a figure that says so.
    """
    table = rows_to_draw(table[table["item_id"].notna()], settings)
    models, styles = models_in(table, settings), styles_in(table, settings)
    keys = _items_by_entropy(table, models[0], settings)
    items = keys[: settings.max_items or _MOST_ITEMS]
    table = table[[key in items for key in zip(table["task"], table["item_id"], strict=True)]]
    columns, slot = _lay_out(len(models), items, len(styles), settings)
    names, name_look = _item_names(items, slot * len(styles) / _DODGE, settings)
    scales = {metric: _scale(table[table["measure"] == metric], metric) for metric in METRICS}
    page: list[list[Panel | None]] = []
    for place, metric in product(range(0, len(models), columns), METRICS):
        page.append([])
        for number, model in enumerate(models[place : place + columns]):
            part = table[table["model"] == model]
            is_lowest = place + number + columns >= len(models) and metric == [*METRICS][-1]
            label: dict[str, Any] = (
                {"ylabel": METRICS[metric]} if number == 0 else {"yticklabels": []}
            )
            title = _title(part, model, settings, is_alone=columns == 1)
            page[-1].append(
                Panel(
                    series=_series(part[part["measure"] == metric], items, styles),
                    look={"size": max(2.6, min(4.4, slot - 0.3))},
                    names=names if is_lowest else [""] * len(items),
                    name_look=name_look if is_lowest else {},
                    is_shaded=True,
                    zero=0.5 if scales[metric]["ylim"][0] < -0.1 * scales[metric]["ylim"][1] else 0,
                    title=title if metric == next(iter(METRICS)) else "",
                    axes=scales[metric] | label,
                    absent=_mark_absent,
                )
            )
    handles = []
    for condition, style in styles.items():
        n_answers = range_of(table.loc[table["condition"] == condition, "n_answers"])
        handles.append(legend_entry(style, f"{style.label} (n = {n_answers})"))
    return draw_page(
        page,
        settings,
        height=_height(len(page)),
        handles=handles,
        notes=[rest_remark(len(items), len(keys))],
        is_by_column=True,
        ylabel={"t": "higher = more heterogeneous  →", "color": GREY},
    )


def _title(table: pd.DataFrame, model: str, settings: FigureSettings, *, is_alone: bool) -> str:
    equal_n = range_of(table.loc[table["value"].notna(), "n_equal"], none="")
    size = f"equal n = {equal_n} per prompt" if equal_n else ""
    joint = ", " if is_alone else "\n"
    return joint.join(filter(None, [settings.model_name(model), size]))


def _items_by_entropy(table: pd.DataFrame, model: str, settings: FigureSettings) -> list[ItemKey]:
    """Items by the baseline's entropy in `model`; those without one last, by name."""
    entropies = table[(table["measure"] == "entropy_bits") & (table["model"] == model)]
    rows = row_by(entropies[entropies["condition"] == settings.baseline], "task", "item_id")

    def place(item: ItemKey) -> tuple[bool, float, ItemKey]:
        value = float_or_none(rows[item].value) if item in rows else None
        return (value is None, value or 0.0, item)

    return sorted(set(map(ItemKey, table["task"], table["item_id"])), key=place)


def _lay_out(
    n_models: int, items: Sequence[ItemKey], n_styles: int, settings: FigureSettings
) -> tuple[int, float]:
    """As many models side by side as fit without touching points or slanted names; points of a slot."""
    names = item_names(items, settings.questions, letters=_SLANTED_LETTERS)
    slant = math.radians(_SLANT)
    # slanted names reach to the left of their panel
    reach = 0.6 * TEXT_POINTS * max(map(len, names.values())) * math.cos(slant) / 72
    for columns in range(n_models, 0, -1):
        panel = (PAGE_WIDTH - max(0.75, reach) - max(0.12, reach) * (columns - 1)) / columns
        place = panel * 72 / len(items)
        slot = place * _DODGE / n_styles
        if slot >= _NARROWEST_SLOT and place * math.sin(slant) >= TEXT_POINTS:
            break
    return columns, slot


def _height(rows: int) -> float:
    """Inches of the panels: rows share what titles, item names and legend leave of a page."""
    names, titles, legend = 0.7, 0.35 * rows / len(METRICS), 0.6
    row = min(1.35, (PAGE_HEIGHT - legend - names - titles) / rows)
    return rows * row + names + titles


def _series(
    table: pd.DataFrame, items: Sequence[ItemKey], styles: Mapping[str, ConditionStyle]
) -> list[tuple[ConditionStyle, Points]]:
    """The points of a model and measure."""
    rows = row_by(table, "condition", "task", "item_id")
    return [
        (
            style,
            [
                (place + shift, _mark(rows[condition, *item], style))
                for place, item in enumerate(items)
                if (condition, *item) in rows
            ],
        )
        for condition, style, shift in dodge(styles, _DODGE / len(styles))
    ]


def _mark_absent(axes: Any, absent: Sequence[float]) -> None:
    """One `n/a` per item in the strip below zero, with a stroke at each condition without a value."""
    across = axes.get_xaxis_transform()
    if absent:
        axes.vlines(absent, 0.105, 0.15, color=GREY, linewidth=0.8, transform=across)
    for place in {round(x) for x in absent}:
        axes.text(
            place, 0.005, "n/a", ha="center", va="bottom", color=GREY, fontsize=TEXT_POINTS,
            transform=across,
        )  # fmt: skip


def _mark(row: Any, style: ConditionStyle) -> PageMark:
    return PageMark(
        measure=f"{' '.join(METRICS[row.measure].split())}, {row.item_id}",
        label=style.label,
        **ends_of(row),
        model=row.model,
        task=row.task,
        item_id=row.item_id,
        condition=row.condition,
        base="first",
        n=int(row.n_answers),
    )


def _scale(table: pd.DataFrame, metric: str) -> dict[str, Any]:
    """Axes from zero, equal for a measure in all models, with a strip below for `n/a` marks."""
    top = table[["value", "ci_high"]].astype(float).max().max()
    top = 1.0 if pd.isna(top) or top == 0 else 1.06 * top
    strip = 0.22 if table["value"].isna().any() else 0.02
    ticks = MaxNLocator(nbins=4, integer=metric == "unique_items").tick_values(0, top)
    return {"ylim": (-strip * top, top), "yticks": [tick for tick in ticks if 0 <= tick <= top]}


def _item_names(
    items: Sequence[ItemKey], place: float, settings: FigureSettings
) -> tuple[list[str], dict[str, Any]]:
    """Item names under the lowest panel of a column, slanted where `place` points are too few."""
    room = max(1, int(place / (0.6 * TEXT_POINTS)))
    # upright only where as much of a name can be read as in a slanted one
    letters = max(_NAME_LINES * room, _SLANTED_LETTERS)
    names = item_names(items, settings.questions, letters=letters).values()
    upright = [textwrap.wrap(name, room, break_long_words=False) for name in names]
    if all(len(lines) <= _NAME_LINES and max(map(len, lines)) <= room for lines in upright):
        return ["\n".join(lines) for lines in upright], {}
    names = item_names(items, settings.questions, letters=_SLANTED_LETTERS).values()
    return [*names], {"rotation": _SLANT, "ha": "right", "rotation_mode": "anchor"}
