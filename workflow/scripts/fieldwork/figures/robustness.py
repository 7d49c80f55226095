"""The figure of tasks put otherwise: how scores fall, and how many answers change, row by row.

Owns the drawing of `records.Robustness`: a row of panels a model, a line a task, from the clean one down
through its variants in the study's order. Left are the scores, beside the clean score on the very
questions that the variant changed. Right are the answers that change, beside those that change when the
clean task is asked again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark
from fieldwork.figures.selection import (
    absence_reason,
    conditions_in,
    float_or_none,
    models_in,
    rows_of,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    drawn_styles,
    empty_figure,
    legend_entry,
    marker_arguments,
    new_figure,
)
from fieldwork.records.robustness import Robustness

_LINE_HEIGHT = 0.2
_DODGE = 0.62


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessDrawing(FigureSettings):
    """Settings of this figure."""

    variants: Mapping[str, str] = field(default_factory=dict)
    """By each variant, in the study's order, the task that it is put otherwise."""


class _Line(NamedTuple):
    """A line of the figure: a task, as a variant of an origin or as the origin itself."""

    origin: str
    task: str

    @property
    def is_origin(self) -> bool:
        return self.origin == self.task


class _Place(NamedTuple):
    model: str
    condition: str
    line: _Line


class _RobustnessLayout(NamedTuple):
    lines: list[_Line]
    styles: Mapping[str, ConditionStyle]
    values: Mapping[tuple[_Place, str], Any]


class _RobustnessValue(NamedTuple):
    """What a panel shows of a line, as a share."""

    value: float
    low: float | None
    high: float | None
    name: str
    n_items: int


TABLES = {"robustness": Robustness}
SETTINGS = RobustnessDrawing


def draw(table: pd.DataFrame, settings: RobustnessDrawing) -> Figure:
    """Draw `records.Robustness` rows. A table without rows gives a figure that says so."""
    reason = absence_reason(table, settings)
    if reason:
        return empty_figure(f"tasks put otherwise: {reason}", settings)
    layout = _lay_out(table, settings)
    models = models_in(table, settings)
    height = 0.55 + _LINE_HEIGHT * len(layout.lines) * max(1.0, len(layout.styles) / 3)
    figure = new_figure(height=min(PAGE_HEIGHT - 0.6, height * len(models)))
    panels = figure.subplots(len(models), 2, squeeze=False, sharex="col", sharey=True)
    for (scores, changes), model in zip(panels, models, strict=True):
        scores.set_title(settings.model_name(model), loc="left")
        for condition, style in layout.styles.items():
            _draw_scores(scores, layout, model, condition, style)
            _draw_changes(changes, layout, model, condition, style)
        _name_lines(scores, layout)
        changes.tick_params(axis="y", length=0)
    panels[-1, 0].set_xlabel("Score (%)")
    panels[-1, 1].set_xlabel("Answers that change (%)")
    panels[-1, 1].set_xlim(left=0)
    add_head(figure, handles=_handles(layout), notes=[settings.note, _left_out(table)])
    return figure


def _lay_out(table: pd.DataFrame, settings: RobustnessDrawing) -> _RobustnessLayout:
    conditions = conditions_in(table, settings)
    origins = set(table["origin"])
    lines: list[_Line] = []
    for origin in dict.fromkeys(one for one in settings.variants.values() if one in origins):
        tasks = [task for task, one in settings.variants.items() if one == origin]
        lines += [_Line(origin, origin), *(_Line(origin, task) for task in tasks)]
    values = {
        (_Place(row.model, row.condition, _Line(row.origin, row.task)), row.metric): row
        for row in rows_of(table)
    }
    return _RobustnessLayout(lines, drawn_styles(conditions, settings), values)


def _draw_scores(
    panel: Any, layout: _RobustnessLayout, model: str, condition: str, style: ConditionStyle
) -> None:
    shift = _shift(layout, condition)
    for lines in _blocks(layout):
        measures = {line: _score(layout, _Place(model, condition, line)) for line in lines}
        for line, measure in measures.items():
            if measure is None:
                continue
            y, place = layout.lines.index(line) + shift, _Place(model, condition, line)
            clean = _measure(layout.values.get((place, "accuracy_origin")), "Score")
            if clean is not None:
                _draw_reference(panel, y, clean, layout)
                # its length is the change: rows have other questions where some could not be changed
                ends = (100 * clean.value, 100 * measure.value)
                panel.plot(ends, [y, y], color=style.colour, linewidth=1.6, alpha=0.5)
            _draw_measure(panel, y, measure, style)
            _mark(panel, y, measure, place, style)
        if not any(measures.values()):
            middle = layout.lines.index(lines[0]) + (len(lines) - 1) / 2
            panel.text(
                0.5, middle, "no score", ha="center", va="center", color=GREY,
                fontsize=TEXT_POINTS, transform=panel.get_yaxis_transform(),
            )  # fmt: skip


