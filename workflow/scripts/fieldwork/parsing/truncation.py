"""The last entry of a reply that broke off.

Owns one decision: whether the last name of a reply is complete. It is complete where something closes
it: emphasis or quotes around it, or a description, a parenthesis or a further line after it. Promises to
keep every entry before the last one.
"""

import re

from fieldwork.parsing.inline_lists import json_start, last_number
from fieldwork.parsing.item_names import item_names, plain_text
from fieldwork.parsing.line_markers import ReplyLine, read_lines

_CLOSING_MARK = re.compile(r"(?:\*\*|__|[\"”»’'`」』》】)\]])[.,;]?\s*$")
_LAST_PART = re.compile(r"[,;、，；،؛|](?:\s*(?:and|or|und|et|y|e|и|和|以及)\s)?[^,;、，；،؛|]*$")
_OPEN_TITLE = re.compile(
    r"(?:\*\*|__)(?!.*?(?:\*\*|__))|^[\"“«„‘「『《【](?![^\"”»“’」』》】]*[\"”»“’」』》】])"
)
"""Emphasis or quotes at the beginning of a name that nothing closes yet."""


def without_unfinished(text: str) -> str:
    """The text of a reply that was cut off, without a last name that is not whole."""
    start = json_start(text)
    if start is not None:
        return text[:start] + _closed_json(text[start:])
    head, _, last = text.rstrip().rpartition("\n")
    line = read_lines(text.rstrip())[-1]
    if line.kind in {"number", "bullet", "title"}:
        # the marker stays: an entry without a name still says that the lists above it are others
        marker = last.rstrip().removesuffix(line.content.strip().lstrip("*_"))
        return text if _is_whole(line) else f"{head}\n{marker}"
    return _without_last_part(head, last, line)


def _is_whole(line: ReplyLine) -> bool:
    content = line.content.strip()
    if _CLOSING_MARK.search(content) or (content.startswith("**") and content[3:].endswith("*")):
        return True
    names = item_names([content])
    if not names or _OPEN_TITLE.match(content):
        return False
    entry = " ".join(plain_text(content).split())
    description = entry.rpartition(names[0])[2]
    return bool(description.strip(" \t*_"))


def _without_last_part(head: str, last: str, line: ReplyLine) -> str:
    """A list within a line loses its last part; a name that stands alone on the last line is lost."""
    part = last_number(last) or _LAST_PART.search(last)
    if part is not None and not _CLOSING_MARK.search(last):
        return f"{head}\n{last[: part.start()]}"
    return f"{head}\n{last}" if _is_whole(line) or part is not None else head


def _closed_json(text: str) -> str:
    """JSON that broke off, cut after its last whole value and closed."""
    stack: list[str] = []
    cut, closers = 0, ""
    is_in_string = is_escaped = False
    for place, character in enumerate(text):
        if is_in_string:
            is_in_string = is_escaped or character != '"'
            is_escaped = character == "\\" and not is_escaped
        elif character == '"':
            is_in_string = True
        elif character in "[{":
            stack.append("]" if character == "[" else "}")
        elif character in "]}" and stack:
            stack.pop()
            cut, closers = place + 1, "".join(reversed(stack))
        elif character == ",":
            cut, closers = place, "".join(reversed(stack))
    return text[:cut] + closers if stack and cut else text
