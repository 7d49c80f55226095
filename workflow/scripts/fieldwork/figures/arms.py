"""The figure of arms: the study's conditions side by side, by what their puppets bring.

Owns the drawing of `records.ArmMeasure` rows with the trends of `records.ArmTest`. Each task has a column
of three panels: distance from the baseline, the share of variance between contexts, and entropy
or score. A NULL in the table is a mark, never a zero, and its reason stands at the head.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import log2
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import KIND_NOUNS
from fieldwork.figures.marks import PageMark, ends_of
from fieldwork.figures.panel import Panel, Points, dodge, draw_page, say_absent
from fieldwork.figures.selection import (
    float_or_none,
    models_in,
    range_of,
    row_by,
    rows_by,
    rows_of,
    rows_to_draw,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    TEXT_POINTS,
    ConditionStyle,
    condition_styles,
    legend_entry,
    says_what_is_missing,
)
from fieldwork.records.arms import ArmMeasure, ArmTest
from fieldwork.records.figures import AnswerBase


class ArmPanel(NamedTuple):
    """What a measure is called, its row of panels, the test whose trend is printed, and its answers."""

    label: str
    row: int
    test: str
    base: AnswerBase = "first"


PANELS: Mapping[str, ArmPanel] = {
    "excess_js_bits": ArmPanel("Distance from\nbaseline (bits)", 0, "from_baseline"),
    "share_who": ArmPanel("Share of variance\nbetween contexts", 1, "share_who", "counted"),
    "entropy_bits": ArmPanel("Entropy\n(bits)", 2, "var_answers"),
    "em_strict": ArmPanel("Score\n(exact match)", 2, "em_strict", "runs"),
}
TABLES = {"arms": ArmMeasure, "arm_tests": ArmTest}

_ROWS = 3
_PANEL = 1.45
_LINE = 0.09
"""Height of a line of text, as a share of a panel."""
_MOST_REASONS = 4


@says_what_is_missing
def draw(measures: pd.DataFrame, tests: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw estimates with their intervals, and the conversations and tokens that the contexts hold.

    Args:
        measures: `records.ArmMeasure` rows; an empty table gives a figure that says so.
        tests: `records.ArmTest` rows; trends are printed.
        settings: of the study.
    """
    table = rows_to_draw(measures, settings).sort_values("position", kind="stable")
    arms = row_by(table, "condition")
    is_numeric = settings.x == "conversations"
    places = {
        name: log2(1 + row.asked) if is_numeric else float(place)
        for place, ((name,), row) in enumerate(arms.items())
    }
    styles = condition_styles(models_in(table, settings), labels=settings.model_labels)
    trends = rows_by(tests[tests["test"] == "trend"], "task", "kind", "measure")
    ticks = {
        name: _tick(_name(name, settings), arm, table[table["condition"] == name], settings)
        for (name,), arm in arms.items()
    }
    names = _arm_names(places, ticks, is_numeric=is_numeric)
    columns: list[list[Panel | None]] = []
    kinds = sorted(rows_by(table, "task", "kind"), key=lambda key: (key[1] != "list", key))
    for number, (task, kind) in enumerate(kinds):
        part = table[(table["task"] == task) & (table["kind"] == kind)]
        columns.append([])
        for line in range(_ROWS):
            rows = [row for row in rows_of(part) if PANELS[row.measure].row == line]
            if not rows:
                columns[-1].append(None)
                continue
            panel = PANELS[rows[0].measure]
            further = partial(
                _write, rows=rows, places=places, styles=styles, is_numeric=is_numeric,
                trends=trends.get((task, kind, panel.test), ()),
                names=names if line == _ROWS - 1 else {}, is_first=number == 0,
            )  # fmt: skip
            columns[-1].append(
                Panel(
                    series=_series(rows, places, styles, settings),
                    look={"size": 4, "linestyle": "-" if is_numeric else "none", "linewidth": 0.6},
                    zero=0.6 if panel.row < 2 else 0,
                    title=_title(part, task, kind) if line == 0 else "",
                    axes={"ylabel": panel.label},
                    locator=MaxNLocator(nbins=4),
                    further=further,
                    absent=partial(_say_absent, places=places),
                )
            )
    return draw_page(
        [*zip(*columns, strict=True)],
        settings,
        height=_ROWS * _PANEL + (0.75 if is_numeric else 1.7),
        handles=[*map(legend_entry, styles.values())],
        notes=_notes(table),
        is_by_column=True,
        sharex="col",
    )


