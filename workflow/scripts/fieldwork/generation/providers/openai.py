"""Chat Completions, the interface of OpenAI, Azure and compatible servers (vLLM, Ollama, llama.cpp).

A body is joined from bytes that are made once per context and once per question. JSON text holds no raw
line break, so line breaks mark the content of a context's last message: one stands before it, one after.
There `wire` adds the cache breakpoint that newer OpenAI models need. Like the cache key, the breakpoint
concerns delivery only. The ledger's key covers the body without it, so nothing is asked again when a
study starts to use breakpoints.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from fieldwork.generation.providers.breakpoints import marked_turns, with_breakpoint
from fieldwork.generation.providers.http import HttpReply, Watch
from fieldwork.generation.providers.jsontext import (
    as_count,
    as_list,
    as_map,
    as_text,
    dumps,
    error_line,
    load_leniently,
    loads,
    loads_or_none,
    well_formed,
)
from fieldwork.generation.providers.letters import (
    TokenPlace,
    letter_probabilities,
    read_alternatives,
)
from fieldwork.generation.providers.service import ServiceModel, ServiceSettings
from fieldwork.records.generation import Outcome
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item
from fieldwork.retries import TRANSIENT_STATUSES

_EMPTY_ACCOUNT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
)


@dataclass(frozen=True, kw_only=True)
class OpenAISettings(ServiceSettings):
    """Where the model is and how to call it; with Azure, `model` is the deployment.

    Attributes:
        base_url: up to and including `/v1`; with Azure, the resource's address.
        token_limit_field: `max_tokens`, or `max_completion_tokens` for newer OpenAI models.
        azure_version: the `api-version` of Azure's interface; None for every other server.
        cache_key: send the context's id as `prompt_cache_key`.
        cache_breakpoint: mark the end of the context as the end of what the server caches. Questions
            stay outside, because they are repeated too rarely to pay for their place in the cache.
    """

    base_url: str
    token_limit_field: str
    azure_version: str | None = None
    cache_key: bool = False
    cache_breakpoint: bool = False


class OpenAI(ServiceModel):
    """The provider `openai`."""

    def __init__(self, settings: OpenAISettings) -> None:
        super().__init__(settings, _endpoint(settings), _authorization(settings))
        self.settings = settings
        self._start = b'{"model":' + dumps(settings.model) + b',"messages":['

    def prefix(self, context: Sequence[Message]) -> bytes:
        """The model and the context's messages; equal contexts give equal bytes."""
        turns = [{"role": m.role, "content": m.content} for m in context]
        return self._start + marked_turns(turns)

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """The item's prompt and all settings of sampling."""
        settings = self.settings
        options: dict[str, Any] = {settings.token_limit_field: sampling.max_tokens}
        if settings.send_temperature and sampling.temperature is not None:
            options["temperature"] = sampling.temperature
        if settings.send_seed:
            options["seed"] = sampling.seed
        if settings.top_logprobs and item.kind == "choice":
            options |= {"logprobs": True, "top_logprobs": settings.top_logprobs}
        message = dumps({"role": "user", "content": item.prompt})
        return message + b"]," + dumps(options)[1:-1]

    def delivery(self, context_id: str | None) -> bytes:
        """The cache key of a context, and the service tier."""
        settings, fields = self.settings, b""
        if context_id is not None and settings.cache_key:
            fields += b',"prompt_cache_key":' + dumps(context_id)
        if context_id is not None and settings.cache_breakpoint:
            fields += b',"prompt_cache_options":{"mode":"explicit"}'
        return fields + (b',"service_tier":"flex"' if settings.flex else b"")

    def wire(self, body: bytes) -> bytes:
        """The bytes that are sent for a body: the body, or with a cache breakpoint after its context."""
        has_breakpoint = self.settings.cache_breakpoint
        return with_breakpoint(body, _PART_START, _PART_END) if has_breakpoint else body

    async def send(self, body: bytes) -> Exchange:
        """Send one POST. A refusal by a filter before the model is a reply too: filtered."""
        return await self._post(body)

    async def _post(self, body: bytes, watch: Watch | None = None) -> Exchange:
        reply = await self._http.call("POST", self.endpoint, self.wire(body), watch=watch)
        if reply.status != 200:
            error = _error_in(loads_or_none(reply.raw), reply.raw)
            if reply.status not in (400, 403) or not error.is_filtered:
                raise openai_error(reply, self.endpoint, self._http.mask)
        return reply.exchange()

    def read(self, raw: bytes) -> Reply:
        """Read a completion, or the refusal of a filter before the model."""
        body: Any = None
        try:
            body, is_whole = load_leniently(raw)
            if "choices" not in body and _error_in(body, raw).is_filtered:
                return Reply(text=None, outcome="filtered", finish_reason="content_filter")
            return _reply(body, is_whole=is_whole)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            message = f"no chat completion: {self._defect(body, raw, error)}"
            raise TransientError(message, maybe_billed=True) from error

    def _defect(self, body: object, raw: bytes, error: Exception) -> str:
        """What is wrong with a reply; where possible without ids, so that equal failures count as one."""
        error_body = _error_in(body, raw)
        if isinstance(error, _ContentError) and not error_body.is_there:
            return str(error)
        if isinstance(error, KeyError) and not error_body.is_there:
            return f"it has no {error}"
        if isinstance(error, IndexError):
            return "its choices are empty"
        return error_line(error_body.message, raw, self._http.mask)

    async def models(self) -> list[ModelInfo] | None:
        """The server's list; None for Azure too, whose list names no deployments."""
        if self.settings.azure_version is not None:
            return None
        url = self.settings.base_url.rstrip("/") + "/models"
        reply = await self._http.call("GET", url)
        if reply.status in (404, 405, 501):
            return None
        if reply.status != 200:
            raise openai_error(reply, self.endpoint, self._http.mask)
        body: Any = None
        try:
            body = loads(reply.raw)
            return [_model_info(entry) for entry in body["data"]]
        except (ValueError, KeyError, TypeError) as error:
            message = error_line(_error_in(body, reply.raw).message, reply.raw, self._http.mask)
            raise TransientError(f"no list of models: {message}") from error


