"""The figure of `snakemake power`: how often a study of a size finds an effect, and what the size costs.

Owns the drawing of `designs.PowerRow` rows. A row of panels a design, a column a task, a curve an
effect. Power belongs to an effect and a size, whoever is asked; the upper axis has the calls or, where
there are prices, the dollars of the dearest arm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from fieldwork.figures.style import (
    TEXT_POINTS,
    FigureOptions,
    add_head,
    new_figure,
    no_data,
    number,
    rows_of,
)
from fieldwork.records.field import FIELD

DESIGNS: Mapping[str, str] = {
    "shares": "share of an answer,\nbaseline → condition",
    "who": "share of variance\nfrom who asks",
    "scores": "difference of\nmean scores",
}
MAX_TASKS = 4

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
_GREY = "#555555"
_PANEL_INCHES = 1.75
_LEGEND_INCHES = 1.25
_TICKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about the figure of power."""

    target: float = 0.8
    """Power asked for, drawn as a line."""
    tasks: Sequence[str] = ()
    """Tasks in their order; those the table has besides come after them."""
    max_tasks: int = MAX_TASKS
    """Columns; tasks beyond are left out, and a line says so."""


class _Arm(NamedTuple):
    model: str
    condition: str


class _Plan(NamedTuple):
    """What is drawn where."""

    designs: list[str]
    tasks: list[str]
    sizes: list[int]
    priced: _Arm | None


class _Curve(NamedTuple):
    effect: str
    replicates: int


def draw(table: pd.DataFrame, *, options: Options) -> Figure:
    """Draw the rows of `power/power.parquet`."""
    rows = rows_of(table)
    if not rows:
        return no_data("the table has no rows", note=options.note)
    held = dict.fromkeys(row.task for row in rows)
    found = [*(task for task in options.tasks if task in held), *held]
    found = list(dict.fromkeys(found))
    plan = _Plan(
        [design for design in DESIGNS if any(row.design == design for row in rows)],
        found[: options.max_tasks],
        sorted({int(row.n_users) for row in rows}),
        _dearest(rows),
    )
    figure = new_figure(height=_PANEL_INCHES * len(plan.designs))
    widths = [1.0] * len(plan.tasks) + [_LEGEND_INCHES / 1.7]
    grid = figure.subplots(
        len(plan.designs), len(widths), squeeze=False, gridspec_kw={"width_ratios": widths}
    )
    for design, panels in zip(plan.designs, grid, strict=True):
        _draw_design(list(panels), [row for row in rows if row.design == design], plan, options)
    figure.supxlabel("users or puppets", x=0.42)
    left_out = len(found) - len(plan.tasks)
    more = f"{left_out} more tasks are in the table." if left_out else None
    add_head(figure, handles=[], notes=[_note(rows, plan, options), more])
    return figure


def _dearest(rows: Sequence[Any]) -> _Arm | None:
    """The model and condition whose calls cost most in all; None where none costs anything."""
    spent: dict[_Arm, float] = {}
    for row in rows:
        usd = number(row.cost_usd)
        if usd is not None and row.condition != FIELD:
            arm = _Arm(row.model, row.condition)
            spent[arm] = spent.get(arm, 0.0) + usd
    dearest = max(spent, key=lambda arm: spent[arm], default=None)
    return dearest if dearest is not None and spent[dearest] > 0 else None


def _note(rows: Sequence[Any], plan: _Plan, options: Options) -> str:
    n = max(row.n_simulations for row in rows)
    if plan.priced is None:
        top = "calls of a condition"
    else:
        model = options.model_labels.get(plan.priced.model, plan.priced.model)
        name = options.condition_labels.get(plan.priced.condition, plan.priced.condition)
        top = f"dollars for {model}, {name}, the dearest arm"
    return (
        f"{n:,} simulated studies a point; bars: 95 % interval of the simulation. A curve ends where "
        f"power is 1. Above each panel: {top}, with the baseline's where one is needed, which is "
        f"asked as often; of several numbers of answers each, for the smallest."
    )


def _draw_design(panels: list[Any], rows: Sequence[Any], plan: _Plan, options: Options) -> None:
    curves = list(dict.fromkeys(_Curve(row.effect, int(row.replicates)) for row in rows))
    effects = sorted({curve.effect for curve in curves}, key=_order)
    replicates = sorted({curve.replicates for curve in curves})
    shown = [task for task in plan.tasks if any(row.task == task for row in rows)]
    for panel in panels[len(shown) :]:
        panel.set_axis_off()
    for task, panel in zip(shown, panels, strict=False):
        own = [row for row in rows if row.task == task]
        for curve in curves:
            of = [r for r in own if (r.effect, r.replicates) == curve]
            dash = replicates.index(curve.replicates)
            _draw_curve(panel, of, effects.index(curve.effect), dash)
        _scale(panel, plan, options, labelled=task == shown[0])
        _price(panel, own, plan)
        panel.set_title(_title(own[0]))
    _legend(panels[len(shown)], rows[0].design, effects, replicates)


