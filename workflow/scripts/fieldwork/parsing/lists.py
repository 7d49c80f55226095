"""Reading the items a list answer gives.

Owns the choice of the list among all that a reply holds. Promises that every item is a name the
reply wrote as a list entry, in its order, repeats included, and that nothing is made of prose.
"""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from fieldwork.parsing.bare_lists import bare_names, title_names
from fieldwork.parsing.inline_lists import comma_names, enumerated_names, json_names
from fieldwork.parsing.markers import Line, read_lines
from fieldwork.parsing.refusals import declines, hands_over, is_firm, is_refusal
from fieldwork.parsing.runs import BULLETS, NUMBERED, Run, marked_runs
from fieldwork.parsing.sections import Section, answering, is_advice, joined, sections_of
from fieldwork.parsing.truncation import without_unfinished
from fieldwork.parsing.visible import visible_text
from fieldwork.parsing.writing import count_words

REFUSED = "refused"
EMPTY = "empty"
NO_LIST = "no list found"

_MAX_TEXT = 200_000
_NAME_WORDS = 14
"""Median words of a name above which entries are sentences, not names."""
_MAX_LINE = 4_000


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
    shown = visible_text(text)[:_MAX_TEXT]
    if not shown.strip():
        return ParsedList(None, EMPTY)
    listing = _find(without_unfinished(shown) if truncated else shown, expected=expected)
    if _is_declined(shown, listing, expected=None if truncated else expected):
        return ParsedList(None, REFUSED)
    return ParsedList(listing.names, None) if listing.names else ParsedList(None, NO_LIST)


def _is_declined(shown: str, listing: Run, *, expected: int | None) -> bool:
    """Whether the reply refuses, and what it lists is not what was asked for.

    A list of just the length asked for is an answer, whatever stands before it. `expected` is None where
    the list may be shorter than asked for without a reason.
    """
    if not listing.names:
        return is_refusal(shown)
    if len(listing.names) == expected or not declines(shown) or hands_over(shown):
        return False
    few = expected is not None and len(listing.names) < expected
    return (few and is_firm(shown)) or is_advice(listing)


def _find(shown: str, *, expected: int | None) -> Run:
    if shown.lstrip().startswith(("[", "{")):
        encoded = json_names(shown)
        if encoded:
            return Run(NUMBERED, (), encoded)
    lines = read_lines(shown)
    best = _choose([run for run in marked_runs(lines) if _is_answer(run)], lines, expected)
    titles = title_names(lines, expected=expected)
    if titles and (best is None or (len(best.names) != expected and best.rank > NUMBERED)):
        return Run(NUMBERED, (), titles)
    return best or Run(NUMBERED, (), _unmarked(shown, lines, expected=expected))


def _choose(runs: Sequence[Run], lines: Sequence[Line], expected: int | None) -> Run | None:
    sections = answering(sections_of(runs, lines))
    split = joined(sections)
    exact = [section for section in sections if len(section.run.names) == expected]
    if exact:
        return _of_exact(exact, split, expected)
    if split is not None:
        return split
    left = [section.run for section in sections]
    bullets = _joined_bullets(left, expected=expected)
    return bullets or min(left, key=lambda run: (run.rank, -len(run.names)), default=None)


def _of_exact(exact: Sequence[Section], split: Run | None, expected: int | None) -> Run:
    """Of several lists of the length asked for: the final one, or all parts of one, or the first."""
    best = min(section.run.rank for section in exact)
    equals = [section for section in exact if section.run.rank == best]
    final = [section.run for section in equals if section.is_final]
    if final:
        return final[-1]
    parts = [s.run for s in equals if split is not None and s.run.lines[0] in split.lines]
    if split is not None and len(parts) > 1 and len(parts) == len(exact):
        return split if len(split.names) == len(parts) * (expected or 0) else equals[0].run
    return equals[0].run


def _joined_bullets(runs: Sequence[Run], *, expected: int | None) -> Run | None:
    """Bullets apart from each other as one list, where they make up the number asked for."""
    bullets = [run for run in runs if run.rank == BULLETS]
    names = tuple(name for run in bullets for name in run.names)
    if len(bullets) != len(runs) or len(names) != expected:
        return None
    return Run(BULLETS, tuple(line for run in bullets for line in run.lines), names)


def _is_answer(run: Run) -> bool:
    """Whether the entries are names: not questions back, not sentences under bullets."""
    questions = sum(line.content.rstrip("*_ ").endswith(("?", "？")) for line in run.lines)
    if not run.names or 2 * questions > len(run.lines):
        return False
    return median(count_words(name) for name in run.names) <= _NAME_WORDS


def _unmarked(shown: str, lines: Sequence[Line], *, expected: int | None) -> tuple[str, ...]:
    for written in shown.split("\n"):
        names = enumerated_names(written[:_MAX_LINE]) if written.strip() else ()
        if len(names) >= min(3, expected or 3):
            return names
    return (
        json_names(shown)
        or bare_names(lines, expected=expected)
        or comma_names(shown, expected=expected)
    )
