"""Anthropic's Messages API.

A body is joined from bytes that are made once per context and once per question. `wire` adds the
breakpoint up to which the server caches, after the context (`breakpoints`).

What the interface takes otherwise than others, and what is sent instead:
- It has no seeds: draws differ by chance alone, and `Sampling.seed` is ignored.
- Messages of the role system are joined into the field `system`, with an empty line between them.
- It refuses messages without a word, so they are left out.
- A conversation begins with the user. One that begins with the assistant gets `FIRST_TURN` before it.
- Turns of one role in a row are sent as they are; the service joins them.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote, urlencode

from fieldwork.errors import StudyError
from fieldwork.generation.providers.anthropic_errors import (
    AnthropicErrorBody,
    anthropic_error,
    anthropic_error_in,
)
from fieldwork.generation.providers.base import (
    Exchange,
    ModelInfo,
    Reply,
    Sampling,
    TransientError,
    Usage,
    check_usage,
    defects_of,
)
from fieldwork.generation.providers.breakpoints import marked_turns, with_breakpoint
from fieldwork.generation.providers.http import HttpReply
from fieldwork.generation.providers.jsontext import (
    as_count,
    as_map,
    as_text,
    dumps,
    load_leniently,
    loads,
    loads_or_none,
    well_formed,
)
from fieldwork.generation.providers.service import ServiceModel, ServiceSettings
from fieldwork.records.generation import Outcome
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item
from fieldwork.sections.services import AnthropicEntry

FIRST_TURN = "."
"""The shortest text that the interface takes."""

LIMIT_REASONS = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})
"""Stop reasons of answers that have no end."""

REFUSAL_REASONS = frozenset({"refusal"})
"""Stop reasons of answers that the service's classifiers withheld; the interface calls them refusals."""

FILTER_REASON = "content_filter"
"""Stands in place of a stop reason where the service's filter answered with an error, which has none."""

NOT_THERE_STATUSES = frozenset({404, 405, 501})
"""What a service answers that has no such list, or no such model in it."""

LAST_VERSION_WITH_TEMPERATURE = "2023-06-01"


class Anthropic(ServiceModel):
    """The provider `anthropic`.

    Raises:
        StudyError: calls are to hold a temperature, and this version of the interface takes none.
    """

    def __init__(self, settings: ServiceSettings[AnthropicEntry]) -> None:
        entry = settings.entry
        if entry.send_temperature and entry.api_version > LAST_VERSION_WITH_TEMPERATURE:
            raise StudyError(
                f"models.*.api_version is {entry.api_version}, which takes no temperature; set "
                f"models.*.send_temperature to false, or api_version to {LAST_VERSION_WITH_TEMPERATURE}"
            )
        self.settings = settings
        self._root = f"{entry.base_url.rstrip('/')}/v1"
        # a fragment is no part of what is sent; it keeps the versions' answers apart in the ledger
        endpoint = f"{self._root}/messages#{entry.api_version}"
        super().__init__(settings, endpoint, anthropic_headers(settings))
        self._start = b'{"model":' + dumps(entry.model)
        self._options = _options(entry)

    def prefix(self, context: Sequence[Message]) -> bytes:
        """The model and the context's messages; equal contexts give equal bytes."""
        messages = [message for message in context if message.content.strip()]
        system = "\n\n".join(m.content for m in messages if m.role == "system")
        turns = [{"role": m.role, "content": m.content} for m in messages if m.role != "system"]
        if turns and turns[0]["role"] == "assistant":
            turns.insert(0, {"role": "user", "content": FIRST_TURN})
        head = self._start
        if system:
            text = dumps(system)
            head += b',"system":' + (text if turns else b"\n" + text + b"\n")
        return head + b',"messages":[' + marked_turns(turns)

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """The item's prompt and all settings of sampling."""
        options: dict[str, Any] = {"max_tokens": sampling.max_tokens, **self._options}
        if self.settings.entry.send_temperature and sampling.temperature is not None:
            options["temperature"] = sampling.temperature
        message = dumps({"role": "user", "content": item.prompt})
        return message + b"]," + dumps(options)[1:-1]

    def delivery(self, context_id: str | None) -> bytes:  # noqa: ARG002
        """Nothing: breakpoints stand within the context."""
        return b""

    def wire(self, body: bytes) -> bytes:
        """The bytes that are sent for a body: the body, or with a cache breakpoint after its context."""
        has_breakpoint = self.settings.entry.prefix_cache is not None
        return with_breakpoint(body, _BLOCK_START, _BLOCK_END) if has_breakpoint else body

    async def send(self, body: bytes) -> Exchange:
        """Send one POST. The filter's error is a reply too: filtered."""
        reply = await self._http.call("POST", f"{self._root}/messages", self.wire(body))
        if reply.status != 200:
            error = self._error_in(loads_or_none(reply.raw), reply.raw)
            if reply.status != 400 or not error.is_filtered:
                raise anthropic_error(reply, self.endpoint, self._http.mask)
        exchange = reply.exchange()
        return exchange._replace(headers=limit_headers(exchange.headers))

    def read(self, raw: bytes) -> Reply:
        """Read a message, or the filter's error.

        Blocks of other kinds than text, such as thoughts, are no part of a message's text.
        """
        body: Any = None
        try:
            body, is_whole = load_leniently(raw)
            if "content" not in body and self._error_in(body, raw).is_filtered:
                return Reply(text=None, outcome="filtered", finish_reason=FILTER_REASON)
            return _reply(body, is_whole=is_whole)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._unreadable("message", body, raw) from error

    def _unreadable(self, kind: str, body: object, raw: bytes) -> TransientError:
        message = self._error_in(body, raw).message
        return TransientError(f"no {kind}: {message}", maybe_billed=True)

    def _error_in(self, body: object, raw: bytes) -> AnthropicErrorBody:
        return anthropic_error_in(body, raw, self._http.mask)

    async def models(self) -> list[ModelInfo] | None:
        """The service's list, and the model itself where its name stands for a dated one."""
        models: list[ModelInfo] = []
        page = ""
        while True:
            query = urlencode({"limit": 1000, **({"after_id": page} if page else {})})
            reply = await self._http.call("GET", f"{self._root}/models?{query}")
            if reply.status in NOT_THERE_STATUSES:
                return None
            if reply.status != 200:
                raise anthropic_error(reply, self.endpoint, self._http.mask)
            body: Any = None
            try:
                body = loads(reply.raw)
                models += [_model_info(entry) for entry in body["data"]]
                next_page = str(body.get("last_id") or "") if body.get("has_more") else ""
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise self._unreadable("list of models", body, reply.raw) from error
            if not next_page or next_page == page:
                break
            page = next_page
        return models + await self._namesake(models)

    async def _namesake(self, models: Sequence[ModelInfo]) -> list[ModelInfo]:
        """The model under the name of the study, which the list does not hold; none if there is none."""
        name = self.settings.entry.model
        if any(model.id == name for model in models):
            return []
        reply = await self._http.call("GET", f"{self._root}/models/{quote(name, safe='')}")
        if reply.status in NOT_THERE_STATUSES:
            return []
        if reply.status != 200:
            # a failure that may pass must not look like a model that is gone
            raise anthropic_error(reply, self.endpoint, self._http.mask)
        return [self._read_namesake(reply)]

    def _read_namesake(self, reply: HttpReply) -> ModelInfo:
        body: Any = None
        try:
            body = loads(reply.raw)
            return _model_info(body)._replace(id=self.settings.entry.model)
        except (ValueError, KeyError, TypeError) as error:
            raise self._unreadable("model", body, reply.raw) from error


