"""Recognising an option by its text where a reply names no letter.

Promises a letter only where the text of exactly one option stands and is not taken back. Numbers are
compared whole: 17 is not in -17, nor 4 in 398.4.
"""

import re
import unicodedata
from collections.abc import Sequence

from fieldwork.parsing.replies import SPACED_LETTER

_SHORT_CHOICE = 4
"""Choices shorter than this many characters (mostly numbers) count only in a passage of a few words."""
_SHORT_REPLY = 240
"""Characters up to which a reply is short enough to be searched as a whole."""
_SENTENCE_WORDS = 5
"""Words from which an option is a sentence."""
_SHARED_WORDS = 0.5
"""Share of an option's words that a line must hold to give that option."""
_SMALL_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
)
"""English words from 0, each at its place."""

_BOX = re.compile(r"\\boxed\s{0,3}\{((?:[^{}]|\{(?:[^{}]|\{[^{}]{0,100}\}){0,100}\}){1,300})\}")
_STATEMENT = re.compile(
    r"\b(?:answer|choice|option|solution)\b[^.:\n]{0,40}?(?:\bis\b|\bare\b|:)[:*\s]{0,6}"
    r"([^\n]{1,300}?)(?=\n|$|[.!?]\s)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,120})\](?!\()")
"""What stands in square brackets, as prompts ask for ('answer [Yes] or [No]'); no link of Markdown."""
_PREDICATE = re.compile(
    r"(?:\b(?:is|are|be|equals?|was)(?![\w'’])|[=≈])\s{0,3}([^=≈\n]{1,80}?)[.!\s]*$"
)
_SENTENCE_BREAK = re.compile(r"(?<=[.!?:])\s+|\n+")
_DENIAL = re.compile(
    r"(?:\b(?:not|cannot|never|nor|neither|hardly|barely|scarcely)|\w{2}nt|\bunable\s+to|\bless\s+than|\bfar\s+from|\banything\s+but|eliminated?|exclude[sd]?"
    r"|ruled?\s+out)\W{1,3}"
    # 'I would not say that I agree' denies it as 'I do not agree' does
    r"(?:(?:really\s+)?(?:think|say|believe|feel|claim|sure|certain)\s(?:that\s|if\s|whether\s)?(?:i|we|it|this)\s)?"
    r"(?:\w+\W){0,2}$"
)
_RETRACTION = re.compile(
    r"^[^.\n]{0,40}?(?:\b(?:is|are|was|does|do|would\s+be|seems?)\s+(?:not\b|incorrect|wrong)|\bnot\s+(?:correct|right"
    r"|listed|among|one\s+of|an\s+option|exact\w*)|\b(?:is|are|was|does|do|would)nt\b)"
)
_NOT_LISTED = re.compile(
    r"\b(?:not|\w{2,6}nt)\s+(?:\w+\s+){0,2}?(?:listed|among|in\s+the\s+(?:options|list)|one\s+of\s+the\s+(?:\w+\s+)?(?:options|choices)"
    r"|(?:an?\s+)?(?:available|given|provided)\s+option)|\bnone\s+of\s+the\s+(?:\w+\s+)?(?:options|choices|above|answers)"
)
_BUT_NOT = re.compile(r"\bbut\s+not\b")
"""'X, but not Y': which of the two is the answer depends on the question."""
_LATEX = (
    (re.compile(r"\\sqrt\s?\{([^{}]{1,60})\}"), r"sqrt(\1)"),
    (re.compile(r"\\[dt]?frac\s?\{([^{}]{1,60})\}\s?\{([^{}]{1,60})\}"), r"\1/\2"),
    (re.compile(r"\\(?:text|mathrm|mathbf|textbf|mbox)\s?\{([^{}]{0,120})\}"), r" \1 "),
    (re.compile(r"\\pi\b"), "π"),
    (re.compile(r"\\infty\b"), "∞"),
    (re.compile(r"\\times\b|\\cdot\b"), "×"),
    (re.compile(r"\\pm\b|\\mp\b"), "±"),
    (re.compile(r"\\n(?:e|eq)\b|!="), "≠"),
    (re.compile(r"\\(?:le|leq|lt)\b|<="), "≤"),
    (re.compile(r"\\(?:ge|geq|gt)\b|>="), "≥"),
    (re.compile(r"\\(?:,|;|!|\s)|~"), " "),
    (re.compile(r"\\([%$&#_]|log\b|ln\b|sin\b|cos\b|exp\b)"), r"\1"),
)
_MINUS = str.maketrans({"−": "-", "–": "-", "‑": "-"})
_MARKUP = re.compile(
    r"[*`$\"'“”‘’«»]|(?<!\w)_|_(?!\w)|\\[()\[\]]|\\(?:text|mathrm|mathbf|left|right)\b"
)
_ROMAN = re.compile(r"\((x{0,2}(?:ix|iv|v?i{1,3}|v))\)")
_ROMAN_CHOICE = re.compile(r"(?<!\w)ii(?!\w)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,/^])(?:(?<![)\]])-)?\d[\d,]*(?:\.\d+)?(?:/\d+)?%?(?![\w^]|[.,/]\d)")
_EDGES = re.compile(r"^(?:[ ,;:!]|\.(?!\d))+|[ .,;:!]+$")
_NO_SIGN = r"(?<![-.±≠<≤≥])(?<![±≠<≤≥]\s)(?<![^-=]>)(?<![^-=]>\s)"
"""Before a number: no minus sign, no decimal point, no sign of inequality; '->' may stand there."""


