"""Figure 5: rarefaction curves, the expected number of distinct options among so many answers.

Owns the drawing of `records.Rarefaction` rows. Each model has a panel for the mean over the prompts and
one per prompt, with a curve per condition and a marker where its answers end. All panels share both
axes. There are no intervals: none is reliable (docs/methods.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import question_names
from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark
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
    drawn_styles,
    empty_figure,
    legend_entry,
    marker_arguments,
    new_figure,
    wrap_text,
)
from fieldwork.records.metrics import Rarefaction
from fieldwork.records.shared import ItemKey

_MOST_COLUMNS = 5
_NAME_LETTERS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Fig5Settings(FigureSettings):
    """What a study decides about Figure 5."""

    max_items: int = 9
    """Most items; the first by name are drawn."""


class _RarefactionCurveKey(NamedTuple):
    """A curve; the item of a mean curve is empty."""

    model: str
    item_id: str
    condition: str


class _RarefactionLayout(NamedTuple):
    """`panels` are the names of the items by their ids; the panel of the mean comes first."""

    models: list[str]
    panels: dict[str, str]
    styles: dict[str, ConditionStyle]
    curves: Mapping[_RarefactionCurveKey, list[Any]]

    @property
    def columns(self) -> int:
        """Panels side by side."""
        return min(_MOST_COLUMNS, len(self.panels))

    @property
    def rows(self) -> int:
        """Rows of panels per model."""
        return -(-len(self.panels) // self.columns)

    def title(self, item: str) -> str:
        """The name of an item in lines that its panel is wide enough for."""
        return wrap_text(self.panels[item], inches=(PAGE_WIDTH - 1) / self.columns, points=8)


TABLES = {"rarefaction": Rarefaction}
SETTINGS = Fig5Settings


def draw(table: pd.DataFrame, settings: Fig5Settings) -> Figure:
    """Draw rows of `rarefaction`, which hold one task's list items.

    An empty table, or one without a curve, gives a figure that says so.
    """
    table = rows_of_task(table, settings)
    reason = absence_reason(table, settings)
    if reason:
        return empty_figure(reason, settings)
    conditions = conditions_in(table, settings)
    rows = rows_of(table[table["condition"].isin(conditions)])
    if all(float_or_none(row.unique_items) is None for row in rows):
        return empty_figure(str(rows[0].reason), settings)
    curves: dict[_RarefactionCurveKey, list[Any]] = {}
    for row in rows:
        item = "" if pd.isna(row.item_id) else str(row.item_id)
        curves.setdefault(_RarefactionCurveKey(row.model, item, row.condition), []).append(row)
    item_keys = sorted({ItemKey(row.task, row.item_id) for row in rows if not pd.isna(row.item_id)})
    selection = select_items(item_keys, at_most=settings.max_items)
    styles = drawn_styles(conditions, settings)
    names = question_names(selection.items, settings.questions, letters=_NAME_LETTERS)
    panels = {"": "", **{item.item_id: name for item, name in names.items()}}
    layout = _RarefactionLayout(models_in(table, settings), panels, styles, curves)
    figure = new_figure(height=_height(layout))
    _draw_panels(figure, layout, settings)
    add_head(figure, handles=_handles(layout), notes=[settings.note, selection.remark])
    return figure


def _height(layout: _RarefactionLayout) -> float:
    rows = layout.rows * len(layout.models)
    names = 0.25 * len(layout.models)
    more_lines = max(layout.title(item).count("\n") for item in layout.panels)
    return min((1.5 + 0.13 * more_lines) * rows, PAGE_HEIGHT - 0.9 - names) + 0.3 + names


def _handles(layout: _RarefactionLayout) -> list[Any]:
    """One legend entry per condition, with its number of answers to a prompt."""
    entries = []
    for condition, style in layout.styles.items():
        counts = [
            curve[0].n_responses
            for key, curve in layout.curves.items()
            if key.condition == condition and key.item_id
        ]
        mark = legend_entry(style, f"{style.label} (n = {range_of(counts) or 0})")
        mark.set(linestyle=_line(style), color=style.colour)
        entries.append(mark)
    return entries


def _draw_panels(figure: Figure, layout: _RarefactionLayout, settings: Fig5Settings) -> None:
    grid = figure.subplots(
        layout.rows * len(layout.models), layout.columns, squeeze=False, sharey=True
    )
    rows = [row for curve in layout.curves.values() for row in curve]
    right = max(row.n_answers for row in rows)
    top = max(value for row in rows if (value := float_or_none(row.unique_items)) is not None)
    for block, model in enumerate(layout.models):
        for position in range(layout.rows * layout.columns):
            line, column = divmod(position, layout.columns)
            axes = grid[block * layout.rows + line, column]
            if position >= len(layout.panels):
                axes.remove()
                continue
            _draw_panel(axes, layout, model, [*layout.panels][position])
            _scale(
                axes, right, top, has_tick_labels=position + layout.columns >= len(layout.panels)
            )
        if len(layout.models) > 1 or settings.model_labels.get(model):
            lines = max(
                layout.title(item).count("\n") for item in [*layout.panels][: layout.columns]
            )
            label = settings.model_name(model)
            _name_model(grid[block * layout.rows, 0], label, above=17 + 9 * lines)
    figure.supylabel("expected number of distinct options")
    figure.supxlabel("number of answers (a marker shows where the answers of a condition end)")


def _draw_panel(axes: Any, layout: _RarefactionLayout, model: str, item: str) -> None:
    missing = []
    ends = set()
    for condition, style in layout.styles.items():
        curve = layout.curves.get(_RarefactionCurveKey(model, item, condition), [])
        points = [row for row in curve if float_or_none(row.unique_items) is not None]
        if not points:
            missing += [style.label] if curve else []
            continue
        xs, ys = [row.n_answers for row in points], [row.unique_items for row in points]
        ends.add(xs[-1])
        axes.plot(xs, ys, color=style.colour, linestyle=_line(style), linewidth=1.0)
        axes.plot(
            xs[-1:], ys[-1:], linestyle="none", label=style.label, clip_on=False, zorder=3,
            **marker_arguments(style, size=3.6),
        )  # fmt: skip
        _mark_end(axes, points[-1], style)
    if len(ends) > 1:
        axes.axvline(min(ends), color="#999999", linewidth=0.6, linestyle=":", zorder=0.5)
    if missing:
        text = wrap_text("n/a: " + ", ".join(missing), inches=(PAGE_WIDTH - 1) / layout.columns)
        axes.text(
            0.98, 0.03, text, ha="right", va="bottom", color=GREY, fontsize=TEXT_POINTS,
            transform=axes.transAxes,
        )  # fmt: skip
    _title(axes, layout, model, item)


def _mark_end(axes: Any, row: Any, style: ConditionStyle) -> None:
    """The end of a curve; the mean's is of all its prompts, at the fewest answers among them."""
    item = None if pd.isna(row.item_id) else str(row.item_id)
    caption = MarkedValue(
        measure=f"Distinct options among {row.n_answers} answers, {item or 'mean of prompts'}",
        label=style.label,
        value=float(row.unique_items),
        digits=1,
    )
    answers = MarkedAnswers(
        model=row.model,
        task=row.task,
        item_id=item,
        condition=row.condition,
        kind="list",
        base="first",
        n=int(row.n_responses) if item else None,
    )
    add_mark(axes, row.n_answers, row.unique_items, caption, answers)


def _title(axes: Any, layout: _RarefactionLayout, model: str, item: str) -> None:
    if item:
        axes.set_title(layout.title(item))
        return
    means = [curve[0].n_items for key, curve in layout.curves.items() if key[:2] == (model, "")]
    axes.set_title(f"mean of {range_of(means) or 0} prompts", fontweight="bold")


def _line(style: ConditionStyle) -> str:
    """Conditions of one colour differ in their line as in their marker."""
    return "-" if style.is_filled else "--"


def _scale(axes: Any, right: int, top: float, *, has_tick_labels: bool) -> None:
    axes.set_xlim(0, right * 1.04)
    axes.set_ylim(0, top * 1.06)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10], integer=True))
    axes.tick_params(axis="x", labelbottom=has_tick_labels)


def _name_model(axes: Any, name: str, *, above: float) -> None:
    """A model's name, `above` its panels by so many points."""
    axes.annotate(
        name, (0, 1), xycoords="axes fraction", xytext=(0, above), textcoords="offset points",
        ha="left", va="bottom", fontweight="bold", fontsize=TEXT_POINTS + 1,
        annotation_clip=False,
    )  # fmt: skip
