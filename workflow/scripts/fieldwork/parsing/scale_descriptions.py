"""What a reply says of a scale itself, and the fractions in which it states a point.

A reply may repeat the scale ('1 = strongly disagree, …, 5 = strongly agree', 'from 1 to 5'), count
questions ('question 3'), and give its point as a fraction ('4/5'). Promises that a fraction of another
number ('4 out of 10') is no point.
"""

import re
from typing import NamedTuple

from fieldwork.parsing.number_scales import NumberScale
from fieldwork.parsing.number_words import SMALL_NUMBERS
from fieldwork.parsing.replies import SPACED_LETTER

_LONE_WORDS = {
    word: number
    for words in (
        " ".join(SMALL_NUMBERS),
        # Dutch 'nul' in place of German 'null', which is also what a program writes for nothing
        "nul eins zwei drei vier fünf sechs sieben acht neun zehn",
        "zéro un deux trois quatre cinq six sept huit neuf dix",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez",
        "zero um dois três quatro cinco seis sete oito nove dez",
        "zero uno due tre quattro cinque sei sette otto nove dieci",
        "ноль один два три четыре пять шесть семь восемь девять десять",
        "صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
        "零 一 二 三 四 五 六 七 八 九 十",
    )
    for number, word in enumerate(words.split())
}
_LONE_WORD = re.compile(rf"\W*({'|'.join(_LONE_WORDS)})\W*", re.IGNORECASE)
_LAST_WORD = re.compile(
    rf"(\b(?:is|say|an?)\s+|:\s*)({'|'.join(SMALL_NUMBERS)})(?=\W*\Z)", re.IGNORECASE
)
_WORD_OF = re.compile(
    rf"\b({'|'.join(SMALL_NUMBERS)})\s+out\s+of\s+(?P<top>{'|'.join(SMALL_NUMBERS)}|\d+)",
    re.IGNORECASE,
)
_POINT_WORD = r"(?:points?|stars?|балл\w*|puntos?|pontos?|punti|punkten?|点|分)"
_OF = r"(?:/|out\s+of(?:\s+an?\s+possible)?|of|von|sur|de|su|sobre|из|من|van|av|中)"
_FRACTION = re.compile(
    rf"(?<!{SPACED_LETTER})(?<![.,/])(?P<number>-?\d{{1,2}}(?:\.\d{{1,2}})?)(?:\s*{_POINT_WORD})?\s*{_OF}\s*"
    rf"(?P<top>\d{{1,3}})(?!{SPACED_LETTER}|/|[.,]\d)",
    re.IGNORECASE,
)
_TO = r"(?:-|–|—|~|～|to|through|and|bis|à|al?|até|tot|до|إلى|到|至|から|und|y|et|e|и)"
_DESCRIPTION = re.compile(
    rf"\b(?:scale|range|ranging|points?)\b[^.\n\d]{{0,25}}-?\d{{1,2}}\s*{_TO}\s*-?\d{{1,2}}"
    r"|(?:\(|\bwhere\s+|\bwith\s+)-?\d{1,2}\s*(?:=|being|is|means|meaning|indicates|for)\s[^).;\n]{1,120}"
    r"|\b\d{1,2}[\s-]point\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\b(?:good|great|excellent|fair|interesting)\s+(?:question|point|morning|afternoon|evening|enough|idea|luck)\b",
    re.IGNORECASE,
)
_QUESTION_NUMBER = re.compile(
    r"(?<!this\s)(?<!that\s)(?<!the\s)"
    r"\b(?:question|item|statement|step|reason|part|q|frage|pregunta|aussage)\s*#?\d{1,3}\b"
    r"(?!\s*(?:stars?|points?|out\b|/))",
    re.IGNORECASE,
)
_MINUS = re.compile(r"(?:\b(?:minus|negative)\s+|(?<!\d)(?<!\d\s)[–—-]\s?)(?=\d)", re.IGNORECASE)
_AND_A_HALF = re.compile(r"(?<=\d)\s+and\s+a\s+half\b", re.IGNORECASE)
_LEGEND = re.compile(
    r"(?<![\w.,/-])(?:-?\d{1,2}\s*[=:]\s*[^\d,;.:\n]{2,40}[,;\n]\s*){2,}-?\d{1,2}\s*[=:]\s*[^\d,;.:\n]{2,40}"
)
"""Three numbers or more, each with its meaning."""
_MEANS = r"\s*(?:=|\(|is\b|means\b|being\b)\s*"
_JOIN = r"\s*(?:=|:|-|–|—|\(|\.|\)|means|is|being|for|indicates)\s*"
"""What stands between a number and its label."""


