"""Lists without markers: headings, and lines that hold a name and nothing else.

Promises that lines of prose, verse and conversation are no list: without markers the number of lines that
the question asks for must be met, or a line must announce them.
"""

import re
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from fieldwork.parsing.markers import Line
from fieldwork.parsing.names import item_names
from fieldwork.parsing.writing import count_words, ends_sentence, has_case, starts_small

_SHORT = 8
"""Words of a line that may be a name whatever else speaks for it."""
_LONG = 16
"""Words of a line that may be a name where the number of lines is the one asked for."""
_QUOTED_WORDS = 24
_CASELESS = 4
_FEW = 3
_CLOSING = re.compile(
    r"^\W*(?:conclusion|summary|final\s+(?:thoughts?|note|words?|tip)|notes?|tips?|disclaimer|sources?"
    r"|references|key\s+takeaways?|honou?rable\s+mentions?|bonus|in\s+short|bottom\s+line|why\b.*"
    r"|how\b.*|overview|introduction|next\s+steps?|important\b.*|what\b.*\?)\W*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"^[*_]{0,3}(?:\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“”]+[“”]|‘[^’]+’|'[^']+'|《[^》]+》|「[^」]+」|『[^』]+』)"
    r"[*_]{0,3}\s*(?:\([^()]*\))?[,;.]?[*_]{0,3}$"
)
_SET_OFF = re.compile(
    r"^(?:\*\*[^*]+\*\*|__[^_]+__|\"[^\"]+\"|“[^”]+”|«[^»]+»)(?=\s*(?:$|[-–—:,(]|(?:by|de|von|di|par)\s|[^\s\w]|\S))"
)
"""Emphasis or quotes at the beginning of a line: what they hold is the name."""
_DESCRIPTION = re.compile(r"\s[-–—]\s|(?<=\w)[—]|(?<!\d):\s|：|\s\(|（|\s(?:->|=>|→)\s")
_CODE = re.compile(r"[{}=<>\\]|;$|^(?://|\$\s)")
_EXCLAIMED = re.compile(r"!\W*$")
_LEAD_IN = re.compile(
    r"^\W*(?:(?:sure|of\s+course|certainly|absolutely|okay|ok)\b.{0,40})?(?:here\s+(?:are|is)|these\s+are|my\s+(?:top|five|picks)"
    r"|I(?:['’]d|\s+would)?\s+(?:recommend|suggest))\b[^,]{0,120}$",
    re.IGNORECASE,
)


def title_names(lines: Sequence[Line], *, expected: int | None) -> tuple[str, ...]:
    """Headings or bold lines without numbers, where exactly `expected` of one style stand."""
    titles = [line for line in lines if line.kind == "title" and not _CLOSING.match(line.content)]
    for style in dict.fromkeys(line.style for line in titles):
        same = [line.content for line in titles if line.style == style]
        names = item_names(same)
        asks = any(name.rstrip("* ").endswith("?") for name in same)
        if expected is not None and len(names) == expected > 1 and not asks:
            return names
    return ()


class _Block(NamedTuple):
    """Lines without markers, one after the other, each of which may be a name."""

    contents: list[str]
    is_announced: bool
    is_alone: bool
    """All other lines of the reply are sentences."""


def bare_names(lines: Sequence[Line], *, expected: int | None) -> tuple[str, ...]:
    """One name a line: `expected` of them, or three and more short ones after a line ending in ':'."""
    written = [line.content for line in lines if line.kind in {"plain", "title"}]
    for longest in (_SHORT, _LONG):
        block = _block(written, longest=longest, expected=expected)
        names = item_names(block.contents)
        if len(names) != len(block.contents) or not _are_names(names, block):
            continue
        exact = expected is not None and len(names) == expected > 1
        loose = longest == _SHORT and block.is_announced and len(names) >= 3
        if (exact and (block.is_announced or block.is_alone)) or (loose and _are_short(names)):
            return names
    return ()


def _block(written: Sequence[str], *, longest: int, expected: int | None) -> _Block:
    start = next((i + 1 for i, line in enumerate(written) if _announces(line)), 0)
    contents: list[str] = []
    for content in written[start:]:
        if _is_code(content):
            return _Block([], start > 0, is_alone=False)
        if not _may_be_name(content, longest=longest):
            break
        contents.append(content)
    others = [*written[: max(start - 1, 0)], *written[start + len(contents) :]]
    contents = _without_greeting(contents, expected=expected)
    alone = all(_is_sentence(other) for other in others)
    return _Block(contents, start > 0, alone)


def _without_greeting(contents: list[str], *, expected: int | None) -> list[str]:
    """The lines without an exclamation before or after them ('Sure!', 'Enjoy!') that makes them too many."""
    if expected is None or len(contents) <= expected:
        return contents
    first = 1 if _EXCLAIMED.search(contents[0]) else 0
    last = len(contents) - 1 if _EXCLAIMED.search(contents[-1]) else len(contents)
    cuts = (contents[first:], contents[:last], contents[first:last])
    return next((cut for cut in cuts if len(cut) == expected), contents)


def _announces(line: str) -> bool:
    return line.rstrip("*_ ").endswith((":", "：")) or _LEAD_IN.match(line) is not None


def _may_be_name(content: str, *, longest: int) -> bool:
    """Whether the line is a title in quotes, a name and its description, or few words and no sentence."""
    words = count_words(content)
    if _QUOTED.match(content):
        return words <= _QUOTED_WORDS
    set_off = _SET_OFF.match(content)
    if set_off:
        return count_words(set_off.group()) <= _SHORT
    described = _DESCRIPTION.search(content)
    if described:
        return 0 < count_words(content[: described.start()]) <= _SHORT
    return words <= longest and (not _is_sentence(content) or _is_exclaimed_title(content))


def _is_exclaimed_title(content: str) -> bool:
    """'Oklahoma!', 'Who Framed Roger Rabbit?': few words, each with a capital."""
    exclaimed = content.rstrip('*_"”’) ').endswith(("!", "?"))
    words = content.split()
    return exclaimed and len(words) <= _SHORT and not any(map(starts_small, words))


def _is_code(content: str) -> bool:
    """Whether the line, what describes a name aside, is one of a program or a formula."""
    described = _DESCRIPTION.search(content)
    return _CODE.search(content[: described.start()] if described else content) is not None


def _is_sentence(content: str) -> bool:
    """A line that ends like a sentence is prose."""
    return ends_sentence(content) or _announces(content)


def _are_names(names: Sequence[str], block: _Block) -> bool:
    """Whether most of the lines begin as names do, or all are a few words that a line announces."""
    few = block.is_announced and all(count_words(content) <= _FEW for content in block.contents)
    return bool(names) and (few or 2 * sum(map(starts_small, names)) < len(names))


def _are_short(names: Sequence[str]) -> bool:
    """Whether names that nothing counts are short, more so where capitals cannot tell them from clauses."""
    cased = any(has_case(name) for name in names)
    return median(count_words(name) for name in names) <= (_SHORT if cased else _CASELESS)
