"""generateContent, models and explicit caches, as the Gemini API and Vertex speak them."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from servers.bill import Spent, Tier
from servers.faults import Fault, google_error
from servers.model_server import Call, Chat, Done, question_of
from servers.prefix_cache import Lookup, Part, Prompt
from servers.routes import Received, Reply, Route, json_reply

VERSION = "/v1(?:alpha|beta|beta1)?"
VERTEX = f"{VERSION}/projects/[^/]+/locations/[^/]+"
DEFAULT_TTL_S = 3600.0


class Held(NamedTuple):
    """An explicit cache."""

    name: str
    model: str
    prompt: Prompt
    created: float
    expires: float
    asked: Mapping[str, Any]


def routes() -> list[Route]:
    """What this module answers."""
    model = "(?P<model>[^/:]+)"
    publisher = f"{VERTEX}/publishers/google/models"
    held = f"(?:{VERSION}|{VERTEX})/cachedContents"
    one = f"{held}/(?P<id>[^/:]+)"
    return [
        Route("POST", f"{VERSION}/models/{model}:generateContent", "answer", generate),
        Route("POST", f"{publisher}/{model}:generateContent", "answer", generate),
        Route("GET", f"{VERSION}/models", "models", list_models),
        Route("GET", f"{VERSION}/models/{model}", "models", get_model),
        Route("GET", f"{VERSION}/publishers/google/models", "models", list_models),
        Route("POST", held, "caches", create_cache),
        Route("PATCH", one, "caches", update_cache),
        Route("DELETE", one, "caches", delete_cache),
    ]


def refused(status: int, message: str) -> Reply:
    """An error as Google words it."""
    return Reply(status, google_error(status, message))


def timestamp(seconds: float) -> str:
    """RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


async def generate(received: Received) -> Reply:
    """POST models/{model}:generateContent."""
    call = read_call(received.chat, received.seen.body, received.match["model"])
    if isinstance(call, Reply):
        return call
    if received.chat.penniless:
        return refused(429, "You exceeded your current quota, please check your plan and billing")
    done = await received.chat.run(call, str(received.seen.number), received.fault.wait_s)
    return json_reply(
        response(
            received.chat, call, done, name=f"response-{received.seen.number}", fault=received.fault
        )
    )


def read_call(
    chat: Chat, body: Mapping[str, Any], model: str, *, tier: Tier = "live"
) -> Call | Reply:
    """A request's body as a call, or why it is refused."""
    spec = chat.spec(model)
    if spec is None:
        return refused(404, f"models/{model} is not found for API version v1beta")
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        return refused(400, "* GenerateContentRequest.contents: contents is not specified")
    options = body.get("generationConfig") or {}
    if unwanted := sorted(spec.refuses & options.keys()):
        return refused(400, f"{unwanted[0]} is not supported by this model")
    held = _held_tokens(chat, body, model)
    if isinstance(held, Reply):
        return held
    return Call(
        model=model,
        prompt=_prompt(chat, body),
        body=body,
        tier="flex" if tier == "live" and body.get("serviceTier") == "flex" else tier,
        key=str(body.get("cachedContent") or ""),
        held=held,
    )


def _prompt(chat: Chat, body: Mapping[str, Any]) -> Prompt:
    parts = []
    instruction = body.get("systemInstruction")
    turns = [{**instruction, "role": "system"}] if instruction else []
    for turn in [*turns, *(body.get("contents") or [])]:
        texts = [str(part.get("text", "")) for part in turn.get("parts") or []]
        parts += [Part(str(turn.get("role", "user")), t, n == 0) for n, t in enumerate(texts)]
    return Prompt(parts, chat.count)


def _held_tokens(chat: Chat, body: Mapping[str, Any], model: str) -> int | Reply:
    name = body.get("cachedContent")
    if not name:
        return 0
    held = _live_cache(chat, str(name).rpartition("/")[2])
    if held is None:
        return refused(403, "CachedContent not found (or permission denied)")
    if held.model != model:
        return refused(
            400,
            f"Model used by GenerateContent request (models/{model}) and "
            f"CachedContent (models/{held.model}) has to be the same.",
        )
    return held.prompt.n_tokens


def response(
    chat: Chat, call: Call, done: Done, *, name: str, fault: Fault | None = None
) -> dict[str, Any]:
    """The body of an answer."""
    fault = fault or Fault()
    spec = chat.spec(call.model)
    content = {"parts": [{"text": done.text}], "role": "model", **fault.message}
    candidate = {"content": content, "finishReason": "STOP", "index": 0, **fault.choice}
    body = {
        "candidates": [candidate],
        "usageMetadata": _usage(done.spent),
        "modelVersion": (spec and spec.returns) or call.model,
        "responseId": name,
        **fault.reply,
    }
    unwanted = {*fault.drop, "model"}
    return {key: value for key, value in body.items() if key not in unwanted}


