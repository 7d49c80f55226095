"""A figure's SVG inside the study's page, with a link over each of its marks.

Promises a drawing that the page's policy shows whole: styles become attributes, which it does not refuse.
Ids are those of this figure alone, as all figures stand in one page. The drawing is the printed one.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from fieldwork.addresses import address
from fieldwork.records.figures import FigureMark

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_LINES = {"stroke-linejoin": "round", "stroke-linecap": "butt"}
"""What matplotlib says of all lines in a style sheet."""


def linked_svg(svg: str, marks: Sequence[FigureMark], figure: str) -> str:
    """The drawing as an element of an HTML page, with links over its marks in the order of drawing.

    Args:
        svg: a file that matplotlib wrote.
        figure: the figure's name, which ids begin with.
    """
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    root = ET.fromstring(svg)
    _drop_descriptions(root)
    for element in root.iter():
        _make_attributes(element)
        _rename_ids(element, figure)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.attrib |= {"class": "drawing", "role": "group", **_LINES}
    root.extend(_link(mark, figure) for mark in marks)
    return ET.tostring(root, encoding="unicode")


def mark_address(mark: FigureMark) -> str:
    """The address of the answers that a mark is computed from."""
    return address(
        "answers",
        {
            "model": mark.model,
            "task": mark.task,
            "item": mark.item_id,
            "condition": mark.condition,
            "puppet": mark.puppet_id,
            "replicate": mark.replicate,
            "kind": mark.kind,
            "option": mark.answer,
            "base": mark.base,
        },
    )


def _drop_descriptions(root: ET.Element) -> None:
    """Remove who made the file, and the style sheet, which the page's policy would refuse."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)


def _make_attributes(element: ET.Element) -> None:
    for declaration in element.attrib.pop("style", "").split(";"):
        name, _, value = declaration.partition(":")
        if value:
            element.set(name.strip(), value.strip())


def _rename_ids(element: ET.Element, figure: str) -> None:
    for name, value in element.attrib.items():
        if name == "id":
            element.set(name, f"{figure}-{value}")
        elif name in ("href", f"{{{_XLINK}}}href") and value.startswith("#"):
            element.set(name, f"#{figure}-{value[1:]}")
        elif "url(#" in value:
            element.set(name, _REFERENCE.sub(rf"url(#{figure}-\1)", value))


def _link(mark: FigureMark, figure: str) -> ET.Element:
    link = ET.Element(f"{{{_SVG}}}a")
    link.attrib |= {
        "id": f"mark-{figure}-{mark.number}",
        "class": "mark",
        "href": mark_address(mark),
        "aria-label": mark.text,
    }
    ET.SubElement(link, f"{{{_SVG}}}title").text = mark.text
    area = {"x": mark.left, "y": mark.top, "width": mark.width, "height": mark.height, "rx": 1.5}
    ET.SubElement(link, f"{{{_SVG}}}rect", {name: f"{value:g}" for name, value in area.items()})
    return link
