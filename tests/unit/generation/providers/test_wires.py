"""Calls as sent: our bytes say what the official SDKs' say; what steers delivery changes no key.

And which models a server offers, and which of them counts as the one asked for.
"""

import json
from collections.abc import Callable
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anthropic
import openai
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
    make_anthropic,
    make_gemini,
    make_openai,
    make_vertex,
    models_of,
    send,
    wire_of,
)

from fieldwork.errors import StudyError
from fieldwork.generation.providers.anthropic import FIRST_TURN, LAST_VERSION_WITH_TEMPERATURE
from fieldwork.generation.providers.base import ModelInfo, RejectedError, TransientError
from fieldwork.records.puppets import Message

CONTEXT_ID = "c0" * 32
VERSION = "2026-10-21"
QUESTION = {"role": "user", "content": "Which one?"}
ANSWER = Said(
    {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}
    | {"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}]}
    | {"content": [], "model": "claude-x", "usage": {"input_tokens": 1, "output_tokens": 1}}
)
"""In the words of all interfaces."""
MAKERS: dict[str, Callable[..., Any]] = {
    "openai": lambda url, **changes: make_openai(f"{url}/v1", **changes),
    "azure": lambda url, **changes: make_openai(url, azure_version="2024-10-21", **changes),
    "anthropic": make_anthropic,
    "gemini": make_gemini,
    "vertex": make_vertex,
}


# --- the SDKs: each is asked the question of `wire_of` after a context


def by_openai(url: str, context: list[Message], *, marks: bool, **options: Any) -> None:
    messages: Any = [{"role": m.role, "content": m.content} for m in context]
    if marks and context:
        mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
        messages[-1]["content"] = [{"type": "text", "text": context[-1].content, **mark}]
        options["prompt_cache_options"] = {"mode": "explicit"}
    call = {"model": "gpt-test", "messages": [*messages, QUESTION], **options}
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        client.chat.completions.create(**call)


def by_azure(url: str, context: list[Message], **call: Any) -> None:
    messages: Any = [*({"role": m.role, "content": m.content} for m in context), QUESTION]
    place: Any = {"azure_endpoint": url, "api_version": "2024-10-21", "max_retries": 0}
    with openai.AzureOpenAI(api_key=KEY, **place) as client:
        call.pop("marks")
        client.chat.completions.create(messages=messages, **call)


def claude(url: str, version: str = LAST_VERSION_WITH_TEMPERATURE) -> anthropic.Anthropic:
    place: Any = {"base_url": url, "max_retries": 0}
    return anthropic.Anthropic(api_key=KEY, default_headers={"anthropic-version": version}, **place)


def by_anthropic(url: str, context: list[Message], *, marks: bool, **options: Any) -> None:
    messages = [m for m in context if m.content.strip()]
    system: Any = "\n\n".join(m.content for m in messages if m.role == "system")
    turns: Any = [{"role": m.role, "content": m.content} for m in messages if m.role != "system"]
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": FIRST_TURN})

    def marked(text: str) -> Any:
        return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]

    if marks and turns:
        turns[-1]["content"] = marked(turns[-1]["content"])
    elif marks and system:
        system = marked(system)
    head = {"system": system} if system else {}
    client = claude(url, options.pop("version", LAST_VERSION_WITH_TEMPERATURE))
    call = {"max_tokens": 16, "messages": [*turns, QUESTION], **head, **options}
    client.messages.create(model="claude-x", **call)


def google(url: str, version: str = "v1beta", **options: Any) -> genai.Client:
    http = types.HttpOptions(base_url=url, api_version=version)
    return genai.Client(http_options=http, **(options or {"api_key": KEY}))


def by_gemini(
    url: str, context: list[Message], *, marks: bool, client: Any = None, **options: Any
) -> None:
    assert not marks
    system: Any = [m.content for m in context if m.role == "system"] or None
    roles = {"user": "user", "assistant": "model"}
    turns = [(roles[m.role], m.content) for m in context if m.role != "system"]
    contents: Any = [
        types.Content(role=role, parts=[types.Part(text=text)])
        for role, text in [*turns, ("user", "Which one?")]
    ]
    config = types.GenerateContentConfig(system_instruction=system, **options)
    client = client or google(url)
    client.models.generate_content(model="gemini-x", contents=contents, config=config)


def by_vertex(url: str, context: list[Message], **options: Any) -> None:
    place = {"project": "a-project", "location": "europe-west4", "vertexai": True}
    credentials = Credentials("oauth-token")  # type: ignore[no-untyped-call]
    client = google(url, "v1beta1", credentials=credentials, **place)
    by_gemini(url, context, client=client, **options)


