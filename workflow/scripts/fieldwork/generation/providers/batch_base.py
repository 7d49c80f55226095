"""What batches need of a provider's service: upload files, make and find batches, download results."""

from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from fieldwork.generation.providers.http import proxy_of_environment
from fieldwork.generation.providers.jsontext import as_text
from fieldwork.generation.providers.service import ServiceSettings
from fieldwork.masking import Mask, address_secrets, header_secrets
from fieldwork.sections.services import ServiceEntry

SDK_PARSE_ERRORS = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What the SDKs raise for a reply that they cannot read, such as a page of HTML or half a body."""

NO_BATCH_REPLY = "the reply is not of the batch interface, but perhaps a page of HTML"


class BatchStatus(NamedTuple):
    """How a batch stands.

    Attributes:
        state: in the provider's words.
        is_over: nothing more will come of it.
        n_done: requests that it has finished, as far as the provider says.
        files: the files with its results, in the order of reading.
        error: why it failed; None where it did not.
        no_room: it failed before anything ran, because too many tokens were enqueued already.
        is_lost: the provider no longer has all of its results, so answers may be billed and gone.
    """

    state: str
    is_over: bool
    created_at: datetime | None = None
    n_done: int = 0
    files: tuple[str, ...] = ()
    error: str | None = None
    no_room: bool = False
    is_lost: bool = False

    @property
    def ran_nothing(self) -> bool:
        """Whether it certainly cost nothing: it failed as a whole, before any request was done."""
        return self.error is not None and not (self.is_lost or self.files or self.n_done)


class BatchRow(NamedTuple):
    """A line of results.

    Attributes:
        status: as HTTP would say it; 0 for a request that was not run.
        raw: the reply's body, or `{"error": {"message": …}}`. It was parsed and written again, so its
            blanks and escapes may differ from those that the provider sent. Secrets in it are masked.
    """

    custom_id: str
    status: int
    raw: bytes
    request_id: str | None = None


def batch_mask(settings: ServiceSettings[ServiceEntry], address: str) -> Mask:
    """The mask of every secret that is sent to a batch service at `address`."""
    mask = Mask([settings.api_key or "", *settings.secrets, *header_secrets(settings.headers)])
    mask.learn(address_secrets(settings.entry.proxy or proxy_of_environment(address)))
    return mask


def short_line(text: str, mask: Mask) -> str:
    """An error's text as one short line without secrets."""
    return mask.line(text)[:300]


def masked_id(value: object, mask: Mask) -> str | None:
    """The id of a call in a row of results; None for anything but text."""
    name = as_text(value)
    return name and mask.text(name)


class BatchClient(Protocol):
    """A batch service. Its methods block and send once: whoever calls them tries again.

    No other errors than these leave a method that sends, whatever the service does:
        TransientError: another try may succeed; `maybe_billed` where the call may have taken effect.
        RejectedError: the service would reject this call again.
        StudyError: no call will succeed until the user changes something.
    """

    def line(self, custom_id: str, body: bytes) -> bytes:
        """A request as a line of an input file: `body` as it is, without line breaks."""

    def upload(self, path: Path) -> str:
        """Upload an input file; its id on the server."""

    def create(self, file_id: str, run_id: str) -> str:
        """Start a batch that carries `run_id`; the batch's id."""

    def find(self, run_id: str) -> str | None:
        """The id of the batch that carries `run_id`; None where the service lists none."""

    def status(self, batch_id: str) -> BatchStatus:
        """How a batch stands."""

    def download(self, file_id: str, into: BinaryIO) -> None:
        """Write a file of results to the end of `into`."""

    def row(self, line: bytes) -> BatchRow:
        """Read a line of results; ValueError, and nothing else, where it is none."""

    def discard(self, file_id: str) -> None:
        """Delete an input file from the server."""

    def close(self) -> None:
        """Close the connections."""
