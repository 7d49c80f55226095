"""The figure of arms: the study's conditions side by side, by what their puppets bring.

Owns the drawing of `estimates.ArmMeasure` rows with the trends of `estimates.ArmTest`. A column of three
panels a task: distance from the baseline, the share of variance that comes from who asks, and entropy or
score. What is NULL in the table is a mark, never a zero, and its reason stands at the head.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log2
from typing import Any, Literal, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.style import (
    TEXT_POINTS,
    FigureOptions,
    Look,
    add_head,
    conditions_in,
    handle,
    looks,
    marker_style,
    models_in,
    new_figure,
    no_data,
    number,
    range_of,
    rows_of,
    why_empty,
)

ROWS: tuple[tuple[str, ...], ...] = (
    ("excess_js_bits",),
    ("share_who",),
    ("entropy_bits", "em_strict"),
)
TESTED = {
    "excess_js_bits": "from_baseline",
    "share_who": "share_who",
    "entropy_bits": "var_answers",
    "em_strict": "em_strict",
}
"""The tested measure that a panel tells the trend of."""

_GREY = "#555555"
_PANEL = 1.45
_LINE = 0.09
"""Height of a line of text, as a share of a panel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about the figure of arms."""

    x: Literal["condition", "conversations"] = "condition"
    """Names side by side, or the number of conversations asked for."""


class _Column(NamedTuple):
    task: str
    kind: str


class _Plan(NamedTuple):
    columns: list[_Column]
    places: dict[str, float]
    ticks: dict[str, str]
    models: dict[str, Look]
    step: float


def draw(table: pd.DataFrame, tests: pd.DataFrame, *, options: Options) -> Figure:
    """Draw estimates, intervals where there are any, and what the puppets really brought.

    Args:
        table: `estimates.ArmMeasure` rows; an empty one gives a figure that says so.
        tests: `estimates.ArmTest` rows; trends are printed.
    """
    why = why_empty(table, options)
    if why:
        return no_data(why, note=options.note)
    shown = conditions_in(table, options)
    rows = rows_of(table[table["condition"].isin(shown)].sort_values("position", kind="stable"))
    plan = _plan(rows, table, options)
    numeric = options.x == "conversations"
    names = 0.75 if numeric else 1.7
    figure = new_figure(height=len(ROWS) * _PANEL + names)
    grid = figure.subplots(len(ROWS), len(plan.columns), squeeze=False, sharex="col")
    for c, column in enumerate(plan.columns):
        of = [r for r in rows if (r.task, r.kind) == column]
        for panel, measures in zip(grid[:, c], ROWS, strict=True):
            here = [r for r in of if r.measure in measures]
            _draw_panel(panel, here, plan, numeric=numeric)
            _tell_trend(panel, here, tests, plan)
        grid[0, c].set_title(_title(of, column))
        _name_arms(grid[-1, c], plan, numeric=numeric)
    if numeric:
        grid[-1, 0].annotate(
            "asked for\nheld\ntokens", (0, 0), (-6, -4), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="top", fontsize=TEXT_POINTS, color=_GREY,
        )  # fmt: skip
    handles = [handle(look, look.label) for look in plan.models.values()]
    add_head(figure, handles=handles, notes=_notes(rows, options))
    return figure


def _plan(rows: Sequence[Any], table: pd.DataFrame, options: Options) -> _Plan:
    models = models_in(table, options)
    arms = {row.condition: row for row in rows}
    numeric = options.x == "conversations"
    places = {
        name: log2(1 + row.asked) if numeric else float(place)
        for place, (name, row) in enumerate(arms.items())
    }
    labels = {name: options.condition_labels.get(name, name.replace("_", " ")) for name in arms}
    columns = {_Column(row.task, row.kind) for row in rows}
    return _Plan(
        columns=sorted(columns, key=lambda c: (c.kind != "list", c)),
        places=places,
        ticks={n: _tick(labels[n], r, rows, numeric=numeric) for n, r in arms.items()},
        models=looks(models, labels=options.model_labels),
        step=0.16 if len(models) > 1 else 0.0,
    )


def _tick(label: str, arm: Any, rows: Sequence[Any], *, numeric: bool) -> str:
    """What stands under an arm: what was asked for, and what its contexts hold, over all tasks."""
    of = [row for row in rows if row.condition == arm.condition]
    held = _span([number(row.conversations) for row in of], rounded=1)
    tokens = _span([number(row.tokens) for row in of], rounded=0)
    if numeric:
        return f"{int(arm.asked)}\n{held or '–'}\n{tokens or '–'}"
    if tokens is None:
        return label
    return f"{label}\n({held} conv., {tokens} tok.)"


def _span(values: Sequence[float | None], *, rounded: int) -> str | None:
    """Smallest and largest of what is known, short: 96, 2.7k, 99k."""
    known = sorted(value for value in values if value is not None)
    ends = [_short(value, rounded) for value in known[:1] + known[-1:]]
    return "–".join(dict.fromkeys(ends)) or None


def _short(value: float, rounded: int) -> str:
    if value >= 1000:
        return f"{value / 1000:.0f}k" if value >= 9950 else f"{value / 1000:.1f}k"
    return f"{value:.{rounded}f}".removesuffix(".0")


def _title(rows: Sequence[Any], column: _Column) -> str:
    puppets = range_of(int(row.n_puppets) for row in rows if row.n_puppets)
    prompts = range_of(int(row.n_items) for row in rows if row.measure == "share_who")
    kind = "lists" if column.kind == "list" else "letters"
    return (
        f"{column.task.replace('_', ' ')} ({kind})\nn = {puppets or 0} puppets, {prompts} prompts"
    )


def _draw_panel(panel: Any, rows: Sequence[Any], plan: _Plan, *, numeric: bool) -> None:
    if not rows:
        panel.set_axis_off()
        return
    measure = rows[0].measure
    # with several models their counts stand in lines below the trends
    told = len(plan.models) if numeric else 0
    if measure in ("excess_js_bits", "share_who"):
        panel.axhline(0, color="#BBBBBB", linewidth=0.6, zorder=0.5)
    for j, (model, look) in enumerate(plan.models.items()):
        shift = (j - (len(plan.models) - 1) / 2) * plan.step
        known = [r for r in rows if r.model == model and number(r.estimate) is not None]
        xs = [plan.places[r.condition] + shift for r in known]
        style = {"linestyle": "-" if numeric else "none", "linewidth": 0.6, "color": look.colour}
        panel.plot(
            xs, [r.estimate for r in known], label=look.label, **style, **marker_style(look, size=4)
        )
        for x, row in zip(xs, known, strict=True):
            _interval(panel, x, row, look.colour)
            if number(row.n_different) is not None:
                _count(panel, (x, plan.places[row.condition]), row, plan, line=told + j)
    for name in {r.condition for r in rows if number(r.estimate) is None}:
        panel.text(
            plan.places[name], 0.02, "n/a", ha="center", va="bottom", color=_GREY,
            fontsize=TEXT_POINTS, transform=panel.get_xaxis_transform(),
        )  # fmt: skip
    panel.set_ylabel(_label(measure))
    panel.yaxis.set_major_locator(MaxNLocator(nbins=4))
    lines = told + (len(plan.models) if measure == "excess_js_bits" else 0)
    _make_room(panel, 0.05 + _LINE * lines)
    panel.margins(x=0.06)


def _interval(panel: Any, x: float, row: Any, colour: str) -> None:
    low, high = number(row.ci_low), number(row.ci_high)
    if low is not None and high is not None:
        panel.vlines(x, low, high, color=colour, linewidth=0.8, zorder=1.5)


def _make_room(panel: Any, share: float) -> None:
    """Leave `share` of the panel's height free above the points."""
    low, high = panel.get_ylim()
    span = 1.12 * (high - low)
    panel.set_ylim(high - span, high + span * share / (1 - share))


