"""The figure of users: how much of the variance lies between contexts, and which letters users add.

Owns the drawing of `records.VarianceShare` and `records.Novelty` rows: a panel each, where the study has
them, and a row of panels per model. Both measure how far users go beyond repeats: `share_who` from 0,
the share of new letters from that of as many reruns. A panel that would be empty is left out, and
its reason stands at the head.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import KIND_NOUNS
from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark, span_of
from fieldwork.figures.selection import (
    conditions_in,
    first_reason,
    float_or_none,
    models_in,
    range_of,
    rows_of,
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
)
from fieldwork.records.field import between
from fieldwork.records.metrics import Novelty, VarianceShare
from fieldwork.statistics.families import LEVEL

_DODGE = 0.7
_PALE = 0.45
_BEYOND = 3.0
_LIGHT = 0.4
_PANEL_HEIGHT = 1.9
_MOST_SIDE_BY_SIDE = 6
"""Tasks of both panels together, up to which the panels stand side by side."""
_REASONS = re.compile(r"; (?=no )")
"""A table joins the reasons why an interval and an excess are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoAsksSettings(FigureSettings):
    """What a study decides about the figure of users."""

    users: Sequence[str] = ()
    """Conditions that bring a user; the others are not drawn."""


class _UserMark(NamedTuple):
    """An estimate in percent, and the value that repeats alone would give."""

    model: str
    task: str
    condition: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    reference: float | None
    differs: bool
    reason: str
    n: int | None


class _UserPanel(NamedTuple):
    """What one panel of each model shows.

    Attributes:
        ticks: the printed names of its tasks.
        has_reruns: whether its references are measured on reruns, and drawn.
    """

    label: str
    ticks: dict[str, str]
    marks: list[_UserMark]
    has_reruns: bool


class _UserLayout(NamedTuple):
    panels: list[_UserPanel]
    models: list[str]
    styles: dict[str, ConditionStyle]

    @property
    def is_stacked(self) -> bool:
        return sum(len(panel.ticks) for panel in self.panels) > _MOST_SIDE_BY_SIDE


TABLES = {"variance": VarianceShare, "novelty": Novelty}
CLAIMS = {"variance": "share_who", "novelty": "novelty"}
SETTINGS = WhoAsksSettings


def draw(variance: pd.DataFrame, novelty: pd.DataFrame, settings: WhoAsksSettings) -> Figure:
    """Draw both tables, each with the p-values of the study's claims in `p_corrected`.

    Tables without an estimate for any condition with a user give a figure that says so.
    """
    shares = variance[variance["condition"].isin(list(settings.users))]
    new_letters = novelty[novelty["condition"].isin(list(settings.users))]
    panels: list[_UserPanel] = []
    absences: list[str] = []
    if shares["share_who"].notna().any():
        panels.append(_share_panel(shares))
    else:
        reason = first_reason(shares, "no condition with a user has answers")
        absences.append(f"variance between users: {reason}")
    if new_letters["share"].notna().any():
        panels.append(_novelty_panel(new_letters))
    else:
        reason = first_reason(new_letters, "no multiple-choice question has answers to compare")
        absences.append(f"new letters: {reason}")
    if not panels:
        return empty_figure("; ".join(absences), settings)
    marks = pd.DataFrame([mark for panel in panels for mark in panel.marks])
    conditions = conditions_in(marks, settings)
    layout = _UserLayout(
        panels,
        models_in(marks, settings),
        drawn_styles(conditions, settings),
    )
    figure = _draw_panels(layout, settings)
    absence_notes = [f"Not drawn: {absence}." for absence in absences]
    notes = [settings.note, *absence_notes, *_reason_notes(layout)]
    add_head(figure, handles=_handles(layout), notes=notes)
    return figure


def _share_panel(table: pd.DataFrame) -> _UserPanel:
    def words(rows: Sequence[Any]) -> str:
        noun = KIND_NOUNS[rows[0].kind]
        return f"{noun}, {_counts(rows, 'n_items')} prompts\nn = {_counts(rows, 'n_puppets')}"

    marks = [_mark(row, row.share_who, reference=0.0) for row in rows_of(table)]
    units = between(set(table["condition"]))
    label = f"variance of answers to a prompt\nthat lies between {units}"
    return _UserPanel(label, _ticks(table, words), marks, has_reruns=False)


