"""Names of persons that a text gives as such: said, greeted, thanked or signed.

Owns the turns of phrase with which a name is given. Promises to leave alone what is named without one
of them, and how a list entry begins: brands, films and authors are what was asked for, and most look
like persons. A name once given is found again elsewhere in the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_CAPITAL_WORD = r"(?!(?:I|We|You|It|That|There|Here|Let|What)['’])[^\W\d_a-z][\w’'-]{0,29}\w"
_NAME = rf"(?P<name>{_CAPITAL_WORD}(?:[ \t]{{1,3}}(?:[A-Z]\.[ \t]{{1,3}})?{_CAPITAL_WORD}){{0,2}})"
_ANY_CASE = (
    rf"(?P<name>{_CAPITAL_WORD}(?:[ \t]{{1,3}}{_CAPITAL_WORD}){{0,2}}|[^\W\d_][\w’'-]{{1,30}})"
)
_GAP = r"[ \t]{1,3}(?:(?:Dr|Mr|Mrs|Ms|Miss|Mx|Prof|Professor)\.?[ \t])?"
_LINE_END = r"[ \t]{0,9}(?:\n|\Z)"
_START = r"(?:^|(?<=[.!?:]))[ \t>*_\"“]{0,4}"
"""Where a sentence begins, but not behind the marker of a list entry."""
_END_OF_ADDRESS = (
    r"(?=[ \t]?(?:[!?:—–]|[.](?!\w)|,(?![ \t]+(?!I\b)[^\W\d_a-z])|[ \t]-[ \t]"
    rf"|[*_]{{0,3}}{_LINE_END}))"
)
"""After a name that is addressed. A comma before another capital would be an enumeration."""
_END_OF_INTRODUCTION = (
    r"(?=[ \t]?(?:[,!(]|[.](?!\w)|—|–)|[ \t](?:and|from|here|speaking|-)\b|[ \t]-[ \t]"
    rf"|{_LINE_END})"
)
_END_OF_SIGNATURE = rf"(?=[,.!]?{_LINE_END})"

_GREETING = (
    r"(?:[Hh]i|[Hh]iya|[Hh]ello|[Hh]ey|[Dd]ear|[Gg]reetings"
    r"|[Gg]ood (?:[Mm]orning|[Aa]fternoon|[Ee]vening)|HI|HELLO|HEY|DEAR)"
)
_COURTESY = (
    r"(?:[Ss]ure(?: thing)?|[Oo]f course|[Cc]ertainly|[Aa]bsolutely|[Dd]efinitely|[Gg]ladly|[Pp]erfect"
    r"|[Gg]reat(?: (?:question|choice|idea))?|[Gg]ood (?:question|luck)|[Gg]ot it|[Aa]l(?:right|l right)"
    r"|O[Kk]|[Oo]kay|[Yy]es|[Aa]wesome|[Nn]o problem|[Ww]elcome(?: back)?|[Yy]ou['’]re welcome"
    r"|[Tt]hanks(?: again| so much| a lot)?|[Tt]hank you(?: again| so much| very much)?|[Cc]heers"
    r"|[Hh]appy to help|[Nn]ice to meet you|[Gg]ood to (?:see|hear from) you|[Cc]ongratulations)"
)
_PARTING = (
    r"(?:for you|helps|luck|enjoy(?: it| them| these)?|[Hh]appy \w{3,12}ing|have fun|let me know"
    r"|day|weekend|journey)"
)
_REGARDS = (
    r"(?:[Ss]igned(?: by)?|[Ss]incerely|[Yy]ours(?: truly| sincerely| faithfully)?|[Rr]egards"
    r"|(?:[Bb]est|[Kk]ind|[Ww]arm) (?:[Rr]egards|[Ww]ishes))"
)
_THANKS = r"(?:[Tt]hank you|[Tt]hanks|[Cc]heers|[Ll]ove|[Bb]est|[Tt]ake care)"
_OWNER = r"\b(?:[Mm]y|MY|[Yy]our|[Uu]ser['’]s|[Cc]ustomer['’]s|[Pp]articipant['’]s)"
_KIND_OF_NAME = r"(?: (?:full|first|last|real|given|family))?"

_PHRASES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"{_OWNER}{_KIND_OF_NAME} (?:[Nn]ame|NAME)(?: is| IS|['’]s| ?:){_GAP}{_ANY_CASE}",
        rf"^[ \t]{{0,4}}(?:[Ff]ull|[Ff]irst|[Ll]ast) name ?:{_GAP}{_ANY_CASE}",
        rf"\b(?:[Yy]ou (?:can|may)|[Pp]lease|[Jj]ust|friends|people|everyone) calls? me{_GAP}{_NAME}",
        rf"\bI go by{_GAP}{_NAME}",
        rf"\b(?:I['’]m|I am|[Ii]t['’]s me,){_GAP}{_NAME}{_END_OF_INTRODUCTION}",
        rf"\b[Tt]his is{_GAP}{_NAME}(?= (?:speaking|here|from)\b)",
        rf"{_START}{_GREETING},?{_GAP}(?:again,? )?{_NAME}{_END_OF_ADDRESS}",
        rf"{_START}{_COURTESY},{_GAP}{_NAME}{_END_OF_ADDRESS}",
        rf"\b{_PARTING},{_GAP}{_NAME}(?=[ \t]?(?:[!:]|[.]?{_LINE_END}))",
        rf"^[ \t]{{0,4}}{_REGARDS}[ \t]?[,:]?[ \t]?\n{{1,2}}[ \t–—-]{{0,4}}{_NAME}{_END_OF_SIGNATURE}",
        rf"^[ \t]{{0,4}}{_THANKS}[ \t]?[,!][ \t]?\n{{1,2}}[ \t–—-]{{0,4}}{_NAME}{_END_OF_SIGNATURE}",
        rf"{_START}{_REGARDS}[ \t]?[,:]?{_GAP}{_NAME}{_END_OF_SIGNATURE}",
    )
)
_LIST_MARKER = re.compile(r"[ \t>]*(?:[-*•–+]|#{1,6}|\W{0,3}\d{1,3}[.):])[ \t]+[*_\"“'‘\[]{0,4}")
_LIST_HEAD = re.compile(
    r"^[ \t>]*(?:[-*•–+]|#{1,6}|\W{0,3}\d{1,3}[.):])[ \t]+(?P<head>[^\n]*?)(?=:|[ \t][-–—][ \t]|$)",
    re.MULTILINE,
)

_NOT_NAMES = frozenset(
    re.findall(
        r"\S+",
        """
    dr prof again all and any anyone anything below best both but diary done each every everybody everyone
    everything five folks four friend friends from fun glad good great guys happy here hiring how human
    if just ladies let look madam ma'am manager many maybe mom more mr mrs ms much my name no none not
    nothing now of oh on once one only or our partner please professor reader ready right sir six so
    some someone something sorry still student sure team ten thanks that the their then there these
    they this those three to today together too two user very we well what when where which who why
    wishes wonderful world yes you your also based looking trying unable using excited interested
    chairman hon'ble investor journal afraid currently going aware able free kitty
    american african asian black white hispanic latino latina latinx mexican indian chinese japanese
    korean european british english french german italian spanish irish canadian australian native
    christian muslim jewish catholic hindu buddhist republican democrat lgbtq gay male female
    """,
    )
)
"""What follows the same turns of phrase and is nobody's name."""
_NOT_PERSONS = frozenset(
    {"chatgpt", "gpt", "gpt-3", "gpt-4", "gpt-4o", "gpt-5", "openai", "gemini", "bard", "google"}
    | {"copilot", "bing", "grok", "llama", "deepseek", "mistral", "qwen", "perplexity", "meta"}
    | {"assistant", "ai", "academy", "committee", "company", "department", "executives", "members"}
    | {"service", "support", "team"}
)
"""Assistants and offices: a name with one of these words is nobody's."""
_NAMESAKES = frozenset({"claude", "alexa", "siri", "pi"})
"""Assistants that are called as people are."""
_OF_A_MODEL = re.compile(
    r"\b(?:AI|A\.I\.|assistant|language model|chatbot|Anthropic|Amazon|Apple)\b"
)
_NEAR_CHARACTERS = 100
"""Characters after a name in which an assistant says what it is."""


