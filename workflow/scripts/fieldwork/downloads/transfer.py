"""Files brought from a server to a folder: fetched, resumed, verified, and moved into place.

Owns every step after a server has listed its files, and what is said when a step fails. The modules
for the Hugging Face hub and for OSF own their listings, addresses and tokens. Promises:

- a file in its place has the size and the hash that the listing promises;
- an interrupted download goes on where it stopped, in this run or in the next;
- nothing is written outside the folder.
"""

import hashlib
import json
import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import httpx2

from fieldwork import tables
from fieldwork.errors import StudyError, size_text
from fieldwork.retries import RetryPolicy

logger = logging.getLogger(__name__)

RETRIES = RetryPolicy(attempts=5, first_s=1.0, longest_asked_s=120.0)

_Reply = TypeVar("_Reply")


class ListedFile(NamedTuple):
    """A file as its server lists it.

    Attributes:
        path: below the folder of the download.
        size: in bytes.
        digest: its sha256 (64 hex digits), the hash that git gives a blob (40), or its md5.
        modified_at: empty where the server does not say.
    """

    path: str
    size: int
    digest: str
    modified_at: str = ""
    version: int = 1
    url: str = ""


class DownloadedFile(NamedTuple):
    """A file that is in its place, whole and verified."""

    path: Path
    sha256: str
    n_bytes: int
    modified_at: str
    version: int

    def details(self) -> dict[str, Any]:
        """What a manifest keeps of a file that may change where it came from."""
        return {"bytes": self.n_bytes, "version": self.version, "modified": self.modified_at}


class Remote(Protocol):
    """A server that is asked more than once, and what is said where it stays silent."""

    @property
    def name(self) -> str:
        """In log lines."""

    def unreachable(self, reason: str) -> StudyError:
        """The error where it cannot be asked."""


class DownloadSource(NamedTuple):
    """A server that files come from, and the folder they go to.

    Attributes:
        name: in log lines.
        subject: begins every error: the setting, what is downloaded, and from which server.
        settings: those that say what is downloaded from where.
        alternative: ends an error: what to do without this download.
        mirrors: how to ask another server for the same files, with a comma after it; may be empty.
        open_url: asks for a file's bytes from a number on. The reply has status 206 or begins at 0.
            Raises BusyServerError where another try may succeed.
    """

    name: str
    subject: str
    settings: str
    alternative: str
    mirrors: str
    folder: Path
    open_url: Callable[[str, int], AbstractContextManager[httpx2.Response]]

    def target(self, path: str) -> Path:
        """Where a listed file goes; a listing is foreign data and may not choose a place elsewhere."""
        inside = self.folder.resolve()
        if any(c in path for c in "\\\0") or inside not in (inside / path).resolve().parents:
            raise StudyError(
                f"{self.subject} lists {path!r}, which lies outside {self.folder}; nothing was "
                f"downloaded: check {self.settings}"
            )
        return self.folder / path

    def refuse_outside(self, files: Iterable[ListedFile]) -> None:
        """Refuse a listing with a file outside the folder."""
        for file in files:
            self.target(file.path)

    def unreachable(self, reason: str) -> StudyError:
        """The error where a server cannot be asked."""
        return StudyError(
            f"{self.subject} cannot be downloaded ({reason}); try again later, {self.mirrors}or "
            f"{self.alternative}"
        )


class BusyServerError(Exception):
    """A request failed and another try may succeed; the server may have asked to wait before it."""

    def __init__(self, reason: str, asked_wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.asked_wait_s = asked_wait_s


class _TooLongError(Exception):
    """More bytes came than the listing promises."""


# ---- the listing, kept beside the files ----------------------------------------------------------


def listing_path(folder: Path, request: Sequence[Any]) -> Path:
    """Where the listing is kept that answers a request."""
    digest = hashlib.sha256(json.dumps(request).encode()).hexdigest()
    return folder / f".listing-{digest[:16]}.json"


def read_listing(path: Path) -> Any:
    """A kept listing, as JSON; None where there is none that can be read."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def write_listing(path: Path, listing: Any) -> None:
    """Keep a listing for later runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tables.write_text(path, json.dumps(listing, indent=1) + "\n")


# ---- the files -----------------------------------------------------------------------------------


def bring_files(
    source: DownloadSource,
    files: Sequence[ListedFile] | None,
    ask_files: Callable[[], Sequence[ListedFile]],
) -> list[DownloadedFile]:
    """Bring listed files to their places, in the order of the listing.

    Args:
        files: by the kept listing; None where there is none.
        ask_files: asks the server for the listing. Called where a file is missing, so that a server which
            is away or closed says so in seconds.

    Raises:
        StudyError: too little room, a server that fails for too long, or content other than listed.
    """
    downloads = _whole_files(source, files or ())
    if files is None or len(downloads) < len(files):
        files = ask_files()
        downloads |= _whole_files(source, [file for file in files if file not in downloads])
        missing_files = [file for file in files if file not in downloads]
        _announce(source, missing_files)
        for number, file in enumerate(missing_files, start=1):
            downloads[file] = _fetch(source, file)
            logger.info("%s: %d/%d %s", source.name, number, len(missing_files), file.path)
    return [downloads[file] for file in files]


def _whole_files(
    source: DownloadSource, files: Iterable[ListedFile]
) -> dict[ListedFile, DownloadedFile]:
    """Those of the files that are in their places with the listed content."""
    targets = [(file, source.target(file.path)) for file in files]
    return {
        file: downloaded_file
        for file, target in targets
        if (downloaded_file := _verify(target, file))
    }


@contextmanager
def explain_disk_errors(source: DownloadSource) -> Iterator[None]:
    """Turn an error of the disk into a sentence."""
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"{source.subject} cannot be saved in {source.folder} ({error.strerror or error}); free "
            f"space there, give yourself the right to write, or {source.alternative}"
        ) from error


