"""The findings as a part of the study's page.

Promises that HTML in a text is shown as text, and that the page's policy refuses nothing: there are no
inline styles.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fieldwork.addresses import PAGE

_NO_ID = re.compile(r"[^\w\- ]")


def html_of(markdown: str) -> str:
    """HTML of a page of Markdown with tables; HTML in it is shown as text.

    Links to the study's page become links within it. Headings begin a level lower, as the page has a
    title of its own, and have the ids that links of the text name.
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(markdown)
    for place, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 1)}"
        if token.type == "heading_open":
            token.attrSet("id", _heading_id(tokens[place + 1].content))
        _make_plain(token)
        for child in token.children or ():
            _make_plain(child)
    html: str = reader.renderer.render(tokens, reader.options, {})
    return html.replace("<table>", '<div class="wide" tabindex="0"><table>').replace(
        "</table>", "</table></div>"
    )


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
