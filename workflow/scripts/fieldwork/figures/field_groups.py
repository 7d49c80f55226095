"""How varied the answers of groups of participants are, prompt by prompt.

Owns the drawing of `groups` and `group_differences`: a panel a model and variable, a row a prompt with
the mean over prompts on top, a dot a group with its interval. A row in which groups are shown to differ
has its name in bold; a group that is shown to differ from the others has a filled dot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import item_names
from fieldwork.figures.style import (
    PAGE_HEIGHT,
    FigureOptions,
    ItemKey,
    add_head,
    models_in,
    new_figure,
    no_data,
    number,
    rows_of,
)

LEVEL = 0.05
METRIC = "entropy_bits"
MEAN = "mean of prompts"
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_ROW_INCHES = 0.09
_PANEL_INCHES = 0.5
_LEGEND_COLUMNS = 5
_ROOM = PAGE_HEIGHT - 0.6
_GREY = "#555555"
_NAME_LETTERS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about this figure."""

    max_items: int = 12
    """A panel with more prompts than this cannot be read; the first are drawn."""


class _Panel(NamedTuple):
    """What one panel shows."""

    model: str
    task: str
    variable: str


class _Content(NamedTuple):
    """The rows of a panel: prompts (None: the mean), groups, estimates, what is shown to differ."""

    items: list[str | None]
    groups: list[str]
    estimates: Mapping[tuple[str | None, str], Any]
    shown: frozenset[tuple[str | None, str | None]]


def draw(groups: pd.DataFrame, differences: pd.DataFrame, *, options: Options) -> Figure:
    """Draw the entropy of lists, or of letters where no task asks for lists.

    A table without an estimate gives a figure that says why.
    """
    own = groups[(groups["metric"] == METRIC) & groups["answer"].isna()]
    told = own[own["estimate"].notna()]
    if told.empty:
        return no_data(_why_none(own), note=options.note)
    lists = own[own["kind"] == "list"]
    chosen = own if lists["estimate"].notna().sum() == 0 else lists
    panels = _contents(chosen, differences, options)
    remarks = [] if len(chosen) == len(own) else ["Questions with letters are in the tables alone."]
    # two panels stand side by side where one column of them all is longer than a page
    n_columns = 1 if sum(_height(c, 1) for c in panels.values()) <= _ROOM else 2
    shown = list(panels.items())
    while sum(heights := _heights([c for _, c in shown], n_columns)) > _ROOM and len(heights) > 1:
        shown = shown[:-1]
    if len(shown) < len(panels):
        remarks.append(f"The first {len(shown)} of {len(panels)} panels; the tables hold them all.")
    figure = new_figure(height=sum(heights))
    grid = figure.subplots(
        len(heights), n_columns, squeeze=False, gridspec_kw={"height_ratios": heights}
    )  # fmt: skip
    axes = list(grid.flat)
    for one in axes[len(shown) :]:
        one.axis("off")
    for place, (one, (panel, content)) in enumerate(zip(axes, shown, strict=False)):
        _draw_panel(one, panel, content, options, n_columns=n_columns)
        before = shown[place - 1][1].items if place % n_columns else None
        # bold names are the panel's own
        if before == content.items and not any((item, None) in content.shown for item in before):
            one.set_yticks([])
    figure.supxlabel("Entropy of the answers in bits, all groups at one number of answers")
    add_head(figure, handles=_handles(), notes=[options.note, *remarks])
    return figure


def _why_none(own: pd.DataFrame) -> str:
    reasons = [str(reason) for reason in own["reason"] if isinstance(reason, str)]
    return reasons[0] if reasons else "no participant has a group"


def _height(content: _Content, n_columns: int) -> float:
    legend = 0.14 * _legend_rows(content, n_columns)
    return _PANEL_INCHES + legend + _ROW_INCHES * _slots(content)


def _heights(contents: Sequence[_Content], n_columns: int) -> list[float]:
    """Of each row of panels, inches."""
    return [
        max(_height(content, n_columns) for content in contents[first : first + n_columns])
        for first in range(0, len(contents), n_columns)
    ]


def _legend_columns(n_columns: int) -> int:
    return _LEGEND_COLUMNS // n_columns


