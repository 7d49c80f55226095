"""Requests as files for a batch service: split by count, bytes and tokens, one file on disk at a time."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Call


class BatchLimits(NamedTuple):
    """What a batch service accepts, and how often to try again.

    Attributes:
        max_requests: in a file.
        max_bytes: of a file.
        max_tokens: estimated prompt tokens under way in all batches of the model together; None for
            no limit. A request above the limit is sent alone.
        listing_lag_s: how long a new batch may be missing from the provider's list.
        attempts: tries of a step whose failure may pass.
    """

    max_requests: int = 50_000
    max_bytes: int = 200_000_000
    max_tokens: int | None = None
    listing_lag_s: float = 120.0
    attempts: int = 8


class RequestFile(NamedTuple):
    """A finished file of requests; the next one overwrites it.

    Attributes:
        draws: the requests in it, key → draw.
        tokens: estimated, of all its prompts.
    """

    draws: dict[bytes, int]
    tokens: int


class _OpenFile:
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


def write_files(
    calls: Iterable[Call],
    path: Path,
    line: Callable[[str, bytes], bytes],
    limits: BatchLimits,
) -> Iterator[RequestFile]:
    """Write `calls` to `path`, file after file, with one request in memory at a time.

    Args:
        path: holds the file just yielded, until the next one is written.
        line: a request's line, from its id and body.

    Raises:
        StudyError: the disk refuses.
    """
    queue = iter(calls)
    overflow: tuple[Call, bytes] | None = None
    while True:
        with _as_study_error(path), path.open("wb") as handle:
            file = _OpenFile(handle)
            overflow = _fill(file, overflow, queue, line, limits)
        if file.draws:
            yield RequestFile(file.draws, file.tokens)
        if overflow is None:
            break
    with _as_study_error(path):
        path.unlink(missing_ok=True)


def _fill(
    file: _OpenFile,
    overflow: tuple[Call, bytes] | None,
    queue: Iterator[Call],
    line: Callable[[str, bytes], bytes],
    limits: BatchLimits,
) -> tuple[Call, bytes] | None:
    """Fill a file, beginning with the last one's overflow.

    Returns:
        The first request that no longer fits, with its line; None where there are no more.
    """
    if overflow is not None:
        file.add(*overflow)
    for call in queue:
        row = line(call.key.hex(), call.wire.body())
        if not file.has_room(len(row), call.tokens, limits):
            return call, row
        file.add(call, row)
    return None


@contextmanager
def _as_study_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"{path}: a file of requests cannot be written ({error}). None of its requests was "
            f"submitted. Free disk space, and run again."
        ) from error
