"""Slope charts: the places of the prompts under a condition and in the field.

Owns the drawing of `item_agreement` and `rank_agreement`: a panel per model and condition, a line per
prompt from its place under the condition to its place in the field, coloured where the change is
beyond chance. Prompts that share a place have their names below each other beside a bar, and their
lines end together at its middle.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from fieldwork.figures.labels import fit, inches_of, item_names, p_value_text
from fieldwork.figures.panel import Panel, draw_page
from fieldwork.figures.selection import (
    LETTERS_LEFT_OUT,
    NothingToDrawError,
    first_reason,
    float_or_none,
    is_shown,
    models_in,
    rest_remark,
    row_by,
    rows_by,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_POINTS,
    drawn_styles,
    legend_line,
    says_what_is_missing,
)
from fieldwork.records.field import ItemAgreement, RankAgreement
from fieldwork.records.shared import ItemKey

TABLES = {"item_agreement": ItemAgreement, "rank_agreement": RankAgreement}
CLAIMS = {"item_agreement": "field_place", "rank_agreement": "field_order"}
RISES, FALLS, STAYS = "#D55E00", "#0072B2", "#8C8C8C"

_MOST_ITEMS = 16
"""A panel with more is not drawn."""
_MOST_COLUMNS = 3
_SLOT_INCHES = 0.155
_PANEL_INCHES = 0.72
"""Inches of a panel's title and axis."""
_DASHES = (0, (3.2, 1.2))
_NAME_LETTERS = 40
_BAR = 2.2

Slots = Sequence[tuple[Any, int, int]]
"""Prompts, each with where it stands left and right, 0 on top."""


class RankPanel(NamedTuple):
    """The prompts of a task under a condition and in the field, ranked by a measure.

    Attributes:
        slots: every prompt has its own; those that share a place are in the order of the other side.
        agreement: of the two orders.
    """

    model: str
    task: str
    predictor: str
    slots: Slots
    agreement: Any | None

    @property
    def ties(self) -> list[tuple[float, list[int]]]:
        """The side, 0 or 1, and the slots of prompts that share a place."""
        places: dict[tuple[float, float], list[int]] = {}
        for row, left, right in self.slots:
            places.setdefault((0.0, row.predictor_rank), []).append(left)
            places.setdefault((1.0, row.field_rank), []).append(right)
        return [(side, at) for (side, _), at in places.items() if len(at) > 1]


