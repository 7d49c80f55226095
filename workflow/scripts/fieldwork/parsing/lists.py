"""Reading the items a list answer gives.

Owns the choice of the list among all that a reply holds. Promises that every item is a name the
reply wrote as a list entry, in its order, repeats included, and that nothing is made of prose.
"""

import re
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from fieldwork.parsing.bare_lists import bare_names, title_names
from fieldwork.parsing.inline_lists import comma_names, enumerated_names, json_names
from fieldwork.parsing.markers import Line, read_lines
from fieldwork.parsing.refusals import declines, hands_over, is_firm, is_refusal
from fieldwork.parsing.runs import BULLETS, NUMBERED, Run, inner_run, marked_runs
from fieldwork.parsing.sections import (
    Section,
    Split,
    is_advice,
    sections_of,
    split_answer,
    without_asides,
)
from fieldwork.parsing.truncation import without_unfinished
from fieldwork.parsing.visible import visible_text
from fieldwork.parsing.writing import count_words

REFUSED = "refused"
EMPTY = "empty"
NO_LIST = "no list found"

_MAX_TEXT = 200_000
_MAX_LINE = 4_000
_NAME_WORDS = 14
"""Median words of a name above which entries are sentences, not names."""
_INNER_WORDS = 6
"""Median words of bullets beneath an entry above which they describe it."""
_HEADS = re.compile(r"^(?:\*\*|__).+(?:\*\*|__)\W*$|[:：][*_\s]*$")
"""An entry in bold letters, or one that ends in a colon, can be a heading."""


class ParsedList(NamedTuple):
    """What a list answer says."""

    items: tuple[str, ...] | None
    """Names in the order of the answer, repeats included; None where no list can be read."""
    reason: str | None
    """`refused`, `empty` or `no list found`; None where there are items."""


def parse_list(
    text: str | None, *, expected: int | None = 5, truncated: bool = False
) -> ParsedList:
    """Read the list a reply gives to a question that asks for `expected` items.

    All items of that list are kept, be they fewer or more. Of several lists those that stand under
    headings such as 'Tips' are left out. Then the one with `expected` items is taken, the first of
    them unless a later one is called final or revised; else the lists of an answer that is split over
    headings are one; else numbered lists go before tables, bullets, headings, bare lines and
    comma-separated ones, and longer ones before shorter. Reasoning that the reply shows is no part of
    it: a reply of nothing else is `empty`. A reply that declines is `refused` unless it then hands over
    a list.

    Args:
        expected: items the question asks for, None where it names no number.
        truncated: the provider cut the reply off, so that its last name may be half a name.
    """
    visible = visible_text(text)[:_MAX_TEXT]
    if not visible.strip():
        return ParsedList(None, EMPTY)
    broken = truncated and not (text or "").endswith("\n")
    whole = without_unfinished(visible) if broken else visible
    listing = _listing(whole, expected=expected)
    if _is_refusal(visible, listing, expected=None if truncated else expected):
        return ParsedList(None, REFUSED)
    return ParsedList(listing.names, None) if listing.names else ParsedList(None, NO_LIST)


def _is_refusal(visible: str, listing: Run, *, expected: int | None) -> bool:
    """Whether the reply refuses, and what it lists is not what was asked for.

    A list of just the length asked for is an answer, whatever stands before it. `expected` is None
    where the list may be shorter than asked for without a reason.
    """
    if not listing.names:
        return is_refusal(visible)
    if len(listing.names) == expected or not declines(visible) or hands_over(visible):
        return False
    few = expected is not None and len(listing.names) < expected
    return (few and is_firm(visible)) or is_advice(listing)


def _listing(text: str, *, expected: int | None) -> Run:
    """The list of the text; one without names where it holds none."""
    if text.lstrip().startswith(("[", "{")):
        values = json_names(text)
        if values:
            return Run(NUMBERED, (), values)
    lines = read_lines(text)
    best = _choose([run for run in marked_runs(lines) if _may_answer(run)], lines, expected)
    if best is not None and len(best.names) != expected:
        best = _inner_list(best, lines, expected) or best
    titles = title_names(lines, expected=expected)
    if titles and (best is None or (len(best.names) != expected and best.rank > NUMBERED)):
        return Run(NUMBERED, (), titles)
    return best or Run(NUMBERED, (), _names_without_markers(text, lines, expected=expected))


def _inner_list(outer: Run, lines: Sequence[Line], expected: int | None) -> Run | None:
    """What stands beneath numbered headings, where that makes up the number asked for."""
    if not all(line.style.startswith("h") or _HEADS.search(line.content) for line in outer.lines):
        return None
    inner = inner_run(outer, lines)
    if inner is None or len(inner.names) != expected or len(set(inner.names)) != expected:
        return None
    is_short = median(map(count_words, inner.names)) <= _INNER_WORDS
    return inner if is_short and _may_answer(inner) else None


def _may_answer(run: Run) -> bool:
    """Whether the entries are names: not questions back, not sentences."""
    questions = sum(line.content.rstrip("*_ ").endswith(("?", "？")) for line in run.lines)
    if not run.names or 2 * questions > len(run.lines):
        return False
    return median(count_words(name) for name in run.names) <= _NAME_WORDS


def _choose(runs: Sequence[Run], lines: Sequence[Line], expected: int | None) -> Run | None:
    sections = without_asides(sections_of(runs, lines))
    split = split_answer(sections)
    exact = [section for section in sections if len(section.run.names) == expected]
    if exact:
        return _choose_exact(exact, split, expected)
    if split is not None:
        return split.run
    rest = [section.run for section in sections]
    bullets = _union_of_bullets(rest, expected=expected)
    return bullets or min(rest, key=lambda run: (run.rank, -len(run.names)), default=None)


def _choose_exact(exact: Sequence[Section], split: Split | None, expected: int | None) -> Run:
    """Of lists of the length asked for: the final one, the whole they are part of, or the first."""
    best = min(section.run.rank for section in exact)
    equals = [section for section in exact if section.run.rank == best]
    final = [section.run for section in equals if section.is_final]
    if final:
        return final[-1]
    if split is not None and all(section in split.parts for section in exact):
        is_sum = len(split.run.names) in (expected, len(exact) * (expected or 0))
        if split.is_whole or (len(exact) > 1 and is_sum):
            return split.run
    return equals[0].run


def _union_of_bullets(runs: Sequence[Run], *, expected: int | None) -> Run | None:
    """Bullets apart from each other as one list, where they make up the number asked for."""
    bullets = [run for run in runs if run.rank == BULLETS]
    names = tuple(name for run in bullets for name in run.names)
    if len(bullets) != len(runs) or len(names) != expected:
        return None
    return Run(BULLETS, tuple(line for run in bullets for line in run.lines), names)


def _names_without_markers(
    text: str, lines: Sequence[Line], *, expected: int | None
) -> tuple[str, ...]:
    for line in text.split("\n"):
        names = enumerated_names(line[:_MAX_LINE])
        if len(names) >= min(3, expected or 3):
            return names
    return (
        json_names(text)
        or bare_names(lines, expected=expected)
        or comma_names(text, expected=expected)
    )
