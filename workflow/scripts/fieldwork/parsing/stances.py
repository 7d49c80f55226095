"""The points of a scale that a reply states, in the words of their labels or by their numbers.

A point counts where it opens a line and ends a sentence, where it is called the answer ('Label: 2)
Disagree'), and where the speaker says it ('I would disagree', 'I'd say 4'). It does not where it is
denied, reported of others, conditional, explained, or one of several in a row. Promises that a label
beside another point's number contradicts itself, and that the number of a line in a list is none.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.parsing.replies import SPACED_LETTER

_NUMBER = (
    rf"(?<!{SPACED_LETTER})(?<![.,/])(?<!\d-)-?\d{{1,2}}(?:\.\d{{1,2}})?"
    rf"(?!{SPACED_LETTER}|%|[.,]\d|/\d|-\w|[个個人名岁歳年次回本家時时])"
)
"""A number that may be a point: no part of a word, a date, a percentage or a larger number."""
_SPEAKER = re.compile(
    r"(?<!while )(?<!although )(?<!though )\b(?:i|i'(?:d|ll|m|ve)|my)\b", re.IGNORECASE
)
_SAYING = re.compile(
    r"\bi(?:'d|'ll)?\s(?:(?:would|will|have\sto)\s)?(?:say|rate|give|choose|pick|select|go\s(?:with|for))"
    r"\b(?:(?!\bnot\b)[^\d.,;!?\n]){0,40}[\s:\"'(]*\Z",
    re.IGNORECASE,
)
"""What stands before a number that the speaker says."""
_NOUN = re.compile(
    r"(?:\b(?:answer|label|response|choice|opinion|position|stance|view|verdict|perspective|rating|option|score|mine)s?"
    r"\b[^\n.!?;,]{0,40}?(?:\b(?:is|be|as)\b|[:=,-])|\b(?:so|therefore|thus|hence),?)\W*\Z",
    re.IGNORECASE,
)
"""What calls a point the answer where nobody is named."""
_NOT = re.compile(
    r"\b(?:not|never|neither|nor|cannot|unable|hardly|without|refuse|difficult|impossible|no)\b"
    r"|n't\b|\bcan\s+\Z",
    re.IGNORECASE,
)
_THIRD_PARTY = re.compile(
    r"\b(?:people|persons?|individuals?|some|others?|many|most|experts?|critics|supporters|proponents|those"
    r"|they|who|you|your|anyone|everyone|someone|what|which|whether|if|when|how|why|between|may|might|could)\b",
    re.IGNORECASE,
)
"""Somebody else, or a question: 'those who agree', 'whether to agree'."""
_CLAUSE = re.compile(r"[,;:.!?—–\n]|\b(?:but|however|therefore|so)\b", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?<!\d)[.!?](?=\s)|[。\n]")
_END = re.compile(
    r"[*_\"'”’)\]]*(?:[点點分점]|です)?\s*(?:\Z|[.,;!。，！\n–—-]|(?:with|because|that|since|as|but|rather|instead)\b)",
    re.IGNORECASE,
)
"""What follows a point that is the whole answer of its sentence; a colon would explain it."""
_CONDITION = re.compile(
    r"[^.!?\n]{0,120}\bif\b|\W{0,3}\s(?:(?:would\s)?(?:indicates?|means?|suggests?|implies)"
    r"|to\s(?:note|remember|consider|recogni[sz]e|understand|acknowledge|emphasi[sz]e|mention|clarify))\b",
    re.IGNORECASE,
)
"""What follows a point that is explained, or would only hold otherwise."""
_COUNT = re.compile(
    rf"[)\]\"'*]*(?:\s*=|\s?\(\s?[^\W\d]"
    rf"|[ \t]+(?!(?:because|as|since|on|or|but|for|is|rather|instead)\b){SPACED_LETTER})"
)
"""What follows a number that counts something or is explained."""
_LINE_MARK = re.compile(r"[)\]]*[.)]-?[ \t]*[^\W_]")
_LIST = re.compile(r"^\W{0,3}\d{1,2}[.)]", re.MULTILINE)
_CLOSING = re.compile(r"(?:[^:\s]\s*\n\s*|:[ \t]*)\Z")
"""What stands before a number that is all of the last line, or of what follows a colon."""
_GAP = re.compile(
    r"(?:(?!\n\s*\n)[\W\d_]|\b(?:or|nor|and|to|maybe|perhaps|possibly|actually)\b)*", re.IGNORECASE
)
"""What stands between two points in a row."""
_EVERYDAY_WORD = re.compile(
    r"some|no|good|fair|poor|bad|excellent|great|all|none|most|few|many|well|same|like|better|worse"
    r"|never|rarely|seldom|sometimes|often|usually|always|important"
)
"""Labels that say nothing in the middle of a sentence: 'I have some thoughts', 'I often hear that'."""
_BEFORE_EVERYDAY = re.compile(
    r"(?:\A|[.!?:\n]|\b(?:say|is|be|it|it's|as|i|i'm))\W*\Z", re.IGNORECASE
)
_AFTER_EVERYDAY = re.compile(r"\W{0,3}(?:\Z|[.!(\n]|,(?!\s*(?:maybe|perhaps|probably|but|or)\b))")
_SOFTENERS = frozenset(("slightly", "somewhat", "partly", "rather", "mostly", "moderately"))
_LONGEST_SENTENCE = 400
"""Characters before a point that are looked at."""


class PointMention(NamedTuple):
    """A point in a reply.

    Attributes:
        letters: of the label, and of the number beside it; two of them contradict each other.
        number: where it stands without a label; it may be no point of the scale.
        start, end: its place.
        is_common: whether its label is an everyday word or no point, and counts as a whole sentence only.
    """

    letters: frozenset[str]
    number: str | None
    start: int
    end: int
    is_common: bool


def stated_points(
    text: str, *, labels: Sequence[str], marks: Sequence[str], n_points: int
) -> list[PointMention]:
    """What a reply states on a scale whose points have these labels, and these numbers or none."""
    text = text.replace("’", "'")
    mentions = list(_mentions(text, labels, marks, n_points))
    rows = [
        _GAP.fullmatch(text, first.end, second.start) is not None
        and (first.letters, first.number) != (second.letters, second.number)
        for first, second in pairwise(mentions)
    ]
    lone = [mention for n, mention in enumerate(mentions) if not any(rows[max(0, n - 1) : n + 1])]
    statements = [
        mention for mention in lone if len(mention.letters) > 1 or _is_statement(text, mention)
    ]
    openings = [mention for mention in lone if _is_opening(text, mention)]
    # lines that begin with several points explain the scale
    if statements and len({m.letters for m in openings} - {m.letters for m in statements}) > 1:
        return statements
    return [*statements, *openings]


def _mentions(
    text: str, labels: Sequence[str], marks: Sequence[str], n_points: int
) -> Iterator[PointMention]:
    """Every point that stands in the text, the longest label where one is part of another.

    A word of degree beside a label makes it none of the scale: 'strong agree', 'agree strongly'.
    """
    places = {
        " ".join(label.replace("’", "'").split()).casefold(): n for n, label in enumerate(labels)
    }
    words = [w for w in sorted(places, key=len, reverse=True) if not w.lstrip("-").isdigit()]
    either = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words) or r"(?!)"
    vocabulary = {word for text in places for word in text.split()}
    degrees = {word.removesuffix("ly") for word in vocabulary if len(word) > 3}
    degrees |= _SOFTENERS if _SOFTENERS & vocabulary else set()
    degree = rf"(?:{'|'.join(map(re.escape, sorted(degrees))) or '(?!)'})(?:ly)?"
    pattern = re.compile(
        rf"(?:(?<![\w.,-])[(\[]?(?P<before>-?\d{{1,2}})[)\].:,=(–—\s-]{{1,4}}[\"'*“]{{0,3}})?(?P<degree>\b{degree}\s+)??(?<!{SPACED_LETTER})(?P<label>{either})"
        rf"(?!{SPACED_LETTER})(?P<degree_behind>\s+{degree}\b)?(?:[\"'*”]{{0,3}}\s?[(:=]\s?(?P<after>-?\d{{1,2}})(?![\w.,/]))?"
        rf"|(?P<number>{_NUMBER})",
        re.IGNORECASE,
    )
    for match in pattern.finditer(text):
        if match["number"]:
            if marks:
                yield PointMention(frozenset(), match["number"], *match.span(), is_common=False)
            continue
        if match["degree"] or match["degree_behind"]:
            continue
        label = " ".join(match["label"].split()).casefold()
        place = places[label]
        numbers = {match[side] for side in ("before", "after") if match[side] in marks}
        letters = {ascii_uppercase[n] for n in (place, *map(marks.index, numbers))}
        is_common = place >= n_points or _EVERYDAY_WORD.fullmatch(label) is not None
        yield PointMention(frozenset(letters), None, *match.span(), is_common)


def _is_statement(text: str, mention: PointMention) -> bool:
    """Whether the speaker states a point, or it is called the answer."""
    preceding = text[max(0, mention.start - _LONGEST_SENTENCE) : mention.start]
    sentence = _SENTENCE_START.split(preceding)[-1]
    speakers = list((_SAYING if mention.number else _SPEAKER).finditer(sentence))
    if not speakers and not _NOUN.search(sentence):
        return False
    stretch = sentence[speakers[-1].start() if speakers and not mention.number else 0 :]
    clause = _CLAUSE.split(sentence)[-1]
    is_barred = _THIRD_PARTY.search(stretch) or _NOT.search(stretch) or _NOT.search(clause)
    return not (is_barred or _CONDITION.match(text, mention.end)) and _is_whole(text, mention)


def _is_opening(text: str, mention: PointMention) -> bool:
    """Whether a point opens a line and ends its sentence, or goes on with a reason."""
    preceding = text[max(0, mention.start - 20) : mention.start].rpartition("\n")[2]
    is_first = len(preceding) < 20 and not re.search(r"[^\W_]", preceding)
    if mention.number and _LINE_MARK.match(text, mention.end):
        return False
    if mention.number and re.search(r"\w", text[: mention.start]):
        is_last = not re.search(r"\w", text[mention.end :]) and not _LIST.search(text)
        is_first = is_last and _CLOSING.search(text[: mention.start]) is not None
    return is_first and _END.match(text, mention.end) is not None and _is_whole(text, mention)


def _is_whole(text: str, mention: PointMention) -> bool:
    """Whether an everyday word, an option beside the scale or a number is all that a sentence says."""
    if mention.number:
        return not _COUNT.match(text, mention.end)
    if not mention.is_common:
        return True
    preceding = text[max(0, mention.start - 20) : mention.start]
    return bool(_BEFORE_EVERYDAY.search(preceding) and _AFTER_EVERYDAY.match(text, mention.end))
