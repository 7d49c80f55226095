"""Explicit caches: made as the SDK makes them, used for the context's questions, deleted at the end.

And tokens for Vertex AI: taken once, renewed when they run out, and missing ones explained.
"""

import asyncio
from typing import Any

import google.auth
import pytest
from google import genai
from google.auth.exceptions import DefaultCredentialsError, RefreshError, TransportError
from google.genai import types
from provider_cases import KEY, Recorder, Said, make_gemini, wire_of

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.gemini import Gemini
from fieldwork.generation.providers.gemini_caches import CacheSettings, ContextCaches
from fieldwork.generation.providers.http import HttpReply
from fieldwork.generation.providers.vertex import GoogleToken
from fieldwork.records.puppets import Message

MODEL = "gemini-2.5-flash"
LONG = [Message("system", "Be brief."), Message("user", "word " * 1000), Message("assistant", "ok")]
OTHER = [Message("user", "other " * 1000)]
NAMED = Said({"name": "cachedContents/c1"})
CANDIDATE = {"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}
ANSWER, ANOTHER = (Said({"candidates": [CANDIDATE], "responseId": name}) for name in ("r1", "r2"))
CREATE, DELETE = "POST cachedContents", "DELETE cachedContents/c1"
ASK = f"POST models/{MODEL}:generateContent"


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
def test_calls_are_the_ones_the_official_sdk_makes(recorder: Recorder, context: Any) -> None:
    recorder.replies = [NAMED, ANSWER, Said({})] * 2
    options = types.HttpOptions(base_url=recorder.url, api_version="v1beta")
    client = genai.Client(api_key=KEY, http_options=options)
    roles = {"user": "user", "assistant": "model"}
    turns = [(m.role, [types.Part(text=m.content)]) for m in context if m.role != "system"]
    contents = [types.Content(role=roles[role], parts=parts) for role, parts in turns]
    system: Any = [m.content for m in context if m.role == "system"] or None
    kept: Any = {"contents": contents, "system_instruction": system, "ttl": "300s"}
    client.caches.create(model=MODEL, config=kept)
    asked: Any = {"cached_content": "cachedContents/c1", "temperature": 1.0}
    asked["max_output_tokens"] = 16
    client.models.generate_content(model=MODEL, contents="q0", config=asked)
    client.caches.delete(name="cachedContents/c1")
    run(make(recorder, cache_ttl_s=300.0), context)
    for theirs, ours in zip(recorder.calls[:3], recorder.calls[3:], strict=True):
        assert (ours.method, ours.path) == (theirs.method, theirs.path)
        assert (ours.body or {}) == (theirs.body or {})
        assert ours.headers["x-goog-api-key"] == theirs.headers["x-goog-api-key"]


SHORT = [Message("user", "short")]


@pytest.mark.parametrize(
    ("context", "changes"),
    [([], {}), (SHORT, {}), (LONG, {"cache_min_tokens": 4096}), (LONG, {"explicit_cache": False})],
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
    ("status", "words"),
    [(400, "Cached content is too small"), (429, "TotalCachedContentStorageTokens… limit=0")],
)
def test_a_refused_cache_is_not_asked_for_again(
    recorder: Recorder, status: int, words: str
) -> None:
    recorder.replies = [Said({"error": {"message": words, "status": "X"}}, status), ANSWER, ANOTHER]
    run(make(recorder), LONG, LONG)
    assert paths(recorder) == [CREATE, ASK, ASK]


@pytest.mark.parametrize("body", [b"<html>", {"name": "../../evil?x=cachedContents/1"}])
def test_a_cache_without_a_name_is_tried_again(recorder: Recorder, body: Any) -> None:
    recorder.replies = [Said(body), NAMED, ANSWER, Said({})]
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


# --- how long they live


class CacheService:
    """Notes what it is asked; `fails` is raised by the next call."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails: Exception | None = None
        self.now = 0.0
        settings = CacheSettings("cachedContents", "models/x", 100, 0, 2)
        self.caches = ContextCaches(settings, self.call, lambda: self.now)

    async def call(self, method: str, path: str, body: bytes | None) -> HttpReply:  # noqa: ARG002
        self.asked.append(f"{method} {path}")
        if self.fails is not None:
            fails, self.fails = self.fails, None
            raise fails
        name = f"cachedContents/n{len(self.asked)}"
        return HttpReply(200, f'{{"name":"{name}"}}'.encode(), {}, None, 0.0)  # type: ignore[arg-type]


def test_a_cache_is_renewed_before_it_runs_out_or_made_anew() -> None:
    async def steps() -> None:
        for service.now in (0.0, 49.0, 51.0, 99.0, 102.0):
            assert await service.caches.name_for(b'{"contents":[\n') == "cachedContents/n1"
        renewal = "PATCH cachedContents/n1?updateMask=ttl"
        assert service.asked == ["POST cachedContents", renewal, renewal]
        service.now, service.fails = 160.0, RejectedError("gone")
        with pytest.raises(TransientError):
            await service.caches.name_for(b'{"contents":[\n')
        assert await service.caches.name_for(b'{"contents":[\n') == "cachedContents/n5"
        assert len(service.asked) == 5

    service = CacheService()
    asyncio.run(steps())


def test_the_one_unused_for_longest_makes_room() -> None:
    async def steps() -> None:
        for head in (b"a", b"b", b"a", b"c"):
            await service.caches.name_for(head)
        assert service.asked[-2] == "DELETE cachedContents/n2"
        service.fails = TransientError("no")
        await service.caches.close()

    service = CacheService()
    asyncio.run(steps())
    left = ["DELETE cachedContents/n1", "DELETE cachedContents/n4"]
    assert sorted(service.asked[-2:]) == left


# --- Vertex AI


class Credentials:
    """As google-auth's; `fails` is raised by the next refresh."""

    def __init__(self) -> None:
        self.valid, self.token, self.n_refreshed = False, "", 0
        self.fails: Exception | None = None

    def refresh(self, request: Any) -> None:  # noqa: ARG002
        if self.fails is not None:
            raise self.fails
        self.n_refreshed += 1
        self.valid, self.token = True, f"token-{self.n_refreshed}"


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> Credentials:
    given = Credentials()
    monkeypatch.setattr(google.auth, "default", lambda scopes: (given, "project"))  # noqa: ARG005
    return given


def test_a_token_serves_until_it_runs_out(credentials: Credentials) -> None:
    async def session() -> list[Any]:
        return await asyncio.gather(*(token.headers() for _ in range(5)))

    token = GoogleToken(None)
    for n in (1, 2):
        assert asyncio.run(session()) == [{"Authorization": f"Bearer token-{n}"}] * 5
        credentials.valid = False
    assert credentials.n_refreshed == 2


@pytest.mark.parametrize(
    ("fails", "expected"),
    [(TransportError("down"), TransientError), (RefreshError("revoked"), StudyError)],
)
def test_a_token_that_cannot_be_renewed(
    credentials: Credentials, fails: Exception, expected: type[Exception]
) -> None:
    credentials.fails = fails
    with pytest.raises(expected):
        asyncio.run(GoogleToken(None).headers())


def test_no_credentials_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(scopes: list[str]) -> None:  # noqa: ARG001
        raise DefaultCredentialsError("none")

    monkeypatch.setattr(google.auth, "default", nothing)
    with pytest.raises(StudyError, match=r"gcloud auth.*models\.\*\.token_env"):
        asyncio.run(GoogleToken(None).headers())


def test_a_token_of_the_environment_is_read_anew_each_time(monkeypatch: Any) -> None:
    token = GoogleToken("VERTEX_TOKEN")
    for value in ("a", "b\n"):
        monkeypatch.setenv("VERTEX_TOKEN", value)
        assert asyncio.run(token.headers()) == {"Authorization": f"Bearer {value.strip()}"}
