"""The figure of `snakemake power`: how often a study of a size claims an effect, and what the size costs.

Owns the drawing of `records.PowerRow` rows: a row of panels per measure, a column per task, a curve per
effect. Where the conditions' tests are corrected otherwise, the least power is drawn. The upper axis has
the calls or, where there are prices, the dollars of the most expensive arm.
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
from fieldwork.measures import effect_unit, measures
from fieldwork.records.field import FIELD

MEASURES: Mapping[str, str] = {
    "option_share": "share of an answer,\nbaseline → condition",
    "distance": "the same, seen in all\nanswers to a prompt",
    "share_who": "share of variance\nbetween contexts",
    "entropy_bits": "lists more varied",
    "score": "difference of\nmean scores",
    "value": "difference of\nmean answers",
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
    """Measures and tasks to draw, the sizes of the x axis, and the arm whose price is printed."""

    measures: list[str]
    tasks: list[str]
    sizes: list[int]
    dearest: _PricedArm | None


def draw(table: pd.DataFrame, settings: PowerFigureSettings) -> Figure:
    """Draw the rows of `power/power.parquet`."""
    # participants are drawn where the study has some
    all_rows = rows_of(table)
    rows = [row for row in all_rows if row.condition in settings.conditions] or all_rows
    if not rows:
        return empty_figure("the table has no rows", settings)
    tasks_of_rows = dict.fromkeys(row.task for row in rows)
    tasks_first = [task for task in settings.tasks if task in tasks_of_rows]
    tasks = list(dict.fromkeys([*tasks_first, *tasks_of_rows]))
    layout = _PowerLayout(
        [measure for measure in _titles() if any(row.measure == measure for row in rows)],
        tasks[:MAX_TASKS],
        sorted({int(row.n_users) for row in rows}),
        _dearest(rows),
    )
    figure = new_figure(height=_PANEL_INCHES * len(layout.measures))
    widths = [1.0] * len(layout.tasks) + [_LEGEND_INCHES / 1.7]
    grid = figure.subplots(
        len(layout.measures), len(widths), squeeze=False, gridspec_kw={"width_ratios": widths}
    )
    for measure, panels in zip(layout.measures, grid, strict=True):
        measure_rows = [row for row in rows if row.measure == measure]
        _draw_measure(list(panels), measure_rows, layout, settings)
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
        f"Share of {n:,} simulated studies that claim the effect, corrected for all tests of its family "
        f"(as many as each title says). {_supposition(rows, layout)} Bars are 95 % intervals of the "
        f"simulation. Beyond a power of 0.995 larger studies were not simulated. Above each panel: "
        f"{top}, for the smallest number of answers each, the baseline's included where it is needed."
    )


def _supposition(rows: Sequence[Any], layout: _PowerLayout) -> str:
    """Who carries the effects, and which prompts everybody answers alike."""
    odd_users = float(rows[0].odd_users)
    users = "every user" if odd_users == 1 else f"{odd_users * 100:.4g} % of the users"
    settled_prompts = {
        row.task: f"{row.n_settled:,} of {row.n_items:,} prompts of {row.task}"
        for row in rows
        if row.n_settled and row.task in layout.tasks
    }
    alike = f"; all answer {', '.join(settled_prompts.values())} alike" if settled_prompts else ""
    supposition = f"Supposed: {users} carr{'ies' if odd_users == 1 else 'y'} the effect{alike}."
    likeness = sorted({value for row in rows if (value := float_or_none(row.likeness)) is not None})
    if not likeness:
        return supposition
    ends = " to ".join(f"{value:.2g}" for value in dict.fromkeys((likeness[0], likeness[-1])))
    return f"{supposition} A user's answers to two prompts correlate by {ends}."


def _draw_measure(
    panels: list[Any], rows: Sequence[Any], layout: _PowerLayout, settings: PowerFigureSettings
) -> None:
    curves = list(dict.fromkeys((row.effect, int(row.replicates)) for row in rows))
    effects = sorted({effect for effect, _ in curves}, key=_order)
    replicates = sorted({n for _, n in curves})
    own_tasks = [task for task in layout.tasks if any(row.task == task for row in rows)]
    for panel in panels[len(own_tasks) :]:
        panel.set_axis_off()
    for task, panel in zip(own_tasks, panels, strict=False):
        task_rows = [row for row in rows if row.task == task]
        for effect, n in curves:
            curve_rows = [r for r in task_rows if (r.effect, r.replicates) == (effect, n)]
            _draw_curve(panel, curve_rows, effects.index(effect), replicates.index(n))
        _scale(panel, layout, settings, has_label=task == own_tasks[0])
        _price(panel, task_rows, layout)
        panel.set_title(_title(task_rows))
    _legend(panels[len(own_tasks)], rows[0].measure, effects, replicates)


def _order(effect: str) -> tuple[float, str]:
    """Large effects first: shifts of shares by their size, other effects by themselves."""
    parts = [float(part.split()[0]) for part in effect.split(" -> ")]
    return (-abs(parts[-1] - parts[0]) if len(parts) > 1 else -parts[0], effect)


def _draw_curve(panel: Any, rows: Sequence[Any], colour: int, dash: int) -> None:
    # the least of all models and conditions of a size, which differ where their corrections do
    simulated_rows = [row for row in rows if float_or_none(row.power) is not None]
    points = {int(row.n_users): row for row in sorted(simulated_rows, key=lambda row: -row.power)}
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


def _title(rows: Sequence[Any]) -> str:
    """The task, and how many tests are corrected together, from the smallest size to the largest."""
    numbers = sorted({int(row.n_tests) for row in rows if float_or_none(row.n_tests) is not None})
    if not numbers:
        return f"{rows[0].task}, no such source"
    first, last = numbers[0], numbers[-1]
    n_tests = f"{last:,}" if first == last else f"{first:,} to {last:,}"
    return f"{rows[0].task}, {n_tests} test{'' if last == 1 else 's'}"


def _legend(panel: Any, measure: str, effects: Sequence[str], replicates: Sequence[int]) -> None:
    handles = [
        Line2D(
            [], [], color=_COLOURS[k % len(_COLOURS)], marker=_MARKERS[k % len(_MARKERS)],
            markersize=3.2, label=_effect_label(measure, effect),
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
        handles=handles, title=_titles()[measure], loc="center left", alignment="left",
        title_fontsize=TEXT_POINTS, handlelength=2.2, bbox_to_anchor=(0, 0.5),
    )  # fmt: skip


def _effect_label(measure: str, effect: str) -> str:
    if measure in ("option_share", "distance"):
        low, high = (float(part) * 100 for part in effect.split(" -> "))
        return f"{low:.4g} % → {high:.4g} %"
    if measure == "value":
        difference, _, together = effect.partition(" ")
        return f"{difference} sd{', ' if together else ''}{together}"
    if measure not in MEASURES or measure == "entropy_bits":
        return f"{effect} {effect_unit(measures()[measure]).replace('standard deviations', 'sd')}"
    value = float(effect) * 100
    return f"{value:.4g} %" if measure == "share_who" else f"{value:.4g} points"


def _titles() -> dict[str, str]:
    """Titles of legends, in the order of the panels; a measure that is declared has its own."""
    claimed_titles = {name: m.words or m.title for name, m in measures().items() if m.is_claimed}
    return {**MEASURES, **claimed_titles, **MEASURES}
