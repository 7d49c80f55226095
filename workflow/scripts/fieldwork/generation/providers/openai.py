"""Chat Completions, as OpenAI, Azure and every compatible server (vLLM, Ollama, llama.cpp) speak it.

The body is joined from bytes that are made once a context and once a question. A raw line break cannot
stand inside JSON text, so it marks seams: the content of a context's last message stands between two.
There `wire` puts the cache breakpoint that newer OpenAI models want. It belongs to the delivery, like
the cache key: the ledger's key is over the plain body, so that turning it on asks nothing again.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import (
    Exchange,
    ModelInfo,
    RejectedError,
    Reply,
    Sampling,
    TransientError,
    Usage,
    defects_of,
)
from fieldwork.generation.providers.http import Answer, Http, HttpSettings
from fieldwork.generation.providers.jsontext import (
    as_count,
    as_map,
    as_text,
    dumps,
    loads,
    mended,
    well_formed,
)
from fieldwork.generation.providers.snapshots import is_one_of
from fieldwork.records.generation import Outcome
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item
from fieldwork.retries import TRANSIENT_STATUSES

_EMPTY_ACCOUNT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_FILTERED = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
)


class OpenAISettings(NamedTuple):
    """Where the model is and how to call it.

    Attributes:
        model: the id the server knows; with Azure, the deployment.
        base_url: up to and including `/v1`; with Azure, the resource's address.
        api_key: None for servers that want none.
        token_limit_field: `max_tokens`, or `max_completion_tokens` for newer OpenAI models.
        send_temperature: False for models that refuse it.
        send_seed: pass the replicate's seed on.
        timeout_s: seconds a call may take in all.
        concurrency: calls under way at once.
        azure_version: the `api-version` of Azure's interface; None for every other server.
        headers: further ones, sent with every call.
        secrets: values among them that are never shown, besides those whose names say so.
        proxy: address of a proxy; None asks the environment.
        ca_file: certificates in PEM to trust besides the system's.
        flex: ask for the cheaper, slower service tier.
        cache_key: send the context's id as `prompt_cache_key`.
        cache_breakpoint: mark the context's end as the end of what the server caches, and nothing
            else: a question is asked too rarely to pay for its place in the cache.
        accept_models: returned ids that count as the model, besides itself and its snapshots.
    """

    model: str
    base_url: str
    api_key: str | None
    token_limit_field: str
    send_temperature: bool
    send_seed: bool
    timeout_s: float
    concurrency: int
    azure_version: str | None = None
    headers: Mapping[str, str] = {}
    secrets: tuple[str, ...] = ()
    proxy: str | None = None
    ca_file: str | None = None
    flex: bool = False
    cache_key: bool = False
    cache_breakpoint: bool = False
    accept_models: tuple[str, ...] = ()


class OpenAI:
    """The provider `openai`."""

    def __init__(self, settings: OpenAISettings) -> None:
        self.settings = settings
        self._start = b'{"model":' + dumps(settings.model) + b',"messages":['
        self._asked = (settings.model, *settings.accept_models)
        self.concurrency = settings.concurrency
        self.timeout_s: float | None = settings.timeout_s
        self.sends_temperature = settings.send_temperature
        self.endpoint = _endpoint(settings)
        self._http = Http(
            HttpSettings(
                headers={**_authorization(settings), **settings.headers},
                secrets=(settings.api_key or "", *settings.secrets),
                proxy=settings.proxy,
                ca_file=settings.ca_file,
                timeout_s=settings.timeout_s,
                connections=settings.concurrency,
            ),
            self.endpoint,
        )

    def prefix(self, context: Sequence[Message]) -> bytes:
        """The model and the context's messages; equal contexts give equal bytes."""
        if not context:
            return self._start
        *before, last = [{"role": m.role, "content": m.content} for m in context]
        head = dumps(before)[1:-1] + b"," if before else b""
        role, content = dumps(last["role"]), dumps(last["content"])
        seamed = (b'{"role":', role, b',"content":\n', content, b"\n},")
        return b"".join((self._start, head, *seamed))

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """The item's prompt and all that steers sampling."""
        settings = self.settings
        options: dict[str, Any] = {settings.token_limit_field: sampling.max_tokens}
        if settings.send_temperature and sampling.temperature is not None:
            options["temperature"] = sampling.temperature
        if settings.send_seed:
            options["seed"] = sampling.seed
        asked = dumps({"role": "user", "content": item.prompt})
        return asked + b"]," + dumps(options)[1:-1]

    def delivery(self, context_id: str | None) -> bytes:
        """The cache key of a context, and the service tier."""
        settings, fields = self.settings, b""
        if context_id is not None and settings.cache_key:
            fields += b',"prompt_cache_key":' + dumps(context_id)
        if context_id is not None and settings.cache_breakpoint:
            fields += b',"prompt_cache_options":{"mode":"explicit"}'
        return fields + (b',"service_tier":"flex"' if settings.flex else b"")

    def wire(self, body: bytes) -> bytes:
        """What is sent for a body: itself, or with the breakpoint at the end of its context."""
        if not self.settings.cache_breakpoint:
            return body
        end = body.rfind(b"\n")
        start = body.rfind(b"\n", 0, max(end, 0))
        if start < 0:
            return body
        whole = memoryview(body)  # a context is large, and is copied once
        parts = (whole[:start], _PART_START, whole[start + 1 : end], _PART_END, whole[end + 1 :])
        return b"".join(parts)

    async def send(self, body: bytes) -> Exchange:
        """One POST. A call that a filter in front of the model refused is answered: filtered."""
        answer = await self._http.call("POST", self.endpoint, self.wire(body))
        if answer.status != 200 and not (answer.status in (400, 403) and _is_filtered(answer.raw)):
            raise self._error(answer)
        return answer.exchange()

    def _error(self, answer: Answer) -> Exception:
        status, raw = answer.status, answer.raw
        said = f"HTTP {status}: {self._said(raw)}"
        codes = _error_codes(raw)
        if status == 402 or codes & _EMPTY_ACCOUNT or (status == 429 and b"insufficient_q" in raw):
            return StudyError(f"{self.endpoint}: {said}; add credit to the account, then run again")
        if status in (401, 403):
            return StudyError(
                f"{self.endpoint}: {said}; check the key named in models.*.api_key_env"
            )
        if status == 404:
            return StudyError(
                f"{self.endpoint}: {said}; check models.*.model and models.*.base_url"
            )
        if status in TRANSIENT_STATUSES:
            return answer.transient_error(said)
        if codes & _TOO_LONG or b"maximum context length" in raw:
            said += "; the prompt is longer than the model reads: lower conditions.*.token_budget"
        return RejectedError(said)

    def _said(self, raw: bytes) -> str:
        return _error_message(self._http.scrubbed(raw))

    def read(self, raw: bytes) -> Reply:
        """Read a completion, or the refusal of a filter in front of the model."""
        try:
            body, is_whole = mended(raw)
            if "choices" not in body and _is_filtered(raw):
                return Reply(text=None, outcome="filtered", finish_reason="content_filter")
            return _reply(body, is_whole=is_whole)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            sentence = f"no chat completion: {self._why_not(raw, error)}"
            raise TransientError(sentence, maybe_billed=True) from error

    def _why_not(self, raw: bytes, error: Exception) -> str:
        """What is wrong, without ids and texts where it can be told: alike for all that fail alike."""
        if isinstance(error, _ContentError) and not _error_of(raw):
            return str(error)
        if isinstance(error, KeyError) and not _error_of(raw):
            return f"it has no {error}"
        return "its choices are empty" if isinstance(error, IndexError) else self._said(raw)

    def is_asked_for(self, returned_model: str) -> bool:
        """The model, a dated snapshot of it, or one of `accept_models`."""
        return is_one_of(returned_model, self._asked)

    def masked(self, text: str) -> str:
        """`text` without the key, and without what headers and the proxy's address hold of secrets."""
        return self._http.scrubbed(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    async def models(self) -> list[ModelInfo] | None:
        """The server's list; None where it has none, or, as with Azure, one that names no deployment.

        Raises:
            TransientError: worth another try.
            StudyError: the server refuses the key.
        """
        if self.settings.azure_version is not None:
            return None
        url = self.settings.base_url.rstrip("/") + "/models"
        answer = await self._http.call("GET", url)
        if answer.status in (404, 405, 501):
            return None
        if answer.status != 200:
            raise self._error(answer)
        try:
            return [_model_info(entry) for entry in loads(answer.raw)["data"]]
        except (ValueError, KeyError, TypeError) as error:
            raise TransientError(f"no list of models: {self._said(answer.raw)}") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()


_PART_START = b'[{"type":"text","text":'
_PART_END = b',"prompt_cache_breakpoint":{"mode":"explicit"}}]'


def _endpoint(settings: OpenAISettings) -> str:
    base = settings.base_url.rstrip("/")
    if settings.azure_version is None:
        return f"{base}/chat/completions"
    deployment, version = quote(settings.model, safe=""), quote(settings.azure_version, safe="")
    return f"{base}/openai/deployments/{deployment}/chat/completions?api-version={version}"


def _authorization(settings: OpenAISettings) -> dict[str, str]:
    if not settings.api_key:
        return {}
    if settings.azure_version is not None:
        return {"api-key": settings.api_key}
    return {"Authorization": f"Bearer {settings.api_key}"}


def _model_info(entry: dict[str, Any]) -> ModelInfo:
    try:
        shutdown = date.fromisoformat(entry["shutdown_date"][:10])
    except (KeyError, TypeError, ValueError):
        shutdown = None
    return ModelInfo(str(entry["id"]), shutdown)


def _reply(body: Mapping[str, Any], *, is_whole: bool) -> Reply:
    choice = body["choices"][0]
    message = choice["message"]
    text = _text(message.get("content"))
    finish_reason = as_text(choice.get("finish_reason"))
    returned_model = as_text(body.get("model")) or None
    usage = as_map(body.get("usage"))
    return Reply(
        text=text,
        outcome=_outcome(finish_reason, message.get("refusal"), text),
        finish_reason=finish_reason,
        returned_model=returned_model,
        fingerprint=as_text(body.get("system_fingerprint")),
        service_tier=as_text(body.get("service_tier")),
        usage=_usage(usage),
        defects=defects_of(
            is_whole=is_whole, has_usage=_has_usage(usage), returned_model=returned_model
        ),
    )


class _ContentError(TypeError):
    """A message's content is none."""


def _text(content: object) -> str | None:
    """A message's text: a string, or the text among its parts, as some servers write beside thoughts."""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part["type"] == "text")
    if content is not None and not isinstance(content, str):
        raise _ContentError(f"a message's content is of type {type(content).__name__}, not text")
    return content and well_formed(content)


