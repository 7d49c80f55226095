"""One HTTP session per provider: connections, proxy, certificates, time limits, and error messages.

Promises: a call is sent once and never again, and what comes for it is for no other call. No redirect is
followed. No error and no reply holds a key or a proxy's password. Every call ends within its time limit,
however slowly bytes arrive, and within `MOST_BYTES`, however many.
"""

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import Exchange, TransientError
from fieldwork.generation.providers.connections import CleanConnector, RepeatedReplyError
from fieldwork.generation.providers.jsontext import well_formed
from fieldwork.masking import Mask, address_secrets, header_secrets
from fieldwork.retries import GATEWAY_TIMEOUT_STATUSES, THROTTLED_STATUSES, retry_after_s

CONNECT_S = 30.0

MOST_BYTES = 64 * 2**20
"""Bytes of a reply, unpacked: no answer is as long, and a server without end would fill the memory."""

Watch = Callable[[bytes, float], None]
"""Takes a piece of a reply as it comes, and the seconds since the send."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REQUEST_ID_HEADERS = ("x-request-id", "apim-request-id", "request-id")
_HEADERS_TO_KEEP = (
    *("retry-after", "x-ratelimit", "ratelimit", "anthropic-ratelimit"),
    *_REQUEST_ID_HEADERS,
)


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """How to reach a server.

    Attributes:
        headers: sent with every call, including those that hold keys.
        secrets: further values to mask, besides those in headers and in the proxy's address.
        proxy: address of a proxy; None takes it from the environment (HTTPS_PROXY, NO_PROXY and so on).
        ca_file: PEM file of certificates to trust besides the system's.
        timeout_s: seconds a call may take in all.
        concurrency: calls under way at once.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    proxy: str | None = None
    ca_file: str | None = None
    timeout_s: float = 120.0
    concurrency: int = 16


class HttpReply(NamedTuple):
    """A reply of any status.

    Attributes:
        raw: its body; secrets of ours that the server repeats are masked.
        headers: those about limits, waits and the call's id; names in lower case.
    """

    status: int
    raw: bytes
    headers: Mapping[str, str]
    started_at: datetime
    latency_s: float

    def exchange(self) -> Exchange:
        """The reply as a provider returns it."""
        headers = self.headers
        ids = (headers.get(name) for name in _REQUEST_ID_HEADERS)
        request_id = next((request_id for request_id in ids if request_id), None)
        return Exchange(self.raw, self.started_at, self.latency_s, request_id, headers)

    def transient_error(self, message: str, wait_s: float | None = None) -> TransientError:
        """The error for a status of `TRANSIENT_STATUSES`.

        Args:
            wait_s: the wait that the body asks for; None looks for one in the headers.
        """
        return TransientError(
            message,
            wait_s if wait_s is not None else retry_after_s(self.headers, self.started_at),
            is_throttled=self.status in THROTTLED_STATUSES,
            maybe_billed=self.status in GATEWAY_TIMEOUT_STATUSES,
        )


