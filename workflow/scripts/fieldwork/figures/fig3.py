"""Figure 3: the scores of whole runs over a choice task, where it has one beside a leaderboard.

Owns the drawing of `records.RunAccuracy`, `records.Accuracy`, `estimates.Rank` and a leaderboard. A
panel a model, all at one scale: a row a condition, the strict reading above the flexible one, from
the lowest run to the highest, a dot a run, the mean with its interval. With a leaderboard a strip at
the head shows all of it and what stretch the study's runs span; where the questions are its own, its
models are lines in the panels, and beside them stand the places.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator, PercentFormatter

from fieldwork.errors import StudyError
from fieldwork.figures.fig3_plan import (
    METRICS,
    Bar,
    Line,
    Options,
    Plan,
    Tables,
    first_of_rank,
    make_plan,
)
from fieldwork.figures.labels import inches_of
from fieldwork.figures.style import (
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    Look,
    add_head,
    new_figure,
    no_data,
    range_of,
    why_empty,
)

_GREY = "#555555"
_PALE = "#BBBBBB"
_ROW_INCHES = 0.31
_LEAST_ROW_INCHES = 0.26
_PANEL_MARGIN_INCHES = 0.66
_HEAD_INCHES = 0.8
_SCALE_ROWS = 1.05
"""Rows that the dotted distances take under those of the conditions."""
_NAMES_INCHES = 1.1
"""Roughly what names of conditions and margins take beside a panel."""
_STRIP_INCHES = 0.55
_STRIP_ROW_INCHES = 0.16
_BESIDE = 0.62
"""Width of the columns of text as a share of the panels'."""
_OFFSETS: Mapping[str, float] = {"em_strict": -0.21, "em_flexible": 0.21}
_HALF_BAR = 0.15
_EDGE = 0.03
_NEAR = 0.02
"""Named places nearer to the first than this share one label."""
_LABEL_ROOM = 0.3
_COLUMNS: Mapping[str, float] = {"places": 0.02, "user": 0.43, "rerun": 0.76}
_PAPER: Mapping[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}


class _Stretch(NamedTuple):
    """What scores the runs of a model span, and where in the strip that is drawn."""

    low: float
    high: float
    y: float


def draw(tables: Tables, *, options: Options) -> Figure:
    """Draw the tables. Scores are shares of 1, drawn in percent.

    An empty `tables.spread` gives a figure that says so. Raises StudyError where the table holds
    several tasks and `options.task` names none.
    """
    task = _task(tables.spread, options)
    spread = tables.spread[tables.spread["task"] == task] if task else tables.spread
    if spread.empty:
        of = f"task {task} has" if task else "there is"
        reason = "as no question says which option is right, or no answer arrived"
        return no_data(f"{of} no score, {reason}", note=options.note)
    why = why_empty(spread, options)
    if why:
        return no_data(f"task {task}: {why}", note=options.note)
    plan = make_plan(tables._replace(spread=spread), str(task), options)
    return _draw(plan, options)


def _task(spread: pd.DataFrame, options: Options) -> str | None:
    tasks = sorted(set(spread["task"])) if len(spread) else []
    if options.task is None and len(tasks) > 1:
        raise StudyError(
            f"metrics/accuracy holds several tasks ({', '.join(tasks)}): say which one "
            "Figure 3 shows with the option `task`."
        )
    return options.task or next(iter(tasks), None)


def _draw(plan: Plan, options: Options) -> Figure:
    rows = _rows(plan)
    strip = _STRIP_INCHES + _STRIP_ROW_INCHES * len(plan.models) if plan.lines else 0.0
    around = len(plan.models) * _PANEL_MARGIN_INCHES + strip + _HEAD_INCHES
    row = (PAGE_HEIGHT - around) / (rows * len(plan.models))
    inches = rows * min(_ROW_INCHES, max(_LEAST_ROW_INCHES, row)) + _PANEL_MARGIN_INCHES
    heights = [strip] * bool(plan.lines) + [inches] * len(plan.models)
    figure = new_figure(height=sum(heights))
    grid = figure.add_gridspec(len(heights), 2, width_ratios=[1.0, _BESIDE], height_ratios=heights)
    if plan.lines:
        _draw_strip(figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1]), plan, options)
    for row_of, model in enumerate(plan.models, start=bool(plan.lines)):
        panel = figure.add_subplot(grid[row_of, 0] if plan.has_places else grid[row_of, :])
        _draw_model(panel, plan, model, options)
        if plan.has_places:
            _write_places(figure.add_subplot(grid[row_of, 1]), plan, model)
    panel.set_xlabel(plan.measure)
    add_head(
        figure,
        handles=_handles(
            plan, options.leaderboard_name, {options.own_names.get(m) for m in plan.models}
        ),
        notes=[options.note, options.leaderboard_note],
    )
    return figure


