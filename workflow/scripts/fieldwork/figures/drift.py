"""The figure of waves: what each measure of the same questions is, wave after wave.

Owns the drawing of `records.Drift`: a panel a task and measure, a line a model (and series), over the
time of the waves. The first wave is where a line begins, and goes on as a thin line; rings are waves that
moved.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.marks import PageMark
from fieldwork.figures.panel import Panel, draw_page, draw_points, offsets
from fieldwork.figures.selection import (
    NothingToDrawError,
    float_or_none,
    models_in,
    rows_by,
    rows_to_draw,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    PAGE_HEIGHT,
    TEXT_POINTS,
    ConditionStyle,
    condition_styles,
    legend_line,
    marker_arguments,
    says_what_is_missing,
)
from fieldwork.records.drift import Drift
from fieldwork.waves import read_wave

TABLES = {"drift": Drift}

_COLUMNS = 3
_ROW_HEIGHT = 1.45
_MOST_TICKS = 4
_MOST_TASKS = 3
_DODGE = 0.012
_RING: Mapping[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 8.5,
    "markerfacecolor": "none",
    "markeredgewidth": 0.9,
    "markeredgecolor": "black",
}


class WaveMeasure(NamedTuple):
    """What a panel is called, and how its values are printed; a distance has only a change."""

    title: str
    scale: float
    unit: str
    digits: int
    is_distance: bool = False


MEASURES: Mapping[str, WaveMeasure] = {
    "accuracy": WaveMeasure("Accuracy", 100, " %", 1),
    "letters": WaveMeasure("Changed letters, less chance", 100, " %", 1, True),
    "options": WaveMeasure("Changed options, less chance", 100, " %", 1, True),
    "length": WaveMeasure("Length", 1, " words", 1),
    "refusals": WaveMeasure("Refusals", 100, " %", 1),
    "format_failures": WaveMeasure("Unreadable", 100, " %", 1),
    "latency": WaveMeasure("Waiting time", 1, " s", 2),
}
"""The panels of a task, in their order."""


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw `records.Drift` rows. A table without values gives a figure that says so."""
    rows_to_draw(table, settings, "the same questions after a time: ")
    # with the waves between the first and the last, which are no conditions of other figures
    table = table[table["value"].notna()]
    if table.empty:
        raise NothingToDrawError("no question is answered in two waves")
    moved_tasks = set(table.loc[table["has_moved"].map(_is_true), "task"])
    # those of which something moved before the others
    tasks = sorted(set(table["task"]), key=lambda task: (task not in moved_tasks, task))
    lines = rows_by(table, "task", "measure", "model", "first_condition")
    styles = _line_styles(table, settings)
    places = wave_places(settings.waves.values())
    ticks = [*places][:: -(-len(places) // _MOST_TICKS)]
    page: list[list[Panel | None]] = []
    for task in tasks[:_MOST_TASKS]:
        names = [name for name in MEASURES if any(key[:2] == (task, name) for key in lines)]
        panels: list[Panel | None] = []
        for name in names:
            title = f"{MEASURES[name].title} ({MEASURES[name].unit.strip()})"
            rows = {line: lines.get((task, name, *line), []) for line in styles}
            panels.append(
                Panel(
                    title=f"{task}:\n{title}" if len(tasks) > 1 else title,
                    title_look={"loc": "left", "fontsize": TEXT_POINTS},
                    axes={"xticks": [places[wave] for wave in ticks], "xticklabels": ticks},
                    further=partial(_draw_lines, rows=rows, styles=styles, places=places),
                )
            )
        page += [panels[k : k + _COLUMNS] for k in range(0, len(panels), _COLUMNS)]
    page[0] += [None] * (_COLUMNS - len(page[0]))
    note = (
        f"Only {_MOST_TASKS} of {len(tasks)} tasks are drawn, those that moved first; the table has all."
        if len(tasks) > _MOST_TASKS
        else None
    )
    return draw_page(
        page,
        settings,
        height=min(PAGE_HEIGHT - 0.6, _ROW_HEIGHT * len(page)),
        handles=_handles(styles.values()),
        notes=[note],
    )


def _is_true(value: Any) -> bool:
    return not pd.isna(value) and bool(value)


def wave_places(waves: Iterable[str]) -> dict[str, float]:
    """Where waves stand in time, in days: each by its first day."""
    return {name: float(read_wave(name).start.toordinal()) for name in sorted(set(waves))}


def _line_styles(
    table: pd.DataFrame, settings: FigureSettings
) -> dict[tuple[str, str], ConditionStyle]:
    """The lines by model and first condition; a series is named where there are several."""
    firsts = dict.fromkeys(table["first_condition"])
    labels = {}
    for model in models_in(table, settings):
        for first in firsts:
            series = settings.condition_labels.get(first, first)
            suffix = f", {series} and later" if len(firsts) > 1 else ""
            if ((table["model"] == model) & (table["first_condition"] == first)).any():
                labels[model, first] = f"{settings.model_name(model)}{suffix}"
    names = [str(line) for line in labels]
    looks = condition_styles(names, labels=dict(zip(names, labels.values(), strict=True)))
    return dict(zip(labels, looks.values(), strict=True))


def _marks(rows: Sequence[Any], style: ConditionStyle) -> list[PageMark]:
    """The first wave, and each later one; their intervals are those of the change."""
    first, measure = rows[0], MEASURES[rows[0].measure]
    start = 0.0 if measure.is_distance else float(first.first_value)
    highest = 1.0 if measure.scale > 1 else math.inf
    common: dict[str, Any] = {
        "measure": measure.title,
        "scale": measure.scale,
        "unit": measure.unit,
        "digits": measure.digits,
        "model": first.model,
        "task": first.task,
        "base": "counted",
    }
    label = f"{style.label}, {first.task}"
    marks = [
        PageMark(
            **common,
            value=start,
            label=f"{label}, {first.first_wave}",
            condition=first.first_condition,
        )
    ]
    for row in rows:
        value, change = (float(number) for number in (row.value, row.change))
        low, high = float_or_none(row.ci_low), float_or_none(row.ci_high)
        marks.append(
            PageMark(
                **common,
                value=change if measure.is_distance else value,
                ci_low=None if low is None else max(0.0, value - change + low),
                ci_high=None if high is None else min(highest, value - change + high),
                label=f"{label}, {row.wave}" + (", moved" if _is_true(row.has_moved) else ""),
                condition=row.condition,
            )
        )
    return marks


def _draw_line(
    axes: Any, rows: Sequence[Any], places: Mapping[str, float], style: ConditionStyle
) -> None:
    marks = _marks(rows, style)
    x = [places[wave] for wave in (rows[0].first_wave, *(row.wave for row in rows))]
    y = [mark.at_scale(mark.value) for mark in marks]
    axes.axhline(y[0], color=style.colour, linewidth=0.5, alpha=0.6, zorder=1)
    axes.plot(x, y, color=style.colour, linewidth=0.8, zorder=1.8)
    points = zip(x, marks, strict=True)
    draw_points(axes, points, style, size=3.4, interval={"linewidth": 0.7, "alpha": 0.7})
    for at, height, row in zip(x[1:], y[1:], rows, strict=True):
        if _is_true(row.has_moved):
            axes.plot([at], [height], zorder=2.2, **_RING)


def _draw_lines(
    axes: Any,
    *,
    rows: Mapping[tuple[str, str], Sequence[Any]],
    styles: Mapping[tuple[str, str], ConditionStyle],
    places: Mapping[str, float],
) -> None:
    first, last = min(places.values()), max(places.values())
    shifts = offsets(len(styles), _DODGE * (last - first))
    for (line, style), shift in zip(styles.items(), shifts, strict=True):
        if rows[line]:
            days = {wave: day + shift for wave, day in places.items()}
            _draw_line(axes, sorted(rows[line], key=lambda row: row.wave), days, style)
    margin = 0.12 * (last - first) or 1.0
    axes.set_xlim(first - margin, last + margin)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
    # rings stay whole
    axes.margins(y=0.14)
    bottom, top = axes.get_ylim()
    scale = next(MEASURES[of[0].measure].scale for of in rows.values() if of)
    # a panel in which hardly anything moves is not drawn as if much did
    least_reach = 4.0 if scale > 1 else 0.2 * max(abs(bottom), abs(top))
    if top - bottom < least_reach:
        middle = (bottom + top) / 2
        axes.set_ylim(middle - least_reach / 2, middle + least_reach / 2)


def _handles(styles: Iterable[ConditionStyle]) -> list[Any]:
    lines = [
        legend_line(s.label, width=0.8, colour=s.colour, **marker_arguments(s, size=4))
        for s in styles
    ]
    return [
        *lines,
        Line2D([], [], label="moved beyond chance", **_RING),
        legend_line("95 % interval of the change, alone", width=0.7),
        legend_line("the first wave", width=0.5, alpha=0.6),
    ]
