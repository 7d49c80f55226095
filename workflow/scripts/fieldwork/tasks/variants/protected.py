"""The parts of a text that mean what they are, and that no kind of variant may touch.

Owns what is protected: code (fenced, inline, or a line that looks like a program), LaTeX and other
formulas, addresses, names of files, slots of templates, numbers with their signs and units, words for
numbers, acronyms and symbols, letters of options, and quoted passages. What stands in quotes is spoken
about, as a title or a text to correct: altered, it would be another question. Negations are protected
where the caller says so: letters may not slip in them, though a dialect may put them otherwise.

Patterns find what has a form. A chemical symbol that is a word too (He, No), code without any sign of
code, and words for numbers in languages that `kept_words` does not list are not found.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from fieldwork.tasks.variants.kept_words import (
    ELEMENTS,
    FUNCTIONS,
    NEGATION_FORMS,
    NEGATIONS,
    NUMBER_WORDS,
)
from fieldwork.tasks.variants.letters import Word, words


class Stretch(NamedTuple):
    """A protected part of a text, from `start` to before `end`."""

    start: int
    end: int


class Piece(NamedTuple):
    """A part of a text that is protected as a whole, or free as a whole."""

    text: str
    is_protected: bool


_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?s)```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`",
        # program text without fences
        r"(?m)^.*[(){}=\[\]].*[;{][ \t]*$|^.*[;=].*\}[ \t]*$|^[ \t]*[})\]]+[;,]?[ \t]*$",
        r"(?m)^[ \t]*(?:import[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?|from[ \t]+[\w.]+[ \t]+import[ \t]+.+"
        r"|#include.*|(?:def|class)[ \t]+\w+.*:"
        r"|(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE)\b.*)$",
        r"\b\w+\([^()\n]*\)|\b\w+\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]",
        r"(?<!\S)--?[A-Za-z][\w-]*",
        # LaTeX: a dollar opens before a character and closes after one, else it is money
        r"(?s)\$\$.+?\$\$|\\\(.+?\\\)|\\\[.+?\\\]|\\begin\{(\w+\*?)\}.*?\\end\{\1\}",
        r"\$(?=\S)[^$\n]*?(?<=\S)\$(?!\d)",
        r"\\[A-Za-z]+(?:\{[^{}\n]*\}|\[[^\[\]\n]*\])*",
        # addresses and files
        r"(?i)\b(?:(?:https?|ftp)://|www\.)[!#-;=?-~]*[#$%&*+/0-9=@a-z_~-]",
        r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+",
        r"(?<![\w@#])[@#]\w+",
        r"(?<![\w/])(?:~|\.{1,2})?/[\w.-]*\w(?:/[\w.-]*\w)*/?",
        r"\w+(?:\.\w+)+|(?:\b[^\W\d_]\.){2,}",
        # slots
        r"\{\{[^{}\n]*\}\}|\$?\{[^{}\n]*\}|\[[^\[\]\n]{1,60}\]|</?[A-Za-z][^<>\n]*>|<<[^<>\n]+>>",
        r"%\(\w+\)[sd]|%[sd]\b|\$[A-Za-z_]\w*",
        # letters and numbers of options and points
        r"(?m)^[ \t]*[(\[]?(?:[^\W\d_]|[ivxIVX]{1,4}|\d{1,3})[.):\]](?=\s|$)",
        r"\((?:[A-Za-z]|[ivxIVX]{1,4})\)|(?<!\S)(?:[A-Z]|[IVX]{1,4})\.(?=[ \t]+\S)",
        # with its mark a letter is seen to be a symbol: "of A, compute"
        r"(?<![\w'’])[AIOEY][.,;:!?…]+",
        # what is quoted
        r"“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」|『[^『』]*』|《[^《》]*》",
        r'(?<!\w)"(?=\S)(?:(?!\n[ \t]*\n)[^"])*(?<=\S)"(?!\w)',
        r"(?<!\w)['‘](?=\S)(?:[^'‘’\n]|(?<=\w)['’](?=\w))+(?<=\S)['’](?!\w)",
    )
)
_UNITS = re.compile(
    r"(?<=\d)[ \u00a0]?(?:[kMGTmcdµμn]?(?:g|m|l|L|s|W|V|A|J|N|M|Pa|Hz|mol|eV|B|bps|cal)|min|h|hr|hrs|ft"
    r"|in|lb|lbs|oz|mph|ppm|psi|bpm|IU|am|pm|AM|PM|BC|AD|BCE|CE|k|x)(?:/[A-Za-z]{1,3})?\b"
)
_SIGNS = frozenset("=<>^_\\|~→←↔%°§#@")
_CHUNK = re.compile(
    r"[^\s“”„«»\"—–…()\[\]{}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff00-\uff65]+"
)
"""What stands between spaces, brackets, quotes and letters of scripts without spaces."""
_ENDS = ".,;:?!'’‘،؛؟।*"
_APOSTROPHES = "'’"
_NAMES_BEFORE_LETTERS = """
option options answer answers choice choices statement figure table graph group type class part section
point case plan grade company country person factor school vitamin hepatitis column row event set firm
good product list line curve war stage phase level chapter volume book article title complex schedule
"""
_WORDS_AFTER_SYMBOLS = (
    "is was are has and or nor but only alone implies if then can will does causes to"
)
_WORDS_AFTER_NUMERALS = "is and or nor but only alone implies has"
_WORDS_BEFORE_PRONOUNS = """
should can do did am will would could may must shall was have had if that when what than as
"""
_NAMED_BY_LETTER = frozenset(_NAMES_BEFORE_LETTERS.split())
_SAID_OF_A_SYMBOL = frozenset(_WORDS_AFTER_SYMBOLS.split())
_SAID_OF_A_NUMERAL = frozenset(_WORDS_AFTER_NUMERALS.split())
_BEFORE_A_PRONOUN = frozenset(_WORDS_BEFORE_PRONOUNS.split())


def protected_stretches(text: str, *, negations: bool = False) -> list[Stretch]:
    """Where a text is protected: in order, apart from one another.

    Args:
        negations: whether words of negation are protected too.
    """
    stretches = [
        Stretch(*match.span()) for match in _matches(text, negations=negations) if match[0]
    ]
    stretches += _formula_chunks(text)
    stretches += _kept_words(text, negations=negations)
    merged_stretches: list[Stretch] = []
    for start, end in sorted(stretches):
        if merged_stretches and start < merged_stretches[-1].end:
            merged_stretches[-1] = Stretch(
                merged_stretches[-1].start, max(end, merged_stretches[-1].end)
            )
        else:
            merged_stretches.append(Stretch(start, end))
    return merged_stretches


def split_text(text: str, *, negations: bool = False) -> list[Piece]:
    """The text in pieces, free and protected; put together they are the text."""
    pieces: list[Piece] = []
    place = 0
    for start, end in protected_stretches(text, negations=negations):
        if start > place:
            pieces.append(Piece(text[place:start], is_protected=False))
        pieces.append(Piece(text[start:end], is_protected=True))
        place = end
    if place < len(text):
        pieces.append(Piece(text[place:], is_protected=False))
    return pieces


def _matches(text: str, *, negations: bool) -> Iterator[re.Match[str]]:
    for pattern in (*_PATTERNS, _UNITS):
        yield from pattern.finditer(text)
    if negations:
        yield from NEGATION_FORMS.finditer(text)


def _formula_chunks(text: str) -> Iterator[Stretch]:
    """What holds a digit or a sign of formulas, the punctuation of the sentence left out."""
    for match in _CHUNK.finditer(text):
        chunk = match[0]
        if not any(character in _SIGNS or _is_of_formulas(character) for character in chunk):
            continue
        body = chunk.strip(_ENDS)
        if not body:
            continue
        start = match.start() + chunk.index(body)
        end = start + len(body)
        if body[0].isdigit() and text[start - 1 : start] == ".":
            start -= 1
        if body[-1].isdigit() and text[end : end + 1] == "!":
            # a factorial
            end += 1
        yield Stretch(start, end)


def _is_of_formulas(character: str) -> bool:
    return character.isnumeric() or unicodedata.category(character) in ("Sm", "Sc")


def _kept_words(text: str, *, negations: bool) -> Iterator[Stretch]:
    previous = ""
    for word in words(text):
        spelling = text[word.start : word.end]
        small_word = spelling.casefold()
        if (
            small_word in NUMBER_WORDS
            or spelling in ELEMENTS
            or small_word in FUNCTIONS
            or any(letter[0].isupper() for letter in word.letters[1:])
            or (negations and small_word in NEGATIONS)
            or (len(word.letters) == 1 and _is_symbol(text, word, previous))
        ):
            yield Stretch(word.start, word.end)
        previous = small_word


def _is_symbol(text: str, word: Word, previous: str) -> bool:
    """Whether a letter alone is a symbol, and not a word such as `I`, `a`, `y` or `я`."""
    letter = text[word.start : word.end]
    if _is_of_contraction(text, word):
        return False
    if not ("\u0041" <= letter[0] <= "\u024f" or "\u0370" <= letter[0] <= "\u03ff"):
        return False
    if letter == "a":
        return text[word.end : word.end + 1] in tuple(",;)=")
    if letter not in "AIiOEYÀÉÈÓΗΟ":
        return True
    if previous in _NAMED_BY_LETTER:
        return True
    follower = re.match(
        r"[ \t]+([A-Za-z\u00c0-\u024f\u0370-\u03ff]+)", text[word.end : word.end + 40]
    )
    if letter in "Ii" and previous in _BEFORE_A_PRONOUN:
        return False
    predicates = _SAID_OF_A_NUMERAL if letter in "Ii" else _SAID_OF_A_SYMBOL
    return not follower or follower[1].isupper() or follower[1].lower() in predicates


def _is_of_contraction(text: str, word: Word) -> bool:
    """Whether a letter is the s of `it's`, the l of `l'eau` or the I of `I'm`; the A of `A's` is not."""
    head, tail = text[max(word.start - 2, 0) : word.start], text[word.end : word.end + 2]
    if len(head) == 2 and head[1] in _APOSTROPHES and head[0].isalpha():
        return True
    is_joined = len(tail) == 2 and tail[0] in _APOSTROPHES and tail[1].isalpha()
    return is_joined and (text[word.start].islower() or text[word.start] == "I")
