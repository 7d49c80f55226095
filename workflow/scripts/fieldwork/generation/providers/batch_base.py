"""What settlement asks of a provider's batch service: files up, batches made and found, results down."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from fieldwork.generation.providers.http import proxy_of_environment
from fieldwork.masking import Mask, address_secrets, header_secrets

NOT_OF_THE_SDK = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What the SDKs raise for a reply that they do not know: a page of HTML, or half a body."""

NO_BATCH_REPLY = "no reply of the batch interface, but perhaps a page of HTML"


class BatchStatus(NamedTuple):
    """How a batch stands.

    Attributes:
        state: in the provider's words.
        ended: nothing more will come of it.
        n_done: requests that it has finished, as far as the provider tells.
        files: what the results are in, in the order of reading.
        error: why it failed, None where it did not.
        no_room: it failed, and nothing of it was run, because too much was enqueued already.
    """

    state: str
    ended: bool
    created_at: datetime | None = None
    n_done: int = 0
    files: tuple[str, ...] = ()
    error: str | None = None
    no_room: bool = False


class BatchRow(NamedTuple):
    """A line of results.

    Attributes:
        status: as HTTP would say it; 0 for a request that was not run.
        raw: the reply's body, or `{"error": {"message": …}}`. It is parsed and written anew, so its
            blanks and escapes may differ from what the provider sent; secrets in it are masked.
    """

    custom_id: str
    status: int
    raw: bytes
    request_id: str | None = None


class Secretive(Protocol):
    """What the settings of both services have."""

    @property
    def api_key(self) -> str | None: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def secrets(self) -> tuple[str, ...]: ...
    @property
    def proxy(self) -> str | None: ...


def batch_mask(settings: Secretive, address: str) -> Mask:
    """Knows every secret that a batch service is sent on the way to `address`."""
    mask = Mask([settings.api_key or "", *settings.secrets, *header_secrets(settings.headers)])
    mask.learn(address_secrets(settings.proxy or proxy_of_environment(address)))
    return mask


def in_a_line(text: str, mask: Mask) -> str:
    """What an error says, in one short line without secrets."""
    return mask.line(text)[:300]


class BatchClient(Protocol):
    """A batch service. Its methods block, and send once: whoever calls them tries again.

    All of them raise:
        TransientError: worth another try; `maybe_billed` where the call may have taken effect.
        RejectedError: this call would be refused again.
        StudyError: no call will succeed until the user changes something.
    """

    def line(self, custom_id: str, body: bytes) -> bytes:
        """A request as a line of an input file; `body` is joined in as it is, line breaks left out."""

    def upload(self, path: Path) -> str:
        """Bring an input file to the server; its id there."""

    def create(self, file_id: str, run_id: str) -> str:
        """Start a batch that carries `run_id`; its id."""

    def find(self, run_id: str) -> str | None:
        """The id of the batch that carries `run_id`, None where the listing shows none."""

    def status(self, batch_id: str) -> BatchStatus:
        """How a batch stands."""

    def download(self, file_id: str, into: BinaryIO) -> None:
        """Write a file of results to the end of `into`."""

    def row(self, line: bytes) -> BatchRow:
        """Read a line of results; ValueError where it is none."""

    def discard(self, file_id: str) -> None:
        """Delete an input file from the server."""

    def close(self) -> None:
        """Let go of connections."""
