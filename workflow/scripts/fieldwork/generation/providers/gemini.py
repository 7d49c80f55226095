"""Gemini's generateContent, on the Gemini API and on Vertex AI.

JSON text holds no raw line break, so a line break marks where the context ends and the question begins.
With explicit caches, `send` cuts the body there and sends the name of a cache in the context's place. The
ledger's key covers the whole body, so an answer is found again with and without a cache.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from fieldwork.errors import StudyError
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
from fieldwork.generation.providers.gemini_caches import CacheSettings, ContextCaches
from fieldwork.generation.providers.gemini_errors import (
    gemini_error,
    google_error_in,
    parse_google_error,
)
from fieldwork.generation.providers.gemini_outcomes import ACCOUNT_STOPPED, outcome_of
from fieldwork.generation.providers.http import HttpReply
from fieldwork.generation.providers.jsontext import (
    as_count,
    as_list,
    as_map,
    as_text,
    dumps,
    load_leniently,
    loads,
    well_formed,
)
from fieldwork.generation.providers.letters import (
    TokenPlace,
    letter_probabilities,
    read_alternatives,
)
from fieldwork.generation.providers.service import ServiceModel, ServiceSettings
from fieldwork.generation.providers.vertex import GoogleToken
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item
from fieldwork.sections.services import GeminiEntry, ImplicitCache

GEMINI_URL = "https://generativelanguage.googleapis.com"
CACHED_TOKENS = 1024
"""Shortest context that is stored, by estimate, where the entry says nothing."""
_ROLES = {"assistant": "model"}
_LARGEST_SEED = 2**31 - 1  # the interface holds a seed in a signed 32-bit integer


class Gemini(ServiceModel):
    """The provider `gemini`."""

    def __init__(self, settings: ServiceSettings[GeminiEntry]) -> None:
        self.settings, entry = settings, settings.entry
        vertex, model = entry.vertex, quote(entry.model, safe="")
        # the same interface's name on Vertex AI
        is_beta = vertex is not None and entry.api_version == "v1beta"
        self._root = f"{_host(entry)}/{'v1beta1' if is_beta else entry.api_version}"
        parent = f"{vertex.parent}/" if vertex else ""
        model_name = f"{parent}publishers/google/models/{model}" if vertex else f"models/{model}"
        key_header = {"x-goog-api-key": settings.api_key} if settings.api_key else {}
        super().__init__(settings, f"{self._root}/{model_name}:generateContent", key_header)
        self._options = _options(entry)
        self._token = GoogleToken(entry.token_env) if vertex else None
        self._caches = ContextCaches(
            CacheSettings(
                collection=f"{parent}cachedContents",
                model=model_name,
                ttl_s=max(1, round(entry.cache_ttl_s)),
                min_tokens=(entry.prefix_cache or ImplicitCache()).min_tokens or CACHED_TOKENS,
                # each call under way may be about another context
                max_caches=entry.concurrency,
            ),
            self._request,
        )

    def prefix(self, context: Sequence[Message]) -> bytes:
        """The context: system messages as the instruction, all others as contents."""
        system = [{"text": m.content} for m in context if m.role == "system"]
        contents = [_content(m.role, m.content) for m in context if m.role != "system"]
        start = b"{"
        if system:
            start += b'"systemInstruction":' + dumps({"parts": system, "role": "user"}) + b","
        start += b'"contents":['
        if contents:
            start += dumps(contents)[1:-1] + b","
        return start + b"\n" if context else start

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """The item's prompt and all settings of sampling."""
        settings, config = self.settings.entry, {"maxOutputTokens": sampling.max_tokens}
        options: dict[str, Any] = {"generationConfig": config, **self._options}
        if settings.send_temperature and sampling.temperature is not None:
            options["generationConfig"] = {"temperature": sampling.temperature, **config}
        if settings.send_seed:
            options["generationConfig"]["seed"] = sampling.seed & _LARGEST_SEED
        if settings.top_logprobs and item.kind == "choice":
            options["generationConfig"] |= {
                "responseLogprobs": True,
                "logprobs": settings.top_logprobs,
            }
        if settings.thinking_budget is not None:
            thinking = {"thinkingBudget": settings.thinking_budget}
            options["generationConfig"]["thinkingConfig"] = thinking
        return dumps(_content("user", item.prompt)) + b"]," + dumps(options)[1:-1]

    def delivery(self, context_id: str | None) -> bytes:  # noqa: ARG002
        """The service tier. Caches depend on the context alone."""
        return b',"serviceTier":"flex"' if self.settings.is_flex else b""

    async def send(self, body: bytes) -> Exchange:
        """Send one POST; before it, where due, one that makes or renews the context's cache."""
        headers = await self._token.headers() if self._token else None
        wire, cache = await self._wire(body)
        reply = await self._http.call("POST", self.endpoint, wire, headers)
        if reply.status != 200:
            if cache is not None and reply.status in (403, 404):
                self._caches.forget(cache)
                raise TransientError("the server no longer has the cached context")
            raise self._exception(reply)
        return reply.exchange()

    async def _wire(self, body: bytes) -> tuple[bytes, str | None]:
        seam = body.rfind(b"\n") + 1 if self.settings.entry.explicit_cache else 0
        name = await self._caches.name_for(body[:seam]) if seam else None
        if name is None:
            return body, None
        return b"".join((b'{"cachedContent":', dumps(name), b',"contents":[', body[seam:])), name

    async def _request(self, method: str, path: str, body: bytes | None = None) -> HttpReply:
        headers = await self._token.headers() if self._token else None
        reply = await self._http.call(method, f"{self._root}/{path}", body, headers)
        if reply.status != 200:
            raise self._exception(reply)
        return reply

    def _exception(self, reply: HttpReply) -> Exception:
        error = parse_google_error(reply.raw, self._http.mask)
        return gemini_error(reply, error, self.endpoint)

    def read(self, raw: bytes) -> Reply:
        """Read a reply. What the safety filters say is its outcome."""
        body: Any = None
        try:
            body, is_whole = load_leniently(raw)
            reply = _reply(body, is_whole=is_whole)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise self._unreadable(body, raw) from error
        if reply.finish_reason in ACCOUNT_STOPPED:
            raise StudyError(
                f"{self.endpoint}: the account is limited or disabled ({reply.finish_reason}); see "
                f"the service's notices, then run again"
            )
        return reply

    def _unreadable(self, body: object, raw: bytes) -> TransientError:
        message = google_error_in(body, raw, self._http.mask).message
        return TransientError(f"no generated content: {message}", maybe_billed=True)

    def is_asked_for(self, returned_model: str) -> bool:
        """As every service's model; a returned name may begin with a path."""
        return super().is_asked_for(returned_model.rpartition("/")[2])

    async def models(self) -> list[ModelInfo] | None:
        """The service's list, which gives no shutdown dates; None for Vertex AI."""
        if self.settings.entry.vertex is not None:
            return None
        models: list[ModelInfo] = []
        page = ""
        while True:
            query = urlencode({"pageSize": 1000, **({"pageToken": page} if page else {})})
            reply = await self._request("GET", f"models?{query}")
            body: Any = None
            try:
                body = loads(reply.raw)
                names = [str(entry["name"]) for entry in body.get("models", [])]
                next_page = body.get("nextPageToken") or ""
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise self._unreadable(body, reply.raw) from error
            models += [ModelInfo(name.removeprefix("models/")) for name in names]
            if not next_page or next_page == page:
                return models
            page = next_page

    async def close(self) -> None:
        """Delete the caches and close the connections."""
        try:
            await self._caches.close()
        finally:
            await super().close()


