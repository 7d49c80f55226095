"""Lines of a reply that form one list: numbered lines, table rows, bullets.

Owns which lines with markers belong together and which list lies within another. Promises that a line
is in one list at most, in the order of the reply.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fieldwork.parsing.inline_lists import enumerated_names, table_names
from fieldwork.parsing.item_names import item_names
from fieldwork.parsing.line_markers import ReplyLine
from fieldwork.parsing.writing_systems import starts_small

NUMBERS, TABLE, BULLETS = range(3)
"""Ranks: of several lists in a reply, numbered ones come before tables, and these before bullets."""

_MAX_LISTS = 300
_INDENT_SLACK = 1


class NameList(NamedTuple):
    """The names of one list in a reply, and the lines they stand in (none where it has no markers)."""

    rank: int
    lines: tuple[ReplyLine, ...]
    names: tuple[str, ...]


def marked_lists(lines: Sequence[ReplyLine], *, question: str) -> list[NameList]:
    """All lists with markers that are no part of another, in the order of the reply."""
    tables = _table_lists(lines, question=question)
    return _top_level([*_numbered_lists(lines), *tables, *_bullet_lists(lines)], lines)


def _top_level(name_lists: Iterable[NameList], lines: Sequence[ReplyLine]) -> list[NameList]:
    """The lists that neither lie within another list nor hang from its last entry."""
    name_lists = sorted(name_lists, key=lambda n: (n.lines[0].position, n.lines[0].indent))
    outermost: list[NameList] = []
    for name_list in name_lists[:_MAX_LISTS]:
        if not any(_is_inside(name_list, outer, lines) for outer in outermost):
            outermost.append(name_list)
    return outermost


def _is_inside(name_list: NameList, outer: NameList, lines: Sequence[ReplyLine]) -> bool:
    first, last = name_list.lines[0], outer.lines[-1]
    if len(outer.lines) < 2:
        return False
    if outer.lines[0].position <= first.position < last.position:
        return True
    if first.position <= last.position:
        return False
    lines_between = lines[last.position + 1 : first.position]
    base = outer.lines[0].indent
    return first.indent > base + _INDENT_SLACK or not any(
        line.kind in {"plain", "title"} and line.indent <= base for line in lines_between
    )


def _numbered_lists(lines: Sequence[ReplyLine]) -> list[NameList]:
    """Numbered lists: each number goes on with the latest list it follows in style and indent."""
    open_lists: list[list[ReplyLine]] = []
    for line in lines:
        if line.kind != "number" or line.number is None:
            continue
        fitting = (entries for entries in reversed(open_lists[-40:]) if _continues(entries, line))
        target = next(fitting, None)
        if target is None:
            open_lists.append([line])
        else:
            target.append(line)
    sequences = [entries for entries in open_lists if len(entries) > 1]
    if not sequences and len(open_lists) == 1 and _is_first_entry(open_lists[0][0]):
        sequences = open_lists
    ones = [entries[0] for entries in open_lists if len(entries) == 1 and entries[0].number == 1]
    alike = [one for one in ones if (one.style, one.indent) == (ones[0].style, ones[0].indent)]
    if len(alike) > 2:
        sequences.append(alike)
    return [_name_list(NUMBERS, entries, lines) for entries in sequences]


def _continues(entries: Sequence[ReplyLine], line: ReplyLine) -> bool:
    last = entries[-1]
    if last.style != line.style or abs(last.indent - line.indent) > _INDENT_SLACK:
        return False
    if last.number is None or line.number is None:
        return False
    if line.number == last.number + 1:
        return True
    return line.number == last.number - 1 and (
        len(entries) == 1 or (entries[-2].number or 0) == last.number + 1
    )


def _is_first_entry(line: ReplyLine) -> bool:
    """Whether a lone line is the first entry of a list: the only one asked for, or one cut off."""
    if line.number != 1 or starts_small(line.content):
        return False
    return not enumerated_names(f"1. {line.content}")


def _bullet_lists(lines: Sequence[ReplyLine]) -> list[NameList]:
    """Bulleted lists: a less indented line that is no bullet ends one. One bullet is the whole reply."""
    entry_lists: list[list[ReplyLine]] = []
    current: dict[tuple[str, int], list[ReplyLine]] = {}
    for line in lines:
        if line.kind == "bullet":
            key = (line.style, line.indent)
            if key not in current:
                current[key] = []
                entry_lists.append(current[key])
            current[key].append(line)
            current = {k: entries for k, entries in current.items() if k[1] <= line.indent}
        elif line.kind in {"title", "number"} or (line.kind == "plain" and line.indent == 0):
            current = {k: entries for k, entries in current.items() if k[1] < line.indent}
    n_lines = sum(line.kind != "blank" for line in lines)
    return [
        _name_list(BULLETS, entries, lines)
        for entries in entry_lists
        if len(entries) > 1 or n_lines == 1
    ]


def _table_lists(lines: Sequence[ReplyLine], *, question: str) -> list[NameList]:
    name_lists: list[NameList] = []
    block: list[ReplyLine] = []
    for line in [*lines, ReplyLine(len(lines), "blank", "", 0, None, "")]:
        if "|" in line.content:
            block.append(line)
            continue
        rows = [row.content for row in block]
        names = table_names(rows, question=question) if len(block) > 2 else ()
        if names:
            name_lists.append(NameList(TABLE, tuple(block), names))
        block = []
    return name_lists


def _name_list(rank: int, entries: Sequence[ReplyLine], lines: Sequence[ReplyLine]) -> NameList:
    """A list of entries; an entry whose marker stands alone takes the next line that has text."""
    contents: list[str] = []
    for line in entries:
        following = lines[line.position + 1 : line.position + 3]
        beneath = next((other.content for other in following if other.kind != "blank"), "")
        contents.append(line.content if line.content.strip("*_ ") else beneath)
    return NameList(rank, tuple(entries), item_names(contents))
