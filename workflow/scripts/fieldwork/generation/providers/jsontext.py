"""JSON as the wire wants it: what UTF-8 cannot carry is mended, what strict readers refuse is read."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

MOST_TOKENS = 2**31

# halves of pairs, which UTF-8 does not have and Python's reader lets pass
_SURROGATE_BYTES = re.compile(rb"\xed[\xa0-\xbf]")
# lone ones that stand for no byte
_OTHER_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8; never holds a line break, which is escaped inside strings."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # a lone surrogate in someone's chat history, which UTF-8 cannot carry
        return orjson.dumps(_mended(value))


def loads(raw: bytes) -> Any:
    """Read JSON, halves of emoji included; raises ValueError for anything else."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        # a reply cut in the middle of an emoji holds half of one, which orjson refuses to read
        try:
            return json.loads(raw)
        except RecursionError:
            raise ValueError("nested too deeply") from None


class Mended(NamedTuple):
    """JSON that was read; `is_whole` is False where something had to be replaced for that."""

    value: Any
    is_whole: bool


def mended(raw: bytes) -> Mended:
    """Read JSON in which bytes may be no UTF-8, which become U+FFFD, or control characters stand bare.

    Raises:
        ValueError: it is no JSON even so.
    """
    try:
        return Mended(orjson.loads(raw), is_whole=True)
    except orjson.JSONDecodeError:
        pass
    try:
        return Mended(loads(raw), is_whole=_SURROGATE_BYTES.search(raw) is None)
    except ValueError:
        # what is no JSON at all fails once more
        return Mended(_lax(raw.decode("utf-8", "replace")), is_whole=False)


def as_received(line: bytes, *names: str) -> bytes:
    """A part of a line that `mended` had to mend, with the bytes that are no UTF-8 as they came.

    Args:
        names: the keys that lead to the part.
    """
    # such bytes travel as lone surrogates, and back
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
    """Surrogate pairs joined, lone ones replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_text(value: object) -> str | None:
    """A text of a reply, well formed; None for anything else: what a table holds must be storable."""
    return well_formed(value) if isinstance(value, str) else None


def as_map(value: object) -> Mapping[str, Any]:
    """An object of a reply; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_count(value: Any) -> int | None:
    """A number of tokens; None where there is none, or one that no call can have."""
    if value is None:
        return None
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number <= MOST_TOKENS else None


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {key: _mended(inner) for key, inner in value.items()}
    return [_mended(inner) for inner in value] if isinstance(value, list) else value
