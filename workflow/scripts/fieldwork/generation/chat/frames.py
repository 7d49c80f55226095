"""Bytes between processes: each message after its length and a number that says what it belongs to."""

import struct
from typing import BinaryIO, NamedTuple

HEAD = struct.Struct(">QQ")


class NumberedMessage(NamedTuple):
    """A message and its number."""

    number: int
    content: bytes


def numbered_frame(number: int, content: bytes) -> bytes:
    """A message as it is sent."""
    return HEAD.pack(len(content), number) + content


def read_numbered(stream: BinaryIO) -> NumberedMessage | None:
    """The next message; None where the other side is gone."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    n, number = HEAD.unpack(head)
    content = stream.read(n)
    return NumberedMessage(number, content) if len(content) == n else None
