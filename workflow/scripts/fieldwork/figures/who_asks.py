"""The figure of users: how much of the variance lies between contexts, and which letters users add.

Owns the drawing of `records.VarianceShare` and `records.Novelty` rows: a panel each, where the study has
them, and a row of panels per model. Both measure how far users go beyond repeats: `share_who` from 0,
the share of new letters from that of as many reruns. A panel that would be empty is left out, and
its reason stands at the head.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from fieldwork.figures.labels import KIND_NOUNS
from fieldwork.figures.marks import PageMark, ends_of
from fieldwork.figures.panel import PALE, Panel, dodge, draw_page
from fieldwork.figures.selection import (
    NothingToDrawError,
    first_reason,
    is_shown,
    models_in,
    range_of,
    rows_by,
    rows_of,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    ConditionStyle,
    legend_entry,
    legend_line,
    says_what_is_missing,
    styles_in,
)
from fieldwork.records.field import between
from fieldwork.records.metrics import Novelty, VarianceShare
from fieldwork.statistics.families import LEVEL

TABLES = {"variance": VarianceShare, "novelty": Novelty}
CLAIMS = {"variance": "share_who", "novelty": "novelty"}

_DODGE = 0.7
_BEYOND = 3.0
_LIGHT = 0.4
_PANEL_HEIGHT = 1.9
_MOST_SIDE_BY_SIDE = 6
"""Tasks of both panels together, up to which the panels stand side by side."""
_REASONS = re.compile(r"; (?=no )")
"""A table joins the reasons why an interval and an excess are missing."""


class UserPanel(NamedTuple):
    """What one panel of each model shows.

    Attributes:
        label: of its y axis.
        table: its rows, the estimate in `value` and what repeats alone would give in `reference`.
        ticks: the printed names of its tasks, by kind and task.
        has_reruns: whether its references are measured on reruns, and drawn.
    """

    label: str
    table: pd.DataFrame
    ticks: Mapping[tuple[Any, ...], str]
    has_reruns: bool


@says_what_is_missing
def draw(variance: pd.DataFrame, novelty: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw both tables, each with the p-values of the study's claims in `p_corrected`.

    Tables without an estimate for any condition with a user give a figure that says so.
    """
    shares = variance[variance["condition"].isin(list(settings.users))]
    shares = shares.assign(value=shares["share_who"], reference=0.0)
    letters = novelty[novelty["condition"].isin(list(settings.users))]
    letters = letters.assign(
        value=letters["share"], reference=letters["control_share"].astype(float), kind="choice"
    )
    panels, absences = [], []
    if shares["value"].notna().any():
        panels.append(_share_panel(shares))
    else:
        reason = first_reason(shares, "no condition with a user has answers")
        absences.append(f"variance between users: {reason}")
    if letters["value"].notna().any():
        panels.append(_novelty_panel(letters))
    else:
        reason = first_reason(letters, "no multiple-choice question has answers to compare")
        absences.append(f"new letters: {reason}")
    if not panels:
        raise NothingToDrawError("; ".join(absences))
    table = pd.concat([panel.table[["model", "condition"]] for panel in panels])
    models, styles = models_in(table, settings), styles_in(table, settings)
    counts = [len(panel.ticks) for panel in panels]
    is_stacked = sum(counts) > _MOST_SIDE_BY_SIDE
    columns, n_places = (1, max(counts)) if is_stacked else (len(panels), sum(counts))
    # letters below one task of an axis
    room = max(8, int((PAGE_WIDTH - 0.7 * columns) / n_places * 72 / (0.57 * TEXT_POINTS)))
    page = []
    for model in models:
        name = settings.model_name(model) if len(models) > 1 else ""
        titles = [name] + [""] * len(panels)
        row = [_panel(*pair, styles, model, room) for pair in zip(panels, titles, strict=False)]
        page += [[panel] for panel in row] if is_stacked else [row]
    absence_notes = [f"Not drawn: {absence}." for absence in absences]
    return draw_page(
        page,
        settings,
        height=min(PAGE_HEIGHT - 0.8, _PANEL_HEIGHT * len(page) + 0.2),
        handles=_handles(panels, styles),
        notes=[*absence_notes, *_reason_notes(panels)],
        width_ratios=None if is_stacked else counts,
    )


def _share_panel(table: pd.DataFrame) -> UserPanel:
    def words(rows: Sequence[Any]) -> str:
        n_users = range_of(row.n_puppets for row in rows)
        n_items = range_of(row.n_items for row in rows)
        return f"{KIND_NOUNS[rows[0].kind]}, {n_items} prompts\nn = {n_users}"

    units = between(set(table["condition"]))
    label = f"variance of answers to a prompt\nthat lies between {units}"
    ticks = {key: words(rows) for key, rows in _places(table).items()}
    return UserPanel(label, table, _with_tasks(ticks), has_reruns=False)


def _novelty_panel(table: pd.DataFrame) -> UserPanel:
    def words(rows: Sequence[Any]) -> str:
        n_equal = range_of(row.n_equal for row in rows)
        return f"{range_of(row.n_items for row in rows)} questions\nequal n = {n_equal}"

    label = "questions with a letter\nthat the baseline never gave"
    ticks = {key: words(rows) for key, rows in _places(table).items()}
    return UserPanel(label, table, _with_tasks(ticks), bool(table["reference"].notna().any()))


