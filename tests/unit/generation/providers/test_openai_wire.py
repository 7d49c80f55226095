"""Chat Completions as sent: our bytes say what the official SDK's say; equal calls, equal bytes.

And which models a server offers, and which of them counts as the one asked for.
"""

from datetime import date
from typing import Any

import openai
import pytest
from provider_cases import (
    CONTEXTS,
    KEY,
    Call,
    Recorder,
    Said,
    make_openai,
    models_of,
    send,
    wire_of,
)

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import ModelInfo, RejectedError, TransientError
from fieldwork.records.puppets import Message

COMPLETION = Said({"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]})
CONTEXT_ID = "c0" * 32
EXPLICIT = {"mode": "explicit"}
USUAL = {"max_tokens": 16, "temperature": 1.0}


def by_sdk(recorder: Recorder, context: list[Message], mark: Any = None, **options: Any) -> Call:
    """The SDK's call for a context, with a breakpoint `mark` at its end, and the question."""
    recorder.replies = [COMPLETION]
    messages: Any = [{"role": m.role, "content": m.content} for m in context]
    if mark and context:
        messages[-1]["content"] = [{"type": "text", "text": context[-1].content, **mark}]
    messages.append({"role": "user", "content": "Which one?"})
    with openai.OpenAI(base_url=f"{recorder.url}/v1", api_key=KEY, max_retries=0) as client:
        client.chat.completions.create(model="gpt-test", messages=messages, **options)
    return recorder.calls[-1]


def by_us(recorder: Recorder, context: list[Message], **changes: Any) -> Call:
    recorder.replies = [COMPLETION]
    provider = make_openai(**{"base_url": f"{recorder.url}/v1", **changes})
    wire = wire_of(provider, context, context_id=CONTEXT_ID if context else None)
    send(provider, wire)
    if not changes.get("cache_breakpoint"):
        assert recorder.calls[-1].raw == wire.body(), "without a breakpoint it is sent as it is"
    return recorder.calls[-1]


def said_by(call: Call) -> tuple[Any, ...]:
    headers = [call.headers.get(name) for name in ("authorization", "api-key", "content-type")]
    return (call.method, call.path, call.body, *headers)


SEED = {"send_seed": True, "seed_field": "random_seed"}
FURTHER = {"extra_body": {"top_k": 0, "provider": {"only": ["a"], "allow_fallbacks": False}}}
LIMIT = {"max_completion_tokens": 16, "temperature": 1.0}
OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, USUAL),
    ({"send_seed": True}, {**USUAL, "seed": 42}),
    ({"send_temperature": False}, {"max_tokens": 16}),
    ({"token_limit_field": "max_completion_tokens"}, LIMIT),
    ({"flex": True}, {**USUAL, "service_tier": "flex"}),
    ({"cache_key": True}, {**USUAL, "prompt_cache_key": CONTEXT_ID}),
    (FURTHER, {**USUAL, **FURTHER}),
    (SEED, {**USUAL, "extra_body": {"random_seed": 42}}),
]
# what stands before the question depends on the context alone, and what follows on the options alone
CALLS = [(CONTEXTS["history"], *options) for options in OPTIONS]
CALLS += [(context, *OPTIONS[0]) for context in CONTEXTS.values()]


@pytest.mark.parametrize(("context", "changes", "options"), CALLS)
def test_the_call_is_the_one_the_official_sdk_makes(
    recorder: Recorder, changes: dict[str, Any], options: dict[str, Any], context: list[Message]
) -> None:
    theirs = by_sdk(recorder, context, **options)
    assert said_by(by_us(recorder, context, **changes)) == said_by(theirs)


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
def test_a_breakpoint_stands_at_the_end_of_the_context_as_the_sdk_would_put_it(
    recorder: Recorder, context: list[Message]
) -> None:
    options = {**USUAL, "prompt_cache_options": EXPLICIT} if context else USUAL
    theirs = by_sdk(recorder, context, {"prompt_cache_breakpoint": EXPLICIT}, **options)
    assert said_by(by_us(recorder, context, cache_breakpoint=True)) == said_by(theirs)


