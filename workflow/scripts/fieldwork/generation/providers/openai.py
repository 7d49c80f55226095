"""Chat Completions, the interface of OpenAI, of Azure and of compatible gateways and servers.

A body is joined from bytes that are made once per context and once per question. JSON text holds no raw
line break, so line breaks mark the content of a context's last message: one stands before it, one after.
There `wire` adds the cache breakpoint that newer OpenAI models need. Like the cache key, the breakpoint
concerns delivery only. The ledger's key covers the body without it, so nothing is asked again when a
study starts to use breakpoints.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import quote

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import (
    CheckedUsage,
    Exchange,
    ModelInfo,
    RejectedError,
    Reply,
    Sampling,
    TransientError,
    Usage,
    check_usage,
    defects_of,
)
from fieldwork.generation.providers.breakpoints import marked_turns, with_breakpoint
from fieldwork.generation.providers.http import Watch
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
    plain_numbers,
    well_formed,
)
from fieldwork.generation.providers.letters import (
    TokenPlace,
    letter_probabilities,
    read_alternatives,
)
from fieldwork.generation.providers.openai_errors import (
    openai_error,
    openai_error_in,
    status_line,
)
from fieldwork.generation.providers.service import ServiceModel, ServiceSettings
from fieldwork.records.generation import Outcome
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item
from fieldwork.sections.services import OpenAIEntry

LENGTH_REASONS = frozenset({"length", "model_length", "max_tokens", "max_output_tokens"})
"""Finish reasons of answers that met a limit. The second is Mistral's, of the model's window. The last
two are of other interfaces, and gateways pass them on."""

FILTER_REASONS = frozenset({"content_filter", "guardrail_intervened"})
"""Finish reasons of answers that a filter withheld; the second is Bedrock's."""

BREAK_REASONS = frozenset({"abort", "aborted", "insufficient_system_resource"})
"""Finish reasons of answers that the server broke off: vLLM's and SGLang's, and DeepSeek's."""


