"""Chat Completions and the list of models, as OpenAI and Azure speak them."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from servers.bill import Tier
from servers.faults import Fault, openai_error
from servers.model_server import Call, Chat, Done, question_of
from servers.prefix_cache import Lookup, Part, Prompt
from servers.routes import Received, Reply, Route, json_reply


def routes() -> list[Route]:
    """What this module answers."""
    chat = "/chat/completions"
    return [
        Route("POST", f"/v1{chat}", "answer", complete),
        Route("POST", f"/openai/v1{chat}", "answer", complete),
        Route("POST", f"/openai/deployments/(?P<deployment>[^/]+){chat}", "answer", complete),
        Route("GET", "(?:/v1|/openai|/openai/v1)/models", "models", list_models),
        Route("GET", "(?:/v1|/openai|/openai/v1)/models/(?P<model>.+)", "models", get_model),
    ]


def refused(status: int, message: str, code: str | None = None, kind: str | None = None) -> Reply:
    """An error as OpenAI words it."""
    return Reply(status, openai_error(message, code, kind or "invalid_request_error"))


async def list_models(received: Received) -> Reply:
    """GET /v1/models."""
    return json_reply({"object": "list", "data": _model_entries(received.chat)})


async def get_model(received: Received) -> Reply:
    """GET /v1/models/{model}."""
    for entry in _model_entries(received.chat):
        if entry["id"] == received.match["model"]:
            return json_reply(entry)
    return _no_model(received.match["model"])


def _model_entries(chat: Chat) -> list[dict[str, Any]]:
    listed = [{"id": s.id, "shutdown_date": s.shutdown_date} for s in chat.specs.values()]
    return [
        {"object": "model", "created": 0, "owned_by": "test", **entry}
        for entry in [*chat.models, *listed]
    ]


def _no_model(model: str) -> Reply:
    return refused(404, f"The model `{model}` does not exist", "model_not_found")


async def complete(received: Received) -> Reply:
    """POST /v1/chat/completions, and a deployment's."""
    call = read_call(received.chat, received.seen.body, deployment=received.match.get("deployment"))
    if isinstance(call, Reply):
        return call
    if received.chat.penniless:
        return refused(
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            "insufficient_quota",
        )
    done = await received.chat.run(call, str(received.seen.number), received.fault.wait_s)
    headers = {"x-request-id": f"req_{received.seen.number:08d}", "openai-processing-ms": "1"}
    body = completion(
        received.chat, call, done, name=f"chatcmpl-{received.seen.number}", fault=received.fault
    )
    reply = json_reply(body, headers=headers)
    return streamed(reply, call.body, received.chat.piece_s) if call.body.get("stream") else reply


def streamed(reply: Reply, body: Mapping[str, Any], piece_s: float) -> Reply:
    """A completion as events: the role, a word at a time, why it ends, and what it used if asked."""
    whole = json.loads(reply.body)
    (choice,) = whole.pop("choices")
    usage, message = whole.pop("usage", None), choice["message"]
    words = re.findall(r"\S+\s*|\s+", message["content"] or "")
    deltas = [{"role": "assistant", "content": None}, *({"content": word} for word in words)]
    if message.get("refusal"):
        deltas.append({"refusal": message["refusal"]})
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
    head = {**whole, "object": "chat.completion.chunk"}
    events: list[dict[str, Any]] = [{**head, "choices": [one]} for one in choices]
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append({**head, "choices": [], "usage": usage})
    lines = [*(json.dumps(event) for event in events), "[DONE]"]
    sent = "".join(f"data: {line}\n\n" for line in lines).encode()
    # the role comes at once, and text is what takes time
    pauses = [0.0, *[piece_s] * len(words), *[0.0] * (len(lines) - len(words) - 1)]
    return reply._replace(body=sent, content_type="text/event-stream", pauses_s=pauses)


