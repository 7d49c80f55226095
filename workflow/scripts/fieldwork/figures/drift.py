"""The figure of waves: what each measure of the same questions is, wave after wave.

Owns the drawing of `records.Drift`: a panel a task and measure, a line a model (and series), over the
time of the waves. The first wave is where a line begins, and goes on as a thin line; rings are waves that
moved.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark
from fieldwork.figures.selection import absence_reason, float_or_none, models_in, rows_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    condition_styles,
    empty_figure,
    marker_arguments,
    new_figure,
)
from fieldwork.records.drift import Drift
from fieldwork.waves import read_wave

_COLUMNS = 3
_ROW_HEIGHT = 1.45
_MOST_TICKS = 4
_MOST_TASKS = 3
_DODGE = 0.012
_RING: Mapping[str, Any] = {
    "marker": "o",
    "markersize": 8.5,
    "markerfacecolor": "none",
    "markeredgewidth": 0.9,
}


class _PanelWords(NamedTuple):
    """What a panel is called, and how its values are printed; a distance has only a change."""

    title: str
    scale: float
    unit: str
    digits: int
    is_distance: bool = False


_PANELS: Mapping[str, _PanelWords] = {
    "accuracy": _PanelWords("Accuracy", 100, " %", 1),
    "letters": _PanelWords("Changed letters, less chance", 100, " %", 1, True),
    "options": _PanelWords("Changed options, less chance", 100, " %", 1, True),
    "length": _PanelWords("Length", 1, " words", 1),
    "refusals": _PanelWords("Refusals", 100, " %", 1),
    "format_failures": _PanelWords("Unreadable", 100, " %", 1),
    "latency": _PanelWords("Waiting time", 1, " s", 2),
}
"""The panels of a task, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftDrawing(FigureSettings):
    """Settings of this figure."""

    waves: Mapping[str, str] = field(default_factory=dict)
    """By condition the wave that it is, in order of time."""


class _MeasurePanel(NamedTuple):
    task: str
    measure: str

    @property
    def words(self) -> _PanelWords:
        return _PANELS[self.measure]


class _WaveLine(NamedTuple):
    """A model in one series of waves, which its first condition names."""

    model: str
    first_condition: str


class _WavePoint(NamedTuple):
    """What a line shows of a wave; `low` and `high` are the interval of the change beside its value."""

    wave: str
    condition: str
    value: float
    low: float | None = None
    high: float | None = None
    has_moved: bool = False
    n_answers: int = 0


TABLES = {"drift": Drift}
SETTINGS = DriftDrawing


def draw(table: pd.DataFrame, settings: DriftDrawing) -> Figure:
    """Draw `records.Drift` rows. A table without values gives a figure that says so."""
    reason = absence_reason(table, settings)
    if reason:
        return empty_figure(f"the same questions after a time: {reason}", settings)
    rows = [row for row in rows_of(table) if float_or_none(row.value) is not None]
    if not rows:
        return empty_figure("no question is answered in two waves", settings)
    tasks = _tasks(rows)
    panels = [panel for task in tasks[:_MOST_TASKS] for panel in _panels_of(rows, task)]
    styles = _line_styles(rows, table, settings)
    n_rows = len(panels) // _COLUMNS
    figure = new_figure(height=min(PAGE_HEIGHT - 0.6, _ROW_HEIGHT * n_rows))
    grid = figure.subplots(n_rows, _COLUMNS, squeeze=False)
    places = wave_places(settings.waves.values())
    for panel, axes in zip(panels, grid.ravel(), strict=True):
        if panel is None:
            axes.set_axis_off()
            continue
        for number, (line, style) in enumerate(styles.items()):
            shift = _DODGE * (max(places.values()) - min(places.values()))
            dodge = shift * (number - (len(styles) - 1) / 2)
            days = {wave: day + dodge for wave, day in places.items()}
            _draw_line(axes, _points(rows, line, panel), days, style, line, panel)
        _name_panel(axes, panel, places, has_task=len(tasks) > 1)
    note = (
        f"Only {_MOST_TASKS} of {len(tasks)} tasks are drawn, those that moved first; the table has all."
        if len(tasks) > _MOST_TASKS
        else None
    )
    add_head(figure, handles=_handles(styles), notes=[settings.note, note])
    return figure


def _tasks(rows: Sequence[Any]) -> list[str]:
    """The tasks with values, those of which something moved before the others."""
    moved_tasks = {row.task for row in rows if not pd.isna(row.has_moved) and row.has_moved}
    return sorted({row.task for row in rows}, key=lambda task: (task not in moved_tasks, task))


def _panels_of(rows: Sequence[Any], task: str) -> list[_MeasurePanel | None]:
    """The panels of a task in full rows, None for a place that stays empty."""
    measures = {row.measure for row in rows if row.task == task}
    panels: list[_MeasurePanel | None] = [
        _MeasurePanel(task, name) for name in _PANELS if name in measures
    ]
    return panels + [None] * (-len(panels) % _COLUMNS)


def wave_places(waves: Iterable[str]) -> dict[str, float]:
    """Where waves stand in time, in days: each by its first day."""
    return {name: float(read_wave(name).start.toordinal()) for name in sorted(set(waves))}


