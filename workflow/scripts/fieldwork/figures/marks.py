"""Marks of a figure: what a point or bar shows, where it stands, and which answers are behind it.

Owns how a drawing keeps its marks. The drawing does not change by it: places are read from the axes once
the figure is laid out, and the study's page lays its links over them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from fieldwork.figures.selection import float_or_none
from fieldwork.records.figures import AnswerBase, FigureMark

_FIXED_SPACE = "\N{NO-BREAK SPACE}"
_LEAST_POINTS = 5.0
"""Width and height of the smallest mark: what a pointer still hits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAnswers:
    """The answers that a mark is computed from; None stands for all."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedValue:
    """What a mark says.

    Attributes:
        scale: what a value is multiplied by where it is printed: 100 for shares.
        unit: what stands after it, ` %` for shares.
        total: of a share, the answers that it is a share of.
    """

    measure: str
    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    scale: float = 1.0
    unit: str = ""
    label: str = ""
    digits: int = 2
    total: int | None = None

    def text(self, n: int | None) -> str:
        """`Entropy, History: 3.12 [2.80, 3.44], n = 80`; `Share of A, RAG: 30 %, 12 of 40 answers`."""
        head = f"{self.measure}, {self.label}" if self.label else self.measure
        size = "" if n is None else f", n = {n:,}"
        if n is not None and self.total is not None:
            size = f", {n:,} of {self.total:,} answers"
        if self.value is None:
            return f"{head}: n/a{size}"
        interval = ""
        if self.ci_low is not None and self.ci_high is not None:
            interval = f" [{self._number(self.ci_low)}, {self._number(self.ci_high)}]"
        return f"{head}: {self._number(self.value)}{self.unit.replace(' ', _FIXED_SPACE)}{interval}{size}"

    def _number(self, value: float) -> str:
        text = f"{self.scale * value:.{self.digits}f}"
        return text.replace("-", "−") if float(text) else text.removeprefix("-")


class _DrawnMark(NamedTuple):
    axes: Any
    x: tuple[float, float]
    y: tuple[float, float]
    caption: MarkedValue
    answers: MarkedAnswers


class MarkedFigure(Figure):
    """A figure that keeps what its marks show, in the order of drawing."""

    drawn_marks: list[_DrawnMark]


def add_mark(
    axes: Any,
    x: float | tuple[float, float],
    y: float | tuple[float, float],
    caption: MarkedValue,
    answers: MarkedAnswers,
) -> None:
    """Keep a mark of a panel; `x` and `y` are a place or the two ends of a range, in its data."""
    ends = [place if isinstance(place, tuple) else (place, place) for place in (x, y)]
    axes.figure.drawn_marks.append(_DrawnMark(axes, ends[0], ends[1], caption, answers))


def span_of(
    value: float, row: Any, low: str = "ci_low", high: str = "ci_high"
) -> tuple[float, float]:
    """The range that a point and its interval cover; the point alone without an interval."""
    ends = [float_or_none(getattr(row, low)), float_or_none(getattr(row, high))]
    values = [value, *(end for end in ends if end is not None)]
    return min(values), max(values)


def marks_of(figure: Figure) -> list[FigureMark]:
    """The marks of a saved figure, with their places in its SVG."""
    marks: Sequence[_DrawnMark] = getattr(figure, "drawn_marks", [])
    return [_mark(number, mark, figure) for number, mark in enumerate(marks, start=1)]


def _mark(number: int, mark: _DrawnMark, figure: Figure) -> FigureMark:
    corners = [(mark.x[0], mark.y[0]), (mark.x[1], mark.y[1])]
    places = mark.axes.transData.transform(corners) * 72 / figure.dpi
    (left, right), (bottom, top) = sorted(places[:, 0]), sorted(places[:, 1])
    # points of the SVG count from the top
    page = 72 * figure.get_figheight()
    width, height = max(_LEAST_POINTS, right - left), max(_LEAST_POINTS, top - bottom)
    caption, answers = mark.caption, mark.answers
    return FigureMark(
        number=number,
        measure=caption.measure,
        model=answers.model,
        task=answers.task,
        item_id=answers.item_id,
        condition=answers.condition,
        puppet_id=answers.puppet_id,
        replicate=answers.replicate,
        answer=answers.answer,
        kind=answers.kind,
        base=answers.base,
        value=caption.value,
        ci_low=caption.ci_low,
        ci_high=caption.ci_high,
        n=answers.n,
        left=round(float((left + right - width) / 2), 2),
        top=round(float(page - (bottom + top + height) / 2), 2),
        width=round(float(width), 2),
        height=round(float(height), 2),
        text=caption.text(answers.n),
    )
