"""The figure of raters: what people and models say on each scale, and how far they agree.

Owns the drawing of `records.JudgementEstimate` rows: a panel a scale, a line for people and one for each
model, by group of units where there are several. Beside a panel stands what sets raters side by side.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import inches_of, scale_axis
from fieldwork.figures.marks import Point, ends_of
from fieldwork.figures.panel import Panel, draw_page
from fieldwork.figures.selection import NothingToDrawError, float_or_none, rows_of, text_or_none
from fieldwork.figures.settings import FigureSettings, ScaleAxis
from fieldwork.figures.style import (
    GREY,
    PAGE_WIDTH,
    TEXT_POINTS,
    ConditionStyle,
    says_what_is_missing,
    series_styles,
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


class ScalePanel(NamedTuple):
    """A scale, its measure, the rows that are drawn, and the lines beside them."""

    scale: str
    measure: str
    rows: Sequence[Any]
    notes: Sequence[str]

    @property
    def inches(self) -> float:
        """What the lines, or what stands beside them, take with the title and the axis."""
        n_note_lines = sum(note.count("\n") + 1 for note in self.notes)
        return _PANEL_HEIGHT + max(_LINE_HEIGHT * len(self.rows), _NOTE_HEIGHT * n_note_lines)


@says_what_is_missing
def draw(judgements: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw every scale on which units are accepted or rated.

    Args:
        judgements: `records.JudgementEstimate` rows; a table without values gives a figure that says so.
        settings: of the study.
    """
    panels = list(_panels(judgements, settings))
    if not panels:
        raise NothingToDrawError("no unit is judged on a scale of acceptance or rating")
    styles = _styles(panels, settings)
    names = [name for panel in panels for name in _row_names(panel, styles)]
    room = PAGE_WIDTH - max(map(inches_of, names)) - _MARGIN_INCHES
    panel_inches, note_inches = (room * width / sum(_WIDTHS) for width in _WIDTHS)
    panels = [
        panel._replace(notes=[wrap_text(note, inches=note_inches) for note in panel.notes])
        for panel in panels
    ]
    heights = [panel.inches for panel in panels]
    # what a reader must know where models alone judged
    no_people = "No person judged: all of this is what models say."
    return draw_page(
        [
            [
                _page_panel(panel, styles, panel_inches, settings),
                Panel(further=partial(_write, panel)),
            ]
            for panel in panels
        ],
        settings,
        height=0.5 + sum(heights),
        # each line is named, so there is no legend
        handles=[],
        notes=[None if PEOPLE in styles else no_people],
        height_ratios=heights,
        width_ratios=_WIDTHS,
    )


def _write(panel: ScalePanel, axes: Any) -> None:
    """What stands beside a panel."""
    axes.set_axis_off()
    axes.text(0, 0.96, "\n".join(panel.notes), va="top", fontsize=TEXT_POINTS)


def _panels(table: pd.DataFrame, settings: FigureSettings) -> Iterator[ScalePanel]:
    parts = {str(scale): part for scale, part in table.groupby("scale", sort=False)}
    for scale in sorted(parts, key=[*settings.scales, *parts].index):
        part = parts[scale]
        has_value = part["estimate"].notna() & ~part["versus"].map(
            lambda one: bool(text_or_none(one))
        )
        for measure in MAIN_MEASURES:
            rows = rows_of(part[has_value & (part["measure"] == measure)])
            if rows:
                notes = [*_notes(rows_of(part), settings)]
                yield ScalePanel(scale, measure, _in_order(rows), notes)
                break


def _in_order(rows: Sequence[Any]) -> list[Any]:
    """People before models, groups within; models together only where there is one."""
    groups = {_group(row) for row in rows}
    # the rows of all units stand for the groups together
    shown_groups = groups - {""} if len(groups) > 2 else {""}
    names = {row.raters for row in rows} - {PEOPLE, MODELS}
    raters = [PEOPLE, *(sorted(names) or [MODELS])]
    return sorted(
        (row for row in rows if row.raters in raters and _group(row) in shown_groups),
        key=lambda row: (raters.index(row.raters), _group(row)),
    )


def _notes(rows: Sequence[Any], settings: FigureSettings) -> Iterator[str]:
    """Agreement beyond chance within and across kinds of raters, and how models differ from people."""
    values = {
        (row.measure, row.raters, text_or_none(row.versus) or ""): value
        for row in rows
        if not _group(row)
        and not text_or_none(row.option)
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
    for raters in (PEOPLE, MODELS):
        if ("b_no_better", raters, "") in values:
            share = 100 * values["b_no_better", raters, ""]
            yield f"second answer no better, {raters}: {share:.0f} %"


def _styles(panels: Sequence[ScalePanel], settings: FigureSettings) -> dict[str, ConditionStyle]:
    names = dict.fromkeys(row.raters for panel in panels for row in panel.rows)
    styles = series_styles([name for name in names if name != PEOPLE])
    for name, style in styles.items():
        label = "Models" if name == MODELS else settings.model_name(name)
        styles[name] = style._replace(marker="o", label=label)
    return styles | ({PEOPLE: _PEOPLE_STYLE} if PEOPLE in names else {})


def _row_names(panel: ScalePanel, styles: Mapping[str, ConditionStyle]) -> list[str]:
    names = [", ".join(filter(None, [styles[r.raters].label, _group(r)])) for r in panel.rows]
    return [f"{name}, n = {row.n_units}" for name, row in zip(names, panel.rows, strict=True)]


def _page_panel(
    panel: ScalePanel,
    styles: Mapping[str, ConditionStyle],
    inches: float,
    settings: FigureSettings,
) -> Panel:
    scale = 100.0 if panel.measure == "accepted" else 1.0
    axis = _axis(panel.measure, settings.scales.get(panel.scale, ScaleAxis()), inches)
    return Panel(
        series=[
            (styles[row.raters], [(place, Point(**ends_of(row, "estimate"), scale=scale))])
            for place, row in enumerate(panel.rows)
        ],
        look={"size": 5, "width": 0.9},
        names=_row_names(panel, styles),
        name_look={"margins": (0.6, 0.6), "length": 2.5},
        is_upright=False,
        title=panel.scale.replace("_", " "),
        axes=axis,
        locator=None if "xticks" in axis else MaxNLocator(5),
        grid={"color": GREY, "alpha": 0.25, "linewidth": 0.5},
    )


def _axis(measure: str, scale: ScaleAxis, inches: float) -> dict[str, Any]:
    """The whole scale, whatever part of it is used, in the words that raters read."""
    name, axis = MAIN_MEASURES[measure], {}
    if measure == "accepted":
        axis = {"xlim": (-3, 103), "xticks": [0, 25, 50, 75, 100]}
        name = ": ".join(filter(None, [name, "; ".join(scale.yes_labels)]))
    elif len(scale.points) > 1:
        room = inches / _AXIS_LABELS
        labels = {point: wrap_text(label, inches=room) for point, label in scale.points.items()}
        axis = scale_axis(labels, has_middle=True)
    return axis | {"xlabel": wrap_text(name, inches=inches)}


def _group(row: Any) -> str:
    return text_or_none(row.unit_group) or ""
