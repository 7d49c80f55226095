"""The page of a study as one file of HTML, beside which its data lie.

Promises that whatever stands in answers, prompts and labels is shown and never run: what is put in is
escaped, and the page's policy names the hashes of its one style and its one script. That script alone may
load others: the data.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.explorer.linked_figures import linked_svg
from fieldwork.page_templates import fill, hash_source, inline_text, script_json
from fieldwork.records.figures import FigureMark


class PageParts(NamedTuple):
    """The parts of the page as they are shipped, and the page's own file name for messages.

    Attributes:
        scripts: in the order in which they are joined into one.
    """

    page: str
    style: str
    scripts: tuple[str, ...]
    source: str


class PageFigure(NamedTuple):
    """A figure as it was drawn, and its marks, in the order of drawing."""

    name: str
    title: str
    svg: str
    marks: Sequence[FigureMark]


def render(
    parts: PageParts, study: Mapping[str, Any], findings: str, figures: list[PageFigure]
) -> str:
    """The whole page.

    Args:
        study: the block that `study_data.study_block` makes.
        findings: HTML, escaped.

    Raises:
        StudyError: the template has an unknown placeholder.
    """
    style = inline_text(parts.style)
    script = inline_text("\n".join(text.strip() for text in parts.scripts))
    figures_with_data = [figure for figure in figures if not _is_empty(figure)]
    contents = {
        "policy": html.escape(_policy(style, script), quote=True),
        "css": style,
        "js": script,
        "name": html.escape(str(study["name"])),
        "title": html.escape(str(study["question"] or study["name"])),
        "study": script_json(study),
        "findings": findings,
        "figures": "\n".join([*map(_figure, figures_with_data), *_absence(figures)]),
    }
    return fill(parts.page, contents, parts.source)


def _policy(style: str, script: str) -> str:
    # `default-src 'none'` refuses every request but those of the script for its data
    return (
        f"default-src 'none'; style-src {hash_source(style)}; "
        f"script-src {hash_source(script)} 'strict-dynamic'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _absence(figures: Sequence[PageFigure]) -> Iterator[str]:
    """A figure without data says only why it has none; the page has a line for all of them."""
    titles = [html.escape(figure.title) for figure in figures if _is_empty(figure)]
    if titles:
        yield f'<p class="key">Without data in this study: {"; ".join(titles)}.</p>'


def _is_empty(figure: PageFigure) -> bool:
    """Whether it is a `style.empty_figure`; figures of raters have data and no marks."""
    return 'id="no-data"' in figure.svg


def _figure(figure: PageFigure) -> str:
    name, title = html.escape(figure.name), html.escape(figure.title)
    svg = linked_svg(figure.svg, figure.marks, figure.name)
    heading = f"<figcaption><h2>{title}</h2></figcaption>"
    return f'<figure id="figure-{name}">\n{heading}\n{svg.strip()}\n</figure>'