def _novelty_panel(table: pd.DataFrame) -> _UserPanel:
    def words(rows: Sequence[Any]) -> str:
        return f"{_counts(rows, 'n_items')} questions\nequal n = {_counts(rows, 'n_equal')}"

    marks = [_mark(row, row.share, reference=row.control_share) for row in rows_of(table)]
    label = "questions with a letter\nthat the baseline never gave"
    has_reruns = any(mark.reference is not None for mark in marks)
    return _UserPanel(label, _ticks(table, words), marks, has_reruns)


def _task_key(row: Any) -> str:
    """Lists stand before others; a task of two kinds has two places on an axis."""
    kind = _kind(row)
    return f"{int(kind != 'list')} {kind} {row.task}"


def _kind(row: Any) -> str:
    """The table of new letters has letters alone, and no kind."""
    return str(getattr(row, "kind", "choice"))


def _ticks(table: pd.DataFrame, words: Callable[[Sequence[Any]], str]) -> dict[str, str]:
    """Below a place stands what it counts; the task's name only where several tasks are of its kind."""
    rows_by_task: dict[str, list[Any]] = {}
    for row in sorted(rows_of(table), key=_task_key):
        rows_by_task.setdefault(_task_key(row), []).append(row)
    n_tasks = Counter(_kind(rows[0]) for rows in rows_by_task.values())
    return {
        key: words(rows)
        if n_tasks[_kind(rows[0])] == 1
        else f"{rows[0].task.replace('_', ' ')}\n{words(rows)}"
        for key, rows in rows_by_task.items()
    }


def _counts(rows: Sequence[Any], column: str) -> str:
    counts = [getattr(row, column) for row in rows]
    return str(range_of(int(count) for count in counts if not pd.isna(count)) or 0)


def _mark(row: Any, value: Any, *, reference: Any) -> _UserMark:
    p_corrected = float_or_none(row.p_corrected)
    return _UserMark(
        model=row.model,
        task=_task_key(row),
        condition=row.condition,
        value=_percent(value),
        ci_low=_percent(row.ci_low),
        ci_high=_percent(row.ci_high),
        reference=_percent(reference),
        differs=p_corrected is not None and p_corrected < LEVEL,
        reason="" if pd.isna(row.reason) else str(row.reason),
        # the table of new letters counts units and questions, not answers
        n=int(row.n_responses) if hasattr(row, "n_responses") else None,
    )


def _percent(share: Any) -> float | None:
    return None if pd.isna(share) else 100 * float(share)


def _draw_panels(layout: _UserLayout, settings: WhoAsksSettings) -> Figure:
    n_models, n_panels = len(layout.models), len(layout.panels)
    rows, columns = (n_models * n_panels, 1) if layout.is_stacked else (n_models, n_panels)
    figure = new_figure(height=min(PAGE_HEIGHT - 0.8, _PANEL_HEIGHT * rows + 0.2))
    ratios = None if layout.is_stacked else [max(1, len(p.ticks)) for p in layout.panels]
    grid = figure.subplots(rows, columns, squeeze=False, width_ratios=ratios).reshape(n_models, -1)
    room = _room(layout)
    for axes_row, model in zip(grid, layout.models, strict=True):
        for axes, panel in zip(axes_row, layout.panels, strict=True):
            _draw_panel(axes, panel, layout, model)
            axes.set_xticks(
                range(len(panel.ticks)), [_wrap_tick(t, room) for t in panel.ticks.values()]
            )
        if n_models > 1:
            axes_row[0].set_title(settings.model_name(model), loc="left", fontweight="bold")
    return figure


def _room(layout: _UserLayout) -> int:
    """Letters below one task of an axis."""
    counts = [len(panel.ticks) for panel in layout.panels]
    n_places = max(counts) if layout.is_stacked else sum(counts)
    inches = (PAGE_WIDTH - 0.7 * (1 if layout.is_stacked else len(counts))) / n_places
    return max(8, int(inches * 72 / (0.57 * TEXT_POINTS)))


def _wrap_tick(tick: str, room: int) -> str:
    lines = tick.split("\n")
    return "\n".join(textwrap.fill(line, room, break_long_words=False) for line in lines)