class OpenAI(ServiceModel):
    """The provider `openai`.

    Raises:
        StudyError: an entry for Azure names no version of its interface.
    """

    def __init__(self, settings: ServiceSettings[OpenAIEntry]) -> None:
        entry = settings.entry
        super().__init__(settings, _endpoint(entry), _authorization(settings))
        self.settings, self._cache = settings, entry.prefix_cache
        self._start = b'{"model":' + dumps(entry.model) + b',"messages":['
        # they can change the answer, so the ledger's key covers them; their order does not count
        extra_body = plain_numbers(dict(entry.extra_body))
        self._extra = json.loads(json.dumps(extra_body, sort_keys=True))

    def prefix(self, context: Sequence[Message]) -> bytes:
        """The model and the context's messages; equal contexts give equal bytes."""
        turns = [{"role": m.role, "content": m.content} for m in context]
        return self._start + marked_turns(turns)

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """The item's prompt and all settings of sampling."""
        settings = self.settings.entry
        options: dict[str, Any] = {settings.token_limit_field: sampling.max_tokens}
        if settings.send_temperature and sampling.temperature is not None:
            options["temperature"] = sampling.temperature
        if settings.send_seed:
            options[settings.seed_field] = sampling.seed
        if settings.top_logprobs and item.kind == "choice":
            options |= {"logprobs": True, "top_logprobs": settings.top_logprobs}
        message = dumps({"role": "user", "content": item.prompt})
        return message + b"]," + dumps(options | self._extra)[1:-1]

    def delivery(self, context_id: str | None) -> bytes:
        """The cache key of a context, and the service tier."""
        fields = b""
        if context_id is not None and self._cache and self._cache.key:
            fields += b',"prompt_cache_key":' + dumps(context_id)
        if context_id is not None and self._cache and self._cache.breakpoint:
            fields += b',"prompt_cache_options":{"mode":"explicit"}'
        return fields + (b',"service_tier":"flex"' if self.settings.is_flex else b"")

    def wire(self, body: bytes) -> bytes:
        """The bytes that are sent for a body: the body, or with a cache breakpoint after its context."""
        # questions stay outside: they are repeated too rarely to pay for their place in the cache
        has_breakpoint = self._cache is not None and self._cache.breakpoint
        return with_breakpoint(body, _PART_START, _PART_END) if has_breakpoint else body

    async def send(self, body: bytes) -> Exchange:
        """Send one POST. A refusal by a filter before the model is a reply too: filtered."""
        return await self._post(body)

    async def _post(self, body: bytes, watch: Watch | None = None) -> Exchange:
        reply = await self._http.call("POST", self.endpoint, self.wire(body), watch=watch)
        if reply.status != 200:
            error = openai_error_in(loads_or_none(reply.raw), reply.raw)
            if reply.status not in (400, 403) or not error.is_filtered:
                raise openai_error(reply, self.endpoint, self._http.mask)
        return reply.exchange()

    def read(self, raw: bytes) -> Reply:
        """Read a completion, or the refusal of a filter before the model."""
        body: Any = None
        try:
            body, is_whole = load_leniently(raw)
            if "choices" not in body and openai_error_in(body, raw).is_filtered:
                return Reply(text=None, outcome="filtered", finish_reason="content_filter")
            return _reply(body, is_whole=is_whole)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            message = f"no chat completion: {self._defect(body, raw, error)}"
            raise TransientError(message, maybe_billed=True) from error

    def _defect(self, body: object, raw: bytes, error: Exception) -> str:
        """What is wrong with a reply; where possible without ids, so that equal failures count as one."""
        error_body = openai_error_in(body, raw)
        if isinstance(error, _ContentError) and not error_body.is_there:
            return str(error)
        if isinstance(error, KeyError) and not error_body.is_there:
            return f"it has no {error}"
        if isinstance(error, IndexError):
            return "its choices are empty"
        return error_line(error_body.message, raw, self._http.mask)

    async def models(self) -> list[ModelInfo] | None:
        """The server's list; None for Azure too, whose list names no deployments.

        Raises:
            RejectedError: the key may not list models; it may be allowed to ask them all the same.
        """
        if self.settings.entry.api.is_azure:
            return None
        url = self.settings.entry.base_url.rstrip("/") + "/models"
        reply = await self._http.call("GET", url)
        if reply.status in (404, 405, 501):
            return None
        if reply.status == 403:
            raise RejectedError(status_line(reply, self._http.mask))
        if reply.status != 200:
            raise openai_error(reply, self.endpoint, self._http.mask)
        body: Any = None
        try:
            body = loads(reply.raw)
            # Together's list is no object
            return [
                _model_info(entry) for entry in (body if isinstance(body, list) else body["data"])
            ]
        except (ValueError, KeyError, TypeError) as error:
            message = error_line(
                openai_error_in(body, reply.raw).message, reply.raw, self._http.mask
            )
            raise TransientError(f"no list of models: {message}") from error


_PART_START = b'[{"type":"text","text":'
_PART_END = b',"prompt_cache_breakpoint":{"mode":"explicit"}}]'


def azure_address(entry: OpenAIEntry) -> str:
    """The address of a resource: Azure's pages show it with and without the ending that calls add."""
    return entry.base_url.rstrip("/").removesuffix("/openai")


def _endpoint(entry: OpenAIEntry) -> str:
    if not entry.api.is_azure:
        return f"{entry.base_url.rstrip('/')}/chat/completions"
    if not entry.api.version:
        raise StudyError(
            "models.*.api.version is missing: every call to Azure names the version of the interface; "
            "set it to a version such as 2024-10-21"
        )
    deployment, version = quote(entry.model, safe=""), quote(entry.api.version, safe="")
    path = f"openai/deployments/{deployment}/chat/completions?api-version={version}"
    return f"{azure_address(entry)}/{path}"


def _authorization(settings: ServiceSettings[OpenAIEntry]) -> dict[str, str]:
    if not settings.api_key:
        return {}
    if settings.entry.api.is_azure:
        return {"api-key": settings.api_key}
    return {"Authorization": f"Bearer {settings.api_key}"}