def _name(condition: str, settings: FigureSettings) -> str:
    return settings.condition_labels.get(condition, condition.replace("_", " "))


def _tick(label: str, arm: Any, rows: pd.DataFrame, settings: FigureSettings) -> str:
    """The label of an arm: its name or its number of conversations, and what its contexts hold."""
    conversations = _span(rows["conversations"], decimals=1)
    tokens = _span(rows["tokens"], decimals=0)
    if settings.x == "conversations":
        return f"{int(arm.asked)}\n{conversations or '–'}\n{tokens or '–'}"
    return f"{label}\n({conversations} conv., {tokens} tok.)" if tokens else label


def _span(values: Iterable[Any], *, decimals: int) -> str:
    """Smallest and largest value, shortened: 96, 2.7k, 99k; empty where all are NULL."""
    numbers = sorted(float(value) for value in values if not pd.isna(value))
    ends = [_short(value, decimals) for value in numbers[:1] + numbers[-1:]]
    return "–".join(dict.fromkeys(ends))


def _short(value: float, decimals: int) -> str:
    if value >= 1000:
        return f"{value / 1000:.0f}k" if value >= 9950 else f"{value / 1000:.1f}k"
    return f"{value:.{decimals}f}".removesuffix(".0")


def _title(table: pd.DataFrame, task: str, kind: str) -> str:
    puppets = range_of(n for n in table["n_puppets"] if n)
    prompts = range_of(table.loc[table["measure"] == "share_who", "n_items"])
    name = task.replace("_", " ")
    return f"{name} ({KIND_NOUNS[kind]})\nn = {puppets} puppets, {prompts} prompts"


def _series(
    rows: Sequence[Any],
    places: Mapping[str, float],
    styles: Mapping[str, ConditionStyle],
    settings: FigureSettings,
) -> list[tuple[ConditionStyle, Points]]:
    return [
        (
            style,
            [
                (places[row.condition] + shift, _mark(row, PANELS[row.measure], settings))
                for row in rows
                if row.model == model
            ],
        )
        for model, style, shift in dodge(styles, _step(styles))
    ]


def _step(styles: Mapping[str, ConditionStyle]) -> float:
    return 0.16 if len(styles) > 1 else 0.0


def _say_absent(axes: Any, absent: Sequence[float], *, places: Mapping[str, float]) -> None:
    """`n/a` once at each place."""
    say_absent(axes, {min(places.values(), key=lambda place: abs(place - x)) for x in absent})


def _write(
    axes: Any,
    *,
    rows: Sequence[Any],
    trends: Sequence[Any],
    places: Mapping[str, float],
    styles: Mapping[str, ConditionStyle],
    is_numeric: bool,
    names: Mapping[str, Any],
    is_first: bool,
) -> None:
    """Prompts that differ, trends, and below the lowest panels the names of the arms."""
    axes.margins(x=0.06)
    # with several models their counts stand in lines below the trends
    n_trend_lines = len(styles) if is_numeric else 0
    for number, (model, style, shift) in enumerate(dodge(styles, _step(styles))):
        height = 0.98 - _LINE * (n_trend_lines + number)
        for row in rows:
            is_counted = not pd.isna(row.estimate) and not pd.isna(row.n_different)
            if row.model == model and is_counted:
                at = places[row.condition]
                _count(axes, row, at + shift, None if len(styles) == 1 else (at, height), style)
    is_counted = PANELS[rows[0].measure].row == 0
    _make_room(axes, 0.05 + _LINE * (n_trend_lines + len(styles) * is_counted))
    _print_trends(axes, trends, styles)
    if names:
        axes.set_xticks(**names)
    if names and is_numeric:
        axes.set_xlabel("conversations per puppet", color=GREY)
    if names and is_numeric and is_first:
        axes.annotate(
            "asked for\nheld\ntokens", (0, 0), (-6, -4), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="top", fontsize=TEXT_POINTS, color=GREY,
        )  # fmt: skip


