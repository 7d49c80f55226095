"""The figure of tasks put otherwise: how scores fall, and how many answers change, row by row.

Owns the drawing of `records.Robustness`: a row of panels a model, a line a task, from the clean one down
through its variants in the study's order. Left are the scores, beside the clean score on the very
questions that the variant changed. Right are the answers that change, beside those that change when the
clean task is asked again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from fieldwork.figures.marks import PageMark, ends_of
from fieldwork.figures.panel import LINE, draw_points, name_places, offsets
from fieldwork.figures.selection import float_or_none, models_in, row_by, rows_to_draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    legend_entry,
    legend_line,
    new_figure,
    says_what_is_missing,
    styles_in,
)
from fieldwork.records.robustness import Robustness

TABLES = {"robustness": Robustness}

_LINE_HEIGHT = 0.2
_DODGE = 0.62


class TaskLine(NamedTuple):
    """A line of the figure: a task, as a variant of an origin or as the origin itself."""

    origin: str
    task: str

    @property
    def is_origin(self) -> bool:
        """Whether the task is the clean one."""
        return self.origin == self.task


Rows = Mapping[tuple[Any, ...], Any]
"""Rows of a model and condition by origin, task and metric."""


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw `records.Robustness` rows. A table without rows gives a figure that says so."""
    table = rows_to_draw(table, settings, "tasks put otherwise: ")
    lines, styles = _lines(table, settings), styles_in(table, settings)
    models = models_in(table, settings)
    height = 0.55 + _LINE_HEIGHT * len(lines) * max(1.0, len(styles) / 3)
    figure = new_figure(height=min(PAGE_HEIGHT - 0.6, height * len(models)))
    panels = figure.subplots(len(models), 2, squeeze=False, sharex="col", sharey=True)
    step = _DODGE / len(styles)
    for (scores, changes), model in zip(panels, models, strict=True):
        scores.set_title(settings.model_name(model), loc="left")
        for shift, (condition, style) in zip(
            offsets(len(styles), step), styles.items(), strict=True
        ):
            part = table[(table["model"] == model) & (table["condition"] == condition)]
            rows = row_by(part, "origin", "task", "metric")
            places = {line: place + shift for place, line in enumerate(lines)}
            _draw_scores(scores, rows, places, style, step)
            for line, y in places.items():
                rerun, change = _change(rows, line, style, "_rerun"), _change(rows, line, style)
                _draw_mark(changes, y, change, rerun, style, step)
        _name_lines(scores, lines)
        changes.tick_params(axis="y", length=0)
    panels[-1, 0].set_xlabel("Score (%)")
    panels[-1, 1].set_xlabel("Answers that change (%)")
    panels[-1, 1].set_xlim(left=0)
    reference = legend_line(
        "left: these questions, clean; right: clean, asked again", width=0.8, linestyle="none",
        marker="|", markeredgewidth=1.6, markersize=7,
    )  # fmt: skip
    bar = legend_line("95 % interval", width=0.8)
    handles = [*map(legend_entry, styles.values()), bar, reference]
    return add_head(figure, handles=handles, notes=[settings.note, _left_out(table)])


def _lines(table: pd.DataFrame, settings: FigureSettings) -> list[TaskLine]:
    """Each origin of the table, and below it its variants in the study's order."""
    origins = set(table["origin"])
    return [
        TaskLine(origin, task)
        for origin in dict.fromkeys(settings.variants.values())
        if origin in origins
        for task in (origin, *(one for one, of in settings.variants.items() if of == origin))
    ]


