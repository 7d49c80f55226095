"""Lists that do not have one item a line: JSON, tables, enumerations within a sentence.

Promises to find a list only where its form shows one, never in running prose.
"""

import ast
import json
import re
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

from fieldwork.parsing.item_names import item_names, plain_text
from fieldwork.parsing.writing_systems import (
    count_words,
    ends_sentence,
    has_case,
    is_clause,
    is_unspaced,
    starts_small,
)

_MAX_JSON = 60_000
_MAX_STARTS = 20
_MAX_LINE = 2_000
_LONGEST_NAME = 300
_NAME_KEYS = ("name", "title", "item", "option", "brand", "recommendation", "answer", "product")
_FEWEST = 3
"""So many numbers within a line are needed to make it a list."""
_PART_WORDS = 7
_PART_LENGTH = 60
_UNSPACED_WORDS, _CASELESS_WORDS = 5, 3
"""Most words of a name in a script without capitals, where only its length tells it from a clause."""

_JSON_START = re.compile(
    r"^[ \t*_`>]{0,12}(?:[^=()#\[{\n]{1,120}[:：][ \t*_`]{0,6})?(?=[\[{])", re.MULTILINE
)
"""Before a list in JSON: nothing, or words and a colon. After '=' or '(' it is program code."""
_OPENS_JSON = re.compile(r"\[\s*[\"'{]|\{\s*\"")
_CODE = re.compile(r"[{}\[\]=<>\\]")
_NUMBERED_PART = re.compile(r"(?:^|(?<=[\s,;:]))[(\[*]{0,3}(\d{1,2})[.):\]]{1,2}\*{0,2}\s+(?=\S)")
_RULE = re.compile(r":?-{2,}:?")
_REASON = re.compile(r"\W*(?:why|reasons?|because|warum|pourquoi|por\s?qu[eé])\b", re.IGNORECASE)
"""A heading whose column holds no names, though the question asks why, too."""
_CIRCLED_PART = re.compile(r"[①-⑩]\s*")
_SEPARATOR = re.compile(r"[,;、，；،؛|]|\s[•·|/]\s")
_QUOTED_NAME = re.compile(r"《[^》]{1,80}》|「[^」]{1,80}」|“[^”]{1,80}”|\"[^\"]{1,80}\"")
_DESCRIPTION = re.compile(
    r"(?:\"[^\"]{1,80}\"|“[^”]{1,80}”|《[^》]{1,80}》|「[^」]{1,80}」)(?=\s*[^\s,;、，；./|&]{1,3}\s)(?!\s(?:and|or|und|et|y|e|и)\s)"
    r"|[^,;、，；]{1,80}\s[-–—]\s"
)
"""A title set off, or words and a dash: what follows describes them."""
_LAST_JOINT = re.compile(
    r"^(?:and|or|und|oder|et|ou|y|o|e|ed|и|или|en|och|og|ve|和|以及|与|及|و|और|&)\s+"
)
_TRAILING_JOINT = re.compile(r"[\s,;]*(?:(?<=[\s,;])(?:and|or|und|et|y|e|и))?[\s,;]*$")
_LAST_SPLIT = re.compile(
    r"\s+(?:and|or|und|oder|et|ou|y|e|и|или|en|och|og|ve|&|और)\s+|(?<=\S\S)[和与及](?=\S\S)|以及"
)
_CLOSING_CLAUSE = re.compile(
    r"\s+(?:are|is|would\s+be)\s+(?:my|the|all|some|among|great|good)\b.*$"
)
_LEAD_IN = re.compile(
    r"^(?:Try|Consider|.{0,200}?\b(?:are|is|be|include|includes|recommend|suggest|choose|pick|like|love|prefer"
    r"|enjoy|try|consider|son|sind|sont|sono|são|recomiendo|empfehle)\b)[:\s]*\s"
)


def json_names(text: str) -> tuple[str, ...]:
    """Names in the first JSON (or Python) list of strings or objects; empty where there is none.

    The list begins its line, or follows words and a colon.
    """
    for start in _json_starts(text):
        names = _names_of(_decode(text[start:_MAX_JSON]))
        if len(names) >= 2:
            return names
    return ()


def json_start(text: str) -> int | None:
    """Where the first list in JSON begins, None where there is none."""
    return next((start for start in _json_starts(text) if _OPENS_JSON.match(text, start)), None)


