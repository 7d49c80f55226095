"""generateContent, models and explicit caches, as the Gemini API and Vertex speak them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from servers.bill import Spent, Tier
from servers.faults import Fault, google_error
from servers.model_server import Call, Chat, Done
from servers.prefix_cache import Part, Prompt
from servers.routes import Received, Reply, Route, json_reply
from servers.service import Api, Body, without

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
    model, places = "(?P<model>[^/:]+)", f"(?:{VERSION}|{VERTEX}/publishers/google)/models"
    held = f"(?:{VERSION}|{VERTEX})/cachedContents"
    one = f"{held}/(?P<id>[^/:]+)"
    return [
        Route("POST", f"{places}/{model}:generateContent", "answer", generate),
        Route("GET", f"{VERSION}(?:/publishers/google)?/models", "models", list_models),
        Route("GET", f"{VERSION}/models/{model}", "models", get_model),
        Route("POST", held, "caches", create_cache),
        Route("PATCH", one, "caches", update_cache),
        Route("DELETE", one, "caches", delete_cache),
    ]


def refused(status: int, message: str) -> Reply:
    """An error as Google words it."""
    return Reply(status, google_error(status, message))


def no_model(model: str) -> Reply:
    """The error for a model that is not known."""
    return refused(404, f"models/{model} is not found for API version v1beta")


def timestamp(seconds: float) -> str:
    """RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def token_page(name: str, entries: Sequence[Body], query: Mapping[str, str]) -> Reply:
    """A page of a list, with the token of the next one."""
    start = int(query.get("pageToken") or 0)
    stop = start + int(query.get("pageSize") or 50)
    more = {"nextPageToken": str(stop)} if stop < len(entries) else {}
    return json_reply({name: entries[start:stop], **more})


async def generate(received: Received) -> Reply:
    return (await API.answer(received, received.match["model"]))[1]


def read_call(chat: Chat, body: Body, about: str | None, *, tier: Tier = "live") -> Call | Reply:
    """A request's body to a model as a call, or why it is refused."""
    model = str(about)
    spec = chat.spec(model)
    if spec is None:
        return no_model(model)
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        return refused(400, "* GenerateContentRequest.contents: contents is not specified")
    for name in sorted(spec.refuses & (body.get("generationConfig") or {}).keys()):
        return refused(400, f"{name} is not supported by this model")
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


def _prompt(chat: Chat, body: Body) -> Prompt:
    parts = []
    instruction = body.get("systemInstruction")
    turns = [{**instruction, "role": "system"}] if instruction else []
    for turn in [*turns, *(body.get("contents") or [])]:
        texts = [str(part.get("text", "")) for part in turn.get("parts") or []]
        parts += [Part(str(turn.get("role", "user")), t, n == 0) for n, t in enumerate(texts)]
    return Prompt(parts, chat.count)


def _held_tokens(chat: Chat, body: Body, model: str) -> int | Reply:
    name = body.get("cachedContent")
    if not name:
        return 0
    held = _live_cache(chat, str(name).rpartition("/")[2])
    if held is None:
        return NO_CACHE
    if held.model != model:
        return refused(
            400,
            f"Model used by GenerateContent request (models/{model}) and "
            f"CachedContent (models/{held.model}) has to be the same.",
        )
    return held.prompt.n_tokens


def response(chat: Chat, call: Call, done: Done, name: str, fault: Fault) -> dict[str, Any]:
    content = {"parts": [{"text": done.text}], "role": "model", **fault.message}
    candidate = {"content": content, "finishReason": "STOP", "index": 0, **fault.choice}
    body = {
        "candidates": [candidate],
        "usageMetadata": _usage(done.spent),
        "modelVersion": chat.answering_model(call),
        "responseId": name,
        **fault.reply,
    }
    return without(body, fault, "model")


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


async def list_models(received: Received) -> Reply:
    """GET models, by pages."""
    entries = [_model_entry(name) for name in received.chat.model_names()]
    return token_page("models", entries, received.seen.query)


async def get_model(received: Received) -> Reply:
    name = received.match["model"]
    is_there = name in received.chat.model_names()
    return json_reply(_model_entry(name)) if is_there else no_model(name)


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
    chat, asked = received.chat, received.seen.body
    model = str(asked.get("model", "")).rpartition("/")[2]
    if chat.spec(model) is None:
        return no_model(model)
    prompt, least = _prompt(chat, asked), chat.family(model).minimum
    if prompt.n_tokens < least:
        count = f"total_token_count={prompt.n_tokens}, min_total_token_count={least}"
        return refused(400, f"Cached content is too small. {count}")
    now, name = chat.clock.now(), chat.new_name("cachedContents/")
    held = Held(name, model, prompt, now, now + _ttl_s(asked), asked)
    chat.caches[name.rpartition("/")[2]] = held
    chat.bill.charge(model, "live", Spent(prompt.n_tokens, 0, 0, 0, 0))
    return json_reply(_cache_object(held))


def _ttl_s(body: Body) -> float:
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


async def update_cache(received: Received) -> Reply:
    """PATCH cachedContents/{id}: a new time to live, from now."""
    chat, name = received.chat, received.match["id"]
    held = _live_cache(chat, name)
    if held is None:
        return NO_CACHE
    held = held._replace(expires=chat.clock.now() + _ttl_s(received.seen.body))
    chat.caches[name] = held
    return json_reply(_cache_object(held))


async def delete_cache(received: Received) -> Reply:
    chat, name = received.chat, received.match["id"]
    if _live_cache(chat, name) is None:
        return NO_CACHE
    _end_cache(chat, name, chat.clock.now())
    return json_reply({})


NO_CACHE = refused(403, "CachedContent not found (or permission denied)")
API = Api(
    read_call,
    response,
    "response-",
    refused(429, "You exceeded your current quota, please check your plan and billing"),
    error_of=lambda body: body.get("error", {}),
)