def _count(panel: Any, place: tuple[float, float], row: Any, plan: _Plan, *, line: int) -> None:
    """How many of the prompts differ from the baseline: above the point, or in the model's line."""
    told = f"{int(row.n_different)}/{int(row.n_items)}"
    if len(plan.models) == 1:
        panel.annotate(
            told, (place[0], row.estimate), (0, 5), textcoords="offset points", ha="center",
            fontsize=TEXT_POINTS, color=_GREY,
        )  # fmt: skip
        return
    panel.text(
        place[1], 0.98 - _LINE * line, told, ha="center", va="top", fontsize=TEXT_POINTS,
        color=plan.models[row.model].colour, transform=panel.get_xaxis_transform(),
    )  # fmt: skip


def _label(measure: str) -> str:
    match measure:
        case "excess_js_bits":
            return "Distance from\nbaseline (bits)"
        case "share_who":
            return "Share of variance\nfrom who asks"
        case "entropy_bits":
            return "Entropy\n(bits)"
        case _:
            return "Score\n(exact match)"


def _tell_trend(panel: Any, rows: Sequence[Any], tests: pd.DataFrame, plan: _Plan) -> None:
    """The p-value of each model's trend, in the corner of the panel."""
    if not rows:
        return
    of = tests[(tests["test"] == "trend") & (tests["task"] == rows[0].task)]
    of = of[(of["kind"] == rows[0].kind) & (of["measure"] == TESTED[rows[0].measure])]
    told = []
    for row in rows_of(of):
        p = number(row.p_value)
        whose = f"{plan.models[row.model].label}: " if len(plan.models) > 1 else ""
        told.append(f"{whose}trend of {row.measure}: " + ("n/a" if p is None else f"p = {p:.2g}"))
    if told:
        panel.text(
            0.99, 0.98, "\n".join(told), ha="right", va="top", fontsize=TEXT_POINTS, color=_GREY,
            transform=panel.transAxes,
        )  # fmt: skip


def _name_arms(panel: Any, plan: _Plan, *, numeric: bool) -> None:
    places, ticks = list(plan.places.values()), list(plan.ticks.values())
    if numeric:
        # two conditions that ask for equal numbers share a place
        merged = {
            place: max((tick for _, tick in group), key=len)
            for place, group in groupby(sorted(zip(places, ticks, strict=True)), key=_place)
        }
        panel.set_xticks(list(merged), list(merged.values()))
        panel.set_xlabel("conversations a puppet brings", color=_GREY)
        return
    panel.set_xticks(places, ticks, rotation=50, ha="right", rotation_mode="anchor")


def _place(tick: tuple[float, str]) -> float:
    return tick[0]


def _notes(rows: Sequence[Any], options: Options) -> list[str | None]:
    """The study's note, what the numbers over points mean, and why something is not there."""
    why = dict.fromkeys(
        f"{row.measure}, {row.condition}: {row.reason}"
        for row in rows
        if number(row.estimate) is None
    )
    told = list(why)[:4]
    more = f"; {len(why) - len(told)} more in the table" if len(why) > len(told) else ""
    return [
        options.note,
        "Fractions: prompts that differ from the baseline (Holm, 5 %). Bars: 95 % intervals.",
        f"n/a: {'; '.join(told)}{more}" if told else None,
    ]
