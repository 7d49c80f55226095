"""Lines of a reply and the list markers they begin with.

Owns what counts as a marker: numbers in any script, brackets, headings, bold lines, bullets.
Promises that `content` is the line without its marker and nothing else.
"""

import re
import unicodedata
from typing import Literal, NamedTuple

Kind = Literal["number", "bullet", "title", "plain", "blank"]

_MAX_LINE = 4_000

_QUOTE_PREFIX = re.compile(r"^(\s*)>\s?")
_HEADING = re.compile(r"^(#{1,6})(?:\s+|(?=[^\s\d#]))")
_ORNAMENTS = re.compile(
    "^(?:[\u2190-\u2bff\u3030\U0001f000-\U0001faff]\ufe0f?\\s?){1,3}(?=[*_]{0,3}#?\\d{1,2}[^\\d\ufe0f\u20e3])"
)
"""Emoji and arrows before a number."""
_CJK_DIGITS = "一二三四五六七八九十"
_NUMBER = re.compile(
    r"^(?P<bold>[*_]{0,3})\s?(?:#\s?|[Nn]o\.\s?|[Nn][º°]\.?\s?|[Nn]r\.\s?|第)?"
    r"(?:(?P<open>[(\[（【])\s?)?(?P<number>\d{1,3}|[一二三四五六七八九十](?=[、.．,，)）】])|(?<=第)[一二三四五六七八九十](?=[：:名位]))"
    r"(?P<mark>\\?[.)\]:：、．。）】](?!\d)|[º°ª]\.?\s|\uFE0F?\u20E3|[名位][：:、]|[：、]|\s?[-–—](?=\s)|\s?\|(?=\s))"
    r"(?P<close>[*_]{0,3})\s*"
)
_HASH_NUMBER = re.compile(
    r"^(?P<bold>[*_]{0,3})#(?P<number>\d{1,2})(?P<close>[*_]{0,3})[ \t]+(?=\S)"
)
_HYPHEN_NUMBER = re.compile(r"^([\s*_]{0,12})(\d{1,2})-(?=[^\W\d_]|[\"“«(¡¿*])")
_CIRCLED_NUMBER = re.compile(r"^[*_]{0,3}([①-⑳⓵-⓾❶-❿➀-➓⑴-⒇⒈-⒛㊀-㊉])\s*")
_LABEL_NUMBER = re.compile(
    r"^(?P<bold>[*_]{0,3})(?:[^\W\d_]{2,20}\s){1,3}#?(?P<number>\d{1,2})\s?"
    r"(?P<mark>[.):：]|\s[-–—])(?P<close>[*_]{0,3})(?:\s+|$)"
)
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
]
_ORDINAL = re.compile(
    rf"^(?P<bold>[*_]{{0,3}})(?P<number>{'|'.join(_ORDINALS)})(?:ly)?(?P<mark>:|\s[-–—])"
    r"(?P<close>[*_]{0,3})\s+",
    re.IGNORECASE,
)
_ROMANS = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"]
_ROMAN = re.compile(
    r"^(?P<bold>[*_]{0,3})(?P<number>(?:IX|IV|VI{0,3}|I{1,3}|X))[.)](?P<close>[*_]{0,3})\s+(?=\S)"
)
_LETTER_MARK = re.compile(
    r"^(?P<bold>[*_]{0,3})\(?(?P<letter>[A-Ja-j])[.)](?P<close>[*_]{0,3})\s+(?=\S)"
)
_BULLET = re.compile(
    r"^(?P<mark>[-*+•‣◦▪▫●○■□♦◆❖✔✓✅➤►▶→·・–—∙⁃※☆★✦✧]|\uFFFD)\uFE0F?(?:\s+|(?<=[•●▪・])|$)"
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
    raw_lines = [raw[:_MAX_LINE] for raw in text.split("\n")]
    # '1-Name', '2-Name': a single '7-Eleven' is a name
    numbers = [int(match[2]) for match in map(_HYPHEN_NUMBER.match, raw_lines) if match]
    if len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1)):
        raw_lines = [_HYPHEN_NUMBER.sub(r"\1\2. ", raw) for raw in raw_lines]
    return [_read(index, raw) for index, raw in enumerate(raw_lines)]


def digit_value(character: str) -> int | None:
    """The number a character stands for: a circled one, a Chinese numeral, or a digit."""
    if character in _CJK_DIGITS:
        return _CJK_DIGITS.index(character) + 1
    value = unicodedata.numeric(character, None)
    return int(value) if value is not None else None


def _read(index: int, raw: str) -> ReplyLine:
    raw = _QUOTE_PREFIX.sub(r"\1", raw).expandtabs(4).rstrip()
    body = raw.lstrip()
    indent = len(raw) - len(body)
    if not body or re.fullmatch(r"[-*_=\s]{3,}", body):
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
    if circled_number := _CIRCLED_NUMBER.match(body):
        style, content = "circled", body[circled_number.end() :]
        number = digit_value(circled_number[1])
        return ReplyLine(index, "number", level + style, indent, number, content)
    marker = _NUMBER.match(body) or _HASH_NUMBER.match(body)
    style = "number"
    if not marker and (level or body[:1] in "*_"):
        marker, style = _LABEL_NUMBER.match(body), "labelled"
    if marker:
        numeral = marker["number"]
        number = int(numeral) if numeral.isdigit() else digit_value(numeral)
    elif marker := _ORDINAL.match(body) or _ROMAN.match(body):
        numeral, style = marker["number"], "word"
        names = _ROMANS if numeral in _ROMANS else _ORDINALS
        number = names.index(numeral if numeral in names else numeral.lower()) + 1
    elif marker := _LETTER_MARK.match(body):
        number, style = ord(marker["letter"].upper()) - ord("A") + 1, "letter"
    else:
        return None
    return ReplyLine(index, "number", level + style, indent, number, _rebalance(marker, body))


def _rebalance(marker: re.Match[str], body: str) -> str:
    """Put back the emphasis that opened before the number and closes after the name."""
    content = body[marker.end() :]
    emphasis = marker.group("bold")
    return emphasis + content if emphasis and not marker.group("close") else content
