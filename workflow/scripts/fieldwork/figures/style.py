"""The look all figures share: condition colours and markers, the head of a page, saving.

Promises: a condition looks the same in every figure; no two conditions of a figure share colour and
marker; a saved file holds no date, so equal data give equal bytes. Colours are those of Okabe and
Ito (Color Universal Design, 2008), chosen to stay apart for colour-blind readers; markers differ as
well, so that a greyscale print can be read.
"""

import io
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
import matplotlib.style
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item

PAGE_WIDTH = 6.85
"""Inches: two columns of a journal page (174 mm)."""

PAGE_HEIGHT = 9.2
"""Inches: what a page leaves above a caption."""

TEXT_POINTS = 7.0
"""Smallest type in a figure."""

_MARGIN = 0.06
_GREY = "#555555"


class Look(NamedTuple):
    """How a condition is drawn. `filled` is false for a hollow marker."""

    colour: str
    marker: str
    filled: bool
    label: str


class Range(NamedTuple):
    """Smallest and largest of some counts."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}" if self.low == self.high else f"{self.low}–{self.high}"


class ItemKey(NamedTuple):
    """An item: ids are unique within their task only."""

    task: str
    item_id: str


class ItemChoice(NamedTuple):
    """The items to draw, and a line to print where some were left out."""

    items: list[ItemKey]
    remark: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOptions:
    """What all figures let a study decide."""

    conditions: Sequence[str]
    """Conditions to draw, in their order; those without a row are passed over."""
    model_labels: Mapping[str, str] = field(default_factory=dict)
    """Printed name of each model; its order is the order of the models."""
    condition_labels: Mapping[str, str] = field(default_factory=dict)
    """Printed names that replace the registry's."""
    note: str | None = None
    """Printed at the head of the figure."""
    questions: Mapping[ItemKey, Item] = field(default_factory=dict)
    """The items that are drawn; one that is not here is called by its id."""


def _known(condition: str) -> Look | None:
    """Look of the conditions the study is about, as in the paper's Figure 1."""
    match condition:
        case "offline":
            return Look("#009E73", "o", True, "Offline")
        case "offline_t0":
            return Look("#009E73", "o", False, "Offline, T = 0")
        case "offline_again":
            return Look("#009E73", "D", False, "Offline, asked again")
        case "field":
            return Look("#E69F00", "s", True, "Field")
        case "history":
            return Look("#CC79A7", "x", True, "SP-History")
        case "rag":
            return Look("#56B4E9", "+", True, "SP-RAG")
        case "profile":
            return Look("#08306B", "X", True, "SP-Profile")
    return None


# eleven markers and three colours share no factor: 33 conditions before a pair comes back
_SPARE_MARKERS: tuple[str, ...] = ("^", "D", "v", "P", "<", "p", ">", "H", "*", "d", "8")
_SPARE_COLOURS = ("#D55E00", "#000000", "#0072B2")


def looks(conditions: Sequence[str], *, labels: Mapping[str, str]) -> dict[str, Look]:
    """Look of each condition; unknown names take the spare looks in the order they come."""
    chosen: dict[str, Look] = {}
    spare = 0
    for condition in conditions:
        look = _known(condition)
        if look is None:
            colour = _SPARE_COLOURS[spare % len(_SPARE_COLOURS)]
            marker = _SPARE_MARKERS[spare % len(_SPARE_MARKERS)]
            look = Look(colour, marker, True, condition.replace("_", " "))
            spare += 1
        chosen[condition] = look._replace(label=labels.get(condition, look.label))
    return chosen


def marker_style(look: Look, *, size: float) -> dict[str, Any]:
    """Keyword arguments of a marker of `size` points."""
    # without the rim an x over its interval reads as a star
    rim = [withStroke(linewidth=2.1, foreground="white")] if is_cross(look) else []
    return {
        "marker": look.marker,
        # line markers look smaller than filled ones of the same size
        "markersize": size * (1.2 if is_cross(look) or look.marker == "X" else 1.0),
        "markerfacecolor": look.colour if look.filled else "white",
        "markeredgecolor": look.colour,
        "markeredgewidth": 0.8 if not look.filled else 1.0 if is_cross(look) else 0.0,
        "path_effects": rim,
    }


def is_cross(look: Look) -> bool:
    """True for markers made of strokes alone."""
    return look.marker in ("x", "+")


def handle(look: Look, label: str) -> Line2D:
    """Legend entry of a condition."""
    return Line2D([], [], linestyle="none", label=label, **marker_style(look, size=4.5))


def use_style(path: Path) -> None:
    """Draw by the style sheet at `path`, whatever this machine's own matplotlib settings say.

    Raises StudyError where the sheet is missing or cannot be read.
    """
    mpl.rcdefaults()
    try:
        matplotlib.style.use(path)
    except OSError as error:
        raise StudyError(
            f"The style sheet of the figures, {path}, cannot be read: restore it from the "
            "repository (resources/figures.mplstyle)."
        ) from error


def new_figure(*, height: float) -> Figure:
    """Empty figure as wide as the page; `height` inches are for the panels."""
    figure = Figure(figsize=(PAGE_WIDTH, height))
    FigureCanvasAgg(figure)
    return figure


