"""JSON files value by value: a value a line (JSON Lines), or the entries of one list.

Promises that a file is streamed, so that memory is that of its largest value, and that text which JSON
can carry and UTF-8 cannot (half of a surrogate pair) is read and not refused.
"""

import codecs
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import orjson

from fieldwork.errors import StudyError, first_line

ENDINGS = (".jsonl", ".ndjson", ".json")

_CHUNK = 1 << 20
_SPACE = " \t\r\n"


class JsonValue(NamedTuple):
    """A value, and its place in the file: `line 3` or `entry 3`."""

    place: str
    value: Any


def stream_values(path: Path) -> Iterator[JsonValue]:
    """The values of a JSON file, gzip by its ending.

    Raises:
        StudyError: the file cannot be read, or is not JSON.
    """
    try:
        with _opened(path) as raw:
            yield from values_in(raw, str(path))
    except (OSError, EOFError, zlib.error) as error:
        raise StudyError(f"{path}: cannot be read ({first_line(error)})") from error


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    return path.open("rb")


def values_in(raw: IO[bytes], name: str) -> Iterator[JsonValue]:
    """The values of an open file that can seek; `name` is what messages call it.

    Raises:
        StudyError: the file is not JSON.
    """
    head = raw.read(_CHUNK)
    raw.seek(0)
    wide = head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    start = head.decode("utf-16" if wide else "utf-8", "replace").lstrip(f"\ufeff{_SPACE}")
    # lines end at \n alone: JSON strings may hold other characters that count as line ends
    text = io.TextIOWrapper(raw, "utf-16" if wide else "utf-8-sig", newline="\n")
    try:
        yield from (_entries if start.startswith("[") else _lines)(text, name)
    except UnicodeDecodeError as error:
        raise StudyError(f"{name}: is not UTF-8 ({first_line(error)}); save it as UTF-8") from error
    finally:
        text.detach()


# ---- a value a line ------------------------------------------------------------------------------


def _lines(text: io.TextIOWrapper, name: str) -> Iterator[JsonValue]:
    for number, line in enumerate(text, start=1):
        if line.strip():
            yield JsonValue(f"line {number}", _value_of(line, number, name))


def _value_of(line: str, number: int, name: str) -> Any:
    try:
        return orjson.loads(line)
    except ValueError:
        # half of a surrogate pair, say, which the faster library refuses
        try:
            return json.loads(line)
        except ValueError as error:
            whole = " (a list of objects is read as well, and must begin with [)"
            raise StudyError(
                f"{name}: line {number} is not JSON ({first_line(error)}); write one object a line"
                f"{whole if number == 1 else ''}"
            ) from error


# ---- the entries of a list -----------------------------------------------------------------------


def _entries(text: io.TextIOWrapper, name: str) -> Iterator[JsonValue]:
    """What stands between [ and ], entry by entry."""
    window = _Window(text)
    window.take("[")
    number = 0
    while not window.take("]"):
        if number and not window.take(","):
            raise StudyError(
                f"{name}: the list breaks off after entry {number}; export the file again"
            )
        number += 1
        try:
            yield JsonValue(f"entry {number}", window.value())
        except json.JSONDecodeError as error:
            raise StudyError(
                f"{name}: entry {number} of the list is not JSON ({first_line(error)}); export the "
                f"file again"
            ) from error
    if not window.is_at_end():
        raise StudyError(
            f"{name}: goes on after the list that it begins with; write one list, or one object a line"
        )


class _Window:
    """The part of a text that is being read: it grows until the next value is whole."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._decoder = json.JSONDecoder()
        self._held = ""
        self._place = 0

    def take(self, character: str) -> bool:
        """Pass over space and, where it comes next, the character."""
        taken = not self.is_at_end() and self._held[self._place] == character
        self._place += taken
        return taken

    def is_at_end(self) -> bool:
        """Pass over space; whether nothing follows it."""
        while True:
            while self._place < len(self._held) and self._held[self._place] in _SPACE:
                self._place += 1
            if self._place < len(self._held):
                return False
            if not self._grow():
                return True

    def value(self) -> Any:
        """The next value; JSONDecodeError where there is none."""
        self.is_at_end()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self._place)
            except json.JSONDecodeError:
                if self._grow():
                    continue
                raise
            # a number at the very end may go on
            if end < len(self._held) or not self._grow():
                self._place = end
                return value

    def _grow(self) -> bool:
        """Read on, twice as much as is held; False at the end."""
        held = self._held[self._place :]
        more = self._text.read(max(_CHUNK, len(held)))
        self._held, self._place = held + more, 0
        return bool(more)