def _places(table: pd.DataFrame) -> dict[tuple[Any, ...], list[Any]]:
    """Rows by kind and task, lists before others; a task of two kinds has two places on an axis."""
    rows = rows_by(table, "kind", "task")
    return {key: rows[key] for key in sorted(rows, key=lambda key: (key[0] != "list", key))}


def _with_tasks(words: Mapping[tuple[Any, ...], str]) -> dict[tuple[Any, ...], str]:
    """What a place counts, below the task's name where several tasks are of its kind."""
    n_tasks = Counter(kind for kind, _ in words)
    return {
        (kind, task): text if n_tasks[kind] == 1 else f"{task.replace('_', ' ')}\n{text}"
        for (kind, task), text in words.items()
    }


def _panel(
    panel: UserPanel, title: str, styles: Mapping[str, ConditionStyle], model: str, room: int
) -> Panel:
    step = _DODGE / len(styles)
    shifts = {condition: shift for condition, _, shift in dodge(styles, step)}
    places = {key: place for place, key in enumerate(panel.ticks)}
    part = panel.table[(panel.table["model"] == model) & panel.table["condition"].isin(styles)]
    rows = [(places[r.kind, r.task] + shifts[r.condition], r) for r in rows_of(part)]
    series = []
    for x, row in rows:
        style = styles[row.condition]._replace(alpha=1.0 if is_shown(row) else PALE)
        series.append((style, [(x, _mark(row, panel, style))]))
    return Panel(
        series=series,
        look={"zorder": 3},
        names=[_wrap_tick(tick, room) for tick in panel.ticks.values()],
        is_shaded=True,
        zero=0.6,
        title=title,
        title_look={"loc": "left", "fontweight": "bold"},
        axes={"ylim": _limits(panel.table), "ylabel": panel.label},
        further=partial(
            _draw_references, rows=rows, styles=styles, half=0.4 * step * panel.has_reruns
        ),
    )


def _wrap_tick(tick: str, room: int) -> str:
    lines = tick.split("\n")
    return "\n".join(textwrap.fill(line, room, break_long_words=False) for line in lines)


def _draw_references(
    axes: Any,
    *,
    rows: Sequence[tuple[float, Any]],
    styles: Mapping[str, ConditionStyle],
    half: float,
) -> None:
    """What repeats alone give, and a line from there to what a test shows to go beyond."""
    for x, row in rows:
        reference = 100 * row.reference
        if is_shown(row) and not pd.isna(row.value) and not pd.isna(reference):
            # light, so that an interval can be read upon it
            axes.vlines(
                x, reference, 100 * row.value, color=styles[row.condition].colour,
                linewidth=_BEYOND, alpha=_LIGHT, zorder=1.4,
            )  # fmt: skip
        if half and not pd.isna(reference):
            axes.hlines(reference, x - half, x + half, color=GREY, linewidth=1.0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %".replace("-", "−"))


def _limits(table: pd.DataFrame) -> tuple[float, float]:
    """Equal for all models, with 0 and every interval inside."""
    values = 100 * table[["value", "ci_low", "ci_high", "reference"]].astype(float)
    low, high = min(0.0, values.min().min()), max(1.0, values.max().max())
    room = 0.06 * (high - low)
    return low - 2 * room, high + room


def _mark(row: Any, panel: UserPanel, style: ConditionStyle) -> PageMark:
    return PageMark(
        measure=" ".join(panel.label.split()),
        label=style.label,
        **ends_of(row, factor=100),
        unit=" %",
        digits=1,
        model=row.model,
        task=row.task,
        condition=row.condition,
        kind=row.kind,
        base="counted",
        # the table of new letters counts units and questions, not answers
        n=int(row.n_responses) if hasattr(row, "n_responses") else None,
    )


def _handles(panels: Sequence[UserPanel], styles: Mapping[str, ConditionStyle]) -> list[Any]:
    reruns = [legend_line("as many reruns alone", width=1.0)]
    label = f"beyond repeats (p < {LEVEL:g}, corrected); pale: not shown"
    return [
        *map(legend_entry, styles.values()),
        *(reruns if any(panel.has_reruns for panel in panels) else ()),
        legend_line(label, width=_BEYOND, alpha=_LIGHT),
    ]


def _reason_notes(panels: Sequence[UserPanel]) -> Iterator[str]:
    """Why marks, their intervals, or what reruns alone give, are missing."""
    rows = [row for panel in panels for row in rows_of(panel.table)]
    reasons = ["" if pd.isna(row.reason) else str(row.reason) for row in rows if pd.isna(row.value)]
    if reasons:
        yield f"n/a: {_first(reasons)}."
    texts = [str(row.reason) for row in rows if not pd.isna(row.value) and not pd.isna(row.reason)]
    parts = [part for text in texts for part in _REASONS.split(text)]
    for opening, note in (
        ("no interval: ", "Marks without a thin line have no interval"),
        ("no excess: ", "Without what reruns alone give"),
    ):
        reasons = [part.removeprefix(opening) for part in parts if part.startswith(opening)]
        if reasons:
            yield f"{note}: {_first(reasons)}."


def _first(reasons: Sequence[str]) -> str:
    first, *rest = dict.fromkeys(reasons)
    if not rest:
        return first
    return f"{first}; the tables have {len(rest)} more {'reason' if len(rest) == 1 else 'reasons'}"
