"""How varied the answers of groups of participants are, prompt by prompt.

Owns the drawing of `groups` and `group_differences`: a panel per model and variable, a row per prompt
with the mean over prompts on top, a dot per group with its interval. The name of a row is bold where its
groups differ by a test; the dot of a group is filled where it differs from the others by a test.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import question_names
from fieldwork.figures.marks import PageMark, ends_of
from fieldwork.figures.panel import Panel, dodge, draw_page
from fieldwork.figures.selection import (
    LETTERS_LEFT_OUT,
    NothingToDrawError,
    first_reason,
    is_shown,
    models_in,
    rest_remark,
    row_by,
    rows_by,
    rows_of,
    text_or_none,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    ConditionStyle,
    legend_entry,
    legend_line,
    says_what_is_missing,
    series_styles,
)
from fieldwork.records.field import FIELD, GroupDifference, GroupEstimate
from fieldwork.records.shared import ItemKey

METRIC = "entropy_bits"
MEAN = "mean of prompts"
TABLES = {"groups": GroupEstimate, "group_differences": GroupDifference}
CLAIMS = {"group_differences": "group_difference"}

_MOST_ITEMS = 12
"""Most prompts in a panel; the first are drawn."""
_DOT: dict[str, Any] = {"markersize": 3.6, "markeredgewidth": 0.8}
_ROW_INCHES = 0.09
_PANEL_INCHES = 0.5
_LEGEND_COLUMNS = 5
_ROOM = PAGE_HEIGHT - 0.6
_NAME_LETTERS = 32

Differences = Collection[tuple[str | None, str | None]]
"""Items, and groups of them, that differ by a test: the mean is None, and so are all groups together."""


class GroupPanel(NamedTuple):
    """A model's answers to the prompts of a task, by the groups of a variable.

    Attributes:
        key: model, task and variable.
        items: the prompts of its rows; None for their mean.
        rows: the estimates.
        different: what differs by a test.
    """

    key: tuple[str, ...]
    items: Sequence[str | None]
    rows: pd.DataFrame
    different: Differences

    @property
    def groups(self) -> list[str]:
        """The groups of the variable."""
        return sorted(set(self.rows["group"]))

    def legend_rows(self, n_columns: int) -> int:
        """Lines that the names of the groups take where so many panels stand side by side."""
        return -(-len(self.groups) // (_LEGEND_COLUMNS // n_columns))

    def inches(self, n_columns: int) -> float:
        """Height of the panel with its title and the names of its groups."""
        slots = len(self.items) * (len(self.groups) + 1)
        return _PANEL_INCHES + 0.14 * self.legend_rows(n_columns) + _ROW_INCHES * slots


@says_what_is_missing
def draw(groups: pd.DataFrame, differences: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw the entropy of lists, or of letters where no task asks for lists.

    A table without an estimate gives a figure that says why.
    """
    entropies = groups[(groups["metric"] == METRIC) & groups["answer"].isna()]
    if not entropies["estimate"].notna().any():
        raise NothingToDrawError(first_reason(entropies, "no participant has a group"))
    lists = entropies[entropies["kind"] == "list"]
    rows = lists if lists["estimate"].notna().any() else entropies
    panels = _panels(rows, differences, settings)
    remarks = [LETTERS_LEFT_OUT] if len(rows) < len(entropies) else []
    # two panels stand side by side where one column of them all is longer than a page
    n_columns = 1 if sum(panel.inches(1) for panel in panels) <= _ROOM else 2
    page = panels
    while sum(heights := _heights(page, n_columns)) > _ROOM and len(heights) > 1:
        page = page[:-1]
    rest = rest_remark(len(page), len(panels), "panels", tables="the tables have")
    page_panels = [_panel(panel, settings, n_columns=n_columns) for panel in page]
    if n_columns == 2:
        # bold names are the panel's own
        for place in range(1, len(page), 2):
            is_like = page[place].items == page[place - 1].items
            if is_like and not page_panels[place].name_look["bold"]:
                page_panels[place] = replace(page_panels[place], axes={"yticks": []})
    return draw_page(
        [page_panels[place : place + n_columns] for place in range(0, len(page_panels), n_columns)],
        settings,
        height=sum(heights),
        handles=_handles(),
        notes=[*remarks, rest],
        xlabel={
            "t": "Entropy of the answers in bits, at an equal number of answers for all groups"
        },
        height_ratios=heights,
    )


