"""Rules that put one wording for another, everywhere but in what is protected.

Owns how a pattern of a table becomes a rule, and how the case of a text survives it. A rule is skipped
where its match overlaps a protected part, save that a negation may be put otherwise.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.tasks.variants.protected import Stretch, protected_stretches

MOST_ROUNDS = 20
"""Rounds in which a text has always come to rest; tables are tested for it."""


class WordingRule(NamedTuple):
    """A regular expression, without regard to case, and the template of what takes its place."""

    pattern: re.Pattern[str]
    replacement: str


def wording_rule(pattern: str, replacement: str, place: str) -> WordingRule:
    """A rule from the cells of a table.

    Args:
        place: file and row, for the message.

    Raises:
        StudyError: the pattern is no regular expression, matches an empty text, or lacks a group that
            the replacement names.
    """
    try:
        expression = re.compile(pattern, re.IGNORECASE)
        expression.sub(replacement, "")
    except (re.error, IndexError) as error:
        raise StudyError(
            f"{place}: the pattern {pattern!r} with the replacement {replacement!r} is no regular "
            f"expression of Python ({error}); correct it"
        ) from error
    if not pattern or expression.search(""):
        raise StudyError(
            f"{place}: the pattern {pattern!r} matches an empty text; write what it must find"
        )
    return WordingRule(expression, replacement)


def substitute(text: str, rule: WordingRule) -> str:
    """The text with a rule applied wherever its match touches nothing protected."""
    if not rule.pattern.search(text):
        return text
    stretches = protected_stretches(text)

    def put(match: re.Match[str]) -> str:
        return match[0] if is_protected(match, stretches) else _expand(match, rule.replacement)

    return rule.pattern.sub(put, text)


def settle(text: str, change: Callable[[str], str]) -> str:
    """The text after as many rounds of a change as alter it, so that one more round alters nothing."""
    for _ in range(MOST_ROUNDS):
        changed_text = change(text)
        if changed_text == text:
            break
        text = changed_text
    return text


def is_protected(match: re.Match[str], stretches: Sequence[Stretch]) -> bool:
    """Whether a match overlaps a protected part; the parts are in order and apart."""
    n_before = bisect_left(stretches, match.end(), key=lambda stretch: stretch.start)
    return n_before > 0 and stretches[n_before - 1].end > match.start()


def _expand(match: re.Match[str], replacement: str) -> str:
    """The replacement, beginning with a capital where the match did."""
    wording = match.expand(replacement)
    first = re.search(r"[^\W\d_]+", match[0])
    if not (first and wording and first[0][0].isupper()):
        return wording
    if first[0] != "I" and (len(first[0]) == 1 or not first[0].isupper()):
        wording = re.sub(rf"\b{re.escape(first[0])}\b", first[0].lower(), wording, count=1)
    return re.sub(r"[^\W\d_]", lambda letter: letter[0].upper(), wording, count=1)