def letter_of_choice_text(text: str, *, letters: str, choices: Sequence[str]) -> str | None:
    """Letter of the one choice whose text the reply gives; None for none or several.

    Looked for in the last boxed expression, after the last 'answer is', in square brackets, in what a
    last complete sentence says that something is, in that sentence, and in the whole reply where that is
    short; the first place that holds exactly one choice decides. A place that says that the result is no
    option gives none.
    """
    plain = [_plain(choice) for choice in choices[: len(letters)]]
    if len(set(plain)) != len(plain) or not any(plain):
        return None
    for place in map(_plain, _stated_places(text)):
        places = _choices_in(place, plain)
        if len(places) == 1:
            return letters[places[0]]
    bracketed_place = _bracketed_place(text, plain)
    if bracketed_place is not None:
        return letters[bracketed_place]
    for place in map(_plain, _closing_places(text)):
        places = _choices_in(place, plain)
        if len(places) == 1:
            is_open = _BUT_NOT.search(place) or _is_one_of_a_list(places[0], text, plain)
            return None if is_open else letters[places[0]]
    return None


def _is_one_of_a_list(place: int, text: str, choices: Sequence[str]) -> bool:
    """Whether the reply closes with one of several options that it gives as sentences of their own."""
    if len(choices[place].split()) < _SENTENCE_WORDS:
        return False
    sentences = {_plain(part) for part in _SENTENCE_BREAK.split(text[-20_000:])}
    return sum(choice in sentences for choice in choices) > 1


def fits_choice(entry: str, choice: str) -> bool:
    """Whether a line after an option's letter gives the option: its text or beginning, or most words."""
    line, option = _plain(entry), _plain(choice)
    if not line or not option:
        return not line
    if line.startswith(option) or (len(line) >= _SHORT_CHOICE and option.startswith(line)):
        return True
    numbers = set(_NUMBER.findall(option))
    if numbers and not numbers & set(_NUMBER.findall(line)):
        return False
    words = set(re.findall(r"\w+", option))
    return len(words & set(re.findall(r"\w+", line))) >= _SHARED_WORDS * len(words) > 0


def with_marked_romans(text: str, choices: Sequence[str]) -> str:
    """The text with '(i)' marked as a Roman number where the choices count (i), (ii) and so on."""
    counts = any(_ROMAN_CHOICE.search(choice) for choice in choices)
    return text.replace("(i)", "(ⅰ)") if counts else text


