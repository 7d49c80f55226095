"""The figure of arms: the study's conditions side by side, by what their puppets bring.

Owns the drawing of `records.ArmMeasure` rows with the trends of `records.ArmTest`. Each task has a column
of three panels: distance from the baseline, the share of variance between contexts, and entropy
or score. A NULL in the table is a mark, never a zero, and its reason stands at the head.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log2
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import KIND_NOUNS
from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark, span_of
from fieldwork.figures.selection import (
    absence_reason,
    conditions_in,
    float_or_none,
    models_in,
    range_of,
    rows_of,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    condition_styles,
    draw_interval,
    empty_figure,
    legend_entry,
    marker_arguments,
    new_figure,
)
from fieldwork.records.arms import ArmMeasure, ArmTest
from fieldwork.records.figures import AnswerBase

ROWS: tuple[tuple[str, ...], ...] = (
    ("excess_js_bits",),
    ("share_who",),
    ("entropy_bits", "em_strict"),
)
TEST_MEASURES = {
    "excess_js_bits": "from_baseline",
    "share_who": "share_who",
    "entropy_bits": "var_answers",
    "em_strict": "em_strict",
}
"""The measure of `arm_tests` whose trend a panel prints."""

_LABELS = {
    "excess_js_bits": "Distance from\nbaseline (bits)",
    "share_who": "Share of variance\nbetween contexts",
    "entropy_bits": "Entropy\n(bits)",
    "em_strict": "Score\n(exact match)",
}

_BASES: Mapping[str, AnswerBase] = {"share_who": "counted", "em_strict": "runs"}
"""Measures that are not of the first answers of the puppets."""
_PANEL = 1.45
_LINE = 0.09
"""Height of a line of text, as a share of a panel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmsFigureSettings(FigureSettings):
    """What a study decides about the figure of arms."""

    x: Literal["condition", "conversations"] = "condition"
    """The x axis: names side by side, or the number of conversations that the config asks for."""


class _TaskColumn(NamedTuple):
    task: str
    kind: str


class _ArmsLayout(NamedTuple):
    columns: list[_TaskColumn]
    places: dict[str, float]
    labels: dict[str, str]
    ticks: dict[str, str]
    models: dict[str, ConditionStyle]
    step: float


TABLES = {"arms": ArmMeasure, "arm_tests": ArmTest}
SETTINGS = ArmsFigureSettings


def draw(measures: pd.DataFrame, tests: pd.DataFrame, settings: ArmsFigureSettings) -> Figure:
    """Draw estimates with their intervals, and the conversations and tokens that the contexts hold.

    Args:
        measures: `records.ArmMeasure` rows; an empty table gives a figure that says so.
        tests: `records.ArmTest` rows; trends are printed.
    """
    reason = absence_reason(measures, settings)
    if reason:
        return empty_figure(reason, settings)
    conditions = conditions_in(measures, settings)
    rows = rows_of(
        measures[measures["condition"].isin(conditions)].sort_values("position", kind="stable")
    )
    layout = _lay_out(rows, models_in(measures, settings), settings)
    is_numeric = settings.x == "conversations"
    label_inches = 0.75 if is_numeric else 1.7
    figure = new_figure(height=len(ROWS) * _PANEL + label_inches)
    grid = figure.subplots(len(ROWS), len(layout.columns), squeeze=False, sharex="col")
    for c, column in enumerate(layout.columns):
        column_rows = [r for r in rows if (r.task, r.kind) == column]
        for panel, panel_measures in zip(grid[:, c], ROWS, strict=True):
            panel_rows = [r for r in column_rows if r.measure in panel_measures]
            _draw_panel(panel, panel_rows, layout, is_numeric=is_numeric)
            _print_trend(panel, panel_rows, tests, layout)
        grid[0, c].set_title(_title(column_rows, column))
        _name_arms(grid[-1, c], layout, is_numeric=is_numeric)
    if is_numeric:
        grid[-1, 0].annotate(
            "asked for\nheld\ntokens", (0, 0), (-6, -4), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="top", fontsize=TEXT_POINTS, color=GREY,
        )  # fmt: skip
    handles = [legend_entry(style, style.label) for style in layout.models.values()]
    add_head(figure, handles=handles, notes=_notes(rows, settings))
    return figure


