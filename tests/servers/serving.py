"""From the socket to a handler and back, with whatever fault comes in between."""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import orjson
from aiohttp import web

from servers import (
    anthropic_api,
    anthropic_batches,
    gemini_api,
    gemini_batches,
    openai_api,
    openai_batches,
)
from servers.faults import Fault, anthropic_error, google_error, openai_error
from servers.model_server import Chat, ChatRequest
from servers.routes import Received, Reply, Route, find_route, json_reply

LONGEST_BODY = 2 * 1024**3
N_DRIPS = 16


class _Site:
    """The listening socket, which can be closed and opened again on the same port."""

    def __init__(self, runner: web.AppRunner, port: int) -> None:
        self._runner = runner
        self._site: web.TCPSite | None = None
        self.port = port

    async def open(self) -> None:
        self._site = web.TCPSite(
            self._runner, "127.0.0.1", self.port, backlog=1024, reuse_address=True
        )
        await self._site.start()
        self.port = self._runner.addresses[-1][1]

    async def close(self) -> None:
        if self._site is not None:
            await self._site.stop()
        for connection in list(self._runner.server.connections if self._runner.server else []):
            if connection.transport is not None:
                connection.transport.abort()

    def switch(self, on: bool) -> Coroutine[Any, Any, None]:
        return self.open() if on else self.close()


@contextmanager
def running(chat: Chat, port: int = 0) -> Iterator[Chat]:
    """Serve from a thread until the block ends; at port 0 wherever one is free."""
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()
    thread = threading.Thread(
        target=loop.run_until_complete,
        args=(serve(chat, stop, port, started=started),),
        daemon=True,
    )
    thread.start()
    if not started.wait(timeout=60):
        raise RuntimeError("the loopback server does not start")
    try:
        yield chat
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def serve(
    chat: Chat, stop: asyncio.Event, port: int = 0, *, started: threading.Event | None = None
) -> None:
    """Serve until `stop`; sets the addresses of `chat`, and prints the port unless `started` waits."""
    app = web.Application(client_max_size=LONGEST_BODY)
    app.router.add_route("*", "/{path:.*}", _Dispatcher(chat).handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site, loop = _Site(runner, port), asyncio.get_running_loop()
    await site.open()
    chat.gemini_url = chat.azure_url = chat.anthropic_url = f"http://127.0.0.1:{site.port}"
    chat.base_url = f"{chat.gemini_url}/v1"

    def listen(on: bool) -> None:
        asyncio.run_coroutine_threadsafe(site.switch(on), loop).result(timeout=60)

    chat.listen = listen
    if started is None:
        print(site.port, flush=True)
    else:
        started.set()
    await stop.wait()
    await runner.cleanup()
    # calls that were to hang for longer than the server lives
    hanging = asyncio.all_tasks() - {asyncio.current_task()}
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)


class _Asked(NamedTuple):
    request: web.Request
    route: Route
    match: Mapping[str, str]
    seen: ChatRequest


class _Dispatcher:
    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._google = gemini_api.routes() + gemini_batches.routes()
        self._anthropic = anthropic_api.routes() + anthropic_batches.routes()
        self._routes = [
            *(openai_api.routes() + openai_batches.routes() + self._google),
            Route("GET", "/server/bill", "bill", _bill),
        ]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        seen = await self._note(request)
        routes = self._routes_of(seen)
        found = find_route(routes, request.method, request.path)
        if found is None:
            reply = Reply(404, openai_error(f"no such address: {request.method} {request.path}"))
            return await _deliver(request, reply, Fault())
        refusal = self._locked_out(seen)
        if refusal is None and routes is self._anthropic:
            refusal = anthropic_api.version_refusal(seen)
        if refusal is not None:
            return await _deliver(request, refusal, Fault())
        return await self._reply(_Asked(request, *found, seen))

    def _routes_of(self, seen: ChatRequest) -> list[Route]:
        """Some addresses are those of more than one API: headers tell them apart."""
        if "anthropic-version" in seen.headers or seen.path.startswith("/v1/messages"):
            return self._anthropic
        return self._google if "x-goog-api-key" in seen.headers else self._routes

    async def _reply(self, asked: _Asked) -> web.StreamResponse:
        chat, step = self._chat, asked.route.step
        fault = chat.take_fault(asked.seen.question, step) or Fault()
        if fault.reset and not fault.cut:
            await asyncio.sleep(fault.wait_s)
            return _reset(asked.request)
        given = Reply(fault.status, fault.body or b"", fault.headers)
        if fault.replaces and not fault.late:
            await asyncio.sleep(chat.latency_s + fault.wait_s)
            return await _deliver(asked.request, given, fault)
        reply = await asked.route.handler(Received(chat, asked.seen, asked.match, fault))
        if step != "answer":
            await asyncio.sleep(fault.wait_s)
        if fault.again_s is not None:
            _send_again(asked.request, reply, fault.again_s)
        if fault.replaces:
            return await _deliver(asked.request, given, fault)
        if fault.raw_text is not None:
            reply = _with_text(reply, fault.raw_text)
        if step == "answer" and reply.status == 200 and not fault.cut:
            chat.n_answered += 1
        return await _deliver(
            asked.request, reply._replace(headers={**reply.headers, **fault.headers}), fault
        )

    async def _note(self, request: web.Request) -> ChatRequest:
        chat = self._chat
        raw = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        chat.n_received += 1
        seen = ChatRequest(
            number=chat.n_received,
            path=request.path,
            authorization=request.headers.get("Authorization"),
            raw=raw,
            body=_parsed(raw, headers.get("content-type", "")),
            method=request.method,
            headers=headers,
            query=dict(request.query),
        )
        if chat.records:
            chat.requests.append(seen)
        return seen

    def _locked_out(self, seen: ChatRequest) -> Reply | None:
        headers, chat = seen.headers, self._chat
        azure = seen.path.startswith("/openai")
        if azure and not seen.path.startswith("/openai/v1") and "api-version" not in seen.query:
            return Reply(404, openai_error("Resource not found", "404"))
        if chat.api_key is None or seen.path.startswith("/server"):
            return None
        bearer = (seen.authorization or "").removeprefix("Bearer ")
        google = headers.get("x-goog-api-key") or seen.query.get("key")
        keys = (bearer, google, headers.get("x-api-key"), headers.get("api-key") if azure else None)
        if chat.api_key in keys:
            return None
        if self._routes_of(seen) is self._anthropic:
            return Reply(401, anthropic_error("invalid x-api-key", "authentication_error"))
        if google or ":generateContent" in seen.path:
            return Reply(400, google_error(400, "API key not valid. Please pass a valid API key."))
        message = f"Incorrect API key provided: {bearer or headers.get('api-key', '')}"
        return Reply(401, openai_error(message, "invalid_api_key", "invalid_request_error"))


