"""The figure of raters: what people and models say on each scale, and how far they agree.

Owns the drawing of `records.JudgementEstimate` rows: a panel a scale, a line for people and one for each
model, by group of units where there are several. Beside a panel stands what sets raters side by side.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import draw_points, inches_of
from fieldwork.figures.selection import float_or_none, rows_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_WIDTH,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    empty_figure,
    marker_arguments,
    new_figure,
    wrap_text,
)

PEOPLE, MODELS = "people", "models"
MAIN_MEASURES: Mapping[str, str] = {"accepted": "accepted, %", "mean": "mean rating"}
"""What a panel shows, the first that the scale has, and the name of its axis."""
_WIDTHS = (3, 2)
"""Of panels and of what stands beside them."""
_MARGIN_INCHES = 0.6
"""Inches of the page that neither names, panels nor notes take."""
_LINE_HEIGHT = 0.22
_NOTE_HEIGHT = 0.15
_PANEL_HEIGHT = 0.95
"""Of a panel's title and axis, inches."""
_AXIS_LABELS = 3.3
"""How many labels of points fit side by side below a panel, with gaps."""
_PEOPLE_STYLE = ConditionStyle("#E69F00", "s", True, "People")
_MODEL_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")


class ScaleAxis(NamedTuple):
    """A scale as raters read it.

    Attributes:
        yes_labels: labels of the options that count as accepted.
        points: labels of the options by their number, from the lowest; empty where they have no order.
    """

    yes_labels: Sequence[str] = ()
    points: Mapping[float, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RatersFigureSettings(FigureSettings):
    """What a study decides about the figure of raters."""

    scales: Mapping[str, ScaleAxis] = field(default_factory=dict)
    """The scales by name; their order is that of the panels."""


class _ScalePanel(NamedTuple):
    """A scale, its measure, the rows that are drawn, and the lines beside them."""

    scale: str
    measure: str
    rows: Sequence[Any]
    notes: Sequence[str]


def draw(judgements: pd.DataFrame, settings: RatersFigureSettings) -> Figure:
    """Draw every scale on which units are accepted or rated.

    Args:
        judgements: `records.JudgementEstimate` rows; a table without values gives a figure that says so.
    """
    panels = list(_panels(judgements, settings))
    if not panels:
        return empty_figure("no unit is judged on a scale of acceptance or rating", settings)
    styles = _styles(panels, settings)
    figure = new_figure(height=1.0)
    names = [name for panel in panels for name in _row_names(panel, styles)]
    room = PAGE_WIDTH - max(inches_of(figure, name) for name in names) - _MARGIN_INCHES
    panel_inches, note_inches = (room * width / sum(_WIDTHS) for width in _WIDTHS)
    panels = [
        panel._replace(notes=[wrap_text(note, inches=note_inches) for note in panel.notes])
        for panel in panels
    ]
    heights = [_height(panel) for panel in panels]
    figure.set_figheight(0.5 + sum(heights))
    grid = figure.subplots(
        len(panels), 2, squeeze=False, height_ratios=heights, width_ratios=_WIDTHS
    )
    for panel, (axes, note_axes) in zip(panels, grid, strict=True):
        _draw_panel(axes, panel, styles)
        scale = settings.scales.get(panel.scale, ScaleAxis())
        _draw_axis(axes, panel.measure, scale, panel_inches)
        note_axes.set_axis_off()
        note_axes.text(0, 0.96, "\n".join(panel.notes), va="top", fontsize=TEXT_POINTS)
    # each line is named, so there is no legend
    add_head(figure, handles=[], notes=[settings.note, _no_people(panels)])
    return figure


def _height(panel: _ScalePanel) -> float:
    """Inches that the lines, or what stands beside them, take."""
    n_note_lines = sum(note.count("\n") + 1 for note in panel.notes)
    return _PANEL_HEIGHT + max(_LINE_HEIGHT * len(panel.rows), _NOTE_HEIGHT * n_note_lines)


def _no_people(panels: Sequence[_ScalePanel]) -> str | None:
    """What a reader must know where models alone judged."""
    has_people = any(row.raters == PEOPLE for panel in panels for row in panel.rows)
    return None if has_people else "No person judged: all of this is what models say."


def _panels(table: pd.DataFrame, settings: RatersFigureSettings) -> Iterator[_ScalePanel]:
    parts = {str(scale): part for scale, part in table.groupby("scale", sort=False)}
    for scale in sorted(parts, key=[*settings.scales, *parts].index):
        part = parts[scale]
        for measure in MAIN_MEASURES:
            rows = [
                row
                for row in rows_of(part[part["measure"] == measure])
                if float_or_none(row.estimate) is not None and not _text(row.versus)
            ]
            if rows:
                notes = [*_notes(rows_of(part), settings)]
                yield _ScalePanel(scale, measure, _in_order(rows), notes)
                break


def _in_order(rows: Sequence[Any]) -> list[Any]:
    """People before models, groups within; models together only where there is one."""
    groups = {_text(row.unit_group) for row in rows}
    # the rows of all units stand for the groups together
    shown_groups = groups - {""} if len(groups) > 2 else {""}
    names = {row.raters for row in rows} - {PEOPLE, MODELS}
    raters = [PEOPLE, *(sorted(names) or [MODELS])]
    return sorted(
        (r for r in rows if r.raters in raters and _text(r.unit_group) in shown_groups),
        key=lambda row: (raters.index(row.raters), _text(row.unit_group)),
    )


def _notes(rows: Sequence[Any], settings: FigureSettings) -> Iterator[str]:
    """Agreement beyond chance within and across kinds of raters, and how models differ from people."""
    values = {
        (row.measure, row.raters, _text(row.versus)): value
        for row in rows
        if not _text(row.unit_group)
        and not _text(row.option)
        and (value := float_or_none(row.estimate)) is not None
    }
    kappas = [
        f"{words} {values['kappa', raters, versus]:.2f}"
        for words, raters, versus in (
            ("people", PEOPLE, PEOPLE),
            ("models", MODELS, MODELS),
            ("across", MODELS, PEOPLE),
        )
        if ("kappa", raters, versus) in values
    ]
    if kappas:
        yield "κ: " + ", ".join(kappas)
    for (measure, raters, versus), value in values.items():
        name = "models" if raters == MODELS else settings.model_name(raters)
        if measure == "inflation" and versus == PEOPLE:
            yield f"{name}: rates {abs(value):.2f} {'lower' if value < 0 else 'higher'} than people"
        if measure == "over_selection" and versus == PEOPLE:
            yield f"{name}: accepts {value:.1f} times as much as people"
    for raters, words in ((PEOPLE, "people"), (MODELS, "models")):
        if ("b_no_better", raters, "") in values:
            yield f"second answer no better, {words}: {100 * values['b_no_better', raters, '']:.0f} %"


def _styles(panels: Sequence[_ScalePanel], settings: FigureSettings) -> dict[str, ConditionStyle]:
    names = dict.fromkeys(row.raters for panel in panels for row in panel.rows)
    models = [name for name in names if name != PEOPLE]
    styles = {PEOPLE: _PEOPLE_STYLE} if PEOPLE in names else {}
    for number, name in enumerate(models):
        label = "Models" if name == MODELS else settings.model_name(name)
        colour = _MODEL_COLOURS[number % len(_MODEL_COLOURS)]
        styles[name] = ConditionStyle(colour, "o", True, label)
    return styles


def _row_names(panel: _ScalePanel, styles: Mapping[str, ConditionStyle]) -> list[str]:
    return [f"{styles[row.raters].label}{_group(row)}, n = {row.n_units}" for row in panel.rows]


def _draw_panel(
    axes: Any,
    panel: _ScalePanel,
    styles: Mapping[str, ConditionStyle],
) -> None:
    factor = 100.0 if panel.measure == "accepted" else 1.0
    for place, row in enumerate(panel.rows):
        style = styles[row.raters]
        low, high = float_or_none(row.ci_low), float_or_none(row.ci_high)
        if low is not None and high is not None:
            axes.hlines(place, factor * low, factor * high, color=style.colour, linewidth=0.9)
        axes.plot(
            [factor * row.estimate], [place], linestyle="none", **marker_arguments(style, size=5)
        )
    axes.set_yticks(range(len(panel.rows)), _row_names(panel, styles))
    axes.set_ylim(len(panel.rows) - 0.4, -0.6)
    axes.set_title(panel.scale.replace("_", " "))
    axes.grid(axis="x", color=GREY, alpha=0.25, linewidth=0.5)


def _draw_axis(axes: Any, measure: str, scale: ScaleAxis, inches: float) -> None:
    """The whole scale, whatever part of it is used, in the words that raters read."""
    name = MAIN_MEASURES[measure]
    if measure == "accepted":
        axes.set_xlim(-3, 103)
        axes.set_xticks([0, 25, 50, 75, 100])
        if scale.yes_labels:
            name = f"{name}: {'; '.join(scale.yes_labels)}"
    elif len(scale.points) > 1:
        labels = {
            point: wrap_text(label, inches=inches / _AXIS_LABELS)
            for point, label in scale.points.items()
        }
        draw_points(axes, labels, has_middle=True)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel(wrap_text(name, inches=inches))


def _group(row: Any) -> str:
    return f", {row.unit_group}" if _text(row.unit_group) else ""


def _text(value: Any) -> str:
    """A cell's text; empty for NULL, however pandas holds it."""
    return value if isinstance(value, str) else ""
