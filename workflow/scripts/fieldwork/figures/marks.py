"""Points of a figure and its marks: what a point or bar shows, and which answers are behind it.

Owns how a drawing keeps its marks. The drawing does not change by it: places are read from the axes once
the figure is laid out, and the study's page lays its links over them.
"""

from dataclasses import dataclass, fields
from typing import Any

from matplotlib.figure import Figure

from fieldwork.figures.selection import float_or_none
from fieldwork.records.figures import AnswerBase, FigureMark

_FIXED_SPACE = "\N{NO-BREAK SPACE}"
_LEAST_POINTS = 5.0
"""Width and height of the smallest mark: what a pointer still hits."""

Span = float | tuple[float, float]
"""A place on an axis, or the two ends of a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value with its interval.

    Attributes:
        value: None where there is none.
        scale: what values are multiplied by where they are drawn in a panel and printed: 100 for
            shares.
    """

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    scale: float = 1.0

    def at_scale(self, value: float | None) -> float | None:
        """A value of the point at its scale."""
        return None if value is None else self.scale * value

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends at their scale; None without an interval."""
        if self.ci_low is None or self.ci_high is None:
            return None
        return self.scale * self.ci_low, self.scale * self.ci_high

    @property
    def span(self) -> tuple[float, float]:
        """The range that the value and its interval cover, at their scale; of points with a value."""
        ends = [self.at_scale(end) for end in (self.value, self.ci_low, self.ci_high)]
        values = [end for end in ends if end is not None]
        return min(values), max(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMark(Point):
    """A point that the study's page knows: what it says, and its answers, where None stands for all.

    Attributes:
        unit: what stands after the value, ` %` for shares.
        total: of a share, the answers that it is a share of.
    """

    measure: str
    model: str
    condition: str
    base: AnswerBase
    task: str | None = None
    item_id: str | None = None
    puppet_id: str | None = None
    replicate: int | None = None
    answer: str | None = None
    kind: str | None = None
    n: int | None = None
    label: str = ""
    unit: str = ""
    digits: int = 2
    total: int | None = None

    def text(self) -> str:
        """`Entropy, History: 3.12 [2.80, 3.44], n = 80`; `Share of A, RAG: 30 %, 12 of 40 answers`."""
        head = f"{self.measure}, {self.label}" if self.label else self.measure
        size = "" if self.n is None else f", n = {self.n:,}"
        if self.n is not None and self.total is not None:
            size = f", {self.n:,} of {self.total:,} answers"
        if self.value is None:
            return f"{head}: n/a{size}"
        ends = "" if self.interval is None else f" [{', '.join(map(self._number, self.interval))}]"
        value = self._number(self.scale * self.value)
        return f"{head}: {value}{self.unit.replace(' ', _FIXED_SPACE)}{ends}{size}"

    def _number(self, value: float) -> str:
        text = f"{value:.{self.digits}f}"
        return text.replace("-", "−") if float(text) else text.removeprefix("-")


class MarkedFigure(Figure):
    """A figure that keeps its marks in the order of drawing, each with its axes and its place."""

    drawn_marks: list[tuple[Any, Span, Span, PageMark]]


def ends_of(
    row: Any,
    value: str = "value",
    low: str = "ci_low",
    high: str = "ci_high",
    *,
    factor: float = 1.0,
) -> dict[str, Any]:
    """The value and the interval of a row times a factor, as fields of a point; None for NULL."""
    columns = {"value": value, "ci_low": low, "ci_high": high}
    cells = {name: float_or_none(getattr(row, column)) for name, column in columns.items()}
    return {name: None if cell is None else factor * cell for name, cell in cells.items()}


def add_mark(axes: Any, x: Span, y: Span, mark: PageMark) -> None:
    """Keep a mark of a panel; `x` and `y` are in its data."""
    axes.figure.drawn_marks.append((axes, x, y, mark))


def marks_of(figure: Figure) -> list[FigureMark]:
    """The marks of a saved figure, with their places in its SVG."""
    marks = getattr(figure, "drawn_marks", [])
    return [_row(number, figure, *entry) for number, entry in enumerate(marks, start=1)]


def _row(number: int, figure: Figure, axes: Any, x: Span, y: Span, mark: PageMark) -> FigureMark:
    spans = [span if isinstance(span, tuple) else (span, span) for span in (x, y)]
    places = axes.transData.transform([*zip(*spans, strict=True)]) * 72 / figure.dpi
    (left, right), (bottom, top) = sorted(places[:, 0]), sorted(places[:, 1])
    # points of the SVG count from the top
    page = 72 * figure.get_figheight()
    width, height = max(_LEAST_POINTS, right - left), max(_LEAST_POINTS, top - bottom)
    place = {
        "left": (left + right - width) / 2,
        "top": page - (bottom + top + height) / 2,
        "width": width,
        "height": height,
    }
    names = {column.name for column in fields(FigureMark)} & {one.name for one in fields(mark)}
    columns: dict[str, Any] = {name: getattr(mark, name) for name in names}
    columns |= {name: round(float(points), 2) for name, points in place.items()}
    return FigureMark(number=number, text=mark.text(), **columns)
