"""Marks know what they show and where they stand; the drawing is the same with and without them."""

from typing import Any

import pytest

from fieldwork.figures import style
from fieldwork.figures.marks import PageMark, add_mark, marks_of

KEYS: dict[str, Any] = {"model": "m", "condition": "rag", "base": "first"}


def test_a_mark_stands_where_its_point_is_drawn(tmp_path) -> None:
    figure = style.new_figure(height=2.0)
    axes = figure.subplots()
    axes.set(xlim=(0, 10), ylim=(0, 10))
    axes.plot([4], [6], "o")
    add_mark(axes, 4, (5, 7), PageMark(measure="m", value=6.0, **KEYS))
    style.add_head(figure, handles=[], notes=["a note above"])
    style.save(figure, [tmp_path / "figure.svg"])
    (mark,) = marks_of(figure)
    places = axes.transData.transform([(4, 6), (4, 5), (4, 7)]) * 72 / figure.dpi
    (x, y), (_, low), (_, high) = places
    assert mark.left + mark.width / 2 == pytest.approx(x, abs=0.02)
    assert mark.top + mark.height / 2 == pytest.approx(72 * figure.get_figheight() - y, abs=0.02)
    assert mark.height == pytest.approx(high - low, abs=0.02)
    # a pointer hits the smallest one too
    assert mark.width == 5.0
    assert f'x="{x:.3f}'[:-2] in (tmp_path / "figure.svg").read_text()


RAG = {"measure": "Gain", "label": "RAG", "value": -0.5, "ci_low": -0.001, "ci_high": 0.25}
SHARE = {"measure": "Share", "value": 0.35, "scale": 100, "unit": " %", "digits": 0}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"measure": "Entropy", "value": 3.1, "n": 1200}, "Entropy: 3.10, n = 1,200"),
        ({"measure": "Score", "value": None, "n": 1200}, "Score: n/a, n = 1,200"),
        (RAG, "Gain, RAG: −0.50 [0.00, 0.25]"),
        (SHARE, "Share: 35\N{NO-BREAK SPACE}%"),
        (SHARE | {"n": 14, "total": 40}, "Share: 35\N{NO-BREAK SPACE}%, 14 of 40 answers"),
    ],
)
def test_what_the_page_says_of_a_mark(value: dict[str, Any], text: str) -> None:
    assert PageMark(**KEYS | value).text() == text
