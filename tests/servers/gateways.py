"""Loopback stand-ins of gateways and servers that cannot run in tests, by what their makers publish.

    with serve_gateway(GATEWAYS["mistral"]) as server:
        entry = {"provider": "openai", "base_url": server.base_url, ...}

Each takes the requests that the published schema takes, and replies in the published shape. Where a
maker's server ignores what it does not know, the stand-in notes the field, so that a test can see that a
setting has no effect. Where it cuts prompts that are too long, the stand-in does too.

Sources, all read in November 2026:
- OpenRouter: OpenAPI of its TypeScript SDK 1.2.54 (2026-08-22); page "Errors and debugging"
- Mistral: OpenAPI of its public documentation (2026-08-21); page "Error glossary"
- Together: its public OpenAPI (2026-04-28)
- Groq: types of its Python SDK 1.6.0 (2026-08-18); pages "OpenAI compatibility", "Errors", "Flex"
- Bedrock: its user guide refers to OpenAI's reference: the types of OpenAI's SDK
- Ollama: openai/openai.go, server/prompt.go and llm/llama_server.go of 0.33.0-rc2 (2026-08-21)
- LM Studio: its public documentation (2026-04-29); issues of its bug tracker
- vLLM: protocol.py and renderers/params.py of 0.32.0, and what a server of it answered
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from openai.types.chat import completion_create_params

Schema = dict[str, Any]
Body = dict[str, Any]

ANY: Schema = {}
TEXT: Schema = {"type": "string"}
_NAMES: Schema = {"type": "array", "items": TEXT}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_ONLY_NAMED: Schema = {"additionalProperties": False}


def _between(low: float, high: float, kind: str = "number") -> Schema:
    return {"type": kind, "minimum": low, "maximum": high}


def _one_of(text: str) -> Schema:
    return {"enum": text.split()}


def _fields(**named: str) -> dict[str, Schema]:
    """Fields by their type, in the words of JSON Schema; `anything` is of every type."""
    return {
        name: {} if kind == "anything" else {"type": kind}
        for kind, names in named.items()
        for name in names.split()
    }


def _request(fields: Mapping[str, Schema], *, message: Schema = ANY) -> Schema:
    """A request of plain text; `message` are further keys of the schema of a message."""
    item = {
        "type": "object",
        "required": ["role", "content"],
        "properties": {"role": _one_of("system user assistant"), "content": TEXT},
        **message,
    }
    messages = {"type": "array", "minItems": 1, "items": item}
    return {
        "type": "object",
        "required": ["model", "messages"],
        "properties": {"model": TEXT, "messages": messages, **fields},
        **_ONLY_NAMED,
    }


OPENROUTER = _request(
    {
        **_fields(
            integer="max_tokens max_completion_tokens seed top_k",
            number="top_p min_p",
            boolean="logprobs",
            string="reasoning_effort prompt_cache_key",
            anything="reasoning",
        ),
        "temperature": _between(0, 2),
        "top_logprobs": _between(0, 20, "integer"),
        "service_tier": _one_of("auto default fast flex priority scale"),
        "plugins": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    **_fields(string="id", boolean="enabled"),
                    "engine": _one_of("middle-out"),
                },
            },
        },
        "provider": {
            "type": "object",
            "properties": {
                **_fields(boolean="allow_fallbacks require_parameters zdr"),
                **dict.fromkeys(("only", "order", "ignore", "quantizations"), _NAMES),
                **_fields(anything="sort max_price"),
                "data_collection": _one_of("deny allow"),
            },
            **_ONLY_NAMED,
        },
    }
)
MISTRAL = _request(
    {
        **_fields(string="prompt_cache_key", boolean="safe_prompt"),
        "max_tokens": _COUNT,
        "random_seed": _COUNT,
        "temperature": _between(0, 1.5),
        "top_p": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "n": {"type": "integer", "minimum": 1},
        "reasoning_effort": _one_of("none minimal low medium high xhigh"),
        "prompt_mode": _one_of("reasoning"),
        "service_tier": _one_of("auto standard_only"),
    },
    message=_ONLY_NAMED,
)
TOGETHER = _request(
    {
        **_fields(
            integer="max_tokens seed top_k", number="temperature top_p min_p repetition_penalty"
        ),
        # the number of alternatives; OpenAI's field of this name is true or false
        "logprobs": {**_between(0, 20, "integer"), "not": {"type": "boolean"}},
        "n": _between(1, 128, "integer"),
        "context_length_exceeded_behavior": _one_of("truncate error"),
        "reasoning_effort": _one_of("low medium high"),
    }
)
GROQ = _request(
    {
        **_fields(
            integer="max_tokens max_completion_tokens seed",
            number="top_p",
            boolean="include_reasoning",
            string="user",
        ),
        "temperature": _between(0, 2),
        "n": {"const": 1},
        "reasoning_effort": _one_of("none default low medium high"),
        "reasoning_format": _one_of("hidden raw parsed"),
        "service_tier": _one_of("auto on_demand flex performance"),
    },
    message=_ONLY_NAMED,
)
_OPENAI = {*completion_create_params.CompletionCreateParamsBase.__annotations__}
BEDROCK = _request(dict.fromkeys(_OPENAI - {"model", "messages"}, ANY))
OLLAMA = _request(
    _fields(
        integer="max_tokens seed top_logprobs",
        number="temperature top_p frequency_penalty presence_penalty",
        boolean="logprobs stream",
        string="reasoning_effort",
        anything="stop response_format reasoning stream_options",
    )
)
LM_STUDIO = _request(
    _fields(
        integer="max_tokens seed top_k",
        number="temperature top_p repeat_penalty frequency_penalty presence_penalty",
        boolean="stream",
        anything="stop logit_bias stream_options",
    )
)
VLLM = _request(
    {
        **_fields(
            integer="max_tokens max_completion_tokens top_k top_logprobs n truncate_prompt_tokens",
            number="temperature top_p min_p repetition_penalty",
            boolean="logprobs include_reasoning",
            string="reasoning_effort",
            anything="chat_template_kwargs",
        ),
        "seed": _between(-(2**63), 2**63 - 1, "integer"),
    }
)

_SAID = "The answer is (B)."
_THOUGHT = "It could be A."


class Refusal(NamedTuple):
    """A reply that is no answer."""

    status: int
    body: Body
    headers: Mapping[str, str] = {}


def _refuse_400(place: str, reason: str) -> Refusal:
    return Refusal(400, _openai_error(f"{place}: {reason}", param=place))


def _refuse_422(place: str, reason: str) -> Refusal:
    detail = {"type": "extra_forbidden", "loc": ["body", place], "msg": reason, "input": None}
    return Refusal(422, {"object": "error", "message": {"detail": [detail]}, "code": None})


def _openai_error(message: str, **more: Any) -> Body:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


class Gateway(NamedTuple):
    """A gateway or server as its maker describes it.

    Attributes:
        path: where its interface begins.
        request: the schema of a request. Only fields that the maker names are in it.
        message, choice, usage, reply: fields of an answer, of each of its parts and of the whole.
        reply_of: those of the whole that depend on the model's id.
        refuse: the refusal of a request that breaks the schema, by field and reason.
        refuses_unknown: fields that the schema does not name are refused too; else they are ignored.
        too_long: body of the refusal of a prompt beyond the window; None: it is cut, and nobody is told.
        models: the list of models of a model's id; None: there is no list.
    """

    path: str
    request: Schema
    message: Mapping[str, Any]
    too_long: Body | None = None
    choice: Mapping[str, Any] = {}
    usage: Mapping[str, Any] = {}
    reply: Mapping[str, Any] = {}
    reply_of: Callable[[str], Body] = lambda model: {}  # noqa: ARG005
    refuse: Callable[[str, str], Refusal] = _refuse_400
    refuses_unknown: bool = False
    models: Callable[[str], Any] | None = lambda model: {"object": "list", "data": [{"id": model}]}

    def answer(self, call: Body, n_prompt: int) -> Body:
        """The body of an answer to a call whose prompt has so many tokens."""
        message = {"role": "assistant", "content": _SAID, **self.message}
        tokens = {"prompt_tokens": n_prompt, "completion_tokens": 7, "total_tokens": n_prompt + 7}
        return {
            "id": "id-1",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": call["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", **self.choice}],
            "usage": {**tokens, **self.usage},
            **self.reply,
            **self.reply_of(call["model"]),
        }


def _openrouter_metadata(model: str) -> Body:
    available = [
        {"model": model, "provider": "Other", "selected": False},
        {"model": model, "provider": "DeepInfra", "selected": True},
    ]
    endpoints = {"total": 2, "available": available}
    about = {"requested": model, "strategy": "direct", "attempt": 1, "endpoints": endpoints}
    return {"openrouter_metadata": about}


_WINDOW = "maximum context length is 4096 tokens"
GATEWAYS: Mapping[str, Gateway] = {
    "openrouter": Gateway(
        "/api/v1",
        OPENROUTER,
        {"reasoning": "Of the two, B.", "refusal": None},
        {"error": {"code": 400, "message": f"This endpoint's {_WINDOW}. However, …"}},
        usage={
            "cost": 0.00014,
            "cost_details": {"upstream_inference_cost": None},
            "is_byok": False,
            "prompt_tokens_details": {
                "cached_tokens": 0,
                "cache_write_tokens": 0,
                "audio_tokens": 0,
            },
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
        reply={"system_fingerprint": None},
        reply_of=_openrouter_metadata,
    ),
    "bedrock": Gateway(
        "/openai/v1",
        BEDROCK,
        {"content": f"<reasoning>{_THOUGHT}</reasoning>{_SAID}", "refusal": None},
        {"message": "Input is too long for requested model."},
        reply={"service_tier": "default", "system_fingerprint": None},
        models=None,
    ),
    "mistral": Gateway(
        "/v1",
        MISTRAL,
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]},
                {"type": "text", "text": _SAID},
            ],
            "tool_calls": None,
        },
        {
            "object": "error",
            "message": f"Prompt contains 9000 tokens, too large for model with 4096 {_WINDOW}",
            "type": "invalid_request_error",
            "code": "3051",
        },
        refuse=_refuse_422,
        refuses_unknown=True,
    ),
    "groq": Gateway(
        "/openai/v1",
        GROQ,
        {"content": f"<think>\n{_THOUGHT}\n</think>\n\n{_SAID}"},
        _openai_error(
            "Please reduce the length of the messages or completion.",
            code="context_length_exceeded",
        ),
        usage={"queue_time": 0.01, "prompt_time": 0.01, "completion_time": 0.1, "total_time": 0.1},
        reply={
            "system_fingerprint": "fp_groq",
            "x_groq": {"id": "req_1"},
            "service_tier": "on_demand",
        },
        refuses_unknown=True,
    ),
    "together": Gateway(
        "/v1",
        TOGETHER,
        {},
        _openai_error("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097"),
        choice={"finish_reason": "eos", "seed": 42, "logprobs": None},
        reply={"prompt": []},
        models=lambda model: [{"id": model, "object": "model", "type": "chat"}],
    ),
    "vllm": Gateway(
        "/v1",
        VLLM,
        {"refusal": None, "reasoning": None, "tool_calls": []},
        _openai_error(f"This model's {_WINDOW}. However, …", code=400, param="input_tokens"),
        usage={"prompt_tokens_details": {"cached_tokens": 0}},
        reply={"system_fingerprint": "vllm-0.32.0", "prompt_logprobs": None},
    ),
    "ollama": Gateway(
        "/v1", OLLAMA, {"reasoning": _THOUGHT}, reply={"system_fingerprint": "fp_ollama"}
    ),
    "lm_studio": Gateway(
        "/v1",
        LM_STUDIO,
        {"reasoning_content": _THOUGHT, "tool_calls": []},
        reply={"stats": {}},
        reply_of=lambda model: {"system_fingerprint": model},
        refuse=lambda *_: Refusal(400, {"error": "bad request"}),
    ),
}
"""By the entry of studies/gateways.yaml; llama.cpp is missing there, as the real server runs in tests."""


@dataclass
class GatewayServer:
    """A running stand-in.

    Attributes:
        base_url: as in an entry of `models`.
        model: the one that is listed.
        calls: bodies of the calls, and the headers of each, names in lower case.
        ignored: fields of calls that the maker does not name.
        window: tokens of a prompt, four characters each.
        refusals: given in turn instead of answers.
    """

    base_url: str
    gateway: Gateway
    window: int
    model: str
    calls: list[Body] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)
    refusals: list[Refusal] = field(default_factory=list)

    def complete(self, body: Body) -> Refusal:
        """The reply to a call."""
        if self.refusals:
            return self.refusals.pop(0)
        unknown = sorted(body.keys() - self.gateway.request["properties"].keys())
        if unknown and self.gateway.refuses_unknown:
            return self.gateway.refuse(unknown[0], "Extra inputs are not permitted")
        self.ignored.update(unknown)
        known = {name: value for name, value in body.items() if name not in unknown}
        for error in Draft202012Validator(self.gateway.request).iter_errors(known):
            place = ".".join(map(str, error.absolute_path)) or "body"
            return self.gateway.refuse(place, error.message[:80])
        sizes = [len(message["content"]) // 4 + 4 for message in body["messages"]]
        if sum(sizes) > self.window and self.gateway.too_long is not None:
            return Refusal(400, self.gateway.too_long)
        while sum(sizes) > self.window and len(sizes) > 1:
            # the oldest messages go first
            sizes.pop(0)
        return Refusal(200, self.gateway.answer(body, min(sum(sizes), self.window)))


@contextmanager
def serve_gateway(
    gateway: Gateway, *, window: int = 4096, model: str = "a-model"
) -> Iterator[GatewayServer]:
    """Serve on the loopback interface until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.calls.append(body)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            is_call = self.path == f"{gateway.path}/chat/completions"
            self.reply(server.complete(body) if is_call else Refusal(404, {}))

        def do_GET(self) -> None:
            is_list = self.path == f"{gateway.path}/models" and gateway.models is not None
            listed = gateway.models(model) if is_list and gateway.models else {}
            self.reply(Refusal(200 if is_list else 404, listed))

        def reply(self, reply: Refusal) -> None:
            raw = json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        base_url = f"http://127.0.0.1:{http.server_port}{gateway.path}"
        server = GatewayServer(base_url, gateway, window, model)
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
