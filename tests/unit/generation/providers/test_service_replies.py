"""The replies of the three services: each is read or refused, and every error names a way out.

What all providers do alike is in test_provider_contract.py; here is what each service says.
"""

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from anthropic.types import Message as SdkMessage
from anthropic.types import StopReason
from anthropic.types.shared import ErrorType
from google.genai import types
from provider_cases import KEY, Recorder, Said, make_anthropic, make_gemini, make_openai, send

from fieldwork.errors import StudyError
from fieldwork.generation.providers import anthropic as claude
from fieldwork.generation.providers import gemini_outcomes as google
from fieldwork.generation.providers.anthropic import limit_headers
from fieldwork.generation.providers.anthropic_errors import HTTP_STATUS
from fieldwork.generation.providers.base import Provider, RejectedError, TransientError, Usage

MAKERS: dict[str, Any] = {"openai": make_openai, "anthropic": make_anthropic, "gemini": make_gemini}
PATHS = {
    "openai": "/chat/completions: ",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/gemini-x:generateContent: ",
}
Body = dict[str, Any]


def read(api: str, body: Any) -> Any:
    return MAKERS[api]().read(body if isinstance(body, bytes) else json.dumps(body).encode())


def completion(content: Any = "A", finish: str | None = "stop", **message: Any) -> Body:
    message = {"role": "assistant", "content": content, **message}
    return {"choices": [{"message": message, "finish_reason": finish}]}


def message(*blocks: Any, stop: str | None = "end_turn", **fields: Any) -> Body:
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x"}
    usage = {"input_tokens": 3, "output_tokens": 1}
    return {**body, "content": list(blocks), "stop_reason": stop, "usage": usage, **fields}


def candidate(parts: Any = None, finish: str | None = "STOP", **fields: Any) -> Body:
    one = {} if parts is None else {"content": {"role": "model", "parts": parts}}
    return {"candidates": [one | ({} if finish is None else {"finishReason": finish})], **fields}


# --- outcomes -----------------------------------------------------------------------------------------

