"""Sentences in which a reply states a point of a scale in the words of its label.

A label counts where the speaker says it ('I would disagree', 'my label is'), where it is called the
answer ('Label: 2) Disagree'), and where it opens a line and ends a sentence. It does not where it is
denied, reported of others, conditional, explained, or one of several in a row. Promises that a label
beside another point's number is no stance but a contradiction.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.parsing.replies import SPACED_LETTER

_NUMBER = r"-?\d{1,2}"
_SPEAKER = re.compile(
    r"\b(?:i|i'(?:d|ll|m|ve)|my|ich|je|yo|estoy|io|sono|eu|estou|я)\b|我", re.IGNORECASE
)
_NOUN = re.compile(
    r"(?:\b(?:answer|label|response|choice|opinion|position|stance|view|verdict|perspective|rating|option)s?"
    r"\b[^\n.!?;,]{0,40}?(?:\b(?:is|be|as)\b|[:=,-])|\b(?:so|therefore|thus|hence),?)\W*\Z",
    re.IGNORECASE,
)
"""What calls a label the answer where nobody is named."""
_NOT = re.compile(
    r"\b(?:not|never|neither|nor|cannot|unable|hardly|without|refuse|difficult|impossible"
    r"|nicht|kein\w*|kaum|no|poco|pas|jamais|não|nem|non|не)\b|n't\b|\bcan\s+\Z|[不没沒非无無未]",
    re.IGNORECASE,
)
_THIRD_PARTY = re.compile(
    r"\b(?:people|persons?|individuals?|some|others?|many|most|experts?|critics|supporters|proponents|those"
    r"|they|who|you|your|anyone|everyone|someone|what|which|whether|if|when|how|why|between|may|might|could)\b",
    re.IGNORECASE,
)
"""Somebody else, or a question: 'those who agree', 'whether to agree'."""
_CONCESSION = re.compile(r"\b(?:while|although|though)\s+\Z", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:.!?—–\n]|\b(?:but|however|therefore|so)\b", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?<!\d)[.!?](?=\s)|[。\n]")
_END = re.compile(
    r"[*_\"'”’)\]]*\s*(?:\Z|[.,;!。，！\n–—-]|(?:with|because|that|since|as|but)\b)", re.IGNORECASE
)
"""What follows a label that is the whole answer of its sentence; a colon would explain it."""
_IF = re.compile(r"[^.!?\n]{0,120}\bif\b", re.IGNORECASE)
_EXPLANATION = re.compile(
    r"\W{0,3}\s(?:(?:would\s)?(?:indicates?|means?|suggests?|implies)"
    r"|to\s(?:note|remember|consider|recogni[sz]e|understand|acknowledge|emphasi[sz]e|mention|clarify))\b",
    re.IGNORECASE,
)
_MEANING = re.compile(rf"\W?{_NUMBER}\s*=")
"""A number that is explained by its label: '1 = strongly disagree'."""
_GAP = re.compile(r"(?:(?!\n\s*\n)[\W\d_]|\bor\b|\bnor\b|\band\b|\bto\b)*", re.IGNORECASE)
"""What stands between two labels in a row."""
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
"""Characters before a label that are looked at."""


class Label(NamedTuple):
    """A label in a reply.

    Attributes:
        letters: of the label, and of the number beside it; two of them contradict each other.
        start, end: where it stands, with its number.
        is_common: whether it is an everyday word, or no point: it counts as a whole sentence only.
    """

    letters: frozenset[str]
    start: int
    end: int
    is_common: bool


class Stance(NamedTuple):
    """What a reply says in words.

    Attributes:
        letters: of the points that it states; several contradict each other.
        rest: the reply without its labels and the numbers beside them.
    """

    letters: frozenset[str]
    rest: str


def stance_of(text: str, *, labels: Sequence[str], marks: Sequence[str], n_points: int) -> Stance:
    """What a reply states in the words of a scale whose points have these labels, and marks or none."""
    text = text.replace("’", "'")
    mentions = list(_mentions(text, labels, marks, n_points))
    rows = [
        _GAP.fullmatch(text, first.end, second.start) is not None
        and first.letters != second.letters
        for first, second in pairwise(mentions)
    ]
    lone = [
        label
        for n, label in enumerate(mentions)
        if not any(rows[max(0, n - 1) : n + 1]) and not _MEANING.match(text, label.start)
    ]
    statements = {
        label.letters for label in lone if len(label.letters) > 1 or _is_statement(text, label)
    }
    openings = {label.letters for label in lone if _is_opening(text, label)}
    # lines that begin with several labels explain the scale
    if not statements or len(openings - statements) < 2:
        statements |= openings
    starts, ends = [0, *(label.end for label in mentions)], [label.start for label in mentions]
    rest = " ".join(text[start:end] for start, end in zip(starts, [*ends, None], strict=True))
    return Stance(frozenset().union(*statements), rest)


def _mentions(
    text: str, labels: Sequence[str], marks: Sequence[str], n_points: int
) -> Iterator[Label]:
    """Every label that stands in the text, the longest where one is part of another."""
    texts = {
        " ".join(label.replace("’", "'").split()).casefold(): n for n, label in enumerate(labels)
    }
    words = [
        text for text in sorted(texts, key=len, reverse=True) if not text.lstrip("-").isdigit()
    ]
    if not words:
        return
    either = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words)
    pattern = re.compile(
        rf"(?:(?<![\w.,-])[(\[]?(?P<before>{_NUMBER})[)\].:,=(–—\s-]{{1,4}}[\"'*“]{{0,3}})?(?<!{SPACED_LETTER})(?P<label>{either})"
        rf"(?!{SPACED_LETTER})(?:[\"'*”]{{0,3}}\s?[(:=]\s?(?P<after>{_NUMBER})(?![\w.,/]))?",
        re.IGNORECASE,
    )
    vocabulary = {word for text in texts for word in text.split()}
    for match in pattern.finditer(text):
        label = " ".join(match["label"].split()).casefold()
        place, end = _with_neighbours(text, match.span("label"), texts, vocabulary)
        if place is None:
            continue
        numbers = {match[side] for side in ("before", "after") if match[side] in marks}
        letters = {ascii_uppercase[n] for n in (place, *map(marks.index, numbers))}
        is_common = place >= n_points or _EVERYDAY_WORD.fullmatch(label) is not None
        yield Label(frozenset(letters), match.start(), max(end, match.end()), is_common)


def _with_neighbours(
    text: str, span: tuple[int, int], places: dict[str, int], vocabulary: set[str]
) -> tuple[int | None, int]:
    """The place and the end of a label with the words beside it: 'agree strongly' is 'strongly agree'.

    There is no place where a word of degree makes it no label of the scale: 'strong agree'.
    """
    label = " ".join(text[span[0] : span[1]].split()).casefold()
    predecessor = re.search(r"([a-z']+)\s+\Z", text[max(0, span[0] - 24) : span[0]], re.IGNORECASE)
    successor = re.match(r"\s+([a-z']+)", text[span[1] : span[1] + 24], re.IGNORECASE)
    for match in (predecessor, successor):
        word = match[1].casefold() if match else ""
        degrees = vocabulary - set(label.split())
        is_degree = len(word) > 3 and any(degree.startswith(word) for degree in degrees)
        if not is_degree and not (word in _SOFTENERS and _SOFTENERS & vocabulary):
            continue
        words = {*label.split(), word}
        place = next((n for name, n in places.items() if set(name.split()) == words), None)
        return place, span[1] + (match.end() if match and match is successor else 0)
    return places[label], span[1]


def _sentence_before(text: str, place: int) -> str:
    """What stands before a place in its sentence."""
    preceding = text[max(0, place - _LONGEST_SENTENCE) : place]
    starts = [match.end() for match in _SENTENCE_START.finditer(preceding)]
    return preceding[starts[-1] if starts else 0 :]


def _is_statement(text: str, label: Label) -> bool:
    """Whether the speaker states a label, or it is called the answer."""
    sentence = _sentence_before(text, label.start)
    speakers = list(_SPEAKER.finditer(sentence))
    if not speakers and not _NOUN.search(sentence):
        return False
    start = speakers[-1].start() if speakers else 0
    stretch = sentence[start:]
    clause = _CLAUSE.split(sentence)[-1]
    is_somebodys = _THIRD_PARTY.search(stretch) or _CONCESSION.search(sentence[:start])
    is_denied = _NOT.search(stretch) or _NOT.search(clause)
    is_open = _IF.match(text, label.end) or _EXPLANATION.match(text, label.end)
    return not (is_somebodys or is_denied or is_open) and _is_whole(text, label)


def _is_opening(text: str, label: Label) -> bool:
    """Whether a label opens a line and ends its sentence, or goes on with a reason."""
    preceding = text[max(0, label.start - 20) : label.start].rpartition("\n")[2]
    is_first = len(preceding) < 20 and not re.search(r"[^\W_]", preceding)
    return is_first and _END.match(text, label.end) is not None and _is_whole(text, label)


def _is_whole(text: str, label: Label) -> bool:
    """Whether an everyday word or an option beside the scale is all that a sentence says."""
    if not label.is_common:
        return True
    preceding = text[max(0, label.start - 20) : label.start]
    return bool(_BEFORE_EVERYDAY.search(preceding) and _AFTER_EVERYDAY.match(text, label.end))
