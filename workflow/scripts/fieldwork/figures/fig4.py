"""Figure 4: the options whose share of answers a user moves furthest, one row per option.

Owns the drawing of `records.Shift` rows: a panel per model with the options that move furthest under any
condition with a user, the largest shift on top. A share that does not differ from the baseline's is
pale and has no line to it, so that it does not look like a result.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import option_name, question_names
from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark, span_of
from fieldwork.figures.selection import (
    absence_reason,
    conditions_in,
    first_reason,
    float_or_none,
    models_in,
    range_of,
    rows_of,
    rows_of_task,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    ConditionStyle,
    add_head,
    drawn_styles,
    empty_figure,
    legend_entry,
    marker_arguments,
    new_figure,
)
from fieldwork.readable_texts import cut
from fieldwork.records.metrics import Shift
from fieldwork.records.shared import ItemKey
from fieldwork.statistics.families import LEVEL

_PALE = 0.45
_LANE = 0.062
"""Inches between two conditions of a row."""
_LINE = 0.118
"""Inches between two lines of a name."""
_LETTERS_A_LINE = {1: 36, 2: 24}
"""Letters in a line of a name, by the number of panels side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fig4Settings(FigureSettings):
    """What a study decides about Figure 4."""

    users: Sequence[str] = ()
    """Conditions that bring a user; they decide which options are drawn."""
    max_options: int = 12
    """Most options in a panel."""


class _ShiftOptionKey(NamedTuple):
    item: ItemKey
    answer: str


class _ShiftPanel(NamedTuple):
    """A model's options, furthest first, with their printed names and the number of all options.

    `rows` are by option and condition; `rows_by_condition` has one row of each item per condition.
    """

    model: str
    options: list[_ShiftOptionKey]
    names: list[str]
    n_options: int
    rows: Mapping[tuple[_ShiftOptionKey, str], Any]
    rows_by_condition: Mapping[tuple[ItemKey, str], Any]


