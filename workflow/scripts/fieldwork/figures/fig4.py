"""Figure 4: the options whose share of answers a user moves furthest, one row per option.

Owns the drawing of `records.Shift` rows: a panel per model with the options that move furthest under any
condition with a user, the largest shift on top. A share that does not differ from the baseline's is
pale and has no line to it, so that it does not look like a result.
"""

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from fieldwork.figures.labels import option_name, question_names
from fieldwork.figures.marks import PageMark, Point, ends_of
from fieldwork.figures.panel import GRID, PALE, Panel, draw_page, draw_points
from fieldwork.figures.selection import (
    NothingToDrawError,
    first_reason,
    is_shown,
    models_in,
    range_of,
    rows_by,
    rows_of,
    rows_to_draw,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    ConditionStyle,
    drawn_styles,
    legend_entry,
    legend_line,
    says_what_is_missing,
)
from fieldwork.readable_texts import cut
from fieldwork.records.metrics import Shift
from fieldwork.records.shared import ItemKey
from fieldwork.statistics.families import LEVEL

TABLES = {"shifts": Shift}
CLAIMS = {"shifts": "option_share"}

_MOST_OPTIONS = 12
_LANE = 0.062
"""Inches between two conditions of a row."""
_LINE = 0.118
"""Inches between two lines of a name."""
_LETTERS_A_LINE = {1: 36, 2: 24}
"""Letters in a line of a name, by the number of panels side by side."""
_THICK = 2.2
_PERCENT: Mapping[str, Any] = {
    "xlim": (0, 100),
    "xticks": [0, 25, 50, 75, 100],
    "xticklabels": ["0 %", "25 %", "50 %", "75 %", "100 %"],
}


class OptionShift(NamedTuple):
    """An option of a question, its rows by condition, and how far a user moves it."""

    item: ItemKey
    answer: str
    rows: Mapping[str, Any]
    furthest: float


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw rows of `shifts`: shares with their 95 % intervals, the baseline's first in each row.

    An empty table, or one without a shift under a condition with a user, gives a figure that says
    so.
    """
    table = rows_to_draw(table, settings)
    in_table = {settings.baseline, *table["condition"]}
    conditions = [one for one in dict.fromkeys(settings.conditions) if one in in_table]
    models, styles = models_in(table, settings), drawn_styles(conditions, settings)
    all_options = {m: _options(table[table["model"] == m], settings) for m in models}
    if not any(all_options.values()):
        raise NothingToDrawError(_why_no_option(table, settings))
    columns = min(2, len(models))
    blocks = -(-len(models) // columns)
    max_options = settings.max_items or _MOST_OPTIONS
    names = {
        model: _names(options[:max_options], _LETTERS_A_LINE[columns], settings)
        for model, options in all_options.items()
    }
    lines = max(name.count("\n") + 1 for labels in names.values() for name in labels)
    row = max(_LANE * (len(conditions) + 1.5), _LINE * (lines + 0.5))
    n = min(max_options, max(1, int(((PAGE_HEIGHT - 0.8) / blocks - 0.75) / row)))
    options = {model: all_options[model][:n] for model in models}
    longest = max(map(len, options.values()))
    page: list[list[Panel]] = []
    for place, model in enumerate(models):
        is_lowest = place + columns >= len(models)
        n_drawn = f"{len(options[model])} of {len(all_options[model])} options"
        page += [[]] if place % columns == 0 else []
        page[-1].append(
            Panel(
                names=names[model][:n],
                is_upright=False,
                is_shaded=True,
                title=f"{settings.model_name(model)}\n{n_drawn}",
                # panels of a block share a height; a shorter list leaves room at the foot
                axes={"ylim": (longest - 0.5, -0.5), **_PERCENT},
                grid={"color": GRID, "linewidth": 0.5},
                further=partial(
                    _draw_options,
                    table=table[table["model"] == model],
                    options=options[model],
                    styles=styles,
                    settings=settings,
                    has_numbers=is_lowest or len(options[model]) < longest,
                ),
            )
        )
    user_rows = table[table["answer"].notna() & table["condition"].isin(list(settings.users))]
    is_any_shown = any(map(is_shown, rows_of(user_rows)))
    remark = f"No share differs from the baseline's at p < {LEVEL:g}, corrected over the study."
    return draw_page(
        page,
        settings,
        height=blocks * (longest * row + 0.75),
        handles=_handles(options, styles, settings),
        notes=[None if is_any_shown else remark],
        xlabel={"t": "share of answers that give the option, with 95 % interval"},
    )


def _why_no_option(table: pd.DataFrame, settings: FigureSettings) -> str:
    """The reason in the table, where a condition with a user has one."""
    user_rows = table[table["condition"].isin(list(settings.users))]
    if user_rows.empty:
        return "no condition with a user is in the table"
    return first_reason(user_rows, "no option has a shift")


def _options(table: pd.DataFrame, settings: FigureSettings) -> list[OptionShift]:
    """The options of a model that have a shift under a condition with a user, the furthest first."""
    options = []
    rows_by_option = rows_by(table[table["answer"].notna()], "task", "item_id", "answer")
    for (task, item_id, answer), answer_rows in rows_by_option.items():
        rows = {row.condition: row for row in answer_rows}
        shifts = [row.shift for row in answer_rows if row.condition in settings.users]
        distances = [abs(shift) for shift in shifts if not pd.isna(shift)]
        if distances:
            options.append(OptionShift(ItemKey(task, item_id), answer, rows, max(distances)))
    return sorted(options, key=lambda option: (-option.furthest, *option[:2]))


def _names(options: Sequence[OptionShift], width: int, settings: FigureSettings) -> list[str]:
    """The options with their questions, in lines of `width` letters."""
    keys = dict.fromkeys(option.item for option in options)
    # two lines for the option, two for the question
    letters = 2 * width - 6
    items = question_names(keys, settings.questions, letters=letters)
    names = []
    for option in options:
        answer = option_name(settings.questions.get(option.item), option.answer)
        parts = [cut(answer, letters=letters), f"({items[option.item]})"]
        line = " ".join(parts)
        lines = [line] if len(line) <= width else [textwrap.fill(p, width=width) for p in parts]
        names.append("\n".join(lines))
    return names


def _draw_options(
    axes: Any,
    *,
    table: pd.DataFrame,
    options: Sequence[OptionShift],
    styles: Mapping[str, ConditionStyle],
    settings: FigureSettings,
    has_numbers: bool,
) -> None:
    """A lane per condition; a thin line carries the baseline's share through all lanes."""
    # marks at 0 % reach over the axis
    axes.tick_params(axis="y", pad=5)
    axes.tick_params(axis="x", labelbottom=has_numbers)
    axes.spines["left"].set_visible(False)
    if not options:
        axes.text(50, 0, "no shift can be computed", ha="center", color=GREY)
    any_rows = {(row.condition, row.task, row.item_id): row for row in rows_of(table)}
    step = 1 / (len(styles) + 1.5)
    for place, option in enumerate(options):
        with_baseline = [r for r in option.rows.values() if not pd.isna(r.baseline_share)]
        for lane, (condition, style) in enumerate(styles.items()):
            y = place - 0.5 + (lane + 1.25) * step
            # the table has no row of an option that no answer names on either side
            row = option.rows.get(condition, any_rows.get((condition, *option.item)))
            if condition != settings.baseline:
                _draw_share(axes, y, row, option, style)
            elif with_baseline:
                mark = _mark(with_baseline[0], option, style, condition)
                at, ends = mark.at_scale(mark.value), (place - 0.46, place + 0.46)
                axes.vlines(at, *ends, color=style.colour, linewidth=0.6, zorder=1)
                _draw_point(axes, y, mark, style)


