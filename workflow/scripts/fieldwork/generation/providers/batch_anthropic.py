"""Anthropic's message batches.

The service takes no files: a batch is one call with all its requests. So an input file stays on this
machine, beside the journal, until its batch is settled, and is streamed into the call. It holds the bytes
of live calls, without line breaks and without cache breakpoints, as batches run in no order.

A batch has no name of ours, and the list of batches shows no request. So before a batch is made, a note
beside its file says which one was the newest then. A batch may be that of a run if it is newer, has as
many requests, and is no other run's. If it has ended, its results tell; else it counts only where no
other batch may be it.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import quote

import httpx2

from fieldwork.errors import StudyError
from fieldwork.generation.providers.anthropic import anthropic_headers
from fieldwork.generation.providers.anthropic_errors import (
    HTTP_STATUS,
    anthropic_error,
    anthropic_error_in,
)
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.batch_base import (
    NO_BATCH_REPLY,
    SDK_PARSE_ERRORS,
    BatchRow,
    BatchStatus,
    batch_mask,
    masked_id,
    short_line,
)
from fieldwork.generation.providers.http import HttpReply, ssl_context
from fieldwork.generation.providers.jsontext import (
    dumps,
    load_leniently,
    loads,
    loads_or_none,
    original_part,
)
from fieldwork.generation.providers.service import ServiceSettings
from fieldwork.retries import UNPROCESSED_STATUSES
from fieldwork.sections.services import AnthropicEntry

_PAGE = 1000
_PIECE_BYTES = 1024 * 1024
_HEAD, _TAIL = b'{"requests":[', b"]}"
_NOTE = ".note"
_NOT_RUN = {
    "canceled": "the batch was canceled before this request was run",
    "expired": "the batch expired before this request was run",
}


class AnthropicBatches:
    """Batches of one model; a `BatchClient`.

    Args:
        folder: holds the input files of batches that are not settled.

    Raises:
        StudyError: the file of certificates cannot be read.
    """

    def __init__(self, settings: ServiceSettings[AnthropicEntry], folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._url = f"{settings.entry.base_url.rstrip('/')}/v1/messages/batches"
        self._mask = batch_mask(settings, settings.entry.base_url)
        self._client = _client(settings)

    def line(self, custom_id: str, body: bytes) -> bytes:
        head = b'{"custom_id":' + dumps(custom_id) + b',"params":'
        return b"".join((head, body.replace(b"\n", b""), b"}\n"))

    def upload(self, path: Path) -> str:
        """Keep a copy of the input file; its name, which the same requests give again."""
        try:
            with path.open("rb") as handle:
                digest = hashlib.file_digest(handle, "sha256").hexdigest()
            copy = self._folder / f"{path.name}.{digest[:16]}"
            shutil.copyfile(path, copy)
            _sync(copy)
        except OSError as error:
            raise _unwritable(self._folder, error) from error
        return copy.name

    def create(self, file_id: str, run_id: str) -> str:
        """Start a batch, between two notes: which was the newest before, and which one it is."""
        path = self._folder / file_id
        if not path.is_file():
            raise RejectedError(f"its file of requests, {path}, is gone; run again")
        note = _Note(run_id, self._newest_id())
        self._write_note(path, note)
        headers = {"Content-Length": str(len(_HEAD) + path.stat().st_size - 1 + len(_TAIL))}
        with self._translated_errors():
            reply = self._call("POST", "", content=_request_body(path), headers=headers)
            batch_id = _text(loads(reply.raw)["id"])
        self._add_to_note(path, note, batch_id)
        return batch_id

    def find(self, run_id: str) -> str | None:
        """The id of the batch that may be the run's.

        Raises:
            TransientError: several may be, as long as they run.
        """
        notes = {path: _read_note(path) for path in self._folder.glob(f"*{_NOTE}")}
        known_ids = {note.batch_id for note in notes.values() if note.batch_id is not None}
        for note_path, note in notes.items():
            if note.run_id == run_id:
                path = note_path.with_suffix("")
                batch_id = note.batch_id or self._find(_custom_ids(path), note.newest_id, known_ids)
                if batch_id is not None:
                    self._add_to_note(path, note, batch_id)
                return batch_id
        return None  # no call was sent that could have made it

    def _find(self, custom_ids: Set[str], newest_id: str | None, known_ids: Set[str]) -> str | None:
        running_ids = []
        with self._translated_errors():
            for batch in self._newer_batches(newest_id):
                batch_id = _text(batch["id"])
                if batch_id in known_ids or sum(_counts(batch).values()) != len(custom_ids):
                    continue
                if not _has_results(batch):
                    running_ids.append(batch_id)
                elif self._first_custom_id(batch_id) in custom_ids:
                    return batch_id
        if len(running_ids) > 1:
            raise TransientError(
                f"the batches {', '.join(running_ids)} were made at the same time with as many requests; "
                f"which is this study's shows when they end"
            )
        return running_ids[0] if running_ids else None

    def status(self, batch_id: str) -> BatchStatus:
        """How a batch stands; it ends even if none of its requests is answered."""
        with self._translated_errors():
            return _status(loads(self._call("GET", f"/{quote(batch_id, safe='')}").raw))

    def download(self, file_id: str, into: BinaryIO) -> None:
        """Write the results of the batch `file_id` to the end of `into`."""
        with self._translated_errors(), self._results(file_id) as reply:
            for piece in reply.iter_bytes():
                into.write(piece)

    def row(self, line: bytes) -> BatchRow:
        """A line of results: a message, an error, or why a request was not run."""
        try:
            entry, is_whole = load_leniently(line)
            custom_id, result = entry["custom_id"], entry["result"]
            if not isinstance(custom_id, str):
                raise ValueError("custom_id is not a string")
            if result["type"] == "succeeded":
                message = result["message"]
                raw = dumps(message) if is_whole else original_part(line, "result", "message")
                return BatchRow(
                    custom_id, 200, self._mask.reply(raw), masked_id(message.get("id"), self._mask)
                )
            if result["type"] == "errored":
                return self._error_row(custom_id, result["error"])
            cause = {"error": {"message": _NOT_RUN[result["type"]]}}
            return BatchRow(custom_id, 0, dumps(cause))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a row of results: {error}") from error

    def _error_row(self, custom_id: str, body: Mapping[str, Any]) -> BatchRow:
        raw = self._mask.raw(dumps({"error": body["error"]}))
        kind = anthropic_error_in(body, raw, self._mask.text).kind
        request_id = masked_id(body.get("request_id"), self._mask)
        return BatchRow(custom_id, HTTP_STATUS.get(kind, 500), raw, request_id)

    def discard(self, file_id: str) -> None:
        """Delete an input file and its note from this machine."""
        try:
            for name in (file_id, f"{file_id}{_NOTE}"):
                (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise RejectedError(f"{self._folder / file_id} cannot be deleted ({error})") from error

    def close(self) -> None:
        self._client.close()

    # -- what tells batches apart

    def _newest_id(self) -> str | None:
        try:
            with self._translated_errors():
                batches = loads(self._call("GET", "?limit=1").raw)["data"]
                return _text(batches[0]["id"]) if batches else None
        except TransientError as error:
            error.maybe_billed = False  # the batch was not asked for
            raise

    def _write_note(self, path: Path, note: "_Note") -> None:
        part = path.with_name(f"{path.name}.part")
        try:
            part.write_bytes(dumps(note._asdict()))
            _sync(part)
            part.replace(path.with_name(f"{path.name}{_NOTE}"))
        except OSError as error:
            raise _unwritable(self._folder, error) from error

    def _add_to_note(self, path: Path, note: "_Note", batch_id: str) -> None:
        """Note which batch it is, so that it is taken for no other run's."""
        # the batch is there, and a full disk must not hide that from the journal
        with suppress(StudyError):
            self._write_note(path, note._replace(batch_id=batch_id))

    def _newer_batches(self, newest_id: str | None) -> Iterator[Mapping[str, Any]]:
        """Batches that were made after another one, newest first."""
        cursor = ""
        while True:
            page = loads(self._call("GET", f"?limit={_PAGE}{cursor}").raw)
            for batch in page["data"]:
                if batch["id"] == newest_id:
                    return
                yield batch
            if not page["has_more"]:
                return
            cursor = f"&after_id={quote(_text(page['last_id']), safe='')}"

    def _first_custom_id(self, batch_id: str) -> str | None:
        line = b""
        with self._results(batch_id) as reply:
            for piece in reply.iter_bytes():
                line += piece
                if b"\n" in piece:
                    break
        line = line.partition(b"\n")[0]
        return self.row(line).custom_id if line else None

    # -- calls

    def _call(
        self,
        method: str,
        path: str,
        *,
        content: Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpReply:
        """Make a call and read its reply, whose status is 200."""
        address = f"{self._url}{path}"
        return self._sound(self._client.request(method, address, content=content, headers=headers))

    @contextmanager
    def _results(self, batch_id: str) -> Iterator[httpx2.Response]:
        """The results of a batch, to be read piece by piece."""
        address = f"{self._url}/{quote(batch_id, safe='')}/results"
        with self._client.stream("GET", address) as response:
            if response.status_code != 200:
                response.read()
                self._sound(response)
            yield response

    def _sound(self, response: httpx2.Response) -> HttpReply:
        headers = {name.lower(): value for name, value in response.headers.items()}
        reply = HttpReply(
            response.status_code, response.content, headers, datetime.now(UTC), latency_s=0.0
        )
        if reply.status != 200:
            raise self._status_error(reply)
        return reply

    def _status_error(self, reply: HttpReply) -> Exception:
        if 300 <= reply.status < 400:
            return StudyError(
                f"{self._settings.entry.base_url}: HTTP {reply.status}: the server redirects calls: "
                f"check models.*.base_url"
            )
        if reply.status == 404:  # a batch is missing, not the model
            error = anthropic_error_in(loads_or_none(reply.raw), reply.raw, self._mask.text)
            return RejectedError(f"HTTP 404: {error.message}")
        exception = anthropic_error(reply, self._settings.entry.base_url, self._mask.text)
        if isinstance(exception, TransientError):
            exception.maybe_billed = reply.status not in UNPROCESSED_STATUSES
        return exception

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Raise the errors that `BatchClient` declares."""
        try:
            yield
        except httpx2.HTTPError as error:
            message = short_line(f"{type(error).__name__} {error}", self._mask)
            raise TransientError(message, maybe_billed=True) from None
        except SDK_PARSE_ERRORS:
            raise TransientError(NO_BATCH_REPLY, maybe_billed=True) from None


def _client(settings: ServiceSettings[AnthropicEntry]) -> httpx2.Client:
    return httpx2.Client(
        headers={
            "Content-Type": "application/json",
            **anthropic_headers(settings),
            **settings.headers,
        },
        verify=ssl_context(settings.entry.ca_file),
        proxy=settings.entry.proxy,
        timeout=settings.timeout_s,
        follow_redirects=False,
    )


def _request_body(path: Path) -> Iterator[bytes]:
    """The lines of an input file as one list of requests, piece by piece."""
    yield _HEAD
    n_left = path.stat().st_size - 1  # without the last line's end
    with path.open("rb") as handle:
        while n_left > 0:
            piece = handle.read(min(_PIECE_BYTES, n_left))
            if not piece:
                return
            n_left -= len(piece)
            yield piece.replace(b"\n", b",")
    yield _TAIL


class _Note(NamedTuple):
    """What is known of a batch that is being made.

    Attributes:
        newest_id: the newest batch before it; None where there was none.
        batch_id: the batch; None until the service has named it.
    """

    run_id: str
    newest_id: str | None
    batch_id: str | None = None


def _read_note(path: Path) -> _Note:
    try:
        return _Note(**loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(path, error) from error


def _custom_ids(path: Path) -> frozenset[str]:
    """The ids of the requests in an input file."""
    try:
        with path.open("rb") as handle:
            return frozenset(_text(loads(line)["custom_id"]) for line in handle)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> StudyError:
    return StudyError(
        f"{path}: what is known of a batch cannot be read ({error}), so it is not known whether it was "
        f"made; put a backup of the file in its place"
    )


def _sync(path: Path) -> None:
    with path.open("rb") as handle:
        os.fsync(handle.fileno())


def _unwritable(folder: Path, error: OSError) -> StudyError:
    return StudyError(
        f"{folder}: a file of requests cannot be kept here ({error}). None of its requests was "
        f"submitted. Free disk space, and run again."
    )


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("the reply holds no id")
    return value


def _counts(batch: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(count) for name, count in batch["request_counts"].items()}


def _has_results(batch: Mapping[str, Any]) -> bool:
    return batch["processing_status"] == "ended" and bool(batch.get("results_url"))


def _status(batch: Mapping[str, Any]) -> BatchStatus:
    state, counts = _text(batch["processing_status"]), _counts(batch)
    is_over, has_results = state == "ended", _has_results(batch)
    is_lost = is_over and not has_results
    return BatchStatus(
        state=state,
        is_over=is_over,
        created_at=datetime.fromisoformat(batch["created_at"]).astimezone(UTC),
        n_done=sum(counts.values()) - counts.get("processing", 0),
        files=(_text(batch["id"]),) if has_results else (),
        error="the provider no longer has its results" if is_lost else None,
        is_lost=is_lost,
    )
