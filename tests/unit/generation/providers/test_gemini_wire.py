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
from fieldwork.records.puppets import Message

MODEL = "gemini-2.5-flash"
ANSWER = Said(
    {"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}], "models": []}
)
PROJECT = {"project": "my-project", "location": "europe-west1"}


def make(base_url: str | None = NOWHERE, **changes: Any) -> Gemini:
    return make_gemini(base_url, model=MODEL, **changes)


def sdk(recorder: Recorder, **options: Any) -> genai.Client:
    http: Any = {"base_url": recorder.url, "api_version": options.pop("api_version", "v1beta")}
    return genai.Client(http_options=types.HttpOptions(**http), **options)


def asked(client: genai.Client, context: list[Message], options: dict[str, Any]) -> None:
    """The SDK's call for a context and the question of `wire_of`."""
    system = [m.content for m in context if m.role == "system"]
    roles = {"user": "user", "assistant": "model"}
    turns = [(roles[m.role], m.content) for m in context if m.role != "system"]
    contents: Any = [
        types.Content(role=role, parts=[types.Part(text=text)])
        for role, text in [*turns, ("user", "Which one?")]
    ]
    config = types.GenerateContentConfig(system_instruction=system or None, **options)  # type: ignore[arg-type]
    client.models.generate_content(model=MODEL, contents=contents, config=config)


def plain(value: Any) -> Any:
    """Field names in one of the two spellings that protobuf's JSON reads alike."""
    if isinstance(value, dict):
        return {
            "thinkingBudget" if k == "thinking_budget" else k: plain(v) for k, v in value.items()
        }
    return [plain(v) for v in value] if isinstance(value, list) else value


def same(ours: Call, theirs: Call) -> bool:
    names = ("x-goog-api-key", "authorization", "content-type")
    called = (ours.method, ours.path, plain(ours.body))
    return called == (theirs.method, theirs.path, plain(theirs.body)) and all(
        ours.headers.get(name) == theirs.headers.get(name) for name in names
    )


USUAL = {"temperature": 1.0, "max_output_tokens": 16}
HARASSMENT = types.SafetySetting(
    category=types.HarmCategory.HARM_CATEGORY_HARASSMENT,
    threshold=types.HarmBlockThreshold.BLOCK_NONE,
)
OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, USUAL),
    ({"send_temperature": False}, {"max_output_tokens": 16}),
    ({"send_seed": True}, {**USUAL, "seed": 42}),
    (
        {"thinking_budget": 0},
        {**USUAL, "thinking_config": types.ThinkingConfig(thinking_budget=0)},
    ),
    (
        {"safety": {"HARM_CATEGORY_HARASSMENT": "BLOCK_NONE"}},
        {**USUAL, "safety_settings": [HARASSMENT]},
    ),
    ({"flex": True}, {**USUAL, "service_tier": "flex"}),
]


CALLS = [(CONTEXTS["history"], *options) for options in OPTIONS]
CALLS += [(context, *OPTIONS[0]) for context in CONTEXTS.values()]


@pytest.mark.parametrize(("context", "changes", "options"), CALLS)
def test_the_call_is_the_one_the_official_sdk_makes(
    recorder: Recorder, changes: dict[str, Any], options: dict[str, Any], context: list[Message]
) -> None:
    recorder.replies = [ANSWER]
    asked(sdk(recorder, api_key=KEY), context, options)
    provider = make(recorder.url, **changes)
    send(provider, wire_of(provider, context))
    theirs, ours = recorder.calls
    assert ours.path == f"/v1beta/models/{MODEL}:generateContent"
    assert same(ours, theirs)


@pytest.mark.parametrize("context", [CONTEXTS["none"], CONTEXTS["odd text"]])
def test_vertex_is_called_as_the_sdk_calls_it(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, context: list[Message]
) -> None:
    recorder.replies = [ANSWER]
    client = sdk(
        recorder,
        vertexai=True,
        project=PROJECT["project"],
        location=PROJECT["location"],
        credentials=Credentials("oauth-token"),  # type: ignore[no-untyped-call]
        api_version="v1beta1",
    )
    asked(client, context, OPTIONS[0][1])
    monkeypatch.setenv("VERTEX_TOKEN", " oauth-token\n")
    provider = make(
        recorder.url,
        api_key=None,
        vertex=PROJECT,
        token_env="VERTEX_TOKEN",
    )
    send(provider, wire_of(provider, context))
    theirs, ours = recorder.calls
    assert same(ours, theirs)
    assert ours.headers["authorization"] == "Bearer oauth-token"


@pytest.mark.parametrize("seed", [2509 * 1_000_003 + 7, 2**31, 0])
def test_a_seed_fits_the_interface(seed: int) -> None:
    provider = make(send_seed=True)
    body = json.loads(wire_of(provider, sampling=SAMPLING._replace(seed=seed)).body())
    sent = body["generationConfig"]["seed"]
    assert 0 <= sent < 2**31
    assert (sent - seed) % 2**31 == 0


def test_the_list_of_models_is_read_page_by_page_as_the_sdk_reads_it(recorder: Recorder) -> None:
    pages = [
        Said({"models": [{"name": "models/gemini-a"}], "nextPageToken": "p/2+ "}),
        Said({"models": [{"name": "models/gemini-b"}]}),
    ]
    recorder.replies = [*pages, *pages]
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