class _ShiftLayout(NamedTuple):
    panels: list[_ShiftPanel]
    styles: dict[str, ConditionStyle]
    columns: int
    row: float

    @property
    def blocks(self) -> int:
        return -(-len(self.panels) // self.columns)


TABLES = {"shifts": Shift}
CLAIMS = {"shifts": "option_share"}
SETTINGS = Fig4Settings


def draw(table: pd.DataFrame, settings: Fig4Settings) -> Figure:
    """Draw rows of `shifts`: shares with their 95 % intervals, the baseline's first in each row.

    An empty table, or one without a shift under a condition with a user, gives a figure that says
    so.
    """
    table = rows_of_task(table, settings)
    reason = absence_reason(table, settings)
    if reason:
        return empty_figure(reason, settings)
    conditions_in_table = conditions_in(table, settings)
    rows = table[table["condition"].isin(conditions_in_table)]
    conditions = [
        condition
        for condition in dict.fromkeys(settings.conditions)
        if condition in (settings.baseline, *conditions_in_table)
    ]
    layout = _lay_out(rows, conditions, models_in(rows, settings), settings)
    if not any(panel.options for panel in layout.panels):
        return empty_figure(_why_no_option(rows, settings), settings)
    figure = new_figure(height=_height(layout))
    _draw_panels(figure, layout, settings)
    add_head(
        figure, handles=_handles(layout, settings), notes=[settings.note, _remark(layout, settings)]
    )
    return figure


def _why_no_option(table: pd.DataFrame, settings: Fig4Settings) -> str:
    """The reason in the table, where a condition with a user has one."""
    user_rows = table[table["condition"].isin(list(settings.users))]
    if user_rows.empty:
        return "no condition with a user is in the table"
    return first_reason(user_rows, "no option has a shift")


def _lay_out(
    table: pd.DataFrame, conditions: Sequence[str], models: Sequence[str], settings: Fig4Settings
) -> _ShiftLayout:
    columns = min(2, len(models))
    blocks = -(-len(models) // columns)
    width = _LETTERS_A_LINE[columns]
    panels = [_panel(rows_of(table[table["model"] == m]), m, width, settings) for m in models]
    lines = max((name.count("\n") + 1 for panel in panels for name in panel.names), default=1)
    row = max(_LANE * (len(conditions) + 1.5), _LINE * (lines + 0.5))
    n = max(1, int(((PAGE_HEIGHT - 0.8) / blocks - 0.75) / row))
    panels = [p._replace(options=p.options[:n], names=p.names[:n]) for p in panels]
    return _ShiftLayout(panels, drawn_styles(conditions, settings), columns, row)


def _panel(rows: Sequence[Any], model: str, width: int, settings: Fig4Settings) -> _ShiftPanel:
    furthest: dict[_ShiftOptionKey, float] = {}
    cells: dict[tuple[_ShiftOptionKey, str], Any] = {}
    for row in rows:
        if pd.isna(row.answer):
            continue
        option = _ShiftOptionKey(_key(row), row.answer)
        cells[option, row.condition] = row
        shift = float_or_none(row.shift)
        if row.condition in settings.users and shift is not None:
            furthest[option] = max(abs(shift), furthest.get(option, 0.0))
    option_keys = sorted(furthest, key=lambda option: (-furthest[option], option))
    rows_by_condition = {(_key(row), row.condition): row for row in rows}
    first = option_keys[: settings.max_options]
    return _ShiftPanel(
        model, first, _names(first, width, settings), len(option_keys), cells, rows_by_condition
    )


def _key(row: Any) -> ItemKey:
    return ItemKey(row.task, row.item_id)


def _height(layout: _ShiftLayout) -> float:
    longest = max(len(panel.options) for panel in layout.panels)
    return layout.blocks * (longest * layout.row + 0.75)


def _remark(layout: _ShiftLayout, settings: Fig4Settings) -> str | None:
    for panel in layout.panels:
        for (_, condition), row in panel.rows.items():
            if condition in settings.users and _differs(row):
                return None
    return f"No share differs from the baseline's at p < {LEVEL:g}, corrected over the study."


def _differs(row: Any) -> bool:
    p_corrected = float_or_none(row.p_corrected)
    return p_corrected is not None and p_corrected < LEVEL


def _handles(layout: _ShiftLayout, settings: Fig4Settings) -> list[Any]:
    entries: list[Any] = []
    for condition, style in layout.styles.items():
        counts = [
            row.n_baseline if condition == settings.baseline else row.n_answers
            for panel in layout.panels
            for (option, row_condition), row in panel.rows.items()
            if option in panel.options and condition in (row_condition, settings.baseline)
        ]
        entries.append(legend_entry(style, f"{style.label} (n = {range_of(counts) or 0})"))
    label = f"line: differs (p < {LEVEL:g}, corrected); pale: no difference shown"
    return [*entries, Line2D([], [], color=GREY, linewidth=2.2, label=label)]


def _draw_panels(figure: Figure, layout: _ShiftLayout, settings: Fig4Settings) -> None:
    grid = figure.subplots(layout.blocks, layout.columns, squeeze=False)
    for position, axes in enumerate(grid.flat):
        if position >= len(layout.panels):
            axes.remove()
            continue
        panel = layout.panels[position]
        for row, option in enumerate(panel.options):
            _draw_row(axes, row, option, panel, layout.styles, settings)
        _scale(
            axes, panel, layout, settings, is_lowest=position + layout.columns >= len(layout.panels)
        )
    figure.supxlabel("share of answers that give the option, with 95 % interval")


def _draw_row(
    axes: Any,
    at: int,
    option: _ShiftOptionKey,
    panel: _ShiftPanel,
    styles: Mapping[str, ConditionStyle],
    settings: Fig4Settings,
) -> None:
    """A lane per condition; a thin line carries the baseline's share through all lanes."""
    if at % 2:
        axes.axhspan(at - 0.5, at + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
    step = 1 / (len(styles) + 1.5)
    for lane, (condition, style) in enumerate(styles.items()):
        y = at - 0.5 + (lane + 1.25) * step
        if condition == settings.baseline:
            baseline = _with_baseline(option, panel)
            _draw_baseline(axes, at, y, baseline, style)
            if baseline is not None:
                _mark_share(axes, y, option, baseline, style, settings.baseline)
            continue
        row = panel.rows.get(
            (option, condition), panel.rows_by_condition.get((option.item, condition))
        )
        if row is None:
            continue
        if pd.isna(row.reason) and row.answer != option.answer:
            # the table has no row of an option that no answer names on either side
            _point(axes, 0.0, y, style, alpha=_PALE)
        else:
            _draw_share(axes, y, row, style, differs=_differs(row))
            if pd.isna(row.reason) and float_or_none(row.share) is not None:
                _mark_share(axes, y, option, row, style, condition)


def _with_baseline(option: _ShiftOptionKey, panel: _ShiftPanel) -> Any | None:
    """A row with the baseline's share of an option, which is the same in all its rows."""
    rows = (row for (option_key, _), row in panel.rows.items() if option_key == option)
    return next((row for row in rows if float_or_none(row.baseline_share) is not None), None)


def _draw_baseline(axes: Any, at: int, y: float, row: Any | None, style: ConditionStyle) -> None:
    if row is None:
        return
    share = 100 * float(row.baseline_share)
    axes.vlines(share, at - 0.46, at + 0.46, color=style.colour, linewidth=0.6, zorder=1)
    low, high = 100 * float(row.baseline_ci_low), 100 * float(row.baseline_ci_high)
    axes.hlines(y, low, high, color=style.colour, linewidth=0.8, zorder=1.5)
    _point(axes, share, y, style, alpha=1.0)


def _draw_share(axes: Any, y: float, row: Any, style: ConditionStyle, *, differs: bool) -> None:
    share, baseline_share = float_or_none(row.share), float_or_none(row.baseline_share)
    if share is None or not pd.isna(row.reason):
        axes.text(101, y, "n/a", va="center", ha="left", color=style.colour, clip_on=False)
        return
    alpha = 1.0 if differs else _PALE
    axes.hlines(
        y, 100 * row.share_ci_low, 100 * row.share_ci_high, color=style.colour, linewidth=0.8,
        alpha=alpha, zorder=1.5,
    )  # fmt: skip
    if differs and baseline_share is not None:
        ends = sorted((100 * baseline_share, 100 * share))
        axes.hlines(y, *ends, color=style.colour, linewidth=2.2, zorder=1.6)
    _point(axes, 100 * share, y, style, alpha=alpha)


def _mark_share(
    axes: Any, y: float, option: _ShiftOptionKey, row: Any, style: ConditionStyle, condition: str
) -> None:
    """The share of an option under a condition, or under the baseline that the row has beside it."""
    is_baseline = condition != row.condition
    prefix, n_named = ("baseline_", "n_named_baseline") if is_baseline else ("", "n_named")
    low, high = (
        f"{prefix}ci_{end}" if is_baseline else f"share_ci_{end}" for end in ("low", "high")
    )
    share = float(getattr(row, f"{prefix}share"))
    caption = MarkedValue(
        measure=f"Share of {option.answer} in {option.item.item_id}",
        label=style.label,
        value=share,
        ci_low=float_or_none(getattr(row, low)),
        ci_high=float_or_none(getattr(row, high)),
        scale=100,
        unit=" %",
        digits=0,
        total=int(row.n_baseline if is_baseline else row.n_answers),
    )
    answers = MarkedAnswers(
        model=row.model,
        task=option.item.task,
        item_id=option.item.item_id,
        condition=condition,
        answer=option.answer,
        base="first",
        n=int(getattr(row, n_named)),
    )
    low_end, high_end = span_of(share, row, low, high)
    add_mark(axes, (100 * low_end, 100 * high_end), y, caption, answers)


def _point(axes: Any, share: float, y: float, style: ConditionStyle, *, alpha: float) -> None:
    axes.plot(
        [share], [y], linestyle="none", label=style.label, alpha=alpha, clip_on=False, zorder=3,
        **marker_arguments(style, size=3.4),
    )  # fmt: skip


def _scale(
    axes: Any, panel: _ShiftPanel, layout: _ShiftLayout, settings: Fig4Settings, *, is_lowest: bool
) -> None:
    longest = max(len(panel.options) for panel in layout.panels)
    # panels of a block share a height; a shorter list leaves room at the foot
    axes.set_ylim(longest - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.tick_params(axis="x", labelbottom=is_lowest or len(panel.options) < longest)
    axes.set_yticks(range(len(panel.names)), panel.names)
    # marks at 0 % reach over the axis
    axes.tick_params(axis="y", length=0, pad=5)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    label = settings.model_name(panel.model)
    if not panel.options:
        axes.text(50, 0, "no shift can be computed", ha="center", color=GREY)
    axes.set_title(f"{label}\n{len(panel.options)} of {panel.n_options} options")


def _names(ranking: Sequence[_ShiftOptionKey], width: int, settings: Fig4Settings) -> list[str]:
    """The options with their questions, in lines of `width` letters."""
    keys = dict.fromkeys(option.item for option in ranking)
    # two lines for the option, two for the question
    letters = 2 * width - 6
    items = question_names(keys, settings.questions, letters=letters)
    names = []
    for option in ranking:
        answer = option_name(settings.questions.get(option.item), option.answer)
        parts = [cut(answer, letters=letters), f"({items[option.item]})"]
        line = " ".join(parts)
        lines = [line] if len(line) <= width else [textwrap.fill(p, width=width) for p in parts]
        names.append("\n".join(lines))
    return names