async def _bill(received: Received) -> Reply:
    return json_reply({"usd": received.chat.bill.usd, "lines": received.chat.bill.rows()})


def _parsed(raw: bytes, content_type: str) -> dict[str, Any]:
    if not raw or raw.lstrip()[:1] != b"{" or "multipart" in content_type:
        return {}
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            # half of a surrogate pair, which orjson does not read
            body = json.loads(raw)
        except ValueError:
            return {}
    return body if isinstance(body, dict) else {}


def _with_text(reply: Reply, text: bytes) -> Reply:
    """The answer's text changed byte by byte, so that even what no JSON may hold can be sent."""
    marker = "text-goes-here"
    body = json.loads(reply.body)
    if "choices" in body:
        body["choices"][0]["message"]["content"] = marker
    elif "content" in body:
        body["content"][-1]["text"] = marker
    else:
        body["candidates"][0]["content"]["parts"][0]["text"] = marker
    return reply._replace(body=json.dumps(body).encode().replace(marker.encode(), text))


async def _deliver(request: web.Request, reply: Reply, fault: Fault) -> web.StreamResponse:
    body = reply.body if fault.keep is None else reply.body[: fault.keep]
    if fault.cut or fault.wrong_length:
        return await _break_off(request, reply._replace(body=body), fault)
    if reply.pauses_s and fault.keep is None:
        return await _stream(request, reply)
    if fault.drip_s:
        return await _drip(request, reply._replace(body=body), fault.drip_s)
    return web.Response(
        body=body, status=reply.status, headers=reply.headers, content_type=reply.content_type
    )


async def _stream(request: web.Request, reply: Reply) -> web.StreamResponse:
    """Events one after another, each after its pause, without a length."""
    headers = {**reply.headers, "Content-Type": reply.content_type}
    response = web.StreamResponse(status=reply.status, headers=headers)
    response.enable_chunked_encoding()
    await response.prepare(request)
    events = reply.body.split(b"\n\n")[:-1]
    for event, pause_s in zip(events, reply.pauses_s, strict=True):
        await asyncio.sleep(pause_s)
        await response.write(event + b"\n\n")
    await response.write_eof()
    return response


async def _drip(request: web.Request, reply: Reply, pause_s: float) -> web.StreamResponse:
    length = {"Content-Length": str(len(reply.body)), "Content-Type": reply.content_type}
    response = web.StreamResponse(status=reply.status, headers={**reply.headers, **length})
    await response.prepare(request)
    size = max(1, -(-len(reply.body) // N_DRIPS))
    for start in range(0, len(reply.body), size):
        await asyncio.sleep(pause_s)
        await response.write(reply.body[start : start + size])
    await response.write_eof()
    return response


async def _break_off(request: web.Request, reply: Reply, fault: Fault) -> web.StreamResponse:
    """A body that does not fit its Content-Length, or half of one."""
    sent = reply.body[: len(reply.body) // 2] if fault.cut else reply.body
    if request.transport is not None:
        request.transport.write(_head(reply, fault.wrong_length) + sent)
        if fault.cut and fault.reset:
            # a reset throws away what the client has not read yet, so let it read
            await asyncio.sleep(0.05)
            return _reset(request)
        request.transport.close()
    return web.Response()


def _send_again(request: web.Request, reply: Reply, wait_s: float) -> None:
    """A sound reply once more, or late, beside the one that is sent now."""
    transport = request.transport
    if transport is not None:
        asyncio.get_running_loop().call_later(wait_s, transport.write, _head(reply) + reply.body)


def _head(reply: Reply, wrong_length: int = 0) -> bytes:
    head = f"HTTP/1.1 {reply.status} OK\r\nContent-Type: {reply.content_type}\r\n"
    return f"{head}Content-Length: {len(reply.body) + wrong_length}\r\n\r\n".encode()


def _reset(request: web.Request) -> web.StreamResponse:
    """Close so that the client gets a reset (RST) instead of an end."""
    if request.transport is not None:
        sock = request.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return web.Response()
