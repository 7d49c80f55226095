"""Reading the items that a list answer gives.

Owns the choice among the lists that a reply holds. Promises that every item is a name that the reply
has as a list entry, in the order of the reply and with repeats, and that prose gives no items.
"""

import re
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from fieldwork.parsing.inline_lists import comma_names, enumerated_names, json_names
from fieldwork.parsing.line_markers import ReplyLine, read_lines
from fieldwork.parsing.list_sections import (
    ListSection,
    SplitAnswer,
    is_advice,
    sections_of,
    split_answer,
    without_asides,
)
from fieldwork.parsing.marked_lists import BULLETS, NUMBERS, NameList, inner_list, marked_lists
from fieldwork.parsing.refusals import (
    announces_answer,
    condemns,
    declines,
    is_firm_refusal,
    is_refusal,
)
from fieldwork.parsing.truncation import without_unfinished
from fieldwork.parsing.unmarked_lists import bare_names, title_names
from fieldwork.parsing.visible_text import visible_text
from fieldwork.parsing.writing_systems import count_words
from fieldwork.records.parsing import EMPTY, NO_LIST, REFUSAL

_MAX_TEXT = 200_000
_MAX_LINE = 4_000
_NAME_WORDS = 14
"""With more words (median of the entries) entries are sentences, not names."""
_INNER_WORDS = 6
"""With more words (median) the bullets beneath an entry describe it."""
_HEADS = re.compile(r"^(?:\*\*|__).+(?:\*\*|__)\W*$|[:：][*_\s]*$")
"""An entry in bold letters, or one that ends in a colon, can be a heading."""


class ParsedList(NamedTuple):
    items: tuple[str, ...] | None
    """Names in the order of the answer, repeats included; None where no list can be read."""
    reason: str | None
    """`refused`, `empty` or `no list found`; None where there are items."""


def parse_list(
    text: str | None, *, expected_length: int | None = 5, is_truncated: bool = False
) -> ParsedList:
    """Read the list a reply gives to a question that asks for `expected_length` items.

    All items of that list are kept, be they fewer or more. Of several lists those that stand under
    headings such as 'Tips' are left out. Then the one with `expected_length` items is taken, the first of
    them unless a later one is called final or revised; else the lists of an answer that is split over
    headings are one; else numbered lists go before tables, bullets, headings, bare lines and
    comma-separated ones, and longer ones before shorter. Reasoning that the reply shows is no part of
    it: a reply of nothing else is `empty`. A reply that declines is `refused` unless it then hands over
    a list.

    Args:
        expected_length: items the question asks for, None where it names no number.
        is_truncated: the provider cut the reply off, so that its last name may be half a name.
    """
    visible = visible_text(text)[:_MAX_TEXT]
    if not visible.strip():
        return ParsedList(None, EMPTY)
    breaks_off = is_truncated and not (text or "").endswith("\n")
    whole = without_unfinished(visible) if breaks_off else visible
    name_list = _listing(whole, expected_length=expected_length)
    if _is_refusal(visible, name_list, expected_length=None if is_truncated else expected_length):
        return ParsedList(None, REFUSAL)
    return ParsedList(name_list.names, None) if name_list.names else ParsedList(None, NO_LIST)


def _is_refusal(visible: str, name_list: NameList, *, expected_length: int | None) -> bool:
    """Whether the reply refuses, and what it lists is not what was asked for.

    A list of just the length asked for is an answer, unless the reply calls the request wrong.
    `expected_length` is None where the list may be shorter than asked for without a reason.
    """
    if not name_list.names:
        return is_refusal(visible)
    if condemns(visible):
        return True
    is_exact = len(name_list.names) == expected_length
    if is_exact or not declines(visible) or announces_answer(visible):
        return False
    is_too_short = expected_length is not None and len(name_list.names) < expected_length
    return (is_too_short and is_firm_refusal(visible)) or is_advice(name_list)