def _draw_share(axes: Any, y: float, row: Any, option: OptionShift, style: ConditionStyle) -> None:
    if row is None:
        return
    if pd.isna(row.reason) and row.answer != option.answer:
        _draw_point(axes, y, Point(value=0.0), style._replace(alpha=PALE))
        return
    if not pd.isna(row.reason) or pd.isna(row.share):
        axes.text(101, y, "n/a", va="center", ha="left", color=style.colour, clip_on=False)
        return
    mark = _mark(row, option, style, row.condition)
    if is_shown(row) and not pd.isna(row.baseline_share):
        ends = sorted((100 * float(row.baseline_share), 100 * float(row.share)))
        axes.hlines(y, *ends, color=style.colour, linewidth=_THICK, zorder=1.6)
    _draw_point(axes, y, mark, style._replace(alpha=1.0 if is_shown(row) else PALE))


def _draw_point(axes: Any, y: float, point: Point, style: ConditionStyle) -> None:
    draw_points(axes, [(y, point)], style, is_upright=False, size=3.4, clip_on=False, zorder=3)


def _mark(row: Any, option: OptionShift, style: ConditionStyle, condition: str) -> PageMark:
    """The share of an option under a condition, or under the baseline that the row has beside it."""
    is_baseline = condition != row.condition
    of = "baseline_" if is_baseline else "share_"
    share = "baseline_share" if is_baseline else "share"
    n_named = row.n_named_baseline if is_baseline else row.n_named
    return PageMark(
        measure=f"Share of {option.answer} in {option.item.item_id}",
        label=style.label,
        **ends_of(row, share, f"{of}ci_low", f"{of}ci_high"),
        scale=100,
        unit=" %",
        digits=0,
        total=int(row.n_baseline if is_baseline else row.n_answers),
        model=row.model,
        task=option.item.task,
        item_id=option.item.item_id,
        condition=condition,
        answer=option.answer,
        base="first",
        n=None if pd.isna(n_named) else int(n_named),
    )


def _handles(
    options: Mapping[str, Sequence[OptionShift]],
    styles: Mapping[str, ConditionStyle],
    settings: FigureSettings,
) -> list[Any]:
    rows = [row for model in options.values() for option in model for row in option.rows.values()]
    counts = {
        condition: range_of(row.n_answers for row in rows if row.condition == condition)
        for condition in styles
    } | {settings.baseline: range_of(row.n_baseline for row in rows)}
    label = f"line: differs (p < {LEVEL:g}, corrected); pale: no difference shown"
    return [
        *(
            legend_entry(s, f"{s.label} (n = {counts[condition]})")
            for condition, s in styles.items()
        ),
        legend_line(label, width=_THICK),
    ]