SDKS: dict[str, Callable[..., None]] = {
    "openai": by_openai,
    "azure": by_azure,
    "anthropic": by_anthropic,
    "gemini": by_gemini,
    "vertex": by_vertex,
}


# --- the calls

LIMITED = {"max_tokens": 16, "temperature": 1.0}
FURTHER = {"extra_body": {"top_k": 0, "provider": {"only": ["a"], "allow_fallbacks": False}}}
SEED = {"send_seed": True, "seed_field": "random_seed"}
COOL = {"send_temperature": False}
# from its version 2 on Anthropic's SDK has no argument for what the newest interface refuses
WARM: dict[str, Any] = {"extra_body": {"temperature": 1.0}}
BETWEEN = {"thinking": {"type": "between_tools"}, "output_config": {"effort": "low"}}
BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
GOOGLES = {"temperature": 1.0, "max_output_tokens": 16}
BLOCKED = {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}
SAFETY = {"safety": {"HARM_CATEGORY_HARASSMENT": "BLOCK_NONE"}}
USUAL = {"openai": LIMITED, "azure": LIMITED, "anthropic": WARM}
USUAL |= {"gemini": GOOGLES, "vertex": GOOGLES}
OPTIONS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("openai", {"send_seed": True}, {**LIMITED, "seed": 42}),
    ("openai", COOL, {"max_tokens": 16}),
    (
        "openai",
        {"token_limit_field": "max_completion_tokens"},
        {"max_completion_tokens": 16, "temperature": 1.0},
    ),
    ("openai", {"flex": True}, {**LIMITED, "service_tier": "flex"}),
    ("openai", {"cache_key": True}, {**LIMITED, "prompt_cache_key": CONTEXT_ID}),
    ("openai", FURTHER, {**LIMITED, **FURTHER}),
    ("openai", SEED, {**LIMITED, "extra_body": {"random_seed": 42}}),
    ("azure", {"model": "a b/c"}, {**LIMITED, "model": "a b/c"}),
    ("anthropic", {**COOL, "api_version": VERSION}, {"version": VERSION}),
    ("anthropic", {**COOL, "thinking": "adaptive"}, {"thinking": {"type": "adaptive"}}),
    ("anthropic", {**COOL, "thinking": "between_tools", "effort": "low"}, BETWEEN),
    ("anthropic", {**COOL, "thinking": 1024}, BUDGET),
    ("gemini", COOL, {"max_output_tokens": 16}),
    ("gemini", {"send_seed": True}, {**GOOGLES, "seed": 42}),
    ("gemini", {"thinking_budget": 0}, {**GOOGLES, "thinking_config": {"thinking_budget": 0}}),
    ("gemini", SAFETY, {**GOOGLES, "safety_settings": [BLOCKED]}),
    ("gemini", {"flex": True}, {**GOOGLES, "service_tier": "flex"}),
]
ANSWERED = [Message("assistant", "Hello, I am here."), Message("user", "Hi")]
ALL_CONTEXTS = [*CONTEXTS.values(), ANSWERED]
# what stands before the question depends on the context alone, and what follows on the options alone
CALLS: list[Any] = [(api, CONTEXTS["history"], *rest) for api, *rest in OPTIONS]
CALLS += [
    (api, context, {"cache_breakpoint": True} if marks else {}, {"marks": marks, **USUAL[api]})
    for api, marks in [*((api, False) for api in SDKS), ("openai", True), ("anthropic", True)]
    for context in ALL_CONTEXTS
]


def said_by(call: Call, api: str) -> Any:
    # protobuf's JSON reads two spellings of a field alike; Anthropic's interface takes both headers
    body = json.loads(json.dumps(call.body).replace("thinking_budget", "thinkingBudget"))
    keys = ["authorization", "api-key", "x-goog-api-key"] if api != "anthropic" else []
    names = [*keys, "content-type", "anthropic-version"]
    return call.method, call.path, body, [call.headers.get(name) for name in names]


@pytest.mark.parametrize(("api", "context", "changes", "options"), CALLS)
def test_the_call_is_the_one_the_official_sdk_makes(
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    api: str,
    context: list[Message],
    changes: dict[str, Any],
    options: dict[str, Any],
) -> None:
    monkeypatch.setenv("VERTEX_TOKEN", " oauth-token\n")
    recorder.replies = [ANSWER]
    model = {"model": "gpt-test"} if api == "azure" else {}
    SDKS[api](recorder.url, context, **{"marks": False, **model, **options})
    provider = MAKERS[api](recorder.url, **changes)
    wire = wire_of(provider, context, context_id=CONTEXT_ID if context else None)
    send(provider, wire)
    theirs, ours = recorder.calls
    assert said_by(ours, api) == said_by(theirs, api)
    assert any(token in str(ours.headers) for token in (KEY, "Bearer oauth-token"))
    if api != "anthropic" and not changes.get("cache_breakpoint"):
        assert ours.raw == wire.body(), "without a breakpoint the body is sent as it is"


