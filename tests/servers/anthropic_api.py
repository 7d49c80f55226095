"""Messages and the list of models, as Anthropic's API speaks them.

Where the rules are from: docstrings of anthropic 2.13 (fields, roles, thinking, stop reasons, pages),
and what its users report of errors (empty texts, first turns, credit, temperatures). Stricter than the
service where no source says how strict it is: a conversation begins with the user, and any field that
this module does not know is refused.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from servers.bill import Spent, Tier
from servers.faults import Fault, anthropic_error
from servers.model_server import Call, Chat, ChatRequest, Done, ModelSpec
from servers.prefix_cache import Part, Prompt
from servers.routes import Received, Reply, Route, json_reply
from servers.service import Api, Body, id_page, without

VERSIONS = ("2023-06-01", "2026-10-21")
MOST_BREAKPOINTS = 4
_FIELDS = frozenset(
    ("model", "messages", "max_tokens", "system", "temperature", "thinking", "output_config")
) | {"service_tier", "stop_sequences", "metadata", "stream"}
_KINDS = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}
_KINDS |= {413: "request_too_large", 429: "rate_limit_error"}


def routes() -> list[Route]:
    return [
        Route("POST", "/v1/messages", "answer", complete),
        Route("GET", "/v1/models", "models", list_models),
        Route("GET", "/v1/models/(?P<model>[^/]+)", "models", get_model),
    ]


def refused(status: int, message: str) -> Reply:
    """An error as Anthropic words it."""
    return Reply(status, anthropic_error(message, _KINDS[status]))


def timestamp(seconds: float) -> str:
    """RFC 3339, in whole seconds."""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")


def version_refusal(seen: ChatRequest) -> Reply | None:
    """Why a call is refused that does not say which version of the interface it speaks."""
    version = seen.headers.get("anthropic-version")
    if version is None:
        return refused(400, "anthropic-version: header is required")
    if version not in VERSIONS:
        return refused(400, f'anthropic-version: "{version}" is not a valid version')
    return None


async def complete(received: Received) -> Reply:
    _, reply = await API.answer(received, received.seen.headers["anthropic-version"])
    return reply._replace(headers=_headers(received.seen.number))


def _headers(number: int) -> Mapping[str, str]:
    return {"request-id": f"req_{number:08d}"}


# -- what is refused


def read_call(chat: Chat, body: Body, about: str | None, *, tier: Tier = "live") -> Call | Reply:
    """A request's body in a version of the interface as a call, or why it is refused."""
    model = body.get("model")
    if not isinstance(model, str):
        return refused(400, "model: Field required")
    spec = chat.spec(model)
    if spec is None:
        return refused(404, f"model: {model}")
    objection = _objection(body, str(about), spec)
    if objection is not None:
        return refused(400, objection)
    return Call(model, Prompt(_parts(body), chat.count), body, tier, implicit=False)


def _objection(body: Mapping[str, Any], version: str, spec: ModelSpec) -> str | None:
    if unknown := sorted(body.keys() - _FIELDS):
        return f"{unknown[0]}: Extra inputs are not permitted"
    if unwanted := sorted(spec.refuses & body.keys()):
        return f"`{unwanted[0]}` is deprecated for this model."
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        return "max_tokens: Field required, 1 or more"
    return (
        _temperature_objection(body, version)
        or _thinking_objection(body, limit)
        or ("system" in body and _content_objection("system", body["system"]))
        or _messages_objection(body.get("messages"))
        or _breakpoint_objection(body)
        or None
    )


def _temperature_objection(body: Mapping[str, Any], version: str) -> str | None:
    if "temperature" not in body:
        return None
    if version > VERSIONS[0]:
        return "temperature: Extra inputs are not permitted"
    value = body["temperature"]
    is_valid = isinstance(value, int | float) and 0 <= value <= 1
    return None if is_valid else "temperature: range: 0..1"


def _thinking_objection(body: Mapping[str, Any], limit: int) -> str | None:
    effort = (body.get("output_config") or {}).get("effort", "low")
    if effort not in ("low", "medium", "high", "xhigh", "max"):
        return "output_config.effort: unknown"
    thinking = body.get("thinking", {"type": "adaptive"})
    kind, budget = thinking.get("type"), thinking.get("budget_tokens")
    if kind == "enabled":
        if not isinstance(budget, int) or budget < 1024:
            return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        return (
            None if budget < limit else "`max_tokens` must be greater than `thinking.budget_tokens`"
        )
    is_valid = kind in ("adaptive", "disabled", "between_tools") and budget is None
    return None if is_valid else "thinking: Input tag is not valid"


