"""How varied the answers of groups of participants are, prompt by prompt.

Owns the drawing of `groups` and `group_differences`: a panel per model and variable, a row per prompt
with the mean over prompts on top, a dot per group with its interval. The name of a row is bold where its
groups differ by a test; the dot of a group is filled where it differs from the others by a test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import question_names
from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark, span_of
from fieldwork.figures.selection import (
    LETTERS_LEFT_OUT,
    first_reason,
    float_or_none,
    models_in,
    rows_of,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import GREY, PAGE_HEIGHT, add_head, empty_figure, new_figure
from fieldwork.records.field import FIELD, GroupDifference, GroupEstimate
from fieldwork.records.shared import ItemKey
from fieldwork.statistics.families import LEVEL

METRIC = "entropy_bits"
MEAN = "mean of prompts"
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_ROW_INCHES = 0.09
_PANEL_INCHES = 0.5
_LEGEND_COLUMNS = 5
_ROOM = PAGE_HEIGHT - 0.6
_NAME_LETTERS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsFigureSettings(FigureSettings):
    """What a study decides about the figure of groups."""

    max_items: int = 12
    """Most prompts in a panel; the first are drawn."""


class _GroupPanel(NamedTuple):
    """A model's answers to the prompts of a task, by the groups of a variable."""

    model: str
    task: str
    variable: str


class _GroupPanelRows(NamedTuple):
    """The rows of a panel: prompts (None: the mean), groups, estimates, significant differences."""

    items: list[str | None]
    groups: list[str]
    estimates: Mapping[tuple[str | None, str], Any]
    different: frozenset[tuple[str | None, str | None]]


TABLES = {"groups": GroupEstimate, "group_differences": GroupDifference}
CLAIMS = {"group_differences": "group_difference"}
SETTINGS = GroupsFigureSettings


def draw(groups: pd.DataFrame, differences: pd.DataFrame, settings: GroupsFigureSettings) -> Figure:
    """Draw the entropy of lists, or of letters where no task asks for lists.

    A table without an estimate gives a figure that says why.
    """
    entropies = groups[(groups["metric"] == METRIC) & groups["answer"].isna()]
    if not entropies["estimate"].notna().any():
        return empty_figure(first_reason(entropies, "no participant has a group"), settings)
    lists = entropies[entropies["kind"] == "list"]
    rows = lists if lists["estimate"].notna().any() else entropies
    panels = _rows_by_panel(rows, differences, settings)
    remarks = [LETTERS_LEFT_OUT] if len(rows) < len(entropies) else []
    # two panels stand side by side where one column of them all is longer than a page
    n_columns = 1 if sum(_height(c, 1) for c in panels.values()) <= _ROOM else 2
    page = list(panels.items())
    while sum(heights := _heights([c for _, c in page], n_columns)) > _ROOM and len(heights) > 1:
        page = page[:-1]
    if len(page) < len(panels):
        remarks.append(
            f"Only the first {len(page)} of {len(panels)} panels are drawn; the tables have all of them."
        )
    figure = new_figure(height=sum(heights))
    _draw_panels(figure, page, heights, n_columns, settings)
    figure.supxlabel("Entropy of the answers in bits, at an equal number of answers for all groups")
    add_head(figure, handles=_handles(), notes=[settings.note, *remarks])
    return figure


