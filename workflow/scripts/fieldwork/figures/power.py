"""The figure of `snakemake power`: how often a study of a size claims an effect, and what the size costs.

Owns the drawing of `records.PowerRow` rows: a row of panels per measure, a column per task, a curve per
effect. Where the conditions' tests are corrected otherwise, the least power is drawn. The upper axis has
the calls or, where there are prices, the dollars of the most expensive arm.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from fieldwork.figures.selection import (
    NothingToDrawError,
    float_or_none,
    rows_by,
    rows_of,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    legend_line,
    new_figure,
    says_what_is_missing,
    series_styles,
)
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

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
_PANEL_INCHES = 1.75
_LEGEND_INCHES = 1.25
_TICKS = 5


class PowerLayout(NamedTuple):
    """Tasks to draw, the sizes of the x axis, and the model and condition whose price is printed."""

    tasks: list[str]
    sizes: list[int]
    dearest: tuple[str, str] | None

    @property
    def ticks(self) -> list[int]:
        """At most five of the sizes, spread evenly, the first and the last among them."""
        if len(self.sizes) <= _TICKS:
            return self.sizes
        step = (len(self.sizes) - 1) / (_TICKS - 1)
        return [self.sizes[round(k * step)] for k in range(_TICKS)]


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw the rows of `power/power.parquet`."""
    if table.empty:
        raise NothingToDrawError("the table has no rows")
    # participants are drawn where the study has some
    part = table[table["condition"].isin(list(settings.conditions))]
    table = table if part.empty else part
    tasks = [task for task in settings.tasks if task in set(table["task"])]
    tasks = [*dict.fromkeys([*tasks, *table["task"]])]
    sizes = sorted({int(size) for size in table["n_users"]})
    layout = PowerLayout(tasks[:MAX_TASKS], sizes, _dearest(table))
    rows_by_measure = rows_by(table, "measure")
    names = [measure for measure in _titles() if (measure,) in rows_by_measure]
    figure = new_figure(height=_PANEL_INCHES * len(names))
    widths = [1.0] * len(layout.tasks) + [_LEGEND_INCHES / 1.7]
    grid = figure.subplots(len(names), len(widths), squeeze=False, width_ratios=widths)
    for measure, panels in zip(names, grid, strict=True):
        _draw_measure(list(panels), rows_by_measure[(measure,)], layout, settings)
    figure.supxlabel("users or puppets", x=0.42)
    left_out = len(tasks) - len(layout.tasks)
    remark = f"The table has {left_out} more tasks." if left_out else None
    return add_head(figure, handles=[], notes=[_note(rows_of(table), layout, settings), remark])


def _dearest(table: pd.DataFrame) -> tuple[str, str] | None:
    """The model and condition whose calls cost most in all; None where none costs anything."""
    spent: dict[tuple[str, str], float] = {}
    for row in rows_of(table[(table["condition"] != FIELD) & table["cost_usd"].notna()]):
        arm = (row.model, row.condition)
        spent[arm] = spent.get(arm, 0.0) + float(row.cost_usd)
    dearest = max(spent, key=lambda arm: spent[arm], default=None)
    return dearest if dearest is not None and spent[dearest] > 0 else None


def _note(rows: Sequence[Any], layout: PowerLayout, settings: FigureSettings) -> str:
    n = max(row.n_simulations for row in rows)
    top = "calls of a condition"
    if layout.dearest is not None:
        model, condition = layout.dearest
        name = settings.condition_labels.get(condition, condition)
        top = f"dollars for {settings.model_name(model)}, {name}, the most expensive arm"
    return (
        f"Share of {n:,} simulated studies that claim the effect, corrected for all tests of its family "
        f"(as many as each title says). {_supposition(rows, layout)} Bars are 95 % intervals of the "
        f"simulation. Beyond a power of 0.995 larger studies were not simulated. Above each panel: "
        f"{top}, for the smallest number of answers each, the baseline's included where it is needed."
    )


