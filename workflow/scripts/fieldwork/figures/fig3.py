"""Figure 3: the scores of whole runs over a choice task, beside a leaderboard where the task has one.

Owns the drawing of `records.RunAccuracy`, of their means, `records.Rank` and a leaderboard. Each
model has a panel, all at one scale, with a row per condition: the strict reading above the flexible
one, or one bar where both agree in every run. A bar goes from the lowest run to the highest, with a dot
per run and the mean with its interval. With a leaderboard a strip at the head shows its models and the
range of the study's runs. Where the questions are the leaderboard's own, its models are lines in the
panels, and the places stand beside them.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator, PercentFormatter

from fieldwork.errors import StudyError
from fieldwork.figures.leaderboard_strip import TEXT_COLUMN_SHARE, draw_strip
from fieldwork.figures.marks import PageMark, Point, add_mark
from fieldwork.figures.panel import Panel, draw_points, offsets
from fieldwork.figures.score_layout import METRICS, RunBar, ScoreLayout, lay_out_scores
from fieldwork.figures.selection import NothingToDrawError, range_of, rows_to_draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    ConditionStyle,
    add_head,
    legend_line,
    new_figure,
    says_what_is_missing,
)
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import Rank, RunAccuracy
from fieldwork.records.shared import Leaderboard

TABLES = {"accuracy_runs": RunAccuracy, "accuracy": Estimate, "ranks": Rank}

_PALE = "#BBBBBB"
_ROW_INCHES = 0.31
_LEAST_ROW_INCHES = 0.26
_PANEL_MARGIN_INCHES = 0.66
_HEAD_INCHES = 0.8
_SCALE_ROWS = 1.05
"""Rows that the dotted distances take under those of the conditions."""
_STRIP_INCHES = 0.55
_STRIP_ROW_INCHES = 0.16
_HALF_BAR = 0.15
_LABEL_ROOM = 0.3
_ROW_MARGIN = 0.55
"""Rows before the first and after the last."""
_MEAN = ConditionStyle("#000000", "|", True, "_mean")
_COLUMNS: Mapping[str, float] = {
    "places (median)": 0.02,
    "another context": 0.43,
    "a rerun": 0.84,
}
_READINGS: Mapping[str, str] = {METRICS[0]: "", METRICS[1]: ", flexible reading"}
_PAPER: Mapping[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}


@says_what_is_missing
def draw(
    runs: pd.DataFrame,
    accuracy: pd.DataFrame,
    ranks: pd.DataFrame,
    leaderboard: Leaderboard,
    settings: FigureSettings,
) -> Figure:
    """Draw the scores of a task. Scores are shares of 1, drawn in percent.

    A task without a score gives a figure that says so.

    Args:
        runs: `records.RunAccuracy` rows.
        accuracy: `records.Estimate` rows of scores.
        ranks: `records.Rank` rows.
        leaderboard: without places where the task has none.
        settings: of the study.

    Raises:
        StudyError: the tables hold several tasks, and the settings name none.
    """
    accuracy = accuracy[accuracy["reference"] == "baseline"]
    tasks = sorted(set(accuracy["task"])) if len(accuracy) else []
    if settings.task is None and len(tasks) > 1:
        raise StudyError(
            f"metrics/accuracy holds several tasks ({', '.join(tasks)}): name the one that figure 3 "
            "shows, in figures.fig3 of the config."
        )
    task = settings.task or next(iter(tasks), None)
    if task not in tasks:
        subject = f"task {task} has" if task else "there is"
        causes = "no question has a correct option, or no answer arrived"
        raise NothingToDrawError(f"{subject} no score: {causes}")
    part = rows_to_draw(accuracy, settings, f"task {task}: ")
    return _draw(lay_out_scores(runs, part, ranks, leaderboard, settings))


def _draw(layout: ScoreLayout) -> Figure:
    settings, n_models = layout.settings, len(layout.models)
    has_strip, rows = bool(layout.leaderboard.places), _rows(layout)
    strip = _STRIP_INCHES + _STRIP_ROW_INCHES * n_models if has_strip else 0.0
    around = n_models * _PANEL_MARGIN_INCHES + strip + _HEAD_INCHES
    row = (PAGE_HEIGHT - around) / (rows * n_models)
    inches = rows * min(_ROW_INCHES, max(_LEAST_ROW_INCHES, row)) + _PANEL_MARGIN_INCHES
    heights = [strip] * has_strip + [inches] * n_models
    figure = new_figure(height=sum(heights))
    grid = figure.add_gridspec(
        len(heights), 2, width_ratios=[1.0, TEXT_COLUMN_SHARE], height_ratios=heights
    )
    if has_strip:
        draw_strip(figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1]), layout)
    for grid_row, model in enumerate(layout.models, start=has_strip):
        place = grid[grid_row, 0] if layout.has_places else grid[grid_row, :]
        _model_panel(layout, model).draw(figure.add_subplot(place))
        if layout.has_places:
            _write_places(figure.add_subplot(grid[grid_row, 1]), layout, model)
    notes = [settings.note, settings.leaderboard_note]
    return add_head(figure, handles=_handles(layout), notes=notes)


def _rows(layout: ScoreLayout) -> float:
    """Height of a panel in rows."""
    return len(layout.styles) + (_SCALE_ROWS if layout.leaderboard.places else 0.1)


def _handles(layout: ScoreLayout) -> list[Any]:
    own_names = {layout.settings.own_names.get(model) for model in layout.models}
    lines = []
    if layout.has_places:
        label = f"a model of {layout.leaderboard.name}"
        lines.append(legend_line(label, width=0.8, colour=_PALE))
        if {entry.model for entry in layout.leaderboard.places} & own_names:
            label = "the model's own published score"
            lines.append(legend_line(label, width=0.8, colour="black", linestyle="--"))
    return [
        Patch(facecolor="#CCCCCC", edgecolor="none", label="lowest to highest run"),
        *_dot_handles(layout),
        legend_line("mean, 95 % interval", width=1.2, colour="black", marker="|"),
        *lines,
    ]


def _dot_handles(layout: ScoreLayout) -> list[Any]:
    """Both readings, or one entry where they agree in every run."""
    look: dict[str, Any] = {
        "linestyle": "none",
        "marker": "o",
        "markersize": 3.2,
        "markeredgecolor": GREY,
    }
    counts = {len(layout.readings(model, condition)) for model, condition, _ in layout.bars}
    labels = ["one run, strict reading" + (", or both where they agree" if 1 in counts else "")]
    labels += ["one run, flexible reading"]
    if counts == {1}:
        labels = ["one run (strict and flexible reading agree)"]
    fills = zip(labels, (GREY, "white"), strict=False)
    return [Line2D([], [], label=label, markerfacecolor=fill, **look) for label, fill in fills]


def _model_panel(layout: ScoreLayout, model: str) -> Panel:
    items = range_of(bar.n_items for key, bar in layout.bars.items() if key[0] == model)
    names = [_row_name(layout, model, *pair) for pair in layout.styles.items()]
    return Panel(
        names=names,
        name_look={"margins": (_ROW_MARGIN, _rows(layout) - len(names) + 1 - _ROW_MARGIN)},
        is_upright=False,
        title=f"{layout.settings.model_name(model)}, {items} items per run",
        title_look={"loc": "left", "pad": 12 if layout.has_places else 4},
        axes={"xlim": layout.window(model)}
        | ({"xlabel": layout.measure} if model == layout.models[-1] else {}),
        locator=MultipleLocator(_tick_step(layout.span)),
        further=partial(_draw_runs, layout=layout, model=model),
    )


def _draw_runs(axes: Any, *, layout: ScoreLayout, model: str) -> None:
    """A leaderboard's models, and upon them the runs of each condition."""
    left, right = layout.window(model)
    if layout.has_places:
        _draw_leaderboard(axes, layout, left, layout.settings.own_names.get(model))
    for row, (condition, style) in enumerate(layout.styles.items()):
        for metric, (offset, bar) in layout.readings(model, condition).items():
            if bar.mean.value is None:
                axes.text(
                    (left + right) / 2, row + offset, "n/a: no complete run", ha="center",
                    va="center", bbox=_PAPER,
                )  # fmt: skip
                continue
            mark = PageMark(
                measure=f"Mean score{_READINGS[metric]}", label=style.label, value=bar.mean.value,
                ci_low=bar.mean.ci_low, ci_high=bar.mean.ci_high, scale=100, unit=" %", digits=1,
                model=model, task=layout.task, condition=condition, base="runs",
                n=bar.n_items * len(bar.runs),
            )  # fmt: skip
            _draw_bar(axes, row + offset, bar, style, mark, is_strict=metric == METRICS[0])
    _draw_scale(axes, layout, left, at=len(layout.styles) - 0.25)
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=" %"))