def _lay_out(
    rows: Sequence[Any], models: Sequence[str], settings: ArmsFigureSettings
) -> _ArmsLayout:
    arms = {row.condition: row for row in rows}
    is_numeric = settings.x == "conversations"
    places = {
        name: log2(1 + row.asked) if is_numeric else float(place)
        for place, (name, row) in enumerate(arms.items())
    }
    labels = {name: settings.condition_labels.get(name, name.replace("_", " ")) for name in arms}
    columns = {_TaskColumn(row.task, row.kind) for row in rows}
    return _ArmsLayout(
        columns=sorted(columns, key=lambda c: (c.kind != "list", c)),
        places=places,
        labels=labels,
        ticks={n: _tick(labels[n], r, rows, is_numeric=is_numeric) for n, r in arms.items()},
        models=condition_styles(models, labels=settings.model_labels),
        step=0.16 if len(models) > 1 else 0.0,
    )


def _tick(label: str, arm: Any, rows: Sequence[Any], *, is_numeric: bool) -> str:
    """The label of an arm: its name or its number of conversations, and what its contexts hold."""
    arm_rows = [row for row in rows if row.condition == arm.condition]
    conversations = _span([float_or_none(row.conversations) for row in arm_rows], decimals=1)
    tokens = _span([float_or_none(row.tokens) for row in arm_rows], decimals=0)
    if is_numeric:
        return f"{int(arm.asked)}\n{conversations or '–'}\n{tokens or '–'}"
    if tokens is None:
        return label
    return f"{label}\n({conversations} conv., {tokens} tok.)"


def _span(values: Sequence[float | None], *, decimals: int) -> str | None:
    """Smallest and largest value, shortened: 96, 2.7k, 99k."""
    numbers = sorted(value for value in values if value is not None)
    ends = [_short(value, decimals) for value in numbers[:1] + numbers[-1:]]
    return "–".join(dict.fromkeys(ends)) or None


def _short(value: float, decimals: int) -> str:
    if value >= 1000:
        return f"{value / 1000:.0f}k" if value >= 9950 else f"{value / 1000:.1f}k"
    return f"{value:.{decimals}f}".removesuffix(".0")


def _title(rows: Sequence[Any], column: _TaskColumn) -> str:
    puppets = range_of(int(row.n_puppets) for row in rows if row.n_puppets)
    prompts = range_of(int(row.n_items) for row in rows if row.measure == "share_who")
    kind = KIND_NOUNS[column.kind]
    return (
        f"{column.task.replace('_', ' ')} ({kind})\nn = {puppets or 0} puppets, {prompts} prompts"
    )


def _draw_panel(panel: Any, rows: Sequence[Any], layout: _ArmsLayout, *, is_numeric: bool) -> None:
    if not rows:
        panel.set_axis_off()
        return
    measure = rows[0].measure
    # with several models their counts stand in lines below the trends
    n_trend_lines = len(layout.models) if is_numeric else 0
    if measure in ("excess_js_bits", "share_who"):
        panel.axhline(0, color="#BBBBBB", linewidth=0.6, zorder=0.5)
    for j, (model, style) in enumerate(layout.models.items()):
        shift = (j - (len(layout.models) - 1) / 2) * layout.step
        estimated_rows = [
            r for r in rows if r.model == model and float_or_none(r.estimate) is not None
        ]
        xs = [layout.places[r.condition] + shift for r in estimated_rows]
        line = {
            "linestyle": "-" if is_numeric else "none",
            "linewidth": 0.6,
            "color": style.colour,
        }
        panel.plot(
            xs,
            [r.estimate for r in estimated_rows],
            label=style.label,
            **line,
            **marker_arguments(style, size=4),
        )
        for x, row in zip(xs, estimated_rows, strict=True):
            draw_interval(panel, x, row, style.colour)
            _mark_estimate(panel, x, row, layout)
            if float_or_none(row.n_different) is not None:
                _count(
                    panel, (x, layout.places[row.condition]), row, layout, line=n_trend_lines + j
                )
    for name in dict.fromkeys(r.condition for r in rows if float_or_none(r.estimate) is None):
        panel.text(
            layout.places[name], 0.02, "n/a", ha="center", va="bottom", color=GREY,
            fontsize=TEXT_POINTS, transform=panel.get_xaxis_transform(),
        )  # fmt: skip
    panel.set_ylabel(_LABELS[measure])
    panel.yaxis.set_major_locator(MaxNLocator(nbins=4))
    lines = n_trend_lines + (len(layout.models) if measure == "excess_js_bits" else 0)
    _make_room(panel, 0.05 + _LINE * lines)
    panel.margins(x=0.06)