def _draw_scores(
    axes: Any, rows: Rows, places: Mapping[TaskLine, float], style: ConditionStyle, step: float
) -> None:
    for origin in dict.fromkeys(line.origin for line in places):
        own_lines = [line for line in places if line.origin == origin]
        marks = {line: _score(rows, line, own_lines, style) for line in own_lines}
        for line, mark in marks.items():
            clean = _mark(rows.get((*line, "accuracy_origin")), "Score", style)
            if mark is not None and clean is not None:
                # its length is the change: rows have other questions where some could not be changed
                ends = (clean.at_scale(clean.value), mark.at_scale(mark.value))
                axes.plot(ends, [places[line]] * 2, color=style.colour, linewidth=1.6, alpha=0.5)
            _draw_mark(axes, places[line], mark, clean if mark else None, style, step)
        if not any(marks.values()):
            middle = round(places[own_lines[0]]) + (len(own_lines) - 1) / 2
            axes.text(
                0.5, middle, "no score", ha="center", va="center", color=GREY,
                fontsize=TEXT_POINTS, transform=axes.get_yaxis_transform(),
            )  # fmt: skip


def _score(
    rows: Rows, line: TaskLine, own_lines: Sequence[TaskLine], style: ConditionStyle
) -> PageMark | None:
    """The score of a line; that of the origin is over the items of its fullest variant."""
    if not line.is_origin:
        return _mark(rows.get((*line, "accuracy")), "Score", style)
    clean = [rows.get((*one, "accuracy_origin")) for one in own_lines if not one.is_origin]
    fullest = max((r for r in clean if r is not None), key=lambda r: r.n_items, default=None)
    mark = _mark(fullest, "Score", style)
    return mark and replace(mark, task=line.task, label=f"{style.label}, {line.task}")


def _change(rows: Rows, line: TaskLine, style: ConditionStyle, ending: str = "") -> PageMark | None:
    """Share of letters that differ, or of a list's options that are not in both."""
    flips = _mark(rows.get((*line, f"flips{ending}")), "Letters that change", style)
    overlap = _mark(rows.get((*line, f"overlap{ending}")), "Options not in both", style)
    if flips is not None or overlap is None or overlap.value is None:
        return flips
    low, high = (None if end is None else 1 - end for end in (overlap.ci_high, overlap.ci_low))
    return replace(overlap, value=1 - overlap.value, ci_low=low, ci_high=high)


def _mark(row: Any, measure: str, style: ConditionStyle) -> PageMark | None:
    """What a panel shows of a row, in shares; None without a value."""
    if row is None or float_or_none(row.estimate) is None:
        return None
    return PageMark(
        measure=measure,
        label=f"{style.label}, {row.task}",
        **ends_of(row, "estimate"),
        scale=100,
        unit=" %",
        digits=1,
        model=row.model,
        condition=row.condition,
        base="counted",
        task=row.task,
    )


def _draw_mark(
    axes: Any,
    y: float,
    mark: PageMark | None,
    reference: PageMark | None,
    style: ConditionStyle,
    step: float,
) -> None:
    """A mark at its line, and a stroke through the line at what it stands beside."""
    if reference is not None and reference.value is not None:
        at = reference.scale * reference.value
        axes.vlines(at, y - step / 2, y + step / 2, color=GREY, linewidth=1.6, zorder=1)
    if mark is not None:
        draw_points(axes, [(y, mark)], style, is_upright=False, size=3.8)


def _name_lines(axes: Any, lines: Sequence[TaskLine]) -> None:
    names = [line.task if line.is_origin else f"{line.task}  " for line in lines]
    name_places(axes, names, is_upright=False, fontsize=TEXT_POINTS + 0.5)
    for place, (label, line) in enumerate(zip(axes.get_yticklabels(), lines, strict=True)):
        label.set_fontweight("bold" if line.is_origin else "normal")
        if line.is_origin and place:
            for panel in axes.figure.axes:
                panel.axhline(place - 0.5, color=LINE, linewidth=0.6)


def _left_out(table: pd.DataFrame) -> str | None:
    variants = table[table["task"] != table["origin"]]
    counts = variants.groupby("task")["n_left_out"].max()
    texts = [f"{int(n)} of {task}" for task, n in counts.items() if n]
    if not texts:
        return None
    return f"Questions that could not be changed are left out: {', '.join(texts)}."
