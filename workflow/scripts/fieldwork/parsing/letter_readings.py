"""Letters that lines of a reply give, or with which it closes, or the only one it mentions.

Each function looks for one pattern. It returns None where the reply does not have it, and a reading
without a letter where two letters have equal support.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from fieldwork.parsing.answer_statements import OPTION, LetterReading, statement, verdict
from fieldwork.parsing.choice_texts import fits_choice
from fieldwork.parsing.letters import (
    LetterClaim,
    claims,
    is_denied,
    is_in_series,
    is_variable,
    letter_pattern,
)

_SHORT_REPLY = 300
_LABEL_WORDS = 3
_FORMULA = re.compile(r"[=|≈]|\\(?:frac|times|cdot|sum|int)\b")
_GOES_ON = re.compile(r"(?!(?:because|since|as|is|the|it|this|that|for|due|which)\b)[a-z]")
"""'E. coli', where the option is another: the letter belongs to the word after it."""
_TICK = re.compile(r"[✅✓✔☑]|\[[xX✓]\]")
_SECOND_ROMAN = re.compile(r"[*_(\s]{0,3}II[.):]", re.IGNORECASE)


def lone_letter(text: str, letters: str) -> LetterReading | None:
    """A line that is a letter and nothing else: the last line before the first."""
    lines = _lines(text)
    pattern = _lone_pattern(letters)
    last, first = pattern.fullmatch(lines[-1]), pattern.fullmatch(lines[0])
    if last and len(lines) > 1 and _marked_pattern(letters).match(lines[-2]):
        last = None
    match = last or first
    return LetterReading(match.group("letter").upper()) if match else None


def several_letters(text: str, letters: str) -> LetterReading | None:
    """No letter where a short reply is nothing but joined letters: 'A or B', '(ACG)', 'A, C'."""
    joint = len(text) < _SHORT_REPLY and _several_pattern(letters).fullmatch(text)
    return LetterReading(None) if joint else None


def marked_line(text: str, letters: str, choices: Sequence[str] = ()) -> LetterReading | None:
    """A first or last line that begins with a lettered option, 'B. text' or '(B) text'.

    Lines that go through the options, or the parts of a question, one after the other claim nothing,
    nor does a line whose text is neither the option's nor a sentence of its own: a formula or a table
    row.
    """
    lines = _lines(text)
    marks = _marks(lines, letters)
    if not marks or _follow_alphabet(marks) or _names_next_option(lines[marks[0].start], marks[0]):
        return None
    claims = [mark for mark in marks if _is_claim(lines[mark.start], mark, letters, choices)]
    first = next((mark for mark in claims if mark.start == 0), None)
    last = next((mark for mark in claims if mark.start == len(lines) - 1), None)
    if len({mark.letter for mark in claims}) == 1 and (first or last or len(lines) <= 4):
        return LetterReading(claims[0].letter)
    if first and last and first.letter != last.letter:
        return LetterReading(None)
    outer = first or last
    return LetterReading(outer.letter) if outer else None


def marked_option(text: str, letters: str) -> LetterReading | None:
    """The one option of several that is ticked, in bold or `true`, where all are gone through."""
    marks: dict[str, set[bool]] = {}
    for line in _lines(text):
        if option := _gone_through_pattern(letters).match(line):
            is_marked = bool(_TICK.search(line) or option["bold"])
            marks.setdefault(option["letter"], set()).add(is_marked)
    for pair in _truth_pattern(letters).finditer(text[:_SHORT_REPLY]):
        marks.setdefault(pair["letter"], set()).add(pair["truth"].lower() == "true")
    marked_letters = [letter for letter, values in marks.items() if True in values]
    return LetterReading(marked_letters[0]) if len(marked_letters) == 1 < len(marks) else None


def rivals(text: str, letters: str) -> LetterReading | None:
    """No letter where lines go through different options, or several options 'are correct'."""
    several = len({mark.letter for mark in _marks(_lines(text), letters)}) > 1
    return LetterReading(None) if several or _plural_pattern(letters).search(text) else None


def ends_on_options(text: str, letters: str) -> bool:
    """Whether the last two lines begin with different options."""
    return len({mark.letter for mark in _marks(_lines(text)[-2:], letters)}) > 1


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _is_claim(line: str, mark: LetterClaim, letters: str, choices: Sequence[str]) -> bool:
    """Whether the text after the letter is the option's, or at least no formula and no part '(a)'."""
    rest = line[mark.end :].lstrip(" )].:*_`-–—")
    claim = mark._replace(start=0)
    if is_denied(line, claim) or is_in_series(line, claim):
        return False
    place = letters.index(mark.letter)
    if place < len(choices) and fits_choice(rest, choices[place]):
        return True
    last_character, next_character = line[mark.end - 1], line[mark.end : mark.end + 1]
    # 'A: …' begins an answer to 'Q: …'
    is_label = last_character == "A" and next_character == ":" and len(rest.split()) > _LABEL_WORDS
    goes_on = place < len(choices) and _GOES_ON.match(rest) is not None
    return last_character.isupper() and not (is_label or goes_on) and _FORMULA.search(rest) is None