def _host(entry: GeminiEntry) -> str:
    # the usual address is that of the Gemini API; the models of a project have another one
    address = entry.base_url.rstrip("/")
    return entry.vertex.host if entry.vertex and address == GEMINI_URL else address


def _options(entry: GeminiEntry) -> dict[str, Any]:
    if not entry.safety:
        return {}
    thresholds = [{"category": name, "threshold": level} for name, level in entry.safety.items()]
    return {"safetySettings": thresholds}


def _content(role: str, text: str) -> dict[str, Any]:
    return {"parts": [{"text": text}], "role": _ROLES.get(role, role)}


def _reply(body: Mapping[str, Any], *, is_whole: bool) -> Reply:
    version = as_text(body.get("modelVersion")) or None
    candidates = body.get("candidates") or []
    block_reason = as_map(body.get("promptFeedback")).get("blockReason")
    if not candidates and not block_reason:
        raise ValueError("neither an answer nor a reason why there is none")
    candidate = candidates[0] if candidates else {}
    text = _text(candidate.get("content") or {})
    metadata = as_map(body.get("usageMetadata"))
    usage = check_usage(_usage(metadata), text, as_count(metadata.get("totalTokenCount")))
    finish = as_text(candidate.get("finishReason"))
    return Reply(
        text=text,
        outcome=outcome_of(finish, text) if candidates else "filtered",
        finish_reason=finish if candidates else as_text(block_reason),
        returned_model=version,
        fingerprint=version,
        service_tier=as_text(metadata.get("serviceTier") or metadata.get("trafficType")),
        usage=usage.usage,
        defects=defects_of(is_whole=is_whole, usage=usage, returned_model=version),
        request_id=as_text(body.get("responseId")),
        is_tempered=False,
        option_probabilities=letter_probabilities(
            _token_places(as_map(candidate.get("logprobsResult")))
        ),
    )


def _token_places(result: Mapping[str, Any]) -> Iterator[TokenPlace]:
    """The tokens of an answer with their alternatives; none where they are of another form."""
    chosen_tokens = as_list(result.get("chosenCandidates"))
    for choice, top in zip(chosen_tokens, as_list(result.get("topCandidates")), strict=False):
        alternatives = read_alternatives(as_map(top).get("candidates"), "logProbability")
        yield TokenPlace(as_text(as_map(choice).get("token")) or "", alternatives)


def _text(content: Mapping[str, Any]) -> str | None:
    """The parts of the answer joined, without thoughts; None where no part has text."""
    parts = [part for part in content.get("parts") or [] if not part.get("thought")]
    texts = [part["text"] for part in parts if "text" in part]
    return well_formed("".join(texts)) if texts else None


def _usage(usage: Mapping[str, Any]) -> Usage:
    if "promptTokenCount" not in usage:
        return Usage()
    # the interface leaves out what is zero
    thoughts = as_count(usage.get("thoughtsTokenCount") or 0)
    answer = as_count(usage.get("candidatesTokenCount") or 0)
    return Usage(
        input=as_count(usage["promptTokenCount"]),
        cache_read=as_count(usage.get("cachedContentTokenCount") or 0),
        output=None if answer is None or thoughts is None else answer + thoughts,
        reasoning=thoughts,
    )