class Http:
    """A session that the first call opens. After `close` the next call opens another.

    Args:
        address: where all calls go; it decides on the proxy.

    Raises:
        StudyError: the address, the proxy or the file of certificates is not valid.
    """

    def __init__(self, settings: HttpSettings, address: str) -> None:
        self._settings = settings
        _check_address(address)
        self._proxy = settings.proxy or proxy_of_environment(address)
        _check_proxy(self._proxy)
        self._ssl = ssl_context(settings.ca_file) if settings.ca_file else True
        self._mask = Mask([*settings.secrets, *header_secrets(settings.headers)])
        self._mask.learn(address_secrets(self._proxy))
        self._session: aiohttp.ClientSession | None = None
        self._connector: CleanConnector

    async def call(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        watch: Watch | None = None,
    ) -> HttpReply:
        """Make one call. The caller judges every status but redirects and a proxy's refusal.

        Args:
            watch: is shown the body while it comes, with secrets in it.

        Raises:
            TransientError: no complete reply came.
            StudyError: no reply will come until the user changes something.
        """
        self._mask.learn(header_secrets(headers or {}))
        session = self._session or self._open()
        started_at, clock = datetime.now(UTC), time.monotonic()
        try:
            async with session.request(
                method, url, data=body, headers=headers, allow_redirects=False
            ) as response:
                raw = await _read(response, watch, clock)
                if method == "POST":
                    self._connector.settle(body or b"", response.status, raw)
        except RepeatedReplyError:
            raise TransientError(
                "the reply came before, for another call on the same connection: the server or a proxy "
                "sends replies twice, so each call gets a connection of its own from now on",
                maybe_billed=True,
            ) from None
        except (aiohttp.ClientError, OSError, UnicodeError) as error:
            raise self._error(error, url) from None
        latency_s = round(time.monotonic() - clock, 4)
        if response.status in _REDIRECTS or response.status == 407:
            raise self._redirect_error(response, url)
        headers_to_keep = _headers_to_keep(response.headers)
        masked_headers = {name: self._mask.text(value) for name, value in headers_to_keep.items()}
        return HttpReply(
            response.status, self._mask.reply(raw), masked_headers, started_at, latency_s
        )

    def mask(self, text: str) -> str:
        """`text` for a message, without secrets: some servers repeat the key that they refuse."""
        return self._mask.text(text)

    def mask_reply(self, raw: bytes) -> bytes:
        """A reply that was put together, without secrets that its pieces held in part."""
        return self._mask.reply(raw)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        settings = self._settings
        self._connector = CleanConnector(limit=settings.concurrency, ssl=self._ssl)
        self._session = aiohttp.ClientSession(
            # replies are small: unpacking them costs more than it saves
            headers={
                "Content-Type": "application/json",
                "Accept-Encoding": "identity",
                **settings.headers,
            },
            timeout=aiohttp.ClientTimeout(
                total=settings.timeout_s, sock_connect=min(CONNECT_S, settings.timeout_s)
            ),
            connector=self._connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            # not trust_env: it would also read netrc, and refuse a key where that has an entry
            proxy=self._proxy,
        )
        return self._session

    def _error(self, error: Exception, url: str) -> Exception:
        """What a user, or the policy of retries, can make of an error of the HTTP library."""
        cause = self._mask.line(f"{type(error).__name__} {error}")
        if isinstance(error, aiohttp.InvalidURL | UnicodeError):
            return StudyError(
                f"{self._mask.line(url)!r} is not a valid URL; check models.*.base_url"
            )
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return StudyError(
                f"{self._mask.line(url)}: the server's certificate is not trusted ({cause}); set "
                f"models.*.ca_file to the file with its authority's certificate"
            )
        if isinstance(error, aiohttp.ClientHttpProxyError) and error.status == 407:
            return StudyError(
                f"the proxy asks for a name and a password ({cause}); {_PROXY_WAY_OUT}"
            )
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            limit_s = min(CONNECT_S, self._settings.timeout_s)
            return TransientError(f"no connection within {limit_s:g} s: {cause}")
        if isinstance(error, TimeoutError):
            limit = f"{self._settings.timeout_s:g} s (models.*.timeout_s)"
            return TransientError(f"no reply within {limit}", maybe_billed=True)
        return TransientError(cause, maybe_billed=not isinstance(error, _NEVER_SENT))

    def _redirect_error(self, response: aiohttp.ClientResponse, url: str) -> StudyError:
        if response.status == 407:
            return StudyError(f"the proxy asks for a name and a password; {_PROXY_WAY_OUT}")
        target = self._mask.line(response.headers.get("Location", "nowhere").partition("?")[0])[
            :200
        ]
        return StudyError(
            f"{self._mask.line(url)}: HTTP {response.status}: the server redirects calls to {target}; "
            f"redirects are not followed, because calls carry a key; check models.*.base_url"
        )


async def _read(response: aiohttp.ClientResponse, watch: Watch | None, start: float) -> bytes:
    """The whole body; `watch` sees each piece as soon as it is there.

    Raises:
        TransientError: it is longer than `MOST_BYTES`; the connection is closed.
    """
    pieces, n_bytes = [], 0
    async for piece in response.content.iter_any():
        if watch:
            watch(piece, time.monotonic() - start)
        pieces.append(piece)
        n_bytes += len(piece)
        if n_bytes > MOST_BYTES:
            response.close()
            raise TransientError(
                f"the reply is longer than {MOST_BYTES // 2**20} MB, so that it is no answer",
                maybe_billed=True,
            )
    return b"".join(pieces)


_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError)
_PROXY_WAY_OUT = "check models.*.proxy, or HTTPS_PROXY in the environment"


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise StudyError(f"{address!r} is not a valid URL; check models.*.base_url") from None
    if parts.username or parts.password:
        raise StudyError(
            f"models.*.base_url for {parts.hostname} holds a name or a password, which would be stored "
            f"with every answer; put the key into an environment variable and set models.*.api_key_env "
            f"to its name"
        )
    if not is_valid:
        raise StudyError(f"{address!r} is not a valid URL; check models.*.base_url")


def _check_proxy(proxy: str | None) -> None:
    if proxy is None:
        return
    try:
        port = urlsplit(proxy).port
    except ValueError:
        port = 0
    if port == 0:
        raise StudyError(f"invalid proxy port; {_PROXY_WAY_OUT}")
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise StudyError(
            f"a proxy needs an http or https URL, not {urlsplit(proxy).scheme or 'a name'!r}; "
            f"{_PROXY_WAY_OUT}"
        )


def proxy_of_environment(address: str) -> str | None:
    """The proxy that the environment (HTTPS_PROXY, NO_PROXY and so on) sets for an address, if any."""
    parts = urlsplit(address)
    if proxy_bypass(parts.netloc):
        return None
    proxy = getproxies().get(parts.scheme)
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def ssl_context(ca_file: str | None) -> ssl.SSLContext:
    """The system's certificates, and those of a PEM file; StudyError where it cannot be read."""
    context = ssl.create_default_context()
    try:
        if ca_file is not None:
            context.load_verify_locations(cafile=ca_file)
    except OSError as error:
        raise StudyError(
            f"{ca_file}: no certificate can be read ({error}); set models.*.ca_file to a PEM file"
        ) from error
    return context


def _headers_to_keep(headers: Mapping[str, str]) -> dict[str, str]:
    lower_case = {name.lower(): value for name, value in headers.items()}
    return {
        # bytes that are not UTF-8 come as lone surrogates, which the ledger cannot hold
        name: well_formed(value)
        for name, value in lower_case.items()
        if name.startswith(_HEADERS_TO_KEEP)
    }
