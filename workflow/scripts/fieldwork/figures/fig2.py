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
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation

from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark
from fieldwork.figures.question_layout import (
    GAP,
    LINE_SPACING,
    SPACING,
    SWATCH,
    TEXT_GAP,
    Fig2Settings,
    QuestionLayout,
    QuestionOption,
    QuestionPanel,
    bar_places,
    lay_out_questions,
)
from fieldwork.figures.selection import (
    absence_reason,
    conditions_in,
    float_or_none,
    models_in,
    rows_of,
    rows_of_task,
)
from fieldwork.figures.style import (
    GREY,
    PAGE_WIDTH,
    TEXT_POINTS,
    add_head,
    drawn_styles,
    empty_figure,
    new_figure,
)
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import AnswerShare
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.shared import ItemKey

__all__ = ["Fig2Settings", "draw", "ink_of"]

_HATCH = "/////"
_INTERVAL_POINTS = 1.0
_INKS: Mapping[str, tuple[str, str]] = {
    "A": ("#56B4E9", "black"),
    "B": ("#08306B", "white"),
    "C": ("#F0E442", "black"),
    "D": ("#D55E00", "black"),
    "E": ("#F2B8D4", "black"),
    "F": ("#009E73", "black"),
    "G": ("#FFFFFF", "black"),
    "H": ("#000000", "white"),
    "I": ("#C8C8C8", "black"),
    "J": ("#6A3D9A", "white"),
    # the options of long scales
    "K": ("#B2DF8A", "black"),
    "L": ("#5E3C1A", "white"),
    "M": ("#FDBF6F", "black"),
    "N": ("#1F5D4C", "white"),
    "O": ("#E0E0FF", "black"),
}


_SCALE_MAP = "cividis"
"""Of the points of a scale: from dark to light, also in greyscale and for colour-blind readers."""
_BESIDE_SCALE = "#C8C8C8"
_DARK = 0.5
"""Luminance below which a text is white."""


class LetterInk(NamedTuple):
    """Fill of a letter's bar, and a text colour that can be read on it."""

    fill: str
    text: str


class _ShareBarKey(NamedTuple):
    model: str
    item: ItemKey
    condition: str


def ink_of(letter: str) -> LetterInk:
    """Ink of a letter: the same for all questions of all figures.

    Neighbours differ by at least 15 points of CIELAB lightness, so that they part in greyscale.
    """
    return LetterInk(*_INKS[letter])


def _ink_of_option(option: QuestionOption) -> LetterInk:
    """Ink of an option: points of a scale go from dark to light, others have their letter's."""
    if option.is_beside_scale:
        return LetterInk(_BESIDE_SCALE, "black")
    if option.height is None:
        return ink_of(option.letter)
    red, green, blue, _ = colormaps[_SCALE_MAP](option.height)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return LetterInk(to_hex((red, green, blue)), "white" if luminance < _DARK else "black")


_REPEATS = (
    "All answers of a user count here. Where the findings compare conditions, the first one counts, "
    "so shares may differ."
)


TABLES = {"distributions": AnswerShare}
SETTINGS = Fig2Settings


def draw(table: pd.DataFrame, settings: Fig2Settings) -> Figure:
    """Draw `records.AnswerShare` rows as stacked bars in percent of all responses.

    An empty table gives a figure that says so.
    """
    table = rows_of_task(table, settings)
    reason = absence_reason(table, settings)
    if reason:
        return empty_figure(reason, settings)
    conditions = sorted(conditions_in(table, settings), key=FIELD.__eq__)
    names = [style.label for style in drawn_styles(conditions, settings).values()]
    rows = rows_of(table[table["condition"].isin(conditions)])
    heights = bar_places(conditions)
    figure = new_figure(height=1.0)
    layout = lay_out_questions(figure, rows, names, _slots(heights), settings)
    rows_by_bar: dict[_ShareBarKey, list[Any]] = {}
    for row in rows:
        key = _ShareBarKey(row.model, ItemKey(row.task, row.item_id), row.condition)
        rows_by_bar.setdefault(key, []).append(row)
    bars = dict(zip(conditions, heights, strict=True))
    models = {m: settings.model_name(m) for m in models_in(table, settings)}
    _draw_panels(figure, rows_by_bar, layout, bars=bars, names=names, models=models)
    has_gold = any(option.is_gold for panel in layout.panels for option in panel.options)
    repeats = _REPEATS if any(row.n_responses > row.n_units for row in rows) else None
    notes = [settings.note, layout.remark, repeats]
    add_head(figure, handles=_handles(has_gold=has_gold), notes=notes)
    return figure


def _slots(heights: Sequence[float]) -> float:
    """Height of a panel in bars."""
    return heights[-1] - heights[0] + 1.1


