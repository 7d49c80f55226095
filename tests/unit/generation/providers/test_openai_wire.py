"""Chat Completions as sent: our bytes say what the official SDK's say; equal calls, equal bytes."""

from typing import Any

import openai
import pytest
from provider_cases import CONTEXTS, KEY, Call, Recorder, Said, make_openai, send, wire_of

from fieldwork.generation.providers.base import Wire
from fieldwork.generation.providers.openai import OpenAI
from fieldwork.records.puppets import Message

COMPLETION = Said({"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]})
CONTEXT_ID = "c0" * 32
EXPLICIT = {"mode": "explicit"}


def sent(provider: OpenAI, recorder: Recorder, wire: Wire) -> Call:
    send(provider, wire)
    return recorder.calls[-1]


def chat_messages(context: list[Message]) -> list[dict[str, Any]]:
    messages = [{"role": m.role, "content": m.content} for m in context]
    return [*messages, {"role": "user", "content": "Which one?"}]


def same(ours: Call, theirs: Call) -> bool:
    names = ("authorization", "api-key", "content-type")
    return (
        (ours.method, ours.path, ours.body) == (theirs.method, theirs.path, theirs.body)
    ) and all(ours.headers.get(name) == theirs.headers.get(name) for name in names)


USUAL = {"max_tokens": 16, "temperature": 1.0}
FURTHER = {"top_k": 0, "provider": {"only": ["a"], "allow_fallbacks": False}}
OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, USUAL),
    ({"send_seed": True}, {**USUAL, "seed": 42}),
    ({"send_temperature": False}, {"max_tokens": 16}),
    (
        {"token_limit_field": "max_completion_tokens"},
        {"max_completion_tokens": 16, "temperature": 1.0},
    ),
    ({"flex": True}, {**USUAL, "service_tier": "flex"}),
    ({"cache_key": True}, {**USUAL, "prompt_cache_key": CONTEXT_ID}),
    ({"extra_body": FURTHER}, {**USUAL, "extra_body": FURTHER}),
    (
        {"send_seed": True, "seed_field": "random_seed"},
        {**USUAL, "extra_body": {"random_seed": 42}},
    ),
]


# what stands before the question depends on the context alone, and what follows on the options alone
CALLS = [(CONTEXTS["history"], *options) for options in OPTIONS]
CALLS += [(context, *OPTIONS[0]) for context in CONTEXTS.values()]


@pytest.mark.parametrize(("context", "changes", "options"), CALLS)
def test_the_call_is_the_one_the_official_sdk_makes(
    recorder: Recorder, changes: dict[str, Any], options: dict[str, Any], context: list[Message]
) -> None:
    recorder.replies = [COMPLETION]
    base_url = f"{recorder.url}/v1"
    messages: Any = chat_messages(context)
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        client.chat.completions.create(model="gpt-test", messages=messages, **options)
    provider = make_openai(base_url, **changes)
    wire = wire_of(provider, context, context_id=CONTEXT_ID)
    ours = sent(provider, recorder, wire)
    assert same(ours, recorder.calls[0])
    assert ours.raw == wire.body(), "without a breakpoint the body is sent as it is"


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
def test_a_breakpoint_stands_at_the_end_of_the_context_as_the_sdk_would_put_it(
    recorder: Recorder, context: list[Message]
) -> None:
    recorder.replies = [COMPLETION]
    base_url = f"{recorder.url}/v1"
    messages: Any = chat_messages(context)
    options: Any = {"max_tokens": 16, "temperature": 1.0}
    if context:
        text = {"type": "text", "text": context[-1].content, "prompt_cache_breakpoint": EXPLICIT}
        messages[-2]["content"] = [text]
        options["prompt_cache_options"] = EXPLICIT
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        client.chat.completions.create(model="gpt-test", messages=messages, **options)
    provider = make_openai(base_url, cache_breakpoint=True)
    wire = wire_of(provider, context, context_id="c" if context else None)
    assert same(sent(provider, recorder, wire), recorder.calls[0])


@pytest.mark.parametrize("context", [CONTEXTS["none"], CONTEXTS["odd text"]])
@pytest.mark.parametrize("model", ["my-deployment", "a b/c"])
def test_azure_is_called_as_its_sdk_calls_it(
    recorder: Recorder, context: list[Message], model: str
) -> None:
    recorder.replies = [COMPLETION]
    messages: Any = chat_messages(context)
    with openai.AzureOpenAI(
        azure_endpoint=recorder.url, api_key=KEY, api_version="2024-10-21", max_retries=0
    ) as client:
        client.chat.completions.create(
            model=model, messages=messages, max_tokens=16, temperature=1.0
        )
    provider = make_openai(recorder.url, model=model, azure_version="2024-10-21")
    ours = sent(provider, recorder, wire_of(provider, context))
    assert same(ours, recorder.calls[0])
    assert ours.headers["api-key"] == KEY
    assert "authorization" not in ours.headers


def test_what_steers_delivery_is_no_part_of_the_key() -> None:
    plain = make_openai()
    steered = make_openai(flex=True, cache_key=True, cache_breakpoint=True)
    for context in CONTEXTS.values():
        ours, theirs = wire_of(plain, context), wire_of(steered, context, context_id="c")
        assert ours[:2] == theirs[:2]
        assert theirs.delivery
        assert not ours.delivery


def test_the_order_of_further_fields_asks_nothing_again() -> None:
    one = make_openai(extra_body={"top_k": 0, "provider": {"only": ["a"], "sort": "price"}})
    other = make_openai(extra_body={"provider": {"sort": "price", "only": ["a"]}, "top_k": 0})
    assert wire_of(one) == wire_of(other)
    assert wire_of(make_openai(extra_body={"top_k": 1})) != wire_of(one)
    assert wire_of(make_openai(extra_body={})) == wire_of(make_openai())


def test_further_headers_and_no_key(recorder: Recorder) -> None:
    recorder.replies = [COMPLETION]
    provider = make_openai(f"{recorder.url}/v1", api_key=None, headers={"X-Project": "study"})
    call = sent(provider, recorder, wire_of(provider))
    assert "authorization" not in call.headers
    assert call.headers["x-project"] == "study"
