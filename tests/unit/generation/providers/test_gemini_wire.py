"""generateContent as sent: our bytes say what the official SDK's say, on both of Gemini's services."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials
from provider_cases import (
    CONTEXTS,
    KEY,
    NOWHERE,
    SAMPLING,
    Call,
    Recorder,
    Said,
    make_gemini,
    models_of,
    send,
    wire_of,
)

from fieldwork.generation.providers.base import ModelInfo
from fieldwork.generation.providers.gemini import Gemini
from fieldwork.generation.providers.vertex import VertexSettings
from fieldwork.records.puppets import Message

MODEL = "gemini-2.5-flash"
ANSWER = Said({"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}]})
PROJECT = VertexSettings("my-project", "europe-west1")


def make(base_url: str | None = NOWHERE, **changes: Any) -> Gemini:
    return make_gemini(base_url, model=MODEL, **changes)


def sdk(recorder: Recorder, version: str = "v1beta", **options: Any) -> genai.Client:
    http = types.HttpOptions(base_url=recorder.url, api_version=version)
    return genai.Client(http_options=http, **options)


def plain(value: Any) -> Any:
    """Field names in one of the two spellings that protobuf's JSON reads alike."""
    return json.loads(json.dumps(value).replace("thinking_budget", "thinkingBudget"))


def said_by(call: Call) -> tuple[Any, ...]:
    names = ("x-goog-api-key", "authorization", "content-type")
    return (call.method, call.path, plain(call.body), *map(call.headers.get, names))


def assert_equal_calls(
    recorder: Recorder,
    client: genai.Client,
    provider: Gemini,
    context: list[Message],
    options: dict[str, Any],
) -> Call:
    """Ours and the SDK's for a context and the question of `wire_of`; ours."""
    recorder.replies = [ANSWER]
    system = [m.content for m in context if m.role == "system"]
    roles = {"user": "user", "assistant": "model"}
    turns = [(roles[m.role], m.content) for m in context if m.role != "system"]
    contents: Any = [
        types.Content(role=role, parts=[types.Part(text=text)])
        for role, text in [*turns, ("user", "Which one?")]
    ]
    config = types.GenerateContentConfig(system_instruction=system or None, **options)  # type: ignore[arg-type]
    client.models.generate_content(model=MODEL, contents=contents, config=config)
    send(provider, wire_of(provider, context))
    theirs, ours = recorder.calls
    assert said_by(ours) == said_by(theirs)
    return ours


USUAL = {"temperature": 1.0, "max_output_tokens": 16}
HARASSMENT = types.SafetySetting(
    category=types.HarmCategory.HARM_CATEGORY_HARASSMENT,
    threshold=types.HarmBlockThreshold.BLOCK_NONE,
)
THINKING = types.ThinkingConfig(thinking_budget=0)
SAFETY = {"safety": {"HARM_CATEGORY_HARASSMENT": "BLOCK_NONE"}}
OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, USUAL),
    ({"send_temperature": False}, {"max_output_tokens": 16}),
    ({"send_seed": True}, {**USUAL, "seed": 42}),
    ({"thinking_budget": 0}, {**USUAL, "thinking_config": THINKING}),
    (SAFETY, {**USUAL, "safety_settings": [HARASSMENT]}),
    ({"flex": True}, {**USUAL, "service_tier": "flex"}),
]
CALLS = [(CONTEXTS["history"], *options) for options in OPTIONS]
CALLS += [(context, *OPTIONS[0]) for context in CONTEXTS.values()]


@pytest.mark.parametrize(("context", "changes", "options"), CALLS)
def test_the_call_is_the_one_the_official_sdk_makes(
    recorder: Recorder, changes: dict[str, Any], options: dict[str, Any], context: list[Message]
) -> None:
    provider = make(recorder.url, **changes)
    ours = assert_equal_calls(recorder, sdk(recorder, api_key=KEY), provider, context, options)
    assert ours.path == f"/v1beta/models/{MODEL}:generateContent"


def test_vertex_is_called_as_the_sdk_calls_it(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {"project": PROJECT.project, "location": PROJECT.location}
    credentials = Credentials("oauth-token")  # type: ignore[no-untyped-call]
    client = sdk(recorder, "v1beta1", vertexai=True, credentials=credentials, **place)
    monkeypatch.setenv("VERTEX_TOKEN", " oauth-token\n")
    ours_to = {"vertex": PROJECT, "token_env": "VERTEX_TOKEN", "api_version": "v1beta1"}
    provider = make(recorder.url, api_key=None, **ours_to)
    ours = assert_equal_calls(recorder, client, provider, CONTEXTS["odd text"], USUAL)
    assert ours.headers["authorization"] == "Bearer oauth-token"


@pytest.mark.parametrize("seed", [2509 * 1_000_003 + 7, 2**31, 0])
def test_a_seed_fits_the_interface(seed: int) -> None:
    wire = wire_of(make(send_seed=True), sampling=SAMPLING._replace(seed=seed))
    sent = json.loads(wire.body())["generationConfig"]["seed"]
    assert 0 <= sent < 2**31
    assert (sent - seed) % 2**31 == 0


def test_one_threshold_for_every_category() -> None:
    body = wire_of(make(safety="BLOCK_NONE")).body()
    assert body.count(b'"threshold":"BLOCK_NONE"') == 4


def test_the_list_of_models_is_read_page_by_page_as_the_sdk_reads_it(recorder: Recorder) -> None:
    first = {"models": [{"name": "models/gemini-a"}], "nextPageToken": "p/2+ "}
    recorder.replies = [Said(first), Said({"models": [{"name": "models/gemini-b"}]})] * 2
    client = sdk(recorder, api_key=KEY)
    theirs = [model.name for model in client.models.list()]
    ours = models_of(make(recorder.url))
    assert ours == [ModelInfo("gemini-a"), ModelInfo("gemini-b")]
    assert theirs == [f"models/{model.id}" for model in ours]
    assert {call.path.partition("?")[0] for call in recorder.calls} == {"/v1beta/models"}
    queries = [parse_qs(urlsplit(call.path).query).get("pageToken") for call in recorder.calls]
    assert queries == [None, ["p/2+ "]] * 2
    assert models_of(make(vertex=PROJECT, api_key=None)) is None


def test_delivery_is_no_part_of_the_key() -> None:
    cached = make(explicit_cache=True, flex=True)
    for context in CONTEXTS.values():
        assert wire_of(make(), context)[:2] == wire_of(cached, context)[:2]
