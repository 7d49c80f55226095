"""A provider without a server, for tests of what surrounds providers. It holds their contract.

`providers/test_provider_contract.py` says so. Its replies are JSON: an answer is
`{"text": "…", "model": "…", "usage": {"input": 1, "output": 1}}`, one that broke off has `"error": true`
beside these, and a filter's refusal is `{"error": {"code": "content_filter"}}`.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from fieldwork.generation.providers.base import (
    CheckedUsage,
    Exchange,
    ModelInfo,
    Reply,
    Sampling,
    TransientError,
    Usage,
    defects_of,
)
from fieldwork.generation.providers.jsontext import as_count, as_map, as_text, load_leniently
from fieldwork.records.generation import Outcome
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item

MODEL = "the-model"

Fate = Callable[[str, int], float | Exception]
"""What happens to the n-th send of a question: seconds that it takes, or an error."""


def at_once(question: str, n_sends: int) -> float:  # noqa: ARG001
    """No wait."""
    return 0.0


def reply_bytes(text: str, model: str = MODEL) -> bytes:
    """A reply with an answer."""
    usage = {"input": 10, "output": 1}
    return json.dumps({"text": text, "model": model, "usage": usage}).encode()


def text_of(raw: bytes) -> str:
    """The answer in a reply."""
    return str(json.loads(raw)["text"])


class ScriptedProvider:
    """A provider whose calls go as `fate` says. Every answer is a new one: `<question> #<number>`.

    `sends` are the questions in order, `listing` is what `models` returns or raises, and `make_reply`
    makes the reply to a question and the number of the send.
    """

    endpoint = "scripted"
    timeout_s: float | None = None
    sends_temperature = True

    def __init__(self, fate: Fate = at_once, concurrency: int = 4, *, listing: Any = None) -> None:
        self.fate, self.concurrency, self.listing = fate, concurrency, listing
        self.sends: list[str] = []
        self.accepted_models = {MODEL}
        self.make_reply = lambda question, number: reply_bytes(f"{question} #{number}")
        self.n_under_way = self.n_closed = 0

    def prefix(self, context: Sequence[Message]) -> bytes:
        return json.dumps({"context": [m.content for m in context]})[:-1].encode() + b",\n"

    def question(self, item: Item, sampling: Sampling) -> bytes:
        return f'"question":{json.dumps(item.prompt)},"seed":{sampling.seed}'.encode()

    def delivery(self, context_id: str | None) -> bytes:
        return f',"cache_key":{json.dumps(context_id)}'.encode()

    async def send(self, body: bytes) -> Exchange:
        question = json.loads(body)["question"]
        self.sends.append(question)
        number = len(self.sends)
        self.n_under_way += 1
        try:
            fate = self.fate(question, self.sends.count(question))
            await asyncio.sleep(0.0 if isinstance(fate, Exception) else fate)
        finally:
            self.n_under_way -= 1
        if isinstance(fate, Exception):
            raise fate
        return Exchange(self.make_reply(question, number), None, 0.5)

    def read(self, raw: bytes) -> Reply:
        try:
            body, is_whole = load_leniently(raw)
            if as_map(as_map(body).get("error")).get("code") == "content_filter":
                return Reply(None, "filtered", "content_filter")
            return _reply(body, is_whole=is_whole)
        except (ValueError, KeyError, TypeError) as error:
            raise TransientError(f"unreadable reply {raw[:20]!r}", maybe_billed=True) from error

    def is_asked_for(self, returned_model: str) -> bool:
        return returned_model in self.accepted_models

    def mask(self, text: str) -> str:
        return text

    async def models(self) -> list[ModelInfo] | None:
        if isinstance(self.listing, Exception):
            raise self.listing
        return self.listing

    async def close(self) -> None:
        self.n_closed += 1


def _reply(body: dict[str, Any], *, is_whole: bool) -> Reply:
    text, model = as_text(body["text"]), as_text(body.get("model"))
    tokens = as_map(body.get("usage"))
    usage = Usage(input=as_count(tokens.get("input")), output=as_count(tokens.get("output")))
    outcome: Outcome = "ok" if text and text.strip() else "empty"
    return Reply(
        text,
        "failed" if body.get("error") is True else outcome,
        returned_model=model,
        usage=usage,
        defects=defects_of(is_whole=is_whole, usage=CheckedUsage(usage), returned_model=model),
    )
