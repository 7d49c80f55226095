"""Ranks that lines begin with, in any sign: numbers, ordinals, letters, medals.

Owns which sign stands for which number. Promises that what is taken for a rank counts up from one, or
down to one, from line to line: 'Brand 1:', '1st place:', 'א.' or '🥇' alone is part of a name.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

# fmt: off
_WORDS = (
    ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    ("첫째", "둘째", "셋째", "넷째", "다섯째", "여섯째", "일곱째", "여덟째", "아홉째", "열째"),
)
# fmt: on
_ALPHABETS = (
    "abcdefghijklmnopqrst",
    "абвгдежзик",
    "αβγδεζηθικ",
    "אבגדהוזחטי",
    "가나다라마바사아자차",
)
_SERIES = (*_WORDS, *map(tuple, _ALPHABETS))
_MEDALS = "🥇🥈🥉"
_LABEL_NUMBER = re.compile(
    r"^(?P<bold>[*_]{0,3})(?P<label>(?:[^\W\d_]{1,20}\.?\s){0,3}[#第]?)(?P<number>\d{1,3})(?:-?[^\W\d_]{1,3})?"
    r"(?:[.)、，]|(?:\s[^\W\d_]{1,12}){0,2}(?:\s?[:：]|\s[-–—](?=\s))|-(?=[^\W\d_]|[\"“«(¡¿*]))"
    r"(?P<close>[*_]{0,3})(?:\s+|(?<=[-：、，]))(?=\S)"
)
"""'Brand 1: ', '1st place: ', '第1位：', '1-'."""
_UNIT_NUMBER = re.compile(
    r"^(?P<bold>[*_]{0,3})(?P<label>)(?:#(?P<place>\d{1,2})|(?P<number>\d{1,2})[^\W\d_]{1,3})"
    r"(?P<close>[*_]{0,3})\s+(?=\S)"
)
"""'#1 ', '1位 ', '1st '."""
_SIGN = re.compile(
    r"^(?P<bold>[*_]{0,3})[(（]?(?P<sign>第?[^\W\d]|[^\W\d_]{2,7}?)(?:ly|[名位])?"
    r"(?:[.):：、）]|(?<=\w\w),|\s[-–—](?=\s))(?P<close>[*_]{0,3})(?:\s+|(?<=[：、）]))(?=\S)",
    re.IGNORECASE,
)
"""'b) ', '(ii) ', 'Third: ', '一、'."""
_SYMBOL = re.compile(r"^(?P<bold>[*_]{0,3})(?P<sign>[^\w\s]|[^\W\d])(?P<close>[*_]{0,3})\s*(?=\S)")
"""'②', '🥈'."""


class RankSign(NamedTuple):
    """A sign that may be a rank, and the rest of its line."""

    style: str
    """The sort of sign: ranks of one list share it."""
    number: int
    content: str


def ranks_of(body: str) -> list[RankSign]:
    """Ranks that a line may begin with: 'i)' is the ninth letter or the first Roman number."""
    for pattern in (_LABEL_NUMBER, _UNIT_NUMBER):
        if match := pattern.match(body):
            number = int(match["number"] or match["place"])
            return [RankSign(f"label {match['label'].casefold()}", number, rebalance(match, body))]
    if (match := _SYMBOL.match(body)) and (number := _symbol_value(match["sign"])):
        style = "number" if match["sign"] in _MEDALS else "symbol"
        return [RankSign(style, number, rebalance(match, body).lstrip("、.．,:： "))]
    if match := _SIGN.match(body):
        sign, content = match["sign"].removeprefix("第").casefold(), rebalance(match, body)
        if number := _symbol_value(sign):
            return [RankSign("symbol", number, content)]
        series = ((i, names) for i, names in enumerate(_SERIES) if sign in names)
        return [RankSign(f"series {i}", names.index(sign) + 1, content) for i, names in series]
    return []


def _symbol_value(sign: str) -> int:
    """The number of a medal, a circled number or a Chinese numeral; 0 where it is none of these."""
    if sign in _MEDALS:
        return _MEDALS.index(sign) + 1
    value = unicodedata.numeric(sign, 0) if len(sign) == 1 else 0
    return int(value) if value == int(value) else 0


def rebalance(marker: re.Match[str], body: str) -> str:
    """The line after its marker; emphasis that opened before the marker and goes on is put back."""
    content = body[marker.end() :]
    return content if marker["close"] else marker["bold"] + content


def counting_ranks(candidates: Iterable[tuple[int, RankSign]]) -> dict[int, RankSign]:
    """Of signs by the place of their lines those that count on from line to line, from one or to one."""
    styles: dict[str, list[tuple[int, RankSign]]] = {}
    for place, rank in candidates:
        styles.setdefault(rank.style, []).append((place, rank))
    ranks: dict[int, RankSign] = {}
    for entries in styles.values():
        run = entries[:1]
        for entry in [*entries[1:], (0, RankSign("", -9, ""))]:
            step = entry[1].number - run[-1][1].number
            is_next = step == 1 or step == -1
            if is_next and (len(run) == 1 or step == run[-1][1].number - run[-2][1].number):
                run.append(entry)
                continue
            if len(run) > 1 and 1 in (run[0][1].number, run[-1][1].number):
                ranks = {**dict(run), **ranks}
            run = [entry]
    return ranks