class Description(NamedTuple):
    """A reply without its description of the scale.

    Attributes:
        text: what is left of it.
        has_legend: whether it repeated several points with their labels.
        has_other_top: whether it held a fraction of a number that is not the scale's highest.
    """

    text: str
    has_legend: bool
    has_other_top: bool


def without_description(reply: str, scale: NumberScale) -> Description:
    """The reply without what it says of the scale; `4/5`, `4 out of 5` and a lone `four` are 4."""
    if word := _LONE_WORD.fullmatch(reply):
        return Description(str(_LONE_WORDS[word[1].lower()]), False, False)
    if any(mark.startswith("-") for mark in scale.marks):
        reply = _MINUS.sub("-", reply)
    reply = _QUESTION_NUMBER.sub(
        " ", _COURTESY.sub(" ", _AND_A_HALF.sub(".5", _without_words(reply)))
    )
    reply, has_legend = _without_legend(reply, scale)
    low, top = map(re.escape, scale.ends)
    reply = re.sub(
        rf"(?<!{SPACED_LETTER})(?<![.,/-])(?:between\s+)?{low}\s*{_TO}\s*{top}(?!{SPACED_LETTER}|[.,]\d)",
        " ",
        _DESCRIPTION.sub(" ", reply),
        flags=re.IGNORECASE,
    )
    tops = {scale.ends[1], scale.marks[-1]}
    has_other_top = any(match["top"] not in tops for match in _FRACTION.finditer(reply))
    text = _FRACTION.sub(lambda match: match["number"] if match["top"] in tops else " ", reply)
    text = re.sub(rf"\bout\s+of\s+{top}\b", " ", text, flags=re.IGNORECASE)
    return Description(text, has_legend, has_other_top)


def _without_legend(reply: str, scale: NumberScale) -> tuple[str, bool]:
    """The reply without the first mention of each point beside its label, where it has several."""
    if legend := _LEGEND.search(reply) or _ends_legend(reply, scale):
        return f"{reply[: legend.start()]} {reply[legend.end() :]}", True
    spans = []
    for mark, label in zip(scale.marks, scale.labels, strict=True):
        number, text = re.escape(mark), r"\s+".join(map(re.escape, label.split()))
        match = re.search(
            rf"(?<![\w.,/-]){number}{_JOIN}\W{{0,4}}{text}(?!\w)\)?"
            rf"|(?<!\w){text}{_JOIN}{number}(?!\w)\)?",
            reply,
            re.IGNORECASE,
        )
        if match and label.split():
            spans.append(match.span())
    if len(spans) < 2:
        return reply, False
    for start, end in sorted(spans, reverse=True):
        reply = f"{reply[:start]} {reply[end:]}"
    return reply, True


def _ends_legend(reply: str, scale: NumberScale) -> re.Match[str] | None:
    """Both ends with a meaning of the reply's own: '0 = no trust, 10 = complete trust'."""
    low, top = map(re.escape, scale.ends)
    return re.search(
        rf"(?<![\w.,/-]){low}{_MEANS}[^\d\n]{{2,40}}?\W{{0,5}}(?:to|and|bis)?\s*{top}{_MEANS}[^\d,;.:)\n]{{2,40}}\)?",
        reply,
        re.IGNORECASE,
    )


def _without_words(reply: str) -> str:
    """The reply with `four out of five`, and `is four` at its end, in digits."""

    def in_digits(match: re.Match[str]) -> str:
        top = match["top"].lower()
        top = str(SMALL_NUMBERS.index(top)) if top in SMALL_NUMBERS else top
        return f"{SMALL_NUMBERS.index(match[1].lower())}/{top}"

    reply = _WORD_OF.sub(in_digits, reply)
    return _LAST_WORD.sub(lambda match: f"{match[1]}{SMALL_NUMBERS.index(match[2].lower())}", reply)
