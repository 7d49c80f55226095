"""Gemini's batches on the Gemini API, through the official SDK and its files.

A line of the input file holds the very bytes that a live call would send, but for line breaks: JSON
allows them between its parts, JSONL does not. The SDK tries nothing twice, but for the pieces of an
upload: it sends one up to three times where the server does not confirm it. Vertex AI takes batches
from its own storage only, so they are refused here.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

import httpx2
from google import genai
from google.genai import errors, types

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.batch_base import (
    NO_BATCH_REPLY,
    NOT_OF_THE_SDK,
    BatchRow,
    BatchStatus,
    batch_mask,
    in_a_line,
)
from fieldwork.generation.providers.gemini import GEMINI_URL, GeminiSettings
from fieldwork.generation.providers.gemini_errors import gemini_error
from fieldwork.generation.providers.http import Answer
from fieldwork.generation.providers.jsontext import as_received, as_text, dumps, mended
from fieldwork.retries import UNPROCESSED_STATUSES

ENDED = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})

_PAGE = 100
_MIME = "application/jsonl"
# HTTP's status for Google's error codes (google.rpc.Code) that result rows carry
_HTTP_STATUS = {
    1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429,
    9: 400, 10: 409, 11: 400, 12: 501, 13: 500, 14: 503, 15: 500, 16: 401,
}  # fmt: skip


class GeminiBatches:
    """Batches of one model; a `BatchClient`.

    Raises:
        StudyError: the model is on Vertex AI, or the file of certificates is none.
    """

    def __init__(self, settings: GeminiSettings) -> None:
        if settings.vertex is not None:
            raise StudyError(
                "models.*.dispatch is batch, but Vertex AI takes batches from its own storage only; "
                "set dispatch to live, or use the Gemini API"
            )
        self._settings = settings
        self._mask = batch_mask(settings, settings.base_url or GEMINI_URL)
        self._opened: genai.Client | None = _client(settings)

    @property
    def _client(self) -> genai.Client:
        """Open; after `close` the next call opens another."""
        if self._opened is None:
            self._opened = _client(self._settings)
        return self._opened

    def line(self, custom_id: str, body: bytes) -> bytes:
        """A request as a line of an input file."""
        head = b'{"key":' + dumps(custom_id) + b',"request":'
        return b"".join((head, body.replace(b"\n", b""), b"}\n"))

    def upload(self, path: Path) -> str:
        """The name of the input file; streamed, not read into memory."""
        with path.open("rb") as handle, self._explained():
            # the SDK asks for an io.IOBase and reads it as a file
            file = self._client.files.upload(
                file=cast(Any, handle), config=types.UploadFileConfig(mime_type=_MIME)
            )
            return _named(file.name)

    def create(self, file_id: str, run_id: str) -> str:
        """Start a batch; the run's id is its display name."""
        config = types.CreateBatchJobConfig(display_name=run_id)
        with self._explained(gone="File"):
            job = self._client.batches.create(
                model=self._settings.model, src=file_id, config=config
            )
            return _named(job.name)

    def find(self, run_id: str) -> str | None:
        """The name of the batch whose display name is `run_id`."""
        with self._explained():
            for job in self._client.batches.list(config=types.ListBatchJobsConfig(page_size=_PAGE)):
                if job.display_name == run_id:
                    return _named(job.name)
            return None

    def status(self, batch_id: str) -> BatchStatus:
        """How a batch stands; the SDK does not pass on why one failed."""
        with self._explained(gone=""):
            status = _status(self._client.batches.get(name=batch_id))
        return status._replace(error=status.error and self._scrubbed(status.error))

    def download(self, file_id: str, into: BinaryIO) -> None:
        """Stream a file of results."""
        with self._explained(gone=""):
            self._client.files.download(file=file_id, destination=cast(Any, into))

    def row(self, line: bytes) -> BatchRow:
        """A line of a results file: a reply, or an error."""
        try:
            entry, is_whole = mended(line)
            key = entry["key"]
            if not isinstance(key, str):
                raise ValueError("a key is a string")
            reply = entry.get("response")
            if reply is not None:
                raw = dumps(reply) if is_whole else as_received(line, "response")
                raw = self._mask.reply(raw)
                return BatchRow(key, 200, raw, self._id_of(reply.get("responseId")))
            error = entry.get("error") or entry["status"]
            error = error.get("error", error)
            code = int(error.get("code") or 2)
            return BatchRow(key, _HTTP_STATUS.get(code, code), self._told({"error": error}))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no row of results: {error}") from error

    def discard(self, file_id: str) -> None:
        """Delete an input file."""
        with self._explained(gone=""):
            self._client.files.delete(name=file_id)

    def close(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @contextmanager
    def _explained(self, gone: str | None = None) -> Iterator[None]:
        """Raise what settlement knows.

        Args:
            gone: 403 and 404 mean, where the message holds this, that what the call names is not there.
        """
        try:
            yield
        except errors.APIError as error:
            is_gone = gone is not None and gone in str(error.message)
            if error.code in (403, 404) and is_gone:
                raise RejectedError(
                    f"HTTP {error.code}: {self._scrubbed(str(error.message))}"
                ) from None
            raise self._status_error(error) from None
        except httpx2.HTTPError as error:
            said = self._scrubbed(f"{type(error).__name__} {error}")
            raise TransientError(said, maybe_billed=True) from None
        except NOT_OF_THE_SDK:
            raise TransientError(NO_BATCH_REPLY, maybe_billed=True) from None

    def _status_error(self, error: errors.APIError) -> Exception:
        found = getattr(error.response, "headers", None) or {}
        headers = {str(name).lower(): str(value) for name, value in found.items()}
        raw = self._told(error.details)
        answer = Answer(int(error.code or 0), raw, headers, datetime.now(UTC), 0.0)
        explained = gemini_error(answer, raw, self._settings.base_url or GEMINI_URL)
        if isinstance(explained, TransientError):
            explained.maybe_billed = answer.status not in UNPROCESSED_STATUSES
        return explained

    def _id_of(self, value: object) -> str | None:
        name = as_text(value)
        return name and self._mask.text(name)

    def _scrubbed(self, text: str) -> str:
        return in_a_line(text, self._mask)

    def _told(self, error: Any) -> bytes:
        return self._mask.raw(dumps(error))


def _client(settings: GeminiSettings) -> genai.Client:
    try:
        trusted = ssl.create_default_context(cafile=settings.ca_file)
    except OSError as error:
        raise StudyError(
            f"{settings.ca_file}: no certificates can be read ({error}); models.*.ca_file names a PEM "
            f"file"
        ) from error
    client_args: dict[str, Any] = {"verify": trusted, "follow_redirects": False}
    if settings.proxy:
        client_args["proxy"] = settings.proxy
    return genai.Client(
        vertexai=False,
        # servers without keys ignore it; the SDK insists on one
        api_key=settings.api_key or "none",
        http_options=types.HttpOptions(
            base_url=(settings.base_url or GEMINI_URL).rstrip("/"),
            api_version=settings.api_version,
            headers=dict(settings.headers),
            timeout=round(settings.timeout_s * 1000),
            client_args=client_args,
        ),
    )


def _named(name: str | None) -> str:
    if not name:
        raise ValueError("a reply without a name")
    return name


def _status(job: types.BatchJob) -> BatchStatus:
    if job.state is None:
        raise ValueError("a batch without a state")
    state = job.state.name.removeprefix("JOB_STATE_")
    made = job.dest.file_name if job.dest else None
    stats = job.completion_stats
    said = f"the batch failed: {job.error.message if job.error else 'the service says no more'}"
    return BatchStatus(
        state=state.lower(),
        ended=state in ENDED,
        created_at=job.create_time.astimezone(UTC) if job.create_time else None,
        n_done=(stats.successful_count or 0) + (stats.failed_count or 0) if stats else 0,
        files=(made,) if made else (),
        error=said if state == "FAILED" else None,
    )
