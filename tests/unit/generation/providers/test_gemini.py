"""Gemini's replies: every reason is an outcome, every error a way out, and nothing unread an answer."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from google.genai import types
from provider_cases import KEY, Recorder, Said, wire_of

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import Exchange, RejectedError, TransientError, Usage
from fieldwork.generation.providers.gemini import Gemini, GeminiSettings
from fieldwork.generation.providers.gemini_outcomes import (
    ACCOUNT_STOPPED,
    FILTER_REASONS,
    LIMIT_REASONS,
)

ENDED = frozenset(
    {
        "FINISH_REASON_UNSPECIFIED",
        "STOP",
        # the model tried what nobody offered it: tools, pictures; what it wrote besides is its answer
        "NO_IMAGE",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE",
    }
)
FINISH_REASONS = {
    **dict.fromkeys(LIMIT_REASONS, "truncated"),
    **dict.fromkeys(FILTER_REASONS, "filtered"),
    **dict.fromkeys(ENDED, "ended"),
}
BLOCK_REASONS = frozenset(
    {
        "BLOCKED_REASON_UNSPECIFIED",
        "SAFETY",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
        "JAILBREAK",
    }
)


def make(base_url: str = "http://127.0.0.1:9", **changes: Any) -> Gemini:
    return Gemini(
        replace(GeminiSettings(model="gemini-x", base_url=base_url, api_key=KEY), **changes)
    )


def send(provider: Gemini) -> Exchange:
    async def session() -> Exchange:
        try:
            return await provider.send(wire_of(provider).body())
        finally:
            await provider.close()

    return asyncio.run(session())


def reply(text: str | None = "A", finish: str | None = "STOP", **fields: Any) -> bytes:
    candidate: dict[str, Any] = {"index": 0}
    if text is not None:
        candidate["content"] = {"role": "model", "parts": [{"text": text}]}
    if finish is not None:
        candidate["finishReason"] = finish
    return json.dumps({"candidates": [candidate], **fields}).encode()


# --- what comes back -----------------------------------------------------------------------------


def test_the_tables_hold_every_reason_the_sdk_knows() -> None:
    assert set(FINISH_REASONS) == {reason.value for reason in types.FinishReason}
    assert {reason.value for reason in types.BlockedReason} == BLOCK_REASONS
    assert set(FINISH_REASONS) > ACCOUNT_STOPPED


@pytest.mark.parametrize("finish", sorted(set(FINISH_REASONS) - ACCOUNT_STOPPED))
def test_finish_reasons(finish: str) -> None:
    meaning = FINISH_REASONS[finish]
    with_text, without = make().read(reply("A", finish)), make().read(reply(None, finish))
    assert with_text.outcome == ("ok" if meaning == "ended" else meaning)
    assert without.outcome == ("empty" if meaning == "ended" else meaning)
    assert (with_text.text, without.text) == ("A", None)
    assert with_text.finish_reason == finish


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [
        ("STOP", "ok"),
        ("MAX_TOKENS", "truncated"),
        ("SAFETY", "filtered"),
        ("RECITATION", "filtered"),
        ("SPII", "filtered"),
        ("BLOCKLIST", "filtered"),
        ("PROHIBITED_CONTENT", "filtered"),
        ("SOMETHING_NEW", "ok"),
        (None, "ok"),
    ],
)
def test_outcomes_that_matter_most(finish: str | None, outcome: str) -> None:
    assert make().read(reply("A", finish)).outcome == outcome


@pytest.mark.parametrize("reason", [*sorted(BLOCK_REASONS), "SOMETHING_NEW"])
def test_a_blocked_prompt_is_filtered(reason: str) -> None:
    raw = json.dumps({"promptFeedback": {"blockReason": reason}, "modelVersion": "gemini-x"})
    read = make().read(raw.encode())
    assert (read.outcome, read.finish_reason, read.text) == ("filtered", reason, None)
    assert read.returned_model == "gemini-x"


def test_a_limited_account_is_no_outcome() -> None:
    with pytest.raises(StudyError, match="limited or disabled"):
        make().read(reply("A", "PUP_LIMITED_DISABLED"))


@pytest.mark.parametrize(
    ("parts", "text", "outcome"),
    [
        ([{"text": "a"}, {"text": "b"}], "ab", "ok"),
        ([{"text": "hm", "thought": True}, {"text": "b"}], "b", "ok"),
        ([{"text": "hm", "thought": True}], None, "empty"),
        ([{"functionCall": {"name": "f"}}], None, "empty"),
        ([{"text": " \n"}], " \n", "empty"),
        ([{"text": ""}], "", "empty"),
        ([], None, "empty"),
        (None, None, "empty"),
    ],
)
def test_the_text_is_the_parts_without_thoughts(parts: Any, text: str | None, outcome: str) -> None:
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}
    read = make().read(json.dumps({"candidates": [candidate]}).encode())
    assert (read.text, read.outcome) == (text, outcome)


def test_half_an_emoji() -> None:
    assert make().read(reply("cut \ud83d")).text == "cut \ufffd"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 64,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 7,
                "totalTokenCount": 112,
            },
            Usage(input=100, cache_read=64, output=12, reasoning=7),
        ),
        (
            {"promptTokenCount": 9, "candidatesTokenCount": 2},
            Usage(input=9, cache_read=0, output=2, reasoning=0),
        ),
        ({"promptTokenCount": 9}, Usage()),
        ({}, Usage()),
        (None, Usage()),
    ],
)
def test_usage(usage: Any, expected: Usage) -> None:
    assert make().read(reply(usageMetadata=usage)).usage == expected


def test_the_version_is_the_returned_model(recorder: Recorder) -> None:
    fields: dict[str, Any] = {
        "modelVersion": "gemini-x-001",
        "responseId": "r1",
        "usageMetadata": {"trafficType": "ON_DEMAND"},
    }
    recorder.replies = [Said(reply(**fields), headers={"X-RateLimit-Remaining": "3"})]
    provider = make(recorder.url)
    exchange = send(provider)
    read = provider.read(exchange.raw)
    assert (read.returned_model, read.fingerprint) == ("gemini-x-001", "gemini-x-001")
    assert read.service_tier == "ON_DEMAND"
    assert (exchange.request_id, read.request_id) == (None, "r1")
    assert exchange.headers == {"x-ratelimit-remaining": "3"}
    assert exchange.started_at is not None
    assert provider.is_asked_for("gemini-x-001")
    assert provider.is_asked_for("models/gemini-x")
    assert not provider.is_asked_for("gemini-y")
    assert make(accept_models=("gemini-y",)).is_asked_for("gemini-y")


NO_REPLY = [
    b"",
    b"<html>Bad gateway</html>",
    b'{"candidates": [{"cont',
    b"\xff\xfe",
    b"null",
    b"[]",
    b"{}",
    b'{"candidates": []}',
    b'{"candidates": [null]}',
    b'{"candidates": [{"content": {"parts": [{"text": 1}]}}]}',
    b'{"candidates": [{"content": "x"}]}',
    b'{"promptFeedback": {}}',
    b'{"error": {"message": "upstream timed out"}}',
]


@pytest.mark.parametrize("body", NO_REPLY)
def test_a_body_at_200_that_is_no_reply_is_no_answer(recorder: Recorder, body: bytes) -> None:
    recorder.replies = [Said(body)]
    provider = make(recorder.url)
    exchange = send(provider)
    with pytest.raises(TransientError, match="no generated content") as caught:
        provider.read(exchange.raw)
    assert caught.value.maybe_billed


# --- errors --------------------------------------------------------------------------------------

TYPE = "type.googleapis.com/google.rpc."


def error(code: int, status: str, message: str = "no", *details: dict[str, Any]) -> Said:
    said = {"code": code, "message": message, "status": status, "details": list(details)}
    return Said({"error": said}, code)


def retry_info(delay: str) -> dict[str, Any]:
    return {"@type": TYPE + "RetryInfo", "retryDelay": delay}


def quota(quota_id: str) -> dict[str, Any]:
    return {"@type": TYPE + "QuotaFailure", "violations": [{"quotaId": quota_id}]}


PER_MINUTE = quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")
PER_DAY = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")


@pytest.mark.parametrize(
    ("said", "wait", "throttled"),
    [
        (error(429, "RESOURCE_EXHAUSTED", "no", PER_MINUTE, retry_info("7s")), 7.0, True),
        (error(429, "RESOURCE_EXHAUSTED", "no", retry_info("0.25s")), 0.25, True),
        (error(429, "RESOURCE_EXHAUSTED", "no", retry_info("soon")), None, True),
        (error(429, "RESOURCE_EXHAUSTED")._replace(headers={"Retry-After": "3"}), 3.0, True),
        (error(503, "UNAVAILABLE", "overloaded"), None, True),
        (error(500, "INTERNAL"), None, False),
        (error(504, "DEADLINE_EXCEEDED"), None, False),
        (Said(b"<html>502</html>", 502), None, False),
        (error(499, "CANCELLED"), None, False),
    ],
)
def test_errors_that_may_pass(
    recorder: Recorder, said: Said, wait: float | None, throttled: bool
) -> None:
    recorder.replies = [said]
    with pytest.raises(TransientError, match=f"^HTTP {said.status}: ") as caught:
        send(make(recorder.url))
    assert (caught.value.retry_after_s, caught.value.is_throttled) == (wait, throttled)


@pytest.mark.parametrize(
    ("said", "way_out"),
    [
        (
            error(429, "RESOURCE_EXHAUSTED", "no", PER_DAY, retry_info("7s")),
            "quota GenerateRequestsPerDay",
        ),
        (
            error(400, "INVALID_ARGUMENT", "no", {"reason": "API_KEY_INVALID"}),
            "models.*.api_key_env",
        ),
        (error(401, "UNAUTHENTICATED"), "models.*.api_key_env"),
        (error(403, "PERMISSION_DENIED"), "models.*.api_key_env"),
        (
            error(404, "NOT_FOUND", f"no model for {KEY}"),
            "models.*.model: the model may be retired",
        ),
        (error(400, "FAILED_PRECONDITION", "not in your country"), "enable billing"),
        (error(402, "X"), "add credit"),
    ],
)
def test_what_only_the_user_can_mend_is_a_study_error(
    recorder: Recorder, said: Said, way_out: str
) -> None:
    recorder.replies = [said]
    with pytest.raises(StudyError) as caught:
        send(make(recorder.url))
    assert way_out in str(caught.value)
    assert str(caught.value).startswith(f"{recorder.url}/v1beta/models/gemini-x:generateContent: ")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (error(400, "INVALID_ARGUMENT", "bad"), "HTTP 400: bad"),
        (Said([error(400, "INVALID_ARGUMENT", "in a list").body], 400), "HTTP 400: in a list"),
        (Said(b"", 400), "HTTP 400: an empty body"),
        (Said(b"x" * 5000, 413), "HTTP 413: " + "x" * 120),
        (
            error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            ),
            "HTTP 400: The input token count (9) exceeds the maximum number of tokens allowed (8).; "
            "the prompt is too long for the model: lower conditions.*.token_budget",
        ),
        (error(400, "X", f"you sent {KEY}"), "HTTP 400: you sent ***masked***"),
    ],
)
def test_a_refused_call_is_refused_alone(recorder: Recorder, said: Said, message: str) -> None:
    recorder.replies = [said]
    with pytest.raises(RejectedError) as caught:
        send(make(recorder.url))
    assert str(caught.value) == message
