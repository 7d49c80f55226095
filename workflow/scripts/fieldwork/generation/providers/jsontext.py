"""JSON of calls and replies: writes what UTF-8 can hold, and reads what strict readers refuse."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

MOST_TOKENS = 2**31
# above it floats skip whole numbers
MOST_EXACT = 2**53

# halves of surrogate pairs are not UTF-8, but Python's reader accepts them
_SURROGATE_BYTES = re.compile(rb"\xed[\xa0-\xbf]")
# lone surrogates that stand for no byte
_OTHER_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8. It holds no line break: inside strings they are escaped."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # a lone surrogate in a chat history, which UTF-8 cannot hold
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return well_formed(text).encode()


def plain_numbers(value: Any) -> Any:
    """A value whose whole numbers are integers, so that 1.0 and 1 are written alike.

    A call is known by its bytes: a study that writes a number otherwise asks no other question.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < MOST_EXACT:
        return int(value)
    if isinstance(value, Mapping):
        return {name: plain_numbers(part) for name, part in value.items()}
    return [plain_numbers(part) for part in value] if isinstance(value, list) else value


def loads(raw: bytes) -> Any:
    """Read JSON, even with half an emoji in it; ValueError for anything else."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        # an answer cut in the middle of an emoji ends in half of it, which orjson refuses
        try:
            return json.loads(raw)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def loads_or_none(raw: bytes) -> Any:
    """Read JSON; None for anything else."""
    try:
        return loads(raw)
    except ValueError:
        return None


class LenientJson(NamedTuple):
    """A value read from JSON; `is_whole` is False where bytes had to be replaced to read it."""

    value: Any
    is_whole: bool


def load_leniently(raw: bytes) -> LenientJson:
    """Read JSON that may hold raw control characters, and bytes that are not UTF-8 (read as U+FFFD).

    Raises:
        ValueError: it is not JSON all the same.
    """
    try:
        return LenientJson(orjson.loads(raw), is_whole=True)
    except orjson.JSONDecodeError:
        pass
    try:
        return LenientJson(loads(raw), is_whole=_SURROGATE_BYTES.search(raw) is None)
    except ValueError:
        return LenientJson(_lax(raw.decode("utf-8", "replace")), is_whole=False)


def original_part(line: bytes, *names: str) -> bytes:
    """A part of a line that is not whole, with the bytes that are not UTF-8 as they came.

    Args:
        names: the keys that lead to the part.
    """
    # Python reads such bytes as lone surrogates, and writes these as the same bytes
    part = _lax(line.decode("utf-8", "surrogateescape"))
    for name in names:
        part = part[name]
    text = _OTHER_SURROGATE.sub("\ufffd", json.dumps(part, ensure_ascii=False))
    return text.encode("utf-8", "surrogateescape")


def _lax(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def well_formed(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_text(value: object) -> str | None:
    """A text of a reply, well formed so that tables can hold it; None for anything else."""
    return well_formed(value) if isinstance(value, str) else None


def as_map(value: object) -> Mapping[str, Any]:
    """A JSON object of a reply; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[Any]:
    """A JSON array of a reply; an empty one for anything else."""
    return value if isinstance(value, list) else ()


def as_count(value: Any) -> int | None:
    """A number of tokens; None for anything else, and for a number that no call can have."""
    if value is None:
        return None
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number <= MOST_TOKENS else None


def error_line(message: str, raw: bytes, mask: Callable[[str], str]) -> str:
    """An error's message, else the beginning of its body; one short line without secrets."""
    beginning = mask(raw.decode("utf-8", "replace"))[:120]
    line = " ".join(mask(well_formed(message)).split())[:200]
    return line or " ".join(beginning.split()) or "an empty body"