def _tick_step(span: float) -> float:
    return next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if span / step <= 10 or step == 0.2)


def _row_name(layout: ScoreLayout, model: str, condition: str, style: ConditionStyle) -> str:
    bar = layout.bars.get((model, condition, METRICS[0]))
    if bar is None:
        return f"{style.label}\nnot run"
    unit = "user" if bar.unit == "puppet" else "rerun"
    n = len(bar.runs)
    return f"{style.label}\n{n} {unit if n == 1 else unit + 's'}"


def _draw_leaderboard(panel: Any, layout: ScoreLayout, left: float, own_name: str | None) -> None:
    """The leaderboard's models within the panel, and the places of those that have room above it."""
    inches = panel.get_window_extent().width / panel.figure.dpi
    last_label = -1.0
    for entry in sorted(layout.leaderboard.places, key=lambda entry: entry.score):
        if not left <= entry.score <= left + layout.span:
            continue
        is_own = entry.model == own_name
        panel.axvline(
            entry.score, color="black" if is_own else _PALE, linewidth=0.8, zorder=0.5,
            linestyle="--" if is_own else "-",
        )  # fmt: skip
        at = (entry.score - left) / layout.span * inches
        if at - last_label > _LABEL_ROOM:
            panel.annotate(
                f"#{entry.rank}", (entry.score, 1), xycoords=("data", "axes fraction"),
                xytext=(0, 1), textcoords="offset points", ha="center", va="bottom", color=GREY,
            )  # fmt: skip
            last_label = at


