"""Slope charts: the places of the prompts under a condition and in the field.

Owns the drawing of `item_agreement` and `rank_agreement`: a panel a model and condition, a line a
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

from fieldwork.figures.labels import fit, inches_of, item_names
from fieldwork.figures.style import (
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    FigureOptions,
    ItemKey,
    add_head,
    looks,
    models_in,
    new_figure,
    no_data,
    number,
    rows_of,
)

LEVEL = 0.05
RISES, FALLS, STAYS = "#D55E00", "#0072B2", "#8C8C8C"
_GREY = "#555555"
_MOST_COLUMNS = 3
_SLOT_INCHES = 0.155
_PANEL_INCHES = 0.72
"""Of a panel, beside its slots: title and axis."""
_DASHES = (0, (3.2, 1.2))
_NAME_LETTERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about this figure."""

    max_items: int = 16
    """A panel with more items than this cannot be read and is not drawn."""


class _Board(NamedTuple):
    """What one panel shows."""

    model: str
    task: str
    predictor: str
    ranked_by: str


class _Plan(NamedTuple):
    rows: list[list[_Board]]
    items: Mapping[_Board, list[Any]]
    agreement: Mapping[_Board, Any]
    names: Mapping[str, str]
    remarks: list[str]

    @property
    def columns(self) -> int:
        """Panels side by side."""
        return max(map(len, self.rows))

    @property
    def boards(self) -> list[_Board]:
        """What is drawn, in order."""
        return [board for row in self.rows for board in row]

    @property
    def slots(self) -> int:
        """Places of the fullest panel."""
        return max(len(rows) for rows in self.items.values())


def draw(items: pd.DataFrame, ranks: pd.DataFrame, *, options: Options) -> Figure:
    """Draw the boards of lists, or those of letters where there are no lists.

    Tables that rank nothing give a figure that says why.
    """
    ranked = items[items["field_rank"].notna()]
    asked = [c for c in options.conditions if c in set(ranked["predictor"])]
    if not asked:
        return no_data(_why_none(items), note=options.note)
    plan = _plan(ranked[ranked["predictor"].isin(asked)], ranks, asked, options)
    if not plan.boards:
        return no_data("; ".join(plan.remarks), note=options.note)
    figure = new_figure(height=len(plan.rows) * _row_inches(plan.slots))
    panels = figure.subplots(len(plan.rows), plan.columns, squeeze=False)
    for row, boards in zip(panels, plan.rows, strict=True):
        for axes, board in zip(row, boards, strict=False):
            _draw_board(figure, axes, plan, board, options)
        for axes in row[len(boards) :]:
            axes.set_axis_off()
    add_head(figure, handles=_handles(plan), notes=[options.note, *plan.remarks])
    return figure


def _why_none(items: pd.DataFrame) -> str:
    if items.empty:
        return "no prompt is answered both in the field and under a condition"
    reasons = [str(reason) for reason in items["reason"] if isinstance(reason, str)]
    return reasons[0] if reasons else "none of the conditions asked for is in the table"


