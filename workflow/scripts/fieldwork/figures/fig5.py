"""Figure 5: rarefaction curves, the distinct options to be expected among so many answers.

Owns the drawing of rows of the table `rarefaction`: for each model a panel for the mean over the
prompts and one a prompt, a curve a condition, with its marker where its answers end. All panels share
both axes. There are no intervals: none is reliable (docs/methods.md).
"""

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
    wrapped,
)

_GREY = "#555555"
_MOST_COLUMNS = 5
_NAME_LETTERS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about Figure 5."""

    items: Sequence[str] = ()
    """Item ids in their order; empty: all, by name."""
    max_items: int = 9
    """How many items are drawn where none are asked for by name."""


class _Cell(NamedTuple):
    """A curve; the item of a mean curve is empty."""

    model: str
    item_id: str
    condition: str


class _Plan(NamedTuple):
    """`panels` are the names of the items by their ids; the panel of the mean comes first."""

    models: list[str]
    panels: dict[str, str]
    looks: dict[str, Look]
    curves: Mapping[_Cell, list[Any]]

    @property
    def columns(self) -> int:
        """Panels side by side."""
        return min(_MOST_COLUMNS, len(self.panels))

    @property
    def rows(self) -> int:
        """Rows of panels a model."""
        return -(-len(self.panels) // self.columns)

    def title(self, item: str) -> str:
        """The name of an item in lines that its panel is wide enough for."""
        return wrapped(self.panels[item], inches=(PAGE_WIDTH - 1) / self.columns, points=8)


def draw(table: pd.DataFrame, *, options: Options) -> Figure:
    """Draw rows of `rarefaction`, which hold one task's list items.

    An empty table, or one without a curve, gives a figure that says so.
    """
    why = why_empty(table, options)
    if why:
        return no_data(why, note=options.note)
    conditions = conditions_in(table, options)
    rows = rows_of(table[table["condition"].isin(conditions)])
    if all(number(row.unique_items) is None for row in rows):
        return no_data(str(rows[0].reason), note=options.note)
    curves: dict[_Cell, list[Any]] = {}
    for row in rows:
        item = "" if pd.isna(row.item_id) else str(row.item_id)
        curves.setdefault(_Cell(row.model, item, row.condition), []).append(row)
    found = sorted({ItemKey(row.task, row.item_id) for row in rows if not pd.isna(row.item_id)})
    chosen = choose_items(found, options.items, at_most=options.max_items)
    shown = looks(conditions, labels=options.condition_labels)
    names = item_names(chosen.items, options.questions, letters=_NAME_LETTERS)
    panels = {"": "", **{item.item_id: name for item, name in names.items()}}
    plan = _Plan(models_in(table, options), panels, shown, curves)
    figure = new_figure(height=_height(plan))
    _draw_panels(figure, plan, options)
    add_head(figure, handles=_handles(plan), notes=[options.note, chosen.remark])
    return figure


def _height(plan: _Plan) -> float:
    rows = plan.rows * len(plan.models)
    names = 0.25 * len(plan.models)
    more_lines = max(plan.title(item).count("\n") for item in plan.panels)
    return min((1.5 + 0.13 * more_lines) * rows, PAGE_HEIGHT - 0.9 - names) + 0.3 + names


def _handles(plan: _Plan) -> list[Any]:
    """One legend entry a condition, with the answers to a prompt behind it."""
    entries = []
    for condition, look in plan.looks.items():
        counts = [
            curve[0].n_responses
            for cell, curve in plan.curves.items()
            if cell.condition == condition and cell.item_id
        ]
        mark = handle(look, f"{look.label} (n = {range_of(counts) or 0})")
        mark.set(linestyle=_line(look), color=look.colour)
        entries.append(mark)
    return entries


def _draw_panels(figure: Figure, plan: _Plan, options: Options) -> None:
    grid = figure.subplots(plan.rows * len(plan.models), plan.columns, squeeze=False, sharey=True)
    rows = [row for curve in plan.curves.values() for row in curve]
    right = max(row.n_answers for row in rows)
    top = max(value for row in rows if (value := number(row.unique_items)) is not None)
    for block, model in enumerate(plan.models):
        for position in range(plan.rows * plan.columns):
            line, column = divmod(position, plan.columns)
            axes = grid[block * plan.rows + line, column]
            if position >= len(plan.panels):
                axes.remove()
                continue
            _draw_panel(axes, plan, model, [*plan.panels][position])
            _scale(axes, right, top, named=position + plan.columns >= len(plan.panels))
        if len(plan.models) > 1 or options.model_labels.get(model):
            lines = max(plan.title(item).count("\n") for item in [*plan.panels][: plan.columns])
            label = options.model_labels.get(model, model)
            _name_model(grid[block * plan.rows, 0], label, above=17 + 9 * lines)
    figure.supylabel("expected number of distinct options")
    figure.supxlabel("number of answers (a marker ends the data of a condition)")


def _draw_panel(axes: Any, plan: _Plan, model: str, item: str) -> None:
    missing = []
    ends = set()
    for condition, look in plan.looks.items():
        curve = plan.curves.get(_Cell(model, item, condition), [])
        points = [row for row in curve if number(row.unique_items) is not None]
        if not points:
            missing += [look.label] if curve else []
            continue
        xs, ys = [row.n_answers for row in points], [row.unique_items for row in points]
        ends.add(xs[-1])
        axes.plot(xs, ys, color=look.colour, linestyle=_line(look), linewidth=1.0)
        axes.plot(
            xs[-1:], ys[-1:], linestyle="none", label=look.label, clip_on=False, zorder=3,
            **marker_style(look, size=3.6),
        )  # fmt: skip
    if len(ends) > 1:
        axes.axvline(min(ends), color="#999999", linewidth=0.6, linestyle=":", zorder=0.5)
    if missing:
        told = wrapped("n/a: " + ", ".join(missing), inches=(PAGE_WIDTH - 1) / plan.columns)
        axes.text(
            0.98, 0.03, told, ha="right", va="bottom", color=_GREY, fontsize=TEXT_POINTS,
            transform=axes.transAxes,
        )  # fmt: skip
    _title(axes, plan, model, item)


def _title(axes: Any, plan: _Plan, model: str, item: str) -> None:
    if item:
        axes.set_title(plan.title(item))
        return
    means = [curve[0].n_items for cell, curve in plan.curves.items() if cell[:2] == (model, "")]
    axes.set_title(f"mean of {range_of(means) or 0} prompts", fontweight="bold")


def _line(look: Look) -> str:
    """Conditions of one colour differ in their line as in their marker."""
    return "-" if look.filled else "--"


def _scale(axes: Any, right: int, top: float, *, named: bool) -> None:
    axes.set_xlim(0, right * 1.04)
    axes.set_ylim(0, top * 1.06)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10], integer=True))
    axes.tick_params(axis="x", labelbottom=named)


def _name_model(axes: Any, name: str, *, above: float) -> None:
    """A model's name, `above` its panels by so many points."""
    axes.annotate(
        name, (0, 1), xycoords="axes fraction", xytext=(0, above), textcoords="offset points",
        ha="left", va="bottom", fontweight="bold", fontsize=TEXT_POINTS + 1,
        annotation_clip=False,
    )  # fmt: skip
