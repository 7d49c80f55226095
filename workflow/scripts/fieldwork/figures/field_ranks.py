"""Slope charts: the places of the prompts under a condition and in the field.

Owns the drawing of `item_agreement` and `rank_agreement`: a panel per model and condition, a line per
prompt from its place under the condition to its place in the field, coloured where the change is
beyond chance. Prompts that share a place have their names below each other beside a bar, and their
lines end together at its middle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import fit, inches_of, item_names, p_value_text
from fieldwork.figures.selection import (
    LETTERS_LEFT_OUT,
    first_reason,
    float_or_none,
    models_in,
    rows_of,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    add_head,
    drawn_styles,
    empty_figure,
    new_figure,
)
from fieldwork.records.field import ItemAgreement, RankAgreement
from fieldwork.records.shared import ItemKey
from fieldwork.statistics.families import LEVEL

RISES, FALLS, STAYS = "#D55E00", "#0072B2", "#8C8C8C"
_MOST_COLUMNS = 3
_SLOT_INCHES = 0.155
_PANEL_INCHES = 0.72
"""Inches of a panel's title and axis."""
_DASHES = (0, (3.2, 1.2))
_NAME_LETTERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RanksFigureSettings(FigureSettings):
    """What a study decides about the figure of ranks."""

    max_items: int = 16
    """Most items of a panel; a panel with more is not drawn."""


class _RankPanel(NamedTuple):
    """The prompts of a task under a condition and in the field, ranked by a measure."""

    model: str
    task: str
    predictor: str
    ranked_by: str


class _RankLayout(NamedTuple):
    rows: list[list[_RankPanel]]
    items: Mapping[_RankPanel, list[Any]]
    agreement: Mapping[_RankPanel, Any]
    names: Mapping[str, str]
    remarks: list[str]

    @property
    def columns(self) -> int:
        """Panels side by side."""
        return max(map(len, self.rows))

    @property
    def panels(self) -> list[_RankPanel]:
        """What is drawn, in order."""
        return [panel for row in self.rows for panel in row]

    @property
    def slots(self) -> int:
        """Places of the fullest panel."""
        return max(len(rows) for rows in self.items.values())


TABLES = {"item_agreement": ItemAgreement, "rank_agreement": RankAgreement}
CLAIMS = {"item_agreement": "field_place", "rank_agreement": "field_order"}
SETTINGS = RanksFigureSettings


def draw(items: pd.DataFrame, ranks: pd.DataFrame, settings: RanksFigureSettings) -> Figure:
    """Draw the panels of lists, or those of letters where there are no lists.

    Tables that rank nothing give a figure that says why.
    """
    ranked_items = items[items["field_rank"].notna()]
    conditions = [c for c in settings.conditions if c in set(ranked_items["predictor"])]
    if not conditions:
        otherwise = (
            "no prompt is answered both in the field and under a condition"
            if items.empty
            else "the table has none of the conditions to draw"
        )
        return empty_figure(first_reason(items, otherwise), settings)
    layout = _lay_out(
        ranked_items[ranked_items["predictor"].isin(conditions)], ranks, conditions, settings
    )
    if not layout.panels:
        return empty_figure("; ".join(layout.remarks), settings)
    figure = new_figure(height=len(layout.rows) * _row_inches(layout.slots))
    grid = figure.subplots(len(layout.rows), layout.columns, squeeze=False)
    for axes_row, panels in zip(grid, layout.rows, strict=True):
        for axes, panel in zip(axes_row, panels, strict=False):
            _draw_panel(figure, axes, layout, panel, settings)
        for axes in axes_row[len(panels) :]:
            axes.set_axis_off()
    add_head(figure, handles=_handles(layout), notes=[settings.note, *layout.remarks])
    return figure