def read_call(
    chat: Chat, body: Mapping[str, Any], *, deployment: str | None = None, tier: Tier = "live"
) -> Call | Reply:
    """A request's body as a call, or why it is refused."""
    messages = body.get("messages")
    model = deployment or body.get("model")
    if not isinstance(model, str):
        return refused(400, "you must provide a model parameter")
    if not isinstance(messages, list) or not messages:
        return refused(400, "Missing required parameter: 'messages'.", "missing_required_parameter")
    spec = chat.spec(model)
    if spec is None:
        return _no_model(model)
    if unwanted := sorted(spec.refuses & body.keys()):
        name = unwanted[0]
        return refused(400, f"Unsupported parameter: '{name}'.", "unsupported_parameter")
    if body.get("service_tier") == "flex" and tier == "live":
        tier = "flex"
    options = body.get("prompt_cache_options") or {}
    return Call(
        model=model,
        prompt=Prompt([p for m in messages for p in _parts(m)], chat.count),
        body=body,
        tier=tier,
        key=str(body.get("prompt_cache_key") or ""),
        implicit=options.get("mode") != "explicit",
    )


def _parts(message: Mapping[str, Any]) -> list[Part]:
    content = message.get("content") or ""
    role = str(message.get("role"))
    if isinstance(content, str):
        return [Part(role, content)]
    return [
        Part(role, str(part.get("text", "")), n == 0, bool(part.get("prompt_cache_breakpoint")))
        for n, part in enumerate(content)
    ]


def completion(
    chat: Chat, call: Call, done: Done, *, name: str, fault: Fault | None = None
) -> dict[str, Any]:
    """The body of an answer."""
    fault = fault or Fault()
    spec = chat.spec(call.model)
    message = {"role": "assistant", "content": done.text, "refusal": None, **fault.message}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(call, done.text) if call.body.get("logprobs") else None,
        "finish_reason": "stop",
    }
    body = {
        "id": name,
        "object": "chat.completion",
        "created": int(chat.clock.now()),
        "model": (spec and spec.returns) or call.model,
        "service_tier": "flex" if call.tier == "flex" else "default",
        "system_fingerprint": "fp_loopback",
        "choices": [{**choice, **fault.choice}],
        "usage": _usage(chat, call, done),
        **fault.reply,
    }
    unwanted = {*fault.drop, "modelVersion"}
    return {key: value for key, value in body.items() if key not in unwanted}


def _logprobs(call: Call, text: str) -> dict[str, Any]:
    """Of an answer of one letter, which has more of the probability the longer the prompt is."""
    share = 0.5 + 0.4 * (call.prompt.n_tokens % 97) / 97
    others = [token for token in (" A", "B", "C", "D") if token.strip() != text]
    shares = {text: share, **dict.fromkeys(others, (0.98 - share) / len(others)), "The": 0.02}
    alternatives = [
        {"token": token, "logprob": math.log(p), "bytes": [*token.encode()]}
        for token, p in sorted(shares.items(), key=lambda entry: -entry[1])
    ]
    best = alternatives[: call.body.get("top_logprobs", 0)]
    content = {**alternatives[0], "token": text, "top_logprobs": best}
    return {"content": [content], "refusal": None}


def _usage(chat: Chat, call: Call, done: Done) -> dict[str, Any]:
    spent = done.spent
    usage: dict[str, Any] = {
        "prompt_tokens": spent.input,
        "completion_tokens": spent.output,
        "total_tokens": spent.input + spent.output,
    }
    family = chat.family(call.model)
    if not family.minimum:
        return usage
    details = {"cached_tokens": spent.cached, "audio_tokens": 0}
    if family.step == 0:
        details["cache_write_tokens"] = spent.cache_write
    usage["prompt_tokens_details"] = details
    usage["completion_tokens_details"] = {"reasoning_tokens": spent.reasoning, "audio_tokens": 0}
    return usage


def batch_row(chat: Chat, body: Mapping[str, Any], unique: str) -> tuple[int, Mapping[str, Any]]:
    """Status and body of a batch's row."""
    fault = chat.take_fault(question_of(body), "row")
    if fault is not None and fault.status != 200:
        return fault.status, json.loads(fault.body or b"{}")
    call = read_call(chat, body, tier="batch")
    if isinstance(call, Reply):
        return call.status, json.loads(call.body)
    done = chat.finish(call, Lookup(0, 0), unique)
    return 200, completion(chat, call, done, name=f"chatcmpl-{unique}", fault=fault)