def _handles(*, has_gold: bool) -> list[Any]:
    gap = Patch(facecolor="white", edgecolor="#AAAAAA", label="gap to 100 %: no readable answer")
    gap.set_linestyle(":")
    correct = Patch(
        facecolor="white", edgecolor="black", hatch=_HATCH, label="correct option, first"
    )
    interval = Line2D([], [], color="black", linewidth=_INTERVAL_POINTS)
    interval.set_label("its 95 % interval")
    return [*([correct, interval] if has_gold else []), gap]


def _draw_panels(
    figure: Figure,
    rows_by_bar: Mapping[_ShareBarKey, Sequence[Any]],
    layout: QuestionLayout,
    *,
    bars: Mapping[str, float],
    names: Sequence[str],
    models: Mapping[str, str],
) -> None:
    heights = [*bars.values()]
    heads = sum(panel.head_inches for panel in layout.panels)
    figure.set_figheight(heads + layout.bar * _slots(heights) * len(layout.panels) + 0.65)
    grid = figure.subplots(len(layout.panels), len(models), squeeze=False)
    for i, panel in enumerate(layout.panels):
        options = {option.letter: option for option in panel.options}
        for j, (model, label) in enumerate(models.items()):
            axes = grid[i, j]
            for (condition, place), name in zip(bars.items(), names, strict=True):
                rows = rows_by_bar.get(_ShareBarKey(model, panel.item, condition), ())
                _draw_bar(axes, place, rows, name, options)
            _scale(axes, heights, is_lowest=i == len(layout.panels) - 1)
            axes.set_yticks(heights, names if j == 0 else [""] * len(names))
            if i == 0:
                _name_model(axes, label, above=panel.head_inches)
        _draw_question(grid[i, 0], panel)
    figure.supxlabel("share of all responses")


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
    panel: Any,
    place: float,
    rows: Sequence[Any],
    label: str,
    options: Mapping[str, QuestionOption],
) -> None:
    n = max((int(row.n_responses) for row in rows), default=0)
    if n == 0:
        panel.text(1, place, "n/a: no responses", va="center", color=GREY)
        return
    panel.barh(place, 100, height=0.8, facecolor="none", edgecolor="#AAAAAA", linestyle=":")
    left = 0.0
    for row in sorted(rows, key=_correct_first):
        if row.is_correct:
            _draw_interval(panel, place, row)
        if row.answer == UNKNOWN or not row.n_answers:
            continue
        width = 100 * float(row.share)
        option = options[row.answer]
        _draw_segment(panel, place, row, left=left, width=width, option=option)
        _mark_share(panel, place, (left, left + width), row, label, option.name)
        left += width
    for row in rows:
        if row.answer == UNKNOWN and row.n_answers:
            _mark_share(panel, place, (left, 100), row, label, None)
    size = _size_text(n, max(int(row.n_units) for row in rows))
    panel.annotate(
        size, (100, place), xytext=(3, 0), textcoords="offset points", va="center",
        annotation_clip=False,
    )  # fmt: skip


def _mark_share(
    panel: Any, place: float, ends: tuple[float, float], row: Any, label: str, option: str | None
) -> None:
    """A part of a bar, as high as the bar; `option` is None for answers that cannot be read."""
    caption = MarkedValue(
        measure=f"No readable answer in {row.item_id}"
        if option is None
        else f"Share of {option} in {row.item_id}",
        label=label,
        value=float(row.share),
        ci_low=float_or_none(row.ci_low),
        ci_high=float_or_none(row.ci_high),
        scale=100,
        unit=" %",
        digits=0,
        total=int(row.n_responses),
    )
    answers = MarkedAnswers(
        model=row.model,
        task=row.task,
        item_id=row.item_id,
        condition=row.condition,
        answer=row.answer,
        base="counted",
        n=int(row.n_answers),
    )
    add_mark(panel, ends, (place - 0.4, place + 0.4), caption, answers)


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


def _draw_interval(panel: Any, place: float, row: Any) -> None:
    """Below the letter, so that neither hides the other; white around it, as the bar is hatched."""
    low, high = float_or_none(row.ci_low), float_or_none(row.ci_high)
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


def _scale(panel: Any, heights: Sequence[float], *, is_lowest: bool) -> None:
    panel.set_xlim(0, 100)
    panel.set_ylim(heights[-1] + 0.55, heights[0] - 0.55)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.set_xticks(
        [0, 25, 50, 75, 100], ["0 %", "", "50 %", "", "100 %"] if is_lowest else [""] * 5
    )


def _name_model(panel: Any, name: str, *, above: float) -> None:
    """A column's name, `above` so many inches of the first question."""
    panel.annotate(
        name, (0.5, 1), xycoords="axes fraction", xytext=(0, 72 * above), textcoords="offset points",
        ha="center", va="bottom", fontweight="bold", fontsize=TEXT_POINTS + 0.5,
        annotation_clip=False,
    )  # fmt: skip
