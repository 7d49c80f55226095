"""The figure of `snakemake power`: how often a study of a size claims an effect, and what the size costs.

Owns the drawing of `records.PowerRow` rows: a row of panels per measure, a column per task, a curve per
effect. Where the conditions' tests are corrected otherwise, the least power is drawn. The upper axis has
the calls or, where there are prices, the dollars of the most expensive arm.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from fieldwork.figures.marks import Point, ends_of
from fieldwork.figures.panel import Panel, draw_page, draw_points
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
    legend_line,
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
_SHARES: Mapping[str, Any] = {"ylim": (0, 1), "yticks": [0, 0.25, 0.5, 0.75, 1]}


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
    left_out = len(tasks) - len(layout.tasks)
    remark = f"The table has {left_out} more tasks." if left_out else None
    return draw_page(
        [_measure_panels(rows_by_measure[(name,)], layout, settings) for name in names],
        settings,
        height=_PANEL_INCHES * len(names),
        handles=[],
        notes=[_note(rows_of(table), layout, settings), remark],
        xlabel={"t": "users or puppets", "x": 0.42},
        width_ratios=[1.0] * len(layout.tasks) + [_LEGEND_INCHES / 1.7],
    )


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


def _measure_panels(
    rows: Sequence[Any], layout: PowerLayout, settings: FigureSettings
) -> list[Panel | None]:
    """The panels of a measure by task, and beside them its legend."""
    curves = dict.fromkeys((row.effect, int(row.replicates)) for row in rows)
    styles = series_styles(sorted({effect for effect, _ in curves}, key=_order))
    replicates = sorted({n for _, n in curves})
    panels: list[Panel | None] = []
    for task in layout.tasks:
        task_rows = [row for row in rows if row.task == task]
        if task_rows:
            further = partial(
                _draw_curves, rows=task_rows, curves=curves, styles=styles, replicates=replicates,
                layout=layout, target=settings.target, is_first=not panels,
            )  # fmt: skip
            panels.append(Panel(title=_title(task_rows), axes=_SHARES, further=further))
    return [*panels, Panel(further=partial(_legend, rows[0].measure, styles, replicates))]


def _draw_curves(
    axes: Any,
    *,
    rows: Sequence[Any],
    curves: Iterable[tuple[str, int]],
    styles: Mapping[str, ConditionStyle],
    replicates: Sequence[int],
    layout: PowerLayout,
    target: float,
    is_first: bool,
) -> None:
    """The curves of a task, the power to reach, and the sizes with their prices."""
    for effect, n in curves:
        curve = [row for row in rows if (row.effect, row.replicates) == (effect, n)]
        _draw_curve(axes, curve, styles[effect], replicates.index(n))
    axes.axhline(target, color=GREY, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
    axes.set(xscale="log", xlim=(layout.sizes[0] / 1.15, layout.sizes[-1] * 1.15))
    axes.xaxis.set_major_locator(FixedLocator(layout.ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.tick_params(axis="y", labelleft=is_first)
    axes.set_ylabel("power" if is_first else "")
    _price(axes, rows, layout)


def _order(effect: str) -> tuple[float, str]:
    """Large effects first: shifts of shares by their size, other effects by themselves."""
    parts = [float(part.split()[0]) for part in effect.split(" -> ")]
    return (-abs(parts[-1] - parts[0]) if len(parts) > 1 else -parts[0], effect)


def _draw_curve(axes: Any, rows: Sequence[Any], style: ConditionStyle, dash: int) -> None:
    # the least of all models and conditions of a size, which differ where their corrections do
    simulated_rows = sorted((r for r in rows if not pd.isna(r.power)), key=lambda row: -row.power)
    points = {
        int(row.n_users): Point(value=float(row.power)) if dash else Point(**ends_of(row, "power"))
        for row in simulated_rows
    }
    look = (
        {"marker": "None", "linewidth": 0.7, "zorder": 2}
        if dash
        else {"linewidth": 1.1, "zorder": 3}
    )
    draw_points(
        axes, sorted(points.items(), key=itemgetter(0)), style, size=3.2, markeredgewidth=1.0,
        clip_on=False, linestyle=_DASHES[dash % len(_DASHES)], interval={"zorder": 2}, **look,
    )  # fmt: skip


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
    measure: str, styles: Mapping[str, ConditionStyle], replicates: Sequence[int], axes: Any
) -> None:
    axes.set_axis_off()
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