@pytest.mark.parametrize(
    ("api", "steering"),
    [
        ("openai", {"flex": True, "cache_key": True, "cache_breakpoint": True}),
        ("gemini", {"flex": True, "explicit_cache": True}),
        ("anthropic", {"cache_breakpoint": True}),
    ],
)
def test_what_steers_delivery_is_no_part_of_the_key(api: str, steering: dict[str, Any]) -> None:
    plain, steered = MAKERS[api](NOWHERE), MAKERS[api](NOWHERE, **steering)
    assert plain.endpoint == steered.endpoint
    for context in CONTEXTS.values():
        ours, theirs = wire_of(plain, context), wire_of(steered, context, context_id="c")
        assert ours[:2] == theirs[:2]
        assert bool(theirs.delivery) == (api != "anthropic")
        if api == "anthropic":
            assert json.loads(plain.wire(ours.body())) == json.loads(ours.body())
        else:
            assert not ours.delivery


def test_the_order_of_further_fields_asks_nothing_again() -> None:
    one = make_openai(extra_body={"top_k": 0, "provider": {"only": ["a"], "sort": "price"}})
    other = make_openai(extra_body={"provider": {"sort": "price", "only": ["a"]}, "top_k": 0})
    assert wire_of(one) == wire_of(other)
    assert wire_of(make_openai(extra_body={"top_k": 1})) != wire_of(one)
    assert wire_of(make_openai(extra_body={})) == wire_of(make_openai())


def test_further_headers_and_no_key(recorder: Recorder) -> None:
    recorder.replies = [ANSWER]
    send(make_openai(f"{recorder.url}/v1", api_key=None, headers={"X-Project": "study"}))
    assert "authorization" not in recorder.calls[0].headers
    assert recorder.calls[0].headers["x-project"] == "study"


@pytest.mark.parametrize("seed", [2509 * 1_000_003 + 7, 2**31, 0])
def test_a_seed_fits_geminis_interface(seed: int) -> None:
    wire = wire_of(make_gemini(send_seed=True), sampling=SAMPLING._replace(seed=seed))
    sent = json.loads(wire.body())["generationConfig"]["seed"]
    assert 0 <= sent < 2**31
    assert (sent - seed) % 2**31 == 0


def test_anthropics_version_is_part_of_the_endpoint_and_no_part_of_the_address(
    recorder: Recorder,
) -> None:
    old, new = make_anthropic(), make_anthropic(send_temperature=False, api_version=VERSION)
    assert old.endpoint == "http://127.0.0.1:9/v1/messages#2023-06-01"
    assert new.endpoint != old.endpoint
    recorder.replies = [ANSWER]
    send(make_anthropic(f"{recorder.url}/"))
    assert recorder.calls[0].path == "/v1/messages"
    with pytest.raises(StudyError, match=r"send_temperature to false, or api_version to 2023"):
        make_anthropic(api_version=VERSION)


# --- lists of models


def listed(*names: str, more: bool = False, **entry: Any) -> Said:
    models = [{"id": name, **entry} for name in names]
    return Said({"data": models, "has_more": more, "last_id": names[-1]})


def test_lists_of_models_are_read_page_by_page_as_the_sdks_read_them(recorder: Recorder) -> None:
    first = {"models": [{"name": "models/gemini-a"}], "nextPageToken": "p/2+ "}
    recorder.replies = [Said(first), Said({"models": [{"name": "models/gemini-b"}]})] * 2
    client = google(recorder.url)
    assert [model.name for model in client.models.list()] == ["models/gemini-a", "models/gemini-b"]
    assert models_of(make_gemini(recorder.url)) == [ModelInfo("gemini-a"), ModelInfo("gemini-b")]
    assert {call.path.partition("?")[0] for call in recorder.calls} == {"/v1beta/models"}
    queries = [parse_qs(urlsplit(call.path).query).get("pageToken") for call in recorder.calls]
    assert queries == [None, ["p/2+ "]] * 2
    recorder.calls.clear()
    recorder.replies = [listed("claude-a", more=True), listed("claude-x")] * 2
    theirs = [model.id for model in claude(recorder.url).models.list(limit=1000)]
    assert theirs == ["claude-a", "claude-x"]
    assert models_of(make_anthropic(recorder.url)) == [*map(ModelInfo, theirs)]
    paths = [call.path for call in recorder.calls]
    assert paths[:2] == paths[2:]


