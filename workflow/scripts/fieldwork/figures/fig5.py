"""Figure 5: rarefaction curves, the expected number of distinct options among so many answers.

Owns the drawing of `records.Rarefaction` rows. Each model has a panel for the mean over the prompts and
one per prompt, with a curve per condition and a marker where its answers end. All panels share both
axes. There are no intervals: none is reliable (docs/methods.md).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fieldwork.figures.labels import question_names
from fieldwork.figures.marks import PageMark
from fieldwork.figures.panel import Panel, draw_page, draw_points
from fieldwork.figures.selection import (
    NothingToDrawError,
    models_in,
    range_of,
    rest_remark,
    rows_by,
    rows_to_draw,
    text_or_none,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    ConditionStyle,
    legend_entry,
    says_what_is_missing,
    styles_in,
    wrap_text,
)
from fieldwork.records.metrics import Rarefaction
from fieldwork.records.shared import ItemKey

TABLES = {"rarefaction": Rarefaction}

_MOST_ITEMS = 9
"""The first by name are drawn."""
_MOST_COLUMNS = 5
_NAME_LETTERS = 50

Curves = Mapping[str, Sequence[Any]]
"""The rows of a curve by condition."""


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw rows of `rarefaction`, which hold one task's list items.

    An empty table, or one without a curve, gives a figure that says so.
    """
    table = rows_to_draw(table, settings)
    points = table[table["unique_items"].notna()]
    if points.empty:
        raise NothingToDrawError(str(table["reason"].iloc[0]))
    models, styles = models_in(table, settings), styles_in(table, settings)
    single = table[table["item_id"].notna()]
    keys = sorted(set(map(ItemKey, single["task"], single["item_id"])))
    items = keys[: settings.max_items or _MOST_ITEMS]
    names = question_names(items, settings.questions, letters=_NAME_LETTERS)
    columns = min(_MOST_COLUMNS, 1 + len(names))
    inches = (PAGE_WIDTH - 1) / columns
    # the panel of the mean comes first
    titles: dict[str | None, str] = {None: ""}
    for key, words in names.items():
        titles[key.item_id] = wrap_text(words, inches=inches, points=8)
    curves = rows_by(table, "model", "item_id", "condition")
    right, top = points["n_answers"].max(), points["unique_items"].max()
    page: list[list[Panel]] = []
    for model in models:
        has_name = len(models) > 1 or settings.model_labels.get(model)
        name = settings.model_name(model) if has_name else ""
        for place, (item, title) in enumerate(titles.items()):
            of = {one: curves[model, item, one] for one in styles if (model, item, one) in curves}
            mean = f"mean of {range_of(curve[0].n_items for curve in of.values())} prompts"
            further = partial(
                _draw_curves,
                curves=of,
                styles=styles,
                inches=inches,
                has_numbers=place + columns >= len(titles),
                name="" if place else name,
                above=17 + 9 * max(one.count("\n") for one in [*titles.values()][:columns]),
            )
            page += [[]] if place % columns == 0 else []
            page[-1].append(
                Panel(
                    title=title if item else mean,
                    title_look={} if item else {"fontweight": "bold"},
                    axes={"xlim": (0, right * 1.04), "ylim": (0, top * 1.06)},
                    further=further,
                )
            )
    return draw_page(
        page,
        settings,
        height=_height(len(page), len(models), [*titles.values()]),
        handles=_handles(single, styles),
        notes=[rest_remark(len(items), len(keys))],
        ylabel={"t": "expected number of distinct options"},
        xlabel={"t": "number of answers (a marker shows where the answers of a condition end)"},
        sharey=True,
    )


def _height(rows: int, n_models: int, titles: Sequence[str]) -> float:
    names = 0.25 * n_models
    more_lines = max(title.count("\n") for title in titles)
    return min((1.5 + 0.13 * more_lines) * rows, PAGE_HEIGHT - 0.9 - names) + 0.3 + names


def _handles(single: pd.DataFrame, styles: Mapping[str, ConditionStyle]) -> list[Any]:
    """One legend entry per condition, with its number of answers to a prompt."""
    entries = []
    for condition, style in styles.items():
        counts = range_of(single.loc[single["condition"] == condition, "n_responses"])
        entry = legend_entry(style, f"{style.label} (n = {counts})")
        entry.set(linestyle=_line(style), color=style.colour)
        entries.append(entry)
    return entries


def _draw_curves(
    axes: Any,
    *,
    curves: Curves,
    styles: Mapping[str, ConditionStyle],
    inches: float,
    has_numbers: bool,
    name: str,
    above: float,
) -> None:
    """Curves by condition; a model's name stands `above` its first panel by so many points."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10], integer=True))
    axes.tick_params(axis="x", labelbottom=has_numbers)
    if name:
        axes.annotate(
            name, (0, 1), xycoords="axes fraction", xytext=(0, above), textcoords="offset points",
            ha="left", va="bottom", fontweight="bold", fontsize=TEXT_POINTS + 1,
            annotation_clip=False,
        )  # fmt: skip
    absent, ends = [], set()
    for condition, curve in curves.items():
        style, rows = styles[condition], [row for row in curve if not pd.isna(row.unique_items)]
        if not rows:
            absent.append(style.label)
            continue
        xs, ys = [row.n_answers for row in rows], [row.unique_items for row in rows]
        ends.add(xs[-1])
        axes.plot(xs, ys, color=style.colour, linestyle=_line(style), linewidth=1.0)
        point = (xs[-1], _mark(rows[-1], style))
        draw_points(axes, [point], style, size=3.6, clip_on=False, zorder=3)
    if len(ends) > 1:
        axes.axvline(min(ends), color="#999999", linewidth=0.6, linestyle=":", zorder=0.5)
    if absent:
        axes.text(
            0.98, 0.03, wrap_text("n/a: " + ", ".join(absent), inches=inches), ha="right",
            va="bottom", color=GREY, fontsize=TEXT_POINTS, transform=axes.transAxes,
        )  # fmt: skip


def _mark(row: Any, style: ConditionStyle) -> PageMark:
    """The end of a curve; the mean's is of all its prompts, at the fewest answers among them."""
    item = text_or_none(row.item_id)
    return PageMark(
        measure=f"Distinct options among {row.n_answers} answers, {item or 'mean of prompts'}",
        label=style.label,
        value=float(row.unique_items),
        digits=1,
        model=row.model,
        task=row.task,
        item_id=item,
        condition=row.condition,
        kind="list",
        base="first",
        n=int(row.n_responses) if item else None,
    )


def _line(style: ConditionStyle) -> str:
    """Conditions of one colour differ in their line as in their marker."""
    return "-" if style.is_filled else "--"