TEXT, A = {"type": "text", "text": "A"}, {"text": "A"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
HALF = "cut \ud83d"
OUTCOMES: list[tuple[str, Body, str, str | None]] = [
    ("openai", completion(finish="length"), "truncated", "A"),
    ("openai", completion(None, "content_filter"), "filtered", None),
    ("openai", completion(None, refusal="No."), "refused", None),
    ("openai", completion(HALF), "ok", "cut \ufffd"),
    ("openai", completion([THOUGHT, TEXT, {"type": "text", "text": " So B."}]), "ok", "A So B."),
    ("anthropic", message(TEXT, {"type": "text", "text": "b"}), "ok", "Ab"),
    ("anthropic", message(THOUGHT, TEXT), "ok", "A"),
    ("anthropic", message(THOUGHT), "empty", None),
    ("gemini", candidate([{"text": "a"}, {"text": "b"}]), "ok", "ab"),
    ("gemini", candidate([{"text": "hm", "thought": True}, {"text": "b"}]), "ok", "b"),
    ("gemini", candidate([{"functionCall": {"name": "f"}}]), "empty", None),
]


@pytest.mark.parametrize(("api", "body", "outcome", "text"), OUTCOMES)
def test_outcomes(api: str, body: Body, outcome: str, text: str | None) -> None:
    reply = read(api, body)
    assert (reply.outcome, reply.text) == (outcome, text)
    if api == "openai":
        assert reply.finish_reason == body["choices"][0]["finish_reason"]


# what nobody offers the model, tools and pictures, it may try; what it wrote besides is its answer
REASONS = {
    "anthropic": {
        **dict.fromkeys(["end_turn", "stop_sequence", "tool_use"], "ended"),
        **dict.fromkeys(["max_tokens", "model_context_window_exceeded", "pause_turn"], "truncated"),
        "refusal": "refused",
    },
    "gemini": {
        **dict.fromkeys(["FINISH_REASON_UNSPECIFIED", "STOP", "NO_IMAGE"], "ended"),
        **dict.fromkeys(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"], "ended"),
        **dict.fromkeys(["TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"], "ended"),
        "MALFORMED_RESPONSE": "ended",
        **dict.fromkeys(google.LIMIT_REASONS, "truncated"),
        **dict.fromkeys(google.FILTER_REASONS, "filtered"),
    },
}
BLOCK_REASONS = ["BLOCKED_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT"]
BLOCK_REASONS += ["IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK"]


def test_the_tables_hold_every_reason_the_sdks_know() -> None:
    assert set(get_args(StopReason)) == set(REASONS["anthropic"])
    assert set(REASONS["anthropic"]) > claude.LIMIT_REASONS | claude.REFUSAL_REASONS
    assert {reason.value for reason in types.FinishReason} == set(REASONS["gemini"])
    assert {"MAX_TOKENS"} <= google.LIMIT_REASONS
    matter = {"SAFETY", "RECITATION", "SPII", "BLOCKLIST", "PROHIBITED_CONTENT"}
    assert matter <= google.FILTER_REASONS
    assert {reason.value for reason in types.BlockedReason} == set(BLOCK_REASONS)
    assert set(REASONS["gemini"]) > google.ACCOUNT_STOPPED
    # those of managed memories concern nobody here, and that of large requests comes from the gateway
    known = {kind for kind in get_args(ErrorType) if not kind.startswith("memory_")}
    assert set(HTTP_STATUS) == known | {"request_too_large"}


@pytest.mark.parametrize("api", REASONS)
def test_every_reason_to_stop_is_an_outcome(api: str) -> None:
    for reason, meaning in {**REASONS[api], "SOMETHING_NEW": "ended", None: "ended"}.items():
        if reason in google.ACCOUNT_STOPPED:
            with pytest.raises(StudyError, match="limited or disabled"):
                read(api, candidate([A], reason))
            continue
        if api == "gemini":
            replies = [read(api, candidate(parts, reason)) for parts in ([A], None)]
        else:
            replies = [read(api, message(*blocks, stop=reason)) for blocks in ([TEXT], [])]
        outcomes = [(reply.outcome, reply.text, reply.finish_reason) for reply in replies]
        names = ("ok", "empty") if meaning == "ended" else (meaning, meaning)
        assert outcomes == [(names[0], "A", reason), (names[1], None, reason)]


def test_a_blocked_prompt_is_filtered() -> None:
    for reason in [*BLOCK_REASONS, "SOMETHING_NEW"]:
        reply = read("gemini", {"promptFeedback": {"blockReason": reason}, "modelVersion": "g"})
        assert (reply.outcome, reply.finish_reason, reply.text) == ("filtered", reason, None)
        assert reply.returned_model == "g"


# --- tokens and names ---------------------------------------------------------------------------------

NESTED = {
    "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 12},
}
CLAUDES = {"input_tokens": 20, "cache_read_input_tokens": 4096, "cache_creation_input_tokens": 1000}
CLAUDES |= {"output_tokens": 12}
THOUGHTS = {"output_tokens_details": {"thinking_tokens": 7}}
GOOGLES = {"promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 5}
GOOGLES |= {"thoughtsTokenCount": 7, "totalTokenCount": 112}
UNCACHED = {"input_tokens": 9, "cache_read_input_tokens": None, "output_tokens": 2}
ZERO = {"prompt_tokens_details": {"cached_tokens": 0}}
USAGE: list[tuple[str, Any, Usage]] = [
    (
        "openai",
        {"prompt_tokens": 100, "completion_tokens": 20, **NESTED},
        Usage(input=100, cache_read=64, cache_write=8, output=20, reasoning=12),
    ),
    ("openai", {"prompt_tokens": 9, "completion_tokens": 1, **ZERO}, Usage(9, 0, output=1)),
    ("anthropic", CLAUDES | THOUGHTS, Usage(5116, 4096, 1000, output=12, reasoning=7)),
    ("anthropic", UNCACHED, Usage(input=9, cache_read=0, cache_write=0, output=2)),
    ("gemini", GOOGLES, Usage(input=100, cache_read=64, output=12, reasoning=7)),
    (
        "gemini",
        {"promptTokenCount": 9, "candidatesTokenCount": 2},
        Usage(input=9, cache_read=0, output=2, reasoning=0),
    ),
    ("gemini", {"promptTokenCount": 9}, Usage()),
]


@pytest.mark.parametrize(("api", "counts", "expected"), USAGE)
def test_usage(api: str, counts: Any, expected: Usage) -> None:
    bodies = {
        "openai": completion() | {"usage": counts, "model": "gpt-test"},
        "anthropic": message(TEXT, usage=counts),
        "gemini": candidate([A], usageMetadata=counts, modelVersion="gemini-x"),
    }
    reply = read(api, bodies[api])
    assert reply.usage == expected
    assert reply.defects == (("usage",) if expected.input is None else ())


TIER = {"usage": {"input_tokens": 3, "output_tokens": 1, "service_tier": "standard"}}
TRAFFIC = {"responseId": "r1", "usageMetadata": {"trafficType": "ON_DEMAND"}}
NAMES = {"id": "c1", "model": "gpt-test-0613", "system_fingerprint": "fp", "service_tier": "flex"}
NAMED = {
    "openai": completion() | NAMES,
    "anthropic": message(TEXT, model="claude-x-20260101", **TIER),
    "gemini": candidate([A], modelVersion="gemini-x-001", **TRAFFIC),
}
SAYS = {
    "openai": ("gpt-test-0613", "fp", "flex", None),
    "anthropic": ("claude-x-20260101", None, "standard", "msg_1"),
    "gemini": ("gemini-x-001", "gemini-x-001", "ON_DEMAND", "r1"),
}
CALLED = [("openai", "X-Request-Id"), ("openai", "apim-request-id"), ("anthropic", "request-id")]


@pytest.mark.parametrize(("api", "name"), [*CALLED, ("gemini", None)])
def test_what_else_a_reply_says(recorder: Recorder, api: str, name: str | None) -> None:
    headers = {"X-RateLimit-Remaining-Requests": "59", "Set-Cookie": "secret"}
    named = {name: "req_1"} if name else {}
    recorder.replies = [Said(NAMED[api], headers={**headers, **named})]
    provider = MAKERS[api](recorder.url)
    began = datetime.now(UTC)
    exchange = send(provider)
    assert began <= exchange.started_at <= datetime.now(UTC)  # type: ignore[operator]
    assert 0 < exchange.latency_s < 5  # type: ignore[operator]
    assert exchange.raw == json.dumps(NAMED[api]).encode()
    assert exchange.request_id == ("req_1" if name else None)
    kept = {"x-ratelimit-remaining-requests": "59", **{n.lower(): v for n, v in named.items()}}
    assert exchange.headers.items() >= kept.items()
    assert "set-cookie" not in exchange.headers
    reply = provider.read(exchange.raw)
    names = (reply.returned_model, reply.fingerprint, reply.service_tier, reply.request_id)
    assert names == SAYS[api]
    assert provider.is_asked_for(reply.returned_model)
    if api == "anthropic":
        SdkMessage.model_validate_json(exchange.raw, strict=True)


# --- errors that may pass -----------------------------------------------------------------------------


def failed(status: int, words: str = "no", /, **error: Any) -> Said:
    """As OpenAI writes it."""
    return Said({"error": {"message": words, **error}}, status)


def refused(status: int, kind: str, words: str = "no", **details: Any) -> Said:
    """As Anthropic writes it."""
    body = {"type": kind, "message": words, **({"details": details} if details else {})}
    return Said({"type": "error", "error": body, "request_id": "req_1"}, status)


def status_of(code: int, status: str, words: str = "no", *details: Body) -> Said:
    """As Google writes it."""
    body = {"code": code, "message": words, "status": status, "details": list(details)}
    return Said({"error": body}, code)


def retry_info(delay: str) -> Body:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota(period: str) -> Body:
    violation = {"quotaId": f"GenerateRequestsPer{period}PerProjectPerModel-FreeTier"}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


def headed(said: Said, **headers: str) -> Said:
    return said._replace(headers={name.replace("_", "-"): text for name, text in headers.items()})


USED_UP = (429, "RESOURCE_EXHAUSTED", "no")
BLOCKED = "Output blocked by content filtering policy"
MINUTE = "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000."
PASSING: list[tuple[str, Said, float | None, bool]] = [
    *(("openai", failed(s), None, False) for s in (408, 500, 504, 520)),
    *(("openai", failed(s), None, True) for s in (429, 503, 529)),
    ("openai", failed(429, MINUTE, type="tokens", code="rate_limit_exceeded"), None, True),
    ("openai", headed(failed(429), Retry_After_Ms="250", Retry_After="9"), 0.25, True),
    ("openai", headed(failed(429), retry_after_ms="soon", Retry_After="9"), 9.0, True),
    ("anthropic", headed(refused(429, "rate_limit_error"), retry_after="7"), 7.0, True),
    ("anthropic", refused(529, "overloaded_error", "Overloaded"), None, True),
    ("anthropic", refused(500, "api_error"), None, False),
    # the sentence of a filter in another error
    ("anthropic", refused(529, "api_error", BLOCKED), None, True),
    ("gemini", status_of(*USED_UP, quota("Minute"), retry_info("7s")), 7.0, True),
    ("gemini", status_of(*USED_UP, retry_info("0.25s")), 0.25, True),
    ("gemini", headed(status_of(*USED_UP), Retry_After="3"), 3.0, True),
    ("gemini", status_of(503, "UNAVAILABLE", "overloaded"), None, True),
    ("gemini", status_of(500, "INTERNAL"), None, False),
]


@pytest.mark.parametrize(("api", "said", "wait", "throttled"), PASSING)
def test_errors_that_may_pass(
    recorder: Recorder, api: str, said: Said, wait: float | None, throttled: bool
) -> None:
    recorder.replies = [said]
    with pytest.raises(TransientError, match=f"^HTTP {said.status}: ") as caught:
        send(MAKERS[api](recorder.url))
    assert (caught.value.retry_after_s, caught.value.is_throttled) == (wait, throttled)
    assert caught.value.maybe_billed == (said.status == 504)


# --- errors that stop, and calls that are refused alone -----------------------------------------------

LOW = "Your credit balance is too low to access the Anthropic API."
REACHED = "You have reached your specified API usage limits. You will regain access on 2026-12-01."
SPENT = "enforced_spend_limit_reached"
INVALID_KEY: Any = (400, "INVALID_ARGUMENT", "no", {"reason": "API_KEY_INVALID"})
STOPPING = [
    ("openai", failed(401, f"Incorrect API key provided: {KEY}"), "models.*.api_key_env"),
    ("openai", Said(f"bad key {KEY}".encode(), 401), "models.*.api_key_env"),
    ("openai", failed(404, "no such model"), "models.*.model"),
    ("openai", failed(402, "pay first"), "add credit"),
    ("openai", failed(429, code="insufficient_quota"), "add credit"),
    ("openai", failed(400, code="billing_hard_limit_reached"), "add credit"),
    ("anthropic", refused(400, "invalid_request_error", LOW), "add credit"),
    ("anthropic", refused(400, "invalid_request_error", REACHED), "raise its spending limit"),
    ("anthropic", refused(429, "rate_limit_error", error_code=SPENT), "raise its spending limit"),
    ("anthropic", refused(401, "authentication_error"), "models.*.api_key_env"),
    ("anthropic", refused(403, "permission_error"), "models.*.api_key_env"),
    ("anthropic", refused(404, "not_found_error", f"model: {KEY}"), "the model may be retired"),
    ("gemini", status_of(*USED_UP, quota("Day"), retry_info("7s")), "quota GenerateRequestsPerDay"),
    ("gemini", status_of(*INVALID_KEY), "models.*.api_key_env"),
    ("gemini", status_of(403, "PERMISSION_DENIED"), "models.*.api_key_env"),
    ("gemini", status_of(404, "NOT_FOUND", KEY), "models.*.model: the model may be retired"),
    ("gemini", status_of(400, "FAILED_PRECONDITION", "not in your country"), "enable billing"),
]


@pytest.mark.parametrize(("api", "said", "way_out"), STOPPING)
def test_what_only_the_user_can_mend_is_a_study_error(
    recorder: Recorder, api: str, said: Said, way_out: str
) -> None:
    recorder.replies = [said]
    with pytest.raises(StudyError) as caught:
        send(MAKERS[api](recorder.url))
    words = str(caught.value)
    assert way_out in words
    assert words.startswith(f"{recorder.url}{PATHS[api]}")
    assert f"HTTP {said.status}: " in words
    assert KEY not in words
    assert "\n" not in words


TOO_LONG = "; the prompt is too long for the model: lower conditions.*.token_budget"
COUNT = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
# as OpenAI and Azure word it, and with the code that throttled calls have too
ABOVE_THE_LIMIT = (
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested "
    "36278. The input or output tokens must be reduced in order to run successfully."
)
REDUCE = "Limit 9. The input must be reduced in order to run successfully."
TOKENS = {"type": "tokens", "code": "rate_limit_exceeded"}
INVALID = (400, "invalid_request_error")
REFUSED = [
    ("openai", failed(400, "too long"), "HTTP 400: too long$"),
    ("openai", Said(b"", 400), "HTTP 400: an empty body$"),
    ("openai", Said({"detail": [7, {"loc": 3, "msg": "odd"}]}, 400), "HTTP 400: odd$"),
    ("openai", Said(b"x" * 5000, 400), "HTTP 400: " + "x" * 120 + "$"),
    ("openai", Said(b"x" * 110 + KEY.encode(), 400), r"HTTP 400: x+\*\*\*"),
    ("openai", failed(400, code="context_length_exceeded"), r"too long for the.*token_budget"),
    ("openai", failed(400, type="exceed_context_size_error"), r"too long for the.*token_budget"),
    ("openai", failed(400, "This model's maximum context length is 8192 tokens."), "token_budget"),
    ("openai", failed(413, "too large"), r"too long for the model.*token_budget"),
    ("openai", failed(429, ABOVE_THE_LIMIT, **TOKENS), r"lower conditions\.\*\.token_budget"),
    ("openai", failed(429, REDUCE, **TOKENS), r"lower conditions\.\*\.token_budget"),
    ("anthropic", refused(*INVALID, "prompt is too long: 9 tokens > 8 maximum"), TOO_LONG),
    ("anthropic", refused(413, "request_too_large", "too large"), f"HTTP 413: too large{TOO_LONG}"),
    ("anthropic", refused(*INVALID, f"you sent {KEY}"), r"HTTP 400: you sent \*\*\*masked\*\*\*$"),
    ("gemini", Said([status_of(400, "X", "in a list").body], 400), "HTTP 400: in a list$"),
    ("gemini", status_of(400, "INVALID_ARGUMENT", COUNT), TOO_LONG),
    ("gemini", status_of(400, "X", f"you sent {KEY}"), r"HTTP 400: you sent \*\*\*masked\*\*\*$"),
]


@pytest.mark.parametrize(("api", "said", "words"), REFUSED)
def test_a_refused_call_is_refused_alone(
    recorder: Recorder, api: str, said: Said, words: str
) -> None:
    recorder.replies = [said]
    with pytest.raises(RejectedError, match=words) as caught:
        send(MAKERS[api](recorder.url))
    assert str(caught.value).startswith(f"HTTP {said.status}: ")
    assert KEY not in str(caught.value)


POLICY = {"code": "ResponsibleAIPolicyViolation"}
FLAGGED = "Your prompt was flagged as potentially violating"
FILTERED = [
    ("openai", failed(400, code="content_filter", param="prompt")),
    ("openai", failed(403, code=None, innererror=POLICY)),
    ("openai", failed(400, code="content_policy_violation")),
    ("openai", failed(400, FLAGGED, code="invalid_prompt")),
    ("anthropic", refused(*INVALID, BLOCKED)),
]


@pytest.mark.parametrize(("api", "said"), FILTERED)
def test_a_filter_beside_the_model_is_an_outcome(recorder: Recorder, api: str, said: Said) -> None:
    recorder.replies = [said]
    provider: Provider = MAKERS[api](recorder.url)
    reply = provider.read(send(provider).raw)
    assert (reply.outcome, reply.text, reply.usage) == ("filtered", None, Usage())
    assert reply.finish_reason == "content_filter"


# --- limits in Anthropic's headers --------------------------------------------------------------------


def test_limits_of_requests_and_of_input_are_learnt() -> None:
    prefix, day = "anthropic-ratelimit-", "2026-11-01T00:00:01Z"
    said = {"requests-limit": "50", "requests-remaining": "49", "requests-reset": day}
    said |= {"input-tokens-limit": "30000", "input-tokens-remaining": "1000"}
    said |= {"output-tokens-limit": "8000", "output-tokens-remaining": "8000"}
    said |= {"tokens-limit": "8000"}
    headers = {f"{prefix}{name}": text for name, text in said.items()} | {"retry-after": "7"}
    learnt = {"limit-requests": "50", "remaining-requests": "49"}
    learnt |= {"limit-tokens": "30000", "remaining-tokens": "1000"}
    expected = {f"x-ratelimit-{name}": text for name, text in learnt.items()}
    assert limit_headers(headers) == headers | expected
