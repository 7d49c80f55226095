"""What Markdown makes of an answer: lists, tables, headings, links, images, code.

Owns how lines are told apart. Promises counts for any text, in time linear in it, and prose from which
code, tables, headings, addresses and marks of emphasis are gone.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fieldwork.parsing.writing_systems import starts_small

_LONGEST_LINE = 100_000
"""Characters up to which the beginning of a line is looked at for marks."""
_LONGEST_PART = 5_000
"""Characters from which on a line begins a part of its own."""

_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*+•‣◦▪●○·–][ \t]+|(?:\*\*|__)?\(?\d{1,3}[.)](?:\*\*|__)?[ \t]+)(?=\S)"
)
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_BOLD = re.compile(r"\*\*(?=\S)[^*\n]+\*\*|(?<!\w)__(?=\S)[^_\n]+__(?!\w)")
_ADDRESS = r"(?:https?://|www\.)[^\s<>()\[\]\"'|]+"
_BARE_ADDRESS = re.compile(_ADDRESS)
_IMAGE = re.compile(r"!\[(?P<words>[^\[\]\n]{0,1000})\]\([^()\s]{0,2000}(?:[ \t][^()\n]{0,300})?\)")
_IMAGE_TAG = re.compile(r"<img\b(?P<rest>[^<>]{0,2000})>", re.IGNORECASE)
_ALTERNATIVE_TEXT = re.compile(r"\balt[ \t]*=[ \t]*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_LINK = re.compile(r"\[(?P<words>[^\[\]\n]{1,1000})\]\([^()\s]{0,2000}(?:[ \t][^()\n]{0,300})?\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_EMPHASIS = re.compile(r"\*+|`+|~~|(?<![^\W_])_+|_+(?![^\W_])")
_WORD = re.compile(r"[^\W_]")


class Markup(NamedTuple):
    """Counts of what Markdown makes, and the prose of an answer by its lines.

    Attributes:
        text: the answer without code and tables.
        prose: parts that end a sentence each: paragraphs, entries of lists.
    """

    list_items: int
    list_depth: int
    tables: int
    headings: int
    bold_spans: int
    links: int
    bare_links: int
    images: int
    images_without_words: int
    code_blocks: int
    text: str
    prose: Sequence[str]


class _Code(NamedTuple):
    lines: list[str]
    n_blocks: int


class _Tables(NamedTuple):
    lines: list[str]
    n_tables: int


def read_markup(text: str) -> Markup:
    """Read an answer line by line; an unclosed block of code goes to its end."""
    code = _without_code(text.split("\n"))
    tables = _without_tables(code.lines)
    plain = "\n".join(tables.lines)
    without_images = _IMAGE_TAG.sub(" ", _IMAGE.sub(" ", plain))
    links = [match["words"].strip() for match in _LINK.finditer(without_images)]
    without_links = _LINK.sub(r"\g<words>", without_images)
    n_bare = len(_BARE_ADDRESS.findall(without_links))
    n_bare_links = sum(bool(_BARE_ADDRESS.match(words)) for words in links)
    image_words = [match["words"] for match in _IMAGE.finditer(plain)]
    image_words += [_alternative_text(match["rest"]) for match in _IMAGE_TAG.finditer(plain)]
    depths = list(_item_depths(tables.lines))
    return Markup(
        list_items=len(depths),
        list_depth=max(depths, default=0),
        tables=tables.n_tables,
        headings=sum(bool(_HEADING.match(line)) for line in tables.lines),
        bold_spans=len(_BOLD.findall(plain)),
        links=len(links) - n_bare_links + n_bare,
        bare_links=n_bare,
        images=len(image_words),
        images_without_words=sum(not _WORD.search(words) for words in image_words),
        code_blocks=code.n_blocks,
        text=plain,
        prose=_parts(without_links.split("\n")),
    )


def _alternative_text(attributes: str) -> str:
    match = _ALTERNATIVE_TEXT.search(attributes)
    return "".join(match.groups("")) if match else ""


def _without_code(lines: Sequence[str]) -> _Code:
    """The lines outside of fences: a fence closes one of its own sign that is no longer."""
    outside: list[str] = []
    n_blocks, opening = 0, ""
    for line in lines:
        match = _FENCE.match(line[:_LONGEST_LINE])
        fence = match["fence"] if match else ""
        if opening:
            if match and fence.startswith(opening) and not match["rest"].strip():
                opening = ""
        elif match and (fence[0] == "~" or "`" not in match["rest"]):
            opening, n_blocks = fence, n_blocks + 1
            outside.append("")
        else:
            outside.append(line)
    return _Code(outside, n_blocks)


def _without_tables(lines: Sequence[str]) -> _Tables:
    """The lines outside of tables: a row, a rule with as many bars or so, and rows with bars after it."""
    outside: list[str] = []
    n_tables, is_inside = 0, False
    for number, line in enumerate(lines):
        is_rule = "|" in line and bool(_TABLE_RULE.fullmatch(line[:_LONGEST_LINE]))
        if is_inside:
            is_inside = "|" in line
        elif is_rule and number and "|" in lines[number - 1]:
            outside[-1:] = [""]
            n_tables, is_inside = n_tables + 1, True
        if not is_inside:
            outside.append(line)
    return _Tables(outside, n_tables)


def _item_depths(lines: Sequence[str]) -> Iterator[int]:
    """The depth of each entry of a list, by how far it is indented below the entries before it."""
    indents: list[int] = []
    is_after_blank = True
    for line in lines:
        head = line[:_LONGEST_LINE].expandtabs(4)
        match = _ITEM.match(head)
        if match and not _is_symbols(head):
            indent = len(match["indent"])
            while indents and indents[-1] >= indent - 1:
                indents.pop()
            indents.append(indent)
            yield len(indents)
        elif head.strip() and is_after_blank and not head[0].isspace():
            indents = []
        is_after_blank = not head.strip()


def _is_symbols(line: str) -> bool:
    return not _WORD.search(line)


def _parts(lines: Sequence[str]) -> list[str]:
    """Prose in parts that end a sentence each; a line goes on where a small letter begins the next."""
    parts: list[str] = []
    is_open = False
    for line in lines:
        if _HEADING.match(line[:_LONGEST_LINE]) or _is_symbols(line):
            is_open = False
            continue
        item = _ITEM.match(line[:_LONGEST_LINE])
        words = _prose_of(line[item.end() :] if item else line)
        if is_open and not item and starts_small(words):
            parts[-1] = f"{parts[-1]} {words}" if len(parts[-1]) < _LONGEST_PART else words
        else:
            parts.append(words)
        is_open = True
    return parts


def _prose_of(line: str) -> str:
    plain = _TAG.sub(" ", _BARE_ADDRESS.sub(" ", line))
    return _EMPHASIS.sub("", plain).strip().lstrip("> ")