def _error_of(raw: bytes) -> dict[str, Any]:
    try:
        error = loads(raw)["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}


def _error_codes(raw: bytes) -> set[str]:
    error = _error_of(raw)
    inner = error.get("innererror")
    codes = [error.get("code"), error.get("type")]
    if isinstance(inner, dict):
        codes.append(inner.get("code"))
    return {code for code in codes if isinstance(code, str)}


def _is_filtered(raw: bytes) -> bool:
    codes = _error_codes(raw)
    # OpenAI gives this code to malformed prompts too, and only the sentence tells them apart
    flagged = "invalid_prompt" in codes and b"flagged" in raw
    return bool(codes & _FILTERED) or flagged


def _error_message(raw: bytes) -> str:
    message = _error_of(raw).get("message")
    if message:
        return " ".join(well_formed(str(message)).split())[:200]
    return " ".join(raw[:120].decode("utf-8", "replace").split()) or "an empty body"


def _outcome(finish_reason: str | None, refusal: object, text: str | None) -> Outcome:
    if refusal:
        return "refused"
    if finish_reason == "content_filter":
        return "filtered"
    if finish_reason == "length":
        return "truncated"
    return "ok" if text and text.strip() else "empty"


def _usage(usage: Mapping[str, Any]) -> Usage:
    prompt = as_map(usage.get("prompt_tokens_details"))
    completion = as_map(usage.get("completion_tokens_details"))
    return Usage(
        input=as_count(usage.get("prompt_tokens")),
        cached=as_count(prompt.get("cached_tokens")),
        cache_write=as_count(prompt.get("cache_write_tokens")),
        output=as_count(usage.get("completion_tokens")),
        reasoning=as_count(completion.get("reasoning_tokens")),
    )


def _has_usage(usage: Mapping[str, Any]) -> bool:
    """Whether a reply tells its tokens, and nothing about them that cannot be read."""
    counts = _usage(usage)
    details = (usage.get(f"{part}_tokens_details") for part in ("prompt", "completion"))
    is_odd = any(not isinstance(part, dict | None) for part in details)
    return counts.input is not None and counts.output is not None and not is_odd
