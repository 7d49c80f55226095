"""Requests to OSF: one layer of retries, and a token that only OSF's own hosts ever see.

Owns the wire. Promises to wait as long as a busy server asks (up to two minutes), to follow redirects
to the stores that OSF keeps its files in, and to send OSF_TOKEN to none of them.
"""

import email.utils
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx2  # what huggingface_hub uses

from fieldwork.errors import StudyError
from fieldwork.masking import environment_key

logger = logging.getLogger(__name__)

ATTEMPTS = 5
LONGEST_WAIT_S = 120.0
_TIMEOUT_S = 30.0
_REDIRECTS = 8
_BUSY = frozenset({429, 500, 502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})


class Desk(NamedTuple):
    """Where OSF's API is, and the project that is asked for."""

    url: str
    node: str

    def error(self, problem: str) -> StudyError:
        """A sentence about the project."""
        return StudyError(f"field.osf: {self.node} at {self.url} {problem}")


class NotThereError(StudyError):
    """OSF knows nothing of the name, at this address."""


class _BusyError(Exception):
    """Worth another attempt; `wait_s` is what the server asked for."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class Session:
    """Asks for pages of the API and for files. Close it, or use it in a `with` block."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._token = environment_key("OSF_TOKEN")
        self._client = httpx2.Client(
            timeout=_TIMEOUT_S,
            headers={"user-agent": "fieldwork", "accept-encoding": "identity"},
        )

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def page(self, url: str) -> Mapping[str, Any]:
        """A page of the API.

        Raises:
            StudyError: the project is private, gone or unknown, the network or the server is away,
                or the answer is not that of OSF's API.
        """
        if _origin(url) != _origin(self.desk.url):
            raise self.desk.error("points to a list at another host; check field.osf.url")
        page: Mapping[str, Any] = self._patiently(lambda: self._page(url))
        return page

    def _page(self, url: str) -> Mapping[str, Any]:
        with self._opened(url, {}) as response:
            response.read()
            try:
                page = response.json()
            except ValueError as error:
                raise self._strange() from error
        if not isinstance(page, dict) or not isinstance(page.get("data"), list):
            raise self._strange()
        return page

    def fetch(
        self, url: str, *, have: Callable[[], int], write: Callable[[bytes, bool], None]
    ) -> None:
        """The rest of a file.

        Args:
            have: how many bytes are there already.
            write: takes bytes, and whether they begin the file anew.
        """

        def attempt() -> None:
            start = have()
            with self._opened(url, {"range": f"bytes={start}-"} if start else {}) as response:
                starts_anew = response.status_code != 206
                for chunk in response.iter_bytes():
                    write(chunk, starts_anew)
                    starts_anew = False

        self._patiently(attempt, progress=have)

    def _patiently(self, attempt: Callable[[], Any], progress: Callable[[], int] = int) -> Any:
        """Try until it works; as long as bytes arrive, failures do not count."""
        failures, there = 0, progress()
        while True:
            try:
                return attempt()
            except (_BusyError, httpx2.TransportError) as error:
                reason = str(error) or type(error).__name__
                failures = 1 if progress() > there else failures + 1
                there = progress()
                asked = error.wait_s if isinstance(error, _BusyError) else None
                wait_s = 2.0 ** (failures - 1) if asked is None else asked
                if failures >= ATTEMPTS or wait_s > LONGEST_WAIT_S:
                    raise self.desk.error(
                        f"cannot be downloaded ({reason}); try again later, or put the files into "
                        f"resources/field and give field.path"
                    ) from error
                logger.info("%s: %s; again in %g s", self.desk.node, reason, wait_s)
                time.sleep(wait_s)
            except (httpx2.InvalidURL, httpx2.HTTPError) as error:
                raise self.desk.error(f"cannot be asked ({error}); check field.osf.url") from error

    @contextmanager
    def _opened(self, url: str, headers: Mapping[str, str]) -> Iterator[httpx2.Response]:
        for _ in range(_REDIRECTS):
            sent = dict(headers) | self._authorisation(url)
            with self._client.stream("GET", url, headers=sent) as response:
                if response.status_code not in _MOVED:
                    self._refuse(response)
                    yield response
                    return
                url = urljoin(url, response.headers.get("location", ""))
        raise self.desk.error("sends from one address to the next without end; try again later")

    def _authorisation(self, url: str) -> dict[str, str]:
        is_ours = self._token is not None and _is_own(_origin(url), _origin(self.desk.url))
        return {"authorization": f"Bearer {self._token}"} if is_ours else {}

    def _refuse(self, response: httpx2.Response) -> None:
        status = response.status_code
        if status in _BUSY:
            raise _BusyError(f"HTTP {status}", _wait_s(response.headers.get("retry-after")))
        if status in (401, 403):
            way = (
                "the token in OSF_TOKEN may not read it: take one of an account that may"
                if self._token
                else "set OSF_TOKEN to a personal access token of an account that may read it"
            )
            raise self.desk.error(f"is private (HTTP {status}); {way}")
        if status == 404:
            raise NotThereError(
                str(
                    self.desk.error(
                        "is not there (HTTP 404); field.osf.node is what follows osf.io/ in the "
                        "project's address, and components have ids of their own"
                    )
                )
            )
        if status == 410:
            raise self.desk.error("was deleted (HTTP 410); ask its authors")
        if status >= 300:
            raise self.desk.error(f"cannot be read (HTTP {status}); check field.osf.node and .url")

    def _strange(self) -> StudyError:
        return self.desk.error("gives another answer than OSF's API does; check field.osf.url")


class _Origin(NamedTuple):
    scheme: str
    host: str
    port: int | None


def _origin(url: str) -> _Origin:
    try:
        parts = urlsplit(url)
        return _Origin(parts.scheme, parts.hostname or "", parts.port)
    except ValueError:
        return _Origin("", "", None)


def _is_own(asked: _Origin, api: _Origin) -> bool:
    """Whether a host is the API's, or one beside it: osf.io and files.osf.io beside api.osf.io."""
    if asked == api:
        return True
    site = api.host.removeprefix("api.")
    is_beside = asked.host == site or asked.host.endswith(f".{site}")
    return site != api.host and is_beside and (asked.scheme, asked.port) == ("https", api.port)


def _wait_s(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
