"""Figure 4: the options whose share of answers a user moves furthest, one row an option.

Owns the drawing of `records` rows of the table `shifts`: a panel a model, the options that move most
under any condition with a user, the largest shift on top. What is not shown to differ from the
baseline after Holm's correction is pale and has no line to it, so that it does not look like a result.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import cut, item_names, option_name
from fieldwork.figures.style import (
    PAGE_HEIGHT,
    FigureOptions,
    ItemKey,
    Look,
    add_head,
    conditions_in,
    handle,
    looks,
    marker_style,
    models_in,
    new_figure,
    no_data,
    number,
    range_of,
    rows_of,
    why_empty,
)

_GREY = "#555555"
_PALE = 0.45
_LANE = 0.062
"""Inches from one condition of a row to the next."""
_LINE = 0.118
"""Inches from one line of a name to the next."""
_LETTERS_A_LINE = {1: 36, 2: 24}
"""Of a name, by the number of panels side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about Figure 4."""

    baseline: str = "offline"
    """The condition the shifts are from."""
    users: Sequence[str] = ()
    """Conditions that bring a user: they decide which options are shown."""
    max_options: int = 12
    """How many options a model's panel has at most."""
    level: float = 0.05
    """Corrected p-values below this are drawn as a difference."""


class _Option(NamedTuple):
    item: ItemKey
    answer: str


class _Panel(NamedTuple):
    """A model's options, furthest first, as they are printed, and how many there are.

    `rows` are by option and condition; `answered` holds a row of each item under each condition.
    """

    model: str
    options: list[_Option]
    names: list[str]
    n_options: int
    rows: Mapping[tuple[_Option, str], Any]
    answered: Mapping[tuple[ItemKey, str], Any]