def _usage(spent: Spent) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "promptTokenCount": spent.input,
        "candidatesTokenCount": spent.output - spent.reasoning,
        "totalTokenCount": spent.input + spent.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": spent.input}],
    }
    if spent.cached:
        usage["cachedContentTokenCount"] = spent.cached
    if spent.reasoning:
        usage["thoughtsTokenCount"] = spent.reasoning
    return usage


def batch_row(
    chat: Chat, body: Mapping[str, Any], model: str, unique: str
) -> tuple[int, Mapping[str, Any]]:
    """Status and body of a batch's row; under an error status the body is the error alone."""
    fault = chat.take_fault(question_of(body), "row")
    if fault is not None and fault.status != 200:
        return fault.status, json.loads(fault.body or b"{}").get("error", {})
    call = read_call(chat, body, model, tier="batch")
    if isinstance(call, Reply):
        return call.status, json.loads(call.body)["error"]
    done = chat.finish(call, Lookup(0, 0), unique)
    return 200, response(chat, call, done, name=f"response-{unique}", fault=fault)


async def list_models(received: Received) -> Reply:
    """GET models, by pages."""
    names = [s.id for s in received.chat.specs.values()] + [
        str(m["id"]) for m in received.chat.models
    ]
    start = int(received.seen.query.get("pageToken") or 0)
    stop = start + int(received.seen.query.get("pageSize") or 50)
    body: dict[str, Any] = {"models": [_model_entry(name) for name in names[start:stop]]}
    if stop < len(names):
        body["nextPageToken"] = str(stop)
    return json_reply(body)


async def get_model(received: Received) -> Reply:
    """GET models/{model}."""
    if received.match["model"] in [*received.chat.specs, *(m["id"] for m in received.chat.models)]:
        return json_reply(_model_entry(received.match["model"]))
    return refused(404, f"models/{received.match['model']} is not found for API version v1beta")


def _model_entry(name: str) -> dict[str, Any]:
    methods = ["generateContent", "countTokens", "createCachedContent", "batchGenerateContent"]
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": methods,
    }


async def create_cache(received: Received) -> Reply:
    """POST cachedContents; writing one is billed as plain input."""
    model = str(received.seen.body.get("model", "")).rpartition("/")[2]
    if received.chat.spec(model) is None:
        return refused(404, f"models/{model} is not found for API version v1beta")
    prompt = _prompt(received.chat, received.seen.body)
    least = received.chat.family(model).minimum
    if prompt.n_tokens < least:
        count = f"total_token_count={prompt.n_tokens}, min_total_token_count={least}"
        return refused(400, f"Cached content is too small. {count}")
    now = received.chat.clock.now()
    name = received.chat.new_name("cachedContents/")
    held = Held(name, model, prompt, now, now + _ttl_s(received.seen.body), received.seen.body)
    received.chat.caches[name.rpartition("/")[2]] = held
    received.chat.bill.charge(model, "live", Spent(prompt.n_tokens, 0, 0, 0, 0))
    return json_reply(_cache_object(held))


def _ttl_s(body: Mapping[str, Any]) -> float:
    return float(str(body.get("ttl") or f"{DEFAULT_TTL_S}s").removesuffix("s"))


def _cache_object(held: Held) -> dict[str, Any]:
    return {
        "name": held.name,
        "model": f"models/{held.model}",
        "displayName": held.asked.get("displayName", ""),
        "createTime": timestamp(held.created),
        "updateTime": timestamp(held.created),
        "expireTime": timestamp(held.expires),
        "usageMetadata": {"totalTokenCount": held.prompt.n_tokens},
    }


def _live_cache(chat: Chat, name: str) -> Held | None:
    held: Held | None = chat.caches.get(name)
    if held is not None and chat.clock.now() >= held.expires:
        _end_cache(chat, name, held.expires)
        return None
    return held


def _end_cache(chat: Chat, name: str, at: float) -> None:
    held: Held = chat.caches.pop(name)
    chat.bill.charge_storage(held.model, held.prompt.n_tokens, (at - held.created) / 3600)


def _no_cache() -> Reply:
    return refused(403, "CachedContent not found (or permission denied)")


async def update_cache(received: Received) -> Reply:
    """PATCH cachedContents/{id}: a new time to live, from now."""
    held = _live_cache(received.chat, received.match["id"])
    if held is None:
        return _no_cache()
    held = held._replace(expires=received.chat.clock.now() + _ttl_s(received.seen.body))
    received.chat.caches[received.match["id"]] = held
    return json_reply(_cache_object(held))


async def delete_cache(received: Received) -> Reply:
    """DELETE cachedContents/{id}."""
    if _live_cache(received.chat, received.match["id"]) is None:
        return _no_cache()
    _end_cache(received.chat, received.match["id"], received.chat.clock.now())
    return json_reply({})