def _rows(plan: Plan) -> float:
    """Height of a panel in rows."""
    return len(plan.looks) + (_SCALE_ROWS if plan.lines else 0.1)


def _handles(plan: Plan, leaderboard: str, own_names: set[str | None]) -> list[Any]:
    dot: dict[str, Any] = {
        "linestyle": "none",
        "marker": "o",
        "markersize": 3.2,
        "markeredgecolor": _GREY,
    }
    own = Line2D([], [], color="black", linewidth=0.8, linestyle="--")
    own.set_label("the model's own score there")
    known = Line2D([], [], color=_PALE, linewidth=0.8, label=f"a model of {leaderboard}")
    return [
        Patch(facecolor="#CCCCCC", edgecolor="none", label="lowest to highest run"),
        Line2D([], [], color=_GREY, label="one run, strict reading", **dot),
        Line2D([], [], label="one run, flexible reading", markerfacecolor="white", **dot),
        Line2D([], [], color="black", linewidth=1.2, marker="|", label="mean, 95 % interval"),
        *([known] if plan.has_places else []),
        *([own] if plan.has_places and {line.model for line in plan.lines} & own_names else []),
    ]


def _draw_strip(strip: Any, beside: Any, plan: Plan, options: Options) -> None:
    """All of the leaderboard, the named places, and the stretch that each model's runs span."""
    named = [line for line in first_of_rank(plan.lines) if line.rank in options.ranks]
    for line in plan.lines:
        tall = line in named
        strip.plot(
            [line.score] * 2, [0, 1.0 if tall else 0.6],
            color="black" if tall else _GREY, linewidth=0.9 if tall else 0.5,
        )  # fmt: skip
    stretches = _draw_stretches(strip, plan)
    strip.set_ylim(-0.9 * len(plan.models) - 0.5, 1.7)
    strip.set_yticks([])
    for model, stretch in stretches.items():
        _name_stretch(strip, f"runs of {options.model_labels.get(model, model)}", stretch)
    strip.spines["left"].set_visible(False)
    strip.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=" %"))
    scale = "" if plan.has_places else ", for scale"
    head = f"All {len(plan.lines)} models of {options.leaderboard_name}{scale}"
    strip.set_title(head, loc="left")
    _name_lines(strip, beside, named)


def _draw_stretches(strip: Any, plan: Plan) -> dict[str, _Stretch]:
    """A bar a model, from its lowest run to its highest, by the strict reading."""
    stretches = {}
    for row, model in enumerate(plan.models):
        bars = [
            bar for (of, _, metric), bar in plan.bars.items() if (of, metric) == (model, METRICS[0])
        ]
        runs = [score for bar in bars for score in bar.runs]
        if runs:
            stretch = _Stretch(min(runs), max(runs), -0.9 * (row + 1))
            width = stretch.high - stretch.low
            strip.barh(stretch.y, width, left=stretch.low, height=0.5, color="black", linewidth=0)
            stretches[model] = stretch
    return stretches


def _name_stretch(strip: Any, name: str, stretch: _Stretch) -> None:
    """Beside the bar where there is room, else at the left of the strip."""
    left, right = strip.get_xlim()
    inch = (right - left) / (PAGE_WIDTH / (1 + _BESIDE) - _NAMES_INCHES)
    room = inch * (inches_of(strip.figure, name) + 0.08)
    if room > max(right - stretch.high, stretch.low - left):
        strip.set_yticks([*strip.get_yticks(), stretch.y])
        labels = [label.get_text() for label in strip.get_yticklabels()]
        strip.set_yticklabels([*labels[:-1], name.removeprefix("runs of ")])
        strip.tick_params(axis="y", length=0)
        return
    on_right = right - stretch.high >= stretch.low - left
    strip.annotate(
        name, (stretch.high if on_right else stretch.low, stretch.y),
        xytext=(4 if on_right else -4, 0), textcoords="offset points",
        ha="left" if on_right else "right", va="center",
    )  # fmt: skip