def _heights(panels: Sequence[GroupPanel], n_columns: int) -> list[float]:
    """Inches of each row of panels."""
    return [
        max(panel.inches(n_columns) for panel in panels[first : first + n_columns])
        for first in range(0, len(panels), n_columns)
    ]


def _panels(
    rows: pd.DataFrame, differences: pd.DataFrame, settings: FigureSettings
) -> list[GroupPanel]:
    """By model and task; where not all have room, those with a significant difference come first."""
    different: dict[tuple[str, ...], set[tuple[str | None, str | None]]] = {}
    for row in rows_of(differences):
        if is_shown(row) and row.metric in (METRIC, "js_bits"):
            item, versus = text_or_none(row.item_id), text_or_none(row.versus)
            # of two groups each differs from the other
            groups = {text_or_none(row.group), *([] if versus is None else [versus])}
            differing = different.setdefault((row.model, row.task, row.variable), set())
            differing |= {(item, group) for group in groups}
    models = models_in(rows, settings)
    panels = []
    for key in sorted(
        rows_by(rows, "model", "task", "variable"),
        key=lambda key: (models.index(key[0]), key[1], key not in different, key[2]),
    ):
        model, task, variable = key
        part = rows[(rows["model"] == model) & (rows["task"] == task)]
        part = part[part["variable"] == variable]
        items = sorted(set(part["item_id"].dropna()))[: settings.max_items or _MOST_ITEMS]
        panels.append(GroupPanel(key, [None, *items], part, different.get(key, set())))
    return panels


def _panel(panel: GroupPanel, settings: FigureSettings, *, n_columns: int) -> Panel:
    model, task, variable = panel.key
    rows, styles = row_by(panel.rows, "item_id", "group"), series_styles(panel.groups)
    series = [
        (
            style._replace(is_filled=(item, group) in panel.different),
            [(place + shift, _mark(rows[item, group]))],
        )
        for place, item in enumerate(panel.items)
        for group, style, shift in dodge(styles, 1 / (len(styles) + 1))
        if (item, group) in rows
    ]
    keys = [ItemKey(task, item) for item in panel.items if item is not None]
    labels = question_names(keys, settings.questions, letters=_NAME_LETTERS)
    bold = {k for k, item in enumerate(panel.items) if (item, None) in panel.different}
    return Panel(
        series=series,
        look={"width": 0.9, **_DOT},
        names=[MEAN, *labels.values()],
        name_look={"bold": bold},
        is_upright=False,
        is_shaded=True,
        title=", ".join([settings.model_name(model), task, variable]),
        # the title stands above the names of the groups
        title_look={"loc": "left", "pad": 4 + 10 * panel.legend_rows(n_columns)},
        further=partial(_name_groups, styles=styles, n_columns=_LEGEND_COLUMNS // n_columns),
    )


def _name_groups(axes: Any, *, styles: Mapping[str, ConditionStyle], n_columns: int) -> None:
    dots = [_dot(style._replace(is_filled=False)) for style in styles.values()]
    axes.legend(handles=dots, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=n_columns)


def _mark(row: Any) -> PageMark:
    """The answers of all participants are behind it: the page does not tell who is in a group."""
    item = text_or_none(row.item_id)
    return PageMark(
        measure=f"Entropy (bits), {item or MEAN}",
        label=f"{row.variable}: {row.group}",
        **ends_of(row, "estimate"),
        model=row.model,
        task=row.task,
        item_id=item,
        condition=FIELD,
        kind=row.kind,
        base="first",
    )


def _dot(style: ConditionStyle) -> Line2D:
    dot = legend_entry(style)
    dot.set(**_DOT | {"markersize": 4})
    return dot


def _handles() -> list[Any]:
    full_dot = ConditionStyle(GREY, "o", True, "differs in entropy from the mean of the others")
    return [
        _dot(full_dot),
        _dot(full_dot._replace(is_filled=False, label="no difference shown")),
        legend_line("95 % interval", width=0.9),
        Line2D([], [], linestyle="none", label="bold: groups differ in their answers"),
    ]
