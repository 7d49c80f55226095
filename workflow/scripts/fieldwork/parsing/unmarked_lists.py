"""Lists without markers: headings, and lines that hold a name and nothing else.

Promises that lines of prose, verse and conversation are no list. Without markers there must be as many
lines as the question asks for, or a line that announces them.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from statistics import median
from typing import NamedTuple

from fieldwork.parsing.item_names import item_names
from fieldwork.parsing.line_markers import ReplyLine
from fieldwork.parsing.writing_systems import (
    count_words,
    ends_sentence,
    has_case,
    is_clause,
    starts_small,
)

_SHORT = 8
"""A line of at most so many words may be a name without further evidence."""
_LONG = 16
"""A line of at most so many words may be a name where the list has the length asked for."""
_TITLE_WORDS = 24
"""A line that begins with a title set off has at most so many words, what describes it counted."""
_TERSE = 4
"""Most lines have at most so many words where neither a number nor a capital marks a name."""
_FEW_WORDS = 3
_FEWEST = 3
"""A list of another length than the one asked for has at least so many lines."""
_CLOSING = re.compile(
    r"^\W*(?:conclusion|summary|final\s+(?:thoughts?|note|words?|tip)|notes?|tips?|disclaimer|sources?"
    r"|references|key\s+takeaways?|honou?rable\s+mentions?|bonus|in\s+short|bottom\s+line|why\b.*"
    r"|how\b.*|overview|introduction|next\s+steps?|important\b.*|what\b.*\?)\W*$",
    re.IGNORECASE,
)
_TITLE_LINE = re.compile(
    r"^(?:\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“”]+[“”]|‘[^’]+’|'[^']+'|《[^》]+》|「[^」]+」|『[^』]+』"
    r"|\*{1,2}[^*]+\*{1,2}|_{1,2}[^_]+_{1,2})"
    r"(?:[.,;]?$|\s*[-–—(（]|,\s+(?=[^\W\d_a-zà-þа-я])|\s+(?:by|de|von|di|par|av|от)\s)"
)
"""A title set off, and nothing but its maker or its description behind it."""
_QUOTED_SENTENCE = re.compile(r"[.!?…:。！？][\"”»」』]")
_DESCRIPTION = re.compile(r"\s[-–—]\s|(?<=\w)[—]|(?<!\d):\s|：|\s\(|（|\s(?:->|=>|→)\s")
_LONG_WORD = re.compile(r"(?<![\w'’-])(?!(?:over|with|from|into|upon)\b)[^\W\d_]{4,}")
_CODE = re.compile(r"[{}=<>\\]|;$|^(?://|\$\s)")
_EXCLAMATION = re.compile(r"!\W*$")
_LEAD_IN = re.compile(
    r"^\W*(?:(?:sure|of\s+course|certainly|absolutely|okay|ok)\b.{0,40})?(?:here\s+(?:are|is)|these\s+are|my\s+(?:top|five|picks)"
    r"|I(?:['’]d|\s+would)?\s+(?:recommend|suggest))\b[^,]{0,120}$",
    re.IGNORECASE,
)


def title_names(lines: Sequence[ReplyLine], *, expected_length: int | None) -> tuple[str, ...]:
    """Headings or bold lines without numbers, where exactly `expected_length` of one style stand."""
    titles = [line for line in lines if line.kind == "title" and not _CLOSING.match(line.content)]
    for style in dict.fromkeys(line.style for line in titles):
        same = [line.content for line in titles if line.style == style]
        names = item_names(same)
        asks = any(name.rstrip("* ").endswith("?") for name in same)
        if expected_length is not None and len(names) == expected_length > 1 and not asks:
            return names
    return ()


def _is_headed(lines: Sequence[ReplyLine]) -> bool:
    """Whether one heading stands over lines that are no headings: 'Brands' in bold, names beneath it."""
    kinds = [line.kind for line in lines]
    return kinds[:1] == ["title"] and len(kinds) >= _FEWEST and "title" not in kinds[1:]


class _NameBlock(NamedTuple):
    """Lines without markers, one after the other, each of which may be a name."""

    contents: list[str]
    is_announced: bool
    is_alone: bool
    """All other lines of the reply are sentences."""
    is_whole: bool
    """There are no other lines."""


def bare_names(lines: Sequence[ReplyLine], *, expected_length: int | None) -> tuple[str, ...]:
    """One name a line: titles set off, `expected_length` lines, or three and more short ones.

    Short ones follow a line that announces them, or are the whole reply and written as titles are.
    """
    candidate_lines = [line for line in lines if line.kind in {"plain", "title"}]
    texts = [line.content for line in candidate_lines]
    if titles := _titles_set_off(texts):
        return titles
    if _is_headed(candidate_lines):
        texts[0] = f"{texts[0]}:"
    for longest in (_SHORT, _LONG):
        block = _block(texts, longest=longest, expected_length=expected_length)
        names = item_names(block.contents)
        is_talk = 2 * len(set(names)) <= len(names)
        if len(names) != len(block.contents) or is_talk or not _are_names(names, block):
            continue
        exact = expected_length is not None and len(names) == expected_length > 1
        if exact and (block.is_announced or block.is_alone):
            return names
        if longest == _SHORT and len(names) >= _FEWEST and _are_short(names, block):
            return names
    return ()


def _titles_set_off(texts: Sequence[str]) -> tuple[str, ...]:
    """Titles in quotes or emphasis that all lines begin with, sentences and one other line aside.

    One such line is a list of one where it is the whole reply.
    """
    places = [place for place, text in enumerate(texts) if is_title_line(text)]
    if not places or len(places) <= places[-1] - places[0]:
        return ()
    rest = [*texts[: places[0]], *texts[places[-1] + 1 :]]
    n_other_lines = sum(not _is_sentence(text) for text in rest)
    is_one = len(places) == 1
    if n_other_lines > 1 or (is_one and (rest or _QUOTED_SENTENCE.search(texts[0]))):
        return ()
    return item_names([texts[place] for place in places])


def is_title_line(content: str) -> bool:
    """Whether a title in quotes or emphasis opens the line, with no more than a description behind it."""
    return _TITLE_LINE.match(content) is not None and count_words(content) <= _TITLE_WORDS


def _block(texts: Sequence[str], *, longest: int, expected_length: int | None) -> _NameBlock:
    """The lines after the first line that announces a list; without one, those from the first name on."""
    lead = next((i + 1 for i, text in enumerate(texts) if _announces(text)), 0)
    start = lead
    while not lead and start < len(texts) and not _may_be_name(texts[start], longest=longest):
        start += 1
    contents = list(takewhile(lambda text: _may_be_name(text, longest=longest), texts[start:]))
    end = start + len(contents)
    if any(map(_is_code, texts[start : end + 1])):
        return _NameBlock([], lead > 0, is_alone=False, is_whole=False)
    other_lines = [*texts[: start - (lead > 0)], *texts[end:]]
    contents = _without_greeting(contents, expected_length=expected_length)
    return _NameBlock(
        contents, lead > 0, all(map(_is_sentence, other_lines)), is_whole=not other_lines
    )


def _without_greeting(contents: list[str], *, expected_length: int | None) -> list[str]:
    """The lines without the exclamation ('Sure!', 'Enjoy!') at either end that makes them too many."""
    if expected_length is None or len(contents) <= expected_length:
        return contents
    first = 1 if _EXCLAMATION.search(contents[0]) else 0
    last = len(contents) - 1 if _EXCLAMATION.search(contents[-1]) else len(contents)
    cuts = (contents[first:], contents[:last], contents[first:last])
    return next((cut for cut in cuts if len(cut) == expected_length), contents)


def _announces(line: str) -> bool:
    return line.rstrip("*_ ").endswith((":", "：")) or _LEAD_IN.match(line) is not None


def _may_be_name(content: str, *, longest: int) -> bool:
    """Whether the line is a title in quotes, a name and its description, or few words and no sentence."""
    words = count_words(content)
    if is_title_line(content):
        return True
    description = _DESCRIPTION.search(content)
    if description:
        return 0 < count_words(content[: description.start()]) <= _SHORT
    return words <= longest and (not _is_sentence(content) or _is_exclaimed_title(content))


def _is_exclaimed_title(content: str) -> bool:
    """'Oklahoma!', 'Who Framed Roger Rabbit?': few words, each with a capital."""
    is_exclamation = content.rstrip('*_"”’) ').endswith(("!", "?"))
    words = content.split()
    return is_exclamation and len(words) <= _SHORT and not any(map(starts_small, words))


def _is_code(content: str) -> bool:
    """Whether the line, without the description of a name, belongs to a program or a formula."""
    description = _DESCRIPTION.search(content)
    name = content[: description.start()] if description else content
    return _CODE.search(name) is not None


def _is_sentence(content: str) -> bool:
    """A line that ends like a sentence is prose."""
    return ends_sentence(content) or _announces(content)


def _are_names(names: Sequence[str], block: _NameBlock) -> bool:
    """Whether most lines begin as names do and are no clauses, or a line announces a few words each."""
    are_few_words = block.is_announced and all(
        count_words(content) <= _FEW_WORDS for content in block.contents
    )
    clauses = [
        is_clause(name) and not _TITLE_LINE.match(line)
        for name, line in zip(names, block.contents, strict=True)
    ]
    if not names or 2 * sum(clauses) > len(names):
        return False
    return are_few_words or 2 * sum(map(starts_small, names)) < len(names)


def _are_short(names: Sequence[str], block: _NameBlock) -> bool:
    """Whether names that nothing counts are short, more so where nothing else tells them from clauses."""
    if block.is_announced:
        has_capitals = any(has_case(name) for name in names)
        return median(map(count_words, names)) <= (_SHORT if has_capitals else _TERSE)
    are_short = median(map(count_words, block.contents)) <= _SHORT
    are_distinct = len(set(names)) == len(names)
    return (
        block.is_whole
        and are_short
        and are_distinct
        and 5 * sum(map(is_title, names)) >= 4 * len(names)
    )


def is_title(name: str) -> bool:
    """Whether each word of the name but short ones has a capital: 'Pirates of the Caribbean'."""
    return has_case(name) and all(word[0].isupper() for word in _LONG_WORD.findall(name))
