"""Figure 1: how varied the answers to the recommendation prompts are, by condition.

Owns the drawing of estimates of lists, by prompt. Each model has a column of three panels; models are
stacked in blocks where the points would touch side by side. All models share the y axis of a
measure. A NULL in the table is a gap with a mark, never a zero.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import item_names
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
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    draw_interval,
    drawn_styles,
    empty_figure,
    legend_entry,
    marker_arguments,
    new_figure,
)
from fieldwork.records.estimates import Estimate
from fieldwork.records.shared import ItemKey

METRICS = {
    "unique_items": "Unique\nitems",
    "one_minus_top5_share": "1 − top-5\nshare",
    "entropy_bits": "Entropy\n(bits)",
}
"""The measures, from the top, with their printed names."""

_DODGE = 0.88
_NARROWEST_SLOT = 2.9
_NAME_LINES = 3
_SLANTED_LETTERS = 32
_SLANT = 40
"""Degrees that names of items are turned by where they would touch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fig1Settings(FigureSettings):
    """What a study decides about Figure 1."""

    max_items: int = 18
    """Most items; the first by rising entropy under the baseline in the first model are drawn."""


class _HeterogeneityKey(NamedTuple):
    model: str
    metric: str
    item: ItemKey
    condition: str


class _HeterogeneityLayout(NamedTuple):
    """Where models and items are drawn: `columns` models side by side, `slot` points per condition."""

    models: list[str]
    items: list[ItemKey]
    styles: dict[str, ConditionStyle]
    columns: int
    slot: float

    @property
    def blocks(self) -> int:
        return -(-len(self.models) // self.columns)


TABLES = {"lists": Estimate}
SETTINGS = Fig1Settings


def draw(table: pd.DataFrame, settings: Fig1Settings) -> Figure:
    """Draw rows of `Estimate` about single prompts, with their 95 % intervals.

    Each model has three rows of panels: unique items, 1 − top-5 share, Shannon entropy in bits. An
    empty table gives a figure that says so.
    """
    table = rows_of_task(table[table["item_id"].notna()], settings)
    reason = absence_reason(table, settings)
    if reason:
        return empty_figure(reason, settings)
    conditions = conditions_in(table, settings)
    rows = rows_of(table[table["condition"].isin(conditions)])
    estimates = {
        _HeterogeneityKey(r.model, r.measure, ItemKey(r.task, r.item_id), r.condition): r
        for r in rows
    }
    models = models_in(table, settings)
    selection = select_items(
        _items_by_entropy(estimates, models[0], settings), at_most=settings.max_items
    )
    names = item_names(selection.items, settings.questions, letters=_SLANTED_LETTERS)
    layout = _lay_out(
        models,
        selection.items,
        drawn_styles(conditions, settings),
        longest_name=max(map(len, names.values())),
    )
    figure = new_figure(height=_height(layout))
    _draw_panels(figure, estimates, layout, settings)
    notes = [settings.note, selection.remark]
    add_head(figure, handles=_handles(estimates, layout), notes=notes)
    return figure


def _items_by_entropy(
    estimates: Mapping[_HeterogeneityKey, Any], model: str, settings: Fig1Settings
) -> list[ItemKey]:
    """Items by the baseline's entropy in `model`; those without one last, by name."""

    def place(item: ItemKey) -> tuple[bool, float, ItemKey]:
        row = estimates.get(_HeterogeneityKey(model, "entropy_bits", item, settings.baseline))
        value = None if row is None else float_or_none(row.value)
        return (value is None, value or 0.0, item)

    return sorted({key.item for key in estimates}, key=place)


def _lay_out(
    models: list[str],
    items: list[ItemKey],
    styles: dict[str, ConditionStyle],
    *,
    longest_name: int,
) -> _HeterogeneityLayout:
    """As many models side by side as fit without touching points or slanted names of items."""
    slant = math.radians(_SLANT)
    # slanted names reach to the left of their panel
    reach = 0.6 * TEXT_POINTS * longest_name * math.cos(slant) / 72
    for columns in range(len(models), 0, -1):
        panel = (PAGE_WIDTH - max(0.75, reach) - max(0.12, reach) * (columns - 1)) / columns
        place = panel * 72 / len(items)
        slot = place * _DODGE / len(styles)
        if slot >= _NARROWEST_SLOT and place * math.sin(slant) >= TEXT_POINTS:
            break
    return _HeterogeneityLayout(models, items, styles, columns, slot)


def _height(layout: _HeterogeneityLayout) -> float:
    """Inches of the panels: rows share what titles, item names and legend leave of a page."""
    rows = layout.blocks * len(METRICS)
    names, titles, legend = 0.7, 0.35 * layout.blocks, 0.6
    row = min(1.35, (PAGE_HEIGHT - legend - names - titles) / rows)
    return rows * row + names + titles


def _handles(estimates: Mapping[_HeterogeneityKey, Any], layout: _HeterogeneityLayout) -> list[Any]:
    """One legend entry per condition, with its number of responses."""
    entries = []
    for condition, style in layout.styles.items():
        counts = [
            row.n_answers
            for key, row in estimates.items()
            if key.condition == condition and key.item in layout.items
        ]
        entries.append(legend_entry(style, f"{style.label} (n = {range_of(counts)})"))
    return entries


def _draw_panels(
    figure: Figure,
    estimates: Mapping[_HeterogeneityKey, Any],
    layout: _HeterogeneityLayout,
    settings: Fig1Settings,
) -> None:
    grid = figure.subplots(layout.blocks * len(METRICS), layout.columns, squeeze=False)
    for position in range(layout.blocks * layout.columns):
        block, column = divmod(position, layout.columns)
        axes_column = grid[block * len(METRICS) : (block + 1) * len(METRICS), column]
        if position >= len(layout.models):
            for panel in axes_column:
                panel.remove()
            continue
        model = layout.models[position]
        for metric, panel in zip(METRICS, axes_column, strict=True):
            _draw_panel(panel, estimates, layout, model=model, metric=metric)
            _scale(panel, estimates, layout, metric=metric, has_label=column == 0)
        axes_column[0].set_title(_title(estimates, layout, model, settings))
        if position + layout.columns >= len(layout.models):
            _name_items(axes_column[-1], layout, settings)
    figure.supylabel("higher = more heterogeneous  →", color=GREY)


def _title(
    estimates: Mapping[_HeterogeneityKey, Any],
    layout: _HeterogeneityLayout,
    model: str,
    settings: Fig1Settings,
) -> str:
    equal_n = range_of(
        row.n_equal
        for key, row in estimates.items()
        if key.model == model and key.item in layout.items and not pd.isna(row.value)
    )
    name = settings.model_name(model)
    joint = ", " if layout.columns == 1 else "\n"
    return f"{name}{joint}equal n = {equal_n} per prompt" if equal_n else name


def _draw_panel(
    panel: Any,
    estimates: Mapping[_HeterogeneityKey, Any],
    layout: _HeterogeneityLayout,
    *,
    model: str,
    metric: str,
) -> None:
    """Points and intervals of one model and measure."""
    for i in range(1, len(layout.items), 2):
        panel.axvspan(i - 0.5, i + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
    step = _DODGE / len(layout.styles)
    size = max(2.6, min(4.4, layout.slot - 0.3))
    absent: dict[int, list[float]] = {}
    for j, (condition, style) in enumerate(layout.styles.items()):
        shift = (j - (len(layout.styles) - 1) / 2) * step
        xs: list[float] = []
        ys: list[float] = []
        for i, item in enumerate(layout.items):
            row = estimates.get(_HeterogeneityKey(model, metric, item, condition))
            if row is None:
                continue
            estimate = float_or_none(row.value)
            if estimate is None:
                absent.setdefault(i, []).append(i + shift)
                continue
            xs.append(i + shift)
            ys.append(estimate)
            draw_interval(panel, i + shift, row, style.colour)
            caption, answers = _mark(row, style)
            add_mark(panel, i + shift, span_of(estimate, row), caption, answers)
        panel.plot(
            xs, ys, linestyle="none", label=style.label, **marker_arguments(style, size=size)
        )
    for i, places in absent.items():
        _mark_absent(panel, i, places)


def _mark(row: Any, style: ConditionStyle) -> tuple[MarkedValue, MarkedAnswers]:
    """What a point shows, and the answers it is computed from."""
    caption = MarkedValue(
        measure=f"{' '.join(METRICS[row.measure].split())}, {row.item_id}",
        label=style.label,
        value=float(row.value),
        ci_low=float_or_none(row.ci_low),
        ci_high=float_or_none(row.ci_high),
    )
    answers = MarkedAnswers(
        model=row.model,
        task=row.task,
        item_id=row.item_id,
        condition=row.condition,
        base="first",
        n=int(row.n_answers),
    )
    return caption, answers


def _mark_absent(panel: Any, item: int, places: Sequence[float]) -> None:
    """One `n/a` per item in the strip below zero, with a stroke at each condition without a value."""
    across = panel.get_xaxis_transform()
    panel.vlines(places, 0.105, 0.15, color=GREY, linewidth=0.8, transform=across)
    panel.text(
        item, 0.005, "n/a", ha="center", va="bottom", color=GREY, fontsize=TEXT_POINTS,
        transform=across,
    )  # fmt: skip


def _scale(
    panel: Any,
    estimates: Mapping[_HeterogeneityKey, Any],
    layout: _HeterogeneityLayout,
    *,
    metric: str,
    has_label: bool,
) -> None:
    """Axes from zero, equal for a measure in all models, with a strip below for `n/a` marks."""
    rows = [r for c, r in estimates.items() if c.metric == metric and c.item in layout.items]
    ends = [float_or_none(v) for r in rows for v in (r.value, r.ci_high)]
    top = max((v for v in ends if v is not None), default=0.0) * 1.06 or 1.0
    strip = 0.22 if any(pd.isna(r.value) for r in rows) else 0.02
    panel.set_ylim(-strip * top, top)
    panel.set_xlim(-0.5, len(layout.items) - 0.5)
    ticks = MaxNLocator(nbins=4, integer=metric == "unique_items").tick_values(0, top)
    panel.set_yticks([tick for tick in ticks if 0 <= tick <= top])
    panel.set_xticks(range(len(layout.items)), [""] * len(layout.items))
    panel.tick_params(axis="x", length=0)
    if strip > 0.1:
        panel.axhline(0, color="#BBBBBB", linewidth=0.5, zorder=0.5)
    if has_label:
        panel.set_ylabel(METRICS[metric])
    else:
        panel.tick_params(axis="y", labelleft=False)


def _name_items(panel: Any, layout: _HeterogeneityLayout, settings: Fig1Settings) -> None:
    """Item names under the lowest panel of a column, slanted where they would touch."""
    room = max(1, int(layout.slot * len(layout.styles) / _DODGE / (0.6 * TEXT_POINTS)))
    # upright only where as much of a name can be read as in a slanted one
    letters = max(_NAME_LINES * room, _SLANTED_LETTERS)
    names = item_names(layout.items, settings.questions, letters=letters).values()
    upright = [textwrap.wrap(name, room, break_long_words=False) for name in names]
    at = range(len(layout.items))
    if all(len(lines) <= _NAME_LINES and max(map(len, lines)) <= room for lines in upright):
        panel.set_xticks(at, ["\n".join(lines) for lines in upright])
        return
    names = item_names(layout.items, settings.questions, letters=_SLANTED_LETTERS).values()
    panel.set_xticks(at, [*names], rotation=_SLANT, ha="right", rotation_mode="anchor")
