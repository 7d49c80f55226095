"""Cache breakpoints in a body: where the text that ends a context stands, and what marks it for a server.

JSON text holds no raw line break, so line breaks mark that text: one stands before it, one after. A mark
concerns delivery only, so the ledger's key covers the body without it.
"""

from collections.abc import Mapping, Sequence

from fieldwork.generation.providers.jsontext import dumps


def marked_turns(turns: Sequence[Mapping[str, str]]) -> bytes:
    """Turns of a list that goes on, the last one's text between line breaks; nothing for no turns."""
    if not turns:
        return b""
    *earlier_turns, last = turns
    earlier = dumps(earlier_turns)[1:-1] + b"," if earlier_turns else b""
    role, content = dumps(last["role"]), dumps(last["content"])
    return b"".join((earlier, b'{"role":', role, b',"content":\n', content, b"\n},"))


def with_breakpoint(body: bytes, start: bytes, end: bytes) -> bytes:
    """The body with the marked text between `start` and `end`; the body itself where none is marked."""
    last = body.rfind(b"\n")
    first = body.rfind(b"\n", 0, max(last, 0))
    if first < 0:
        return body
    whole = memoryview(body)  # a context is large: copy it only once
    return b"".join((whole[:first], start, whole[first + 1 : last], end, whole[last + 1 :]))
