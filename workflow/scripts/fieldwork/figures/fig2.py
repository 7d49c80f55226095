"""Figure 2: the letters chosen on each benchmark item, by condition.

Owns the drawing of `records.AnswerShare` rows: a row of panels an item, a column a model, a stacked
bar a condition. The gap to 100 % is the share of answers in which no letter could be read; it is
left blank on purpose. The correct letter is hatched and comes first, with the interval of its share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from fieldwork.figures.style import (
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    FigureOptions,
    ItemKey,
    add_head,
    choose_items,
    conditions_in,
    looks,
    models_in,
    new_figure,
    no_data,
    number,
    rows_of,
    why_empty,
)
from fieldwork.records import UNKNOWN

_HATCH = "/////"
_GREY = "#555555"
_WIDEST_BAR_ROW = 0.17
_FIELD_GAP = 0.45
_INTERVAL_POINTS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about Figure 2."""

    items: Sequence[str] = ()
    """Item ids in their order; empty: all, in the order of the table."""
    item_labels: Mapping[str, str] = field(default_factory=dict)
    """Printed names of the items; an item without one is printed by its task and id."""
    field_condition: str = "field"
    """The condition of real users: drawn last, set off from the others."""
    max_items: int = 6
    """How many items are drawn where none are asked for by name."""


class Ink(NamedTuple):
    """Fill of a letter, and the colour that reads on it."""

    fill: str
    text: str


class _Cell(NamedTuple):
    model: str
    item: ItemKey
    condition: str


def ink_of(letter: str, letters: Sequence[str]) -> Ink:
    """Ink of a letter by its place among the letters of the figure.

    Neighbours differ by at least 15 points of CIELAB lightness, so that they part in greyscale.
    """
    inks = (
        Ink("#56B4E9", "black"),
        Ink("#08306B", "white"),
        Ink("#F0E442", "black"),
        Ink("#D55E00", "black"),
        Ink("#F2B8D4", "black"),
        Ink("#009E73", "black"),
        Ink("#FFFFFF", "black"),
        Ink("#000000", "white"),
        Ink("#C8C8C8", "black"),
        Ink("#6A3D9A", "white"),
    )
    return inks[letters.index(letter) % len(inks)]


def draw(table: pd.DataFrame, *, options: Options) -> Figure:
    """Draw `records.AnswerShare` rows as stacked bars in percent of all responses.

    An empty table gives a figure that says so.
    """
    why = why_empty(table, options)
    if why:
        return no_data(why, note=options.note)
    conditions = _field_last(conditions_in(table, options), options.field_condition)
    rows = rows_of(table[table["condition"].isin(conditions)])
    found = [ItemKey(r.task, r.item_id) for r in rows]
    chosen = choose_items(found, options.items, at_most=options.max_items)
    if not chosen.items:
        return no_data("none of the items asked for is in the table", note=options.note)
    cells: dict[_Cell, list[Any]] = {}
    for row in rows:
        key = _Cell(row.model, ItemKey(row.task, row.item_id), row.condition)
        cells.setdefault(key, []).append(row)
    drawn = [r for r in rows if ItemKey(r.task, r.item_id) in chosen.items]
    letters = sorted({str(r.answer) for r in drawn} - {UNKNOWN})
    bar = min(_WIDEST_BAR_ROW, (PAGE_HEIGHT - 1.2) / len(chosen.items) / (len(conditions) + 1.5))
    panel_height = bar * (len(conditions) + 1.5)
    figure = new_figure(height=panel_height * len(chosen.items) + 0.5)
    _draw_panels(
        figure, cells, items=chosen.items, conditions=conditions, letters=letters,
        models=models_in(table, options), options=options,
    )  # fmt: skip
    add_head(figure, handles=_handles(letters), notes=[options.note, chosen.remark])
    return figure


def _field_last(conditions: list[str], field_condition: str) -> list[str]:
    return sorted(conditions, key=field_condition.__eq__)


def _handles(letters: Sequence[str]) -> list[Any]:
    inks = [(letter, ink_of(letter, letters)) for letter in letters]
    entries = [Patch(facecolor=i.fill, edgecolor="black", label=letter) for letter, i in inks]
    correct = Patch(
        facecolor="white", edgecolor="black", hatch=_HATCH, label="correct letter, first"
    )
    gap = Patch(facecolor="white", edgecolor="#AAAAAA", label="gap to 100 %: unreadable")
    gap.set_linestyle(":")
    interval = Line2D([], [], color="black", linewidth=_INTERVAL_POINTS)
    interval.set_label("its 95 % interval")
    return [*entries, correct, interval, gap]


