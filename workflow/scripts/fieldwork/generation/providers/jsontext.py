"""JSON as the wire wants it: what UTF-8 cannot carry is mended, what strict readers refuse is read."""

import json
from typing import Any

import orjson

MOST_TOKENS = 2**31


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


def well_formed(text: str) -> str:
    """Surrogate pairs joined, lone ones replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_text(value: object) -> str | None:
    """A text of a reply, well formed; None for anything else: what a table holds must be storable."""
    return well_formed(value) if isinstance(value, str) else None


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
