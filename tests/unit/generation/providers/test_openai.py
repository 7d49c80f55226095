"""Chat Completions' replies: each is read or refused, and errors name a way out."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from provider_cases import KEY, Recorder, Said, make_openai, wire_of

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import (
    Exchange,
    RejectedError,
    TransientError,
    Usage,
)
from fieldwork.generation.providers.openai import OpenAI
from servers.provider import Chat, Fault, http_error, no_credit, serve_chat


@pytest.fixture
def chat() -> Iterator[Chat]:
    with serve_chat() as server:
        yield server


def send(provider: OpenAI) -> list[Exchange]:
    async def session() -> list[Exchange]:
        try:
            return [await provider.send(wire_of(provider).body())]
        finally:
            await provider.close()

    return asyncio.run(session())


# --- what comes back -----------------------------------------------------------------------------


def test_an_exchange_holds_the_bytes_and_the_times(chat: Chat) -> None:
    chat.faults.append(Fault(wait_s=0.05))
    began = datetime.now(UTC)
    (exchange,) = send(make_openai(chat.base_url))
    assert exchange.started_at is not None
    assert began <= exchange.started_at <= datetime.now(UTC)
    assert exchange.latency_s is not None
    assert 0.05 <= exchange.latency_s < 5
    assert json.loads(exchange.raw)["choices"][0]["message"]["content"] == "answer 1"


@pytest.mark.parametrize(
    ("fault", "outcome", "text"),
    [
        (Fault(), "ok", "answer 1"),
        (Fault(choice={"finish_reason": "length"}), "truncated", "answer 1"),
        (Fault(choice={"finish_reason": "length"}, message={"content": ""}), "truncated", ""),
        (Fault(choice={"finish_reason": "content_filter"}), "filtered", "answer 1"),
        (
            Fault(choice={"finish_reason": "content_filter"}, message={"content": None}),
            "filtered",
            None,
        ),
        (Fault(message={"content": None, "refusal": "No."}), "refused", None),
        (Fault(message={"content": None}), "empty", None),
        (Fault(message={"content": " \n"}), "empty", " \n"),
        (Fault(choice={"finish_reason": None}), "ok", "answer 1"),
        (Fault(message={"content": "cut \ud83d"}), "ok", "cut \ufffd"),
    ],
)
def test_outcomes(chat: Chat, fault: Fault, outcome: str, text: str | None) -> None:
    chat.faults.append(fault)
    provider = make_openai(chat.base_url)
    (exchange,) = send(provider)
    reply = provider.read(exchange.raw)
    assert (reply.outcome, reply.text) == (outcome, text)
    assert reply.finish_reason == fault.choice.get(
        "finish_reason", "stop" if not fault.choice else None
    )


COUNTED = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 12},
}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (COUNTED, Usage(input=100, cache_read=64, cache_write=8, output=20, reasoning=12)),
        ({"prompt_tokens": 9, "completion_tokens": 1}, Usage(input=9, output=1)),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None},
            Usage(input=9, output=2),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 1,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
            Usage(input=9, cache_read=0, output=1),
        ),
        (None, Usage()),
    ],
)
def test_usage(chat: Chat, usage: Any, expected: Usage) -> None:
    chat.faults.append(
        Fault(reply={"usage": usage, "model": "gpt-test-0613", "service_tier": "flex"})
    )
    provider = make_openai(chat.base_url)
    reply = provider.read(send(provider)[0].raw)
    assert reply.usage == expected
    assert (reply.returned_model, reply.fingerprint) == ("gpt-test-0613", "fp_loopback")
    assert reply.service_tier == "flex"


# --- faults --------------------------------------------------------------------------------------

NO_COMPLETION = [
    b"",
    b"<html>Bad gateway</html>",
    b'{"choices": [{"mess',
    b"\xff\xfe",
    b"null",
    b"[]",
    b"{}",
    b'{"choices": []}',
    b'{"choices": null}',
    b'{"choices": [null]}',
    b'{"choices": [{}]}',
    b'{"choices": [{"message": null}]}',
    b'{"choices": [{"message": "text"}]}',
    b'{"choices": [{"message": {"content": ["part"]}}]}',
    b'{"error": {"message": "upstream timed out"}}',
]


@pytest.mark.parametrize("body", NO_COMPLETION)
def test_a_body_at_200_that_is_no_completion_is_no_answer(chat: Chat, body: bytes) -> None:
    chat.faults.append(Fault(body=body))
    provider = make_openai(chat.base_url)
    (exchange,) = send(provider)
    with pytest.raises(TransientError, match="no chat completion") as caught:
        provider.read(exchange.raw)
    assert caught.value.maybe_billed


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"id": "x1", "choices": []}', "its choices are empty"),
        (b'{"id": "x2", "error": null}', "it has no 'choices'"),
        (
            b'{"id": "x3", "choices": [{"message": {"content": 7}}]}',
            "content is of type int, not text",
        ),
        (b'{"id": "x4", "error": {"message": "upstream timed out"}}', "upstream timed out"),
    ],
)
def test_what_fails_alike_is_told_alike(chat: Chat, body: bytes, said: str) -> None:
    chat.faults.append(Fault(body=body))
    provider = make_openai(chat.base_url)
    (exchange,) = send(provider)
    with pytest.raises(TransientError, match=said) as caught:
        provider.read(exchange.raw)
    assert '"id"' not in str(caught.value)


def test_text_in_parts_is_read() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "A."}]
    parts.append({"type": "text", "text": " So B."})
    body = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    reply = make_openai("http://127.0.0.1:1/v1").read(json.dumps(body).encode())
    assert (reply.text, reply.outcome) == ("A. So B.", "ok")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 520, 529])
def test_statuses_that_may_pass(chat: Chat, status: int) -> None:
    chat.faults.append(http_error(status, message="try again"))
    with pytest.raises(TransientError, match=f"^HTTP {status}: try again$") as caught:
        send(make_openai(chat.base_url))
    assert caught.value.retry_after_s is None
    assert caught.value.is_throttled == (status in (429, 503, 529))
    assert caught.value.maybe_billed == (status == 504)


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        ("0", 0, 0),
        ("7", 7, 7),
        ("1.5", 1.5, 1.5),
        ("in a minute", 30, 60),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("-3", 0, 0),
    ],
)
def test_retry_after(chat: Chat, header: str, low: float, high: float) -> None:
    if header == "in a minute":
        header = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    chat.faults.append(http_error(429, retry_after=header))
    with pytest.raises(TransientError) as caught:
        send(make_openai(chat.base_url))
    assert caught.value.retry_after_s is not None
    assert low <= caught.value.retry_after_s <= high


@pytest.mark.parametrize(
    "header", ["soon", "nan", "inf", "", "Wed, 99 Foo", f"Fri, 31 Dec {9 * 10**19} 23:59:59 GMT"]
)
def test_a_retry_after_that_says_nothing(chat: Chat, header: str) -> None:
    chat.faults.append(http_error(503, retry_after=header))
    with pytest.raises(TransientError) as caught:
        send(make_openai(chat.base_url))
    assert caught.value.retry_after_s is None


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (http_error(400, message="too long"), "HTTP 400: too long"),
        (Fault(status=422, body=b"<p>no\n\nJSON</p>"), "HTTP 422: <p>no JSON</p>"),
        (Fault(status=400, body=b""), "HTTP 400: an empty body"),
        (Fault(status=400, body=b'{"error": "text"}'), "HTTP 400: text"),
        (Fault(status=400, body=b'{"error": 7}'), 'HTTP 400: {"error": 7}'),
        (Fault(status=400, body=b'{"message": {"detail": "odd"}}'), "HTTP 400: odd"),
        (Fault(status=400, body=b'{"detail": [7, {"loc": 3, "msg": "odd"}]}'), "HTTP 400: odd"),
        (Fault(status=400, body=b"x" * 5000), "HTTP 400: " + "x" * 120),
    ],
)
def test_a_refused_call_is_refused_alone(chat: Chat, fault: Fault, said: str) -> None:
    chat.faults.append(fault)
    with pytest.raises(RejectedError) as caught:
        send(make_openai(chat.base_url))
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("fault", "way_out"),
    [
        (http_error(401, message=f"Incorrect API key provided: {KEY}"), "models.*.api_key_env"),
        (http_error(403, message="not in your country"), "models.*.api_key_env"),
        (Fault(status=401, body=f"bad key {KEY}".encode()), "models.*.api_key_env"),
        (http_error(404, message="no such model"), "models.*.model"),
        (http_error(402, message="pay first"), "add credit"),
        (no_credit(), "add credit"),
    ],
)
def test_what_only_the_user_can_mend_is_a_study_error(
    chat: Chat, fault: Fault, way_out: str
) -> None:
    chat.faults.append(fault)
    with pytest.raises(StudyError) as caught:
        send(make_openai(chat.base_url))
    said = str(caught.value)
    assert way_out in said
    assert said.startswith(f"{chat.base_url}/chat/completions: HTTP {fault.status}: ")
    assert KEY not in said
    assert "\n" not in said


@pytest.mark.parametrize("status", [200, 400, 500])
def test_no_error_repeats_the_key(chat: Chat, status: int) -> None:
    provider = make_openai(chat.base_url)

    def read() -> None:
        provider.read(send(provider)[0].raw)

    chat.faults.append(http_error(status, message=f"you sent {KEY}"))
    with pytest.raises((TransientError, RejectedError), match=r"you sent \*\*\*masked"):
        read()
    chat.faults.append(Fault(status=status, body=b"x" * 110 + KEY.encode()))
    with pytest.raises((TransientError, RejectedError), match=r"xxx\*\*\*"):
        read()


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after-ms": "250"}, 0.25),
        ({"Retry-After-Ms": "250", "Retry-After": "9"}, 0.25),
        ({"retry-after-ms": "soon", "Retry-After": "9"}, 9.0),
        ({"retry-after-ms": "-1"}, 0.0),
    ],
)
def test_milliseconds_win(recorder: Recorder, headers: dict[str, str], wait: float) -> None:
    recorder.replies = [Said(b"{}", 429, headers)]
    with pytest.raises(TransientError) as caught:
        send(make_openai(recorder.url))
    assert caught.value.retry_after_s == wait


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "x", "code": "context_length_exceeded"}, 400),
        ({"message": "x", "type": "exceed_context_size_error"}, 400),
        ({"message": "This model's maximum context length is 8192 tokens."}, 400),
        ({"message": "the context window is 8192 tokens"}, 422),
        ({"message": "too large"}, 413),
    ],
)
def test_a_prompt_beyond_the_window_is_told_so(
    recorder: Recorder, error: dict[str, Any], status: int
) -> None:
    recorder.replies = [Said({"error": error}, status)]
    with pytest.raises(RejectedError, match=r"too long for the model.*token_budget"):
        send(make_openai(recorder.url))


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "x", "type": "insufficient_quota"}, 429),
        ({"message": "x", "code": "billing_hard_limit_reached"}, 400),
    ],
)
def test_an_empty_account_by_any_name(
    recorder: Recorder, error: dict[str, Any], status: int
) -> None:
    recorder.replies = [Said({"error": error}, status)]
    with pytest.raises(StudyError, match="add credit"):
        send(make_openai(recorder.url))


# as OpenAI and Azure word it, and with the code that throttled calls have too
ABOVE_THE_LIMIT = (
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested "
    "36278. The input or output tokens must be reduced in order to run successfully."
)


@pytest.mark.parametrize(
    "message",
    [
        ABOVE_THE_LIMIT,
        "Limit 30000. The input must be reduced in order to run successfully.",
        "request too large for this account",
    ],
)
def test_a_call_above_the_tokens_of_a_minute_is_refused_alone(
    recorder: Recorder, message: str
) -> None:
    error = {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}
    recorder.replies = [Said({"error": error}, 429)]
    with pytest.raises(RejectedError, match=r"lower conditions\.\*\.token_budget"):
        send(make_openai(recorder.url))


def test_a_call_that_would_fit_a_minute_is_throttled(recorder: Recorder) -> None:
    message = "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000."
    error = {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}
    recorder.replies = [Said({"error": error}, 429)]
    with pytest.raises(TransientError) as caught:
        send(make_openai(recorder.url))
    assert caught.value.is_throttled


FILTERED = [
    {"message": "filtered", "code": "content_filter", "param": "prompt"},
    {"message": "filtered", "code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}},
    {"message": "x", "code": "content_policy_violation"},
    {"message": "Your prompt was flagged as potentially violating", "code": "invalid_prompt"},
]


@pytest.mark.parametrize("error", FILTERED)
@pytest.mark.parametrize("status", [400, 403])
def test_a_filter_in_front_of_the_model_is_an_outcome(
    recorder: Recorder, error: dict[str, Any], status: int
) -> None:
    recorder.replies = [Said({"error": error}, status)]
    provider = make_openai(recorder.url)
    (exchange,) = send(provider)
    reply = provider.read(exchange.raw)
    assert (reply.outcome, reply.text, reply.usage) == ("filtered", None, Usage())
    assert reply.finish_reason == "content_filter"


def test_an_invalid_prompt_that_is_not_flagged_is_refused(recorder: Recorder) -> None:
    recorder.replies = [Said({"error": {"message": "bad role", "code": "invalid_prompt"}}, 400)]
    with pytest.raises(RejectedError, match="bad role"):
        send(make_openai(recorder.url))


@pytest.mark.parametrize(
    ("headers", "request_id"),
    [
        ({"X-Request-Id": "req_1"}, "req_1"),
        ({"apim-request-id": "a-1"}, "a-1"),
        ({}, None),
    ],
)
def test_the_calls_name_and_the_limits_are_kept(
    recorder: Recorder, headers: dict[str, str], request_id: str | None
) -> None:
    limits = {"X-RateLimit-Remaining-Requests": "59", "Set-Cookie": "secret"}
    body = {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}
    recorder.replies = [Said(body, headers={**headers, **limits})]
    (exchange,) = send(make_openai(recorder.url))
    assert exchange.request_id == request_id
    assert exchange.headers["x-ratelimit-remaining-requests"] == "59"
    assert "set-cookie" not in exchange.headers