def _stated_places(text: str) -> list[str]:
    """The contents of the last \\boxed{}, and the end of the last sentence with 'the answer is'."""
    boxes = _BOX.findall(text[-20_000:])
    statements = _STATEMENT.findall(text[-20_000:])
    return [*boxes[-1:], *statements[-1:]]


def _bracketed_place(text: str, choices: Sequence[str]) -> int | None:
    """The option that the last line with an option in square brackets names; None for two in a line."""
    for line in reversed(text[-20_000:].splitlines()):
        contents = {_plain(match.group(1)) for match in _BRACKETS.finditer(line)}
        places = [
            i for i, choice in enumerate(choices) if choice in contents and not choice.isdigit()
        ]
        if places:
            return places[0] if len(places) == 1 else None
    return None


def _closing_places(text: str) -> list[str]:
    """The predicate of the last complete sentence, that sentence, and the whole of a short reply."""
    places: list[str] = []
    last = _SENTENCE_BREAK.split(text.rstrip()[-_SHORT_REPLY:])[-1]
    if last.rstrip("*_ ").endswith((".", "!", "]")):
        predicate = _PREDICATE.search(last)
        places += [predicate.group(1), last] if predicate else [last]
    return [*places, text] if len(text) <= _SHORT_REPLY else places


def _choices_in(place: str, choices: Sequence[str]) -> list[int]:
    """Choices the place names: equal to it, or else within it and not within a longer choice."""
    equal = [i for i, choice in enumerate(choices) if choice and _is_equal(choice, place)]
    if equal:
        return equal
    starts = {i: _start_of(choice, place) for i, choice in enumerate(choices) if choice}
    spans = [(i, start, start + len(choices[i])) for i, start in starts.items() if start >= 0]
    outer = [
        i
        for i, start, end in spans
        if not any(s <= start and end <= e and (s, e) != (start, end) for _, s, e in spans)
    ]
    has_number = any(_NUMBER.search(choices[i]) for i in outer)
    return [] if has_number and _NOT_LISTED.search(place) else outer


def _is_equal(choice: str, place: str) -> bool:
    """Equal but for spaces and brackets, for a number written as a word, or for a unit after a number."""
    if _bare(choice) == _bare(place):
        return True
    if choice in _SMALL_NUMBERS:
        return place == str(_SMALL_NUMBERS.index(choice))
    number = _NUMBER.match(choice)
    unit = choice[number.end() :] if number else ""
    return number is not None and place == number.group() and unit.replace(" ", "").isalpha()


def _bare(text: str) -> str:
    return re.sub(r"[\s(){}\[\]]", "", text)


def _start_of(choice: str, place: str) -> int:
    """Where the choice stands in the passage as whole words; -1 if absent, denied or taken back."""
    if len(choice) < _SHORT_CHOICE and len(place) > 4 * _SHORT_CHOICE:
        return -1
    sign = _NO_SIGN if choice[:1].isdigit() else ""
    # in Chinese and Japanese nothing stands between the words of a sentence
    edges = (
        rf"(?<!{SPACED_LETTER})(?<!\w[.,/^-])",
        rf"(?!{SPACED_LETTER})(?![.,/^-]\w)",
    )
    pattern = f"{edges[0]}{sign}{re.escape(choice)}{edges[1]}"
    matches = list(re.finditer(pattern, place[:2_000]))
    if any(_RETRACTION.match(place[match.end() : match.end() + 120]) for match in matches):
        return -1
    starts = (
        m.start() for m in matches if not _DENIAL.search(place[max(0, m.start() - 60) : m.start()])
    )
    return next(starts, -1)


def _plain(text: str) -> str:
    bare = unicodedata.normalize("NFKC", text).translate(_MINUS)
    for pattern, symbol in _LATEX:
        bare = pattern.sub(symbol, bare)
    bare = _ROMAN.sub(r"\1", _MARKUP.sub("", bare).casefold())
    return _EDGES.sub("", " ".join(bare.split()))
