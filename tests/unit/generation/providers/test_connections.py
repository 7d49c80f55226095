"""No reply is handed out for a second call, whatever a server sends besides, and however late."""

import asyncio
import hashlib
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from fieldwork.generation.providers.base import TransientError
from fieldwork.generation.providers.http import MOST_BYTES, Http, HttpSettings

Behaviour = Callable[[asyncio.StreamWriter, bytes, int], Awaitable[None]]
"""What a server does with the reply to a call, and the number of the call on its connection."""


def reply_to(body: bytes) -> bytes:
    return b'{"id": "%s"}' % hashlib.sha256(body).hexdigest().encode()


def whole(content: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    return (
        f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(content)}\r\n\r\n".encode() + content
    )


@asynccontextmanager
async def http_to(behave: Behaviour, concurrency: int = 1) -> AsyncIterator[tuple[Http, str]]:
    """A transport to a server that keeps its connections, and the server's address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = 0
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(
                    head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0
                )
                await behave(writer, await reader.readexactly(length), number)
                number += 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    http = Http(HttpSettings(timeout_s=60.0, concurrency=concurrency), url)
    try:
        yield http, url
    finally:
        await http.close()
        server.close()


def answers(
    behave: Behaviour, n: int = 40, concurrency: int = 1, pause_s: float = 0.0
) -> list[bool]:
    """For each of some calls, tried again where that may help, whether it got its reply."""

    async def run() -> list[bool]:
        async with http_to(behave, concurrency) as (http, url):
            gate = asyncio.Semaphore(concurrency)

            async def ask(body: bytes) -> bool:
                async with gate:
                    for _ in range(20):
                        try:
                            reply = await http.call("POST", url, body)
                        except TransientError:
                            continue
                        if reply.status == 200:
                            await asyncio.sleep(pause_s)
                            return reply.raw == reply_to(body)
                return False

            return await asyncio.gather(*(ask(b"%d" % k) for k in range(n)))

    return asyncio.run(run())


def twice(pause_s: float, *, is_waited_for: bool) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter, body: bytes, _number: int) -> None:
        reply = whole(reply_to(body))
        writer.write(reply)
        await writer.drain()
        loop = asyncio.get_running_loop()
        if is_waited_for:
            await asyncio.sleep(pause_s)
            writer.write(reply)
        else:
            loop.call_later(pause_s, writer.write, reply)

    return behave


@pytest.mark.parametrize(
    ("concurrency", "is_waited_for", "pause_s", "client_pause_s"),
    [(1, True, 0.005, 0.02), (8, False, 0.005, 0.02), (8, True, 0.05, 0.0), (1, False, 0.0, 0.0)],
)
def test_a_reply_that_comes_twice_answers_one_call(
    pause_s: float, is_waited_for: bool, concurrency: int, client_pause_s: float
) -> None:
    behave = twice(pause_s, is_waited_for=is_waited_for)
    assert all(answers(behave, concurrency=concurrency, pause_s=client_pause_s))


@pytest.mark.parametrize("status", ["504 Gateway Timeout", "400 Bad"])
def test_a_reply_that_comes_after_an_error_answers_no_other_call(status: str) -> None:
    n_calls = 0

    async def behave(writer: asyncio.StreamWriter, body: bytes, _number: int) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls % 3 == 0:
            writer.write(whole(b"", status))
            loop = asyncio.get_running_loop()
            loop.call_later(0.01, writer.write, whole(reply_to(body)))
        else:
            writer.write(whole(reply_to(body)))

    assert all(answers(behave))


def numbers_of_calls(reply: Callable[[bytes], bytes]) -> list[int]:
    """Of each call that a server gets, its number on the connection."""
    numbers = []

    async def behave(writer: asyncio.StreamWriter, body: bytes, number: int) -> None:
        numbers.append(number)
        writer.write(whole(reply(body)))

    answers(behave)
    return numbers


def test_a_sound_server_keeps_its_connections() -> None:
    # the second call shows that its replies have ids
    assert numbers_of_calls(reply_to) == [0, *range(39)]


@pytest.mark.parametrize("content", [b"A", b'{"id": "c", "text": "A"}'])
def test_each_call_of_a_server_without_ids_has_a_connection(content: bytes) -> None:
    assert numbers_of_calls(lambda _: content) == [0] * 40


def call(content: Callable[[], AsyncIterator[bytes]]) -> bytes:
    """The reply to one call of a server that sends these bytes."""

    async def run() -> bytes:
        async def behave(writer: asyncio.StreamWriter, _body: bytes, _number: int) -> None:
            async for piece in content():
                writer.write(piece)
                await writer.drain()

        async with http_to(behave) as (http, url):
            return (await http.call("POST", url, b"{}")).raw

    return asyncio.run(run())


async def blanks_without_end() -> AsyncIterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    while True:
        yield b"100000\r\n" + b" " * 0x100000 + b"\r\n"


async def packed_blanks() -> AsyncIterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(b" " * 2**20) for _ in range(2 * MOST_BYTES // 2**20))
    yield whole(packed + packer.flush(), headers="Content-Encoding: gzip\r\n")


@pytest.mark.parametrize("content", [blanks_without_end, packed_blanks])
def test_a_reply_without_end_is_left(content: Callable[[], AsyncIterator[bytes]]) -> None:
    with pytest.raises(
        TransientError, match="longer than 64 MB, so that it is no answer"
    ) as caught:
        call(content)
    assert caught.value.maybe_billed


def test_a_long_reply_is_read() -> None:
    async def content() -> AsyncIterator[bytes]:
        yield whole(b"x" * (20 * 2**20))

    assert len(call(content)) == 20 * 2**20
