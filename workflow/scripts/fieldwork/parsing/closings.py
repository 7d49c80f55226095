"""Letters that a reply gives without a sentence about the answer: by line, at its close, or as its only one.

Each function reads one way and gives None where the reply does not use it, a Reading without letter where
two letters have equal claim.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from fieldwork.parsing.choice_texts import fits
from fieldwork.parsing.denials import is_denied, is_in_series
from fieldwork.parsing.letters import Claim, claims, is_variable, letter_pattern
from fieldwork.parsing.statements import OPTION, Reading, statement

_SHORT_REPLY = 300
_LABEL_WORDS = 3
_CLOSE = 700
"""Characters at the end of a reply in which a conclusion is looked for."""

_NEXT_QUESTION = re.compile(
    r"\n\s{0,8}(?:#{1,4}\s*)?(?:Question|Q)\s?\d{0,3}\s?[:.]"
    r"|\b(?:combin|summari[sz])(?:e|ing)\s+(?:all\s+)?(?:of\s+)?(?:the|these|our|my)\s+answers\b"
    r"|总结.{0,12}?答案",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|in\s+conclusion|finally|overall|accordingly|which\s+is"
    r"|corresponds?\s+to|matches|match|leads?\s+(?:me\s+|us\s+)?to|leaves|leaving|conclude|this\s+is|it\s+is|it['’]s|is|must\s+be"
    r"|(?:should|would|has\s+to|could)\s+be|supports?|favou?rs?|points?\s+to|remains?|except|answer)\b",
    re.IGNORECASE,
)
_FIRM_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|hence|consequently|in\s+conclusion|finally|overall|accordingly|closest|most\s+likely"
    r"|most\s+(?:appropriate|accurate|consistent|plausible|conservative)|strongest|weakest|only\s+option|we\s+(?:choose|conclude))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\\(])|\n\s*\n")
_FORMULA = re.compile(r"[=|≈]|\\(?:frac|times|cdot|sum|int)\b")
_SECOND_ROMAN = re.compile(r"[*_(\s]{0,3}II[.):]", re.IGNORECASE)


def own_part(text: str, letters: str) -> str:
    """The reply up to where it turns to other questions, if it has stated a letter before that.

    Base models go on with a next question of their own, and models that were shown examples sum up
    the answers to all of them.
    """
    cut = _NEXT_QUESTION.search(text)
    if cut is None or not text[: cut.start()].strip():
        return text
    head = text[: cut.start()]
    ways = (statement, lone_letter, marked_line)
    return head if any(way(head, letters) for way in ways) else text


def lone_letter(text: str, letters: str) -> Reading | None:
    """A line that is a letter and nothing else: the last line before the first."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    pattern = _lone_pattern(letters)
    last, first = pattern.fullmatch(lines[-1]), pattern.fullmatch(lines[0])
    if last and len(lines) > 1 and _marked_pattern(letters).match(lines[-2]):
        last = None
    match = last or first
    return Reading(match.group("letter").upper()) if match else None


def marked_line(text: str, letters: str, choices: Sequence[str] = ()) -> Reading | None:
    """A first or last line that begins with a lettered option, 'B. text' or '(B) text'.

    Lines that go through the options, or the parts of a question, one after the other claim nothing, nor
    does a line whose text is neither the option's nor a sentence of its own: a formula or a table row.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    marks = _marks(lines, letters)
    if not marks or _goes_through(marks) or _names_next(lines[marks[0].start], marks[0]):
        return None
    kept = [mark for mark in marks if _is_chosen(lines[mark.start], mark, letters, choices)]
    first = next((mark for mark in kept if mark.start == 0), None)
    last = next((mark for mark in kept if mark.start == len(lines) - 1), None)
    if len({mark.letter for mark in kept}) == 1 and (first or last or len(lines) <= 4):
        return Reading(kept[0].letter)
    if first and last and first.letter != last.letter:
        return Reading(None)
    chosen = first or last
    return Reading(chosen.letter) if chosen else None


def _is_chosen(line: str, mark: Claim, letters: str, choices: Sequence[str]) -> bool:
    """Whether the text after the letter is the option's, or at least no formula and no part '(a)'."""
    rest = line[mark.end :].lstrip(" )].:*_`-–—")
    claim = mark._replace(start=0)
    if is_denied(line, claim) or is_in_series(line, claim):
        return False
    place = letters.index(mark.letter)
    if place < len(choices) and fits(rest, choices[place]):
        return True
    written = line[mark.end - 1]
    # 'A: …' begins an answer to 'Q: …'
    label = (
        written == "A" and line[mark.end : mark.end + 1] == ":" and len(rest.split()) > _LABEL_WORDS
    )
    return written.isupper() and not label and _FORMULA.search(rest) is None


