"""The figure of `snakemake power`: how often a study of a size finds an effect, and what the size costs.

Owns the drawing of `records.PowerRow` rows: a row of panels per design, a column per task, a curve per
effect. Power depends on the effect and the size, not on the model. The upper axis has the calls or, where
there are prices, the dollars of the most expensive arm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from fieldwork.figures.selection import float_or_none, rows_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import GREY, TEXT_POINTS, add_head, empty_figure, new_figure
from fieldwork.records.field import FIELD

DESIGNS: Mapping[str, str] = {
    "shares": "share of an answer,\nbaseline → condition",
    "who": "share of variance\nbetween contexts",
    "scores": "difference of\nmean scores",
}
MAX_TASKS = 4
"""Most columns; where there are more tasks, a remark says so."""

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
_PANEL_INCHES = 1.75
_LEGEND_INCHES = 1.25
_TICKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerFigureSettings(FigureSettings):
    """What a study decides about the figure of power."""

    target: float = 0.8
    """The power to reach, drawn as a line."""
    tasks: Sequence[str] = ()
    """Tasks in their order; other tasks of the table follow."""


class _PricedArm(NamedTuple):
    model: str
    condition: str


class _PowerLayout(NamedTuple):
    """Designs and tasks to draw, the sizes of the x axis, and the arm whose price is printed."""

    designs: list[str]
    tasks: list[str]
    sizes: list[int]
    dearest: _PricedArm | None


def draw(table: pd.DataFrame, settings: PowerFigureSettings) -> Figure:
    """Draw the rows of `power/power.parquet`."""
    rows = rows_of(table)
    if not rows:
        return empty_figure("the table has no rows", settings)
    tasks_of_rows = dict.fromkeys(row.task for row in rows)
    tasks_first = [task for task in settings.tasks if task in tasks_of_rows]
    tasks = list(dict.fromkeys([*tasks_first, *tasks_of_rows]))
    layout = _PowerLayout(
        [design for design in DESIGNS if any(row.design == design for row in rows)],
        tasks[:MAX_TASKS],
        sorted({int(row.n_users) for row in rows}),
        _dearest(rows),
    )
    figure = new_figure(height=_PANEL_INCHES * len(layout.designs))
    widths = [1.0] * len(layout.tasks) + [_LEGEND_INCHES / 1.7]
    grid = figure.subplots(
        len(layout.designs), len(widths), squeeze=False, gridspec_kw={"width_ratios": widths}
    )
    for design, panels in zip(layout.designs, grid, strict=True):
        _draw_design(list(panels), [row for row in rows if row.design == design], layout, settings)
    figure.supxlabel("users or puppets", x=0.42)
    left_out = len(tasks) - len(layout.tasks)
    remark = f"The table has {left_out} more tasks." if left_out else None
    add_head(figure, handles=[], notes=[_note(rows, layout, settings), remark])
    return figure


def _dearest(rows: Sequence[Any]) -> _PricedArm | None:
    """The model and condition whose calls cost most in all; None where none costs anything."""
    spent: dict[_PricedArm, float] = {}
    for row in rows:
        usd = float_or_none(row.cost_usd)
        if usd is not None and row.condition != FIELD:
            arm = _PricedArm(row.model, row.condition)
            spent[arm] = spent.get(arm, 0.0) + usd
    dearest = max(spent, key=lambda arm: spent[arm], default=None)
    return dearest if dearest is not None and spent[dearest] > 0 else None


def _note(rows: Sequence[Any], layout: _PowerLayout, settings: PowerFigureSettings) -> str:
    n = max(row.n_simulations for row in rows)
    if layout.dearest is None:
        top = "calls of a condition"
    else:
        model = settings.model_name(layout.dearest.model)
        name = settings.condition_labels.get(layout.dearest.condition, layout.dearest.condition)
        top = f"dollars for {model}, {name}, the most expensive arm"
    return (
        f"{n:,} simulated studies per point; bars are 95 % intervals of the simulation. A curve ends "
        f"where power is 1. Above each panel: {top}, for the smallest number of answers each. It "
        f"includes as many calls of the baseline where the test needs one."
    )


def _draw_design(
    panels: list[Any], rows: Sequence[Any], layout: _PowerLayout, settings: PowerFigureSettings
) -> None:
    curves = list(dict.fromkeys((row.effect, int(row.replicates)) for row in rows))
    effects = sorted({effect for effect, _ in curves}, key=_order)
    replicates = sorted({n for _, n in curves})
    design_tasks = [task for task in layout.tasks if any(row.task == task for row in rows)]
    for panel in panels[len(design_tasks) :]:
        panel.set_axis_off()
    for task, panel in zip(design_tasks, panels, strict=False):
        task_rows = [row for row in rows if row.task == task]
        for effect, n in curves:
            curve_rows = [r for r in task_rows if (r.effect, r.replicates) == (effect, n)]
            _draw_curve(panel, curve_rows, effects.index(effect), replicates.index(n))
        _scale(panel, layout, settings, has_label=task == design_tasks[0])
        _price(panel, task_rows, layout)
        panel.set_title(_title(task_rows[0]))
    _legend(panels[len(design_tasks)], rows[0].design, effects, replicates)


def _order(effect: str) -> tuple[float, ...]:
    """Large effects first: shifts of shares by their size, other effects by themselves."""
    parts = [float(part) for part in effect.split(" -> ")]
    return (-abs(parts[-1] - parts[0]),) if len(parts) > 1 else (-parts[0],)


def _draw_curve(panel: Any, rows: Sequence[Any], colour: int, dash: int) -> None:
    # power is the same for all models and conditions of a size
    points = {int(row.n_users): row for row in rows if float_or_none(row.power) is not None}
    sizes = sorted(points)
    hue = _COLOURS[colour % len(_COLOURS)]
    panel.plot(
        sizes,
        [float(points[n].power) for n in sizes],
        color=hue,
        linestyle=_DASHES[dash % len(_DASHES)],
        marker=None if dash else _MARKERS[colour % len(_MARKERS)],
        markersize=3.2,
        linewidth=0.7 if dash else 1.1,
        label=rows[0].effect if rows else None,
        clip_on=False,
        zorder=2 if dash else 3,
    )
    if not dash:
        lows = [float(points[n].ci_low) for n in sizes]
        highs = [float(points[n].ci_high) for n in sizes]
        panel.vlines(sizes, lows, highs, color=hue, linewidth=0.8, zorder=2)


def _scale(
    panel: Any, layout: _PowerLayout, settings: PowerFigureSettings, *, has_label: bool
) -> None:
    panel.set_xscale("log")
    panel.set_xlim(layout.sizes[0] / 1.15, layout.sizes[-1] * 1.15)
    panel.set_ylim(0, 1)
    panel.xaxis.set_major_locator(FixedLocator(_ticks(layout.sizes)))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter("{x:.0f}")
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1])
    panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    panel.axhline(settings.target, color=GREY, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
    if has_label:
        panel.set_ylabel("power")
    else:
        panel.tick_params(axis="y", labelleft=False)


def _ticks(sizes: Sequence[int]) -> list[int]:
    """At most five of the sizes, spread evenly, the first and the last among them."""
    if len(sizes) <= _TICKS:
        return list(sizes)
    step = (len(sizes) - 1) / (_TICKS - 1)
    return [sizes[round(k * step)] for k in range(_TICKS)]


def _price(panel: Any, rows: Sequence[Any], layout: _PowerLayout) -> None:
    """An axis above with the calls or dollars of the sizes."""
    replicates = min(row.replicates for row in rows)
    arm = layout.dearest or _PricedArm(rows[0].model, rows[0].condition)
    amounts = {
        int(row.n_users): _amount(row, in_dollars=layout.dearest is not None)
        for row in rows
        if _PricedArm(row.model, row.condition) == arm and row.replicates == replicates
    }
    above = panel.secondary_xaxis("top")
    ticks = [n for n in _ticks(layout.sizes) if n in amounts]
    above.set_xticks(ticks, [amounts[n] for n in ticks], color=GREY)
    above.xaxis.set_minor_locator(NullLocator())
    above.tick_params(length=2, color=GREY, pad=1)
    above.spines["top"].set_visible(False)


def _amount(row: Any, *, in_dollars: bool) -> str:
    if not in_dollars:
        return _short(float(row.n_calls + row.n_calls_baseline))
    usd = (float_or_none(row.cost_usd) or 0.0) + (float_or_none(row.cost_baseline_usd) or 0.0)
    # a dollar sign and zeros would run into the next size
    return f"${_short(usd)}" if usd == 0 or usd >= 1 else f"{_short(usd * 100)} ¢"


def _short(value: float) -> str:
    """Two digits, thousands as k."""
    if value >= 1000:
        return f"{value / 1000:.2g}k" if value < 99_500 else f"{value / 1000:.0f}k"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _title(row: Any) -> str:
    units = {
        "shares": f"{row.n_tests} tests",
        "who": f"{row.n_items} prompts",
        "scores": f"{row.n_tests} conditions",
    }
    return f"{row.task}, {units[row.design]}"


def _legend(panel: Any, design: str, effects: Sequence[str], replicates: Sequence[int]) -> None:
    handles = [
        Line2D(
            [], [], color=_COLOURS[k % len(_COLOURS)], marker=_MARKERS[k % len(_MARKERS)],
            markersize=3.2, label=_effect_label(design, effect),
        )
        for k, effect in enumerate(effects)
    ]  # fmt: skip
    if len(replicates) > 1:
        handles += [
            Line2D(
                [], [], color=GREY, linestyle=_DASHES[k % len(_DASHES)], label=f"{n} answers each"
            )
            for k, n in enumerate(replicates)
        ]
    panel.legend(
        handles=handles, title=DESIGNS[design], loc="center left", alignment="left",
        title_fontsize=TEXT_POINTS, handlelength=2.2, bbox_to_anchor=(0, 0.5),
    )  # fmt: skip


def _effect_label(design: str, effect: str) -> str:
    if design == "shares":
        low, high = (float(part) * 100 for part in effect.split(" -> "))
        return f"{low:.4g} % → {high:.4g} %"
    value = float(effect) * 100
    return f"{value:.4g} %" if design == "who" else f"{value:.4g} points"
