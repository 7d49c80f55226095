"""The style that all figures share: colours and markers of conditions, the head of a page, saving.

Promises: a condition looks the same in every figure; no two conditions of a figure share colour and
marker; a saved file holds no date, so equal data give equal bytes. Colours are those of Okabe and
Ito (Color Universal Design, 2008), chosen to stay apart for colour-blind readers; markers differ as
well, so that a greyscale print can be read.
"""

import io
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.style
import pandas as pd
from fontTools.subset import Options
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from fieldwork.errors import StudyError
from fieldwork.figures.marks import MarkedFigure
from fieldwork.figures.selection import NothingToDrawError, conditions_in
from fieldwork.figures.settings import FigureSettings

PAGE_WIDTH = 6.85
"""Inches: two columns of a journal page (174 mm)."""

PAGE_HEIGHT = 9.2
"""Inches: the height of a page without a caption."""

TEXT_POINTS = 7.0
"""Smallest type in a figure."""

GREY = "#555555"
"""Colour of text and marks that belong to no condition."""

_MARGIN = 0.06
_METADATA: Mapping[str, dict[str, str | None]] = {
    ".pdf": {"Creator": "fieldwork", "Producer": None, "CreationDate": None},
    ".svg": {"Creator": "fieldwork", "Date": None},
    ".png": {"Software": None},
}
"""What a file of each kind says of itself: no date."""


class ConditionStyle(NamedTuple):
    """How a condition is drawn. `is_filled` is false for a hollow marker; `alpha` is how opaque it is."""

    colour: str
    marker: str
    is_filled: bool
    label: str
    alpha: float = 1.0


_NAMED_STYLES: Mapping[str, ConditionStyle] = {
    "offline": ConditionStyle("#009E73", "o", True, "Offline"),
    "offline_t0": ConditionStyle("#009E73", "o", False, "Offline, T = 0"),
    "offline_again": ConditionStyle("#009E73", "D", False, "Offline, asked again"),
    "field": ConditionStyle("#E69F00", "s", True, "Field"),
    "history": ConditionStyle("#CC79A7", "x", True, "SP-History"),
    "rag": ConditionStyle("#56B4E9", "+", True, "SP-RAG"),
    "profile": ConditionStyle("#08306B", "X", True, "SP-Profile"),
}
"""The conditions of the paper's Figure 1, as it draws them, and two further ones without a user."""

# eleven markers and three colours share no factor: 33 conditions before a pair comes back
_SPARE_MARKERS: tuple[str, ...] = ("^", "D", "v", "P", "<", "p", ">", "H", "*", "d", "8")
_SPARE_COLOURS = ("#D55E00", "#000000", "#0072B2")


SERIES_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
SERIES_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Of what is no condition, in turn."""


def condition_styles(
    conditions: Sequence[str], *, labels: Mapping[str, str]
) -> dict[str, ConditionStyle]:
    """Style of each condition; names without a style of their own take the spare styles in turn."""
    styles: dict[str, ConditionStyle] = {}
    n_spare = 0
    for condition in conditions:
        style = _NAMED_STYLES.get(condition)
        if style is None:
            colour = _SPARE_COLOURS[n_spare % len(_SPARE_COLOURS)]
            marker = _SPARE_MARKERS[n_spare % len(_SPARE_MARKERS)]
            style = ConditionStyle(colour, marker, True, condition.replace("_", " "))
            n_spare += 1
        styles[condition] = style._replace(label=labels.get(condition, style.label))
    return styles


def drawn_styles(conditions: Sequence[str], settings: FigureSettings) -> dict[str, ConditionStyle]:
    """Style of each condition, as the study names and draws it."""
    styles = condition_styles(conditions, labels=settings.condition_labels)
    for name, own_style in settings.styles.items():
        if name in styles:
            styles[name] = styles[name]._replace(
                colour=own_style["colour"] or styles[name].colour,
                marker=own_style["marker"] or styles[name].marker,
                is_filled=own_style["filled"],
            )
    return styles


def styles_in(table: pd.DataFrame, settings: FigureSettings) -> dict[str, ConditionStyle]:
    """Style of each condition of a table that the study draws, in the study's order."""
    return drawn_styles(conditions_in(table, settings), settings)


def marker_arguments(style: ConditionStyle, *, size: float) -> dict[str, Any]:
    """Arguments of matplotlib for a marker of `size` points."""
    # without the rim an x over its interval reads as a star
    rim = [withStroke(linewidth=2.1, foreground="white")] if is_cross(style) else []
    return {
        "marker": style.marker,
        # line markers look smaller than filled ones of the same size
        "markersize": size * (1.2 if is_cross(style) or style.marker == "X" else 1.0),
        "markerfacecolor": style.colour if style.is_filled else "white",
        "markeredgecolor": style.colour,
        "markeredgewidth": 0.8 if not style.is_filled else 1.0 if is_cross(style) else 0.0,
        "path_effects": rim,
    }