def _plan(
    items: pd.DataFrame, ranks: pd.DataFrame, asked: Sequence[str], options: Options
) -> _Plan:
    lists = items[items["kind"] == "list"]
    chosen = items if lists.empty else lists
    remarks = (
        [] if len(chosen) == len(items) else ["Questions with letters are in the tables alone."]
    )
    held: dict[_Board, list[Any]] = {}
    for row in rows_of(chosen):
        held.setdefault(_Board(row.model, row.task, row.predictor, row.ranked_by), []).append(row)
    small = {board: rows for board, rows in held.items() if len(rows) <= options.max_items}
    if len(small) < len(held):
        remarks.append(f"Panels of more than {options.max_items} prompts are not drawn.")
    models = models_in(chosen, options)
    tasks = list(dict.fromkeys(chosen["task"]))
    boards = sorted(
        small, key=lambda b: (models.index(b.model), tasks.index(b.task), asked.index(b.predictor))
    )
    rows: list[list[_Board]] = []
    for board in boards:
        # every model and task begins a row
        if not rows or rows[-1][0][:2] != board[:2] or len(rows[-1]) == _MOST_COLUMNS:
            rows.append([])
        rows[-1].append(board)
    most = max(map(len, small.values()), default=1)
    fit = max(1, int((PAGE_HEIGHT - 0.6) // _row_inches(most)))
    if len(rows) > fit:
        kept = sum(map(len, rows[:fit]))
        remarks.append(f"The first {kept} of {len(boards)} panels; the tables hold them all.")
    shown = looks(asked, labels=options.condition_labels)
    return _Plan(
        rows=rows[:fit],
        items=small,
        agreement={
            _Board(row.model, row.task, row.predictor, row.measure): row
            for row in rows_of(ranks[ranks["over"] == "items"])
        },
        names={condition: look.label for condition, look in shown.items()},
        remarks=remarks,
    )


def _row_inches(n_slots: int) -> float:
    return n_slots * _SLOT_INCHES + _PANEL_INCHES


class Slot(NamedTuple):
    """Where a prompt stands on both sides, 0 on top, and the places it shares."""

    row: Any
    left: int
    right: int


def slots(rows: Sequence[Any]) -> list[Slot]:
    """A slot of its own for each prompt; those that share a place are in the other side's order."""
    left = sorted(rows, key=lambda r: (r.predictor_rank, r.field_rank, r.item_id))
    right = sorted(rows, key=lambda r: (r.field_rank, r.predictor_rank, r.item_id))
    places = {row.item_id: number for number, row in enumerate(right)}
    return [Slot(row, number, places[row.item_id]) for number, row in enumerate(left)]


def colour_of(row: Any) -> str:
    """Grey where chance can make the change."""
    p_value = number(row.p_rank_holm)
    if p_value is None or p_value >= LEVEL or not row.rank_change:
        return STAYS
    return RISES if row.rank_change > 0 else FALLS


def _draw_board(figure: Figure, axes: Any, plan: _Plan, board: _Board, options: Options) -> None:
    width = PAGE_WIDTH / plan.columns - 0.1
    placed = slots(plan.items[board])
    keys = [ItemKey(board.task, s.row.item_id) for s in placed]
    names = {
        key.item_id: fit(figure, name, inches=0.34 * width)
        for key, name in item_names(keys, options.questions, letters=_NAME_LETTERS).items()
    }
    room = max(inches_of(figure, name) for name in names.values()) + 0.07
    beside = room / max(0.3, width - 2 * room)
    for slot in placed:
        colour = colour_of(slot.row)
        told = colour != STAYS
        axes.plot(
            [0, 1], [slot.row.predictor_rank - 1, slot.row.field_rank - 1],
            color=colour, linewidth=1.5 if told else 0.8,
            linestyle=_DASHES if colour == FALLS else "-", zorder=2 if told else 1,
            marker="o", markersize=2.6, markeredgewidth=0,
        )  # fmt: skip
        shade = colour if told else "black"
        text = {"va": "center", "fontsize": TEXT_POINTS, "color": shade}
        gap = 0.05 * beside / 0.4
        axes.text(-gap, slot.left, names[slot.row.item_id], ha="right", **text)
        axes.text(1 + gap, slot.right, names[slot.row.item_id], ha="left", **text)
    _draw_ties(axes, placed)
    axes.set_xlim(-beside, 1 + beside)
    axes.set_ylim(plan.slots - 0.4, -0.6)
    axes.set_xticks([0, 1], [plan.names[board.predictor], "Field"])
    axes.set_yticks([])
    axes.tick_params(axis="x", length=0, pad=1)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.set_title(_title(plan, board, options))


def _draw_ties(axes: Any, placed: Sequence[Slot]) -> None:
    """A bar beside prompts that share a place."""
    for x, side, rank in ((0.0, "left", "predictor_rank"), (1.0, "right", "field_rank")):
        for at in _shared(placed, side, rank):
            axes.vlines(x, min(at), max(at), color="black", linewidth=2.2, zorder=3)


def _shared(placed: Sequence[Slot], side: str, rank: str) -> list[list[int]]:
    """Slots of the prompts that share a place on one side."""
    found: dict[float, list[int]] = {}
    for slot in placed:
        found.setdefault(getattr(slot.row, rank), []).append(getattr(slot, side))
    return [at for at in found.values() if len(at) > 1]


def _title(plan: _Plan, board: _Board, options: Options) -> str:
    models = {b.model for b in plan.boards}
    tasks = {b.task for b in plan.boards}
    head = [options.model_labels.get(board.model, board.model)] if len(models) > 1 else []
    head += [plan.names[board.predictor]] + ([board.task] if len(tasks) > 1 else [])
    return "\n".join([", ".join(head), *_agreement(plan.agreement.get(board))])


def _agreement(row: Any) -> list[str]:
    if row is None or number(row.tau_b) is None:
        return ["no order to compare", ""]
    p_value, ceiling = number(row.p_holm), number(row.ceiling)
    test = "" if p_value is None else f", {_p(p_value)}"
    most = "ceiling unknown" if ceiling is None else f"ceiling {_decimal(ceiling)}"
    return [
        f"τ = {_decimal(row.tau_b)}{test}, {int(row.n_discordant)}/{row.n_pairs} turned",
        f"ρ = {_decimal(row.rho)}, {most}",
    ]


def _decimal(value: float) -> str:
    return f"{value:.2f}".replace("-", "−").replace("0.", ".", 1)


def _p(value: float) -> str:
    return "p < .001" if value < 0.001 else f"p = {value:.3f}".replace("0.", ".", 1)


def _handles(plan: _Plan) -> list[Any]:
    handles = [
        Line2D([], [], color=RISES, linewidth=1.5, label="rises in the field, beyond chance"),
        Line2D([], [], color=FALLS, linewidth=1.5, linestyle=_DASHES, label="falls, beyond chance"),
        Line2D([], [], color=STAYS, linewidth=0.8, label="no change beyond chance"),
    ]
    drawn = [slots(plan.items[board]) for board in plan.boards]
    if any(
        _shared(placed, "left", "predictor_rank") or _shared(placed, "right", "field_rank")
        for placed in drawn
    ):
        handles.append(Line2D([], [], color="black", linewidth=2.2, label="shared place"))
    return handles