def _draw_panels(
    figure: Figure,
    cells: Mapping[_Cell, Sequence[Any]],
    *,
    items: Sequence[ItemKey],
    conditions: Sequence[str],
    letters: Sequence[str],
    models: Sequence[str],
    options: Options,
) -> None:
    grid = figure.subplots(len(items), len(models), squeeze=False)
    names = [look.label for look in looks(conditions, labels=options.condition_labels).values()]
    places = _places(conditions, options.field_condition)
    for i, item in enumerate(items):
        for j, model in enumerate(models):
            panel = grid[i, j]
            for place, condition in zip(places, conditions, strict=True):
                _draw_bar(panel, place, cells.get(_Cell(model, item, condition), ()), letters)
            _scale(panel, places, lowest=i == len(items) - 1)
            panel.set_yticks(places, names if j == 0 else [""] * len(names))
            if i == 0:
                _name_model(panel, options.model_labels.get(model, model))
        plain = f"{item.task}: {item.item_id}"
        label = options.item_labels.get(item.item_id, plain)
        grid[i, 0].set_title(label, loc="left", fontsize=TEXT_POINTS)
    figure.supxlabel("share of all responses")


def _places(conditions: Sequence[str], field_condition: str) -> list[float]:
    """Heights of the bars, top down; field stands apart."""
    return [
        i + (_FIELD_GAP if condition == field_condition and i > 0 else 0.0)
        for i, condition in enumerate(conditions)
    ]


def _draw_bar(panel: Any, place: float, rows: Sequence[Any], letters: Sequence[str]) -> None:
    n = max((int(row.n_responses) for row in rows), default=0)
    if n == 0:
        panel.text(1, place, "n/a: no responses", va="center", color=_GREY)
        return
    panel.barh(place, 100, height=0.8, facecolor="none", edgecolor="#AAAAAA", linestyle=":")
    left = 0.0
    for row in sorted(rows, key=_correct_first):
        if row.is_correct:
            _draw_interval(panel, place, row)
        if row.answer == UNKNOWN or not row.n_answers:
            continue
        width = 100 * float(row.share)
        _draw_segment(panel, place, row, left=left, width=width, ink=ink_of(row.answer, letters))
        left += width
    panel.annotate(
        f"n = {n}", (100, place), xytext=(3, 0), textcoords="offset points", va="center",
        annotation_clip=False,
    )  # fmt: skip


def _correct_first(row: Any) -> tuple[bool, str]:
    """At the left edge, where shares can be compared and the axis reads them."""
    return (not row.is_correct, str(row.answer))


def _draw_segment(
    panel: Any, place: float, row: Any, *, left: float, width: float, ink: Ink
) -> None:
    (patch,) = panel.barh(
        place, width, left=left, height=0.8, facecolor=ink.fill, edgecolor="black", linewidth=0.5
    )
    patch.set_label(str(row.answer))
    if row.is_correct:
        patch.set_hatch(_HATCH)
        patch.set_hatchcolor(ink.text)
    if width * _points_a_percent(panel) > 1.3 * TEXT_POINTS:
        # a rim in the bar's colour keeps the hatch off the letter
        rim = [withStroke(linewidth=3, foreground=ink.fill)]
        panel.text(
            left + width / 2, place, row.answer, ha="center", va="center_baseline", color=ink.text,
            fontsize=TEXT_POINTS, path_effects=rim, clip_on=True,
        )  # fmt: skip


def _draw_interval(panel: Any, place: float, row: Any) -> None:
    """Below the letter, so that neither hides the other; white around it, as the bar is hatched."""
    low, high = number(row.ci_low), number(row.ci_high)
    if low is None or high is None:
        return
    panel.plot(
        [100 * low, 100 * high], [place + 0.27] * 2, color="black",
        linewidth=_INTERVAL_POINTS, solid_capstyle="butt", clip_on=True,
        path_effects=[withStroke(linewidth=3 * _INTERVAL_POINTS, foreground="white")],
    )  # fmt: skip


def _points_a_percent(panel: Any) -> float:
    """Roughly: names and counts take about an inch and a half of the page between them."""
    columns = int(panel.get_subplotspec().get_gridspec().ncols)
    return (PAGE_WIDTH - 0.9 - 0.55 * columns) / columns * 72 / 100


def _scale(panel: Any, places: Sequence[float], *, lowest: bool) -> None:
    panel.set_xlim(0, 100)
    panel.set_ylim(places[-1] + 0.55, places[0] - 0.55)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.set_xticks([0, 25, 50, 75, 100], ["0 %", "", "50 %", "", "100 %"] if lowest else [""] * 5)


def _name_model(panel: Any, name: str) -> None:
    panel.annotate(
        name, (0.5, 1), xycoords="axes fraction", xytext=(0, 16), textcoords="offset points",
        ha="center", va="bottom", fontweight="bold", fontsize=TEXT_POINTS + 0.5,
        annotation_clip=False,
    )  # fmt: skip
