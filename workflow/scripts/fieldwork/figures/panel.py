"""The panel of most figures: points with their intervals at named places, side by side by condition.

Owns how points, intervals and marks are drawn, how points that share a place stand beside each other,
and the furniture around them. Values run up the y axis where a panel is upright; otherwise they run to
the right, and the places go down.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import Locator

from fieldwork.figures.marks import PageMark, Point, add_mark
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    marker_arguments,
    new_figure,
)

Points = Iterable[tuple[float, Point]]
"""Points, each with its place on the other axis."""

BAND = "#F0F0F0"
LINE = "#BBBBBB"
GRID = "#DDDDDD"
PALE = 0.45
"""How opaque a point is that no test shows to differ."""


def offsets(n: int, step: float) -> list[float]:
    """Where n points of a place stand beside its middle, a step from one to the next."""
    return [(number - (n - 1) / 2) * step for number in range(n)]


def draw_points(
    axes: Any,
    points: Points,
    style: ConditionStyle,
    *,
    is_upright: bool = True,
    size: float = 4.4,
    width: float = 0.8,
    half: float = 0.0,
    interval: Mapping[str, Any] | None = None,
    **line: Any,
) -> list[float]:
    """Draw points of one look at their places, with their intervals; those of the page are kept.

    Args:
        axes: the panel.
        points: each with its place on the other axis.
        style: their colour and marker.
        is_upright: whether values run up.
        size: of markers, in points.
        width: of intervals, in points.
        half: what a mark covers of its place to both sides.
        interval: further arguments of the lines of intervals.
        line: further arguments of `plot`, such as those of a line through the points.

    Returns:
        The places of points without a value.
    """
    placed_values: list[tuple[float, float]] = []
    absent: list[float] = []
    draw_interval = axes.vlines if is_upright else axes.hlines
    thin = {"color": style.colour, "linewidth": width, "alpha": style.alpha, "zorder": 1.5}
    for place, point in points:
        if point.value is None:
            absent.append(place)
            continue
        placed_values.append((place, point.scale * point.value))
        if point.interval is not None:
            draw_interval(place, *point.interval, **thin | dict(interval or {}))
        if isinstance(point, PageMark):
            ends = (place - half, place + half)
            x, y = (ends, point.span) if is_upright else (point.span, ends)
            add_mark(axes, x, y, point)
    places, values = [place for place, _ in placed_values], [value for _, value in placed_values]
    if not placed_values:
        return absent
    look = {"linestyle": "none", "label": style.label, "alpha": style.alpha, "color": style.colour}
    across = (places, values) if is_upright else (values, places)
    axes.plot(*across, **look | marker_arguments(style, size=size) | line)
    return absent


def say_absent(axes: Any, places: Iterable[float]) -> None:
    """`n/a` at the foot of an upright panel, at each place."""
    for place in places:
        axes.text(
            place, 0.02, "n/a", ha="center", va="bottom", color=GREY, fontsize=TEXT_POINTS,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip


def shade_places(axes: Any, n: int, *, is_upright: bool = True) -> None:
    """A pale band behind every other place."""
    draw_band = axes.axvspan if is_upright else axes.axhspan
    for place in range(1, n, 2):
        draw_band(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)


def name_places(
    axes: Any,
    names: Sequence[str],
    *,
    is_upright: bool = True,
    margins: tuple[float, float] = (0.5, 0.5),
    length: float = 0.0,
    bold: Container[int] = (),
    **text: Any,
) -> None:
    """The names of the places on their axis; down the page where values run across.

    Args:
        axes: the panel.
        names: of the places 0, 1, ….
        is_upright: whether values run up.
        margins: room before the first place and after the last.
        length: of ticks, in points.
        bold: places whose names are bold.
        text: further arguments of the names.
    """
    first, last = -margins[0], len(names) - 1 + margins[1]
    if is_upright:
        axes.set_xticks(range(len(names)), names, **text)
        axes.set_xlim(first, last)
    else:
        axes.set_yticks(range(len(names)), names, **text)
        axes.set_ylim(last, first)
    axis = axes.xaxis if is_upright else axes.yaxis
    axis.set_tick_params(length=length)
    for place, label in enumerate(axis.get_ticklabels()):
        if place in bold:
            label.set_fontweight("bold")


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Points with their intervals at named places, and what stands around them.

    Attributes:
        series: looks, each with its points.
        look: further arguments of `draw_points`.
        names: of the places 0, 1, …; none where the axis of places counts something.
        name_look: further arguments of `name_places`.
        is_upright: whether values run up.
        is_shaded: whether every other place has a band.
        zero: width of the line of no difference; 0 for none.
        title: above the panel.
        title_look: further arguments of the title.
        axes: properties, as `Axes.set` takes them.
        locator: of the ticks of values.
        grid: of the axis of values: arguments of `Axes.grid`.
        further: draws what else there is.
        absent: draws what stands at places of an upright panel without a value.
    """

    series: Iterable[tuple[ConditionStyle, Points]] = ()
    look: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] = ()
    name_look: Mapping[str, Any] = field(default_factory=dict)
    is_upright: bool = True
    is_shaded: bool = False
    zero: float = 0.0
    title: str = ""
    title_look: Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, Any] = field(default_factory=dict)
    locator: Locator | None = None
    grid: Mapping[str, Any] = field(default_factory=dict)
    further: Callable[[Any], None] | None = None
    absent: Callable[[Any, Sequence[float]], None] = say_absent

    def draw(self, axes: Any) -> None:
        """Draw all of it."""
        if self.is_shaded:
            shade_places(axes, len(self.names), is_upright=self.is_upright)
        if self.zero:
            axes.axhline(0, color=LINE, linewidth=self.zero, zorder=0.5)
        absent: list[float] = []
        for style, points in self.series:
            absent += draw_points(axes, points, style, is_upright=self.is_upright, **self.look)
        if self.is_upright:
            self.absent(axes, absent)
        if self.further is not None:
            self.further(axes)
        if self.names:
            name_places(axes, self.names, is_upright=self.is_upright, **self.name_look)
        axes.set(**self.axes)
        if self.locator is not None:
            (axes.yaxis if self.is_upright else axes.xaxis).set_major_locator(self.locator)
        if self.grid:
            axes.grid(axis="y" if self.is_upright else "x", **self.grid)
        if self.title:
            axes.set_title(self.title, **self.title_look)