def _score(layout: _RobustnessLayout, cell: _Place) -> _RobustnessValue | None:
    """The score of a line; that of the origin is over the items of its fullest variant."""
    if not cell.line.is_origin:
        return _measure(layout.values.get((cell, "accuracy")), "Score")
    rows = [
        layout.values.get((cell._replace(line=line), "accuracy_origin"))
        for line in layout.lines
        if line.origin == cell.line.origin and not line.is_origin
    ]
    fullest = max((row for row in rows if row is not None), key=lambda r: r.n_items, default=None)
    return _measure(fullest, "Score")


def _draw_changes(
    panel: Any, layout: _RobustnessLayout, model: str, condition: str, style: ConditionStyle
) -> None:
    shift = _shift(layout, condition)
    for number, line in enumerate(layout.lines):
        cell = _Place(model, condition, line)
        y = number + shift
        rerun = _change(layout, cell, "_rerun")
        if rerun is not None:
            _draw_reference(panel, y, rerun, layout)
        change = _change(layout, cell, "")
        if change is not None:
            _draw_measure(panel, y, change, style)
            _mark(panel, y, change, cell, style)


def _change(layout: _RobustnessLayout, cell: _Place, ending: str) -> _RobustnessValue | None:
    """Share of letters that differ, or of a list's options that are not in both."""
    flips = _measure(layout.values.get((cell, f"flips{ending}")), "Letters that change")
    overlap = _measure(layout.values.get((cell, f"overlap{ending}")), "Options not in both")
    if flips is not None or overlap is None:
        return flips
    low, high = overlap.high, overlap.low
    return overlap._replace(
        value=1 - overlap.value,
        low=None if low is None else 1 - low,
        high=None if high is None else 1 - high,
    )


def _measure(row: Any, name: str) -> _RobustnessValue | None:
    value = float_or_none(row.estimate) if row is not None else None
    if value is None:
        return None
    low, high = float_or_none(row.ci_low), float_or_none(row.ci_high)
    return _RobustnessValue(value, low, high, name, int(row.n_items))


def _draw_reference(
    panel: Any, y: float, measure: _RobustnessValue, layout: _RobustnessLayout
) -> None:
    half = _DODGE / len(layout.styles) / 2
    panel.vlines(100 * measure.value, y - half, y + half, color=GREY, linewidth=1.6, zorder=1)


def _draw_measure(panel: Any, y: float, measure: _RobustnessValue, style: ConditionStyle) -> None:
    if measure.low is not None and measure.high is not None:
        ends = (100 * measure.low, 100 * measure.high)
        panel.hlines(y, *ends, color=style.colour, linewidth=0.8, zorder=1.5)
    x = 100 * measure.value
    panel.plot([x], [y], linestyle="none", zorder=2, **marker_arguments(style, size=3.8))


def _mark(
    panel: Any, y: float, measure: _RobustnessValue, cell: _Place, style: ConditionStyle
) -> None:
    caption = MarkedValue(
        measure=measure.name,
        value=measure.value,
        ci_low=measure.low,
        ci_high=measure.high,
        scale=100,
        unit=" %",
        digits=1,
        label=f"{style.label}, {cell.line.task}",
    )
    answers = MarkedAnswers(
        model=cell.model, condition=cell.condition, base="counted", task=cell.line.task
    )
    ends = [end for end in (measure.value, measure.low, measure.high) if end is not None]
    add_mark(panel, (100 * min(ends), 100 * max(ends)), y, caption, answers)


def _shift(layout: _RobustnessLayout, condition: str) -> float:
    n = len(layout.styles)
    return ([*layout.styles].index(condition) - (n - 1) / 2) * _DODGE / n


def _blocks(layout: _RobustnessLayout) -> Iterator[Sequence[_Line]]:
    """The lines of each origin."""
    for origin in dict.fromkeys(line.origin for line in layout.lines):
        yield [line for line in layout.lines if line.origin == origin]


def _name_lines(panel: Any, layout: _RobustnessLayout) -> None:
    names = [line.task if line.is_origin else f"{line.task}  " for line in layout.lines]
    panel.set_yticks(range(len(names)), names)
    for label, line in zip(panel.get_yticklabels(), layout.lines, strict=True):
        label.set_fontweight("bold" if line.is_origin else "normal")
        label.set_fontsize(TEXT_POINTS + 0.5)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(len(names) - 0.5, -0.5)
    for number, line in enumerate(layout.lines):
        if line.is_origin and number:
            for axes in panel.figure.axes:
                axes.axhline(number - 0.5, color="#BBBBBB", linewidth=0.6)


def _left_out(table: pd.DataFrame) -> str | None:
    variants = table[table["task"] != table["origin"]]
    counts = variants.groupby("task")["n_left_out"].max()
    texts = [f"{int(n)} of {task}" for task, n in counts.items() if n]
    if not texts:
        return None
    return f"Questions that could not be changed are left out: {', '.join(texts)}."


def _handles(layout: _RobustnessLayout) -> list[Any]:
    bar = Line2D([], [], color=GREY, linewidth=0.8, label="95 % interval")
    reference = Line2D(
        [], [], color=GREY, linestyle="none", marker="|", markeredgewidth=1.6, markersize=7,
        label="left: these questions, clean; right: clean, asked again",
    )  # fmt: skip
    return [*(legend_entry(style, style.label) for style in layout.styles.values()), bar, reference]
