"""Lines of a reply that form one list: numbered lines, table rows, bullets.

Owns which lines with markers belong together and which list lies within another. Promises that a line
is in one run at most, in the order of the reply.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fieldwork.parsing.inline_lists import enumerated_names, table_names
from fieldwork.parsing.markers import Line
from fieldwork.parsing.names import item_names
from fieldwork.parsing.writing import starts_small

NUMBERED, TABLE, BULLETS = range(3)
"""Ranks of runs: of several lists in a reply, numbered ones come before tables, these before bullets."""

_MAX_RUNS = 300
_INDENT_SLACK = 1


class Run(NamedTuple):
    """Lines that form one list."""

    rank: int
    lines: tuple[Line, ...]
    names: tuple[str, ...]


def marked_runs(lines: Sequence[Line]) -> list[Run]:
    """All lists with markers that are no part of another, in the order of the reply."""
    return _top_level([*_numbered_runs(lines), *_table_runs(lines), *_bullet_runs(lines)], lines)


def _top_level(runs: Iterable[Run], lines: Sequence[Line]) -> list[Run]:
    """The runs that do not lie within, or hang from the last entry of, another run."""
    ordered = sorted(runs, key=_place)
    outermost: list[Run] = []
    for run in ordered[:_MAX_RUNS]:
        if not any(_is_inside(run, outer, lines) for outer in outermost):
            outermost.append(run)
    return outermost


def inner_run(outer: Run, lines: Sequence[Line]) -> Run | None:
    """The bullets beneath the entries of `outer` as one list, where each entry has some of one form."""
    ends = [*(line.position for line in outer.lines[1:]), len(lines)]
    bullets: list[list[Line]] = []
    for entry, end in zip(outer.lines, ends, strict=True):
        beneath = [line for line in lines[entry.position + 1 : end] if line.kind == "bullet"]
        bullets.append([line for line in beneath if line.indent == beneath[0].indent])
    if not all(bullets) or len({entries[0].style for entries in bullets}) > 1:
        return None
    within = tuple(line for entries in bullets for line in entries)
    return Run(outer.rank, within, item_names(_contents(within, lines)))


def _place(run: Run) -> tuple[int, int]:
    return run.lines[0].position, run.lines[0].indent


def _is_inside(run: Run, outer: Run, lines: Sequence[Line]) -> bool:
    first, last = run.lines[0], outer.lines[-1]
    if len(outer.lines) < 2:
        return False
    if outer.lines[0].position <= first.position < last.position:
        return True
    if first.position <= last.position:
        return False
    between = lines[last.position + 1 : first.position]
    base = outer.lines[0].indent
    return first.indent > base + _INDENT_SLACK or not any(
        line.kind in {"plain", "title"} and line.indent <= base for line in between
    )


def _numbered_runs(lines: Sequence[Line]) -> list[Run]:
    """Numbered lists: each number goes on with the latest list it follows in style and indent."""
    open_runs: list[list[Line]] = []
    for line in lines:
        if line.kind != "number" or line.number is None:
            continue
        fitting = (run for run in reversed(open_runs[-40:]) if _continues(run, line))
        target = next(fitting, None)
        if target is None:
            open_runs.append([line])
        else:
            target.append(line)
    lists = [run for run in open_runs if len(run) > 1 and _is_sequence(run)]
    if not lists:
        lists = [run for run in open_runs if len(open_runs) == 1 and _is_first_entry(run[0])]
    lazy = [run[0] for run in open_runs if len(run) == 1 and run[0].number == 1]
    same = [line for line in lazy if (line.style, line.indent) == (lazy[0].style, lazy[0].indent)]
    if len(same) > 2 and same[0].style != "letter":
        lists.append(same)
    return [Run(NUMBERED, tuple(run), item_names(_contents(run, lines))) for run in lists]


def _continues(run: Sequence[Line], line: Line) -> bool:
    last = run[-1]
    if last.style != line.style or abs(last.indent - line.indent) > _INDENT_SLACK:
        return False
    if last.number is None or line.number is None:
        return False
    if line.number == last.number + 1:
        return True
    return line.number == last.number - 1 and (
        len(run) == 1 or (run[-2].number or 0) == last.number + 1
    )


def _is_sequence(run: Sequence[Line]) -> bool:
    """Lettered entries must begin at A: 'I.' alone is a pronoun or a Roman number."""
    return "letter" not in run[0].style or run[0].number == 1


def _is_first_entry(line: Line) -> bool:
    """Whether a lone line is the first entry of a list: the only one asked for, or one cut off."""
    if line.number != 1 or not line.style.endswith(("number", "circled", "labelled")):
        return False
    if starts_small(line.content):
        return False
    return not enumerated_names(f"1. {line.content}")


def _bullet_runs(lines: Sequence[Line]) -> list[Run]:
    """Bulleted lists: a less indented line that is no bullet ends one."""
    runs: list[list[Line]] = []
    current: dict[tuple[str, int], list[Line]] = {}
    for line in lines:
        if line.kind == "bullet":
            key = (line.style, line.indent)
            if key not in current:
                current[key] = []
                runs.append(current[key])
            current[key].append(line)
            current = {k: run for k, run in current.items() if k[1] <= line.indent}
        elif line.kind in {"title", "number"} or (line.kind == "plain" and line.indent == 0):
            current = {k: run for k, run in current.items() if k[1] < line.indent}
    return [
        Run(BULLETS, tuple(run), item_names(_contents(run, lines))) for run in runs if len(run) > 1
    ]


def _table_runs(lines: Sequence[Line]) -> list[Run]:
    runs: list[Run] = []
    block: list[Line] = []
    for line in [*lines, Line(len(lines), "blank", "", 0, None, "")]:
        if "|" in line.content:
            block.append(line)
            continue
        names = table_names([row.content for row in block]) if len(block) > 2 else ()
        if names:
            runs.append(Run(TABLE, tuple(block), names))
        block = []
    return runs


def _contents(run: Sequence[Line], lines: Sequence[Line]) -> list[str]:
    """Entry texts; an entry whose marker stands alone takes the next line that has text."""
    contents: list[str] = []
    for line in run:
        following = lines[line.position + 1 : line.position + 3]
        beneath = next((other.content for other in following if other.kind != "blank"), "")
        contents.append(line.content if line.content.strip("*_ ") else beneath)
    return contents
