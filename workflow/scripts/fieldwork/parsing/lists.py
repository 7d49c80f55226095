"""Reading the items that a list answer gives.

Owns the choice among the lists that a reply holds. Promises that every item is a name that the reply
has as a list entry, in the order of the reply and with repeats, and that prose gives no items.
"""

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
from fieldwork.parsing.marked_lists import NUMBERS, NameList, marked_lists
from fieldwork.parsing.refusals import (
    announces_answer,
    condemns,
    declines,
    is_firm_refusal,
    is_refusal,
)
from fieldwork.parsing.single_names import one_name
from fieldwork.parsing.truncation import without_unfinished
from fieldwork.parsing.unmarked_lists import bare_names, title_names
from fieldwork.parsing.visible_text import visible_text
from fieldwork.parsing.writing_systems import count_words
from fieldwork.records.parsing import EMPTY, NO_LIST, REFUSAL, Reader

_MAX_TEXT = 200_000
_MAX_LINE = 4_000
_MARKED_FORMS: tuple[Reader, ...] = ("numbered list", "table", "bulleted list")
"""By the ranks of lists with markers."""
_NAME_WORDS = 14
"""With more words (median of the entries) entries are sentences, not names."""


class ParsedList(NamedTuple):
    items: tuple[str, ...] | None
    """Names in the order of the answer, repeats included; None where no list can be read."""
    reason: str | None
    """`refused`, `empty` or `no list found`; None where there are items."""
    read_by: Reader | None = None
    """The form of the list."""


def parse_list(
    text: str | None,
    *,
    expected_length: int | None = 5,
    is_truncated: bool = False,
    question: str = "",
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
        question: its words say which column of a table, and which label, holds the names.
    """
    visible = visible_text(text)[:_MAX_TEXT]
    if not visible.strip():
        return ParsedList(None, EMPTY)
    breaks_off = is_truncated and not (text or "").endswith("\n")
    whole = without_unfinished(visible) if breaks_off else visible
    read_by, name_list = _listing(whole, expected_length=expected_length, question=question)
    if _is_refusal(visible, name_list, expected_length=None if is_truncated else expected_length):
        return ParsedList(None, REFUSAL)
    if not name_list.names:
        return ParsedList(None, NO_LIST)
    return ParsedList(name_list.names, None, read_by)


def _is_refusal(visible: str, name_list: NameList, *, expected_length: int | None) -> bool:
    """Whether the reply refuses, and what it lists is not what was asked for.

    A list of just the length asked for is an answer, unless the reply calls the request wrong or gives
    one name alone.
    `expected_length` is None where the list may be shorter than asked for without a reason.
    """
    if not name_list.names or expected_length == 1:
        return is_refusal(visible)
    if condemns(visible):
        return True
    is_exact = len(name_list.names) == expected_length
    if is_exact or not declines(visible) or announces_answer(visible):
        return False
    is_too_short = expected_length is not None and len(name_list.names) < expected_length
    return (is_too_short and is_firm_refusal(visible)) or is_advice(name_list)


def _listing(text: str, *, expected_length: int | None, question: str) -> tuple[Reader, NameList]:
    """The list of a reply, which may be empty, and its form."""
    if text.lstrip().startswith(("[", "{")) and (values := json_names(text)):
        return "JSON", NameList(NUMBERS, (), values)
    lines = read_lines(text)
    if expected_length == 1 and (name := one_name(lines, question=question)):
        return "one name", NameList(NUMBERS, (), (name,))
    best = _choose(
        [*filter(_may_answer, marked_lists(lines, question=question))], lines, expected_length
    )
    heading_names = title_names(lines, expected_length=expected_length)
    if heading_names and (
        best is None or (len(best.names) != expected_length and best.rank > NUMBERS)
    ):
        return "headings", NameList(NUMBERS, (), heading_names)
    if best is not None:
        return _MARKED_FORMS[best.rank], best
    reader, names = _names_without_markers(text, lines, expected_length=expected_length)
    return reader, NameList(NUMBERS, (), names)


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
    return min(rest, key=lambda name_list: (name_list.rank, -len(name_list.names)), default=None)


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


def _names_without_markers(
    text: str, lines: Sequence[ReplyLine], *, expected_length: int | None
) -> tuple[Reader, tuple[str, ...]]:
    for line in text.split("\n"):
        names = enumerated_names(line[:_MAX_LINE])
        if len(names) >= min(3, expected_length or 3):
            return "numbers in a line", names
    if names := json_names(text):
        return "JSON", names
    if names := bare_names(lines, expected_length=expected_length):
        return "bare lines", names
    return "commas", comma_names(text, expected_length=expected_length)
