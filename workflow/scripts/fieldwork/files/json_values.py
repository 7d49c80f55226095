"""JSON files value by value: a value a line (JSON Lines), or the entries of one list.

Promises that a file is streamed, so that memory is that of its largest value. Half of a surrogate pair,
which JSON can carry and UTF-8 cannot, is read and not refused.
"""

import codecs
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from fieldwork.errors import StudyError, first_line
from fieldwork.files.compressed import open_bytes, read_errors

ENDINGS = (".jsonl", ".ndjson", ".json")

_CHUNK = 1 << 20
_SPACE = " \t\r\n"


class JsonValue(NamedTuple):
    """A value, and its place in the file: `line 3` or `entry 3`."""

    place: str
    value: Any


def stream_values(path: Path) -> Iterator[JsonValue]:
    """The values of a JSON file; one whose name ends in .gz is decompressed.

    Raises:
        StudyError: the file cannot be read, or is not JSON.
    """
    with read_errors(path), open_bytes(path) as raw:
        yield from values_in(raw, str(path))


def values_in(raw: IO[bytes], name: str) -> Iterator[JsonValue]:
    """The values of an open file that can seek; `name` stands for it in messages.

    Raises:
        StudyError: the file is not JSON.
    """
    head = raw.read(_CHUNK)
    raw.seek(0)
    is_utf16 = head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    start = head.decode("utf-16" if is_utf16 else "utf-8", "replace").lstrip(f"\ufeff{_SPACE}")
    # lines end at \n alone: JSON strings may hold other characters that count as line ends
    text = io.TextIOWrapper(raw, "utf-16" if is_utf16 else "utf-8-sig", newline="\n")
    try:
        yield from (_entries if start.startswith("[") else _lines)(text, name)
    except UnicodeDecodeError as error:
        raise StudyError(f"{name}: is not UTF-8 ({first_line(error)}); save it as UTF-8") from error
    finally:
        text.detach()


def json_value(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError where it is none, or nested too deeply to be read."""
    try:
        return orjson.loads(text)
    except ValueError:
        # the faster library refuses half of a surrogate pair, for example
        try:
            return json.loads(text)
        except RecursionError:
            raise ValueError("nested too deeply") from None


# ---- a value a line ------------------------------------------------------------------------------


def _lines(text: io.TextIOWrapper, name: str) -> Iterator[JsonValue]:
    for number, line in enumerate(text, start=1):
        if line.strip():
            yield JsonValue(f"line {number}", _value_of(line, number, name))


def _value_of(line: str, number: int, name: str) -> Any:
    try:
        return json_value(line)
    except ValueError as error:
        list_hint = ", or a list of objects between [ and ]"
        raise StudyError(
            f"{name}: line {number} is not JSON ({first_line(error)}); write one object a line"
            f"{list_hint if number == 1 else ''}"
        ) from error


# ---- the entries of a list -----------------------------------------------------------------------


def _entries(text: io.TextIOWrapper, name: str) -> Iterator[JsonValue]:
    """What stands between [ and ], entry by entry."""
    window = _JsonWindow(text)
    window.take("[")
    number = 0
    while not window.take("]"):
        if number and not window.take(","):
            raise StudyError(
                f"{name}: the list stops after entry {number}, without a comma or a ]; export the file "
                f"again"
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
            f"{name}: there is text after the end of the list; write one list, or one object a line"
        )


class _JsonWindow:
    """The part of a text that is being read: it grows until the next value is whole."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file
        self._decoder = json.JSONDecoder()
        self._text_ahead = ""
        self._place = 0

    def take(self, character: str) -> bool:
        """Pass over space and, where it comes next, the character."""
        is_next = not self.is_at_end() and self._text_ahead[self._place] == character
        self._place += is_next
        return is_next

    def is_at_end(self) -> bool:
        """Pass over space; whether nothing follows it."""
        while True:
            while self._place < len(self._text_ahead) and self._text_ahead[self._place] in _SPACE:
                self._place += 1
            if self._place < len(self._text_ahead):
                return False
            if not self._grow():
                return True

    def value(self) -> Any:
        """The next value; JSONDecodeError where there is none."""
        self.is_at_end()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text_ahead, self._place)
            except json.JSONDecodeError:
                if self._grow():
                    continue
                raise
            except RecursionError:
                raise json.JSONDecodeError("nested too deeply", "", 0) from None
            # a number at the very end may go on
            if end < len(self._text_ahead) or not self._grow():
                self._place = end
                return value

    def _grow(self) -> bool:
        """Read as much again as is waiting; False at the end."""
        waiting = self._text_ahead[self._place :]
        chunk = self._file.read(max(_CHUNK, len(waiting)))
        self._text_ahead, self._place = waiting + chunk, 0
        return bool(chunk)
