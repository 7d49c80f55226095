"""Gemini's explicit caches: the server stores a context once, and its questions name the cache.

A cache concerns delivery only: the ledger's key covers the whole body, and `Gemini.send` replaces the
context by its cache's name just before it sends. Every cache is deleted when the run ends. A cache that a
killed run left behind ends with its time to live.
"""

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.http import HttpReply
from fieldwork.generation.providers.jsontext import dumps, loads
from fieldwork.token_estimate import BYTES_PER_TOKEN

logger = logging.getLogger(__name__)

SendRequest = Callable[[str, str, bytes | None], Awaitable[HttpReply]]
"""(method, path under the interface's version, body) → a reply of status 200. Raises otherwise."""

_NAME = re.compile(r"(?:[\w-]+/)*cachedContents/[\w-]+")


class CacheSettings(NamedTuple):
    """What is cached, and for how long.

    Attributes:
        collection: path of the caches.
        model: full name of the model that they are for.
        ttl_s: seconds that a cache lives unless it is renewed. Storage is billed for that time.
        min_tokens: contexts with fewer tokens, by estimate, are not cached.
        max_caches: caches kept at once. The one unused for longest goes first.
    """

    collection: str
    model: str
    ttl_s: int
    min_tokens: int
    max_caches: int


@dataclass
class _ContextCache:
    name: str | None = None
    renew_at: float = 0.0
    is_refused: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ContextCaches:
    """The caches of one run."""

    def __init__(
        self,
        settings: CacheSettings,
        request: SendRequest,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._request, self._clock = settings, request, clock
        self._caches: dict[bytes, _ContextCache] = {}

    async def name_for(self, head: bytes) -> str | None:
        """The cache that holds a body's head, made or renewed where due; None where the head is sent.

        Raises:
            TransientError: the server made no cache; another try may succeed.
            StudyError: the server will make none until the user changes something.
        """
        if len(head) < self._settings.min_tokens * BYTES_PER_TOKEN:
            return None
        key = hashlib.sha256(head).digest()
        cache = self._caches.pop(key, None) or _ContextCache()
        self._caches[key] = cache  # the one used last stands at the end
        await self._make_room()
        async with cache.lock:
            if cache.name is None and not cache.is_refused:
                await self._create(cache, head)
            elif cache.name is not None and self._clock() >= cache.renew_at:
                await self._renew(cache)
            return cache.name

    def forget(self, name: str) -> None:
        """Note that the server no longer has a cache. The next call makes it again."""
        for cache in self._caches.values():
            if cache.name == name:
                cache.name = None

    async def close(self) -> None:
        """Delete all caches."""
        caches, self._caches = list(self._caches.values()), {}
        await asyncio.gather(*(self._delete(cache) for cache in caches))

    async def _create(self, cache: _ContextCache, head: bytes) -> None:
        content = head.rstrip(b"\n").removesuffix(b",")
        options = {"model": self._settings.model, "ttl": self._ttl()}
        try:
            reply = await self._request(
                "POST", self._settings.collection, content + b"]," + dumps(options)[1:]
            )
            name = str(loads(reply.raw)["name"])
        except RejectedError as error:
            self._refuse(cache, error)
        except (ValueError, KeyError, TypeError):
            raise TransientError("the server did not name the cache it made") from None
        except TransientError as error:
            # an account without room for caches gets the error of too many requests
            if "TotalCachedContentStorage" not in str(error):
                raise
            self._refuse(cache, error)
        else:
            if not _NAME.fullmatch(name):
                raise TransientError("the server did not name the cache it made")
            cache.name, cache.renew_at = name, self._renew_at()

    async def _renew(self, cache: _ContextCache) -> None:
        try:
            ttl = dumps({"ttl": self._ttl()})
            await self._request("PATCH", f"{cache.name}?updateMask=ttl", ttl)
        except (RejectedError, StudyError):
            cache.name = None
            raise TransientError("the cached context has expired") from None
        cache.renew_at = self._renew_at()

    async def _make_room(self) -> None:
        while len(self._caches) > self._settings.max_caches:
            await self._delete(self._caches.pop(next(iter(self._caches))))

    async def _delete(self, cache: _ContextCache) -> None:
        name, cache.name = cache.name, None
        if name is None:
            return
        try:
            await self._request("DELETE", name, None)
        except (TransientError, RejectedError, StudyError) as error:
            logger.warning(
                "a cached context could not be deleted; the server deletes it when its time is up: %s",
                error,
            )

    def _refuse(self, cache: _ContextCache, error: Exception) -> None:
        logger.info(
            "a context is sent with every question, because the server does not cache it: %s", error
        )
        cache.is_refused = True

    def _ttl(self) -> str:
        return f"{self._settings.ttl_s}s"

    def _renew_at(self) -> float:
        # after half its time, so that a call which waits long for its turn still finds the cache
        return self._clock() + self._settings.ttl_s / 2
