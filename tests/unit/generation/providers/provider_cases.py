"""A server that notes calls as they came and says what it is told to, and what to ask with."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeVar

from fieldwork.generation.providers.anthropic import Anthropic
from fieldwork.generation.providers.base import Exchange, ModelInfo, Provider, Sampling, Wire
from fieldwork.generation.providers.gemini import Gemini
from fieldwork.generation.providers.openai import OpenAI
from fieldwork.generation.providers.service import ServiceSettings
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item
from fieldwork.sections.services import AnthropicEntry, GeminiEntry, OpenAIEntry, ServiceEntry

KEY = "sk-secret-0123456789"
T = TypeVar("T")
E = TypeVar("E", bound=ServiceEntry)
NOWHERE = "http://127.0.0.1:9"
SAMPLING = Sampling(temperature=1.0, max_tokens=16, seed=42)
ODD = 'Line one\n\tline "two" \\ 😀 \u2028 end\x00'
CONTEXTS = {
    "none": [],
    "system": [Message("system", "You talk to Zoë.")],
    "history": [Message("user", "Hi"), Message("assistant", "Hello"), Message("user", "So?")],
    "odd text": [Message("system", "Zoë 😀"), Message("user", ODD), Message("assistant", "   ")],
    "empty text": [Message("user", ""), Message("assistant", "")],
    "two systems": [Message("system", "a"), Message("user", "b"), Message("system", "c")],
}


def item(prompt: str = "Which one?") -> Item:
    return Item("q", "choice", "Which?", prompt, ["a", "b"], None, None, "test")


def make_openai(base_url: str = "http://127.0.0.1:9/v1", **changes: Any) -> OpenAI:
    """The provider as most tests want it."""
    return OpenAI(openai_settings(base_url, **changes))


def openai_settings(base_url: str, **changes: Any) -> ServiceSettings[OpenAIEntry]:
    """`cache_key`, `cache_breakpoint`, `flex` and `azure_version` stand for parts of the entry."""
    settings = {"model": "gpt-test", "timeout_s": 10.0, "concurrency": 4, **changes}
    cache = {
        part: settings.pop(name)
        for part, name in (("key", "cache_key"), ("breakpoint", "cache_breakpoint"))
        if name in settings
    }
    settings |= {"prefix_cache": {"key": False, **cache} if cache else None}
    if version := settings.pop("azure_version", None):
        settings["api"] = {"kind": "azure", "version": version}
    return _settings(OpenAIEntry, "openai", base_url, settings)


def make_anthropic(base_url: str = NOWHERE, **changes: Any) -> Anthropic:
    return Anthropic(anthropic_settings(base_url, **changes))


def anthropic_settings(base_url: str, **changes: Any) -> ServiceSettings[AnthropicEntry]:
    settings: dict[str, Any] = {"model": "claude-x", **changes}
    settings["prefix_cache"] = {} if settings.pop("cache_breakpoint", False) else None
    return _settings(AnthropicEntry, "anthropic", base_url, settings)


def make_gemini(base_url: str | None = NOWHERE, **changes: Any) -> Gemini:
    return Gemini(gemini_settings(base_url, **changes))


def gemini_settings(base_url: str | None, **changes: Any) -> ServiceSettings[GeminiEntry]:
    settings: dict[str, Any] = {"model": "gemini-x", **changes}
    if "cache_min_tokens" in settings:
        settings["prefix_cache"] = {"min_tokens": settings.pop("cache_min_tokens")}
    return _settings(GeminiEntry, "gemini", base_url, settings)


def _settings(
    kind: type[E], provider: str, base_url: str | None, settings: Any
) -> ServiceSettings[E]:
    parts = {name: settings.pop(name) for name in ("headers", "secrets") if name in settings}
    key = settings.pop("api_key", KEY)
    settings |= {"dispatch": "flex"} if settings.pop("flex", False) else {}
    settings |= {"base_url": base_url} if base_url else {}
    settings = {n: list(v) if isinstance(v, tuple) else v for n, v in settings.items()}
    entry = kind.model_validate({"label": "A model", "provider": provider, **settings})
    return ServiceSettings(entry, key, **parts)


def make_vertex(base_url: str = NOWHERE, **changes: Any) -> Gemini:
    """With a token out of VERTEX_TOKEN."""
    place: dict[str, Any] = {"vertex": {"project": "a-project", "location": "europe-west4"}}
    place |= {"api_key": None, "token_env": "VERTEX_TOKEN"}
    return make_gemini(base_url, **place | changes)


def wire_of(
    provider: Provider,
    context: Sequence[Message] = (),
    *,
    sampling: Sampling = SAMPLING,
    prompt: str = "Which one?",
    context_id: str | None = None,
) -> Wire:
    """The parts of a call's body."""
    question = provider.question(item(prompt), sampling)
    return Wire(provider.prefix(context), question, provider.delivery(context_id))


def closing_after(provider: Provider, call: Awaitable[T]) -> T:
    """What a call comes to; the provider is closed whatever that is."""

    async def session() -> T:
        try:
            return await call
        finally:
            await provider.close()

    return asyncio.run(session())


def send(provider: Provider, wire: Wire | None = None) -> Exchange:
    """One call, by default the question without a context."""
    return closing_after(provider, provider.send((wire or wire_of(provider)).body()))


def models_of(provider: Provider) -> list[ModelInfo] | None:
    return closing_after(provider, provider.models())


class Call(NamedTuple):
    """A call as it arrived; names of headers in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw) if self.raw else None


class Said(NamedTuple):
    """A reply: JSON, or bytes as they are."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = {}


@dataclass
class Recorder:
    """A running server; `replies` are said in turn, the last one for ever."""

    url: str
    calls: list[Call] = field(default_factory=list)
    replies: list[Said] = field(default_factory=list)

    def reply(self) -> Said:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def record_calls() -> Iterator[Recorder]:
    """Serve on the loopback interface until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: the second would wait 40 ms for an ACK

        def answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            raw = self.rfile.read(int(headers.get("content-length", 0)))
            recorder.calls.append(Call(self.command, self.path, headers, raw))
            said = recorder.reply()
            body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        recorder = Recorder(f"http://127.0.0.1:{server.server_port}")
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield recorder
        finally:
            server.shutdown()
            thread.join()
