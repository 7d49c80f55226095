"""Figure 1: how varied the answers to the recommendation prompts are, by condition.

Owns the drawing of `records.Heterogeneity` rows. A column of three panels a model; models are
stacked in blocks where side by side the points would touch. All models share the y axis of a
measure. What is NULL in the table is a gap with a mark, never a zero.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import item_names
from fieldwork.figures.style import (
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    FigureOptions,
    ItemKey,
    Look,
    add_head,
    choose_items,
    conditions_in,
    handle,
    looks,
    marker_style,
    models_in,
    new_figure,
    no_data,
    number,
    range_of,
    rows_of,
    why_empty,
)

METRICS: tuple[str, ...] = ("unique_items", "one_minus_top5_share", "entropy_bits")

_DODGE = 0.88
_NARROWEST_SLOT = 2.9
_NAME_LINES = 3
_SLANTED_LETTERS = 32
_GREY = "#555555"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about Figure 1."""

    items: Sequence[str] = ()
    """Item ids in their order; empty: by the baseline's entropy in the first model, rising."""
    baseline: str = "offline"
    """The condition whose entropy orders the items."""
    max_items: int = 18
    """How many items are drawn where none are asked for by name."""


class _Cell(NamedTuple):
    model: str
    metric: str
    item: ItemKey
    condition: str


