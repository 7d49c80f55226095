"""Figure 2: the options chosen on each benchmark item, by condition.

Owns the drawing of `records.AnswerShare` rows: a row of panels per item, a column per model, a stacked
bar per condition. The gap to 100 % is the share of answers in which no letter could be read; it is
left blank on purpose. The correct option is hatched and comes first, with the interval of its share.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation

from fieldwork.figures.marks import PageMark, Point, add_mark, ends_of
from fieldwork.figures.question_layout import (
    GAP,
    LINE_SPACING,
    SPACING,
    SWATCH,
    TEXT_GAP,
    QuestionOption,
    QuestionPanel,
    bar_places,
    lay_out_questions,
)
from fieldwork.figures.selection import (
    conditions_in,
    models_in,
    rows_by,
    rows_of,
    rows_to_draw,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_WIDTH,
    TEXT_POINTS,
    add_head,
    drawn_styles,
    legend_line,
    new_figure,
    says_what_is_missing,
)
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import AnswerShare
from fieldwork.records.parsing import UNKNOWN

TABLES = {"distributions": AnswerShare}

_HATCH = "/////"
_INTERVAL_POINTS = 1.0


class LetterInk(NamedTuple):
    """Fill of a letter's bar, and a text colour that can be read on it."""

    fill: str
    text: str = "black"


_INKS: Mapping[str, LetterInk] = {
    "A": LetterInk("#56B4E9"),
    "B": LetterInk("#08306B", "white"),
    "C": LetterInk("#F0E442"),
    "D": LetterInk("#D55E00"),
    "E": LetterInk("#F2B8D4"),
    "F": LetterInk("#009E73"),
    "G": LetterInk("#FFFFFF"),
    "H": LetterInk("#000000", "white"),
    "I": LetterInk("#C8C8C8"),
    "J": LetterInk("#6A3D9A", "white"),
    # the options of long scales
    "K": LetterInk("#B2DF8A"),
    "L": LetterInk("#5E3C1A", "white"),
    "M": LetterInk("#FDBF6F"),
    "N": LetterInk("#1F5D4C", "white"),
    "O": LetterInk("#E0E0FF"),
}
_SCALE_MAP = "cividis"
"""Of the points of a scale: from dark to light, also in greyscale and for colour-blind readers."""
_BESIDE_SCALE = LetterInk("#C8C8C8")
_DARK = 0.5
"""Luminance below which a text is white."""
_THINNEST = 0.002
_REPEATS = (
    "All answers of a user count here. Where the findings compare conditions, the first one counts, "
    "so shares may differ."
)


def ink_of(letter: str) -> LetterInk:
    """Ink of a letter: the same for all questions of all figures.

    Neighbours differ by at least 15 points of CIELAB lightness, so that they part in greyscale.
    """
    return _INKS[letter]