def test_services_without_a_list() -> None:
    assert models_of(make_openai(azure_version="2024-10-21")) is models_of(make_vertex()) is None


DAY = date(2027, 1, 14)
DATED = [("a", "2027-01-14"), ("b", None), ("c", "2027-01-14T00:00:00Z"), ("d", "one day")]
ENTRIES = {"data": [{"id": name, "shutdown_date": day} for name, day in DATED]}
BARE = [{"id": "a"}, {"id": "b", "expiration_date": "2027-01-14"}]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Said(ENTRIES), [("a", DAY), ("b", None), ("c", DAY), ("d", None)]),
        (Said(BARE), [("a", None), ("b", DAY)]),
        *((Said(b"nothing here", status), None) for status in (404, 405, 501)),
        (Said(b"{}", 401), StudyError),
        # a key that may ask a model need not be allowed to list them
        (Said(b'{"error": {"message": "missing scope"}}', 403), RejectedError),
        (Said(b"{}", 500), TransientError),
        (Said(b"<html>"), TransientError),
        (Said({"data": None}), TransientError),
        (Said({"data": [{"name": "no id"}]}), TransientError),
    ],
)
def test_lists_of_openais_form(recorder: Recorder, said: Said, expected: Any) -> None:
    recorder.replies = [said]
    provider = make_openai(f"{recorder.url}/v1/")
    if isinstance(expected, type):
        with pytest.raises(expected):
            models_of(provider)
    else:
        models = expected and [ModelInfo(*entry) for entry in expected]
        assert models_of(provider) == models
    (call,) = recorder.calls
    assert (call.method, call.path) == ("GET", "/v1/models")
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_a_name_that_is_not_in_anthropics_list_is_looked_up(recorder: Recorder) -> None:
    dated = Said({"id": "claude-x-20260101", "retires_at": "2099-01-01T00:00:00Z"})
    recorder.replies = [listed("claude-x-20260101"), dated]
    found = models_of(make_anthropic(recorder.url)) or []
    assert [model.id for model in found] == ["claude-x-20260101", "claude-x"]
    assert str(found[1].shutdown) == "2099-01-01"
    # unknown, or a server that looks up no name
    for status in (404, 405):
        recorder.replies = [listed("claude-a"), Said({"error": {}}, status)]
        assert models_of(make_anthropic(recorder.url)) == [ModelInfo("claude-a")]
    # what cannot be looked up now is not taken for unknown
    recorder.replies = [listed("claude-x-20260101"), Said({"error": {}}, 529)]
    with pytest.raises(TransientError):
        models_of(make_anthropic(recorder.url))
    # a day of retirement counts until it is over
    for year, shutdown in ((2099, date(2099, 1, 1)), (2020, None)):
        recorder.replies = [listed("claude-x", retires_at=f"{year}-01-01T00:00:00Z")]
        assert models_of(make_anthropic(recorder.url)) == [ModelInfo("claude-x", shutdown)]


ALIASES = {
    "gpt-4o-mini": ["gpt-4o-mini", "gpt-4o-mini-2024-07-18"],
    "gpt-4": ["gpt-4-0613"],
    "claude-x": ["claude-x-20241022"],
    "gemini-2.0-flash": ["gemini-2.0-flash-001"],
    "gpt-4o-mini-2024-07-18": ["gpt-4o-mini-2024-07-18"],
}
STRANGERS = {
    "gpt-4o-mini-2024-07-18": ["gpt-4o-mini", "gpt-4o-mini-2025-01-01"],
    "gpt-4o": ["gpt-4o-mini", "gpt-4o-mini-2024-07-18"],
    "gpt-4": ["gpt-4-1106-preview", "gpt-4.1", "gpt-4-32"],
    "llama-3": ["llama-3-405"],
    "gemini-2.5-flash": ["gemini-3.5-flash", "gemini-2.5-flash-lite"],
    "a": ["a-2024-07-18\n", ""],
}


@pytest.mark.parametrize(("models", "same"), [(ALIASES, True), (STRANGERS, False)])
def test_an_answer_comes_from_the_model_or_from_its_dated_snapshot(
    models: dict[str, list[str]], same: bool
) -> None:
    for asked, returned in ((a, b) for a, names in models.items() for b in names):
        assert make_openai(model=asked).is_asked_for(returned) is same, (asked, returned)
        other = make_openai(model="another", accept_models=(asked,))
        assert other.is_asked_for(returned) is same, (asked, returned)
