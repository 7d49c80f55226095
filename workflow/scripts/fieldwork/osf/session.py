"""Requests to OSF, with a token that only OSF's own hosts ever see.

Owns the wire and what OSF's statuses mean. Promises to follow redirects to the stores that OSF keeps its
files in, and to send OSF_TOKEN to none of them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2  # what huggingface_hub uses

from fieldwork.downloads.transfer import BusyServerError
from fieldwork.errors import StudyError
from fieldwork.masking import environment_key
from fieldwork.retries import TRANSIENT_STATUSES, retry_after_s

TOKEN = "OSF_TOKEN"  # the name of a variable
"""The variable of the environment with a personal access token."""

_TIMEOUT_S = 30.0
_MOST_REDIRECTS = 8


class OsfProject(NamedTuple):
    """A project, the address of the API that is asked for it, and the setting that names both."""

    url: str
    node: str
    setting: str = "field.osf"

    @property
    def subject(self) -> str:
        """The beginning of every error."""
        return f"{self.setting}: {self.node} at {self.url}"

    def error(self, problem: str) -> StudyError:
        return StudyError(f"{self.subject} {problem}")

    def foreign_reply(self) -> StudyError:
        """The error where something else than OSF's API answers."""
        return self.error(f"gives another answer than OSF's API does; check {self.setting}.url")


class NotThereError(StudyError):
    """OSF knows no project of this id at this address."""


class OsfSession:
    """Asks once for a page of the API or for a file. Close it at the end."""

    def __init__(self, project: OsfProject) -> None:
        self.project = project
        self.client = httpx2.Client(
            timeout=_TIMEOUT_S,
            headers={"user-agent": "fieldwork", "accept-encoding": "identity"},
            follow_redirects=True,
            max_redirects=_MOST_REDIRECTS,
            event_hooks={"request": [self._authorise]},
        )

    def close(self) -> None:
        """Close its connections."""
        self.client.close()

    @cached_property
    def token(self) -> str | None:
        return environment_key(TOKEN)

    def page(self, url: str) -> Mapping[str, Any]:
        """A page of a list of the API.

        Raises:
            BusyServerError: another try may succeed; so may one after an error of the connection.
            StudyError: the project is private, gone or unknown, or the reply is not that of OSF's API.
        """
        page = self.document(url)
        if not isinstance(page.get("data"), list):
            raise self.project.foreign_reply()
        return page

    def document(self, url: str) -> Mapping[str, Any]:
        """A reply of the API, as JSON; it raises as `page` does."""
        if _origin(url) != _origin(self.project.url):
            raise self.project.error(
                f"points to a list at another host; check {self.project.setting}.url"
            )
        with self.open_url(url) as response:
            response.read()
            return self.json_of(response)

    def json_of(self, response: httpx2.Response) -> Mapping[str, Any]:
        """The object in a reply that was read."""
        try:
            content = response.json()
        except ValueError as error:
            raise self.project.foreign_reply() from error
        if not isinstance(content, dict):
            raise self.project.foreign_reply()
        return content

    @contextmanager
    def open_url(self, url: str, start: int = 0) -> Iterator[httpx2.Response]:
        """The reply to a request for the bytes from `start` on; redirects are followed.

        Raises:
            BusyServerError: another try may succeed; so may one after an error of the connection.
            StudyError: no other try will.
        """
        headers = {"range": f"bytes={start}-"} if start else {}
        with self.explain(), self.client.stream("GET", url, headers=headers) as response:
            self.refuse(response)
            yield response

    @contextmanager
    def explain(self) -> Iterator[None]:
        """Turn errors of a request that no other try mends into sentences."""
        try:
            yield
        except httpx2.TransportError:
            raise
        except httpx2.TooManyRedirects as error:
            problem = "redirects from address to address without end; try again later"
            raise self.project.error(problem) from error
        except (httpx2.InvalidURL, httpx2.HTTPError) as error:
            raise self.project.error(
                f"cannot be asked ({error}); check {self.project.setting}.url"
            ) from error

    def is_own(self, url: str) -> bool:
        """Whether an address is OSF's own, so that it may be sent the token."""
        return _is_own(_origin(url), _origin(self.project.url))

    def _authorise(self, request: httpx2.Request) -> None:
        """Add the token to a request, also to one after a redirect, where the host is OSF's own."""
        request.headers.pop("authorization", None)
        if self.token is not None and self.is_own(str(request.url)):
            request.headers["authorization"] = f"Bearer {self.token}"

    def refuse(self, response: httpx2.Response) -> None:
        """Raise what a status means, where it is none of success."""
        status, setting = response.status_code, self.project.setting
        refuse_busy(response)
        if status in (401, 403):
            remedy = (
                f"the token in {TOKEN} may not read it: use one of an account that may"
                if self.token
                else f"set {TOKEN} to a personal access token of an account that may read it"
            )
            raise self.project.error(f"is private (HTTP {status}); {remedy}")
        if status == 404:
            raise NotThereError(
                f"{self.project.subject} does not exist (HTTP 404); {setting}.node is what follows "
                f"osf.io/ in the project's address, and components have ids of their own"
            )
        if status == 410:
            raise self.project.error("was deleted (HTTP 410); ask its authors")
        if status >= 300:
            raise self.project.error(
                f"cannot be read (HTTP {status}); check {setting}.node and {setting}.url"
            )


def refuse_busy(response: httpx2.Response) -> None:
    """Raise BusyServerError where another try may succeed."""
    if response.status_code in TRANSIENT_STATUSES:
        raise BusyServerError(f"HTTP {response.status_code}", retry_after_s(response.headers))


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


def _is_own(origin: _Origin, api: _Origin) -> bool:
    """Whether a host is the API's, or one beside it: osf.io and files.osf.io beside api.osf.io."""
    if origin == api:
        return True
    site = api.host.removeprefix("api.")
    is_beside = origin.host == site or origin.host.endswith(f".{site}")
    return site != api.host and is_beside and (origin.scheme, origin.port) == ("https", api.port)