def _follow_alphabet(marks: list[LetterClaim]) -> bool:
    """Whether three lettered lines, or two next to each other, follow the alphabet."""
    steps = [
        (ord(b.letter) - ord(a.letter) == 1, b.start - a.start == 1) for a, b in pairwise(marks)
    ]
    return sum(follows for follows, _ in steps) > 1 or (True, True) in steps


def _names_next_option(line: str, mark: LetterClaim) -> bool:
    """Whether the line itself goes on with the next option, as in 'A: no. B: yes.'"""
    following = chr(ord(mark.letter) + 1)
    return re.search(rf"(?<!\w)\(?{following}[):]\s", line[mark.end :]) is not None


def _marks(lines: list[str], letters: str) -> list[LetterClaim]:
    """Lines that begin with a lettered option: `start` is the line, `end` where its letter ends."""
    pattern = _marked_pattern(letters)
    is_roman = any(_SECOND_ROMAN.match(line) for line in lines)
    matches = ((number, pattern.match(line)) for number, line in enumerate(lines))
    marks = [LetterClaim(m.group("letter").upper(), n, m.end("letter")) for n, m in matches if m]
    return [mark for mark in marks if not (is_roman and mark.letter == "I")]


@lru_cache(maxsize=64)
def _gone_through_pattern(letters: str) -> re.Pattern[str]:
    """An option's line, after its mark: '✅ C) Paris', '- [x] C) Paris', '**C) Paris**'."""
    return re.compile(
        rf"(?:[-+*•]\s+)?(?:\[.?\]\s+|[^\w\s*(\[]{{1,3}}\s+)?(?P<bold>\*\*|__)?\(?(?P<letter>[{letters}])[).:]"
    )


@lru_cache(maxsize=64)
def _truth_pattern(letters: str) -> re.Pattern[str]:
    return re.compile(rf"[\"'](?P<letter>[{letters}])[\"']\s?:\s?(?P<truth>[Tt]rue|[Ff]alse)\b")


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
        rf"(?i:(?:option|choice|letter)\s+)?[\s*_`\"'“”‘’$\\(\[{{<>#✅✓✔☑\ufe0f]{{0,8}}(?P<letter>[{letters}{letters.lower()}])"
        r"[\s*_`\"'“”‘’$\\)\]}>.,:;!✅✓✔☑\ufe0f]{0,8}"
    )


@lru_cache(maxsize=64)
def _marked_pattern(letters: str) -> re.Pattern[str]:
    small = letters.lower()
    return re.compile(
        rf"(?:[-+#•>\s]{{0,6}})(?i:(?:option|choice)\s+)?[*_`]{{0,3}}"
        rf"(?:[(\[](?=[{letters}{small}][)\]])|(?=[{letters}{small}][)\]]|[{letters}](?:[*_`]{{1,3}}|[.:]|\s?[-–—]\s)))"
        rf"(?P<letter>[{letters}{small}])(?:[)\].:*_`]{{1,5}}(?!\w)|[).:](?=\w)|\s?[-–—]\s)"
    )


# ---- conclusions ---------------------------------------------------------------------------------

_CLOSE = 700
"""Characters at the end of a reply that are searched for a conclusion."""
_LAST_SENTENCES = 4

_NEXT_QUESTION = re.compile(
    r"\n\s{0,8}(?:#{1,4}\s*)?(?:Question|Q)\s?\d{0,3}\s?[:.]"
    r"|\b(?:combin|summari[sz])(?:e|ing)\s+(?:all\s+)?(?:of\s+)?(?:the|these|our|my)\s+answers\b"
    r"|总结.{0,12}?答案",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|in\s+conclusion|finally|overall|accordingly|which\s+is"
    r"|corresponds?\s+to|matches|match|gives|yields|left\s+with|only|none|nothing|leads?\s+(?:me\s+|us\s+)?to|leaves|leaving|conclude|this\s+is|it\s+is|it['’]s|is|must\s+be"
    r"|(?:should|would|has\s+to|could)\s+be|supports?|favou?rs?|points?\s+to|remains?|except|answer)\b",
    re.IGNORECASE,
)
_FIRM_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|hence|consequently|in\s+conclusion|finally|overall|accordingly|closest|most\s+likely"
    r"|most\s+(?:appropriate|accurate|consistent|plausible|conservative)|strongest|weakest|only\s+option|we\s+(?:choose|conclude))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\\(])|\n\s*\n")


def part_before_next_question(text: str, letters: str) -> str:
    """The reply up to the next question, where it has stated a letter before; else the whole reply.

    Base models go on with a next question of their own, and models whose prompt holds examples sum up
    the answers to all of them.
    """
    turn = _NEXT_QUESTION.search(text)
    if turn is None or not text[: turn.start()].strip():
        return text
    head = text[: turn.start()]
    readers = (statement, lone_letter, verdict, marked_line)
    return head if any(read(head, letters) for read in readers) else text