def draw_page(
    rows: Sequence[Sequence[Panel | None]],
    settings: FigureSettings,
    *,
    height: float,
    handles: Sequence[Any],
    notes: Iterable[str | None] = (),
    xlabel: Mapping[str, Any] | None = None,
    ylabel: Mapping[str, Any] | None = None,
    is_by_column: bool = False,
    **grid: Any,
) -> Figure:
    """A figure of panels in rows; the rest of a row that is shorter than others, or None, stays empty.

    Args:
        rows: of panels.
        settings: of the study, whose note stands above the others.
        height: inches of all panels.
        handles: of the legend.
        notes: above the panels; None is left out.
        xlabel: below all panels, as arguments of `supxlabel`.
        ylabel: beside all panels, as arguments of `supylabel`.
        is_by_column: whether panels are drawn, and their marks counted, column by column.
        grid: further arguments of `Figure.subplots`.
    """
    figure = new_figure(height=height)
    axes_rows = figure.subplots(len(rows), max(map(len, rows)), squeeze=False, **grid)
    columns = [*zip_longest(*rows)]
    lines = (
        zip(axes_rows.T, columns, strict=True)
        if is_by_column
        else zip(axes_rows, rows, strict=True)
    )
    for axes_line, panels in lines:
        for axes, panel in zip_longest(axes_line, panels):
            if panel is None:
                axes.remove()
            else:
                panel.draw(axes)
    if xlabel:
        figure.supxlabel(**xlabel)
    if ylabel:
        figure.supylabel(**ylabel)
    return add_head(figure, handles=handles, notes=[settings.note, *notes])


def dodge(
    styles: Mapping[str, ConditionStyle], step: float
) -> list[tuple[str, ConditionStyle, float]]:
    """Conditions with their look, and how far from the middle of a place their points stand."""
    shifts = offsets(len(styles), step)
    return [(name, styles[name], shift) for name, shift in zip(styles, shifts, strict=True)]