def several_letters(text: str, letters: str) -> Reading | None:
    """A Reading without letter where a short reply is nothing but joined letters: 'A or B', '(ACG)', 'A, C'."""
    short = len(text) < _SHORT_REPLY and _several_pattern(letters).fullmatch(text)
    return Reading(None) if short else None


def rivals(text: str, letters: str) -> Reading | None:
    """A Reading without letter where lines go through different options, or several 'are correct'."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    several = len({mark.letter for mark in _marks(lines, letters)}) > 1
    return Reading(None) if several or _plural_pattern(letters).search(text) else None


def aside(text: str, letters: str) -> Reading | None:
    """'Probably C.', 'So, C', 'C because …': in a short reply, or in the last line of a long one."""
    last = text.rstrip().rsplit("\n", 1)[-1] if len(text) > _SHORT_REPLY else text
    pattern = re.compile(
        rf"(?:(?i:\b(?:say|think|guess|believe|meant?|probably|likely|maybe|perhaps|therefore|thus"
        rf"|hence|so|it['’]s|reconsider\.|no,))[,:]?\s+|[.]\s+)(?P<l>[{letters}])(?=[\s.!*_)]*$)"
        rf"|^\W*(?P<m>[{letters}]),?\s+(?:because|since|as)\b"
    )
    match = pattern.search(last[-2_000:])
    letter = (match.group("l") or match.group("m")) if match else None
    return Reading(letter) if letter and not is_variable(text, letter) else None


def conclusion(text: str, letters: str) -> Reading | None:
    """The option that a sentence at the close concludes with: the last sentence, or an earlier firm one.

    The last sentence may also name one option only; lines that go through options at the end conclude nothing.
    """
    if _ends_on_options(text, letters):
        return None
    sentences = [part for part in _SENTENCE.split(text.rstrip()[-_CLOSE:]) if part.strip()]
    last = sentences[-1]
    reading = _complement(last, text, letters) if _CONCLUDES.search(last) else None
    if reading is None and _CONCLUDES.search(last):
        reading = _only(_kept(_mention_pattern(letters), last, text))
    firm = (part for part in reversed(sentences[-4:-1]) if _FIRM_CONCLUSION.search(part))
    earlier = (_complement(part, text, letters) for part in firm)
    return reading or next((each for each in earlier if each), None)


def _complement(sentence: str, text: str, letters: str) -> Reading | None:
    """The option that a verb of the sentence leads to: '… should be (B)'."""
    ended = _kept(_complement_pattern(letters), sentence, text)
    if len({claim.letter for claim in ended}) != 1:
        return None
    return Reading(None if is_in_series(sentence, ended[-1]) else ended[0].letter)


def _ends_on_options(text: str, letters: str) -> bool:
    lines = [line.strip() for line in text.split("\n") if line.strip()][-2:]
    return len({mark.letter for mark in _marks(lines, letters)}) > 1


def mention(text: str, letters: str) -> Reading | None:
    """The only letter a short reply mentions as an option and does not deny.

    Long replies discuss options without choosing one; so do those that break off.
    """
    if len(text) > _SHORT_REPLY:
        return None
    return _only(_kept(_mention_pattern(letters), text, text))


def _kept(pattern: re.Pattern[str], sentence: str, text: str) -> list[Claim]:
    """Letters of a sentence that it does not deny and that are no variable of the text."""
    return [
        claim
        for claim in claims(pattern, sentence)
        if not is_denied(sentence, claim)
        and not ("(" not in sentence[claim.start : claim.end] and is_variable(text, claim.letter))
    ]


def _only(named: list[Claim]) -> Reading | None:
    letters = {claim.letter for claim in named}
    if not letters:
        return None
    return Reading(letters.pop() if len(letters) == 1 else None)


def _goes_through(marks: list[Claim]) -> bool:
    """Whether three lettered lines, or two next to each other, follow the alphabet."""
    steps = [
        (ord(b.letter) - ord(a.letter) == 1, b.start - a.start == 1) for a, b in pairwise(marks)
    ]
    return sum(follows for follows, _ in steps) > 1 or (True, True) in steps


def _names_next(line: str, mark: Claim) -> bool:
    """Whether the line itself goes on with the next option, as in 'A: no. B: yes.'"""
    following = chr(ord(mark.letter) + 1)
    return re.search(rf"(?<!\w)\(?{following}[):]\s", line[mark.end :]) is not None


def _marks(lines: list[str], letters: str) -> list[Claim]:
    """Lines that begin with a lettered option: `start` is the line, `end` where its letter ends."""
    pattern = _marked_pattern(letters)
    roman = any(_SECOND_ROMAN.match(line) for line in lines)
    matches = ((number, pattern.match(line)) for number, line in enumerate(lines))
    named = [Claim(m.group("letter").upper(), n, m.end("letter")) for n, m in matches if m]
    return [claim for claim in named if not (roman and claim.letter == "I")]


@lru_cache(maxsize=64)
def _several_pattern(letters: str) -> re.Pattern[str]:
    joint = r"\W{1,4}(?:(?:or|and|both|either)\W{1,4})?"
    run = "".join(f"{letter}?" for letter in letters)
    return re.compile(
        rf"\W*(?:(?:both|either)\W{{1,4}})?[{letters}](?:{joint}[{letters}]){{1,9}}\W*|\W*(?=[A-Z]{{2}}){run}\W*"
    )


@lru_cache(maxsize=64)
def _plural_pattern(letters: str) -> re.Pattern[str]:
    """'A and C are correct', '(A), (C) and (D) are the answers'."""
    letter = rf"[(*]{{0,3}}(?<!\w)[{letters}](?!\w)[)*]{{0,3}}"
    return re.compile(
        rf"{letter}(?:,?\s(?:and|or)\s|,\s)(?:(?i:{OPTION})\s)?{letter}\s(?:are|could|can|would|may|might|seem)\b"
    )


@lru_cache(maxsize=64)
def _lone_pattern(letters: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?i:(?:option|choice|letter)\s+)?[\s*_`\"'“”‘’$\\(\[{{<>#]{{0,8}}(?P<letter>[{letters}{letters.lower()}])"
        r"[\s*_`\"'“”‘’$\\)\]}>.,:;!]{0,8}"
    )


@lru_cache(maxsize=64)
def _marked_pattern(letters: str) -> re.Pattern[str]:
    small = letters.lower()
    return re.compile(
        rf"(?:[-+#•>\s]{{0,6}})(?i:(?:option|choice)\s+)?[*_`]{{0,3}}"
        rf"(?:[(\[](?=[{letters}{small}][)\]])|(?=[{letters}{small}][)\]]|[{letters}](?:[*_`]{{1,3}}|[.:]|\s?[-–—]\s)))"
        rf"(?P<letter>[{letters}{small}])(?:[)\].:*_`]{{1,5}}(?!\w)|[).:](?=\w)|\s?[-–—]\s)"
    )


@lru_cache(maxsize=64)
def _complement_pattern(letters: str) -> re.Pattern[str]:
    """A letter that a verb of the sentence leads to: 'should be (B)', 'leaves only option C'."""
    return re.compile(
        r"(?i:\b(?:is|are|was|were|be|being|remains?|becomes?|leaves?|leaving|left\s+with|supports?|favou?rs?"
        r"|points?\s+to|leads?\s+(?:me\s+|us\s+)?to|corresponds?\s+to|match(?:es)?|namely|i\.e\.,?|except(?:\s+for)?|but|other\s+than"
        rf"|apart\s+from)\s+(?:(?:only|then|therefore|thus|likely|most\s+likely|probably|the|in\s+fact|clearly|for"
        rf"|{OPTION}|answer|statement)\s+){{0,4}}[*_\"$\\]{{0,4}}){letter_pattern(letters)}"
    )


@lru_cache(maxsize=64)
def _mention_pattern(letters: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w)\]}}])(?:(?i:(?:{OPTION}|answer|statement)\s+)[(\[*_\"']{{0,3}}(?P<l>[{letters}])(?![\w'’]|-\w)[)\]*_\"']{{0,3}}"
        rf"|\((?P<b>[{letters}])\)(?P<c>(?!))?)"
    )