class Span(NamedTuple):
    """A stretch of text: `text[start:end]`."""

    start: int
    end: int


def given_names(text: str) -> list[Span]:
    """Where names stand that the text gives as such, in order, none overlapping another."""
    introduced_names = list(_introduced_names(text))
    if not introduced_names:
        return []
    repeated_names = _repeated_names(
        text, {text[span.start : span.end] for span in introduced_names}
    )
    return _without_overlaps([*introduced_names, *repeated_names])


def _introduced_names(text: str) -> Iterator[Span]:
    for pattern in _PHRASES:
        for match in pattern.finditer(text):
            if _begins_entry(text, match):
                continue
            span = Span(*match.span("name"))
            if _is_name(text, span):
                yield span


def _begins_entry(text: str, match: re.Match[str]) -> bool:
    """Whether a list marker, and nothing else but markup, stands before the turn in its line."""
    phrase = match.group()
    begin = match.start() + len(phrase) - len(phrase.lstrip(' \t\n>*_"“'))
    line_start = text.rfind("\n", 0, begin) + 1
    return _LIST_MARKER.fullmatch(text, line_start, begin) is not None


def _is_name(text: str, span: Span) -> bool:
    words = text[span.start : span.end].split()
    first = words[0].lower().replace("’", "'").removesuffix("'s")
    if first in _NOT_NAMES or not _NOT_PERSONS.isdisjoint(word.lower() for word in words):
        return False
    if any(not word[0].isupper() for word in words[1:]):
        return False
    return first not in _NAMESAKES or not _OF_A_MODEL.search(
        text[span.end : span.end + _NEAR_CHARACTERS]
    )


def _repeated_names(text: str, names: Iterable[str]) -> Iterator[Span]:
    """The same names, or one word of them, wherever else they stand but as part of a list entry."""
    words = {word.strip("'’-.") for name in names for word in name.split()}
    parts = sorted({*names, *(word for word in words if len(word) > 2)}, key=lambda p: (-len(p), p))
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, parts))})(?![\w-])")
    heads = [Span(*match.span("head")) for match in _LIST_HEAD.finditer(text)]
    starts = [head.start for head in heads]
    for match in pattern.finditer(text):
        index = bisect_right(starts, match.start()) - 1
        head = heads[index] if index >= 0 and match.start() < heads[index].end else None
        if head is None or text[head.start : head.end].strip(" *_\"'.") == match.group():
            yield Span(*match.span())


def _without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, the longer one of those that overlap."""
    separate_spans: list[Span] = []
    for span in sorted(set(spans), key=lambda s: (s.start, -s.end)):
        if not separate_spans or span.start >= separate_spans[-1].end:
            separate_spans.append(span)
    return separate_spans