def with_retries(
    source: Remote, attempt: Callable[[], _Reply], progress: Callable[[], int] = int
) -> _Reply:
    """What an attempt returns, tried again after passing failures.

    Args:
        progress: bytes received so far; failures do not add up as long as more arrive.

    Raises:
        StudyError: too many failures in a row, or the server asks for a longer wait than is granted.
    """
    n_failures, n_bytes = 0, progress()
    while True:
        try:
            return attempt()
        except (BusyServerError, httpx2.TransportError) as error:
            reason = str(error) or type(error).__name__
            asked_s = error.asked_wait_s if isinstance(error, BusyServerError) else None
            n_failures = 1 if progress() > n_bytes else n_failures + 1
            n_bytes = progress()
            wait_s = RETRIES.wait_s(n_failures, asked_s)
            if not RETRIES.has_attempts(n_failures) or RETRIES.is_too_long(wait_s):
                raise source.unreachable(reason) from error
            logger.info("%s: %s; trying again in %g s", source.name, reason, wait_s)
            time.sleep(wait_s)


def _announce(source: DownloadSource, files: Sequence[ListedFile]) -> None:
    n_present = sum(min(_size(_partial_path(source, file)), file.size) for file in files)
    n_needed = sum(file.size for file in files) - n_present
    n_free = shutil.disk_usage(source.folder).free
    room = f"{size_text(n_needed)} to download, {size_text(n_free)} free in {source.folder}"
    if n_needed > n_free:
        raise StudyError(
            f"{source.subject} does not fit on the disk ({room}); free space there, or "
            f"{source.alternative}"
        )
    logger.info("%s: %d files, %s", source.subject, len(files), room)


def _partial_path(source: DownloadSource, file: ListedFile) -> Path:
    """Named by content, so that a partial file of another version is never continued."""
    target = source.target(file.path)
    return target.with_name(f".{target.name}.{file.digest[:12]}.partial")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _fetch(source: DownloadSource, file: ListedFile) -> DownloadedFile:
    target, partial = source.target(file.path), _partial_path(source, file)
    target.parent.mkdir(parents=True, exist_ok=True)
    # what an earlier run left may have been damaged since: then once more, from the start
    for _ in range(2 if _size(partial) else 1):
        partial.touch()
        try:
            with_retries(source, lambda: _receive(source, file, partial), lambda: _size(partial))
        except _TooLongError:
            logger.info("%s: %s is longer than listed", source.name, file.path)
        if downloaded_file := _verify(partial, file):
            partial.replace(target)
            return downloaded_file._replace(path=target)
        partial.unlink()
    raise StudyError(
        f"{source.subject} sent {file.path} with another content than it lists; try again later, "
        f"{source.mirrors}or {source.alternative}"
    )


def _receive(source: DownloadSource, file: ListedFile, partial: Path) -> None:
    """Add the bytes that are missing to a partial file."""
    start = _size(partial)
    if start >= file.size:
        return
    with source.open_url(file.url, start) as response:
        # a server that knows no ranges sends the file from its beginning
        mode = "ab" if response.status_code == httpx2.codes.PARTIAL_CONTENT else "wb"
        with partial.open(mode) as handle:
            for chunk in response.iter_bytes():
                handle.write(chunk)
                if handle.tell() > file.size:
                    raise _TooLongError


def _verify(path: Path, file: ListedFile) -> DownloadedFile | None:
    """The file at a path, if it has the listed size and hash."""
    if not path.is_file() or path.stat().st_size != file.size:
        return None
    sha256 = _hash(path, hashlib.sha256)
    match len(file.digest):
        case 64:
            digest = sha256
        case 40:
            git_header = b"blob %d\0" % file.size
            digest = _hash(path, lambda: hashlib.sha1(git_header, usedforsecurity=False))
        case _:
            digest = _hash(path, lambda: hashlib.md5(usedforsecurity=False))
    if digest != file.digest:
        return None
    return DownloadedFile(path, sha256, file.size, file.modified_at, file.version)


def _hash(path: Path, hasher: Callable[[], Any]) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, hasher).hexdigest()
