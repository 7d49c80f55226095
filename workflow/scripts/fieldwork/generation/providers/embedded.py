"""A small real model that runs on any machine: a sentence encoder chooses among candidate answers.

score(answer) = cosine(v, answer), with v = normalise((1 - w) · question + w · context), where the
context's vector is the mean of its messages' (the assistant's left out). Answers are sampled from
softmax(sharpness · score / temperature), without replacement for lists; temperature 0 takes the best.
It is an embedding baseline and not a chat model: its answers do not predict those of a chat model.

A body begins with the context and a line break, and has no other line break. `send` cuts it there, and
encodes a context once, however many questions follow.
"""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldwork.encoder import Encoder, text_key
from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import Exchange, Reply, Sampling, TransientError
from fieldwork.generation.providers.local import LocalModel
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import LETTER_KINDS, Item

LIST_LENGTH = 5

Scores = npt.NDArray[np.float64]

_START = b'{"messages": ['


class EmbeddedSettings(NamedTuple):
    """The model's two numbers.

    Attributes:
        sharpness: inverse temperature of the softmax at temperature 1.
        context_weight: w, the share of the context in the query, 0 to 1.
    """

    sharpness: float
    context_weight: float


class EmbeddedModel(LocalModel):
    """The provider `embedded`.

    Args:
        code: version of this module's code. It is part of the endpoint, because another version of the
            code may give other answers.
    """

    def __init__(self, encoder: Encoder, settings: EmbeddedSettings, code: str) -> None:
        self._encoder = encoder
        self._settings = settings
        self._vectors: dict[str, Scores] = {}
        self._contexts: dict[bytes, Scores | None] = {}
        self.endpoint = f"embedded:{encoder.settings.model}:{code}"

    def prefix(self, context: Sequence[Message]) -> bytes:
        """The context's messages; equal contexts give equal bytes."""
        messages = "".join(f"{_json([m.role, m.content])}, " for m in context)
        return _START + messages.encode() + b"\n"

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """The rest of the call; raises StudyError for a list item without candidate answers."""
        if not item.choices:
            raise StudyError(
                f"item {item.item_id!r} has no candidate answers, but an embedded model can only choose "
                f"among candidates; add some to the task's candidates file"
            )
        call = {
            "kind": item.kind,
            "question": item.question,
            "choices": item.choices,
            "temperature": sampling.temperature,
            "seed": sampling.seed,
            **self._settings._asdict(),
        }
        return f"{_json(['user', item.prompt])}], {_json(call)[1:-1]}".encode()

    async def send(self, body: bytes) -> Exchange:
        """Answer on this machine, at once."""
        await asyncio.sleep(0)
        head, _, tail = body.rpartition(b"\n")
        call = json.loads(_START + tail)
        scores = self._scores(call, head)
        indices = _choose(scores, call, head)
        reply: dict[str, Any] = {
            "chosen": indices,
            "scores": [round(float(score), 5) for score in scores],
            "text": _as_text([call["choices"][i] for i in indices], indices, call["kind"]),
        }
        return Exchange(json.dumps(reply).encode())

    def _scores(self, call: dict[str, Any], head: bytes) -> Scores:
        query, *choices = self._text_vectors([call["question"], *call["choices"]])
        context = self._context(head)
        if context is not None:
            weight = self._settings.context_weight
            query = (1 - weight) * query + weight * context
        # differences between machines are far smaller than five decimals, those that matter far larger
        return np.round(np.stack(choices) @ _unit(query), 5)

    def _context(self, head: bytes) -> Scores | None:
        """The vector of a body's context; None where no message holds text."""
        key = hashlib.sha256(head).digest()
        if key not in self._contexts:
            messages = json.loads(head.rstrip(b", ") + b"]}")["messages"]
            texts = [text for role, text in messages if role != "assistant" and text.strip()]
            vectors = self._text_vectors(texts)
            self._contexts[key] = _unit(np.mean(vectors, axis=0)) if vectors else None
        return self._contexts[key]

    def _text_vectors(self, texts: Sequence[str]) -> list[Scores]:
        """The vectors of texts; those that are new are stored together, as a disk takes its time."""
        # by hashes of the texts: those of all contexts may take gigabytes
        keys = [text_key(text) for text in texts]
        new = {k: text for k, text in zip(keys, texts, strict=True) if k not in self._vectors}
        vectors = self._encoder.encode([*new.values()]) if new else ()
        for key, vector in zip(new, vectors, strict=True):
            self._vectors[key] = vector.astype(np.float64)
        return [self._vectors[key] for key in keys]

    def read(self, raw: bytes) -> Reply:
        """Read the text; there is nothing else in a reply."""
        try:
            text = str(json.loads(raw)["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise TransientError(f"not a reply of the embedded model: {error}") from error
        return Reply(text=text, outcome="ok", finish_reason="stop")


def _unit(vector: Scores) -> Scores:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _choose(scores: Scores, call: dict[str, Any], head: bytes) -> list[int]:
    n = min(LIST_LENGTH, len(scores)) if call["kind"] == "list" else 1
    if not call["temperature"]:
        return [int(i) for i in np.argsort(-scores, kind="stable")[:n]]
    # Gumbel's trick: the n largest of logit + noise are a softmax sample without replacement
    generator = np.random.Generator(np.random.PCG64(_seed_of(call, head)))
    logits = call["sharpness"] * scores / call["temperature"]
    return [int(i) for i in np.argsort(-(logits + generator.gumbel(size=len(scores))))[:n]]


def _seed_of(call: dict[str, Any], head: bytes) -> int:
    """A hash of the whole call as JSON with sorted keys: the draw must not depend on the wire's form."""
    rest = dict(call)
    (question,) = rest.pop("messages")
    start = _json({name: rest[name] for name in rest if name < "messages"})
    end = _json({name: rest[name] for name in rest if name > "messages"})
    digest = hashlib.sha256(f'{start[:-1]}, "messages": ['.encode())
    digest.update(head[len(_START) :])
    digest.update(f"{_json(question)}], {end[1:]}".encode())
    return int.from_bytes(digest.digest()[:16], "big")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True)


def _as_text(answers: Sequence[str], indices: Sequence[int], kind: str) -> str:
    if kind in LETTER_KINDS:
        return ascii_uppercase[indices[0]]
    return "\n".join(f"{rank}. {answer}" for rank, answer in enumerate(answers, start=1))