def _draw_bar(
    panel: Any, y: float, bar: RunBar, style: ConditionStyle, mark: PageMark, *, is_strict: bool
) -> None:
    """The bar as a whole with its mark, upon it each of its runs, and their mean."""
    low, high = bar.ends or bar.mean.span
    if bar.ends is not None:
        panel.barh(
            y, high - low, left=low, height=2 * _HALF_BAR, color=style.colour,
            alpha=0.3 if is_strict else 0.15, linewidth=0,
        )  # fmt: skip
    add_mark(panel, (min(bar.values), max(bar.values)), (y - _HALF_BAR, y + _HALF_BAR), mark)
    # spread so that equal scores do not hide each other
    shifts = offsets(len(bar.runs), 1.5 * _HALF_BAR / max(1, len(bar.runs) - 1))
    heights = [y + shift for shift in shifts]
    for score, height, (puppet_id, replicate) in zip(bar.runs, heights, bar.askers, strict=True):
        run = replace(
            mark, measure="Score", label=f"{mark.label}, {puppet_id or f'rerun {replicate}'}",
            value=score, ci_low=None, ci_high=None, puppet_id=puppet_id, replicate=replicate,
            n=bar.n_items,
        )  # fmt: skip
        add_mark(panel, score, height, run)
    label = style.label if is_strict else f"{style.label}, flexible"
    dots = style._replace(marker="o", is_filled=is_strict, label=label)
    scores = [Point(value=score) for score in bar.runs]
    draw_points(
        panel, zip(heights, scores, strict=True), dots, is_upright=False, size=2.4,
        markeredgewidth=0.6,
    )  # fmt: skip
    draw_points(
        panel, [(y, bar.mean)], _MEAN, is_upright=False, size=7, width=1.0, markeredgewidth=1.4,
        interval={"zorder": 2.5},
    )  # fmt: skip
    if bar.mean.interval is None:
        panel.annotate(
            "no interval", (high, y), xytext=(4, 0), textcoords="offset points", va="center",
            color=GREY, bbox=_PAPER,
        )  # fmt: skip


def _draw_scale(panel: Any, layout: ScoreLayout, left: float, *, at: float) -> None:
    """Dotted lines as long as the named places are from the first, at the scale of the panel."""
    start = left + 0.02 * layout.span
    for position, entry in enumerate(layout.named_models[1:]):
        top = layout.named_models[0]
        distance = top.score - entry.score
        if distance > 0.95 * layout.span:
            continue
        y = at + 0.36 * position
        panel.plot(
            [start, start + distance], [y, y], color="black", linewidth=1.0, linestyle=":",
            marker="|", markersize=4, markeredgewidth=0.8,
        )  # fmt: skip
        panel.annotate(
            f"#{top.rank} to #{entry.rank}: {100 * distance:.1f} points", (start + distance, y),
            xytext=(5, 0), textcoords="offset points", va="center", bbox=_PAPER,
        )  # fmt: skip


def _write_places(axes: Any, layout: ScoreLayout, model: str) -> None:
    """Places and chances of another place, beside the bars they belong to."""
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(_rows(layout) - _ROW_MARGIN, -_ROW_MARGIN)
    for head, x in _COLUMNS.items():
        _head(axes, x, head, points=2)
    _head(axes, _COLUMNS["another context"], "chance of another place with", points=12)
    for row, condition in enumerate(layout.styles):
        for offset, bar in layout.readings(model, condition).values():
            cells = (bar.places, *map(_chance, bar.chances))
            for x, text in zip(_COLUMNS.values(), cells, strict=True):
                axes.text(x, row + offset, text, va="center")


def _head(axes: Any, x: float, text: str, *, points: float) -> None:
    """A column's name, `points` above the rows."""
    axes.annotate(
        text, (x, 1), xycoords="axes fraction", xytext=(0, points), textcoords="offset points",
        va="bottom", color=GREY,
    )  # fmt: skip


def _chance(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"
