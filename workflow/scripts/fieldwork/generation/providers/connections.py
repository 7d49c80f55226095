"""Connections that serve again only while nothing but the replies to their calls came on them.

A server or a proxy may send a reply twice, or send it after it gave up on the call. What comes late is
read as the reply to the next call on the connection, and HTTP/1.1 has nothing to tell them apart. So a
connection is closed where bytes wait on it, after a reply that is an error, and where a reply is byte for
byte one that came on it for another call. Only servers that give each reply an id of its own are trusted
with a connection again: of others an equal reply may be a late one, or another answer with the same text.
Promises that no reply is handed out for a second call.
"""

import re
from contextvars import ContextVar
from ssl import SSLContext
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

MOST_REPLIES = 1000
"""Replies after which a connection is closed, so that what is remembered of it stays small."""

_CURRENT: ContextVar[ResponseHandler] = ContextVar("connection of the call under way")


_ID = re.compile(rb'"(?:id|responseId|response_id)"\s*:\s*"([^"]+)"')


class RepeatedReplyError(Exception):
    """A reply that came before, for another call on the same connection."""


class CleanConnector(aiohttp.TCPConnector):
    """A pool of connections, of which those that may hold a late reply are closed.

    Every call has a connection of its own until two replies have two ids, and after the first repeat.
    """

    def __init__(self, *, limit: int, ssl: SSLContext | bool) -> None:
        super().__init__(limit=limit, ssl=ssl)
        self._may_reuse = self._has_repeats = False
        self._first_id: bytes | None = None
        # by connection: the calls, by the reply that came for them; both as hashes
        self._calls_by_reply: WeakKeyDictionary[ResponseHandler, dict[int, int]] = (
            WeakKeyDictionary()
        )

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """A connection of the pool that may serve again, or a new one."""
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None:
                return connection
            if protocol not in self._calls_by_reply:
                self._calls_by_reply[protocol] = {}
            elif not self._may_serve_again(protocol):
                connection.close()
                continue
            _CURRENT.set(protocol)
            return connection

    def _may_serve_again(self, protocol: ResponseHandler) -> bool:
        n_replies = len(self._calls_by_reply[protocol])
        # it should close where bytes wait that nobody called for
        return self._may_reuse and not protocol.should_close and n_replies < MOST_REPLIES

    def settle(self, call: bytes, status: int, reply: bytes) -> None:
        """Take note of the reply to a call that this task has just made.

        Raises:
            RepeatedReplyError: it came before on this connection, for another call.
        """
        protocol = _CURRENT.get()
        if status != 200:
            # a gateway that gave up may pass the reply on when it comes, and errors are often alike
            protocol.force_close()
            return
        calls = self._calls_by_reply[protocol]
        if calls.setdefault(hash(reply), hash(call)) != hash(call):
            protocol.force_close()
            self._may_reuse, self._has_repeats = False, True
            raise RepeatedReplyError
        if not self._may_reuse and not self._has_repeats and (match := _ID.search(reply)):
            self._first_id = self._first_id or match[1]
            self._may_reuse = match[1] != self._first_id
