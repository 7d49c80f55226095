"""YAML as people write it: read strictly, every mistake told with file, line and what to do.

Stricter than YAML: a file is one mapping in UTF-8, its keys are texts, none stands twice, no day is
impossible. Promises that nothing in a file is run as code, and that no text of a file is repeated in a
message but the names of its keys: it may hold a key that was pasted into the wrong place.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fieldwork.errors import StudyError

MOST_NODES = 1_000_000
"""Nodes of a file, repeats of its anchors among them; ten nested anchors can stand for billions."""

CODE_KEY = "__use_yte__"
"""Under this key Snakemake runs what a config file holds as Python."""


class YamlFile(NamedTuple):
    """A file that was read.

    Attributes:
        settings: what it holds.
        lines: the line of each setting, by its keys joined with dots; places in lists are numbers.
    """

    settings: dict[str, Any]
    lines: dict[str, int]


def read_yaml(path: str | Path) -> YamlFile:
    """Read a file of settings, YAML or JSON.

    Raises:
        StudyError: naming the file, the line and the way out.
    """
    text = _text(path)
    value: Any = None
    try:
        value = json.loads(text)
        # in JSON a tab is a blank between its parts, in YAML it is a mistake
        text = text.replace("\t", " ")
    except (ValueError, RecursionError):
        pass
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _require_sound(node, path)
        _require_row_values(node, path)
        value = loader.construct_document(node) if value is None else value
    except yaml.MarkedYAMLError as error:
        raise StudyError(_sentence(path, text, error)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise StudyError(
            f"{path}, line {line}: character U+{int(error.character):04X} cannot stand in a text file; "
            f"remove it"
        ) from None
    except RecursionError:
        raise StudyError(f"{path}: its brackets are nested too deeply; write it flatter") from None
    return YamlFile(value, dict(_lines(node)))


def _text(path: str | Path) -> str:
    if Path(path).exists() and not Path(path).is_file():
        raise StudyError(f"{path}: not a file that can be read twice; save the settings as a file")
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); correct the path") from None
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or 3 * raw[:200].count(0) > len(raw[:200]):
        raise StudyError(f"{path}: written in UTF-16, not in UTF-8; save the file again as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise StudyError(
            f"{path}, line {line}: a character is not in UTF-8, as in a file of Latin-1 or Windows-1252; "
            f"save the file again as UTF-8"
        ) from None


def _require_sound(node: Any, path: str | Path) -> None:
    """StudyError for what YAML allows and a file of settings must not hold."""
    if node is None:
        raise StudyError(f"{path}: the file is empty; write settings as key: value")
    if not isinstance(node, yaml.MappingNode):
        kind = "a list (- …)" if isinstance(node, yaml.SequenceNode) else "a text without a colon"
        raise StudyError(
            f"{path}, line {_line(node)}: the file begins with {kind}; write settings as key: value"
        )
    _check(node, path, {})


def _check(node: Any, path: str | Path, sizes: dict[int, int]) -> int:
    """Check each node once; return the nodes below one, each repeat of an anchor counted."""
    if id(node) in sizes:
        if not sizes[id(node)]:
            raise StudyError(f"{path}, line {_line(node)}: an anchor (&) holds itself; remove it")
        return sizes[id(node)]
    sizes[id(node)] = 0
    children = node.value if isinstance(node, yaml.SequenceNode) else []
    if isinstance(node, yaml.MappingNode):
        _require_keys(node, path)
        children = [part for pair in node.value for part in pair]
    size = 1 + sum(_check(inner, path, sizes) for inner in children)
    if size > MOST_NODES:
        raise StudyError(
            f"{path}, line {_line(node)}: anchors (&, *) repeat each other into more than "
            f"{MOST_NODES:,} settings; write them out"
        )
    sizes[id(node)] = size
    return size


def _require_keys(mapping: Any, path: str | Path) -> None:
    lines: dict[str, int] = {}
    for key, value in mapping.value:
        if key.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"):
            name = f" {key.value}" if isinstance(key, yaml.ScalarNode) else ""
            raise StudyError(
                f"{path}, line {_line(key)}: the key{name} is not a text; put it in quotes"
            )
        # at any depth: a merge (<<) lifts it to the top, where Snakemake looks for it
        if key.value == CODE_KEY:
            raise StudyError(
                f"{path}, line {_line(key)}: the key {CODE_KEY} has Snakemake run Python code that the "
                f"file holds; a study file holds settings only: remove it, and what belongs to it"
            )
        if key.value in lines:
            raise StudyError(
                f"{path}, line {_line(key)}: the key {key.value!r} stands on line {lines[key.value]} "
                f"already, and only one of them would count; remove or rename one"
            )
        lines[key.value] = _line(key)
        for one in value.value if isinstance(value, yaml.SequenceNode) else (value,):
            _require_day(one, key.value, path)


def _require_row_values(node: Any, path: str | Path, keys: tuple[str, ...] = ()) -> None:
    """Refuse values of row rules that YAML changes: they are compared with cells as these stand there."""
    if isinstance(node, yaml.MappingNode):
        is_named = len(keys) == 4 and keys[0] == "recordings" and keys[2] in ("conditions", "tasks")
        is_rule = is_named or keys[-1:] == ("rows",)
        for key, inner in node.value:
            if is_rule:
                for one in inner.value if isinstance(inner, yaml.SequenceNode) else (inner,):
                    _require_text_of_file(one, key.value, path)
            _require_row_values(inner, path, (*keys, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for inner in node.value:
            _require_row_values(inner, path, (*keys, "-"))


def _require_text_of_file(node: Any, column: str, path: str | Path) -> None:
    if not isinstance(node, yaml.ScalarNode) or node.style is not None:
        return
    value = yaml.SafeLoader("").construct_object(node)
    # 2.0 is compared as 2
    is_changed = isinstance(value, bool) or (isinstance(value, float) and value.is_integer())
    if value is None or (str(value) == node.value and not is_changed):
        return
    raise StudyError(
        f"{path}, line {_line(node)}: YAML reads {column}: {node.value} as {value!r}, which is compared "
        f"with the cells of the file; put it in quotes"
    )


def _require_day(node: Any, name: str, path: str | Path) -> None:
    if getattr(node, "tag", "") != "tag:yaml.org,2002:timestamp":
        return
    try:
        yaml.SafeLoader("").construct_object(node)
    except ValueError:
        raise StudyError(
            f"{path}, line {_line(node)}: {name}: {node.value} is not a day of the calendar; correct it"
        ) from None


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _lines(node: Any, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Settings and their lines; those taken over from an anchor have the anchor's."""
    if isinstance(node, yaml.SequenceNode):
        for number, inner in enumerate(node.value):
            yield f"{prefix}{number}", _line(inner)
            yield from _lines(inner, f"{prefix}{number}.")
    elif isinstance(node, yaml.MappingNode):
        pairs = sorted(node.value, key=lambda pair: pair[0].tag != "tag:yaml.org,2002:merge")
        for key, inner in pairs:
            if key.tag == "tag:yaml.org,2002:merge":
                yield from _lines(inner, prefix)
                continue
            yield f"{prefix}{key.value}", _line(key)
            yield from _lines(inner, f"{prefix}{key.value}.")