class _Plan(NamedTuple):
    """What is drawn where: `columns` models side by side, `slot` points between two conditions."""

    models: list[str]
    items: list[ItemKey]
    looks: dict[str, Look]
    columns: int
    slot: float

    @property
    def blocks(self) -> int:
        return -(-len(self.models) // self.columns)


def draw(table: pd.DataFrame, *, options: Options) -> Figure:
    """Draw `records.Heterogeneity` rows: estimates with their 95 % intervals.

    Three rows of panels a model: unique items, 1 − top-5 share, Shannon entropy in bits. An empty
    table gives a figure that says so.
    """
    why = why_empty(table, options)
    if why:
        return no_data(why, note=options.note)
    conditions = conditions_in(table, options)
    rows = rows_of(table[table["condition"].isin(conditions)])
    cells = {_Cell(r.model, r.metric, ItemKey(r.task, r.item_id), r.condition): r for r in rows}
    models = models_in(table, options)
    chosen = choose_items(
        _ordered(cells, models[0], options), options.items, at_most=options.max_items
    )
    if not chosen.items:
        return no_data("none of the items asked for is in the table", note=options.note)
    plan = _plan(models, chosen.items, looks(conditions, labels=options.condition_labels))
    figure = new_figure(height=_height(plan))
    _draw_panels(figure, cells, plan, options)
    notes = [options.note, chosen.remark]
    add_head(figure, handles=_handles(cells, plan), notes=notes)
    return figure


def _ordered(cells: Mapping[_Cell, Any], model: str, options: Options) -> list[ItemKey]:
    """Items by the baseline's entropy in `model`; those without one last, by name."""

    def place(item: ItemKey) -> tuple[bool, float, ItemKey]:
        row = cells.get(_Cell(model, "entropy_bits", item, options.baseline))
        value = None if row is None else number(row.estimate)
        return (value is None, value or 0.0, item)

    return sorted({cell.item for cell in cells}, key=place)


def _plan(models: list[str], items: list[ItemKey], shown: dict[str, Look]) -> _Plan:
    """As many models side by side as leave the conditions apart."""
    for columns in range(len(models), 0, -1):
        panel = (PAGE_WIDTH - 0.75 - 0.12 * (columns - 1)) / columns
        slot = panel * 72 * _DODGE / (len(items) * len(shown))
        if slot >= _NARROWEST_SLOT:
            break
    return _Plan(models, items, shown, columns, slot)


def _height(plan: _Plan) -> float:
    """Inches of the panels: rows share what titles, item names and legend leave of a page."""
    rows = plan.blocks * len(METRICS)
    names, titles, legend = 0.7, 0.35 * plan.blocks, 0.6
    row = min(1.35, (PAGE_HEIGHT - legend - names - titles) / rows)
    return rows * row + names + titles


def _handles(cells: Mapping[_Cell, Any], plan: _Plan) -> list[Any]:
    """One legend entry a condition, with the responses behind it."""
    entries = []
    for condition, look in plan.looks.items():
        counts = [
            row.n_responses
            for cell, row in cells.items()
            if cell.condition == condition and cell.item in plan.items
        ]
        entries.append(handle(look, f"{look.label} (n = {range_of(counts)})"))
    return entries


def _draw_panels(figure: Figure, cells: Mapping[_Cell, Any], plan: _Plan, options: Options) -> None:
    grid = figure.subplots(plan.blocks * len(METRICS), plan.columns, squeeze=False)
    for position in range(plan.blocks * plan.columns):
        block, column = divmod(position, plan.columns)
        panels = grid[block * len(METRICS) : (block + 1) * len(METRICS), column]
        if position >= len(plan.models):
            for panel in panels:
                panel.remove()
            continue
        model = plan.models[position]
        for metric, panel in zip(METRICS, panels, strict=True):
            _draw_panel(panel, cells, plan, model=model, metric=metric)
            _scale(panel, cells, plan, metric=metric, labelled=column == 0)
        panels[0].set_title(_title(cells, plan, model, options))
        if position + plan.columns >= len(plan.models):
            _name_items(panels[-1], plan, options)
    figure.supylabel("higher = more heterogeneous  →", color=_GREY)


def _title(cells: Mapping[_Cell, Any], plan: _Plan, model: str, options: Options) -> str:
    equal = range_of(
        row.n_equal
        for cell, row in cells.items()
        if cell.model == model and cell.item in plan.items and not pd.isna(row.estimate)
    )
    name = options.model_labels.get(model, model)
    gap = ", " if plan.columns == 1 else "\n"
    return f"{name}{gap}at equal n = {equal} a prompt" if equal else name


def _draw_panel(
    panel: Any, cells: Mapping[_Cell, Any], plan: _Plan, *, model: str, metric: str
) -> None:
    """Points and intervals of one model and measure."""
    for i in range(1, len(plan.items), 2):
        panel.axvspan(i - 0.5, i + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
    step = _DODGE / len(plan.looks)
    size = max(2.6, min(4.4, plan.slot - 0.3))
    absent: dict[int, list[float]] = {}
    for j, (condition, look) in enumerate(plan.looks.items()):
        shift = (j - (len(plan.looks) - 1) / 2) * step
        xs: list[float] = []
        ys: list[float] = []
        for i, item in enumerate(plan.items):
            row = cells.get(_Cell(model, metric, item, condition))
            if row is None:
                continue
            estimate = number(row.estimate)
            if estimate is None:
                absent.setdefault(i, []).append(i + shift)
                continue
            xs.append(i + shift)
            ys.append(estimate)
            _interval(panel, i + shift, row, look.colour)
        panel.plot(xs, ys, linestyle="none", label=look.label, **marker_style(look, size=size))
    for i, places in absent.items():
        _mark_absent(panel, i, places)


def _interval(panel: Any, x: float, row: Any, colour: str) -> None:
    low, high = number(row.ci_low), number(row.ci_high)
    if low is not None and high is not None:
        panel.vlines(x, low, high, color=colour, linewidth=0.8, zorder=1.5)


def _mark_absent(panel: Any, item: int, places: Sequence[float]) -> None:
    """One `n/a` an item, in the strip below zero, with a stroke at each condition it holds for."""
    across = panel.get_xaxis_transform()
    panel.vlines(places, 0.105, 0.15, color=_GREY, linewidth=0.8, transform=across)
    panel.text(
        item, 0.005, "n/a", ha="center", va="bottom", color=_GREY, fontsize=TEXT_POINTS,
        transform=across,
    )  # fmt: skip


def _scale(
    panel: Any, cells: Mapping[_Cell, Any], plan: _Plan, *, metric: str, labelled: bool
) -> None:
    """Axes from zero, equal for a measure in all models, with a strip below for `n/a` marks."""
    rows = [r for c, r in cells.items() if c.metric == metric and c.item in plan.items]
    ends = [number(v) for r in rows for v in (r.estimate, r.ci_high)]
    top = max((v for v in ends if v is not None), default=0.0) * 1.06 or 1.0
    strip = 0.22 if any(pd.isna(r.estimate) for r in rows) else 0.02
    panel.set_ylim(-strip * top, top)
    panel.set_xlim(-0.5, len(plan.items) - 0.5)
    ticks = MaxNLocator(nbins=4, integer=metric == "unique_items").tick_values(0, top)
    panel.set_yticks([tick for tick in ticks if 0 <= tick <= top])
    panel.set_xticks(range(len(plan.items)), [""] * len(plan.items))
    panel.tick_params(axis="x", length=0)
    if strip > 0.1:
        panel.axhline(0, color="#BBBBBB", linewidth=0.5, zorder=0.5)
    if labelled:
        panel.set_ylabel(_metric_label(metric))
    else:
        panel.tick_params(axis="y", labelleft=False)


def _metric_label(metric: str) -> str:
    match metric:
        case "unique_items":
            return "Unique\nitems"
        case "one_minus_top5_share":
            return "1 − top-5\nshare"
        case _:
            return "Entropy\n(bits)"


def _name_items(panel: Any, plan: _Plan, options: Options) -> None:
    """Item names under the lowest panel of a column, slanted where they would touch."""
    room = max(1, int(plan.slot * len(plan.looks) / _DODGE / (0.6 * TEXT_POINTS)))
    # upright only where as much of a name can be read as in a slanted one
    letters = max(_NAME_LINES * room, _SLANTED_LETTERS)
    names = item_names(plan.items, options.questions, letters=letters).values()
    upright = [textwrap.wrap(name, room, break_long_words=False) for name in names]
    at = range(len(plan.items))
    if all(len(lines) <= _NAME_LINES and max(map(len, lines)) <= room for lines in upright):
        panel.set_xticks(at, ["\n".join(lines) for lines in upright])
        return
    names = item_names(plan.items, options.questions, letters=_SLANTED_LETTERS).values()
    panel.set_xticks(at, [*names], rotation=40, ha="right", rotation_mode="anchor")
