"""Requests as files for a batch service: split by count, bytes and tokens, one file on disk at a time."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Call


class BatchLimits(NamedTuple):
    """What a batch service bears, and how long to be patient with it.

    Attributes:
        max_requests: in a file.
        max_bytes: of a file.
        max_tokens: estimated prompt tokens under way in all batches of the model together; None for
            no limit. A request above it goes alone.
        listing_lag_s: how long a new batch may be missing from the provider's list.
        attempts: tries of a step that fails in passing.
    """

    max_requests: int = 50_000
    max_bytes: int = 200_000_000
    max_tokens: int | None = None
    listing_lag_s: float = 120.0
    attempts: int = 8


class Packed(NamedTuple):
    """A finished file; it is overwritten by the next one.

    Attributes:
        draws: the requests in it, key → draw.
        tokens: estimated, of all its prompts.
    """

    draws: dict[bytes, int]
    tokens: int


class _Open:
    def __init__(self, handle: BinaryIO) -> None:
        self.handle = handle
        self.draws: dict[bytes, int] = {}
        self.n_bytes = self.tokens = 0

    def has_room(self, n_bytes: int, tokens: int, limits: BatchLimits) -> bool:
        """Whether another request goes in; an empty file takes any."""
        if not self.draws:
            return True
        return (
            len(self.draws) < limits.max_requests
            and self.n_bytes + n_bytes <= limits.max_bytes
            and (limits.max_tokens is None or self.tokens + tokens <= limits.max_tokens)
        )

    def add(self, call: Call, line: bytes) -> None:
        self.handle.write(line)
        self.draws[call.key] = call.draw
        self.n_bytes += len(line)
        self.tokens += call.tokens


def packed(
    calls: Iterable[Call],
    path: Path,
    line: Callable[[str, bytes], bytes],
    limits: BatchLimits,
) -> Iterator[Packed]:
    """Write `calls` to `path`, file after file; nothing but the request at hand is in memory.

    Args:
        path: holds the file just yielded, until the next is asked for.
        line: a request's line, from its id and body.

    Raises:
        StudyError: the disk refuses.
    """
    waiting = iter(calls)
    held: tuple[Call, bytes] | None = None
    while True:
        with _explained(path), path.open("wb") as handle:
            file = _Open(handle)
            held = _fill(file, held, waiting, line, limits)
        if file.draws:
            yield Packed(file.draws, file.tokens)
        if held is None:
            break
    with _explained(path):
        path.unlink(missing_ok=True)


def _fill(
    file: _Open,
    held: tuple[Call, bytes] | None,
    waiting: Iterator[Call],
    line: Callable[[str, bytes], bytes],
    limits: BatchLimits,
) -> tuple[Call, bytes] | None:
    """Fill a file; the request that no longer went in, None where there are no more."""
    if held is not None:
        file.add(*held)
    for call in waiting:
        written = line(call.key.hex(), call.wire.body())
        if not file.has_room(len(written), call.tokens, limits):
            return call, written
        file.add(call, written)
    return None


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"{path}: a file of requests cannot be written ({error}); nothing of it was submitted: "
            f"free disk space, and run again"
        ) from error
