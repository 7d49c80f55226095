"""Gemini's explicit caches: a context is left with the server once, and its questions name it.

A cache steers delivery only: the ledger's key is over the whole body, and `Gemini.send` swaps the
context for its cache's name at the last moment. Every cache is deleted when the run closes; one that a
killed run left behind ends by its time to live.
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
from fieldwork.generation.providers.http import Answer
from fieldwork.generation.providers.jsontext import dumps, loads
from fieldwork.token_estimate import BYTES_PER_TOKEN

logger = logging.getLogger(__name__)

Call = Callable[[str, str, bytes | None], Awaitable[Answer]]
"""(method, path under the interface's version, body) → a reply of status 200; raises otherwise."""

_NAME = re.compile(r"(?:[\w-]+/)*cachedContents/[\w-]+")


class CacheSettings(NamedTuple):
    """What is cached, and for how long.

    Attributes:
        collection: path of the caches.
        model: full name of the model they are for.
        ttl_s: seconds a cache lives unless it is renewed; storage is billed for them.
        min_tokens: contexts below, by estimate, are not cached.
        most: caches kept at once; the one unused for longest goes first.
    """

    collection: str
    model: str
    ttl_s: int
    min_tokens: int
    most: int


@dataclass
class _Cache:
    name: str | None = None
    renew_at: float = 0.0
    is_refused: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ContextCaches:
    """The caches of one run."""

    def __init__(
        self, settings: CacheSettings, call: Call, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings, self._call, self._clock = settings, call, clock
        self._caches: dict[bytes, _Cache] = {}

    async def name_for(self, head: bytes) -> str | None:
        """The cache that holds a body's head, made or renewed where need be; None without one.

        Raises:
            TransientError: the server did not make it; worth another try.
            StudyError: the server will make none until the user changes something.
        """
        if len(head) < self._settings.min_tokens * BYTES_PER_TOKEN:
            return None
        key = hashlib.sha256(head).digest()
        cache = self._caches.pop(key, None) or _Cache()
        self._caches[key] = cache  # at the end: the one used last
        await self._make_room()
        async with cache.lock:
            if cache.name is None and not cache.is_refused:
                await self._create(cache, head)
            elif cache.name is not None and self._clock() >= cache.renew_at:
                await self._renew(cache)
            return cache.name

    def forget(self, name: str) -> None:
        """The server no longer has a cache: the next call makes it anew."""
        for cache in self._caches.values():
            if cache.name == name:
                cache.name = None

    async def close(self) -> None:
        """Delete all."""
        caches, self._caches = list(self._caches.values()), {}
        await asyncio.gather(*(self._delete(cache) for cache in caches))

    async def _create(self, cache: _Cache, head: bytes) -> None:
        content = head.rstrip(b"\n").removesuffix(b",")
        facts = {"model": self._settings.model, "ttl": self._ttl()}
        try:
            answer = await self._call(
                "POST", self._settings.collection, content + b"]," + dumps(facts)[1:]
            )
            name = str(loads(answer.raw)["name"])
        except RejectedError as error:
            self._refuse(cache, error)
        except (ValueError, KeyError, TypeError):
            raise TransientError("the server did not name the cache it made") from None
        except TransientError as error:
            # a plan without room for caches answers as if it were asked too often
            if "TotalCachedContentStorage" not in str(error):
                raise
            self._refuse(cache, error)
        else:
            if not _NAME.fullmatch(name):
                raise TransientError("the server did not name the cache it made")
            cache.name, cache.renew_at = name, self._renew_at()

    async def _renew(self, cache: _Cache) -> None:
        try:
            ttl = dumps({"ttl": self._ttl()})
            await self._call("PATCH", f"{cache.name}?updateMask=ttl", ttl)
        except (RejectedError, StudyError):
            cache.name = None
            raise TransientError("the cached context has run out") from None
        cache.renew_at = self._renew_at()

    async def _make_room(self) -> None:
        while len(self._caches) > self._settings.most:
            await self._delete(self._caches.pop(next(iter(self._caches))))

    async def _delete(self, cache: _Cache) -> None:
        name, cache.name = cache.name, None
        if name is None:
            return
        try:
            await self._call("DELETE", name, None)
        except (TransientError, RejectedError, StudyError) as error:
            logger.warning("a cached context stays until its time is up: %s", error)

    def _refuse(self, cache: _Cache, error: Exception) -> None:
        logger.info("a context is sent whole, as the server does not cache it: %s", error)
        cache.is_refused = True

    def _ttl(self) -> str:
        return f"{self._settings.ttl_s}s"

    def _renew_at(self) -> float:
        # halfway: far from the end even when a call waits long for its turn
        return self._clock() + self._settings.ttl_s / 2
