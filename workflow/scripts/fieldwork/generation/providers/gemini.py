"""Gemini's generateContent, on the Gemini API and on Vertex AI.

A raw line break cannot stand inside JSON text, so one marks the seam between context and question. With
explicit caches `send` cuts there: what stands before becomes the name of a cache, and the question
follows it. The body that the ledger's key is made of stays whole, so an answer is the same one with and
without a cache.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import (
    Exchange,
    ModelInfo,
    Reply,
    Sampling,
    TransientError,
    Usage,
    defects_of,
)
from fieldwork.generation.providers.gemini_caches import CacheSettings, ContextCaches
from fieldwork.generation.providers.gemini_errors import gemini_error, refusal
from fieldwork.generation.providers.gemini_outcomes import ACCOUNT_STOPPED, outcome_of
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
from fieldwork.generation.providers.vertex import GoogleToken, VertexSettings
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item

GEMINI_URL = "https://generativelanguage.googleapis.com"
HARM_CATEGORIES = (
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
)
_ROLES = {"assistant": "model"}
_LARGEST_SEED = 2**31 - 1  # the interface holds a seed in a signed 32-bit integer


class GeminiSettings(NamedTuple):
    """Where the model is and how to call it.

    Attributes:
        model: its id.
        base_url: host of the service; None for Google's own, by `vertex`.
        api_version: version of the interface.
        api_key: None with Vertex AI.
        vertex: the project on Google Cloud; None for the Gemini API.
        token_env: environment variable with a token for Vertex AI; None asks google-auth.
        send_temperature: False for models that refuse it.
        send_seed: pass the replicate's seed on, cut to 31 bits.
        thinking_budget: tokens a model may think; None leaves it to the model.
        safety: threshold for every harm category, or category → threshold; None leaves the defaults.
        timeout_s: seconds a call may take in all.
        concurrency: calls under way at once.
        headers: further ones, sent with every call.
        secrets: values among them that are never shown, besides those whose names say so.
        proxy: address of a proxy; None asks the environment.
        ca_file: certificates in PEM to trust besides the system's.
        flex: ask for the cheaper, slower service tier.
        explicit_cache: leave contexts with the server instead of sending them with every question.
        cache_ttl_s: seconds such a cache lives unless renewed.
        cache_min_tokens: contexts below, by estimate, are sent whole.
        accept_models: returned versions that count as the model, besides itself and its snapshots.
    """

    model: str
    base_url: str | None = None
    api_version: str = "v1beta"
    api_key: str | None = None
    vertex: VertexSettings | None = None
    token_env: str | None = None
    send_temperature: bool = True
    send_seed: bool = False
    thinking_budget: int | None = None
    safety: str | Mapping[str, str] | None = None
    timeout_s: float = 120.0
    concurrency: int = 16
    headers: Mapping[str, str] = {}
    secrets: tuple[str, ...] = ()
    proxy: str | None = None
    ca_file: str | None = None
    flex: bool = False
    explicit_cache: bool = False
    cache_ttl_s: float = 3600.0
    cache_min_tokens: int = 1024
    accept_models: tuple[str, ...] = ()


class Gemini:
    """The provider `gemini`."""

    def __init__(self, settings: GeminiSettings) -> None:
        self.settings = settings
        self._asked = (settings.model, *settings.accept_models)
        self.concurrency = settings.concurrency
        self.timeout_s: float | None = settings.timeout_s
        self.sends_temperature = settings.send_temperature
        vertex, model = settings.vertex, quote(settings.model, safe="")
        host = (settings.base_url or (vertex.host() if vertex else GEMINI_URL)).rstrip("/")
        self._root = f"{host}/{settings.api_version}"
        parent = f"{vertex.parent()}/" if vertex else ""
        model_name = f"{parent}publishers/google/models/{model}" if vertex else f"models/{model}"
        self.endpoint = f"{self._root}/{model_name}:generateContent"
        self._options = _options(settings)
        self._token = GoogleToken(settings.token_env) if vertex else None
        self._http = Http(_http_settings(settings), self.endpoint)
        self._caches = ContextCaches(
            CacheSettings(
                collection=f"{parent}cachedContents",
                model=model_name,
                ttl_s=max(1, round(settings.cache_ttl_s)),
                min_tokens=settings.cache_min_tokens,
                # each call under way may be about another context
                most=settings.concurrency,
            ),
            self._call,
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
        """The item's prompt and all that steers sampling."""
        settings, config = self.settings, {"maxOutputTokens": sampling.max_tokens}
        options: dict[str, Any] = {"generationConfig": config, **self._options}
        if settings.send_temperature and sampling.temperature is not None:
            options["generationConfig"] = {"temperature": sampling.temperature, **config}
        if settings.send_seed:
            options["generationConfig"]["seed"] = sampling.seed & _LARGEST_SEED
        if settings.thinking_budget is not None:
            thinking = {"thinkingBudget": settings.thinking_budget}
            options["generationConfig"]["thinkingConfig"] = thinking
        return dumps(_content("user", item.prompt)) + b"]," + dumps(options)[1:-1]

    def delivery(self, context_id: str | None) -> bytes:  # noqa: ARG002
        """The service tier; caches go by the context itself."""
        return b',"serviceTier":"flex"' if self.settings.flex else b""

    async def send(self, body: bytes) -> Exchange:
        """One POST, after one that makes or renews the context's cache where that is due."""
        headers = await self._token.headers() if self._token else None
        wire, cache = await self._wire(body)
        answer = await self._http.call("POST", self.endpoint, wire, headers)
        if answer.status != 200:
            if cache is not None and answer.status in (403, 404):
                self._caches.forget(cache)
                raise TransientError("the server no longer has the cached context")
            raise self._error(answer)
        return answer.exchange(_request_id(answer.raw))

    async def _wire(self, body: bytes) -> tuple[bytes, str | None]:
        seam = body.rfind(b"\n") + 1 if self.settings.explicit_cache else 0
        name = await self._caches.name_for(body[:seam]) if seam else None
        if name is None:
            return body, None
        return b"".join((b'{"cachedContent":', dumps(name), b',"contents":[', body[seam:])), name

    async def _call(self, method: str, path: str, body: bytes | None = None) -> Answer:
        headers = await self._token.headers() if self._token else None
        answer = await self._http.call(method, f"{self._root}/{path}", body, headers)
        if answer.status != 200:
            raise self._error(answer)
        return answer

    def _error(self, answer: Answer) -> Exception:
        return gemini_error(answer, self._http.scrubbed(answer.raw), self.endpoint)

    def read(self, raw: bytes) -> Reply:
        """Read a reply; the safety filters' verdicts are outcomes.

        Raises:
            TransientError: the bytes are no reply of this interface.
            StudyError: the account may generate nothing any more.
        """
        try:
            body, is_whole = mended(raw)
            reply = _reply(body, is_whole=is_whole)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise self._unread(raw) from error
        if reply.finish_reason in ACCOUNT_STOPPED:
            raise StudyError(
                f"{self.endpoint}: the account is limited or disabled ({reply.finish_reason}); see "
                f"the service's notices, then run again"
            )
        return reply

    def _unread(self, raw: bytes) -> TransientError:
        said = refusal(self._http.scrubbed(raw)).message
        return TransientError(f"no generated content: {said}", maybe_billed=True)

    def is_asked_for(self, returned_model: str) -> bool:
        """The model, a numbered snapshot of it, or one of `accept_models`."""
        return is_one_of(returned_model.rpartition("/")[2], self._asked)

    def masked(self, text: str) -> str:
        """`text` without the key, and without what headers and the proxy's address hold of secrets."""
        return self._http.scrubbed(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    async def models(self) -> list[ModelInfo] | None:
        """The service's list, without shutdown dates, which it does not tell; None for Vertex AI.

        Raises:
            TransientError: worth another try.
            StudyError: the service refuses the key.
        """
        if self.settings.vertex is not None:
            return None
        found: list[ModelInfo] = []
        page = ""
        while True:
            query = urlencode({"pageSize": 1000, **({"pageToken": page} if page else {})})
            answer = await self._call("GET", f"models?{query}")
            try:
                listed = loads(answer.raw)
                names = [str(entry["name"]) for entry in listed.get("models", [])]
                following = listed.get("nextPageToken") or ""
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise self._unread(answer.raw) from error
            found += [ModelInfo(name.removeprefix("models/")) for name in names]
            if not following or following == page:
                return found
            page = following

    async def close(self) -> None:
        """Delete the caches, close the connections."""
        try:
            await self._caches.close()
        finally:
            await self._http.close()


def _http_settings(settings: GeminiSettings) -> HttpSettings:
    key = {"x-goog-api-key": settings.api_key} if settings.api_key else {}
    return HttpSettings(
        headers={**key, **settings.headers},
        secrets=(settings.api_key or "", *settings.secrets),
        proxy=settings.proxy,
        ca_file=settings.ca_file,
        timeout_s=settings.timeout_s,
        connections=settings.concurrency,
    )


def _options(settings: GeminiSettings) -> dict[str, Any]:
    safety = settings.safety
    if isinstance(safety, str):
        safety = dict.fromkeys(HARM_CATEGORIES, safety)
    if not safety:
        return {}
    listed = [{"category": name, "threshold": level} for name, level in safety.items()]
    return {"safetySettings": listed}


def _content(role: str, text: str) -> dict[str, Any]:
    return {"parts": [{"text": text}], "role": _ROLES.get(role, role)}


def _reply(body: Mapping[str, Any], *, is_whole: bool) -> Reply:
    version = as_text(body.get("modelVersion")) or None
    candidates = body.get("candidates") or []
    blocked = as_map(body.get("promptFeedback")).get("blockReason")
    if not candidates and not blocked:
        raise ValueError("neither an answer nor a reason why there is none")
    candidate = candidates[0] if candidates else {}
    text = _text(candidate.get("content") or {})
    metadata = as_map(body.get("usageMetadata"))
    usage = _usage(metadata)
    has_usage = usage.input is not None and usage.output is not None
    finish = as_text(candidate.get("finishReason"))
    return Reply(
        text=text,
        outcome=outcome_of(finish, text) if candidates else "filtered",
        finish_reason=finish if candidates else as_text(blocked),
        returned_model=version,
        fingerprint=version,
        service_tier=as_text(metadata.get("serviceTier") or metadata.get("trafficType")),
        usage=usage,
        defects=defects_of(is_whole=is_whole, has_usage=has_usage, returned_model=version),
    )


def _request_id(raw: bytes) -> str | None:
    """The service's name for the call; None where there is none in what came."""
    try:
        return as_text(as_map(mended(raw).value).get("responseId"))
    except ValueError:
        return None


def _text(content: Mapping[str, Any]) -> str | None:
    """The answer's parts joined, thoughts left out; None where it has no part with text."""
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
        cached=as_count(usage.get("cachedContentTokenCount") or 0),
        output=None if answer is None or thoughts is None else answer + thoughts,
        reasoning=thoughts,
    )