def is_cross(style: ConditionStyle) -> bool:
    """Whether the marker consists of strokes alone."""
    return style.marker in ("x", "+")


def legend_entry(style: ConditionStyle, label: str | None = None) -> Line2D:
    """Legend entry of a condition, by its label where no other is given."""
    return Line2D(
        [], [], linestyle="none", label=label or style.label, **marker_arguments(style, size=4.5)
    )


def legend_line(label: str, *, width: float, colour: str = GREY, **further: Any) -> Line2D:
    """Legend entry of a line."""
    return Line2D([], [], color=colour, linewidth=width, label=label, **further)


def series_styles(names: Sequence[str]) -> dict[str, ConditionStyle]:
    """Styles of what is no condition: groups, effects, models, each in its turn."""
    return {
        name: ConditionStyle(
            SERIES_COLOURS[place % len(SERIES_COLOURS)],
            SERIES_MARKERS[place % len(SERIES_MARKERS)],
            True,
            name,
        )
        for place, name in enumerate(names)
    }


def use_style(path: str | Path) -> None:
    """Draw with the style sheet at `path` and ignore the matplotlib settings of this machine.

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
    figure = MarkedFigure(figsize=(PAGE_WIDTH, height))
    figure.drawn_marks = []
    FigureCanvasAgg(figure)
    return figure


def add_head(figure: Figure, *, handles: Sequence[Any], notes: Sequence[str | None]) -> Figure:
    """Put notes and legend above the panels, and lay the panels out below them; returns the figure."""
    panels = float(figure.get_figheight())
    lines = [wrap_text(note, inches=PAGE_WIDTH - 2 * _MARGIN) for note in notes if note]
    text = figure.text(0, 0, "\n".join(lines), va="top", style="italic", fontsize=TEXT_POINTS + 0.5)
    text.set_in_layout(False)
    text_inches = _inches_high(figure, text) + _MARGIN if lines else 0.0
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
    return figure


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


def wrap_text(text: str, *, inches: float, points: float = TEXT_POINTS) -> str:
    """`text` broken into lines that fit, at the mean letter width of the style's font."""
    return textwrap.fill(text, width=max(8, int(inches * 72 / (0.57 * points))))


def empty_figure(reason: str, settings: FigureSettings) -> Figure:
    """A figure that gives the reason why there is nothing to draw."""
    figure = new_figure(height=1.6)
    axes = figure.add_subplot()
    axes.set_axis_off()
    line = wrap_text(f"no data: {reason}", inches=PAGE_WIDTH - 1, points=9)
    # the id by which the study's page knows it
    axes.text(0.5, 0.5, line, ha="center", va="center", fontsize=9, color=GREY, gid="no-data")
    return add_head(figure, handles=[], notes=[settings.note])


def says_what_is_missing(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """A function that draws, with a figure that gives the reason where it has nothing to draw."""

    @wraps(draw)
    def whole(*arguments: Any) -> Figure:
        try:
            return draw(*arguments)
        except NothingToDrawError as reason:
            return empty_figure(str(reason), arguments[-1])

    return whole


@contextmanager
def _fonts_without_layout() -> Iterator[None]:
    """Embed fonts without their rules of layout, as a PDF says itself where each glyph stands.

    To cut these rules down to the letters of a figure takes more time than to draw the figure.
    """
    tables = Options._drop_tables_default
    Options._drop_tables_default = [*tables, "GDEF", "GPOS", "GSUB", "kern"]
    try:
        yield
    finally:
        Options._drop_tables_default = tables


def save(figure: Figure, paths: Sequence[str | Path]) -> None:
    """Write the figure to each path, as PDF, SVG or PNG by the ending of the path.

    Equal figures give equal bytes: nothing in a file depends on the day or the process.

    Raises:
        StudyError: the disk refuses a file.
    """
    # laid out once: the formats' own resolutions would each move it a little; with an engine that does
    # nothing ("none") each format would be drawn twice
    figure.draw_without_rendering()
    figure.set_layout_engine(None)
    with mpl.rc_context({"svg.hashsalt": "fieldwork"}), _fonts_without_layout():
        for path in map(Path, paths):
            if path.suffix not in _METADATA:
                raise StudyError(
                    f"Cannot draw {path}: name the figure with the ending .pdf, .svg or .png."
                )
            # in memory first: on a full disk the PDF's writer fails in ways of its own
            buffer = io.BytesIO()
            figure.savefig(buffer, format=path.suffix[1:], metadata=_METADATA[path.suffix])
            try:
                path.write_bytes(buffer.getvalue())
            except OSError as error:
                raise StudyError(
                    f"{path}: cannot be written ({error.strerror or error}); free space or choose "
                    f"another place with snakemake --directory"
                ) from error
