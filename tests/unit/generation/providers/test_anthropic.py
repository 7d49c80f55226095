"""Anthropic's replies: every stop reason is an outcome, every error has a way out, limits are learnt."""

import asyncio
import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from anthropic.types import Message as SdkMessage
from anthropic.types import StopReason
from anthropic.types.shared import ErrorType
from provider_cases import KEY, Recorder, Said, wire_of

from fieldwork.errors import StudyError
from fieldwork.generation.limits import Limits
from fieldwork.generation.providers.anthropic import (
    LIMIT_REASONS,
    REFUSAL_REASONS,
    Anthropic,
    AnthropicSettings,
    limit_headers,
)
from fieldwork.generation.providers.anthropic_errors import HTTP_STATUS
from fieldwork.generation.providers.base import Exchange, RejectedError, TransientError, Usage

ENDED = frozenset({"end_turn", "stop_sequence", "tool_use"})
TEXT = {"type": "text", "text": "A"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


def make(base_url: str = "http://127.0.0.1:9", **changes: Any) -> Anthropic:
    return Anthropic(
        replace(AnthropicSettings(model="claude-x", base_url=base_url, api_key=KEY), **changes)
    )


def send(provider: Anthropic) -> Exchange:
    async def session() -> Exchange:
        try:
            return await provider.send(wire_of(provider).body())
        finally:
            await provider.close()

    return asyncio.run(session())


def reply(*blocks: Any, stop: str | None = "end_turn", **fields: Any) -> bytes:
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x"}
    content = list(blocks) if blocks else [TEXT]
    usage = {"input_tokens": 3, "output_tokens": 1}
    return json.dumps(
        {**body, "content": content, "stop_reason": stop, "usage": usage, **fields}
    ).encode()


# --- what comes back -----------------------------------------------------------------------------


def test_the_tables_hold_every_reason_the_sdk_knows() -> None:
    assert set(get_args(StopReason)) == LIMIT_REASONS | REFUSAL_REASONS | ENDED


def test_every_type_of_error_has_a_status() -> None:
    # those of managed memories concern nobody here, and that of large requests comes from the gateway
    known = {kind for kind in get_args(ErrorType) if not kind.startswith("memory_")}
    assert set(HTTP_STATUS) == known | {"request_too_large"}


@pytest.mark.parametrize(
    ("stop", "outcome", "without_text"),
    [
        ("end_turn", "ok", "empty"),
        ("stop_sequence", "ok", "empty"),
        # nobody offers the model a tool; what it wrote besides is its answer
        ("tool_use", "ok", "empty"),
        ("max_tokens", "truncated", "truncated"),
        ("model_context_window_exceeded", "truncated", "truncated"),
        ("pause_turn", "truncated", "truncated"),
        ("refusal", "refused", "refused"),
        ("something_new", "ok", "empty"),
        (None, "ok", "empty"),
    ],
)
def test_stop_reasons(stop: str | None, outcome: str, without_text: str) -> None:
    read, without = make().read(reply(stop=stop)), make().read(reply(stop=stop, content=[]))
    assert (read.outcome, read.text, read.finish_reason) == (outcome, "A", stop)
    assert (without.outcome, without.text) == (without_text, None)


@pytest.mark.parametrize(
    ("blocks", "text", "outcome"),
    [
        ([TEXT, {"type": "text", "text": "b"}], "Ab", "ok"),
        ([THOUGHT, TEXT], "A", "ok"),
        ([{"type": "redacted_thinking", "data": "x"}, TEXT], "A", "ok"),
        ([THOUGHT], None, "empty"),
        ([{"type": "tool_use", "id": "t", "name": "n", "input": {}}], None, "empty"),
        ([{"type": "text", "text": " \n"}], " \n", "empty"),
        ([{"type": "text", "text": "cut \ud83d"}], "cut \ufffd", "ok"),
    ],
)
def test_the_text_is_the_blocks_of_text_joined(
    blocks: list[Any], text: str | None, outcome: str
) -> None:
    read = make().read(reply(*blocks))
    assert (read.text, read.outcome, read.defects) == (text, outcome, ())


@pytest.mark.parametrize(
    ("counts", "expected", "has_defect"),
    [
        (
            {
                "input_tokens": 20,
                "cache_read_input_tokens": 4096,
                "cache_creation_input_tokens": 1000,
                "output_tokens": 12,
                "output_tokens_details": {"thinking_tokens": 7},
            },
            Usage(input=5116, cache_read=4096, cache_write=1000, output=12, reasoning=7),
            False,
        ),
        (
            {"input_tokens": 9, "cache_read_input_tokens": None, "output_tokens": 2},
            Usage(input=9, cache_read=0, cache_write=0, output=2),
            False,
        ),
        ({"input_tokens": "many", "output_tokens": 1}, Usage(output=1), True),
        (
            {"input_tokens": 9, "cache_read_input_tokens": -1, "output_tokens": 1},
            Usage(output=1),
            True,
        ),
        ({}, Usage(), True),
        (None, Usage(), True),
    ],
)
def test_usage(counts: Any, expected: Usage, has_defect: bool) -> None:
    read = make().read(reply(usage=counts))
    assert read.usage == expected
    assert read.defects == (("usage",) if has_defect else ())


def test_what_else_a_reply_says(recorder: Recorder) -> None:
    usage = {"input_tokens": 3, "output_tokens": 1, "service_tier": "standard"}
    raw = reply(model="claude-x-20260101", usage=usage)
    SdkMessage.model_validate_json(raw, strict=True)
    recorder.replies = [Said(raw, headers={"request-id": "req_1"})]
    provider = make(recorder.url)
    exchange = send(provider)
    read = provider.read(exchange.raw)
    assert (read.returned_model, read.service_tier) == ("claude-x-20260101", "standard")
    assert (exchange.request_id, read.request_id) == ("req_1", "msg_1")
    assert provider.is_asked_for("claude-x-20260101")
    assert not provider.is_asked_for("claude-y")


NO_REPLY = [
    b"",
    b"<html>Bad gateway</html>",
    b'{"content": [{"ty',
    b"null",
    b"[]",
    b"{}",
    b'{"content": "A"}',
    b'{"content": [null]}',
    b'{"content": [{"type": "text"}]}',
    b'{"content": [{"type": "text", "text": 1}]}',
    b'{"type": "error", "error": {"type": "api_error", "message": "upstream"}}',
]


@pytest.mark.parametrize("body", NO_REPLY)
def test_a_body_at_200_that_is_no_reply_is_no_answer(recorder: Recorder, body: bytes) -> None:
    recorder.replies = [Said(body)]
    provider = make(recorder.url)
    exchange = send(provider)
    with pytest.raises(TransientError, match="no message: ") as caught:
        provider.read(exchange.raw)
    assert caught.value.maybe_billed


# --- limits --------------------------------------------------------------------------------------


def test_limits_of_requests_and_of_input_are_learnt() -> None:
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2026-11-01T00:00:01Z",
        "anthropic-ratelimit-input-tokens-limit": "30000",
        "anthropic-ratelimit-input-tokens-remaining": "1000",
        "anthropic-ratelimit-output-tokens-limit": "8000",
        "anthropic-ratelimit-output-tokens-remaining": "8000",
        "anthropic-ratelimit-tokens-limit": "8000",
        "retry-after": "7",
    }
    learnable = limit_headers(headers)
    assert {name: learnable[name] for name in headers} == headers
    assert {name: value for name, value in learnable.items() if name not in headers} == {
        "x-ratelimit-limit-requests": "50",
        "x-ratelimit-remaining-requests": "49",
        "x-ratelimit-limit-tokens": "30000",
        "x-ratelimit-remaining-tokens": "1000",
    }