def _supposition(rows: Sequence[Any], layout: PowerLayout) -> str:
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
    panels: list[Any], rows: Sequence[Any], layout: PowerLayout, settings: FigureSettings
) -> None:
    curves = dict.fromkeys((row.effect, int(row.replicates)) for row in rows)
    styles = series_styles(sorted({effect for effect, _ in curves}, key=_order))
    replicates = sorted({n for _, n in curves})
    tasks = [task for task in layout.tasks if any(row.task == task for row in rows)]
    for panel in panels[len(tasks) :]:
        panel.set_axis_off()
    for task, panel in zip(tasks, panels, strict=False):
        task_rows = [row for row in rows if row.task == task]
        for effect, n in curves:
            curve = [row for row in task_rows if (row.effect, row.replicates) == (effect, n)]
            _draw_curve(panel, curve, styles[effect], replicates.index(n))
        _scale(panel, layout, settings, has_label=task == tasks[0])
        _price(panel, task_rows, layout)
        panel.set_title(_title(task_rows))
    _legend(panels[len(tasks)], rows[0].measure, styles, replicates)


def _order(effect: str) -> tuple[float, str]:
    """Large effects first: shifts of shares by their size, other effects by themselves."""
    parts = [float(part.split()[0]) for part in effect.split(" -> ")]
    return (-abs(parts[-1] - parts[0]) if len(parts) > 1 else -parts[0], effect)


def _draw_curve(axes: Any, rows: Sequence[Any], style: ConditionStyle, dash: int) -> None:
    # the least of all models and conditions of a size, which differ where their corrections do
    simulated_rows = sorted((r for r in rows if not pd.isna(r.power)), key=lambda row: -row.power)
    points = {int(row.n_users): row for row in simulated_rows}
    sizes = sorted(points)
    axes.plot(
        sizes,
        [float(points[n].power) for n in sizes],
        color=style.colour,
        linestyle=_DASHES[dash % len(_DASHES)],
        marker=None if dash else style.marker,
        markersize=3.2,
        linewidth=0.7 if dash else 1.1,
        label=rows[0].effect if rows else None,
        clip_on=False,
        zorder=2 if dash else 3,
    )
    if not dash:
        lows = [float(points[n].ci_low) for n in sizes]
        highs = [float(points[n].ci_high) for n in sizes]
        axes.vlines(sizes, lows, highs, color=style.colour, linewidth=0.8, zorder=2)


def _scale(axes: Any, layout: PowerLayout, settings: FigureSettings, *, has_label: bool) -> None:
    axes.set_xscale("log")
    axes.set_xlim(layout.sizes[0] / 1.15, layout.sizes[-1] * 1.15)
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(FixedLocator(layout.ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.axhline(settings.target, color=GREY, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
    if has_label:
        axes.set_ylabel("power")
    else:
        axes.tick_params(axis="y", labelleft=False)


def _price(axes: Any, rows: Sequence[Any], layout: PowerLayout) -> None:
    """An axis above with the calls or dollars of the sizes."""
    replicates = min(row.replicates for row in rows)
    arm = layout.dearest or (rows[0].model, rows[0].condition)
    amounts = {
        int(row.n_users): _amount(row, in_dollars=layout.dearest is not None)
        for row in rows
        if (row.model, row.condition) == arm and row.replicates == replicates
    }
    above = axes.secondary_xaxis("top")
    ticks = [n for n in layout.ticks if n in amounts]
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


def _legend(
    axes: Any, measure: str, styles: Mapping[str, ConditionStyle], replicates: Sequence[int]
) -> None:
    handles = [
        legend_line(
            _effect_label(measure, effect), width=0.9, colour=style.colour, marker=style.marker,
            markersize=3.2,
        )
        for effect, style in styles.items()
    ]  # fmt: skip
    handles += [
        legend_line(f"{n} answers each", width=0.9, linestyle=_DASHES[k % len(_DASHES)])
        for k, n in enumerate(replicates if len(replicates) > 1 else ())
    ]
    axes.legend(
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