def conclusion(text: str, letters: str) -> LetterReading | None:
    """The option that a sentence at the close concludes with: the last one, or an earlier firm one.

    The last sentence may also mention one option only. Lines that go through options at the end conclude
    nothing.
    """
    if ends_on_options(text, letters):
        return None
    sentences = [part for part in _SENTENCE.split(text.rstrip()[-_CLOSE:]) if part.strip()]
    last = sentences[-1]
    if _CONCLUDES.search(last):
        reading = _complement(last, text, letters) or _only_mention(last, text, letters)
        if reading:
            return reading
    for sentence in reversed(sentences[-_LAST_SENTENCES:-1]):
        if _FIRM_CONCLUSION.search(sentence) and (firm := _complement(sentence, text, letters)):
            return firm
    return None


def aside(text: str, letters: str) -> LetterReading | None:
    """'Probably C.', 'So, C', 'C because …': in a short reply, or in the last line of a long one."""
    last = text.rstrip().rsplit("\n", 1)[-1] if len(text) > _SHORT_REPLY else text
    match = _aside_pattern(letters).search(last[-2_000:])
    letter = (match.group("l") or match.group("m")) if match else None
    return LetterReading(letter) if letter and not is_variable(text, letter) else None


def mention(text: str, letters: str) -> LetterReading | None:
    """The only letter a short reply mentions as an option and does not deny.

    Long replies discuss options without choosing one; so do those that break off.
    """
    return _only_mention(text, text, letters) if len(text) <= _SHORT_REPLY else None


def _complement(sentence: str, text: str, letters: str) -> LetterReading | None:
    """The option that a verb of the sentence leads to: '… should be (B)'."""
    complements = _affirmed_claims(_complement_pattern(letters), sentence, text)
    if len({claim.letter for claim in complements}) != 1:
        return None
    is_open = is_in_series(sentence, complements[-1])
    return LetterReading(None if is_open else complements[0].letter)


def _only_mention(sentence: str, text: str, letters: str) -> LetterReading | None:
    options = {
        claim.letter for claim in _affirmed_claims(_mention_pattern(letters), sentence, text)
    }
    if not options:
        return None
    return LetterReading(options.pop() if len(options) == 1 else None)


def _affirmed_claims(pattern: re.Pattern[str], sentence: str, text: str) -> list[LetterClaim]:
    """Claims of a sentence that it does not deny and whose letters are no variables of the text."""
    return [
        claim
        for claim in claims(pattern, sentence)
        if not is_denied(sentence, claim)
        and ("(" in sentence[claim.start : claim.end] or not is_variable(text, claim.letter))
    ]


@lru_cache(maxsize=64)
def _aside_pattern(letters: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?i:\b(?:say|think|guess|believe|meant?|probably|likely|maybe|perhaps|therefore|thus"
        rf"|hence|so|it['’]s|reconsider\.|no,))[,:]?\s+|(?<!\b(?:Dr|Mr|Ms|St|Jr|No|vs)\.)(?<!\bMrs\.)(?<!\bProf\.)(?<=[.!?])\s+(?i:{OPTION}\s+)?)[*_(\[$\\]{{0,4}}(?P<l>[{letters}])(?=[\s.!*_)\]$]*$)"
        rf"|^\W*(?P<m>[{letters}]),?\s+(?:because|since|as)\b"
    )


@lru_cache(maxsize=64)
def _complement_pattern(letters: str) -> re.Pattern[str]:
    """A letter that a verb of the sentence leads to: 'should be (B)', 'leaves only option C'."""
    return re.compile(
        r"(?i:\b(?:is|are|was|were|be|being|gives|yields|only|remains?|becomes?|leaves?|leaving|left\s+with|supports?|favou?rs?"
        r"|points?\s+to|leads?\s+(?:me\s+|us\s+)?to|corresponds?\s+to|match(?:es)?|namely|i\.e\.,?|except(?:\s+for)?|but|other\s+than"
        rf"|apart\s+from)\s+(?:(?:only|then|therefore|thus|likely|most\s+likely|probably|the|in\s+fact|clearly|for"
        rf"|{OPTION}|answer|statement)\s+){{0,4}}[*_\"$\\]{{0,4}}){letter_pattern(letters)}"
    )


@lru_cache(maxsize=64)
def _mention_pattern(letters: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w)\]}}])(?:(?i:(?:{OPTION}|answer|statement)\s+)[(\[*_\"']{{0,3}}(?P<l>[{letters}])(?![\w'’]|-\w|,\s?[{letters}](?!\w))[)\]*_\"']{{0,3}}"
        rf"|\((?P<b>[{letters}])\)(?!\s?[=<>≤≥≈])(?P<c>(?!))?)"
    )
