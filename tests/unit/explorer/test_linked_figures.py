"""The printed drawing inside the page: a link over each mark, and nothing that its policy refuses."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from fieldwork.explorer.linked_figures import linked_svg, mark_address
from fieldwork.figures import style
from fieldwork.figures.marks import PageMark, add_mark, marks_of
from fieldwork.records.figures import FigureMark

HOSTILE = '<script>alert("1")</script> & "quotes"'


@pytest.fixture
def drawing(tmp_path) -> tuple[str, list[FigureMark]]:
    figure = style.new_figure(height=2.0)
    axes = figure.subplots()
    axes.bar([1, 2], [3, 4], hatch="//")
    axes.set_title(HOSTILE)
    value: dict[str, Any] = {"measure": HOSTILE, "value": 3.0, "condition": "c"}
    add_mark(axes, (0.6, 1.4), (0, 3), PageMark(**value, model="m&n", base="runs"))
    of_item = {"task": "t", "item_id": "i", "answer": "A/S"}
    add_mark(axes, 2, 4, PageMark(**value, model="m", base="first", **of_item))
    style.save(figure, [tmp_path / "figure.svg"])
    return (tmp_path / "figure.svg").read_text(), marks_of(figure)


def test_every_mark_is_a_link_with_its_text_and_ids_are_of_one_figure(drawing) -> None:
    svg, marks = drawing
    page = linked_svg(svg, marks, "fig9")
    links = [element for element in ET.fromstring(page).iter() if element.tag.endswith("}a")]
    assert [link.get("id") for link in links] == ["mark-fig9-1", "mark-fig9-2"]
    for link, mark in zip(links, marks, strict=True):
        assert link.get("href") == mark_address(mark)
        title, area = list(link)
        assert title.text == link.get("aria-label") == mark.text
        assert HOSTILE in mark.text
        assert float(area.get("width")) == mark.width
    address = "#/answers?model=m&task=t&item=i&condition=c&option=A%2FS&base=first"
    assert links[1].get("href") == address
    # references follow the ids
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert all(name.startswith(("fig9-", "mark-fig9-")) for name in ids)
    references = re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', page)
    assert references
    assert set(references) <= set(ids)