@pytest.mark.parametrize("model", ["my-deployment", "a b/c"])
def test_azure_is_called_as_its_sdk_calls_it(recorder: Recorder, model: str) -> None:
    recorder.replies = [COMPLETION]
    azure = {"azure_endpoint": recorder.url, "api_version": "2024-10-21", "max_retries": 0}
    messages: Any = [{"role": "user", "content": "Which one?"}]
    with openai.AzureOpenAI(api_key=KEY, **azure) as client:  # type: ignore[call-overload]
        client.chat.completions.create(model=model, messages=messages, **USUAL)
    ours = by_us(recorder, [], base_url=recorder.url, model=model, azure_version="2024-10-21")
    assert said_by(ours) == said_by(recorder.calls[0])
    assert ours.headers["api-key"] == KEY
    assert "authorization" not in ours.headers


def test_what_steers_delivery_is_no_part_of_the_key() -> None:
    plain = make_openai()
    steered = make_openai(flex=True, cache_key=True, cache_breakpoint=True)
    for context in CONTEXTS.values():
        ours, theirs = wire_of(plain, context), wire_of(steered, context, context_id="c")
        assert ours[:2] == theirs[:2]
        assert (bool(ours.delivery), bool(theirs.delivery)) == (False, True)


def test_the_order_of_further_fields_asks_nothing_again() -> None:
    one = make_openai(extra_body={"top_k": 0, "provider": {"only": ["a"], "sort": "price"}})
    other = make_openai(extra_body={"provider": {"sort": "price", "only": ["a"]}, "top_k": 0})
    assert wire_of(one) == wire_of(other)
    assert wire_of(make_openai(extra_body={"top_k": 1})) != wire_of(one)
    assert wire_of(make_openai(extra_body={})) == wire_of(make_openai())


def test_further_headers_and_no_key(recorder: Recorder) -> None:
    call = by_us(recorder, [], api_key=None, headers={"X-Project": "study"})
    assert "authorization" not in call.headers
    assert call.headers["x-project"] == "study"


# --- models

DAY = date(2027, 1, 14)
DATED = [("a", "2027-01-14"), ("b", None), ("c", "2027-01-14T00:00:00Z"), ("d", "one day")]
LISTS: list[tuple[Said, list[ModelInfo] | None]] = [
    (
        Said({"data": [{"id": name, "shutdown_date": day} for name, day in DATED]}),
        [ModelInfo("a", DAY), ModelInfo("b"), ModelInfo("c", DAY), ModelInfo("d")],
    ),
    (Said([{"id": "a"}, {"id": "b", "expiration_date": "2027-01-14"}]),
     [ModelInfo("a"), ModelInfo("b", DAY)]),
    *((Said(b"nothing here", status), None) for status in (404, 405, 501)),
]  # fmt: skip


@pytest.mark.parametrize(("said", "expected"), LISTS)
def test_the_list_of_models(recorder: Recorder, said: Said, expected: Any) -> None:
    recorder.replies = [said]
    assert models_of(make_openai(f"{recorder.url}/v1/")) == expected
    (call,) = recorder.calls
    assert (call.method, call.path) == ("GET", "/v1/models")
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert models_of(make_openai(azure_version="2024-10-21")) is None


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (Said(b"{}", 401), StudyError),
        # a key that may ask a model need not be allowed to list them
        (Said(b'{"error": {"message": "missing scope"}}', 403), RejectedError),
        (Said(b"{}", 500), TransientError),
        (Said(b"<html>"), TransientError),
        (Said({"data": None}), TransientError),
        (Said({"data": [{"name": "no id"}]}), TransientError),
    ],
)
def test_a_list_that_cannot_be_had(recorder: Recorder, said: Said, error: type[Exception]) -> None:
    recorder.replies = [said]
    with pytest.raises(error):
        models_of(make_openai(recorder.url))


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