def test_a_learnt_limit_holds_calls_back() -> None:
    async def session() -> float:
        now = 0.0

        async def sleep(seconds: float) -> None:
            nonlocal now
            now += seconds

        limits = Limits(
            ceiling=4,
            requests_per_minute=None,
            tokens_per_minute=None,
            clock=lambda: now,
            sleep=sleep,
        )
        await limits.acquire(10)
        headers = {"limit": "60", "remaining": "0"}
        named = {f"anthropic-ratelimit-requests-{part}": n for part, n in headers.items()}
        limits.release(error=None, headers=limit_headers(named))
        await limits.acquire(10)
        return now

    assert asyncio.run(session()) == pytest.approx(1.0)


# --- errors --------------------------------------------------------------------------------------


def error(status: int, kind: str, message: str = "no", **details: Any) -> Said:
    body = {"type": kind, "message": message, **({"details": details} if details else {})}
    return Said({"type": "error", "error": body, "request_id": "req_1"}, status)


@pytest.mark.parametrize(
    ("said", "wait", "throttled"),
    [
        (error(429, "rate_limit_error")._replace(headers={"retry-after": "7"}), 7.0, True),
        (
            error(429, "rate_limit_error", error_code="ramp_limit_exceeded")._replace(
                headers={"retry-after": "30"}
            ),
            30.0,
            True,
        ),
        (error(529, "overloaded_error", "Overloaded"), None, True),
        (error(500, "api_error"), None, False),
        (error(504, "timeout_error"), None, False),
        (Said(b"<html>502</html>", 502), None, False),
        (error(409, "conflict_error"), None, False),
    ],
)
def test_errors_that_may_pass(
    recorder: Recorder, said: Said, wait: float | None, throttled: bool
) -> None:
    recorder.replies = [said]
    with pytest.raises(TransientError, match=f"^HTTP {said.status}: ") as caught:
        send(make(recorder.url))
    assert (caught.value.retry_after_s, caught.value.is_throttled) == (wait, throttled)


