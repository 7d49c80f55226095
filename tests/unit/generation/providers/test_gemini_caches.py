"""Explicit caches: made as the SDK makes them, used for the context's questions, deleted at the end."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from google import genai
from google.genai import types
from provider_cases import KEY, Recorder, Said, make_gemini, wire_of

from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.gemini import Gemini
from fieldwork.generation.providers.gemini_caches import CacheSettings, ContextCaches
from fieldwork.generation.providers.http import HttpReply
from fieldwork.records.puppets import Message

MODEL = "gemini-2.5-flash"
LONG = [Message("system", "Be brief."), Message("user", "word " * 1000), Message("assistant", "ok")]
OTHER = [Message("user", "other " * 1000)]
NAMED = Said({"name": "cachedContents/c1"})
CANDIDATE = {"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}
ANSWER, ANOTHER = (Said({"candidates": [CANDIDATE], "responseId": name}) for name in ("r1", "r2"))


def make(recorder: Recorder, **changes: Any) -> Gemini:
    return make_gemini(recorder.url, **{"model": MODEL, "explicit_cache": True, **changes})


def run(provider: Gemini, *contexts: list[Message]) -> None:
    async def session() -> None:
        try:
            for i, context in enumerate(contexts):
                await provider.send(wire_of(provider, context, prompt=f"q{i}").body())
        finally:
            await provider.close()

    asyncio.run(session())


def paths(recorder: Recorder) -> list[str]:
    return [f"{call.method} {call.path.removeprefix('/v1beta/')}" for call in recorder.calls]


CREATE = "POST cachedContents"
ASK = f"POST models/{MODEL}:generateContent"
DELETE = "DELETE cachedContents/c1"


def test_a_context_is_left_once_named_by_its_questions_and_deleted(recorder: Recorder) -> None:
    recorder.replies = [NAMED, ANSWER, ANOTHER, Said({})]
    run(make(recorder), LONG, LONG)
    assert paths(recorder) == [CREATE, ASK, ASK, DELETE]
    for i, call in enumerate(recorder.calls[1:3]):
        assert call.body["cachedContent"] == "cachedContents/c1"
        assert call.body["contents"] == [{"role": "user", "parts": [{"text": f"q{i}"}]}]
        assert "systemInstruction" not in call.body
        assert call.body["generationConfig"]["maxOutputTokens"] == 16


@pytest.mark.parametrize("context", [LONG, OTHER])
def test_calls_are_the_ones_the_official_sdk_makes(
    recorder: Recorder, context: list[Message]
) -> None:
    recorder.replies = [NAMED, ANSWER, Said({})] * 2
    options = types.HttpOptions(base_url=recorder.url, api_version="v1beta")
    client = genai.Client(api_key=KEY, http_options=options)
    roles = {"user": "user", "assistant": "model"}
    system = [m.content for m in context if m.role == "system"]
    contents: Any = [
        types.Content(role=roles[m.role], parts=[types.Part(text=m.content)])
        for m in context
        if m.role != "system"
    ]
    config = types.CreateCachedContentConfig(
        contents=contents,
        system_instruction=system or None,  # type: ignore[arg-type]
        ttl="300s",
    )
    client.caches.create(model=MODEL, config=config)
    client.models.generate_content(
        model=MODEL,
        contents="q0",
        config=types.GenerateContentConfig(
            cached_content="cachedContents/c1", temperature=1.0, max_output_tokens=16
        ),
    )
    client.caches.delete(name="cachedContents/c1")
    run(make(recorder, cache_ttl_s=300.0), context)
    theirs, ours = recorder.calls[:3], recorder.calls[3:]
    for one, other in zip(ours, theirs, strict=True):
        assert (one.method, one.path) == (other.method, other.path)
        assert (one.body or {}) == (other.body or {})
        assert one.headers["x-goog-api-key"] == other.headers["x-goog-api-key"]


@pytest.mark.parametrize(
    ("context", "changes"),
    [
        ([], {}),
        ([Message("user", "short")], {}),
        (LONG, {"cache_min_tokens": 4096}),
        (LONG, {"explicit_cache": False}),
    ],
)
def test_what_is_not_worth_a_cache_is_sent_whole(
    recorder: Recorder, context: list[Message], changes: dict[str, Any]
) -> None:
    recorder.replies = [ANSWER]
    provider = make(recorder, **changes)
    run(provider, context)
    assert paths(recorder) == [ASK]
    assert recorder.calls[0].raw == wire_of(provider, context, prompt="q0").body()


@pytest.mark.parametrize(
    "refused",
    [
        Said({"error": {"message": "Cached content is too small", "status": "X"}}, 400),
        Said({"error": {"message": "TotalCachedContentStorageTokens… limit=0"}}, 429),
    ],
)
def test_a_refused_cache_is_not_asked_for_again(recorder: Recorder, refused: Said) -> None:
    recorder.replies = [refused, ANSWER, ANOTHER]
    run(make(recorder), LONG, LONG)
    assert paths(recorder) == [CREATE, ASK, ASK]


@pytest.mark.parametrize("made", [Said(b"<html>"), Said({"name": "../../evil?x=cachedContents/1"})])
def test_a_cache_without_a_name_is_tried_again(recorder: Recorder, made: Said) -> None:
    recorder.replies = [made, NAMED, ANSWER, Said({})]
    provider = make(recorder)
    with pytest.raises(TransientError, match="did not name"):
        run(provider, LONG)
    run(provider, LONG)
    assert paths(recorder) == [CREATE, CREATE, ASK, DELETE]


@pytest.mark.parametrize("status", [403, 404])
def test_a_cache_the_server_has_lost_is_made_anew(recorder: Recorder, status: int) -> None:
    lost = Said({"error": {"message": "CachedContent not found (or permission denied)"}}, status)
    recorder.replies = [NAMED, lost, NAMED, ANSWER, Said({})]
    provider = make(recorder)

    async def session() -> None:
        body = wire_of(provider, LONG).body()
        with pytest.raises(TransientError, match="no longer has"):
            await provider.send(body)
        await asyncio.gather(*(provider.send(body) for _ in range(4)))
        await provider.close()

    asyncio.run(session())
    assert paths(recorder) == [CREATE, ASK, CREATE, *[ASK] * 4, DELETE], "calls at once make one"


class Service:
    """Notes what it is asked; `fails` is raised by the next call."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails: Exception | None = None
        self.now = 0.0

    async def call(self, method: str, path: str, body: bytes | None) -> HttpReply:  # noqa: ARG002
        self.asked.append(f"{method} {path}")
        if self.fails is not None:
            fails, self.fails = self.fails, None
            raise fails
        name = f"cachedContents/n{len(self.asked)}"
        return HttpReply(200, f'{{"name":"{name}"}}'.encode(), {}, None, 0.0)  # type: ignore[arg-type]

    def caches(self, most: int = 2) -> ContextCaches:
        settings = CacheSettings("cachedContents", "models/x", 100, 0, most)
        return ContextCaches(settings, self.call, lambda: self.now)