def _listing(text: str, *, expected_length: int | None) -> NameList:
    if text.lstrip().startswith(("[", "{")):
        values = json_names(text)
        if values:
            return NameList(NUMBERS, (), values)
    lines = read_lines(text)
    best = _choose([*filter(_may_answer, marked_lists(lines))], lines, expected_length)
    if best is not None and len(best.names) != expected_length:
        best = _inner_list(best, lines, expected_length) or best
    heading_names = title_names(lines, expected_length=expected_length)
    if heading_names and (
        best is None or (len(best.names) != expected_length and best.rank > NUMBERS)
    ):
        return NameList(NUMBERS, (), heading_names)
    return best or NameList(
        NUMBERS, (), _names_without_markers(text, lines, expected_length=expected_length)
    )


def _inner_list(
    outer: NameList, lines: Sequence[ReplyLine], expected_length: int | None
) -> NameList | None:
    """The list beneath numbered headings, where it has the length asked for."""
    if not all(line.style.startswith("h") or _HEADS.search(line.content) for line in outer.lines):
        return None
    inner = inner_list(outer, lines)
    if inner is None or not len(inner.names) == len(set(inner.names)) == expected_length:
        return None
    is_short = median(map(count_words, inner.names)) <= _INNER_WORDS
    return inner if is_short and _may_answer(inner) else None


def _may_answer(name_list: NameList) -> bool:
    """Whether the entries are names: not questions back, not sentences."""
    questions = sum(line.content.rstrip("*_ ").endswith(("?", "？")) for line in name_list.lines)
    if not name_list.names or 2 * questions > len(name_list.lines):
        return False
    return median(count_words(name) for name in name_list.names) <= _NAME_WORDS


def _choose(
    candidates: Sequence[NameList], lines: Sequence[ReplyLine], expected_length: int | None
) -> NameList | None:
    sections = without_asides(sections_of(candidates, lines))
    split = split_answer(sections)
    exact = [section for section in sections if len(section.name_list.names) == expected_length]
    if exact:
        return _choose_exact(exact, split, expected_length)
    if split is not None:
        return split.name_list
    rest = [section.name_list for section in sections]
    bullets = _union_of_bullets(rest, expected_length=expected_length)
    return bullets or min(
        rest, key=lambda name_list: (name_list.rank, -len(name_list.names)), default=None
    )


def _choose_exact(
    exact: Sequence[ListSection], split: SplitAnswer | None, expected_length: int | None
) -> NameList:
    """Of lists of the length asked for: the final one, the whole they are part of, or the first."""
    best = min(section.name_list.rank for section in exact)
    equals = [section for section in exact if section.name_list.rank == best]
    final = [section.name_list for section in equals if section.is_final]
    if final:
        return final[-1]
    if split is not None and all(section in split.parts for section in exact):
        sums = (expected_length, len(exact) * (expected_length or 0))
        is_sum = len(split.name_list.names) in sums
        if split.is_whole or (len(exact) > 1 and is_sum):
            return split.name_list
    return equals[0].name_list


def _union_of_bullets(
    candidates: Sequence[NameList], *, expected_length: int | None
) -> NameList | None:
    """All bulleted lists as one, where it has the length asked for."""
    bullets = [name_list for name_list in candidates if name_list.rank == BULLETS]
    names = tuple(name for name_list in bullets for name in name_list.names)
    if len(bullets) != len(candidates) or len(names) != expected_length:
        return None
    return NameList(
        BULLETS, tuple(line for name_list in bullets for line in name_list.lines), names
    )


def _names_without_markers(
    text: str, lines: Sequence[ReplyLine], *, expected_length: int | None
) -> tuple[str, ...]:
    for line in text.split("\n"):
        names = enumerated_names(line[:_MAX_LINE])
        if len(names) >= min(3, expected_length or 3):
            return names
    return (
        json_names(text)
        or bare_names(lines, expected_length=expected_length)
        or comma_names(text, expected_length=expected_length)
    )
