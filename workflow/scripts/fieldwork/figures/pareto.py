"""The figure of trade-offs: score against price and against waiting time, and what no other beats.

Owns the drawing of `records.TradeOff` rows. A task has a row of panels, a model a colour, a condition a
marker; thin lines join a model's conditions to its baseline. What lacks a price, a time or a score stands
in a note, with its reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from fieldwork.figures.marks import PageMark, Point, ends_of
from fieldwork.figures.panel import Panel, draw_page, draw_points
from fieldwork.figures.selection import (
    NothingToDrawError,
    first_reason,
    models_in,
    rows_by,
    rows_of,
    rows_to_draw,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    ConditionStyle,
    drawn_styles,
    legend_entry,
    legend_line,
    says_what_is_missing,
    series_styles,
    styles_in,
)
from fieldwork.records.service import TradeOff

TABLES = {"trade_offs": TradeOff}

_MARKERS = ("o", "s", "^", "D", "v", "P", "*", "X", "<", ">", "p", "h")
"""Filled shapes: a cross would vanish among intervals that run both ways."""
_RING: Mapping[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 9.5,
    "markerfacecolor": "none",
    "markeredgecolor": "black",
    "markeredgewidth": 0.8,
}
_BAR: Mapping[str, Any] = {"linewidth": 0.6, "alpha": 0.6, "zorder": 1}
_PANEL_HEIGHT = 2.6
_LOG_RANGE = 10.0
"""An axis whose largest value is so many times its smallest counts in powers of ten."""
_MOST_NAMES = 6
"""Models and conditions that a note names."""


class WeighedMeasure(NamedTuple):
    """What the x axis of a panel shows.

    Attributes:
        columns: of its value and the ends of its interval.
        factor: what a value is multiplied by.
    """

    noun: str
    label: str
    unit: str
    columns: tuple[str, str, str]
    factor: float = 1.0


MEASURES = (
    WeighedMeasure(
        noun="price",
        label="US dollars for 1,000 calls",
        unit="US dollars for 1,000 calls",
        columns=("usd", "usd_low", "usd_high"),
        factor=1000.0,
    ),
    WeighedMeasure(
        noun="time",
        label="seconds in which 95 % of answers come",
        unit="seconds",
        columns=("latency_s", "latency_low", "latency_high"),
    ),
)


@says_what_is_missing
def draw(trade_offs: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw every model and condition that has all that is weighed.

    Args:
        trade_offs: `records.TradeOff` rows; an empty table gives a figure that says so.
        settings: of the study.
    """
    table = rows_to_draw(trade_offs, settings)
    complete, absent = table[table["is_best"].notna()], table[table["is_best"].isna()]
    if complete.empty:
        reason = first_reason(table, "there is no score")
        raise NothingToDrawError(f"no model has a score, and a price or a time: {reason}")
    measures = {name for names in complete["weighed"] for name in str(names).split(", ")}
    panels = [measure for measure in MEASURES if measure.columns[0] in measures]
    rows = rows_by(complete, "task")
    models = series_styles(models_in(complete, settings))
    styles = {
        condition: style._replace(marker=_MARKERS[k % len(_MARKERS)], is_filled=True)
        for k, (condition, style) in enumerate(styles_in(complete, settings).items())
    }
    page = [
        [
            Panel(
                axes={"ylabel": f"{task.replace('_', ' ')}\nscore (exact match)" if k == 0 else ""}
                | {"xlabel": panel.label if task == [*rows][-1][0] else ""},
                further=partial(
                    _draw_panel,
                    rows=task_rows,
                    panel=panel,
                    models=models,
                    styles=styles,
                    settings=settings,
                ),
            )
            for k, panel in enumerate(panels)
        ]
        for (task,), task_rows in rows.items()
    ]
    handles = [
        *(
            legend_line(settings.model_name(model), width=3, colour=style.colour)
            for model, style in models.items()
        ),
        *(legend_entry(style._replace(colour=GREY)) for style in styles.values()),
        Line2D([], [], label="beaten by no other", **_RING),
    ]
    notes = [*_left_out(absent, models, settings)]
    notes += [
        f"No model has a {measure.noun}, so that it is not weighed."
        for measure in MEASURES
        if measure not in panels
    ]
    height = min(_PANEL_HEIGHT, 8 / len(rows)) * len(rows)
    return draw_page(page, settings, height=height, handles=handles, notes=notes, sharey="row")


def _draw_panel(
    axes: Any,
    *,
    rows: Sequence[Any],
    panel: WeighedMeasure,
    models: Mapping[str, ConditionStyle],
    styles: Mapping[str, ConditionStyle],
    settings: FigureSettings,
) -> None:
    rows = [row for row in rows if not pd.isna(getattr(row, panel.columns[0]))]
    places = [panel.factor * float(getattr(row, panel.columns[0])) for row in rows]
    starts = {
        row.model: (x, 100 * row.score)
        for x, row in zip(places, rows, strict=True)
        if row.condition == settings.baseline
    }
    for x, row in zip(places, rows, strict=True):
        label = f"{settings.model_name(row.model)}, {styles[row.condition].label}"
        style = styles[row.condition]._replace(colour=models[row.model].colour, label=label)
        if row.model in starts and row.condition != settings.baseline:
            ends = zip(starts[row.model], (x, 100 * row.score), strict=True)
            dots = {"linewidth": 0.7, "linestyle": (0, (1, 1.2)), "zorder": 1.2}
            axes.plot(*ends, color=style.colour, **dots)
        _draw_mark(axes, x, row, panel, style)
    _scale(axes, places)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:g} %"))
    axes.grid(color="#E6E6E6", linewidth=0.4)
    axes.margins(x=0.1, y=0.12)


def _draw_mark(axes: Any, x: float, row: Any, panel: WeighedMeasure, style: ConditionStyle) -> None:
    mark = PageMark(
        measure=f"Score at {x:.3g} {panel.unit}",
        label=style.label,
        **ends_of(row, "score", "score_low", "score_high", factor=100),
        unit=" %",
        digits=1,
        model=row.model,
        task=row.task,
        condition=row.condition,
        kind="choice",
        base="runs",
    )
    across = Point(**ends_of(row, *panel.columns, factor=panel.factor)).interval
    if across is not None:
        axes.hlines(mark.value, *across, color=style.colour, **_BAR)
    if row.is_best:
        axes.plot([x], [mark.value], zorder=2.5, **_RING)
    draw_points(axes, [(x, mark)], style, size=4.6, interval=_BAR, zorder=3)


def _scale(axes: Any, values: Sequence[float]) -> None:
    """Powers of ten where values differ that much, with numbers as people write them."""
    if not values or min(values) <= 0 or max(values) < _LOG_RANGE * min(values):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    else:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _left_out(
    absent: pd.DataFrame, models: Mapping[str, ConditionStyle], settings: FigureSettings
) -> Iterator[str]:
    """What lacks something that is weighed, by its reason; a model that lacks it everywhere once."""
    names: dict[str, dict[str, None]] = {}
    for row in rows_of(absent):
        name = settings.model_name(row.model)
        if row.model in models:
            label = drawn_styles([row.condition], settings)[row.condition].label
            name = f"{name}, {label} ({row.task.replace('_', ' ')})"
        names.setdefault(str(row.reason), {})[name] = None
    for reason, arms in names.items():
        n_left = len(arms) - _MOST_NAMES
        remainder = f" and {n_left} more in the table" if n_left > 0 else ""
        yield f"Left out, as {reason}: {'; '.join([*arms][:_MOST_NAMES])}{remainder}."
