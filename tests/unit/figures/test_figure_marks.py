"""Marks know what they show and where they stand; the drawing is the same with and without them."""

from typing import Any

import pytest
from matplotlib.figure import Figure

from fieldwork.figures import style
from fieldwork.figures.marks import PageMark, add_mark, marks_of
from fieldwork.records.figures import FigureMark

ANSWERS = {"model": "m", "condition": "rag", "base": "first", "n": 1200}


def saved(figure: Figure, tmp_path) -> list[FigureMark]:
    style.save(figure, [tmp_path / "figure.svg"])
    return marks_of(figure)


def test_a_mark_stands_where_its_point_is_drawn(tmp_path) -> None:
    figure = style.new_figure(height=2.0)
    axes = figure.subplots()
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 10)
    (line,) = axes.plot([4], [6], "o")
    add_mark(axes, 4, (5, 7), PageMark(measure="m", value=6.0, **ANSWERS))
    style.add_head(figure, handles=[], notes=["a note above"])
    (mark,) = saved(figure, tmp_path)
    x, y = axes.transData.transform((4, 6)) * 72 / figure.dpi
    assert mark.left + mark.width / 2 == pytest.approx(x, abs=0.02)
    assert mark.top + mark.height / 2 == pytest.approx(72 * figure.get_figheight() - y, abs=0.02)
    ends = axes.transData.transform([(4, 5), (4, 7)])[:, 1] * 72 / figure.dpi
    assert mark.height == pytest.approx(ends[1] - ends[0], abs=0.02)
    # a pointer hits the smallest one too
    assert mark.width == 5.0
    svg = (tmp_path / "figure.svg").read_text()
    assert f'x="{x:.3f}'[:-2] in svg, line


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"measure": "Entropy", "value": 3.1}, "Entropy: 3.10, n = 1,200"),
        (
            {"measure": "Gain", "label": "RAG", "value": -0.5, "ci_low": -0.001, "ci_high": 0.25},
            "Gain, RAG: −0.50 [0.00, 0.25], n = 1,200",
        ),
        (
            {"measure": "Share", "value": 0.35, "scale": 100, "unit": " %", "digits": 0},
            "Share: 35\N{NO-BREAK SPACE}%, n = 1,200",
        ),
        ({"measure": "Score", "value": None}, "Score: n/a, n = 1,200"),
    ],
)
def test_what_the_page_says_of_a_mark(value: dict[str, Any], text: str) -> None:
    assert PageMark(**ANSWERS | value).text() == text
    assert PageMark(**ANSWERS | value | {"n": None}).text() == text.removesuffix(", n = 1,200")


def test_a_share_says_of_how_many() -> None:
    value = {"measure": "Share of A", "value": 0.3, "scale": 100, "unit": " %", "digits": 0}
    mark = PageMark(**ANSWERS | value | {"n": 12, "total": 40})
    assert mark.text() == "Share of A: 30\N{NO-BREAK SPACE}%, 12 of 40 answers"
