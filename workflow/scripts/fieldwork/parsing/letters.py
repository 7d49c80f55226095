"""Which letters of a text stand for an option, and which of them the reply does not choose.

Owns the difference between an option's letter and other letters: articles and pronouns, Roman
numbers, variables of a formula, units, parts of a question. Owns negations before and after a letter,
exceptions, and options that other people may choose. All patterns are bounded, so that the time is linear
in the length of the text.
"""

import re
from functools import lru_cache
from typing import NamedTuple

_CONNECTOR = (
    r"because|since|as|due|and|or|for|with|which|but|not|given|based|if|when|however|so|in|on|instead"
    r"|rather|is|was|would|seems|\(|\[|option|und|y|et|e|porque|weil|car|wegen"
)
_WORD = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A word character, but not of a script that puts no space between a word and a letter."""
_OPERATOR = r"[=<>≤≥≈≠+^_∈∉⊂⊆∪∩∧∨⊃→⇒↔≡·×÷]"
_NO_FORMULA = (
    rf"(?!\s{{0,2}}{_OPERATOR}|\(\w{{1,3}}[)+=,-]|\s?\*\s?\w|['’]?\s?\((?!(?:but\s)?not\s))"
)
"""After a bare letter: no operator and no argument, as in 'A = 3', 'B(t)'; 'C (not D)' has none."""


class LetterClaim(NamedTuple):
    """A letter that the text names, and where."""

    letter: str
    start: int
    end: int


def claims(pattern: re.Pattern[str], text: str) -> list[LetterClaim]:
    """Letters that a pattern with the groups b (bracketed), c (bracketed, cut short), l (bare) finds."""
    is_roman = "(ii)" in text
    hits = []
    for match in pattern.finditer(text):
        letter = (match.group("b") or match.group("c") or match.group("l"))[0]
        is_part = letter.islower() and _begins_parts(text, letter, match.end())
        if not is_part and not (is_roman and letter == "i"):
            hits.append(LetterClaim(letter.upper(), match.start(), match.end()))
    return hits


def _begins_parts(text: str, letter: str, end: int) -> bool:
    """Whether '(a) …' goes on with '(b) …': the parts of a question and no option."""
    following = chr(ord(letter) + 1)
    next_part = rf"\s*[^\s.,;)][^\n]{{0,400}}?\s\({following}\)\s+\w"
    return re.match(next_part, text[end : end + 500]) is not None


@lru_cache(maxsize=64)
def letter_pattern(letters: str) -> str:
    """Pattern of a letter: bracketed in either case, or bare and in upper case.

    Of joined letters ('(ACG)', '(A, C)', 'ACG') the first is the letter. Letters run together must
    follow the alphabet, as letters of words seldom do, and two of them without a bracket must end the
    line. A bare A or I is a letter only where no word follows that would make it an article or a pronoun.
    """
    small = letters.lower()
    mark = r"[*_\"'$\\]{0,3}"
    further_letters = (
        f"(?:{_ascending(letters)}|(?:\\s?(?:[,;/&]|and|or)\\s?){{1,2}}[{letters}]){{0,9}}"
    )
    in_brackets = (
        rf"[(\[{{<]\s?(?:options?\s|choices?\s)?{mark}(?:(?P<b>[{letters}]){further_letters}{mark}\s?[.:]?[)\]}}>]"
        rf"|(?P<c>[{letters}{small}])(?=\s*$|[.,:;]|\s(?:and|or)\s|{mark}\s?[.:]?[)\]}}>]){mark}\s?[.:]?[)\]}}>]?)"
    )
    firm = "".join(letter for letter in letters if letter not in "AI")
    words = "".join(letter for letter in letters if letter in "AI")
    ascending = _ascending(letters)
    run = rf"(?:{ascending}{{2,8}}|{ascending}(?=[\W_]*(?:\n|\Z)))?"
    end = rf"{run}(?!{_WORD}|['’]\w|-\w){_NO_FORMULA}"
    options = [rf"[{firm}]{end}"] if firm else []
    if words:
        options.append(
            rf"[{words}]{end}(?=\s*$|\s*\n|[^\w\s]|[^\x00-\x7f]"
            rf"|\s+(?:[^\w\s]|(?:{_CONNECTOR})(?!\w)))"
        )
    return rf"(?:{in_brackets}|(?<![°º]|{_WORD})(?P<l>{'|'.join(options)}))"


def _ascending(letters: str) -> str:
    """A letter after one that stands before it in the alphabet."""
    pairs = (rf"(?<={a}){b}" for i, a in enumerate(letters) for b in letters[i + 1 :])
    return f"(?:{'|'.join(pairs)})"


def is_variable(text: str, letter: str) -> bool:
    """Whether the text uses the bare letter as a quantity, a set or a proposition."""
    return _variable_pattern(letter).search(text) is not None


@lru_cache(maxsize=64)
def _variable_pattern(letter: str) -> re.Pattern[str]:
    bare = rf"(?<![\w(°]){letter}(?![\w)'’])"
    return re.compile(
        rf"{bare}\s{{0,2}}{_OPERATOR}|{_OPERATOR}\s{{0,2}}{bare}|\b(?:let|if|when|suppose|assume|where)\s+{bare}"
        rf"|{bare}\s+(?:implies|and\s+[A-Z]\s+are|then)\b|\bnot\s+{bare}\s+(?:is|or|and)\b|[¬~∀∃]\s?{bare}"
        rf"|{bare}\([a-z\d]",
        re.IGNORECASE if letter in "xyz" else 0,
    )


# ---- letters that are not chosen -----------------------------------------------------------------

_CHARACTERS_BEFORE = 80
_CHARACTERS_AFTER = 140

_NEGATION = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bneither|\bnor|\bcannot|\bincorrect|\bwrong|\bexclude[sd]?|\bunlikely"
    r"|\beliminated?|\bruled?\s+out|\binstead\s+of|\brather\s+than|\bfalse\s+that|\bother\s+than|\bexcept)"
    r"(?:[\s*_]+(?:think|believe|say|agree|true|that|likely|sure|mean|be|the|a|an|case|if|it|is|as|with"
    r"|necessarily|certain|convinced|correct|right|best|option|choice|answer|options|pick|choose"
    r"|select|to|want|for)){0,8}[\s*_(\"]*$",
    re.IGNORECASE,
)
_RULED_OUT = re.compile(
    r"(?:\beliminat\w{1,4}|\bexclud\w{1,4}|\brul\w{1,4}\s+out|\bneither|\breject\w{0,4})\s+(?:options?\s+|choices?\s+)?"
    r"(?:[(*]{0,3}[A-Z][)*]{0,3}\s{0,2}(?:,\s{0,2}(?:and|or|nor)?|and|or|nor|&)\s{0,2}){1,9}[(*]{0,3}$",
    re.IGNORECASE,
)
"""A series of letters after a verb that rules them out."""
_LETTER_START = re.compile(r"(?:options?\s+|choices?\s+)?[(\[*_\"]{0,4}[A-Z](?!\w)", re.IGNORECASE)
_NONE_OF = re.compile(
    r"\b(?:none|neither|not\s+(?:any|all|both)|no\s+one|all|both|each|every|any)\b[^.\n]{0,30}"
    r"(?:\(?[A-Z]\)?\s*(?:,|and|or|nor|/|&)\s*){0,9}(?:and|or|nor)?[\s(*]*$",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"\b(?:all|every|everything|each|any|none|no|nothing|both|always|only)\b[^.\n]{0,120}?"
    r"\b(?:except(?:\s+for)?|but|other\s+than|apart\s+from|besides|save)\s+"
    r"(?:(?:for|the|option|options|choice|answer|statement|letter|is)\s+){0,3}[*_(\"]{0,4}$",
    re.IGNORECASE,
)
_REJECTION = re.compile(
    r"^[)\]}*_\"'.\s]{0,4}(?:\([^()\n]{0,80}\)\s{0,2})?"
    r"(?:\b(?:is|are|was|were|would\s+be|seems?|must\s+be|could\s+be|can\s+be)\s{1,3}"
    r"(?:also\s+|clearly\s+|obviously\s+|therefore\s+|definitely\s+|simply\s+)?"
    r"(?:not\b(?!\s+only)|incorrect|wrong\b|false\b|invalid|ruled\s+out|eliminated|out\b|impossible"
    r"|unlikely|excluded)"
    r"|(?:is|are|was|does|do|would|could|should|can)(?:\s?not\b(?!\s+only)|n['’]t\b|['’]t\b)"
    r"|[:–—-]\s?\*{0,2}(?:incorrect|wrong|not\s+correct|eliminated)\b"
    r"|(?:(?:is|are|was|seems?|looks?|sounds?|may\s+be|might\s+be)\s+(?:\w+\s+){0,2}\w+)?,?\s+but\s+(?:(?:it|this|that)(?:['’]s|\s+is|\s+would\s+be)\s+"
    r"|is\s+)?(?:actually\s+)?(?:wrong|incorrect|false|mistaken|a\s+mistake|not\s+(?:correct|right|true))\b)",
    re.IGNORECASE,
)
_FIRST_THOUGHT = re.compile(
    r"\b(?:(?:I|we)\s+(?:had\s+)?(?:at\s+first|first|initially|originally)|(?:at\s+first|first|initially|originally),?\s+(?:I|we)(?:\s+had)?)"
    r"\s+(?:\w+\s+){1,7}$",
    re.IGNORECASE,
)
"""'I first thought that the …': the speaker takes back the letter that follows."""
_OTHER_PEOPLE = re.compile(
    r"\b(?:(?:some|others?|people|many|most|someone|individuals?|respondents?|they|you|participants?)"
    r"|one(?=\s+(?:may|might|could|can|would|will)\b))\s+(?:of\s+\w+\s+)?(?:people\s+)?(?:may|might|could|can|would|will)?"
    r"(?:\s+(?:choose|pick|select|say|answer|think|argue|guess)(?:\s+that|\s+options?|\s+choice)?)?\s*[(*]{0,3}$",
    re.IGNORECASE,
)


_SERIES_BEFORE = re.compile(r"\(?\b[A-Z]\)?\s*(?:,\s*(?:and|or|nor)?|and|or|nor|&)\s*[(*]{0,3}$")
_SERIES_AFTER = re.compile(
    r"[)*_\s]{0,4}(?:,\s*(?:and|or)?|and|or|&)\s*(?:options?\s|choices?\s)?[(*]{0,3}[A-Z](?!\w|['’])"
    r"|[^.\n]{0,120}?\b(?:and|or)\s+(?:options?\s|choices?\s)?\([A-Z]\)"
)


def is_denied(text: str, claim: LetterClaim) -> bool:
    """Whether the text denies the letter or leaves it to others. An exception from all is no denial."""
    text_before = text[max(0, claim.start - _CHARACTERS_BEFORE) : claim.start]
    if _OTHER_PEOPLE.search(text_before) or _REJECTION.match(
        text[claim.end : claim.end + _CHARACTERS_AFTER]
    ):
        return True
    is_ruled_out = _begins_with_letter(text, claim) and _RULED_OUT.search(text_before)
    if is_ruled_out or _FIRST_THOUGHT.search(text_before):
        return True
    return _NEGATION.search(text_before) is not None and _EXCEPTION.search(text_before) is None


def is_one_of_several(text: str, claim: LetterClaim) -> bool:
    """Whether the letter is one of a group: 'all of (A), (B) and (C)', 'none of them', '(A) or (B)'."""
    text_before = text[max(0, claim.start - 2 * _CHARACTERS_BEFORE) : claim.start]
    return _NONE_OF.search(text_before) is not None or is_in_series(text, claim)


def is_in_series(text: str, claim: LetterClaim) -> bool:
    """Whether other letters stand beside the letter: '(A), (B) and (C)', '(A) Paris or (B) Rome'."""
    text_before = text[max(0, claim.start - 2 * _CHARACTERS_BEFORE) : claim.start]
    text_after = text[claim.end : claim.end + 2 * _CHARACTERS_AFTER]
    goes_on = _begins_with_letter(text, claim) and _SERIES_BEFORE.search(text_before)
    return bool(goes_on or _SERIES_AFTER.match(text_after))


def _begins_with_letter(text: str, claim: LetterClaim) -> bool:
    """Whether the claim may go on with a series of letters before it; 'leaving D' does not."""
    return _LETTER_START.match(text, claim.start) is not None
