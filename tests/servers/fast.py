"""The server as it must be to leave two cores to the client under test: it reads nothing of a body.

Bytes are counted, not kept; every answer is the same JSON but for its number, so that no two are
equal. Both APIs' paths are answered, and GET /v1/models; bodies need a Content-Length.
"""

import asyncio
import re

BUFFER_BYTES = 1 << 18
LONGEST_HEAD = 1 << 16

CHAT = (
    b'{"id":"chatcmpl-%(n)d","object":"chat.completion","created":1700000000,"model":"%(model)s",'
    b'"service_tier":"default","system_fingerprint":"fp_loopback","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":"answer %(n)d","refusal":null},"logprobs":null,'
    b'"finish_reason":"stop"}],"usage":{"prompt_tokens":%(input)d,"completion_tokens":3,'
    b'"total_tokens":%(total)d,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},'
    b'"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}}'
)
GEMINI = (
    b'{"candidates":[{"content":{"parts":[{"text":"answer %(n)d"}],"role":"model"},'
    b'"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":%(input)d,'
    b'"candidatesTokenCount":3,"totalTokenCount":%(total)d},"modelVersion":"%(model)s",'
    b'"responseId":"r%(n)d"}'
)
MODELS = (
    b'{"object":"list","data":[{"id":"loopback","object":"model","created":0,"owned_by":"test"}]}'
)
HEAD = (
    b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nx-request-id: req_%d\r\n"
    b"Content-Length: %d\r\n\r\n"
)


class Counters:
    """What came in, over all connections, and the one buffer they read into."""

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.n_answers = 0
        self.buffer = memoryview(bytearray(BUFFER_BYTES))
        self.length = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
        self.model = re.compile(rb'"model":\s*"([^"\\]{1,200})"')


class FastProtocol(asyncio.BufferedProtocol):
    """One connection."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._transport: asyncio.Transport | None = None
        self._head = b""
        self._reply = b""
        self._left = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: a client has connected."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        """asyncio: where to read into; every byte is used before the next read, so all share it."""
        return self._counters.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """asyncio: `nbytes` have arrived."""
        start = 0
        if self._left:
            start = min(self._left, nbytes)
            self._left -= start
            if not self._left:
                self._send()
        if start < nbytes:
            self._read_heads(self._head + bytes(self._counters.buffer[start:nbytes]))

    def _read_heads(self, data: bytes) -> None:
        self._head = b""
        while data:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self._head = data
                if len(data) > LONGEST_HEAD:
                    self._close(431)
                return
            found = self._counters.length.search(data, 0, end + 2)
            n_body = int(found[1]) if found else 0
            if not found and data.startswith(b"POST"):
                self._close(411)
                return
            self._left = n_body - (len(data) - end - 4)
            self._reply = self._answer(data[: end + 1024], n_body)
            if self._left > 0:
                return
            self._left, data = 0, data[end + 4 + n_body :]
            self._send()

    def _answer(self, head: bytes, n_body: int) -> bytes:
        counters = self._counters
        counters.n_answers += 1
        n, line = counters.n_answers, head[: head.find(b"\r\n")]
        if line.startswith(b"GET"):
            body = MODELS
        else:
            gemini = b":generateContent" in line
            if gemini:
                model = line.partition(b"/models/")[2].partition(b":")[0]
            else:
                named = counters.model.search(head)
                model = named[1] if named else b"loopback"
            fields = {b"n": n, b"model": model, b"input": n_body // 4, b"total": n_body // 4 + 3}
            body = (GEMINI if gemini else CHAT) % fields
        return HEAD % (200, n, len(body)) + body

    def _send(self) -> None:
        if self._counters.latency_s:
            loop = asyncio.get_running_loop()
            loop.call_later(self._counters.latency_s, self._write, self._reply)
        else:
            self._write(self._reply)

    def _write(self, reply: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(reply)

    def _close(self, status: int) -> None:
        self._write(HEAD % (status, 0, 0))
        if self._transport is not None:
            self._transport.close()


async def serve(port: int, latency_s: float) -> None:
    """Serve until cancelled; prints the port."""
    counters = Counters(latency_s)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: FastProtocol(counters), "127.0.0.1", port, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()
