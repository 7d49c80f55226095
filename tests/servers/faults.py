"""Everything that can go wrong with a call: `Fault` tells the server what to do, and to which calls."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FOREVER = 10**9


@dataclass
class Fault:
    """Something that goes wrong with the next `times` calls of a `step` whose question holds `text`.

    Without a `body` or a `status` of 400 and above, the answer is made and billed all the same.

    Attributes:
        status, headers, body: the reply, instead of the sound one.
        cut: the connection closes in the middle of the body.
        wait_s: real seconds before the reply.
        choice, message, reply: changed fields of a sound reply: of its choice (candidate), of that
            choice's message (content), and of the whole.
        drop: names of the whole reply's fields that are left out.
        times, text: which calls it happens to.
        skip: so many of these calls go well first.
        probability, seed: it happens to each of these calls by chance.
        step: answer, row (of a batch), models, files.upload, files.get, files.list, files.content,
            files.delete, batches.create, batches.get, batches.list, batches.cancel, batches.delete,
            caches, or any.
        late: `status` or `body` comes after the call took effect, unknown to its sender.
        reset: the connection is reset before a byte of a reply, or with `cut` in the middle of it.
        drip_s: the body comes in sixteen pieces with so many seconds between them.
        keep: bytes of the body that are sent, under a Content-Length that fits them.
        again_s: the sound reply comes once more on the connection, so many seconds later; after a reply
            of the fault's, that is the first time.
        wrong_length: added to the Content-Length.
        raw_text: put in the place of the answer's text, byte by byte, within the JSON.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    cut: bool = False
    wait_s: float = 0.0
    choice: Mapping[str, Any] = field(default_factory=dict)
    message: Mapping[str, Any] = field(default_factory=dict)
    reply: Mapping[str, Any] = field(default_factory=dict)
    times: int = 1
    text: str = ""
    drop: Sequence[str] = ()
    skip: int = 0
    probability: float = 1.0
    seed: int = 0
    step: str = "answer"
    late: bool = False
    reset: bool = False
    drip_s: float = 0.0
    keep: int | None = None
    again_s: float | None = None
    wrong_length: int = 0
    raw_text: bytes | None = None

    def __post_init__(self) -> None:
        self._random = random.Random(f"fault:{self.seed}")

    @property
    def replaces(self) -> bool:
        """Whether the fault has a reply of its own."""
        return self.status != 200 or self.body is not None

    def meets(self, step: str, question: str) -> bool:
        """Whether it happens to this call; counts the call."""
        if self.times <= 0 or self.step not in (step, "any") or self.text not in question:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.probability < 1 and self._random.random() >= self.probability:
            return False
        self.times -= 1
        return True


def http_error(
    status: int,
    *,
    retry_after: str | None = None,
    message: str = "something is wrong",
    code: str | None = None,
    times: int = 1,
    text: str = "",
    **more: Any,
) -> Fault:
    """An error in OpenAI's form; `more` are further fields of the fault."""
    headers = {"Retry-After": retry_after} if retry_after is not None else {}
    body = openai_error(message, code)
    return Fault(status=status, headers=headers, body=body, times=times, text=text, **more)


def openai_error(message: str, code: str | None = None, kind: str | None = None) -> bytes:
    """OpenAI's error body."""
    kind = kind or code or "server_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return json.dumps({"error": error}).encode()


def no_credit(*, times: int = 1) -> Fault:
    """OpenAI's error for an empty account."""
    return http_error(
        429, message="You exceeded your current quota", code="insufficient_quota", times=times
    )


def gemini_error(
    status: int, *, retry_s: float | None = None, message: str = "something is wrong", **more: Any
) -> Fault:
    """An error in Google's form; `retry_s` makes a RetryInfo of it."""
    return Fault(status=status, body=google_error(status, message, retry_s=retry_s), **more)


def google_error(status: int, message: str, *, retry_s: float | None = None) -> bytes:
    """Google's error body."""
    name = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED",
        499: "CANCELLED",
        503: "UNAVAILABLE",
        504: "DEADLINE_EXCEEDED",
    }.get(status, "INTERNAL")
    error: dict[str, Any] = {"code": status, "message": message, "status": name}
    if retry_s is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        error["details"] = [{"@type": kind, "retryDelay": f"{retry_s:g}s"}]
    return json.dumps({"error": error}).encode()


def anthropic_error(message: str, kind: str = "api_error", code: str | None = None) -> bytes:
    """Anthropic's error body."""
    error: dict[str, Any] = {"type": kind, "message": message}
    if code is not None:
        error["details"] = {"error_code": code}
    return json.dumps({"type": "error", "error": error, "request_id": "req_error"}).encode()


def prompt_blocked(reason: str, **more: Any) -> Fault:
    """Gemini gives no answer because of the prompt."""
    return Fault(reply={"promptFeedback": {"blockReason": reason}}, drop=("candidates",), **more)


def stopped(reason: str, **more: Any) -> Fault:
    """Gemini stops because of what it was about to write."""
    return Fault(choice={"finishReason": reason, "content": {}}, **more)


def rerouted(model: str, **more: Any) -> Fault:
    """Another model answers, in any API."""
    return Fault(reply={"model": model, "modelVersion": model}, **more)