def _mark_estimate(panel: Any, x: float, row: Any, layout: _ArmsLayout) -> None:
    caption = MarkedValue(
        measure=" ".join(_LABELS[row.measure].split()),
        label=layout.labels[row.condition],
        value=float(row.estimate),
        ci_low=float_or_none(row.ci_low),
        ci_high=float_or_none(row.ci_high),
        digits=3,
    )
    is_of_all = row.measure == "share_who"
    answers = MarkedAnswers(
        model=row.model,
        task=row.task,
        condition=row.condition,
        kind=row.kind,
        base=_BASES.get(row.measure, "first"),
        n=int(row.n_responses) if is_of_all else None,
    )
    add_mark(panel, x, span_of(float(row.estimate), row), caption, answers)


def _make_room(panel: Any, share: float) -> None:
    """Leave `share` of the panel's height free above the points."""
    low, high = panel.get_ylim()
    span = 1.12 * (high - low)
    panel.set_ylim(high - span, high + span * share / (1 - share))


def _count(
    panel: Any, place: tuple[float, float], row: Any, layout: _ArmsLayout, *, line: int
) -> None:
    """How many prompts differ from the baseline, above the point or in the line of the model."""
    text = f"{int(row.n_different)}/{int(row.n_items)}"
    if len(layout.models) == 1:
        panel.annotate(
            text, (place[0], row.estimate), (0, 5), textcoords="offset points", ha="center",
            fontsize=TEXT_POINTS, color=GREY,
        )  # fmt: skip
        return
    panel.text(
        place[1], 0.98 - _LINE * line, text, ha="center", va="top", fontsize=TEXT_POINTS,
        color=layout.models[row.model].colour, transform=panel.get_xaxis_transform(),
    )  # fmt: skip


def _print_trend(panel: Any, rows: Sequence[Any], tests: pd.DataFrame, layout: _ArmsLayout) -> None:
    """The p-value of each model's trend, in the corner of the panel."""
    if not rows:
        return
    trends = tests[(tests["test"] == "trend") & (tests["task"] == rows[0].task)]
    trends = trends[
        (trends["kind"] == rows[0].kind) & (trends["measure"] == TEST_MEASURES[rows[0].measure])
    ]
    lines = []
    for row in rows_of(trends):
        p = float_or_none(row.p_value)
        model = f"{layout.models[row.model].label}: " if len(layout.models) > 1 else ""
        lines.append(f"{model}trend of {row.measure}: " + ("n/a" if p is None else f"p = {p:.2g}"))
    if lines:
        panel.text(
            0.99, 0.98, "\n".join(lines), ha="right", va="top", fontsize=TEXT_POINTS, color=GREY,
            transform=panel.transAxes,
        )  # fmt: skip


def _name_arms(panel: Any, layout: _ArmsLayout, *, is_numeric: bool) -> None:
    places, ticks = list(layout.places.values()), list(layout.ticks.values())
    if is_numeric:
        # two conditions that ask for equal numbers share a place
        longest_ticks = {
            place: max((tick for _, tick in group), key=len)
            for place, group in groupby(sorted(zip(places, ticks, strict=True)), key=itemgetter(0))
        }
        panel.set_xticks(list(longest_ticks), list(longest_ticks.values()))
        panel.set_xlabel("conversations per puppet", color=GREY)
        return
    panel.set_xticks(places, ticks, rotation=50, ha="right", rotation_mode="anchor")


def _notes(rows: Sequence[Any], settings: ArmsFigureSettings) -> list[str | None]:
    """The study's note, what the numbers over points mean, and why estimates are missing."""
    reasons = dict.fromkeys(
        f"{row.measure}, {row.condition}: {row.reason}"
        for row in rows
        if float_or_none(row.estimate) is None
    )
    first_reasons = list(reasons)[:4]
    remainder = (
        f"; {len(reasons) - len(first_reasons)} more in the table"
        if len(reasons) > len(first_reasons)
        else ""
    )
    return [
        settings.note,
        "Fractions: prompts that differ from the baseline (Holm, 5 %). Bars: 95 % intervals.",
        f"n/a: {'; '.join(first_reasons)}{remainder}" if first_reasons else None,
    ]
