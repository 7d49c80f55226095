"""The figure of trade-offs: score against price and against waiting time, and what no other beats.

Owns the drawing of `records.TradeOff` rows. A task has a row of panels, a model a colour, a condition a
marker; thin lines join a model's conditions to its baseline. What lacks a price, a time or a score stands
in a note, with its reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark, span_of
from fieldwork.figures.selection import (
    absence_reason,
    conditions_in,
    first_reason,
    float_or_none,
    models_in,
    rows_of,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    ConditionStyle,
    add_head,
    drawn_styles,
    empty_figure,
    legend_entry,
    marker_arguments,
    new_figure,
)
from fieldwork.records.service import TradeOff

Measure = Literal["usd", "latency_s"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "*", "X", "<", ">", "p", "h")
"""Filled shapes: a cross would vanish among intervals that run both ways."""
_PANEL_HEIGHT = 2.6
_LOG_RANGE = 10.0
"""An axis whose largest value is so many times its smallest counts in powers of ten."""
_MOST_NAMES = 6
"""Models and conditions that a note names."""


class _Panel(NamedTuple):
    """What the x axis of a panel shows.

    Attributes:
        factor: what a value is multiplied by where it is complete.
    """

    measure: Measure
    noun: str
    label: str
    unit: str
    low: str
    high: str
    factor: float


_PANELS = (
    _Panel(
        measure="usd",
        noun="price",
        label="US dollars for 1,000 calls",
        unit="US dollars for 1,000 calls",
        low="usd_low",
        high="usd_high",
        factor=1000.0,
    ),
    _Panel(
        measure="latency_s",
        noun="time",
        label="seconds in which 95 % of answers come",
        unit="seconds",
        low="latency_low",
        high="latency_high",
        factor=1.0,
    ),
)


class _ParetoLayout(NamedTuple):
    panels: list[_Panel]
    tasks: list[str]
    colours: Mapping[str, str]
    styles: Mapping[str, ConditionStyle]
    settings: FigureSettings

    def style(self, row: Any) -> ConditionStyle:
        """A condition's marker in the colour of the model."""
        return self.styles[row.condition]._replace(colour=self.colours[row.model])

    def label(self, row: Any) -> str:
        """`Model, Condition`."""
        return f"{self.settings.model_name(row.model)}, {self.styles[row.condition].label}"


TABLES = {"trade_offs": TradeOff}
SETTINGS = FigureSettings


