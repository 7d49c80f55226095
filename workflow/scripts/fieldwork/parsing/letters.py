"""Which letters of a text stand for an option.

Owns the difference between an option's letter and other letters: articles and pronouns, Roman
numbers, variables of a formula, units, parts of a question. All patterns are bounded, so that the time
is linear in the length of the text.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_CONNECTOR = (
    r"because|since|as|due|and|or|for|with|which|but|not|given|based|if|when|however|so|in|on|instead"
    r"|rather|is|was|would|seems|\(|\[|option|und|y|et|e|porque|weil|car|wegen"
)
_WORD = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A word character, but not of a script that puts no space between a word and a letter."""
_OPERATOR = r"[=<>≤≥≈≠+^_∈∉⊂⊆∪∩∧∨⊃→⇒↔≡·×÷]"
_NO_FORMULA = rf"(?!\s{{0,2}}{_OPERATOR}|\(\w{{1,3}}[)+=,-]|\s?\*\s?\w|['’]?\s?\()"
"""After a bare letter: no operator and no argument, as in 'A = 3', 'B(t)'."""


class LetterClaim(NamedTuple):
    """A letter that the text names, and where."""

    letter: str
    start: int
    end: int


def normalise(text: str) -> str:
    """NFKC: full-width letters, brackets and colons become ASCII."""
    return unicodedata.normalize("NFKC", text)


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
    return (
        re.match(rf"\s*[^\s.,;)][^\n]{{0,400}}?\s\({following}\)\s+\w", text[end : end + 500])
        is not None
    )


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
    return (
        "(?:"
        + "|".join(rf"(?<={a}){b}" for i, a in enumerate(letters) for b in letters[i + 1 :])
        + ")"
    )


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
