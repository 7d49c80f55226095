"""The findings as a part of the study's page.

Promises that HTML in a text is shown as text, and that the page's policy refuses nothing: there are no
inline styles.
"""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fieldwork.addresses import PAGE

_NO_ID = re.compile(r"[^\w\- ]")


def html_of(markdown: str) -> str:
    """HTML of a page of Markdown with tables; HTML in it is shown as text.

    Links to the study's page become links within it. The title is left out, as the page has one of its
    own. Other headings have the ids that links of the text name.
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = [*_without_title(reader.parse(markdown))]
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _heading_id(tokens[place + 1].content))
        _make_plain(token)
        for child in token.children or ():
            _make_plain(child)
    html: str = reader.renderer.render(tokens, reader.options, {})
    return html.replace("<table>", '<div class="wide" tabindex="0"><table>').replace(
        "</table>", "</table></div>"
    )


def _without_title(tokens: Sequence[Token]) -> Iterator[Token]:
    is_title = False
    for token in tokens:
        is_title = is_title or (token.type == "heading_open" and token.tag == "h1")
        if not is_title:
            yield token
        is_title = is_title and token.type != "heading_close"


def _heading_id(text: str) -> str:
    return _NO_ID.sub("", text).strip().lower().replace(" ", "-")


def _make_plain(token: Token) -> None:
    """Columns are aligned by a class, and links stay within the page where they lead to it."""
    style = token.attrs.pop("style", None)
    if style:
        token.attrSet("class", str(style).replace("text-align:", "align-"))
    target = token.attrGet("href")
    if isinstance(target, str) and target.startswith(f"{PAGE}#"):
        token.attrSet("href", target.removeprefix(PAGE))
