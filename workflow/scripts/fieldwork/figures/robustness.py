"""The figure of tasks put otherwise: how scores fall, and how many answers change, row by row.

Owns the drawing of `records.Robustness`: a row of panels a model, a line a task, from the clean one down
through its variants in the study's order. Left are the scores, beside the clean score on the very
questions that the variant changed. Right are the answers that change, beside those that change when the
clean task is asked again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from fieldwork.figures.marks import PageMark, ends_of
from fieldwork.figures.panel import LINE, Panel, dodge, draw_page
from fieldwork.figures.selection import float_or_none, models_in, row_by, rows_to_draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    TEXT_POINTS,
    ConditionStyle,
    legend_entry,
    legend_line,
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


class PlacedMark(NamedTuple):
    """What a line shows of a condition: a mark at its place, and what it stands beside."""

    y: float
    mark: PageMark | None
    reference: PageMark | None


Series = Sequence[tuple[ConditionStyle, Sequence[PlacedMark]]]
"""The conditions of a panel, each with what all lines show of it."""

Rows = Mapping[tuple[Any, ...], Any]
"""Rows of a model and condition by origin, task and metric."""


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw `records.Robustness` rows. A table without rows gives a figure that says so."""
    table = rows_to_draw(table, settings, "tasks put otherwise: ")
    lines, styles = _lines(table, settings), styles_in(table, settings)
    models, step = models_in(table, settings), _DODGE / len(styles)
    names = [line.task if line.is_origin else f"{line.task}  " for line in lines]
    origins = [place for place, line in enumerate(lines) if line.is_origin]
    page: list[list[Panel]] = []
    for model in models:
        rows = {
            condition: row_by(part, "origin", "task", "metric")
            for condition in styles
            for part in [table[(table["model"] == model) & (table["condition"] == condition)]]
        }
        scores, changes = (
            [
                (
                    style,
                    [
                        PlacedMark(place + shift, *pair(rows[condition], line, lines, style))
                        for place, line in enumerate(lines)
                    ],
                )
                for condition, style, shift in dodge(styles, step)
            ]
            for pair in (_scores, _changes)
        )
        is_last = model == models[-1]
        page.append(
            [
                _panel(
                    scores, lines, step, has_scores=True,
                    names=names, name_look={"fontsize": TEXT_POINTS + 0.5, "bold": origins},
                    title=settings.model_name(model), title_look={"loc": "left"},
                    axes={"xlabel": "Score (%)"} if is_last else {},
                ),
                _panel(
                    changes, lines, step, has_scores=False,
                    axes={"xlabel": "Answers that change (%)", "xlim": (0, None)} if is_last else {},
                ),
            ]
        )  # fmt: skip
    height = 0.55 + _LINE_HEIGHT * len(lines) * max(1.0, len(styles) / 3)
    reference = legend_line(
        "left: these questions, clean; right: clean, asked again", width=0.8, linestyle="none",
        marker="|", markeredgewidth=1.6, markersize=7,
    )  # fmt: skip
    bar = legend_line("95 % interval", width=0.8)
    return draw_page(
        page,
        settings,
        height=min(PAGE_HEIGHT - 0.6, height * len(models)),
        handles=[*map(legend_entry, styles.values()), bar, reference],
        notes=[_left_out(table)],
        sharex="col",
        sharey=True,
    )


def _lines(table: pd.DataFrame, settings: FigureSettings) -> list[TaskLine]:
    """Each origin of the table, and below it its variants in the study's order."""
    origins = set(table["origin"])
    return [
        TaskLine(origin, task)
        for origin in dict.fromkeys(settings.variants.values())
        if origin in origins
        for task in (origin, *(one for one, of in settings.variants.items() if of == origin))
    ]


def _scores(
    rows: Rows, line: TaskLine, lines: Sequence[TaskLine], style: ConditionStyle
) -> tuple[PageMark | None, PageMark | None]:
    """The score of a line beside the clean one; an origin's is over the items of its fullest variant."""
    if not line.is_origin:
        mark = _mark(rows.get((*line, "accuracy")), "Score", style)
        return mark, mark and _mark(rows.get((*line, "accuracy_origin")), "Score", style)
    variants = [one for one in lines if one.origin == line.origin and not one.is_origin]
    clean = [row for one in variants if (row := rows.get((*one, "accuracy_origin"))) is not None]
    mark = _mark(max(clean, key=lambda row: row.n_items, default=None), "Score", style)
    return mark and replace(mark, task=line.task, label=f"{style.label}, {line.task}"), None


def _changes(
    rows: Rows, line: TaskLine, _: Sequence[TaskLine], style: ConditionStyle
) -> tuple[PageMark | None, PageMark | None]:
    """The answers to a line that change, beside those of the clean task asked again."""
    return _change(rows, line, style), _change(rows, line, style, "_rerun")


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


def _panel(
    series: Series, lines: Sequence[TaskLine], step: float, *, has_scores: bool, **furniture: Any
) -> Panel:
    further = partial(_write, series=series, lines=lines, step=step, has_scores=has_scores)
    return Panel(
        series=[(style, [(y, mark) for y, mark, _ in marks if mark]) for style, marks in series],
        look={"size": 3.8},
        is_upright=False,
        further=further,
        **furniture,
    )


def _write(
    axes: Any, *, series: Series, lines: Sequence[TaskLine], step: float, has_scores: bool
) -> None:
    """Strokes through lines at what marks stand beside, and what else is between marks."""
    axes.tick_params(axis="y", length=0)
    for place, line in enumerate(lines):
        if line.is_origin and place:
            axes.axhline(place - 0.5, color=LINE, linewidth=0.6)
    for style, marks in series:
        for y, mark, reference in marks:
            at = reference and reference.at_scale(reference.value)
            if at is not None:
                axes.vlines(at, y - step / 2, y + step / 2, color=GREY, linewidth=1.6, zorder=1)
            if has_scores and mark is not None and at is not None:
                # its length is the change: rows have other questions where some could not be changed
                ends = (at, mark.at_scale(mark.value))
                axes.plot(ends, [y, y], color=style.colour, linewidth=1.6, alpha=0.5, zorder=1.9)
        for origin in dict.fromkeys(line.origin for line in lines) if has_scores else ():
            of = [place for place, line in enumerate(lines) if line.origin == origin]
            if not any(marks[place].mark for place in of):
                axes.text(
                    0.5, of[0] + (len(of) - 1) / 2, "no score", ha="center", va="center",
                    color=GREY, fontsize=TEXT_POINTS, transform=axes.get_yaxis_transform(),
                )  # fmt: skip


def _left_out(table: pd.DataFrame) -> str | None:
    variants = table[table["task"] != table["origin"]]
    counts = variants.groupby("task")["n_left_out"].max()
    texts = [f"{int(n)} of {task}" for task, n in counts.items() if n]
    if not texts:
        return None
    return f"Questions that could not be changed are left out: {', '.join(texts)}."
