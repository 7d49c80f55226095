"""Batches of the Gemini API through the official SDK and its files.

A line of the input file holds the same bytes as a live call, without line breaks: JSON allows them
between its parts, JSONL does not. The SDK tries nothing twice except the pieces of an upload. It sends a
piece up to three times while the server does not confirm it. Vertex AI takes batches from its own storage
only, so they are refused here.
"""

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
    SDK_PARSE_ERRORS,
    BatchRow,
    BatchStatus,
    batch_mask,
    masked_id,
    short_line,
)
from fieldwork.generation.providers.gemini_errors import gemini_error, google_error_in
from fieldwork.generation.providers.http import HttpReply, ssl_context
from fieldwork.generation.providers.jsontext import dumps, load_leniently, original_part
from fieldwork.generation.providers.service import ServiceSettings
from fieldwork.retries import UNPROCESSED_STATUSES
from fieldwork.sections.services import GeminiEntry

END_STATES = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})

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
        StudyError: the model is on Vertex AI, or the file of certificates cannot be read.
    """

    def __init__(self, settings: ServiceSettings[GeminiEntry]) -> None:
        if settings.entry.vertex is not None:
            raise StudyError(
                "models.*.dispatch is batch, but Vertex AI takes batches from its own storage only; set "
                "dispatch to live, or use the Gemini API"
            )
        self._entry = settings.entry
        self._mask = batch_mask(settings, settings.entry.base_url)
        self._client = _client(settings)

    def line(self, custom_id: str, body: bytes) -> bytes:
        head = b'{"key":' + dumps(custom_id) + b',"request":'
        return b"".join((head, body.replace(b"\n", b""), b"}\n"))

    def upload(self, path: Path) -> str:
        """Stream the input file; its name."""
        with path.open("rb") as handle, self._translated_errors():
            # the SDK asks for an io.IOBase and reads it as a file
            file = self._client.files.upload(
                file=cast(Any, handle), config=types.UploadFileConfig(mime_type=_MIME)
            )
            return _require_name(file.name)

    def create(self, file_id: str, run_id: str) -> str:
        """Start a batch with the run's id as its display name."""
        config = types.CreateBatchJobConfig(display_name=run_id)
        with self._translated_errors(missing="File"):
            job = self._client.batches.create(model=self._entry.model, src=file_id, config=config)
            return _require_name(job.name)

    def find(self, run_id: str) -> str | None:
        """The name of the batch whose display name is `run_id`."""
        with self._translated_errors():
            for job in self._client.batches.list(config=types.ListBatchJobsConfig(page_size=_PAGE)):
                if job.display_name == run_id:
                    return _require_name(job.name)
            return None

    def status(self, batch_id: str) -> BatchStatus:
        """How a batch stands. The SDK does not say why one failed."""
        with self._translated_errors(missing=""):
            status = _status(self._client.batches.get(name=batch_id))
        return status._replace(error=status.error and short_line(status.error, self._mask))

    def download(self, file_id: str, into: BinaryIO) -> None:
        with self._translated_errors(missing=""):
            self._client.files.download(file=file_id, destination=cast(Any, into))

    def row(self, line: bytes) -> BatchRow:
        """A line of a results file: a reply, or an error."""
        try:
            entry, is_whole = load_leniently(line)
            key = entry["key"]
            if not isinstance(key, str):
                raise ValueError("key is not a string")
            reply = entry.get("response")
            if reply is not None:
                raw = dumps(reply) if is_whole else original_part(line, "response")
                raw = self._mask.reply(raw)
                return BatchRow(key, 200, raw, masked_id(reply.get("responseId"), self._mask))
            error = entry.get("error") or entry["status"]
            error = error.get("error", error)
            code = int(error.get("code") or 2)
            return BatchRow(
                key, _HTTP_STATUS.get(code, code), self._mask.raw(dumps({"error": error}))
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a row of results: {error}") from error

    def discard(self, file_id: str) -> None:
        with self._translated_errors(missing=""):
            self._client.files.delete(name=file_id)

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _translated_errors(self, missing: str | None = None) -> Iterator[None]:
        """Raise the errors that `BatchClient` declares.

        Args:
            missing: where the message of a 403 or 404 holds this, the call names what is not there.
        """
        try:
            yield
        except errors.APIError as error:
            is_missing = missing is not None and missing in str(error.message)
            if error.code in (403, 404) and is_missing:
                raise RejectedError(
                    f"HTTP {error.code}: {short_line(str(error.message), self._mask)}"
                ) from None
            raise self._status_error(error) from None
        except httpx2.HTTPError as error:
            message = short_line(f"{type(error).__name__} {error}", self._mask)
            raise TransientError(message, maybe_billed=True) from None
        except SDK_PARSE_ERRORS:
            raise TransientError(NO_BATCH_REPLY, maybe_billed=True) from None

    def _status_error(self, error: errors.APIError) -> Exception:
        raw_headers = getattr(error.response, "headers", None) or {}
        headers = {str(name).lower(): str(value) for name, value in raw_headers.items()}
        raw = dumps(error.details)
        reply = HttpReply(int(error.code or 0), raw, headers, datetime.now(UTC), 0.0)
        details = google_error_in(error.details, raw, self._mask.text)
        exception = gemini_error(reply, details, self._entry.base_url)
        if isinstance(exception, TransientError):
            exception.maybe_billed = reply.status not in UNPROCESSED_STATUSES
        return exception


def _client(settings: ServiceSettings[GeminiEntry]) -> genai.Client:
    client_args: dict[str, Any] = {
        "verify": ssl_context(settings.entry.ca_file),
        "follow_redirects": False,
    }
    if settings.entry.proxy:
        client_args["proxy"] = settings.entry.proxy
    return genai.Client(
        vertexai=False,
        # the SDK insists on a key; servers without keys ignore it
        api_key=settings.api_key or "none",
        http_options=types.HttpOptions(
            base_url=settings.entry.base_url.rstrip("/"),
            api_version=settings.entry.api_version,
            headers=dict(settings.headers),
            timeout=round(settings.timeout_s * 1000),
            client_args=client_args,
        ),
    )


def _require_name(name: str | None) -> str:
    if not name:
        raise ValueError("the reply holds no name")
    return name


def _status(job: types.BatchJob) -> BatchStatus:
    if job.state is None:
        raise ValueError("the batch has no state")
    state = job.state.name.removeprefix("JOB_STATE_")
    results_file = job.dest.file_name if job.dest else None
    stats = job.completion_stats
    failure = f"the batch failed: {job.error.message if job.error else 'for no stated reason'}"
    return BatchStatus(
        state=state.lower(),
        is_over=state in END_STATES,
        created_at=job.create_time.astimezone(UTC) if job.create_time else None,
        n_done=(stats.successful_count or 0) + (stats.failed_count or 0) if stats else 0,
        files=(results_file,) if results_file else (),
        error=failure if state == "FAILED" else None,
    )