def _mark(row: Any, panel: ArmPanel, settings: FigureSettings) -> PageMark:
    return PageMark(
        measure=" ".join(panel.label.split()),
        label=_name(row.condition, settings),
        **ends_of(row, "estimate"),
        digits=3,
        model=row.model,
        task=row.task,
        condition=row.condition,
        kind=row.kind,
        base=panel.base,
        n=int(row.n_responses) if row.measure == "share_who" else None,
    )


def _make_room(axes: Any, share: float) -> None:
    """Leave `share` of the panel's height free above the points."""
    low, high = axes.get_ylim()
    span = 1.12 * (high - low)
    axes.set_ylim(high - span, high + span * share / (1 - share))


def _count(
    axes: Any, row: Any, x: float, line: tuple[float, float] | None, style: ConditionStyle
) -> None:
    """How many prompts differ from the baseline, above the point or in the line of the model."""
    text = f"{int(row.n_different)}/{int(row.n_items)}"
    if line is None:
        axes.annotate(
            text, (x, row.estimate), (0, 5), textcoords="offset points", ha="center",
            fontsize=TEXT_POINTS, color=GREY,
        )  # fmt: skip
        return
    axes.text(
        *line, text, ha="center", va="top", fontsize=TEXT_POINTS, color=style.colour,
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip


def _print_trends(axes: Any, trends: Sequence[Any], styles: Mapping[str, ConditionStyle]) -> None:
    """The p-value of each model's trend, in the corner of the panel."""
    lines = []
    for row in trends:
        p = float_or_none(row.p_value)
        model = f"{styles[row.model].label}: " if len(styles) > 1 else ""
        lines.append(f"{model}trend of {row.measure}: " + ("n/a" if p is None else f"p = {p:.2g}"))
    if lines:
        axes.text(
            0.99, 0.98, "\n".join(lines), ha="right", va="top", fontsize=TEXT_POINTS, color=GREY,
            transform=axes.transAxes,
        )  # fmt: skip


def _arm_names(
    places: Mapping[str, float], ticks: Mapping[str, str], *, is_numeric: bool
) -> dict[str, Any]:
    """Names of the arms below the lowest panels; two that ask for equal numbers share a place."""
    names: dict[float, str] = {}
    for condition in sorted(places, key=lambda one: (places[one], ticks[one])):
        names[places[condition]] = max(names.get(places[condition], ""), ticks[condition], key=len)
    slant = {} if is_numeric else {"rotation": 50, "ha": "right", "rotation_mode": "anchor"}
    return {"ticks": [*names], "labels": [*names.values()], **slant}


def _notes(table: pd.DataFrame) -> list[str | None]:
    """What the numbers over points mean, and why estimates are missing."""
    absent = rows_of(table[table["estimate"].isna()])
    reasons = [*dict.fromkeys(f"{row.measure}, {row.condition}: {row.reason}" for row in absent)]
    shown_reasons = "; ".join(reasons[:_MOST_REASONS])
    n_left = len(reasons) - _MOST_REASONS
    remainder = f"; {n_left} more in the table" if n_left > 0 else ""
    return [
        "Fractions: prompts that differ from the baseline (Holm, 5 %). Bars: 95 % intervals.",
        f"n/a: {shown_reasons}{remainder}" if reasons else None,
    ]
