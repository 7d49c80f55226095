"""Batches of OpenAI and Azure through the official SDK, which is set to try nothing twice.

A line of the input file holds the same bytes as a live call, without line breaks: JSON allows them
between its parts, JSONL does not. It has no cache breakpoint either: batches run in no order, so what a
breakpoint writes is billed and seldom read. A call that allows no other breakpoints then has no cache.
Input files are streamed from disk, and results are streamed to it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import httpx2
import openai
from openai.types import Batch

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
from fieldwork.generation.providers.http import HttpReply, ssl_context
from fieldwork.generation.providers.jsontext import dumps, load_leniently, original_part
from fieldwork.generation.providers.openai import azure_address
from fieldwork.generation.providers.openai_errors import openai_error, status_line
from fieldwork.generation.providers.service import ServiceSettings
from fieldwork.retries import UNPROCESSED_STATUSES
from fieldwork.sections.services import OpenAIEntry

RUN = "fieldwork_run"
END_STATES = frozenset({"completed", "failed", "expired", "cancelled"})

_NO_ROOM = "token_limit_exceeded"
_PAGE = 100

Path_ = Literal["/v1/chat/completions"]


class OpenAIBatches:
    """Batches of one model; a `BatchClient`.

    Raises:
        StudyError: the file of certificates cannot be read.
    """

    def __init__(self, settings: ServiceSettings[OpenAIEntry]) -> None:
        self._entry = settings.entry
        self._is_azure = settings.entry.api.is_azure
        # Azure's interface has no version in its paths
        self._url = "/chat/completions" if self._is_azure else "/v1/chat/completions"
        self._mask = batch_mask(settings, settings.entry.base_url)
        self._client = _client(settings)

    def line(self, custom_id: str, body: bytes) -> bytes:
        head = dumps({"custom_id": custom_id, "method": "POST", "url": self._url})[:-1]
        return b"".join((head, b',"body":', body.replace(b"\n", b""), b"}\n"))

    def upload(self, path: Path) -> str:
        """Stream the input file; its id."""
        with path.open("rb") as handle, self._translated_errors():
            file = (path.name, handle, "application/jsonl")
            return str(self._client.files.create(file=file, purpose="batch").id)

    def create(self, file_id: str, run_id: str) -> str:
        """Start a batch with the run's id in its metadata."""
        with self._translated_errors():
            if self._is_azure:
                self._require_processed(file_id)
            return self._client.batches.create(
                input_file_id=file_id,
                endpoint=cast(Path_, self._url),
                completion_window="24h",
                metadata={RUN: run_id},
            ).id

    def _require_processed(self, file_id: str) -> None:
        """Azure can use a file only some time after its upload."""
        state = str(self._client.files.retrieve(file_id).status)
        if state in ("error", "failed", "deleted"):
            raise RejectedError(f"the file of requests is {state}")
        if state != "processed":
            raise TransientError(f"the file of requests is not processed yet, but {state}")

    def find(self, run_id: str) -> str | None:
        """The id of the batch whose metadata hold `run_id`."""
        with self._translated_errors():
            page = self._client.batches.list(limit=_PAGE)
            while True:
                if page.data is None:
                    # taken for an empty list, it would cause a batch to be made twice
                    raise ValueError("the reply holds no list of batches")
                for batch in page.data:
                    if (batch.metadata or {}).get(RUN) == run_id:
                        return batch.id
                if not page.has_next_page():
                    return None
                page = page.get_next_page()

    def status(self, batch_id: str) -> BatchStatus:
        """How a batch stands."""
        with self._translated_errors():
            status = _status(self._client.batches.retrieve(batch_id))
        return status._replace(error=status.error and short_line(status.error, self._mask))

    def download(self, file_id: str, into: BinaryIO) -> None:
        with (
            self._translated_errors(),
            self._client.files.with_streaming_response.content(file_id) as reply,
        ):
            for piece in reply.iter_bytes():
                into.write(piece)

    def row(self, line: bytes) -> BatchRow:
        """A line of an output or error file."""
        try:
            entry, is_whole = load_leniently(line)
            custom_id, response = entry["custom_id"], entry["response"]
            if not isinstance(custom_id, str):
                raise ValueError("custom_id is not a string")
            if response is None:
                return BatchRow(custom_id, 0, self._mask.raw(dumps({"error": entry["error"]})))
            status, body = int(response["status_code"]), response["body"]
            raw = self._mask.raw(dumps(body))
            if status == 200:
                raw = dumps(body) if is_whole else original_part(line, "response", "body")
                raw = self._mask.reply(raw)
            return BatchRow(
                custom_id, status, raw, masked_id(response.get("request_id"), self._mask)
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a row of results: {error}") from error

    def discard(self, file_id: str) -> None:
        with self._translated_errors():
            self._client.files.delete(file_id)

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            raise self._status_error(error) from None
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            message = short_line(f"{type(cause).__name__} {cause}", self._mask)
            raise TransientError(message, maybe_billed=True) from None
        except SDK_PARSE_ERRORS:
            raise TransientError(NO_BATCH_REPLY, maybe_billed=True) from None

    def _status_error(self, error: openai.APIStatusError) -> Exception:
        status, server = error.status_code, self._entry.base_url
        headers = {name.lower(): value for name, value in error.response.headers.items()}
        reply = HttpReply(status, error.response.content, headers, datetime.now(UTC), 0.0)
        if 300 <= status < 400:
            message = status_line(reply, self._mask.text)
            return StudyError(
                f"{server}: {message}; the server redirects calls: check models.*.base_url"
            )
        if status == 404:  # a file or a batch is missing, not the model
            return RejectedError(status_line(reply, self._mask.text))
        exception = openai_error(reply, server, self._mask.text)
        if isinstance(exception, TransientError):
            exception.maybe_billed = status not in UNPROCESSED_STATUSES
        return exception


def _client(settings: ServiceSettings[OpenAIEntry]) -> openai.OpenAI:
    options: dict[str, Any] = {
        # the SDK insists on a key; servers without keys ignore it
        "api_key": settings.api_key or "none",
        "max_retries": 0,
        "timeout": settings.timeout_s,
        "default_headers": dict(settings.headers),
        "http_client": httpx2.Client(
            verify=ssl_context(settings.entry.ca_file),
            proxy=settings.entry.proxy,
            timeout=settings.timeout_s,
            follow_redirects=False,
        ),
    }
    entry = settings.entry
    client: openai.OpenAI
    if entry.api.is_azure:
        client = openai.AzureOpenAI(
            azure_endpoint=azure_address(entry), api_version=entry.api.version, **options
        )
    else:
        client = openai.OpenAI(base_url=entry.base_url.rstrip("/"), **options)
    # live calls name neither, and the SDK would take them from the environment
    client.organization = client.project = None
    return client


def _status(batch: Batch) -> BatchStatus:
    errors = (batch.errors.data if batch.errors else None) or []
    causes = "; ".join(f"{error.code}: {error.message}" for error in errors[:3])
    rest = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
    files = [name for name in (batch.output_file_id, batch.error_file_id) if name]
    counts = batch.request_counts
    has_failed = batch.status == "failed"
    if not isinstance(batch.status, str):
        raise ValueError("the batch has no status")
    return BatchStatus(
        state=batch.status,
        is_over=batch.status in END_STATES,
        created_at=datetime.fromtimestamp(batch.created_at, UTC),
        n_done=counts.completed + counts.failed if counts else 0,
        files=tuple(files),
        error=f"the batch failed: {causes or 'for no stated reason'}{rest}" if has_failed else None,
        no_room=has_failed and not files and any(error.code == _NO_ROOM for error in errors),
    )