def _lay_out(
    items: pd.DataFrame,
    ranks: pd.DataFrame,
    conditions: Sequence[str],
    settings: RanksFigureSettings,
) -> _RankLayout:
    lists = items[items["kind"] == "list"]
    chart_items = items if lists.empty else lists
    remarks = [LETTERS_LEFT_OUT] if len(chart_items) < len(items) else []
    rows_by_panel: dict[_RankPanel, list[Any]] = {}
    for row in rows_of(chart_items):
        rows_by_panel.setdefault(
            _RankPanel(row.model, row.task, row.predictor, row.ranked_by), []
        ).append(row)
    items_by_panel = {
        panel: rows for panel, rows in rows_by_panel.items() if len(rows) <= settings.max_items
    }
    if len(items_by_panel) < len(rows_by_panel):
        remarks.append(f"Panels of more than {settings.max_items} prompts are not drawn.")
    models = models_in(chart_items, settings)
    tasks = list(dict.fromkeys(chart_items["task"]))
    panels = sorted(
        items_by_panel,
        key=lambda b: (models.index(b.model), tasks.index(b.task), conditions.index(b.predictor)),
    )
    rows: list[list[_RankPanel]] = []
    for panel in panels:
        # every model and task begins a row
        if not rows or rows[-1][0][:2] != panel[:2] or len(rows[-1]) == _MOST_COLUMNS:
            rows.append([])
        rows[-1].append(panel)
    n_slots = max(map(len, items_by_panel.values()), default=1)
    n_rows = max(1, int((PAGE_HEIGHT - 0.6) // _row_inches(n_slots)))
    if len(rows) > n_rows:
        n_drawn = sum(map(len, rows[:n_rows]))
        remarks.append(
            f"Only the first {n_drawn} of {len(panels)} panels are drawn; the tables have all of them."
        )
    styles = drawn_styles(conditions, settings)
    return _RankLayout(
        rows=rows[:n_rows],
        items=items_by_panel,
        agreement={
            _RankPanel(row.model, row.task, row.predictor, row.measure): row
            for row in rows_of(ranks[ranks["over"] == "items"])
        },
        names={condition: style.label for condition, style in styles.items()},
        remarks=remarks,
    )


def _row_inches(n_slots: int) -> float:
    return n_slots * _SLOT_INCHES + _PANEL_INCHES


class RankSlot(NamedTuple):
    """Where a prompt stands on both sides, 0 on top, and the places it shares."""

    row: Any
    left: int
    right: int


def slots(rows: Sequence[Any]) -> list[RankSlot]:
    """A slot for each prompt; prompts that share a place are in the order of the other side."""
    left = sorted(rows, key=lambda r: (r.predictor_rank, r.field_rank, r.item_id))
    right = sorted(rows, key=lambda r: (r.field_rank, r.predictor_rank, r.item_id))
    places = {row.item_id: position for position, row in enumerate(right)}
    return [RankSlot(row, position, places[row.item_id]) for position, row in enumerate(left)]


def colour_of(row: Any) -> str:
    """Grey where chance explains the change."""
    p_value = float_or_none(row.p_corrected)
    if p_value is None or p_value >= LEVEL or not row.rank_change:
        return STAYS
    return RISES if row.rank_change > 0 else FALLS


def _draw_panel(
    figure: Figure, axes: Any, layout: _RankLayout, panel: _RankPanel, settings: RanksFigureSettings
) -> None:
    width = PAGE_WIDTH / layout.columns - 0.1
    rank_slots = slots(layout.items[panel])
    keys = [ItemKey(panel.task, s.row.item_id) for s in rank_slots]
    names = {
        key.item_id: fit(figure, name, inches=0.34 * width)
        for key, name in item_names(keys, settings.questions, letters=_NAME_LETTERS).items()
    }
    room = max(inches_of(figure, name) for name in names.values()) + 0.07
    margin = room / max(0.3, width - 2 * room)
    for slot in rank_slots:
        colour = colour_of(slot.row)
        is_changed = colour != STAYS
        axes.plot(
            [0, 1], [slot.row.predictor_rank - 1, slot.row.field_rank - 1],
            color=colour, linewidth=1.5 if is_changed else 0.8,
            linestyle=_DASHES if colour == FALLS else "-", zorder=2 if is_changed else 1,
            marker="o", markersize=2.6, markeredgewidth=0,
        )  # fmt: skip
        shade = colour if is_changed else "black"
        text = {"va": "center", "fontsize": TEXT_POINTS, "color": shade}
        gap = 0.05 * margin / 0.4
        axes.text(-gap, slot.left, names[slot.row.item_id], ha="right", **text)
        axes.text(1 + gap, slot.right, names[slot.row.item_id], ha="left", **text)
    _draw_ties(axes, rank_slots)
    axes.set_xlim(-margin, 1 + margin)
    axes.set_ylim(layout.slots - 0.4, -0.6)
    axes.set_xticks([0, 1], [layout.names[panel.predictor], "Field"])
    axes.set_yticks([])
    axes.tick_params(axis="x", length=0, pad=1)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.set_title(_title(layout, panel, settings))


def _draw_ties(axes: Any, rank_slots: Sequence[RankSlot]) -> None:
    """A bar beside prompts that share a place."""
    for x, side, rank in ((0.0, "left", "predictor_rank"), (1.0, "right", "field_rank")):
        for at in _slots_of_ties(rank_slots, side, rank):
            axes.vlines(x, min(at), max(at), color="black", linewidth=2.2, zorder=3)


def _slots_of_ties(rank_slots: Sequence[RankSlot], side: str, rank: str) -> list[list[int]]:
    """Slots of the prompts that share a place on one side."""
    slots_by_rank: dict[float, list[int]] = {}
    for slot in rank_slots:
        slots_by_rank.setdefault(getattr(slot.row, rank), []).append(getattr(slot, side))
    return [at for at in slots_by_rank.values() if len(at) > 1]


def _title(layout: _RankLayout, panel: _RankPanel, settings: RanksFigureSettings) -> str:
    models = {b.model for b in layout.panels}
    tasks = {b.task for b in layout.panels}
    head = [settings.model_name(panel.model)] if len(models) > 1 else []
    head += [layout.names[panel.predictor]] + ([panel.task] if len(tasks) > 1 else [])
    return "\n".join([", ".join(head), *_agreement(layout.agreement.get(panel))])


def _agreement(row: Any) -> list[str]:
    if row is None or float_or_none(row.tau_b) is None:
        return ["no order to compare", ""]
    p_value, ceiling = float_or_none(row.p_corrected), float_or_none(row.ceiling)
    test = "" if p_value is None else f", {p_value_text(p_value).replace('0.', '.', 1)}"
    ceiling_text = "ceiling unknown" if ceiling is None else f"ceiling {_decimal(ceiling)}"
    return [
        f"τ = {_decimal(row.tau_b)}{test}, {int(row.n_discordant)}/{row.n_pairs} reversed",
        f"ρ = {_decimal(row.rho)}, {ceiling_text}",
    ]


def _decimal(value: float) -> str:
    return f"{value:.2f}".replace("-", "−").replace("0.", ".", 1)


def _handles(layout: _RankLayout) -> list[Any]:
    handles = [
        Line2D([], [], color=RISES, linewidth=1.5, label="rises in the field, beyond chance"),
        Line2D([], [], color=FALLS, linewidth=1.5, linestyle=_DASHES, label="falls, beyond chance"),
        Line2D([], [], color=STAYS, linewidth=0.8, label="no change beyond chance"),
    ]
    all_slots = [slots(layout.items[panel]) for panel in layout.panels]
    if any(
        _slots_of_ties(rank_slots, "left", "predictor_rank")
        or _slots_of_ties(rank_slots, "right", "field_rank")
        for rank_slots in all_slots
    ):
        handles.append(Line2D([], [], color="black", linewidth=2.2, label="shared place"))
    return handles