# ---- mistakes of form ----------------------------------------------------------------------------


_MISTAKES = {
    r"character '\\t'": "a tab stands where YAML wants blanks; replace it by blanks",
    r"cannot start any token|^while scanning an? (alias|anchor)|undefined alias|block scalar": (
        "a text begins with a special character (@ * & % ` | >); put it in quotes"
    ),
    r"for the tag|a tag": "a text begins with !; put it in quotes",
    r"quoted scalar\|found unexpected": "a quotation mark is opened and never closed; close it",
    r"escape (character|sequence)|expected escape": (
        "a backslash stands within double quotes; put the text in single quotes"
    ),
    r"flow (sequence|mapping)\|.*got '\?'": (
        "a text with a question mark stands between brackets; put the text in quotes"
    ),
    r"flow (sequence|mapping)\|": (
        "a bracket is opened, and a comma or its closing bracket is missing; add it"
    ),
    r"found '[\]}]'|found ','": (
        "a bracket or a comma belongs to nothing; remove it, or put the text in quotes"
    ),
    r"could not find expected ':'": "a key has no colon and blank after it; write key: value",
    r"found '<scalar>'": (
        "text follows a closing quotation mark; put the whole text in one pair of quotes, with each "
        "quotation mark in it doubled"
    ),
    r"found '(<block mapping start>|<block sequence start>)'": (
        "the line is indented unlike those above it; indent it like the settings it belongs to"
    ),
    r"found '[-?]'|sequence entries": (
        "an entry of a list and settings (key: value) stand side by side; indent the one that belongs "
        "to the other, or put a text that begins with - or ? in quotes"
    ),
    r"another document": "a second document begins (---); keep to one study in a file",
    r"unhashable key": "a bracket stands where a key belongs; put the text in quotes",
}
"""What we say of a mistake, by the form of PyYAML's context and problem with a bar between them."""

_AT_START = re.compile(
    r"quoted scalar\|found unexpected|flow (sequence|mapping)\||could not find expected ':'"
)
"""Mistakes that lie where PyYAML began to read, not where it stopped."""


def _sentence(path: str | Path, text: str, error: yaml.MarkedYAMLError) -> str:
    complaint = f"{error.context or ''}|{error.problem or ''}"
    if "mapping values are not allowed" in complaint and error.problem_mark is not None:
        return _second_value(path, text, error.problem_mark)
    mark = (_AT_START.search(complaint) and error.context_mark) or error.problem_mark
    for form, sentence in _MISTAKES.items():
        if re.search(form, complaint):
            return f"{path}{_place(mark)}: {sentence}"
    return f"{path}{_place(error.problem_mark)}: not valid YAML ({error.problem}); correct the line"


def _second_value(path: str | Path, text: str, mark: Any) -> str:
    """A colon where none may be: within a text, or because the line above has its value already."""
    lines = text.splitlines()
    line, above = lines[mark.line], lines[mark.line - 1] if mark.line else ""
    if re.search(r":\s", line[: mark.column]):
        return f"{path}{_place(mark)}: a text holds a colon; put the text in quotes"
    is_key = re.match(r"\s*[^\s#]+\s*$", above) or _indent(above) == _indent(line)
    if is_key and not re.search(r":(\s|$)", above):
        return f"{path}, line {mark.line}: a key has no colon and blank after it; write key: value"
    return (
        f"{path}{_place(mark)}: the line is indented deeper than the one above, which has its value "
        f"already; indent both alike"
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _place(mark: Any) -> str:
    return "" if mark is None else f", line {mark.line + 1}"