def _ink_of_option(option: QuestionOption) -> LetterInk:
    """Ink of an option: points of a scale go from dark to light, others have their letter's."""
    if option.is_beside_scale:
        return _BESIDE_SCALE
    if option.height is None:
        return ink_of(option.letter)
    red, green, blue, _ = colormaps[_SCALE_MAP](option.height)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return LetterInk(to_hex((red, green, blue)), "white" if luminance < _DARK else "black")


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw `records.AnswerShare` rows as stacked bars in percent of all responses.

    An empty table gives a figure that says so.
    """
    table = rows_to_draw(table, settings)
    conditions = sorted(conditions_in(table, settings), key=FIELD.__eq__)
    names = [style.label for style in drawn_styles(conditions, settings).values()]
    heights = bar_places(conditions)
    slots = heights[-1] - heights[0] + 1.1
    layout = lay_out_questions(rows_of(table), names, slots, settings)
    heads = sum(panel.head_inches for panel in layout.panels)
    figure = new_figure(height=heads + layout.bar * slots * len(layout.panels) + 0.65)
    rows, models = (
        rows_by(table, "model", "task", "item_id", "condition"),
        models_in(table, settings),
    )
    grid = figure.subplots(len(layout.panels), len(models), squeeze=False)
    for axes_row, panel in zip(grid, layout.panels, strict=True):
        for axes, model in zip(axes_row, models, strict=True):
            for condition, place, name in zip(conditions, heights, names, strict=True):
                bar_rows = rows.get((model, *panel.item, condition), ())
                _draw_bar(axes, place, bar_rows, name, panel)
            _scale(axes, heights, has_numbers=panel is layout.panels[-1])
            axes.set_yticks(heights, [""] * len(names))
        axes_row[0].set_yticks(heights, names)
        _draw_question(axes_row[0], panel)
    for axes, model in zip(grid[0], models, strict=True):
        _name_model(axes, settings.model_name(model), above=layout.panels[0].head_inches)
    is_stated = bool(table["is_stated"].all())
    figure.supxlabel(f"{'probability, mean' if is_stated else 'share'} of all responses")
    has_gold = any(option.is_gold for panel in layout.panels for option in panel.options)
    is_repeated = (table["n_responses"] > table["n_units"]) & ~table["is_stated"]
    repeats = _REPEATS if is_repeated.any() else None
    notes = [settings.note, layout.remark, repeats]
    return add_head(figure, handles=_handles(has_gold=has_gold), notes=notes)


def _handles(*, has_gold: bool) -> list[Any]:
    gap = Patch(facecolor="white", edgecolor="#AAAAAA", label="gap to 100 %: no readable answer")
    gap.set_linestyle(":")
    correct = Patch(
        facecolor="white", edgecolor="black", hatch=_HATCH, label="correct option, first"
    )
    interval = legend_line("its 95 % interval", width=_INTERVAL_POINTS, colour="black")
    return [*([correct, interval] if has_gold else []), gap]


def _draw_question(axes: Any, panel: QuestionPanel) -> None:
    """The question, and its options each beside its colour; both may reach over all columns."""
    legend = axes.legend(
        handles=[_option_handle(option) for option in panel.options],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        bbox_transform=axes.transAxes + ScaledTranslation(0, GAP, axes.figure.dpi_scale_trans),
        ncols=panel.columns,
        borderpad=0,
        labelspacing=LINE_SPACING,
        handlelength=SWATCH,
        handletextpad=TEXT_GAP,
        columnspacing=SPACING,
    )
    # the title's pad keeps the room: a legend wider than its column would push the others away
    legend.set_in_layout(False)
    pad = 72 * (panel.legend_inches + 2 * GAP)
    axes.set_title(panel.title, loc="left", fontsize=TEXT_POINTS, pad=pad)


def _option_handle(option: QuestionOption) -> Patch:
    ink = _ink_of_option(option)
    patch = Patch(facecolor=ink.fill, edgecolor="black", label=option.label)
    if option.is_gold:
        patch.set_hatch(_HATCH)
        patch.set_hatchcolor(ink.text)
    return patch


def _draw_bar(
    axes: Any, place: float, rows: Sequence[Any], label: str, panel: QuestionPanel
) -> None:
    n = max((int(row.n_responses) for row in rows), default=0)
    if n == 0:
        axes.text(1, place, "n/a: no responses", va="center", color=GREY)
        return
    axes.barh(place, 100, height=0.8, facecolor="none", edgecolor="#AAAAAA", linestyle=":")
    options = {option.letter: option for option in panel.options}
    left, unread_row = 0.0, None
    for row in sorted(rows, key=_correct_first):
        if row.is_correct:
            _draw_interval(axes, place, row)
        # a probability that no bar could show
        if not row.share or (row.is_stated and row.share < _THINNEST):
            continue
        if row.answer == UNKNOWN:
            unread_row = row
            continue
        width, option = 100 * float(row.share), options[row.answer]
        _draw_segment(axes, place, row, left=left, width=width, option=option)
        _mark_share(axes, place, (left, left + width), row, label, f"Share of {option.name}")
        left += width
    if unread_row is not None:
        _mark_share(axes, place, (left, 100), unread_row, label, "No readable answer")
    n_units = max(int(row.n_units) for row in rows)
    # a user's probabilities are one number, however many answers are drawn from them
    size = _size_text(n_units if rows[0].is_stated else n, n_units)
    axes.annotate(
        size, (100, place), xytext=(3, 0), textcoords="offset points", va="center",
        annotation_clip=False,
    )  # fmt: skip


def _mark_share(
    axes: Any, place: float, ends: tuple[float, float], row: Any, label: str, measure: str
) -> None:
    """A part of a bar, as high as the bar."""
    mark = PageMark(
        measure=f"{measure} in {row.item_id}",
        label=label,
        **ends_of(row, "share"),
        scale=100,
        unit=" %",
        digits=0,
        total=int(row.n_responses),
        model=row.model,
        task=row.task,
        item_id=row.item_id,
        condition=row.condition,
        answer=row.answer,
        base="counted",
        n=None if row.is_stated else int(row.n_answers),
    )
    add_mark(axes, ends, (place - 0.4, place + 0.4), mark)


def _size_text(n: int, n_units: int) -> str:
    """`n = 40`, `n = 40 × 2` for 40 users who answer twice, `n = 79, 40 users` for uneven numbers."""
    if n == n_units:
        return f"n = {n}"
    n_repeats, n_more = divmod(n, n_units)
    return f"n = {n}, {n_units} users" if n_more else f"n = {n_units} × {n_repeats}"


def _correct_first(row: Any) -> tuple[bool, str]:
    """At the left edge, where shares can be compared and the axis reads them."""
    return (not row.is_correct, str(row.answer))


def _draw_segment(
    panel: Any, place: float, row: Any, *, left: float, width: float, option: QuestionOption
) -> None:
    ink = _ink_of_option(option)
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
            left + width / 2, place, option.name, ha="center", va="center_baseline", color=ink.text,
            fontsize=TEXT_POINTS, path_effects=rim, clip_on=True,
        )  # fmt: skip


def _draw_interval(axes: Any, place: float, row: Any) -> None:
    """Below the letter, so that neither hides the other; white around it, as the bar is hatched."""
    interval = Point(**ends_of(row, "share"), scale=100).interval
    if interval is not None:
        axes.plot(
            interval, [place + 0.27] * 2, color="black", linewidth=_INTERVAL_POINTS,
            solid_capstyle="butt", clip_on=True,
            path_effects=[withStroke(linewidth=3 * _INTERVAL_POINTS, foreground="white")],
        )  # fmt: skip


def _points_a_percent(panel: Any) -> float:
    """Roughly: names and counts take about an inch and a half of the page between them."""
    columns = int(panel.get_subplotspec().get_gridspec().ncols)
    return (PAGE_WIDTH - 0.9 - 0.55 * columns) / columns * 72 / 100


def _scale(panel: Any, heights: Sequence[float], *, has_numbers: bool) -> None:
    panel.set_xlim(0, 100)
    panel.set_ylim(heights[-1] + 0.55, heights[0] - 0.55)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.set_xticks(
        [0, 25, 50, 75, 100], ["0 %", "", "50 %", "", "100 %"] if has_numbers else [""] * 5
    )


def _name_model(panel: Any, name: str, *, above: float) -> None:
    """A column's name, `above` so many inches of the first question."""
    panel.annotate(
        name, (0.5, 1), xycoords="axes fraction", xytext=(0, 72 * above), textcoords="offset points",
        ha="center", va="bottom", fontweight="bold", fontsize=TEXT_POINTS + 0.5,
        annotation_clip=False,
    )  # fmt: skip
