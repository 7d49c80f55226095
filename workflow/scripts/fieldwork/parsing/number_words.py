"""English number words of a reply as digits, and what has no number taken out.

The words are text2num's. Promises that a word for a magnitude without a number ('millions', 'deux
millions') and a fraction ('two thirds') are no number.
"""

import re

SMALL_NUMBERS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
"""English words from 0, each at its place."""
_HALVES = {word: number for number, word in enumerate((*SMALL_NUMBERS, "eleven", "twelve"))}
_NUMBER_WORDS = (
    rf"{'|'.join(_HALVES)}|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million|billion|trillion"
)
_MAGNITUDE = r"(?:hundred|thousand|million|billion|trillion)s?"
_HALF_A_DOZEN = re.compile(
    r"\b(half\s+)?a\s+dozen\b(?!\s+of\s+(?:hundred|thousand))", re.IGNORECASE
)
_AN_HOUR = re.compile(
    r"\A\W*(?:(?:about|around|maybe|roughly|approximately|probably|just)\s+)?(?P<half>half\s+)?(?P<one>an?)"
    r"\s+(?=(?:hour|minute|day|week|month|year)\b(?:\W*\Z|\s*[.,;!(\n]|\s+(?:or|an?|per|each|every|and\s+a\s+half)\b))",
    re.IGNORECASE,
)
"""A reply that begins with 'an hour' means one; in '10 hours a week' the week is no quantity."""
_HALF_BEHIND = re.compile(r"\b1 (hour|day|week|month|year)\s+and\s+a\s+half\b", re.IGNORECASE)
_HALF_A = re.compile(r"\bhalf\s+an?\s+(thousand|million|billion|trillion)\b", re.IGNORECASE)
_AND_A_HALF = re.compile(
    rf"\b(?P<number>{'|'.join(_HALVES)}|\d+)\s+and\s+(?:a|one)\s+half\b", re.IGNORECASE
)
_FRACTION = re.compile(
    rf"\b(?:(?:an?|{_NUMBER_WORDS})[\s-]+"
    r"(?:half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?)\b"
    rf"(?:\s+of\s+an?\s+{_MAGNITUDE}\b)?|(?:tens|dozens)\s+of\s+{_MAGNITUDE}\b)",
    re.IGNORECASE,
)
_BARE_MAGNITUDE = re.compile(
    rf"\d[\s-]?{_MAGNITUDE}(?:[\s-]{_MAGNITUDE})*\b"
    rf"|(?<![\w.,])(?P<word>[^\W\d_]+[\s-]+)?(?P<magnitude>{_MAGNITUDE}(?:[\s-]+{_MAGNITUDE})*)\b",
    re.IGNORECASE,
)
"""The word before a magnitude, or before several: 'three hundred thousand'."""
_OF_A_NUMBER = re.compile(rf"(?:an?|{_NUMBER_WORDS})[\s-]+", re.IGNORECASE)
_NO_NUMBER = "…"
"""Stands where a word said something of a number, but no number."""
_PRONOUN = re.compile(
    r"\b(?:this|that|the|no|any|each|every|another|which)\s+one\b"
    r"|\bone\s+(?:of|thing|reason|way|can|could|might|would|should|must|has|is)\b",
    re.IGNORECASE,
)
_SMALL_IN_RANGE = re.compile(
    rf"\b(zero|one|two)(?=\s*(?:to|or|-|–)\s*(?:\d|(?:{_NUMBER_WORDS})\b))", re.IGNORECASE
)
_MAGNITUDE_AFTER_DIGITS = re.compile(
    rf"((?<=\d)\s?{_MAGNITUDE}(?:\s{_MAGNITUDE})*\b)", re.IGNORECASE
)
_DECIMAL_AND_MAGNITUDE = re.compile(r"(\d\.\d+) (1(?:000)+)\b")
_MINUS = re.compile(
    r"(?<![\d)%])(?<!\d\s)(?:\b(?:minus|negative|минус)\s+|(?:零下|マイナス|负|負|영하)\s?"
    r"|(?<!\w)(?<!\bau )(?<!\bal )(?<!\blo )(?<!\bou )(?<!\bo )(?<!\bdi )(?<!\bde )(?<!plus )(?<!non )"
    r"(?:moins|menos|meno)\s+)(?=[$€£]?\.?\d)",
    re.IGNORECASE,
)
"""Words for minus; 'au moins 20' and 'al menos 20' are at least 20."""
_SHORT = 8
"""Words up to which 'one' and 'two' of a reply are numbers, as 'two children' is."""
_SMALL = 3
"""From which a number word is one in any text: text2num's own threshold."""


def with_numerals(reply: str) -> str:
    """The reply with English number words as digits: 'twenty-three' is 23."""
    reply = _HALF_A_DOZEN.sub(lambda match: "6" if match[1] else "12", reply)
    reply = _HALF_BEHIND.sub(r"1.5 \1", _AN_HOUR.sub(_with_one, reply))
    reply = _HALF_A.sub(r"0.5 \1", reply)
    reply = _AND_A_HALF.sub(_with_half, reply)
    reply = _FRACTION.sub(_NO_NUMBER, reply)
    reply = _BARE_MAGNITUDE.sub(_with_number_only, reply)
    reply = _SMALL_IN_RANGE.sub(lambda match: str(_HALVES[match[1].lower()]), reply)
    threshold = 0 if len(reply.split()) <= _SHORT and not _PRONOUN.search(reply) else _SMALL
    # a magnitude after digits stays: the library would make a number of its own of it
    parts = _MAGNITUDE_AFTER_DIGITS.split(reply)
    parts[::2] = [_in_digits(part, threshold) for part in parts[::2]]
    return _MINUS.sub("-", "".join(parts))


def _with_one(match: re.Match[str]) -> str:
    return "0.5 " if match["half"] else "1 "


def _with_half(match: re.Match[str]) -> str:
    number = match["number"].lower()
    return f"{_HALVES.get(number, number)}.5"


def _with_number_only(match: re.Match[str]) -> str:
    """A magnitude where a number stands before it; else a mark in its place."""
    if not match["magnitude"]:
        return match.group()
    word = match["word"] or ""
    return match.group() if _OF_A_NUMBER.fullmatch(word) else f"{word}{_NO_NUMBER}"


def _in_digits(part: str, threshold: int) -> str:
    """A part of a reply, line by line, with its number words as digits."""
    if not re.search(r"[^\W\d_]{3}", part):
        return part
    from text_to_num import alpha2digit

    lines = [
        alpha2digit(line, "en", threshold) if line.strip() else line for line in part.split("\n")
    ]
    # 'three point five million' comes as '3.5 1000000'
    return _DECIMAL_AND_MAGNITUDE.sub(
        lambda match: f"{float(match[1]) * float(match[2]):.15g}", "\n".join(lines)
    )