def _messages_objection(messages: object) -> str | None:
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            return f"messages.{place}: a message has a role and a content"
        if message["role"] not in ("user", "assistant"):
            return f'messages: Unexpected role "{message["role"]}". Use the top-level `system`.'
        if objection := _content_objection(f"messages.{place}", message["content"]):
            return objection
    if messages[0]["role"] != "user":
        return 'messages: first message must use the "user" role'
    if messages[-1]["role"] != "user":
        return "This model does not support assistant message prefill."
    return None


def _content_objection(name: str, content: object) -> str | None:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list) or not blocks:
        return f"{name}.content: a text or a list of blocks is required"
    for block in blocks:
        if not isinstance(block, dict) or block.get("type") != "text":
            return f"{name}.content: only blocks of text are known here"
        if block.keys() - {"type", "text", "cache_control"} or not isinstance(block["text"], str):
            return f"{name}.content: a block of text has a text"
        if not block["text"].strip():
            return f"{name}: text content blocks must contain non-whitespace text"
    return None


def _breakpoint_objection(body: Mapping[str, Any]) -> str | None:
    marks = [block["cache_control"] for block in _blocks(body) if "cache_control" in block]
    for mark in marks:
        if mark not in ({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "5m"}):
            return "cache_control: only 5 minutes are known here"
    if len(marks) > MOST_BREAKPOINTS:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
    return None


def _blocks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every block with the role it stands under: the system's first, then those of the turns."""
    turns = [("system", body["system"])] if "system" in body else []
    turns += [(message["role"], message["content"]) for message in body["messages"]]
    found = []
    for role, content in turns:
        blocks = [{"text": content}] if isinstance(content, str) else content
        found += [{**block, "role": role, "opens": n == 0} for n, block in enumerate(blocks)]
    return found


def _parts(body: Mapping[str, Any]) -> Sequence[Part]:
    return [
        Part(block["role"], block["text"], block["opens"], "cache_control" in block)
        for block in _blocks(body)
    ]


# -- what is answered


def message_of(chat: Chat, call: Call, done: Done, name: str, fault: Fault) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": done.text, "citations": None}]
    if done.spent.reasoning:
        content.insert(0, {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"})
    body = {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": chat.answering_model(call),
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "stop_details": None,
        "usage": _usage(done.spent, call.tier),
        **fault.reply,
    }
    return without(body, fault, "modelVersion", "choices")


def _usage(spent: Spent, tier: Tier) -> dict[str, Any]:
    return {
        "input_tokens": spent.input - spent.cached - spent.cache_write,
        "cache_read_input_tokens": spent.cached,
        "cache_creation_input_tokens": spent.cache_write,
        "cache_creation": {
            "ephemeral_5m_input_tokens": spent.cache_write,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": spent.output,
        "output_tokens_details": {"thinking_tokens": spent.reasoning},
        "server_tool_use": None,
        "service_tier": "batch" if tier == "batch" else "standard",
    }


# -- models


async def list_models(received: Received) -> Reply:
    """GET /v1/models, by pages."""
    return page_of(_model_entries(received.chat), received.seen.query)


async def get_model(received: Received) -> Reply:
    """GET /v1/models/{model}; a name without its date stands for the newest of that name."""
    name = received.match["model"]
    for entry in _model_entries(received.chat):
        if entry["id"] == name or entry["id"].rpartition("-20")[0] == name:
            return json_reply(entry)
    return refused(404, f"model: {name}")


def page_of(entries: Sequence[Mapping[str, Any]], query: Mapping[str, str]) -> Reply:
    """A page of a list."""
    ids = [entry["id"] for entry in entries]
    after = query.get("after_id")
    if after is not None and after not in ids:
        return refused(400, f"after_id: {after} is not in the list")
    limit = int(query.get("limit", 20))
    if not 1 <= limit <= 1000:
        return refused(400, "limit: range: 1..1000")
    return json_reply(id_page(entries, ids.index(after) + 1 if after else 0, limit))


def _model_entries(chat: Chat) -> list[dict[str, Any]]:
    ends = {spec.id: spec.shutdown_date for spec in chat.specs.values()}
    return [
        {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "deprecated" if ends.get(name) else "active",
            "retires_at": f"{ends[name]}T00:00:00Z" if ends.get(name) else None,
        }
        for name in chat.model_names()
    ]


API = Api(
    read_call,
    message_of,
    "msg_",
    refused(400, "Your credit balance is too low to access the Anthropic API."),
)