def _json_starts(text: str) -> list[int]:
    return [match.end() for match in islice(_JSON_START.finditer(text[:_MAX_JSON]), _MAX_STARTS)]


def table_names(rows: Sequence[str], *, question: str) -> tuple[str, ...]:
    """Names in a Markdown table, from the column whose heading the question asks for first.

    Where it asks for none of them, the first column that does not hold ranks.
    """
    cells = [[c.strip() for c in row.strip().strip("|").split("|")] for row in rows]
    rule = next((i for i, row in enumerate(cells) if row and all(map(_RULE.fullmatch, row))), None)
    if rule is None:
        return ()
    body = [row for row in cells[rule + 1 :] if any(row)]
    if len(body) < 2:
        return ()
    headings = cells[rule - 1] if rule else []
    columns = [i for i in range(len(body[0])) if not all(map(_is_rank, (row[i:] for row in body)))]
    places = {i: _place(headings[i], question) for i in columns if i < len(headings)}
    asked_for = [i for i, place in places.items() if place >= 0 and not _REASON.match(headings[i])]
    column = min(asked_for, key=places.__getitem__, default=columns[0] if columns else 0)
    return item_names([row[column] for row in body if len(row) > column])


def _is_rank(cells: Sequence[str]) -> bool:
    """Whether the first of the cells is missing, or holds no more than a number."""
    return not cells or re.fullmatch(r"\W*\d{0,3}\W*", cells[0]) is not None


def asks_for(question: str, heading: str) -> bool:
    """Whether the question has a word of the heading."""
    return _place(heading, question) >= 0


def _place(heading: str, question: str) -> int:
    """Where a question first has a word of a heading, in the singular or plural; -1 where it has none."""
    stems = [re.sub(r"(?:ies|y|s)$", "", word) for word in plain_text(heading).casefold().split()]
    patterns = (rf"(?<![a-z]){re.escape(stem)}(?:y|ies|e?s)?(?![a-z])" for stem in stems if stem)
    matches = (re.search(pattern, question.casefold()) for pattern in patterns)
    return min((match.start() for match in matches if match), default=-1)


def enumerated_names(line: str) -> tuple[str, ...]:
    """Names of '1. X 2. Y 3. Z' within one line; empty where fewer than three numbers follow."""
    parts = _numbered_parts(line)
    if not parts:
        return ()
    ends = [match.start() for match in parts[1:]] + [len(line)]
    pieces = [line[part.end() : end] for part, end in zip(parts, ends, strict=True)]
    return item_names([_TRAILING_JOINT.sub("", piece) for piece in pieces])


def last_number(line: str) -> re.Match[str] | None:
    """The number of the last name of '1. X 2. Y 3. Z'; None where the line is no such list."""
    parts = _numbered_parts(line)
    return parts[-1] if parts else None


def _numbered_parts(line: str) -> list[re.Match[str]]:
    """Numbers within a line that count from one to three or more, none where they do not."""
    parts = list(_CIRCLED_PART.finditer(line))
    if len(parts) < _FEWEST:
        parts = []
        for match in _NUMBERED_PART.finditer(line):
            if int(match.group(1)) == len(parts) + 1:
                parts.append(match)
    return parts if len(parts) >= _FEWEST else []


def comma_names(text: str, *, expected_length: int | None) -> tuple[str, ...]:
    """Names of 'X, Y, Z, V and W' in the first line of a reply: the whole of it, or one of its sentences.

    A list needs short parts. One that stands among other sentences must have exactly `expected_length`
    parts, all of them capitalised unless a colon announces them. In a script without capitals it must be
    announced by a colon or be the whole reply, and no part may hold a word that only clauses have. Parts
    behind a title that is set off, or behind a dash, describe it.
    """
    line, _, rest = text[:_MAX_LINE].strip().partition("\n")
    sentences = re.split(r"(?<=[.!?])\s+|(?<=[。！？])\s*(?=\S)", plain_text(line))
    for sentence in sentences[:20]:
        names = _comma_sentence(
            sentence, expected_length=expected_length, is_whole_reply=len(sentences) == 1
        )
        if names and (not rest or len(names) == expected_length):
            return names
    return ()


