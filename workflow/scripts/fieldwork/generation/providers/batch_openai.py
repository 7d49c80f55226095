"""OpenAI's batches, and Azure's, through the official SDK, which here never tries anything twice.

A line of the input file holds the very bytes that a live call would send, but for line breaks: JSON
allows them between its parts, JSONL does not. Input files are streamed from disk, results to it.
"""

import ssl
from collections.abc import Callable, Iterator
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
    NOT_OF_THE_SDK,
    BatchRow,
    BatchStatus,
    batch_mask,
    in_a_line,
)
from fieldwork.generation.providers.jsontext import as_received, as_text, dumps, mended
from fieldwork.generation.providers.openai import OpenAISettings
from fieldwork.retries import (
    THROTTLED_STATUSES,
    TRANSIENT_STATUSES,
    UNPROCESSED_STATUSES,
    retry_after_s,
)

RUN = "fieldwork_run"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})

_EMPTY_ACCOUNT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_NO_ROOM = "token_limit_exceeded"
_PAGE = 100

Path_ = Literal["/v1/chat/completions"]


class OpenAIBatches:
    """Batches of one model; a `BatchClient`.

    Args:
        wire: what a live call would send for a body; `OpenAI.wire`.

    Raises:
        StudyError: the file of certificates is none.
    """

    def __init__(self, settings: OpenAISettings, wire: Callable[[bytes], bytes]) -> None:
        self._settings, self._wire = settings, wire
        self._is_azure = settings.azure_version is not None
        # Azure's interface has no version in its paths
        self._url = "/chat/completions" if self._is_azure else "/v1/chat/completions"
        self._mask = batch_mask(settings, settings.base_url)
        self._opened: openai.OpenAI | None = _client(settings)

    @property
    def _client(self) -> openai.OpenAI:
        """Open; after `close` the next call opens another."""
        if self._opened is None:
            self._opened = _client(self._settings)
        return self._opened

    def line(self, custom_id: str, body: bytes) -> bytes:
        """A request as a line of an input file."""
        head = dumps({"custom_id": custom_id, "method": "POST", "url": self._url})[:-1]
        return b"".join((head, b',"body":', self._wire(body).replace(b"\n", b""), b"}\n"))

    def upload(self, path: Path) -> str:
        """The id of the input file; streamed, not read into memory."""
        with path.open("rb") as handle, self._explained():
            file = (path.name, handle, "application/jsonl")
            return str(self._client.files.create(file=file, purpose="batch").id)

    def create(self, file_id: str, run_id: str) -> str:
        """Start a batch; the run's id stands in its metadata."""
        with self._explained():
            if self._is_azure:
                self._require_processed(file_id)
            return self._client.batches.create(
                input_file_id=file_id,
                endpoint=cast(Path_, self._url),
                completion_window="24h",
                metadata={RUN: run_id},
            ).id

    def _require_processed(self, file_id: str) -> None:
        """Azure takes a file some time after it was uploaded."""
        state = str(self._client.files.retrieve(file_id).status)
        if state in ("error", "failed", "deleted"):
            raise RejectedError(f"the file of requests is {state}")
        if state != "processed":
            raise TransientError(f"the file of requests is {state} yet")

    def find(self, run_id: str) -> str | None:
        """The id of the batch whose metadata hold `run_id`."""
        with self._explained():
            page = self._client.batches.list(limit=_PAGE)
            while True:
                if page.data is None:
                    # taking this for an empty list would have a batch made twice
                    raise ValueError("no list of batches")
                for batch in page.data:
                    if (batch.metadata or {}).get(RUN) == run_id:
                        return batch.id
                if not page.has_next_page():
                    return None
                page = page.get_next_page()

    def status(self, batch_id: str) -> BatchStatus:
        """How a batch stands."""
        with self._explained():
            status = _status(self._client.batches.retrieve(batch_id))
        return status._replace(error=status.error and self._scrubbed(status.error))

    def download(self, file_id: str, into: BinaryIO) -> None:
        """Stream a file of results."""
        with (
            self._explained(),
            self._client.files.with_streaming_response.content(file_id) as reply,
        ):
            for piece in reply.iter_bytes():
                into.write(piece)

    def row(self, line: bytes) -> BatchRow:
        """A line of an output or error file."""
        try:
            entry, is_whole = mended(line)
            custom_id, response = entry["custom_id"], entry["response"]
            if not isinstance(custom_id, str):
                raise ValueError("a custom_id is a string")
            if response is None:
                return BatchRow(custom_id, 0, self._told({"error": entry["error"]}))
            status, body = int(response["status_code"]), response["body"]
            raw = self._told(body)
            if status == 200:
                raw = dumps(body) if is_whole else as_received(line, "response", "body")
                raw = self._mask.reply(raw)
            return BatchRow(custom_id, status, raw, self._id_of(response.get("request_id")))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no row of results: {error}") from error

    def discard(self, file_id: str) -> None:
        """Delete an input file."""
        with self._explained():
            self._client.files.delete(file_id)

    def close(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            raise self._status_error(error) from None
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            said = self._scrubbed(f"{type(cause).__name__} {cause}")
            raise TransientError(said, maybe_billed=True) from None
        except NOT_OF_THE_SDK:
            raise TransientError(NO_BATCH_REPLY, maybe_billed=True) from None

    def _status_error(self, error: openai.APIStatusError) -> Exception:
        status, where = error.status_code, self._settings.base_url
        said = f"HTTP {status}: {self._scrubbed(_message(error))}"
        if status == 402 or {error.code, error.type} & _EMPTY_ACCOUNT:
            return StudyError(f"{where}: {said}; add credit to the account, then run again")
        if status in (401, 403):
            return StudyError(f"{where}: {said}; check the key named in models.*.api_key_env")
        if 300 <= status < 400:
            return StudyError(
                f"{where}: {said}; the server sends calls elsewhere: check models.*.base_url"
            )
        if status in TRANSIENT_STATUSES:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return TransientError(
                said,
                retry_after_s(headers),
                throttled=status in THROTTLED_STATUSES,
                maybe_billed=status not in UNPROCESSED_STATUSES,
            )
        return RejectedError(said)

    def _id_of(self, value: object) -> str | None:
        name = as_text(value)
        return name and self._mask.text(name)

    def _scrubbed(self, text: str) -> str:
        return in_a_line(text, self._mask)

    def _told(self, error: Any) -> bytes:
        return self._mask.raw(dumps(error))


def _client(settings: OpenAISettings) -> openai.OpenAI:
    try:
        trusted = ssl.create_default_context(cafile=settings.ca_file)
    except OSError as error:
        raise StudyError(
            f"{settings.ca_file}: no certificates can be read ({error}); models.*.ca_file names a PEM "
            f"file"
        ) from error
    shared: dict[str, Any] = {
        # servers without keys ignore it; the SDK insists on one
        "api_key": settings.api_key or "none",
        "max_retries": 0,
        "timeout": settings.timeout_s,
        "default_headers": dict(settings.headers),
        "http_client": httpx2.Client(
            verify=trusted,
            proxy=settings.proxy,
            timeout=settings.timeout_s,
            follow_redirects=False,
        ),
    }
    base = settings.base_url.rstrip("/")
    client: openai.OpenAI
    if settings.azure_version is not None:
        client = openai.AzureOpenAI(
            azure_endpoint=base, api_version=settings.azure_version, **shared
        )
    else:
        client = openai.OpenAI(base_url=base, **shared)
    # the environment may name others than live calls are made for
    client.organization = client.project = None
    return client


def _status(batch: Batch) -> BatchStatus:
    errors = (batch.errors.data if batch.errors else None) or []
    said = "; ".join(f"{error.code}: {error.message}" for error in errors[:3])
    more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
    files = [name for name in (batch.output_file_id, batch.error_file_id) if name]
    counts = batch.request_counts
    has_failed = batch.status == "failed"
    if not isinstance(batch.status, str):
        raise ValueError("a batch without a status")
    return BatchStatus(
        state=batch.status,
        ended=batch.status in ENDED,
        created_at=datetime.fromtimestamp(batch.created_at, UTC),
        n_done=counts.completed + counts.failed if counts else 0,
        files=tuple(files),
        error=f"the batch failed: {said or 'for no stated reason'}{more}" if has_failed else None,
        no_room=has_failed and not files and any(error.code == _NO_ROOM for error in errors),
    )


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    inner = body.get("message") if isinstance(body, dict) else None
    return str(inner or error.message)