def _legend_rows(content: _Content, n_columns: int) -> int:
    return -(-len(content.groups) // _legend_columns(n_columns))


def _slots(content: _Content) -> int:
    return len(content.items) * (len(content.groups) + 1)


def _contents(
    chosen: pd.DataFrame, differences: pd.DataFrame, options: Options
) -> dict[_Panel, _Content]:
    found: dict[_Panel, list[Any]] = {}
    for row in rows_of(chosen):
        found.setdefault(_Panel(row.model, row.task, row.variable), []).append(row)
    shown: dict[_Panel, set[tuple[str | None, str | None]]] = {}
    for row in rows_of(differences):
        p_value = number(row.p_holm)
        if p_value is not None and p_value < LEVEL and row.metric in (METRIC, "js_bits"):
            panel = _Panel(row.model, row.task, row.variable)
            item, versus = _text(row.item_id), _text(row.versus)
            own = shown.setdefault(panel, set())
            own.add((item, _text(row.group)))
            # of two groups each differs from the other
            if versus is not None:
                own.add((item, versus))
    models = models_in(chosen, options)
    return {
        panel: _content(rows, frozenset(shown.get(panel, ())), options.max_items)
        for panel, rows in sorted(
            found.items(),
            # where there is no room for all, those in which something is shown come first
            key=lambda entry: (
                models.index(entry[0].model),
                entry[0].task,
                entry[0] not in shown,
                entry[0].variable,
            ),
        )
    }


def _content(
    rows: Sequence[Any], shown: frozenset[tuple[str | None, str | None]], max_items: int
) -> _Content:
    items = sorted({row.item_id for row in rows if not pd.isna(row.item_id)})
    return _Content(
        items=[None, *items[:max_items]],
        groups=sorted({row.group for row in rows}),
        estimates={(_text(row.item_id), row.group): row for row in rows},
        shown=shown,
    )


def _text(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def _draw_panel(
    axes: Any, panel: _Panel, content: _Content, options: Options, *, n_columns: int
) -> None:
    keys = [ItemKey(panel.task, item) for item in content.items if item is not None]
    labels = item_names(keys, options.questions, letters=_NAME_LETTERS)
    names = [MEAN, *labels.values()]
    step = 1 / (len(content.groups) + 1)
    for place, item in enumerate(content.items):
        if place % 2:
            axes.axhspan(place - 0.5, place + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
        for number_of, group in enumerate(content.groups):
            y = place + (number_of - (len(content.groups) - 1) / 2) * step
            row = content.estimates.get((item, group))
            differs = (item, group) in content.shown
            _draw_group(axes, y, row, number_of, filled=differs)
    axes.set_ylim(len(content.items) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    for label, item in zip(axes.get_yticklabels(), content.items, strict=True):
        if (item, None) in content.shown:
            label.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    title = [options.model_labels.get(panel.model, panel.model), panel.task, panel.variable]
    # the title stands above the names of the groups
    axes.set_title(", ".join(title), loc="left", pad=4 + 10 * _legend_rows(content, n_columns))
    axes.legend(
        handles=[_group_handle(k, group) for k, group in enumerate(content.groups)],
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=_legend_columns(n_columns),
    )  # fmt: skip


def _draw_group(axes: Any, y: float, row: Any, place: int, *, filled: bool) -> None:
    colour, marker = _look(place)
    estimate = None if row is None else number(row.estimate)
    if estimate is None:
        return
    low, high = number(row.ci_low), number(row.ci_high)
    if low is not None and high is not None:
        axes.hlines(y, low, high, color=colour, linewidth=0.9, zorder=1.5)
    axes.plot(
        [estimate], [y], linestyle="none", marker=marker, markersize=3.6, markeredgecolor=colour,
        markeredgewidth=0.8, markerfacecolor=colour if filled else "white",
    )  # fmt: skip


def _look(place: int) -> tuple[str, str]:
    return _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]


def _group_handle(place: int, group: str) -> Line2D:
    colour, marker = _look(place)
    return Line2D(
        [], [], linestyle="none", marker=marker, markersize=4, markeredgecolor=colour,
        markeredgewidth=0.8, markerfacecolor="white", label=group,
    )  # fmt: skip


def _handles() -> list[Any]:
    def dot(face: str, label: str) -> Line2D:
        return Line2D(
            [], [], linestyle="none", marker="o", markersize=4, markeredgecolor=_GREY,
            markeredgewidth=0.8, markerfacecolor=face, label=label,
        )  # fmt: skip

    return [
        dot(_GREY, "differs in entropy from the mean of the others"),
        dot("white", "no difference shown"),
        Line2D([], [], color=_GREY, linewidth=0.9, label="95 % interval"),
        Line2D([], [], linestyle="none", label="bold: groups differ in their answers"),
    ]