def _comma_sentence(
    sentence: str, *, expected_length: int | None, is_whole_reply: bool
) -> tuple[str, ...]:
    lead_in, _, series = sentence.rpartition(": ")
    if not lead_in:
        lead_in, _, series = sentence.rpartition("：")
    series = _LEAD_IN.sub("", _CLOSING_CLAUSE.sub("", series)).strip()
    if _DESCRIPTION.match(series):
        return ()
    parts = _split(series.rstrip(".。!！"), expected_length=expected_length)
    if len(parts) < 2 or (not lead_in and _is_caseless_sentence(series, parts, expected_length)):
        return ()
    is_list = _is_list(
        parts,
        expected_length=expected_length,
        is_announced=bool(lead_in),
        is_whole_reply=is_whole_reply,
    )
    return item_names(parts) if is_list else ()


def _is_caseless_sentence(series: str, parts: Sequence[str], expected_length: int | None) -> bool:
    """Whether parts in a script without capitals end like a sentence and are no list of that length.

    Between names Chinese writes '、', and '，' between clauses.
    """
    if any(map(has_case, parts)) or not ends_sentence(series):
        return False
    return "，" in _QUOTED_NAME.sub("", series) or len(parts) != expected_length


def _is_list(
    parts: Sequence[str], *, expected_length: int | None, is_announced: bool, is_whole_reply: bool
) -> bool:
    """Whether parts between commas look like names rather than like a sentence.

    Parts in lower case do where a colon announces them, or where they are one or two words and the
    whole reply.
    """
    words = [count_words(part) for part in parts]
    if not all(0 < n <= _PART_WORDS for n in words):
        return False
    if any(len(part) > _PART_LENGTH or _CODE.search(part) for part in parts):
        return False
    has_expected_length = len(parts) == expected_length
    if not has_expected_length and not (len(parts) >= 3 and (is_whole_reply or is_announced)):
        return False
    if not any(has_case(part) for part in parts):
        clause = any(map(is_clause, parts))
        longest = _UNSPACED_WORDS if is_unspaced(parts[0]) else _CASELESS_WORDS
        may_be_list = is_whole_reply or (has_expected_length and is_announced)
        return may_be_list and max(words) <= longest and not clause
    capital = not any(starts_small(part) for part in parts)
    return capital or (
        has_expected_length and (is_announced or (is_whole_reply and max(words) <= 2))
    )


def _split(candidate: str, *, expected_length: int | None) -> list[str]:
    parts = _divide(_SEPARATOR, candidate)
    if len(parts) < 2:
        return parts
    last = _LAST_JOINT.sub("", parts[-1])
    if last == parts[-1] and expected_length is not None and len(parts) < expected_length:
        return [*parts[:-1], *_divide(_LAST_SPLIT, parts[-1], max_splits=1)]
    return [*parts[:-1], last]


def _divide(separator: re.Pattern[str], text: str, *, max_splits: int | None = None) -> list[str]:
    """The parts between separators; what stands in quotes is not divided ('Me, Myself & Irene')."""
    masks = _QUOTED_NAME.sub(lambda title: "_" * len(title.group()), text)
    gaps = [gap.span() for gap in islice(separator.finditer(masks), max_splits)]
    bounds = [(0, 0), *gaps, (len(text), len(text))]
    return [text[left[1] : right[0]].strip() for left, right in pairwise(bounds)]


def _decode(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        pass
    end = text.find("]")
    if not text.startswith("[") or not 0 < end < 5_000:
        return None
    try:
        return ast.literal_eval(text[: end + 1])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _names_of(value: Any) -> tuple[str, ...]:
    """Names in a decoded value: strings, objects with names, or an object that holds a list."""
    if isinstance(value, dict):
        if len(value) >= 3 and all(str(key).strip("# .").isdigit() for key in value):
            return _names_of(list(value.values()))
        inner_names = (
            _names_of(inner) for inner in value.values() if isinstance(inner, list | dict)
        )
        return next((names for names in inner_names if len(names) >= 2), ())
    if not isinstance(value, list):
        return ()
    names = [entry if isinstance(entry, str) else _object_name(entry) for entry in value]
    if not names or not all(names) or any(len(name or "") > _LONGEST_NAME for name in names):
        return ()
    return tuple(" ".join(plain_text(name).split()) for name in names if name)


def _object_name(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return None
    fields = {str(key).lower(): inner for key, inner in entry.items()}
    names = (fields[key] for key in _NAME_KEYS if isinstance(fields.get(key), str))
    strings = (inner for inner in fields.values() if isinstance(inner, str))
    return next(names, None) or next(strings, None)
