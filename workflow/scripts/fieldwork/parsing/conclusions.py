"""Letters with which a reply closes, or the only letter it mentions, where no sentence states the answer.

Each function looks for one pattern. It returns None where the reply does not have it, and a reading
without a letter where two letters have equal support.
"""

import re
from functools import lru_cache

from fieldwork.parsing.answer_statements import OPTION, LetterReading, statement, verdict
from fieldwork.parsing.letter_denials import is_denied, is_in_series
from fieldwork.parsing.letter_lines import ends_on_options, lone_letter, marked_line
from fieldwork.parsing.letters import LetterClaim, claims, is_variable, letter_pattern

_SHORT_REPLY = 300
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