def add_head(figure: Figure, *, handles: Sequence[Any], notes: Sequence[str | None]) -> None:
    """Put notes and legend above the panels, in room of their own, and lay the panels out below."""
    panels = float(figure.get_figheight())
    said = [wrapped(note, inches=PAGE_WIDTH - 2 * _MARGIN) for note in notes if note]
    text = figure.text(0, 0, "\n".join(said), va="top", style="italic", fontsize=TEXT_POINTS + 0.5)
    text.set_in_layout(False)
    text_inches = _inches_high(figure, text) + _MARGIN if said else 0.0
    legend = _widest_legend(figure, handles) if handles else None
    legend_inches = _inches_high(figure, legend) if legend else 0.0
    head = text_inches + legend_inches + 2 * _MARGIN
    height = panels + head
    figure.set_figheight(height)
    text.set_position((_MARGIN / PAGE_WIDTH, 1 - _MARGIN / height))
    if legend:
        top = 1 - (_MARGIN + text_inches) / height
        legend.set_bbox_to_anchor((0.5, top), transform=figure.transFigure)
    figure.set_layout_engine(
        ConstrainedLayoutEngine(
            rect=(0, 0, 1, panels / height), w_pad=0.04, h_pad=0.04, hspace=0, wspace=0
        )
    )


def _widest_legend(figure: Figure, handles: Sequence[Any]) -> Any:
    """Legend with as many columns as the page holds."""
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(
            handles=handles, loc="upper center", ncols=columns, bbox_to_anchor=(0.5, 1.0)
        )
        legend.set_in_layout(False)
        inches = legend.get_window_extent().width / figure.dpi
        if columns == 1 or inches <= PAGE_WIDTH - 2 * _MARGIN:
            return legend
        legend.remove()
    raise AssertionError("unreachable: one column always returns")


def _inches_high(figure: Figure, artist: Any) -> float:
    return float(artist.get_window_extent().height / figure.dpi)


def wrapped(text: str, *, inches: float, points: float = TEXT_POINTS) -> str:
    """`text` broken into lines that fit, at the mean letter width of the style's font."""
    return textwrap.fill(text, width=max(8, int(inches * 72 / (0.57 * points))))


def no_data(why: str, *, note: str | None) -> Figure:
    """A figure that says why there is nothing to draw."""
    figure = new_figure(height=1.6)
    axes = figure.add_subplot()
    axes.set_axis_off()
    line = wrapped(f"no data: {why}", inches=PAGE_WIDTH - 1, points=9)
    axes.text(0.5, 0.5, line, ha="center", va="center", fontsize=9, color=_GREY)
    add_head(figure, handles=[], notes=[note])
    return figure


def why_empty(table: pd.DataFrame, options: FigureOptions) -> str | None:
    """Why a table gives nothing to draw, or None where it does."""
    if table.empty:
        return "the table has no rows"
    if not conditions_in(table, options):
        asked = ", ".join(options.conditions) or "none"
        return f"none of the conditions asked for ({asked}) is in the table"
    return None


def rows_of(table: pd.DataFrame) -> list[Any]:
    """Rows of a table, its columns as attributes."""
    return list(table.itertuples(index=False))


def conditions_in(table: pd.DataFrame, options: FigureOptions) -> list[str]:
    """The conditions asked for that the table holds, in the order asked for."""
    held = set(table["condition"])
    return [c for c in dict.fromkeys(options.conditions) if c in held]


def models_in(table: pd.DataFrame, options: FigureOptions) -> list[str]:
    """Models of the table: labelled ones in the order of the labels, then the rest by name."""
    held = {str(model) for model in table["model"]}
    labelled = [model for model in options.model_labels if model in held]
    return labelled + sorted(held - set(labelled))


def choose_items(found: Iterable[ItemKey], asked: Sequence[str], *, at_most: int) -> ItemChoice:
    """The items to draw: those `asked` for in that order, else `found` in its own order."""
    keys = list(dict.fromkeys(found))
    if asked:
        return ItemChoice([k for item_id in asked for k in keys if k.item_id == item_id], None)
    if len(keys) <= at_most:
        return ItemChoice(keys, None)
    return ItemChoice(
        keys[:at_most], f"The first {at_most} of {len(keys)} items; the table holds them all."
    )


def number(value: Any) -> float | None:
    """A cell as a float, None where the table holds NULL."""
    return None if pd.isna(value) else float(value)


def range_of(counts: Iterable[int]) -> Range | None:
    """Smallest and largest count, None of none."""
    held = [int(count) for count in counts]
    return Range(min(held), max(held)) if held else None


def save(figure: Figure, paths: Sequence[Path]) -> None:
    """Write the figure once a path, as PDF, SVG or PNG by the path's ending.

    Equal figures give equal bytes: nothing in a file depends on the day or the process.

    Raises:
        StudyError: the disk refuses a file.
    """
    # laid out once: the formats' own resolutions would each move it a little
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    with mpl.rc_context({"svg.hashsalt": "fieldwork"}):
        for path in paths:
            kind = _format_of(path)
            # in memory first: on a full disk the PDF's writer fails in ways of its own
            drawn = io.BytesIO()
            figure.savefig(drawn, format=kind, metadata=_metadata(kind))
            try:
                path.write_bytes(drawn.getvalue())
            except OSError as error:
                raise StudyError(
                    f"{path}: cannot be written ({error.strerror or error}); free space or choose "
                    f"another place with snakemake --directory"
                ) from error


def _format_of(path: Path) -> Literal["pdf", "svg", "png"]:
    match path.suffix:
        case ".pdf":
            return "pdf"
        case ".svg":
            return "svg"
        case ".png":
            return "png"
    raise StudyError(f"Cannot draw {path}: name the figure with the ending .pdf, .svg or .png.")


def _metadata(kind: Literal["pdf", "svg", "png"]) -> dict[str, str | None]:
    match kind:
        case "pdf":
            return {"Creator": "fieldwork", "Producer": None, "CreationDate": None}
        case "svg":
            return {"Creator": "fieldwork", "Date": None}
        case "png":
            return {"Software": None}