def _model_info(entry: Mapping[str, Any]) -> ModelInfo:
    try:
        # OpenAI's name, then OpenRouter's
        days = (entry[name] for name in ("shutdown_date", "expiration_date") if name in entry)
        shutdown = date.fromisoformat(next(filter(None, days))[:10])
    except (StopIteration, TypeError, ValueError):
        shutdown = None
    return ModelInfo(str(entry["id"]), shutdown)


def _reply(body: Mapping[str, Any], *, is_whole: bool) -> Reply:
    choice = body["choices"][0]
    message = choice["message"]
    text = _text(message.get("content"))
    finish_reason = as_text(choice.get("finish_reason"))
    if finish_reason == "error" and (cause := as_text(as_map(choice.get("error")).get("message"))):
        finish_reason = f"error: {cause}"
    returned_model = as_text(body.get("model")) or None
    counts = as_map(body.get("usage"))
    usage = _checked_usage(counts, text)
    return Reply(
        text=text,
        outcome=_outcome(finish_reason, message.get("refusal"), text),
        finish_reason=finish_reason,
        returned_model=returned_model,
        fingerprint=_fingerprint(body),
        service_tier=as_text(body.get("service_tier")),
        usage=usage.usage,
        defects=defects_of(is_whole=is_whole, usage=usage, returned_model=returned_model),
        is_tempered=False,
        option_probabilities=letter_probabilities(_token_places(as_map(choice.get("logprobs")))),
    )


def _fingerprint(body: Mapping[str, Any]) -> str | None:
    """The provider that a gateway took, and that provider's fingerprint, as far as they are stated.

    OpenRouter names the provider beside the answer, or in metadata that a header asks for.
    """
    metadata = as_map(as_map(body.get("openrouter_metadata")).get("endpoints"))
    endpoints = [as_map(endpoint) for endpoint in as_list(metadata.get("available"))]
    providers = (
        endpoint.get("provider") for endpoint in endpoints if endpoint.get("selected") is True
    )
    provider = as_text(body.get("provider")) or as_text(next(providers, None))
    return " ".join(filter(None, (provider, as_text(body.get("system_fingerprint"))))) or None


def _token_places(logprobs: Mapping[str, Any]) -> Iterator[TokenPlace]:
    """The tokens of an answer with their alternatives; none where they are of another form."""
    for place in as_list(logprobs.get("content")):
        alternatives = read_alternatives(as_map(place).get("top_logprobs"), "logprob")
        yield TokenPlace(as_text(as_map(place).get("token")) or "", alternatives)


class _ContentError(TypeError):
    """A message's content is not text."""


def content_text(content: object) -> str | None:
    """The text in a message's content, or in a piece of it, which may hold half an emoji.

    It is a string, or parts of which some are text, as servers with thoughts write it.

    Raises:
        TypeError, KeyError: it is anything else.
    """
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part["type"] == "text")
    if content is not None and not isinstance(content, str):
        raise _ContentError(f"a message's content is of type {type(content).__name__}, not text")
    return content


def _text(content: object) -> str | None:
    text = content_text(content)
    return text and well_formed(text)


def _outcome(finish_reason: str | None, refusal: object, text: str | None) -> Outcome:
    """The outcome of an answer; one that ended for an unknown reason counts by its text."""
    # some gateways write the reasons in capital letters
    reason = (finish_reason or "").lower()
    if refusal:
        return "refused"
    if reason in FILTER_REASONS:
        return "filtered"
    if reason in BREAK_REASONS or reason.startswith("error"):
        return "failed"
    if reason in LENGTH_REASONS:
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


def _checked_usage(counts: Mapping[str, Any], text: str | None) -> CheckedUsage:
    """The tokens that a reply states, where all that it says of them can be read and holds."""
    usage = check_usage(_usage(counts), text, as_count(counts.get("total_tokens")))
    details = (counts.get(f"{part}_tokens_details") for part in ("prompt", "completion"))
    is_odd = any(not isinstance(part, dict | None) for part in details)
    return usage._replace(is_consistent=False) if is_odd else usage