_BLOCK_START = b'[{"type":"text","text":'
_BLOCK_END = b',"cache_control":{"type":"ephemeral"}}]'


def anthropic_headers(settings: ServiceSettings[AnthropicEntry]) -> dict[str, str]:
    """The headers of every call: the version of the interface, and the key where there is one."""
    key_header = {"x-api-key": settings.api_key} if settings.api_key else {}
    return {"anthropic-version": settings.entry.api_version, **key_header}


def limit_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a reply, those about limits under the names by which `limits` learns.

    The limits are per minute, so the time at which they are full again says nothing new; it is left out,
    as it goes by the server's clock. Of tokens the limit of input is learnt. That of output counts what
    models write, which nobody knows before: it is met by waiting as long as the server asks.
    """
    learnable = dict(headers)
    for kind, names in _LIMIT_NAMES.items():
        for part in ("limit", "remaining"):
            values = [headers.get(f"anthropic-ratelimit-{name}-{part}") for name in names]
            value = next((value for value in values if value is not None), None)
            if value is not None:
                learnable[f"x-ratelimit-{part}-{kind}"] = value
    return learnable


_LIMIT_NAMES = {"requests": ("requests",), "tokens": ("input-tokens", "tokens")}


def _options(entry: AnthropicEntry) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if isinstance(entry.thinking, int):
        options["thinking"] = {"type": "enabled", "budget_tokens": entry.thinking}
    elif entry.thinking is not None:
        options["thinking"] = {"type": entry.thinking}
    if entry.effort is not None:
        options["output_config"] = {"effort": entry.effort}
    return options


def _model_info(entry: Mapping[str, Any]) -> ModelInfo:
    try:
        shutdown = date.fromisoformat(entry["retires_at"][:10])
    except (KeyError, TypeError, ValueError):
        return ModelInfo(str(entry["id"]))
    # the service lists no model that it has retired: of one that is listed, a past day did not hold
    is_to_come = shutdown > datetime.now(UTC).date()
    return ModelInfo(str(entry["id"]), shutdown if is_to_come else None)


def _reply(body: Mapping[str, Any], *, is_whole: bool) -> Reply:
    blocks = body["content"]
    if not isinstance(blocks, list):
        raise TypeError("the content is no list of blocks")
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    text = well_formed("".join(texts)) if texts else None
    stop_reason = as_text(body.get("stop_reason"))
    returned_model = as_text(body.get("model")) or None
    counts = as_map(body.get("usage"))
    usage = check_usage(_usage(counts), text)
    return Reply(
        text=text,
        outcome=_outcome(stop_reason, text),
        finish_reason=stop_reason,
        returned_model=returned_model,
        service_tier=as_text(counts.get("service_tier")),
        usage=usage.usage,
        defects=defects_of(is_whole=is_whole, usage=usage, returned_model=returned_model),
        request_id=as_text(body.get("id")),
    )


def _outcome(stop_reason: str | None, text: str | None) -> Outcome:
    """The outcome of an answer; one that ended for another reason counts by its text."""
    if stop_reason in LIMIT_REASONS:
        return "truncated"
    if stop_reason in REFUSAL_REASONS:
        return "refused"
    return "ok" if text and text.strip() else "empty"


def _usage(counts: Mapping[str, Any]) -> Usage:
    # null where nothing was cached
    cache_read = as_count(counts.get("cache_read_input_tokens") or 0)
    cache_write = as_count(counts.get("cache_creation_input_tokens") or 0)
    output = as_count(counts.get("output_tokens"))
    reasoning = as_count(as_map(counts.get("output_tokens_details")).get("thinking_tokens"))
    n_fresh = as_count(counts.get("input_tokens"))
    if n_fresh is None or cache_read is None or cache_write is None:
        return Usage(output=output, reasoning=reasoning)
    return Usage(n_fresh + cache_read + cache_write, cache_read, cache_write, output, reasoning)