class _Plan(NamedTuple):
    panels: list[_Panel]
    looks: dict[str, Look]
    columns: int
    row: float

    @property
    def blocks(self) -> int:
        return -(-len(self.panels) // self.columns)


def draw(table: pd.DataFrame, *, options: Options) -> Figure:
    """Draw rows of `shifts`: shares with their 95 % intervals, the baseline's first in each row.

    An empty table, or one without a shift under a condition with a user, gives a figure that says
    so.
    """
    why = why_empty(table, options)
    if why:
        return no_data(why, note=options.note)
    shown = conditions_in(table, options)
    kept = table[table["condition"].isin(shown)]
    conditions = [c for c in dict.fromkeys(options.conditions) if c in (options.baseline, *shown)]
    plan = _plan(kept, conditions, models_in(kept, options), options)
    if not any(panel.options for panel in plan.panels):
        return no_data(_why_no_option(kept, options), note=options.note)
    figure = new_figure(height=_height(plan))
    _draw_panels(figure, plan, options)
    add_head(figure, handles=_handles(plan, options), notes=[options.note, _remark(plan, options)])
    return figure


def _why_no_option(table: pd.DataFrame, options: Options) -> str:
    """The table's own reason, where a condition with a user has one."""
    own = table[table["condition"].isin(list(options.users))]
    if own.empty:
        return "no condition with a user is in the table"
    reasons = [str(reason) for reason in own["reason"] if not pd.isna(reason)]
    return reasons[0] if reasons else "no option has a shift"


def _plan(
    table: pd.DataFrame, conditions: Sequence[str], models: Sequence[str], options: Options
) -> _Plan:
    columns = min(2, len(models))
    blocks = -(-len(models) // columns)
    width = _LETTERS_A_LINE[columns]
    panels = [_panel(rows_of(table[table["model"] == m]), m, width, options) for m in models]
    lines = max((name.count("\n") + 1 for panel in panels for name in panel.names), default=1)
    row = max(_LANE * (len(conditions) + 1.5), _LINE * (lines + 0.5))
    most = max(1, int(((PAGE_HEIGHT - 0.8) / blocks - 0.75) / row))
    panels = [p._replace(options=p.options[:most], names=p.names[:most]) for p in panels]
    return _Plan(panels, looks(conditions, labels=options.condition_labels), columns, row)


def _panel(rows: Sequence[Any], model: str, width: int, options: Options) -> _Panel:
    furthest: dict[_Option, float] = {}
    cells: dict[tuple[_Option, str], Any] = {}
    for row in rows:
        if pd.isna(row.answer):
            continue
        option = _Option(_key(row), row.answer)
        cells[option, row.condition] = row
        shift = number(row.shift)
        if row.condition in options.users and shift is not None:
            furthest[option] = max(abs(shift), furthest.get(option, 0.0))
    ranked = sorted(furthest, key=lambda option: (-furthest[option], option))
    answered = {(_key(row), row.condition): row for row in rows}
    first = ranked[: options.max_options]
    return _Panel(model, first, _names(first, width, options), len(ranked), cells, answered)


def _key(row: Any) -> ItemKey:
    return ItemKey(row.task, row.item_id)


def _height(plan: _Plan) -> float:
    longest = max(len(panel.options) for panel in plan.panels)
    return plan.blocks * (longest * plan.row + 0.75)


def _remark(plan: _Plan, options: Options) -> str | None:
    for panel in plan.panels:
        for (_, condition), row in panel.rows.items():
            if condition in options.users and _differs(row, options):
                return None
    return "No share is shown to differ from the baseline's after Holm's correction."


def _differs(row: Any, options: Options) -> bool:
    p_holm = number(row.p_holm)
    return p_holm is not None and p_holm < options.level


def _handles(plan: _Plan, options: Options) -> list[Any]:
    entries: list[Any] = []
    for condition, look in plan.looks.items():
        counts = [
            row.n_baseline if condition == options.baseline else row.n_answers
            for panel in plan.panels
            for (option, of), row in panel.rows.items()
            if option in panel.options and condition in (of, options.baseline)
        ]
        entries.append(handle(look, f"{look.label} (n = {range_of(counts) or 0})"))
    told = f"line: differs, p < {options.level:g} after Holm; pale: no difference shown"
    return [*entries, Line2D([], [], color=_GREY, linewidth=2.2, label=told)]


def _draw_panels(figure: Figure, plan: _Plan, options: Options) -> None:
    grid = figure.subplots(plan.blocks, plan.columns, squeeze=False)
    for position, axes in enumerate(grid.flat):
        if position >= len(plan.panels):
            axes.remove()
            continue
        panel = plan.panels[position]
        for number_, option in enumerate(panel.options):
            _draw_row(axes, number_, option, panel, plan.looks, options)
        _scale(axes, panel, plan, options, lowest=position + plan.columns >= len(plan.panels))
    figure.supxlabel("share of answers that give the option, with 95 % interval")


def _draw_row(
    axes: Any,
    at: int,
    option: _Option,
    panel: _Panel,
    shown: Mapping[str, Look],
    options: Options,
) -> None:
    """A lane a condition; the baseline's share runs through all of them as a thin line."""
    if at % 2:
        axes.axhspan(at - 0.5, at + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
    step = 1 / (len(shown) + 1.5)
    for lane, (condition, look) in enumerate(shown.items()):
        y = at - 0.5 + (lane + 1.25) * step
        if condition == options.baseline:
            _draw_baseline(axes, at, y, _with_baseline(option, panel), look)
            continue
        row = panel.rows.get((option, condition), panel.answered.get((option.item, condition)))
        if row is None:
            continue
        if pd.isna(row.reason) and row.answer != option.answer:
            # named by nobody on either side: the table has no row of it
            _point(axes, 0.0, y, look, alpha=_PALE)
        else:
            _draw_share(axes, y, row, look, differs=_differs(row, options))


def _with_baseline(option: _Option, panel: _Panel) -> Any | None:
    """A row that has the baseline's share of an option: all of them have the same."""
    found = (row for (of, _), row in panel.rows.items() if of == option)
    return next((row for row in found if number(row.baseline_share) is not None), None)


def _draw_baseline(axes: Any, at: int, y: float, row: Any | None, look: Look) -> None:
    if row is None:
        return
    share = 100 * float(row.baseline_share)
    axes.vlines(share, at - 0.46, at + 0.46, color=look.colour, linewidth=0.6, zorder=1)
    low, high = 100 * float(row.baseline_ci_low), 100 * float(row.baseline_ci_high)
    axes.hlines(y, low, high, color=look.colour, linewidth=0.8, zorder=1.5)
    _point(axes, share, y, look, alpha=1.0)


def _draw_share(axes: Any, y: float, row: Any, look: Look, *, differs: bool) -> None:
    share, before = number(row.share), number(row.baseline_share)
    if share is None or not pd.isna(row.reason):
        axes.text(101, y, "n/a", va="center", ha="left", color=look.colour, clip_on=False)
        return
    alpha = 1.0 if differs else _PALE
    axes.hlines(
        y, 100 * row.share_ci_low, 100 * row.share_ci_high, color=look.colour, linewidth=0.8,
        alpha=alpha, zorder=1.5,
    )  # fmt: skip
    if differs and before is not None:
        ends = sorted((100 * before, 100 * share))
        axes.hlines(y, *ends, color=look.colour, linewidth=2.2, zorder=1.6)
    _point(axes, 100 * share, y, look, alpha=alpha)


def _point(axes: Any, share: float, y: float, look: Look, *, alpha: float) -> None:
    axes.plot(
        [share], [y], linestyle="none", label=look.label, alpha=alpha, clip_on=False, zorder=3,
        **marker_style(look, size=3.4),
    )  # fmt: skip


def _scale(axes: Any, panel: _Panel, plan: _Plan, options: Options, *, lowest: bool) -> None:
    longest = max(len(each.options) for each in plan.panels)
    # panels of a block share a height; a shorter list leaves room at the foot
    axes.set_ylim(longest - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.tick_params(axis="x", labelbottom=lowest or len(panel.options) < longest)
    axes.set_yticks(range(len(panel.names)), panel.names)
    # marks at 0 % reach over the axis
    axes.tick_params(axis="y", length=0, pad=5)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    label = options.model_labels.get(panel.model, panel.model)
    if not panel.options:
        axes.text(50, 0, "no shift can be given", ha="center", color=_GREY)
    axes.set_title(f"{label}\n{len(panel.options)} of {panel.n_options} options")


def _names(ranking: Sequence[_Option], width: int, options: Options) -> list[str]:
    """The options with their questions, in lines of `width` letters."""
    keys = dict.fromkeys(option.item for option in ranking)
    # two lines for the option, two for the question
    letters = 2 * width - 6
    items = item_names(keys, options.questions, letters=letters)
    names = []
    for option in ranking:
        answer = option_name(options.questions.get(option.item), option.answer)
        parts = [cut(answer, letters=letters), f"({items[option.item]})"]
        line = " ".join(parts)
        lines = [line] if len(line) <= width else [textwrap.fill(p, width=width) for p in parts]
        names.append("\n".join(lines))
    return names
