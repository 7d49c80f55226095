"""Lines of a reply and the list markers they begin with.

Owns what counts as a marker: numbers in any script, ranks in other signs, headings, bold lines, bullets.
Promises that `content` is the line without its marker and nothing else.
"""

import re
from typing import Literal, NamedTuple

from fieldwork.parsing.list_ranks import RankSign, counting_ranks, ranks_of, rebalance

Kind = Literal["number", "bullet", "title", "plain", "blank"]

_MAX_LINE = 4_000

_QUOTE_PREFIX = re.compile(r"^(\s*)>\s?")
_RULE = re.compile(r"[-*_=\s]{3,}$|\\(?:begin|end)\{\w{1,20}\}")
_LATEX_EMPHASIS = re.compile(r"\\(?:textbf|textit|emph)\{([^{}]{1,300})\}")
_HEADING = re.compile(r"^(#{1,6})(?:\s+|(?=[^\s\d#]))")
_ORNAMENTS = re.compile(
    "^(?:[\u2190-\u2bff\u3030\U0001f000-\U0001faff]\ufe0f?\\s?){1,3}(?=[*_]{0,3}#?\\d{1,2}[^\\d\ufe0f\u20e3])"
)
"""Emoji and arrows before a number."""
_NUMBER = re.compile(
    r"^(?P<bold>[*_]{0,3})\s?(?:[(\[（【]\s?)?(?P<number>\d{1,3})"
    r"(?:\\?[.)\]:：、．。）】](?!\d)|[º°ª]\.?\s|\uFE0F?\u20E3|\s?[-–—](?=\s)|\s?\|(?=\s))"
    r"(?P<close>[*_]{0,3})\s*"
)
"""A number that is a marker even where it stands alone."""
_BULLET = re.compile(
    r"^(?P<mark>\\item\b|[-*+•‣◦▪▫●○■□♦◆❖✔✓✅➤►▶→·・–—∙⁃※☆★✦✧]|\uFFFD)\uFE0F?(?:\s+|(?<=[•●▪・])|$)"
)
_BOLD_LINE = re.compile(r"^(?:\*\*|__)(?=\S)([^*_\n]{1,200})(?:\*\*|__)\s*[:：]?\s*(?:$|[(（\-–—])")


class ReplyLine(NamedTuple):
    position: int
    kind: Kind
    style: str
    """The sort of marker without its number; the lines of one list share it."""
    indent: int
    number: int | None
    content: str


def read_lines(text: str) -> list[ReplyLine]:
    """Every line of the text with its marker; long lines are read up to 4,000 characters."""
    lines = [_read(index, raw[:_MAX_LINE]) for index, raw in enumerate(text.split("\n"))]
    candidates: list[tuple[int, RankSign]] = []
    for line in lines:
        if line.number is not None:
            candidates.append((line.position, RankSign("number", line.number, line.content)))
        elif line.content:
            candidates += [(line.position, rank) for rank in ranks_of(line.content)]
    ranks = counting_ranks(candidates)
    return [_with_rank(line, ranks.get(line.position)) for line in lines]


def _with_rank(line: ReplyLine, rank: RankSign | None) -> ReplyLine:
    if rank is None or line.number is not None:
        return line
    level = line.style if line.style.startswith("h") else ""
    return line._replace(
        kind="number", style=level + rank.style, number=rank.number, content=rank.content
    )


def _read(index: int, raw: str) -> ReplyLine:
    raw = _LATEX_EMPHASIS.sub(r"**\1**", _QUOTE_PREFIX.sub(r"\1", raw)).expandtabs(4).rstrip()
    body = raw.lstrip()
    indent = len(raw) - len(body)
    if not body or _RULE.match(body):
        return ReplyLine(index, "blank", "", indent, None, "")
    heading = _HEADING.match(body)
    if heading:
        level = f"h{len(heading.group(1))}"
        inner = body[heading.end() :].rstrip("# ")
        return _numbered_line(index, level, indent, inner) or ReplyLine(
            index, "title", level, indent, None, inner
        )
    numbered_line = _numbered_line(index, "", indent, body)
    if numbered_line:
        return numbered_line
    bullet = _BULLET.match(body)
    if bullet:
        content = body[bullet.end() :]
        inside = _numbered_line(index, "", indent, content)
        return inside or ReplyLine(index, "bullet", bullet.group("mark"), indent, None, content)
    if _BOLD_LINE.match(body):
        return ReplyLine(index, "title", "bold", indent, None, body)
    return ReplyLine(index, "plain", "", indent, None, body)


def _numbered_line(index: int, level: str, indent: int, body: str) -> ReplyLine | None:
    if body[:1] > "\u2000":
        body = _ORNAMENTS.sub("", body)
    marker = _NUMBER.match(body)
    if marker is None:
        return None
    content = rebalance(marker, body)
    return ReplyLine(index, "number", f"{level}number", indent, int(marker["number"]), content)
