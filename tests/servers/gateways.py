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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from openai.types.chat import completion_create_params

Schema = dict[str, Any]
Body = dict[str, Any]

TEXT: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
INTEGER: Schema = {"type": "integer"}
ANY: Schema = {}


def _messages(roles: Sequence[str] = ("system", "user", "assistant"), **more: Any) -> Schema:
    """Messages of plain text; `more` are keys of the schema of a message."""
    message = {
        "type": "object",
        "required": ["role", "content"],
        "properties": {"role": {"enum": [*roles]}, "content": TEXT},
        **more,
    }
    return {"type": "array", "minItems": 1, "items": message}


def _request(*, messages: Schema | None = None, **fields: Schema) -> Schema:
    fields = {"model": TEXT, "messages": messages or _messages(), **fields}
    return {
        "type": "object",
        "required": ["model", "messages"],
        "properties": fields,
        "additionalProperties": False,
    }


_ONLY_NAMED = {"additionalProperties": False}
_TEMPERATURE = {"type": "number", "minimum": 0, "maximum": 2}

OPENROUTER = _request(
    max_tokens=INTEGER,
    max_completion_tokens=INTEGER,
    temperature=_TEMPERATURE,
    seed=INTEGER,
    logprobs=BOOLEAN,
    top_logprobs={"type": "integer", "minimum": 0, "maximum": 20},
    top_k=INTEGER,
    top_p=NUMBER,
    min_p=NUMBER,
    reasoning=ANY,
    reasoning_effort=TEXT,
    prompt_cache_key=TEXT,
    service_tier={"enum": ["auto", "default", "fast", "flex", "priority", "scale"]},
    plugins={
        "type": "array",
        "items": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": TEXT, "enabled": BOOLEAN, "engine": {"enum": ["middle-out"]}},
        },
    },
    provider={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **dict.fromkeys(("allow_fallbacks", "require_parameters", "zdr"), BOOLEAN),
            **{
                name: {"type": "array", "items": TEXT}
                for name in ("only", "order", "ignore", "quantizations")
            },
            "data_collection": {"enum": ["deny", "allow"]},
            "sort": ANY,
            "max_price": ANY,
        },
    },
)
MISTRAL = _request(
    messages=_messages(**_ONLY_NAMED),
    max_tokens=COUNT,
    temperature={"type": "number", "minimum": 0, "maximum": 1.5},
    random_seed=COUNT,
    top_p={"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    n={"type": "integer", "minimum": 1},
    reasoning_effort={"enum": ["none", "minimal", "low", "medium", "high", "xhigh"]},
    prompt_mode={"enum": ["reasoning"]},
    prompt_cache_key=TEXT,
    service_tier={"enum": ["auto", "standard_only"]},
    safe_prompt=BOOLEAN,
)
TOGETHER = _request(
    max_tokens=INTEGER,
    temperature=NUMBER,
    seed=INTEGER,
    top_k=INTEGER,
    top_p=NUMBER,
    min_p=NUMBER,
    repetition_penalty=NUMBER,
    # the number of alternatives; OpenAI's field of this name is true or false
    logprobs={"type": "integer", "minimum": 0, "maximum": 20, "not": {"type": "boolean"}},
    n={"type": "integer", "minimum": 1, "maximum": 128},
    context_length_exceeded_behavior={"enum": ["truncate", "error"]},
    reasoning_effort={"enum": ["low", "medium", "high"]},
)
GROQ = _request(
    messages=_messages(**_ONLY_NAMED),
    max_tokens=INTEGER,
    max_completion_tokens=INTEGER,
    temperature=_TEMPERATURE,
    seed=INTEGER,
    top_p=NUMBER,
    n={"const": 1},
    reasoning_effort={"enum": ["none", "default", "low", "medium", "high"]},
    reasoning_format={"enum": ["hidden", "raw", "parsed"]},
    include_reasoning=BOOLEAN,
    service_tier={"enum": ["auto", "on_demand", "flex", "performance"]},
    user=TEXT,
)
BEDROCK = _request(
    **{
        name: ANY
        for name in completion_create_params.CompletionCreateParamsBase.__annotations__
        if name not in ("model", "messages")
    }
)
OLLAMA = _request(
    max_tokens=INTEGER,
    temperature=NUMBER,
    seed=INTEGER,
    top_p=NUMBER,
    stop=ANY,
    frequency_penalty=NUMBER,
    presence_penalty=NUMBER,
    response_format=ANY,
    reasoning=ANY,
    reasoning_effort=TEXT,
    logprobs=BOOLEAN,
    top_logprobs=INTEGER,
    stream=BOOLEAN,
    stream_options=ANY,
)
LM_STUDIO = _request(
    max_tokens=INTEGER,
    temperature=NUMBER,
    seed=INTEGER,
    top_p=NUMBER,
    top_k=INTEGER,
    stop=ANY,
    repeat_penalty=NUMBER,
    frequency_penalty=NUMBER,
    presence_penalty=NUMBER,
    logit_bias=ANY,
    stream=BOOLEAN,
    stream_options=ANY,
)
VLLM = _request(
    max_tokens=INTEGER,
    max_completion_tokens=INTEGER,
    temperature=NUMBER,
    seed={"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    top_p=NUMBER,
    top_k=INTEGER,
    min_p=NUMBER,
    repetition_penalty=NUMBER,
    logprobs=BOOLEAN,
    top_logprobs=INTEGER,
    n=INTEGER,
    reasoning_effort=TEXT,
    include_reasoning=BOOLEAN,
    truncate_prompt_tokens=INTEGER,
    chat_template_kwargs=ANY,
)


def _completion(
    call: Body,
    usage: Body | None,
    *,
    message: Body | None = None,
    finish_reason: str = "stop",
    **more: Any,
) -> Body:
    said = {"role": "assistant", "content": "The answer is (B).", **(message or {})}
    return {
        "id": "id-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": call["model"],
        "choices": [{"index": 0, "message": said, "finish_reason": finish_reason}],
        "usage": usage,
        **more,
    }


def _usage(n_prompt: int, **more: Any) -> Body:
    return {
        "prompt_tokens": n_prompt,
        "completion_tokens": 7,
        "total_tokens": n_prompt + 7,
        **more,
    }


def _openrouter_reply(call: Body, n_prompt: int) -> Body:
    usage = _usage(
        n_prompt,
        cost=0.00014,
        cost_details={"upstream_inference_cost": None},
        is_byok=False,
        prompt_tokens_details={"cached_tokens": 0, "cache_write_tokens": 0, "audio_tokens": 0},
        completion_tokens_details={"reasoning_tokens": 2},
    )
    metadata = {
        "requested": call["model"],
        "strategy": "direct",
        "attempt": 1,
        "endpoints": {
            "total": 2,
            "available": [
                {"model": call["model"], "provider": "Other", "selected": False},
                {"model": call["model"], "provider": "DeepInfra", "selected": True},
            ],
        },
    }
    message = {"reasoning": "Of the two, B.", "refusal": None}
    return _completion(
        call, usage, message=message, system_fingerprint=None, openrouter_metadata=metadata
    )


def _mistral_reply(call: Body, n_prompt: int) -> Body:
    thoughts = {"type": "thinking", "thinking": [{"type": "text", "text": "It could be A."}]}
    content = [thoughts, {"type": "text", "text": "The answer is (B)."}]
    return _completion(call, _usage(n_prompt), message={"content": content, "tool_calls": None})


def _together_reply(call: Body, n_prompt: int) -> Body:
    body = _completion(call, _usage(n_prompt), finish_reason="eos", prompt=[])
    body["choices"][0] |= {"seed": 42, "logprobs": None}
    return body


def _groq_reply(call: Body, n_prompt: int) -> Body:
    usage = _usage(n_prompt, queue_time=0.01, prompt_time=0.01, completion_time=0.1, total_time=0.1)
    return _completion(
        call,
        usage,
        message={"content": "<think>\nIt could be A.\n</think>\n\nThe answer is (B)."},
        system_fingerprint="fp_groq",
        x_groq={"id": "req_1"},
        service_tier="on_demand",
    )


def _bedrock_reply(call: Body, n_prompt: int) -> Body:
    content = "<reasoning>It could be A.</reasoning>The answer is (B)."
    return _completion(
        call,
        _usage(n_prompt),
        message={"content": content, "refusal": None},
        service_tier="default",
        system_fingerprint=None,
    )


def _ollama_reply(call: Body, n_prompt: int) -> Body:
    message = {"reasoning": "It could be A."}
    return _completion(call, _usage(n_prompt), message=message, system_fingerprint="fp_ollama")


def _lm_studio_reply(call: Body, n_prompt: int) -> Body:
    message = {"reasoning_content": "It could be A.", "tool_calls": []}
    return _completion(
        call, _usage(n_prompt), message=message, stats={}, system_fingerprint=call["model"]
    )


def _vllm_reply(call: Body, n_prompt: int) -> Body:
    message = {"refusal": None, "reasoning": None, "tool_calls": []}
    usage = _usage(n_prompt, prompt_tokens_details={"cached_tokens": 0})
    return _completion(
        call, usage, message=message, system_fingerprint="vllm-0.32.0", prompt_logprobs=None
    )


def _openai_error(message: str, **more: Any) -> Body:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


class Refusal(NamedTuple):
    """A reply that is no answer."""

    status: int
    body: Body
    headers: Mapping[str, str] = {}


class Gateway(NamedTuple):
    """A gateway or server as its maker describes it.

    Attributes:
        path: where its interface begins.
        request: the schema of a request. Only fields that the maker names are in it.
        reply: of a call and the tokens of its prompt.
        refuse: the refusal of a request that breaks the schema, by field and reason.
        refuses_unknown: fields that the schema does not name are refused too; else they are ignored.
        too_long: the refusal of a prompt beyond the window; None: it is cut, and nobody is told.
        models: the list of models of a model's id; None: there is no list.
    """

    path: str
    request: Schema
    reply: Callable[[Body, int], Body]
    refuse: Callable[[str, str], Refusal]
    refuses_unknown: bool = False
    too_long: Refusal | None = None
    models: Callable[[str], Any] | None = lambda model: {"object": "list", "data": [{"id": model}]}


def _refuse_400(place: str, reason: str) -> Refusal:
    return Refusal(400, _openai_error(f"{place}: {reason}", param=place))


def _refuse_422(place: str, reason: str) -> Refusal:
    detail = {"type": "extra_forbidden", "loc": ["body", place], "msg": reason, "input": None}
    return Refusal(422, {"object": "error", "message": {"detail": [detail]}, "code": None})


_WINDOW = "maximum context length is 4096 tokens"
GATEWAYS: Mapping[str, Gateway] = {
    "openrouter": Gateway(
        "/api/v1",
        OPENROUTER,
        _openrouter_reply,
        _refuse_400,
        too_long=Refusal(
            400, {"error": {"code": 400, "message": f"This endpoint's {_WINDOW}. However, …"}}
        ),
    ),
    "bedrock": Gateway(
        "/openai/v1",
        BEDROCK,
        _bedrock_reply,
        _refuse_400,
        too_long=Refusal(400, {"message": "Input is too long for requested model."}),
        models=None,
    ),
    "mistral": Gateway(
        "/v1",
        MISTRAL,
        _mistral_reply,
        _refuse_422,
        refuses_unknown=True,
        too_long=Refusal(
            400,
            {
                "object": "error",
                "message": f"Prompt contains 9000 tokens, too large for model with 4096 {_WINDOW}",
                "type": "invalid_request_error",
                "code": "3051",
            },
        ),
    ),
    "groq": Gateway(
        "/openai/v1",
        GROQ,
        _groq_reply,
        _refuse_400,
        refuses_unknown=True,
        too_long=Refusal(
            400,
            _openai_error(
                "Please reduce the length of the messages or completion.",
                code="context_length_exceeded",
            ),
        ),
    ),
    "together": Gateway(
        "/v1",
        TOGETHER,
        _together_reply,
        _refuse_400,
        too_long=Refusal(
            400,
            _openai_error(
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097"
            ),
        ),
        models=lambda model: [{"id": model, "object": "model", "type": "chat"}],
    ),
    "vllm": Gateway(
        "/v1",
        VLLM,
        _vllm_reply,
        _refuse_400,
        too_long=Refusal(
            400,
            _openai_error(f"This model's {_WINDOW}. However, …", code=400, param="input_tokens"),
        ),
    ),
    "ollama": Gateway("/v1", OLLAMA, _ollama_reply, _refuse_400),
    "lm_studio": Gateway(
        "/v1", LM_STUDIO, _lm_studio_reply, lambda *_: Refusal(400, {"error": "bad request"})
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
            return self.gateway.too_long
        while sum(sizes) > self.window and len(sizes) > 1:
            # the oldest messages go first
            sizes.pop(0)
        return Refusal(200, self.gateway.reply(body, min(sum(sizes), self.window)))


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
