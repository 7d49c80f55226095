"""Requests as files for a batch service: split by count, bytes and tokens, one file on disk at a time."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
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
    queue = ((call, line(call.key.hex(), call.wire.body())) for call in calls)
    overflow = next(queue, None)
    while overflow is not None:
        with _as_study_error(path), path.open("wb") as handle:
            file, overflow = _fill(handle, chain([overflow], queue), limits)
        yield file
    with _as_study_error(path):
        path.unlink(missing_ok=True)


def _fill(
    handle: BinaryIO, queue: Iterator[tuple[Call, bytes]], limits: BatchLimits
) -> tuple[RequestFile, tuple[Call, bytes] | None]:
    """The file, and the first request that no longer fits; any request fits an empty file."""
    draws: dict[bytes, int] = {}
    n_bytes = tokens = 0
    for call, row in queue:
        fits = (
            len(draws) < limits.max_requests
            and n_bytes + len(row) <= limits.max_bytes
            and (limits.max_tokens is None or tokens + call.tokens <= limits.max_tokens)
        )
        if draws and not fits:
            return RequestFile(draws, tokens), (call, row)
        handle.write(row)
        draws[call.key] = call.draw
        n_bytes += len(row)
        tokens += call.tokens
    return RequestFile(draws, tokens), None


@contextmanager
def _as_study_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"{path}: a file of requests cannot be written ({error}). None of its requests was "
            f"submitted. Free disk space, and run again."
        ) from error