@says_what_is_missing
def draw(items: pd.DataFrame, ranks: pd.DataFrame, settings: FigureSettings) -> Figure:
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
        raise NothingToDrawError(first_reason(items, otherwise))
    ranked_items = ranked_items[ranked_items["predictor"].isin(conditions)]
    lists = ranked_items[ranked_items["kind"] == "list"]
    chart_items = ranked_items if lists.empty else lists
    remarks = [LETTERS_LEFT_OUT] if len(chart_items) < len(ranked_items) else []
    panels = _panels(chart_items, ranks, conditions, settings)
    max_items = settings.max_items or _MOST_ITEMS
    if any(len(panel.slots) > max_items for panel in panels):
        remarks.append(f"Panels of more than {max_items} prompts are not drawn.")
        panels = [panel for panel in panels if len(panel.slots) <= max_items]
    if not panels:
        raise NothingToDrawError("; ".join(remarks))
    rows = _rows(panels)
    inches = max(len(panel.slots) for panel in panels) * _SLOT_INCHES + _PANEL_INCHES
    n_rows = max(1, int((PAGE_HEIGHT - 0.6) // inches))
    page = [panel for row in rows[:n_rows] for panel in row]
    rest = rest_remark(len(page), len(panels), "panels", tables="the tables have")
    names = {name: style.label for name, style in drawn_styles(conditions, settings).items()}
    n_slots = max(len(panel.slots) for panel in panels)
    width = PAGE_WIDTH / max(map(len, rows[:n_rows])) - 0.1
    page_panels = [
        [
            Panel(
                further=partial(_draw_lines, panel=panel, width=width, settings=settings),
                title=_title(panel, page, names, settings),
                axes={"ylim": (n_slots - 0.4, -0.6), "xticks": [0, 1], "yticks": []}
                | {"xticklabels": [names[panel.predictor], "Field"]},
            )
            for panel in row
        ]
        for row in rows[:n_rows]
    ]
    height = len(page_panels) * inches
    return draw_page(
        page_panels, settings, height=height, handles=_handles(page), notes=[*remarks, rest]
    )


def _panels(
    items: pd.DataFrame,
    ranks: pd.DataFrame,
    conditions: Sequence[str],
    settings: FigureSettings,
) -> list[RankPanel]:
    """A panel for each model, task and condition, in this order."""
    agreements = row_by(ranks[ranks["over"] == "items"], "model", "task", "predictor", "measure")
    models, tasks = models_in(items, settings), [*dict.fromkeys(items["task"])]
    panels = [
        RankPanel(key[0], key[1], key[2], _slots(rows), agreements.get(key))
        for key, rows in rows_by(items, "model", "task", "predictor", "ranked_by").items()
    ]
    return sorted(
        panels,
        key=lambda panel: (
            models.index(panel.model),
            tasks.index(panel.task),
            conditions.index(panel.predictor),
        ),
    )


def _rows(panels: Sequence[RankPanel]) -> list[list[RankPanel]]:
    """Rows of panels; every model and task begins one."""
    rows: list[list[RankPanel]] = []
    for panel in panels:
        if not rows or rows[-1][0][:2] != panel[:2] or len(rows[-1]) == _MOST_COLUMNS:
            rows.append([])
        rows[-1].append(panel)
    return rows


def _slots(rows: Sequence[Any]) -> Slots:
    left = sorted(rows, key=lambda r: (r.predictor_rank, r.field_rank, r.item_id))
    right = sorted(rows, key=lambda r: (r.field_rank, r.predictor_rank, r.item_id))
    places = {row.item_id: place for place, row in enumerate(right)}
    return [(row, place, places[row.item_id]) for place, row in enumerate(left)]


def colour_of(row: Any) -> str:
    """Grey where chance explains the change."""
    if not is_shown(row) or not row.rank_change:
        return STAYS
    return RISES if row.rank_change > 0 else FALLS


def _draw_lines(axes: Any, *, panel: RankPanel, width: float, settings: FigureSettings) -> None:
    keys = [ItemKey(panel.task, row.item_id) for row, _, _ in panel.slots]
    names = {
        key.item_id: fit(name, inches=0.34 * width)
        for key, name in item_names(keys, settings.questions, letters=_NAME_LETTERS).items()
    }
    room = max(inches_of(name) for name in names.values()) + 0.07
    margin = room / max(0.3, width - 2 * room)
    gap = 0.05 * margin / 0.4
    for row, left, right in panel.slots:
        colour = colour_of(row)
        is_changed = colour != STAYS
        axes.plot(
            [0, 1], [row.predictor_rank - 1, row.field_rank - 1],
            color=colour, linewidth=1.5 if is_changed else 0.8,
            linestyle=_DASHES if colour == FALLS else "-", zorder=2 if is_changed else 1,
            marker="o", markersize=2.6, markeredgewidth=0,
        )  # fmt: skip
        shade = colour if is_changed else "black"
        text = {"va": "center", "fontsize": TEXT_POINTS, "color": shade}
        axes.text(-gap, left, names[row.item_id], ha="right", **text)
        axes.text(1 + gap, right, names[row.item_id], ha="left", **text)
    for side, at in panel.ties:
        axes.vlines(side, min(at), max(at), color="black", linewidth=_BAR, zorder=3)
    axes.set_xlim(-margin, 1 + margin)
    axes.tick_params(axis="x", length=0, pad=1)
    axes.spines[["left", "bottom"]].set_visible(False)


def _title(
    panel: RankPanel, page: Sequence[RankPanel], names: Mapping[str, str], settings: FigureSettings
) -> str:
    is_of_many = [len({one[place] for one in page}) > 1 for place in (0, 1)]
    head = [settings.model_name(panel.model)] if is_of_many[0] else []
    head += [names[panel.predictor]] + ([panel.task] if is_of_many[1] else [])
    return "\n".join([", ".join(head), *_agreement(panel.agreement)])


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


def _handles(page: Sequence[RankPanel]) -> list[Any]:
    handles = [
        legend_line("rises in the field, beyond chance", width=1.5, colour=RISES),
        legend_line("falls, beyond chance", width=1.5, colour=FALLS, linestyle=_DASHES),
        legend_line("no change beyond chance", width=0.8, colour=STAYS),
    ]
    if any(panel.ties for panel in page):
        handles.append(legend_line("shared place", width=_BAR, colour="black"))
    return handles