def _draw_panels(
    figure: Figure,
    page: Sequence[tuple[_GroupPanel, _GroupPanelRows]],
    heights: Sequence[float],
    n_columns: int,
    settings: GroupsFigureSettings,
) -> None:
    grid = figure.subplots(
        len(heights), n_columns, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    for axes in grid.flat[len(page) :]:
        axes.axis("off")
    for place, (axes, (panel, panel_rows)) in enumerate(zip(grid.flat, page, strict=False)):
        _draw_panel(axes, panel, panel_rows, settings, n_columns=n_columns)
        left_items = page[place - 1][1].items if place % n_columns else None
        # bold names are the panel's own
        if left_items == panel_rows.items and not any(
            (item, None) in panel_rows.different for item in left_items
        ):
            axes.set_yticks([])


def _height(panel_rows: _GroupPanelRows, n_columns: int) -> float:
    legend = 0.14 * _legend_rows(panel_rows, n_columns)
    return _PANEL_INCHES + legend + _ROW_INCHES * _slots(panel_rows)


def _heights(panel_rows_list: Sequence[_GroupPanelRows], n_columns: int) -> list[float]:
    """Inches of each row of panels."""
    return [
        max(
            _height(panel_rows, n_columns)
            for panel_rows in panel_rows_list[first : first + n_columns]
        )
        for first in range(0, len(panel_rows_list), n_columns)
    ]


def _legend_columns(n_columns: int) -> int:
    return _LEGEND_COLUMNS // n_columns


def _legend_rows(panel_rows: _GroupPanelRows, n_columns: int) -> int:
    return -(-len(panel_rows.groups) // _legend_columns(n_columns))


def _slots(panel_rows: _GroupPanelRows) -> int:
    return len(panel_rows.items) * (len(panel_rows.groups) + 1)


def _rows_by_panel(
    rows: pd.DataFrame, differences: pd.DataFrame, settings: GroupsFigureSettings
) -> dict[_GroupPanel, _GroupPanelRows]:
    rows_by_panel: dict[_GroupPanel, list[Any]] = {}
    for row in rows_of(rows):
        rows_by_panel.setdefault(_GroupPanel(row.model, row.task, row.variable), []).append(row)
    different: dict[_GroupPanel, set[tuple[str | None, str | None]]] = {}
    for row in rows_of(differences):
        p_value = float_or_none(row.p_corrected)
        if p_value is not None and p_value < LEVEL and row.metric in (METRIC, "js_bits"):
            panel = _GroupPanel(row.model, row.task, row.variable)
            item, versus = _text(row.item_id), _text(row.versus)
            differing = different.setdefault(panel, set())
            differing.add((item, _text(row.group)))
            # of two groups each differs from the other
            if versus is not None:
                differing.add((item, versus))
    models = models_in(rows, settings)
    return {
        panel: _panel_rows(rows_of_panel, frozenset(different.get(panel, ())), settings.max_items)
        for panel, rows_of_panel in sorted(
            rows_by_panel.items(),
            # where not all have room, panels with a significant difference come first
            key=lambda entry: (
                models.index(entry[0].model),
                entry[0].task,
                entry[0] not in different,
                entry[0].variable,
            ),
        )
    }


def _panel_rows(
    rows: Sequence[Any], different: frozenset[tuple[str | None, str | None]], max_items: int
) -> _GroupPanelRows:
    items = sorted({row.item_id for row in rows if not pd.isna(row.item_id)})
    return _GroupPanelRows(
        items=[None, *items[:max_items]],
        groups=sorted({row.group for row in rows}),
        estimates={(_text(row.item_id), row.group): row for row in rows},
        different=different,
    )


def _text(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def _draw_panel(
    axes: Any,
    panel: _GroupPanel,
    panel_rows: _GroupPanelRows,
    settings: GroupsFigureSettings,
    *,
    n_columns: int,
) -> None:
    keys = [ItemKey(panel.task, item) for item in panel_rows.items if item is not None]
    labels = question_names(keys, settings.questions, letters=_NAME_LETTERS)
    names = [MEAN, *labels.values()]
    step = 1 / (len(panel_rows.groups) + 1)
    for place, item in enumerate(panel_rows.items):
        if place % 2:
            axes.axhspan(place - 0.5, place + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
        for position, group in enumerate(panel_rows.groups):
            y = place + (position - (len(panel_rows.groups) - 1) / 2) * step
            row = panel_rows.estimates.get((item, group))
            differs = (item, group) in panel_rows.different
            _draw_group(axes, y, row, position, is_filled=differs)
            if row is not None:
                _mark_group(axes, y, row)
    axes.set_ylim(len(panel_rows.items) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    for label, item in zip(axes.get_yticklabels(), panel_rows.items, strict=True):
        if (item, None) in panel_rows.different:
            label.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    title = [settings.model_name(panel.model), panel.task, panel.variable]
    # the title stands above the names of the groups
    axes.set_title(", ".join(title), loc="left", pad=4 + 10 * _legend_rows(panel_rows, n_columns))
    axes.legend(
        handles=[_group_handle(k, group) for k, group in enumerate(panel_rows.groups)],
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=_legend_columns(n_columns),
    )  # fmt: skip


def _draw_group(axes: Any, y: float, row: Any, place: int, *, is_filled: bool) -> None:
    colour, marker = _colour_and_marker(place)
    estimate = None if row is None else float_or_none(row.estimate)
    if estimate is None:
        return
    low, high = float_or_none(row.ci_low), float_or_none(row.ci_high)
    if low is not None and high is not None:
        axes.hlines(y, low, high, color=colour, linewidth=0.9, zorder=1.5)
    axes.plot(
        [estimate], [y], linestyle="none", marker=marker, markersize=3.6, markeredgecolor=colour,
        markeredgewidth=0.8, markerfacecolor=colour if is_filled else "white",
    )  # fmt: skip


def _mark_group(axes: Any, y: float, row: Any) -> None:
    """The answers of all participants are behind it: the page does not tell who is in a group."""
    estimate = float_or_none(row.estimate)
    if estimate is None:
        return
    caption = MarkedValue(
        measure=f"Entropy (bits), {_text(row.item_id) or MEAN}",
        label=f"{row.variable}: {row.group}",
        value=estimate,
        ci_low=float_or_none(row.ci_low),
        ci_high=float_or_none(row.ci_high),
    )
    answers = MarkedAnswers(
        model=row.model,
        task=row.task,
        item_id=_text(row.item_id),
        condition=FIELD,
        kind=row.kind,
        base="first",
    )
    add_mark(axes, span_of(estimate, row), y, caption, answers)


def _colour_and_marker(place: int) -> tuple[str, str]:
    return _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]


def _group_handle(place: int, group: str) -> Line2D:
    colour, marker = _colour_and_marker(place)
    return _hollow_dot(group, colour, marker)


def _hollow_dot(label: str, colour: str = GREY, marker: str = "o") -> Line2D:
    return Line2D(
        [], [], linestyle="none", marker=marker, markersize=4, markeredgecolor=colour,
        markeredgewidth=0.8, markerfacecolor="white", label=label,
    )  # fmt: skip


def _handles() -> list[Any]:
    filled_dot = _hollow_dot("differs in entropy from the mean of the others")
    filled_dot.set_markerfacecolor(GREY)
    return [
        filled_dot,
        _hollow_dot("no difference shown"),
        Line2D([], [], color=GREY, linewidth=0.9, label="95 % interval"),
        Line2D([], [], linestyle="none", label="bold: groups differ in their answers"),
    ]