def _order(effect: str) -> tuple[float, ...]:
    """Large effects first; of shares by what moves, of the others by their size."""
    parts = [float(part) for part in effect.split(" -> ")]
    return (-abs(parts[-1] - parts[0]),) if len(parts) > 1 else (-parts[0],)


def _draw_curve(panel: Any, rows: Sequence[Any], colour: int, dash: int) -> None:
    # one model and condition: power is that of the size, whoever is asked
    points = {int(row.n_users): row for row in rows if number(row.power) is not None}
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


def _scale(panel: Any, plan: _Plan, options: Options, *, labelled: bool) -> None:
    panel.set_xscale("log")
    panel.set_xlim(plan.sizes[0] / 1.15, plan.sizes[-1] * 1.15)
    panel.set_ylim(0, 1)
    panel.xaxis.set_major_locator(FixedLocator(_ticks(plan.sizes)))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter("{x:.0f}")
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1])
    panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    panel.axhline(options.target, color=_GREY, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
    if labelled:
        panel.set_ylabel("power")
    else:
        panel.tick_params(axis="y", labelleft=False)


def _ticks(sizes: Sequence[int]) -> list[int]:
    """At most five of the sizes, spread evenly, the first and the last among them."""
    if len(sizes) <= _TICKS:
        return list(sizes)
    step = (len(sizes) - 1) / (_TICKS - 1)
    return [sizes[round(k * step)] for k in range(_TICKS)]


def _price(panel: Any, rows: Sequence[Any], plan: _Plan) -> None:
    """Calls or dollars of the sizes, on an axis above."""
    replicates = min(row.replicates for row in rows)
    arm = plan.priced or _Arm(rows[0].model, rows[0].condition)
    told = {
        int(row.n_users): _amount(row, in_dollars=plan.priced is not None)
        for row in rows
        if _Arm(row.model, row.condition) == arm and row.replicates == replicates
    }
    above = panel.secondary_xaxis("top")
    ticks = [n for n in _ticks(plan.sizes) if n in told]
    above.set_xticks(ticks, [told[n] for n in ticks], color=_GREY)
    above.xaxis.set_minor_locator(NullLocator())
    above.tick_params(length=2, color=_GREY, pad=1)
    above.spines["top"].set_visible(False)


def _amount(row: Any, *, in_dollars: bool) -> str:
    if not in_dollars:
        return _short(float(row.n_calls + row.n_calls_baseline))
    usd = (number(row.cost_usd) or 0.0) + (number(row.cost_baseline_usd) or 0.0)
    # a dollar sign and zeros would run into the next size
    return f"${_short(usd)}" if usd == 0 or usd >= 1 else f"{_short(usd * 100)} ¢"


def _short(value: float) -> str:
    """Two digits, thousands as k."""
    if value >= 1000:
        return f"{value / 1000:.2g}k" if value < 99_500 else f"{value / 1000:.0f}k"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _title(row: Any) -> str:
    match row.design:
        case "shares":
            return f"{row.task}, {row.n_tests} tests"
        case "who":
            return f"{row.task}, {row.n_items} prompts"
        case _:
            return f"{row.task}, {row.n_tests} conditions"


def _legend(panel: Any, design: str, effects: Sequence[str], replicates: Sequence[int]) -> None:
    handles = [
        Line2D(
            [], [], color=_COLOURS[k % len(_COLOURS)], marker=_MARKERS[k % len(_MARKERS)],
            markersize=3.2, label=_printed(design, effect),
        )
        for k, effect in enumerate(effects)
    ]  # fmt: skip
    if len(replicates) > 1:
        handles += [
            Line2D(
                [], [], color=_GREY, linestyle=_DASHES[k % len(_DASHES)], label=f"{n} answers each"
            )
            for k, n in enumerate(replicates)
        ]
    panel.legend(
        handles=handles, title=DESIGNS[design], loc="center left", alignment="left",
        title_fontsize=TEXT_POINTS, handlelength=2.2, bbox_to_anchor=(0, 0.5),
    )  # fmt: skip


def _printed(design: str, effect: str) -> str:
    if design == "shares":
        before, after = (float(part) * 100 for part in effect.split(" -> "))
        return f"{before:.4g} % → {after:.4g} %"
    value = float(effect) * 100
    return f"{value:.4g} %" if design == "who" else f"{value:.4g} points"