_PART_START = b'[{"type":"text","text":'
_PART_END = b',"prompt_cache_breakpoint":{"mode":"explicit"}}]'


def status_line(reply: HttpReply, mask: Callable[[str], str]) -> str:
    """The status of a reply and its error, as one short line without secrets."""
    message = _error_in(loads_or_none(reply.raw), reply.raw).message
    return f"HTTP {reply.status}: {error_line(message, reply.raw, mask)}"


def openai_error(reply: HttpReply, server: str, mask: Callable[[str], str]) -> Exception:
    """The error for a reply whose status is not 200.

    Args:
        server: its name in messages.
        mask: removes secrets from a message.
    """
    status, error = reply.status, _error_in(loads_or_none(reply.raw), reply.raw)
    message = status_line(reply, mask)
    is_out_of_quota = status == 429 and b"insufficient_q" in reply.raw
    if status == 402 or error.codes & _EMPTY_ACCOUNT or is_out_of_quota:
        return StudyError(f"{server}: {message}; add credit to the account, then run again")
    if status in (401, 403):
        return StudyError(
            f"{server}: {message}; check the key in the environment variable that models.*.api_key_env "
            f"names"
        )
    if status == 404:
        return StudyError(f"{server}: {message}; check models.*.model and models.*.base_url")
    if status in TRANSIENT_STATUSES:
        return reply.transient_error(message)
    if error.codes & _TOO_LONG or b"maximum context length" in reply.raw:
        message += "; the prompt is too long for the model: lower conditions.*.token_budget"
    return RejectedError(message)


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
        is_tempered=False,
        option_probabilities=letter_probabilities(_token_places(as_map(choice.get("logprobs")))),
    )


def _token_places(logprobs: Mapping[str, Any]) -> Iterator[TokenPlace]:
    """The tokens of an answer with their alternatives; none where they are of another form."""
    for place in as_list(logprobs.get("content")):
        alternatives = read_alternatives(as_map(place).get("top_logprobs"), "logprob")
        yield TokenPlace(as_text(as_map(place).get("token")) or "", alternatives)


class _ContentError(TypeError):
    """A message's content is not text."""


def _text(content: object) -> str | None:
    """A message's text: a string, or parts of which some are text, as servers with thoughts write it."""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part["type"] == "text")
    if content is not None and not isinstance(content, str):
        raise _ContentError(f"a message's content is of type {type(content).__name__}, not text")
    return content and well_formed(content)


class OpenAIErrorBody(NamedTuple):
    """What the body of an error says.

    Attributes:
        codes: its codes and types.
        message: empty where it has none.
        is_filtered: a filter before the model refused the prompt.
        is_there: the body has an error.
    """

    codes: frozenset[str]
    message: str
    is_filtered: bool
    is_there: bool


def _error_in(body: object, raw: bytes) -> OpenAIErrorBody:
    """The error in a body, parsed and as it came."""
    error = as_map(as_map(body).get("error"))
    values = (error.get("code"), error.get("type"), as_map(error.get("innererror")).get("code"))
    codes = frozenset(value for value in values if isinstance(value, str))
    # OpenAI gives this code to malformed prompts too, and only the sentence tells them apart
    is_flagged = "invalid_prompt" in codes and b"flagged" in raw
    return OpenAIErrorBody(
        codes,
        message=str(error.get("message") or ""),
        is_filtered=bool(codes & _FILTER_CODES) or is_flagged,
        is_there=bool(error),
    )


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
        cache_read=as_count(prompt.get("cached_tokens")),
        cache_write=as_count(prompt.get("cache_write_tokens")),
        output=as_count(usage.get("completion_tokens")),
        reasoning=as_count(completion.get("reasoning_tokens")),
    )


def _has_usage(usage: Mapping[str, Any]) -> bool:
    """Whether a reply states its tokens, and all it says about them can be read."""
    counts = _usage(usage)
    details = (usage.get(f"{part}_tokens_details") for part in ("prompt", "completion"))
    is_odd = any(not isinstance(part, dict | None) for part in details)
    return counts.input is not None and counts.output is not None and not is_odd
