"""Chat Completions and the list of models, as OpenAI and Azure speak them."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from servers.bill import Tier
from servers.faults import Fault, openai_error
from servers.model_server import Call, Chat, Done
from servers.prefix_cache import Part, Prompt
from servers.routes import Received, Reply, Route, json_reply
from servers.service import Api, Body, without


def routes() -> list[Route]:
    chat, models = "/chat/completions", "(?:/v1|/openai|/openai/v1)/models"
    return [
        Route("POST", f"(?:/v1|/openai/v1){chat}", "answer", complete),
        Route("POST", f"/openai/deployments/(?P<deployment>[^/]+){chat}", "answer", complete),
        Route("GET", models, "models", list_models),
        Route("GET", f"{models}/(?P<model>.+)", "models", get_model),
    ]


def refused(status: int, message: str, code: str | None = None, kind: str | None = None) -> Reply:
    """An error as OpenAI words it."""
    return Reply(status, openai_error(message, code, kind or "invalid_request_error"))


async def list_models(received: Received) -> Reply:
    return json_reply({"object": "list", "data": _model_entries(received.chat)})


async def get_model(received: Received) -> Reply:
    name = received.match["model"]
    entries = (entry for entry in _model_entries(received.chat) if entry["id"] == name)
    return next(map(json_reply, entries), _no_model(name))


def _model_entries(chat: Chat) -> list[dict[str, Any]]:
    listed = [{"id": s.id, "shutdown_date": s.shutdown_date} for s in chat.specs.values()]
    about = {"object": "model", "created": 0, "owned_by": "test"}
    return [{**about, **entry} for entry in [*chat.models, *listed]]


def _no_model(model: str) -> Reply:
    return refused(404, f"The model `{model}` does not exist", "model_not_found")


async def complete(received: Received) -> Reply:
    """POST /v1/chat/completions, and a deployment's."""
    call, reply = await API.answer(received, received.match.get("deployment"))
    is_stream = call is not None and call.body.get("stream")
    return streamed(reply, received.seen.body, received.chat.piece_s) if is_stream else reply


def streamed(reply: Reply, body: Body, piece_s: float) -> Reply:
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
    chat: Chat, body: Body, about: str | None = None, *, tier: Tier = "live"
) -> Call | Reply:
    """A request's body, perhaps to a deployment, as a call, or why it is refused."""
    messages, model = body.get("messages"), about or body.get("model")
    if not isinstance(model, str):
        return refused(400, "you must provide a model parameter")
    if not isinstance(messages, list) or not messages:
        return refused(400, "Missing required parameter: 'messages'.", "missing_required_parameter")
    spec = chat.spec(model)
    if spec is None:
        return _no_model(model)
    for name in sorted(spec.refuses & body.keys()):
        return refused(400, f"Unsupported parameter: '{name}'.", "unsupported_parameter")
    options = body.get("prompt_cache_options") or {}
    return Call(
        model=model,
        prompt=Prompt([p for m in messages for p in _parts(m)], chat.count),
        body=body,
        tier="flex" if tier == "live" and body.get("service_tier") == "flex" else tier,
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


def completion(chat: Chat, call: Call, done: Done, name: str, fault: Fault) -> dict[str, Any]:
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
        "model": chat.answering_model(call),
        "service_tier": "flex" if call.tier == "flex" else "default",
        "system_fingerprint": "fp_loopback",
        "choices": [{**choice, **fault.choice}],
        "usage": _usage(chat, call, done),
        **fault.reply,
    }
    return without(body, fault, "modelVersion")


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
    spent, family = done.spent, chat.family(call.model)
    usage: dict[str, Any] = {
        "prompt_tokens": spent.input,
        "completion_tokens": spent.output,
        "total_tokens": spent.input + spent.output,
    }
    if not family.minimum:
        return usage
    details = {"cached_tokens": spent.cached, "audio_tokens": 0}
    if family.step == 0:
        details["cache_write_tokens"] = spent.cache_write
    usage["prompt_tokens_details"] = details
    usage["completion_tokens_details"] = {"reasoning_tokens": spent.reasoning, "audio_tokens": 0}
    return usage


API = Api(
    read_call,
    completion,
    "chatcmpl-",
    refused(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        *("insufficient_quota", "insufficient_quota"),
    ),
    lambda number: {"x-request-id": f"req_{number:08d}", "openai-processing-ms": "1"},
)