def _draw_panel(axes: Any, panel: _UserPanel, layout: _UserLayout, model: str) -> None:
    axes.axhline(0, color="#BBBBBB", linewidth=0.6, zorder=0.5)
    for i in range(1, len(panel.ticks), 2):
        axes.axvspan(i - 0.5, i + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
    step = _DODGE / len(layout.styles)
    places = {condition: j for j, condition in enumerate(layout.styles)}
    tasks = {task: i for i, task in enumerate(panel.ticks)}
    for mark in panel.marks:
        if mark.model == model and mark.condition in places:
            shift = (places[mark.condition] - (len(places) - 1) / 2) * step
            style = layout.styles[mark.condition]
            x = tasks[mark.task] + shift
            _draw_mark(axes, x, mark, style)
            _keep_mark(axes, x, mark, panel, style)
            if panel.has_reruns and mark.reference is not None:
                ends = (x - 0.4 * step, x + 0.4 * step)
                axes.hlines(mark.reference, *ends, color=GREY, linewidth=1.0)
    axes.set_xlim(-0.5, len(panel.ticks) - 0.5)
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(*_limits(panel))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %".replace("-", "−"))
    axes.set_ylabel(panel.label)


def _limits(panel: _UserPanel) -> tuple[float, float]:
    """Equal for all models, with 0 and every interval inside."""
    values = [
        value
        for mark in panel.marks
        for value in (mark.value, mark.ci_low, mark.ci_high, mark.reference)
        if value is not None
    ]
    low, high = min([0.0, *values]), max([1.0, *values])
    room = 0.06 * (high - low)
    return low - 2 * room, high + room


def _draw_mark(axes: Any, x: float, mark: _UserMark, style: ConditionStyle) -> None:
    if mark.value is None:
        axes.text(
            x, 0.01, "n/a", ha="center", va="bottom", color=GREY, fontsize=TEXT_POINTS,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
        return
    alpha = 1.0 if mark.differs else _PALE
    if mark.ci_low is not None and mark.ci_high is not None:
        axes.vlines(
            x, mark.ci_low, mark.ci_high, color=style.colour, linewidth=0.8, alpha=alpha, zorder=1.5
        )
    if mark.differs and mark.reference is not None:
        # light, so that an interval can be read upon it
        axes.vlines(
            x, mark.reference, mark.value, color=style.colour, linewidth=_BEYOND, alpha=_LIGHT,
            zorder=1.4,
        )  # fmt: skip
    axes.plot(
        [x], [mark.value], linestyle="none", label=style.label, alpha=alpha, zorder=3,
        **marker_arguments(style, size=4.4),
    )  # fmt: skip


def _keep_mark(
    axes: Any, x: float, mark: _UserMark, panel: _UserPanel, style: ConditionStyle
) -> None:
    if mark.value is None:
        return
    _, kind, task = mark.task.split(" ", 2)
    caption = MarkedValue(
        measure=" ".join(panel.label.split()),
        label=style.label,
        value=mark.value,
        ci_low=mark.ci_low,
        ci_high=mark.ci_high,
        unit=" %",
        digits=1,
    )
    answers = MarkedAnswers(
        model=mark.model,
        task=task,
        condition=mark.condition,
        kind=kind,
        base="counted",
        n=mark.n,
    )
    add_mark(axes, x, span_of(mark.value, mark), caption, answers)


def _handles(layout: _UserLayout) -> list[Any]:
    handles: list[Any] = [legend_entry(style, style.label) for style in layout.styles.values()]
    if any(panel.has_reruns for panel in layout.panels):
        handles.append(Line2D([], [], color=GREY, linewidth=1.0, label="as many reruns alone"))
    label = f"beyond repeats (p < {LEVEL:g}, corrected); pale: not shown"
    return [*handles, Line2D([], [], color=GREY, linewidth=_BEYOND, alpha=_LIGHT, label=label)]


def _reason_notes(layout: _UserLayout) -> Iterator[str]:
    """Why marks, their intervals, or what reruns alone give, are missing."""
    marks = [mark for panel in layout.panels for mark in panel.marks]
    reasons = [mark.reason for mark in marks if mark.value is None]
    if reasons:
        yield f"n/a: {_first(reasons)}."
    parts = [part for m in marks if m.value is not None for part in _REASONS.split(m.reason)]
    for opening, note in (
        ("no interval: ", "Marks without a thin line have no interval"),
        ("no excess: ", "Without what reruns alone give"),
    ):
        reasons = [part.removeprefix(opening) for part in parts if part.startswith(opening)]
        if reasons:
            yield f"{note}: {_first(reasons)}."


def _first(reasons: Sequence[str]) -> str:
    first, *rest = dict.fromkeys(reasons)
    if not rest:
        return first
    return f"{first}; the tables have {len(rest)} more {'reason' if len(rest) == 1 else 'reasons'}"