LOW = "Your credit balance is too low to access the Anthropic API."
USED_UP = "You have reached your specified API usage limits. You will regain access on 2026-12-01."


@pytest.mark.parametrize(
    ("said", "way_out"),
    [
        (error(400, "invalid_request_error", LOW), "add credit"),
        (error(400, "invalid_request_error", USED_UP), "raise its spending limit"),
        (error(402, "billing_error"), "add credit"),
        (
            error(429, "rate_limit_error", error_code="enforced_spend_limit_reached"),
            "raise its spending limit",
        ),
        (error(401, "authentication_error"), "models.*.api_key_env"),
        (error(403, "permission_error"), "models.*.api_key_env"),
        (error(404, "not_found_error", f"model: {KEY}"), "the model may be retired"),
    ],
)
def test_what_only_the_user_can_mend_is_a_study_error(
    recorder: Recorder, said: Said, way_out: str
) -> None:
    recorder.replies = [said]
    with pytest.raises(StudyError) as caught:
        send(make(recorder.url))
    assert way_out in str(caught.value)
    assert str(caught.value).startswith(f"{recorder.url}/v1/messages")
    assert KEY not in str(caught.value)


TOO_LONG = "; the prompt is too long for the model: lower conditions.*.token_budget"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (error(400, "invalid_request_error", "bad"), "HTTP 400: bad"),
        (
            error(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            f"HTTP 400: prompt is too long: 9 tokens > 8 maximum{TOO_LONG}",
        ),
        (error(413, "request_too_large", "too large"), f"HTTP 413: too large{TOO_LONG}"),
        (Said(b"", 400), "HTTP 400: an empty body"),
        (
            error(400, "invalid_request_error", f"you sent {KEY}"),
            "HTTP 400: you sent ***masked***",
        ),
    ],
)
def test_a_refused_call_is_refused_alone(recorder: Recorder, said: Said, message: str) -> None:
    recorder.replies = [said]
    with pytest.raises(RejectedError) as caught:
        send(make(recorder.url))
    assert str(caught.value) == message


BLOCKED = "Output blocked by content filtering policy"


def test_an_answer_that_the_filter_withheld_is_an_outcome(recorder: Recorder) -> None:
    recorder.replies = [error(400, "invalid_request_error", BLOCKED)]
    provider = make(recorder.url)
    answer = provider.read(send(provider).raw)
    assert (answer.outcome, answer.text, answer.usage) == ("filtered", None, Usage())
    assert answer.finish_reason == "content_filter"


@pytest.mark.parametrize("status", [429, 500, 529])
def test_the_filter_s_sentence_in_another_error_may_pass(recorder: Recorder, status: int) -> None:
    recorder.replies = [error(status, "api_error", BLOCKED)]
    with pytest.raises(TransientError):
        send(make(recorder.url))