def check(steps: Callable[[Service], Any]) -> list[str]:
    service = Service()
    asyncio.run(steps(service))
    return service.asked


def test_a_cache_is_renewed_before_it_runs_out() -> None:
    async def steps(service: Service) -> None:
        caches = service.caches()
        for service.now in (0.0, 49.0, 51.0, 99.0, 102.0):
            assert await caches.name_for(b'{"contents":[\n') == "cachedContents/n1"

    renewal = "PATCH cachedContents/n1?updateMask=ttl"
    assert check(steps) == ["POST cachedContents", renewal, renewal]


def test_one_that_cannot_be_renewed_is_made_anew() -> None:
    async def steps(service: Service) -> None:
        caches = service.caches()
        await caches.name_for(b"a")
        service.now, service.fails = 60.0, RejectedError("gone")
        with pytest.raises(TransientError):
            await caches.name_for(b"a")
        assert await caches.name_for(b"a") == "cachedContents/n3"

    assert len(check(steps)) == 3


def test_the_one_unused_for_longest_makes_room() -> None:
    async def steps(service: Service) -> None:
        caches = service.caches(most=2)
        for head in (b"a", b"b", b"a", b"c"):
            await caches.name_for(head)
        assert service.asked[-2] == "DELETE cachedContents/n2"
        service.fails = TransientError("no")
        await caches.close()

    assert sorted(check(steps)[-2:]) == ["DELETE cachedContents/n1", "DELETE cachedContents/n4"]