def draw(trade_offs: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw every model and condition that has all that is weighed.

    Args:
        trade_offs: `records.TradeOff` rows; an empty table gives a figure that says so.
    """
    reason = absence_reason(trade_offs, settings)
    if reason:
        return empty_figure(reason, settings)
    table = trade_offs[trade_offs["condition"].isin(conditions_in(trade_offs, settings))]
    complete, absent = table[table["is_best"].notna()], table[table["is_best"].isna()]
    if complete.empty:
        reason = first_reason(table, "there is no score")
        return empty_figure(f"no model has a score, and a price or a time: {reason}", settings)
    layout = _lay_out(complete, settings)
    figure = new_figure(height=min(_PANEL_HEIGHT, 8 / len(layout.tasks)) * len(layout.tasks))
    grid = figure.subplots(len(layout.tasks), len(layout.panels), squeeze=False, sharey="row")
    for axes_row, task in zip(grid, layout.tasks, strict=True):
        rows = rows_of(complete[complete["task"] == task])
        for axes, panel in zip(axes_row, layout.panels, strict=True):
            _draw_panel(axes, rows, panel, layout)
        axes_row[0].set_ylabel(f"{task.replace('_', ' ')}\nscore (exact match)")
    for axes, panel in zip(grid[-1], layout.panels, strict=True):
        axes.set_xlabel(panel.label)
    add_head(figure, handles=_handles(layout), notes=[*_notes(complete, absent, layout)])
    return figure


def _lay_out(complete: pd.DataFrame, settings: FigureSettings) -> _ParetoLayout:
    measures = {name for names in complete["weighed"] for name in str(names).split(", ")}
    models = models_in(complete, settings)
    styles = drawn_styles(conditions_in(complete, settings), settings)
    return _ParetoLayout(
        panels=[panel for panel in _PANELS if panel.measure in measures],
        tasks=list(dict.fromkeys(complete["task"])),
        colours={model: _COLOURS[k % len(_COLOURS)] for k, model in enumerate(models)},
        styles={
            name: style._replace(marker=_MARKERS[k % len(_MARKERS)], is_filled=True)
            for k, (name, style) in enumerate(styles.items())
        },
        settings=settings,
    )


def _draw_panel(axes: Any, rows: Sequence[Any], panel: _Panel, layout: _ParetoLayout) -> None:
    values = [panel.factor * value for row in rows if (value := _value(row, panel)) is not None]
    baseline = layout.settings.baseline
    starts = {row.model: row for row in rows if row.condition == baseline}
    for row in rows:
        value = _value(row, panel)
        if value is None:
            continue
        start = starts.get(row.model)
        if start is not None and row is not start and _value(start, panel) is not None:
            xs = [panel.factor * float(getattr(one, panel.measure)) for one in (start, row)]
            axes.plot(
                xs, [100 * start.score, 100 * row.score], color=layout.colours[row.model],
                linewidth=0.7, linestyle=(0, (1, 1.2)), zorder=1.2,
            )  # fmt: skip
        _draw_mark(axes, row, panel, layout)
    _scale(axes, values)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:g} %"))
    axes.grid(color="#E6E6E6", linewidth=0.4)
    axes.margins(x=0.1, y=0.12)


def _value(row: Any, panel: _Panel) -> float | None:
    return float_or_none(getattr(row, panel.measure))


def _draw_mark(axes: Any, row: Any, panel: _Panel, layout: _ParetoLayout) -> None:
    x, y, style = (
        panel.factor * float(getattr(row, panel.measure)),
        100 * row.score,
        layout.style(row),
    )
    bar = {"color": style.colour, "linewidth": 0.6, "alpha": 0.6, "zorder": 1}
    ends = [float_or_none(getattr(row, end)) for end in (panel.low, panel.high)]
    if ends[0] is not None and ends[1] is not None:
        low, high = (panel.factor * end for end in ends if end is not None)
        axes.hlines(y, low, high, **bar)
    score_low, score_high = float_or_none(row.score_low), float_or_none(row.score_high)
    if score_low is not None and score_high is not None:
        axes.vlines(x, 100 * score_low, 100 * score_high, **bar)
    if row.is_best:
        axes.plot([x], [y], zorder=2.5, **_ring())
    axes.plot(
        [x], [y], linestyle="none", label=layout.label(row), zorder=3,
        **marker_arguments(style, size=4.6),
    )  # fmt: skip
    caption = MarkedValue(
        measure=f"Score at {x:.3g} {panel.unit}",
        label=layout.label(row),
        value=100 * row.score,
        ci_low=None if score_low is None else 100 * score_low,
        ci_high=None if score_high is None else 100 * score_high,
        unit=" %",
        digits=1,
    )
    answers = MarkedAnswers(
        model=row.model, task=row.task, condition=row.condition, kind="choice", base="runs"
    )
    height = span_of(float(row.score), row, "score_low", "score_high")
    add_mark(axes, x, (100 * height[0], 100 * height[1]), caption, answers)


def _ring() -> dict[str, Any]:
    return {
        **{"linestyle": "none", "marker": "o", "markersize": 9.5, "markerfacecolor": "none"},
        **{"markeredgecolor": "black", "markeredgewidth": 0.8},
    }


def _scale(axes: Any, values: Sequence[float]) -> None:
    """Powers of ten where values differ that much, with numbers as people write them."""
    if not values or min(values) <= 0 or max(values) < _LOG_RANGE * min(values):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    else:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _handles(layout: _ParetoLayout) -> list[Any]:
    models = [
        Line2D([], [], color=colour, linewidth=3, label=layout.settings.model_name(model))
        for model, colour in layout.colours.items()
    ]
    conditions = [
        legend_entry(style._replace(colour=GREY), style.label) for style in layout.styles.values()
    ]
    return [*models, *conditions, Line2D([], [], label="beaten by no other", **_ring())]


def _notes(
    complete: pd.DataFrame, absent: pd.DataFrame, layout: _ParetoLayout
) -> Iterator[str | None]:
    yield layout.settings.note
    names: dict[str, list[str]] = {}
    for row in rows_of(absent):
        is_whole = row.model not in set(complete["model"])
        name = layout.settings.model_name(row.model) if is_whole else _arm_name(row, layout)
        names.setdefault(str(row.reason), []).append(name)
    for reason, repeated_names in names.items():
        arms = list(dict.fromkeys(repeated_names))
        remainder = (
            f" and {len(arms) - _MOST_NAMES} more in the table" if len(arms) > _MOST_NAMES else ""
        )
        yield f"Left out, as {reason}: {'; '.join(arms[:_MOST_NAMES])}{remainder}."
    for panel in _PANELS:
        if panel not in layout.panels:
            yield f"No model has a {panel.noun}, so that it is not weighed."


def _arm_name(row: Any, layout: _ParetoLayout) -> str:
    """`Model, Condition (task)`."""
    settings = layout.settings
    condition = drawn_styles([row.condition], settings)[row.condition]
    return f"{settings.model_name(row.model)}, {condition.label} ({row.task.replace('_', ' ')})"