def _name_lines(strip: Any, beside: Any, lines: Sequence[Line]) -> None:
    """Names, scores and distances from the first, and their places above the strip."""
    beside.set_axis_off()
    beside.set_ylim(0, 1)
    top = lines[0].score if lines else 0.0
    for near, words in ((True, "left"), (False, "right")):
        group = [line for line in lines if (top - line.score < _NEAR) == near]
        if group:
            strip.annotate(
                ", ".join(f"#{line.rank}" for line in group), (group[0].score, 1.0),
                xytext=(-2 if near else 2, 1), textcoords="offset points", ha=words, va="bottom",
            )  # fmt: skip
    said = [f"#{line.rank} {line.model}\n    {_distance(line, lines[0])}" for line in lines]
    beside.text(0.02, 1.0, "\n".join(said), va="top", fontsize=TEXT_POINTS, linespacing=1.2)


def _distance(line: Line, top: Line) -> str:
    score = f"{100 * line.score:.1f} %"
    if line == top:
        return score
    return f"{score}: {100 * (top.score - line.score):.1f} points below #{top.rank}"


def _draw_model(panel: Any, plan: Plan, model: str, options: Options) -> None:
    low, high = plan.ends(model)
    # a little room beyond 0 and 100 %, so that dots there are whole
    edge = max(_EDGE * plan.span, (plan.span - 1) / 2)
    left = min(max(-edge, (low + high - plan.span) / 2), 1.0 + edge - plan.span)
    panel.set_xlim(left, left + plan.span)
    panel.set_ylim(_rows(plan) - 0.55, -0.55)
    if plan.has_places:
        _draw_lines(panel, plan, options.own_names.get(model))
    for row, (condition, look) in enumerate(plan.looks.items()):
        for metric in METRICS:
            bar = plan.bars.get((model, condition, metric))
            if bar:
                _draw_bar(panel, row + _OFFSETS[metric], bar, look, strict=metric == METRICS[0])
    _draw_scale(panel, plan, options, at=len(plan.looks) - 0.25)
    named = [_row_name(plan, model, *pair) for pair in plan.looks.items()]
    panel.set_yticks(range(len(named)), named)
    panel.tick_params(axis="y", length=0)
    panel.xaxis.set_major_locator(MultipleLocator(_tick_step(plan.span)))
    panel.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=" %"))
    items = range_of(bar.n_items for (m, _, _), bar in plan.bars.items() if m == model)
    title = f"{options.model_labels.get(model, model)}, {items} items a run"
    panel.set_title(title, loc="left", pad=12 if plan.has_places else 4)


def _tick_step(span: float) -> float:
    return next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if span / step <= 10 or step == 0.2)


def _row_name(plan: Plan, model: str, condition: str, look: Look) -> str:
    bar = plan.bars.get((model, condition, METRICS[0]))
    if bar is None:
        return f"{look.label}\nnot run"
    unit = "user" if bar.unit == "puppet" else "rerun"
    n = len(bar.runs)
    return f"{look.label}\n{n} {unit if n == 1 else unit + 's'}"


def _draw_lines(panel: Any, plan: Plan, own: str | None) -> None:
    """The leaderboard's models in sight, and the places of as many as have room above the panel."""
    left, right = panel.get_xlim()
    inches = panel.get_window_extent().width / panel.figure.dpi * (right - left) / plan.span
    after = -1.0
    for line in sorted(plan.lines, key=lambda line: line.score):
        if not left <= line.score <= right:
            continue
        is_own = line.model == own
        panel.axvline(
            line.score, color="black" if is_own else _PALE, linewidth=0.8, zorder=0.5,
            linestyle="--" if is_own else "-",
        )  # fmt: skip
        at = (line.score - left) / plan.span * inches
        if at - after > _LABEL_ROOM:
            panel.annotate(
                f"#{line.rank}", (line.score, 1), xycoords=("data", "axes fraction"),
                xytext=(0, 1), textcoords="offset points", ha="center", va="bottom", color=_GREY,
            )  # fmt: skip
            after = at