def _line_styles(
    rows: Sequence[Any], table: pd.DataFrame, settings: DriftDrawing
) -> dict[_WaveLine, ConditionStyle]:
    """The lines, by model; a series is named where there are several."""
    firsts = dict.fromkeys(row.first_condition for row in rows)
    lines = [
        _WaveLine(model, first)
        for model in models_in(table, settings)
        for first in firsts
        if any((row.model, row.first_condition) == (model, first) for row in rows)
    ]
    labels = {}
    for line in lines:
        series = settings.condition_labels.get(line.first_condition, line.first_condition)
        suffix = f", {series} and later" if len(firsts) > 1 else ""
        labels[str(line)] = f"{settings.model_name(line.model)}{suffix}"
    styles = condition_styles([*labels], labels=labels)
    return {line: styles[str(line)] for line in lines}


def _points(rows: Sequence[Any], line: _WaveLine, panel: _MeasurePanel) -> list[_WavePoint]:
    """The first wave, and each later one with a value, in order of time."""
    line_rows = sorted(
        (
            row
            for row in rows
            if (row.model, row.first_condition, row.task, row.measure) == (*line, *panel)
        ),
        key=lambda row: row.wave,
    )
    if not line_rows:
        return []
    is_distance, highest = panel.words.is_distance, 1.0 if panel.words.scale > 1 else math.inf
    points = [
        _WavePoint(
            line_rows[0].first_wave,
            line.first_condition,
            0.0 if is_distance else float(line_rows[0].first_value),
            n_answers=int(line_rows[0].n_first_answers),
        )
    ]
    for row in line_rows:
        value, change = (float(number) for number in (row.value, row.change))
        low, high = float_or_none(row.ci_low), float_or_none(row.ci_high)
        points.append(
            _WavePoint(
                row.wave,
                row.condition,
                change if is_distance else value,
                None if low is None else max(0.0, value - change + low),
                None if high is None else min(highest, value - change + high),
                not pd.isna(row.has_moved) and bool(row.has_moved),
                int(row.n_answers),
            )
        )
    return points


def _draw_line(
    axes: Any,
    points: Sequence[_WavePoint],
    places: Mapping[str, float],
    style: ConditionStyle,
    line: _WaveLine,
    panel: _MeasurePanel,
) -> None:
    if not points:
        return
    words, task = panel.words, panel.task
    x = [places[point.wave] for point in points]
    y = [words.scale * point.value for point in points]
    axes.axhline(y[0], color=style.colour, linewidth=0.5, alpha=0.6, zorder=1)
    axes.plot(x, y, color=style.colour, linewidth=0.8, zorder=1.8)
    axes.plot(x, y, linestyle="none", zorder=2, **marker_arguments(style, size=3.4))
    for place, height, point in zip(x, y, points, strict=True):
        span = [height]
        if point.low is not None and point.high is not None:
            span = [words.scale * point.low, words.scale * point.high]
            axes.vlines(place, *span, color=style.colour, linewidth=0.7, alpha=0.7, zorder=1.5)
        if point.has_moved:
            axes.plot(
                [place], [height], linestyle="none", markeredgecolor="black", zorder=2.2, **_RING
            )
        caption = MarkedValue(
            measure=words.title,
            value=point.value,
            ci_low=point.low,
            ci_high=point.high,
            scale=words.scale,
            unit=words.unit,
            digits=words.digits,
            label=f"{style.label}, {task}, {point.wave}" + (", moved" if point.has_moved else ""),
        )
        answers = MarkedAnswers(
            model=line.model, condition=point.condition, base="counted", task=task
        )
        add_mark(axes, place, (min(span), max(span)), caption, answers)


def _name_panel(
    axes: Any, panel: _MeasurePanel, places: Mapping[str, float], *, has_task: bool
) -> None:
    words = panel.words
    name = f"{words.title} ({words.unit.strip()})"
    axes.set_title(f"{panel.task}:\n{name}" if has_task else name, loc="left", fontsize=TEXT_POINTS)
    waves = [*places]
    step = -(-len(waves) // _MOST_TICKS)
    ticks = waves[::step]
    axes.set_xticks([places[wave] for wave in ticks], ticks)
    low, high = min(places.values()), max(places.values())
    margin = 0.12 * (high - low) or 1.0
    axes.set_xlim(low - margin, high + margin)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
    # rings stay whole
    axes.margins(y=0.14)
    bottom, top = axes.get_ylim()
    # a panel in which hardly anything moves is not drawn as if much did
    least_reach = {100.0: 4.0, 1.0: 0.2 * max(abs(bottom), abs(top))}[words.scale]
    if top - bottom < least_reach:
        middle = (bottom + top) / 2
        axes.set_ylim(middle - least_reach / 2, middle + least_reach / 2)


def _handles(styles: Mapping[_WaveLine, ConditionStyle]) -> list[Any]:
    lines = [
        Line2D([], [], color=s.colour, linewidth=0.8, label=s.label, **marker_arguments(s, size=4))
        for s in styles.values()
    ]
    ring = Line2D(
        [], [], linestyle="none", markeredgecolor="black", label="moved beyond chance", **_RING
    )
    bar = Line2D([], [], color=GREY, linewidth=0.7, label="95 % interval of the change, alone")
    first = Line2D([], [], color=GREY, linewidth=0.5, alpha=0.6, label="the first wave")
    return [*lines, ring, bar, first]