def _draw_bar(panel: Any, y: float, bar: Bar, look: Look, *, strict: bool) -> None:
    if bar.mean is None:
        left, right = panel.get_xlim()
        panel.text(
            (left + right) / 2, y, "n/a: no complete run", ha="center", va="center", bbox=_PAPER
        )
        return
    if bar.minimum is not None and bar.maximum is not None:
        panel.barh(
            y, bar.maximum - bar.minimum, left=bar.minimum, height=2 * _HALF_BAR,
            color=look.colour, alpha=0.3 if strict else 0.15, linewidth=0,
        )  # fmt: skip
    last = max(1, len(bar.runs) - 1)
    ys = [
        y + 1.5 * _HALF_BAR * (i / last - 0.5) * (len(bar.runs) > 1) for i in range(len(bar.runs))
    ]
    panel.plot(
        bar.runs, ys, linestyle="none", marker="o", markersize=2.4, markeredgewidth=0.6,
        markeredgecolor=look.colour, markerfacecolor=look.colour if strict else "white",
        label=look.label if strict else f"{look.label}, flexible",
    )  # fmt: skip
    panel.plot([bar.mean], [y], marker="|", markersize=7, markeredgewidth=1.4, color="black")
    if bar.low is not None and bar.high is not None:
        panel.hlines(y, bar.low, bar.high, color="black", linewidth=1.0, zorder=2.5)
    else:
        end = bar.mean if bar.maximum is None else bar.maximum
        panel.annotate(
            "no interval", (end, y), xytext=(4, 0), textcoords="offset points", va="center",
            color=_GREY, bbox=_PAPER,
        )  # fmt: skip


def _draw_scale(panel: Any, plan: Plan, options: Options, *, at: float) -> None:
    """Dotted, at the panel's scale: how far the named places are from the first."""
    named = [line for line in first_of_rank(plan.lines) if line.rank in options.ranks]
    left, _ = panel.get_xlim()
    start = left + 0.02 * plan.span
    for number_of, line in enumerate(named[1:]):
        distance = named[0].score - line.score
        if distance > 0.95 * plan.span:
            continue
        y = at + 0.36 * number_of
        panel.plot(
            [start, start + distance], [y, y], color="black", linewidth=1.0, linestyle=":",
            marker="|", markersize=4, markeredgewidth=0.8,
        )  # fmt: skip
        panel.annotate(
            f"#{named[0].rank} to #{line.rank}: {100 * distance:.1f} points", (start + distance, y),
            xytext=(5, 0), textcoords="offset points", va="center", bbox=_PAPER,
        )  # fmt: skip


def _write_places(beside: Any, plan: Plan, model: str) -> None:
    """Places and chances of another place, beside the bars they belong to."""
    beside.set_axis_off()
    beside.set_xlim(0, 1)
    beside.set_ylim(_rows(plan) - 0.55, -0.55)
    heads = {"places": "places (median)", "user": "another user", "rerun": "a rerun"}
    for name, head in heads.items():
        _head(beside, _COLUMNS[name], head, points=2)
    _head(beside, _COLUMNS["user"], "chance of another place with", points=12)
    for row, condition in enumerate(plan.looks):
        for metric in METRICS:
            bar = plan.bars.get((model, condition, metric))
            if bar is None:
                continue
            y = row + _OFFSETS[metric]
            told = {
                "places": bar.places,
                "user": _chance(bar.p_user),
                "rerun": _chance(bar.p_rerun),
            }
            for name, text in told.items():
                beside.text(_COLUMNS[name], y, text, va="center")


def _head(beside: Any, x: float, text: str, *, points: float) -> None:
    """A column's name, `points` above the rows."""
    beside.annotate(
        text, (x, 1), xycoords="axes fraction", xytext=(0, points), textcoords="offset points",
        va="bottom", color=_GREY,
    )  # fmt: skip


def _chance(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"
