"""What the engine asks of a provider: a call becomes wire bytes, wire bytes become a reply."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple, Protocol

from fieldwork.records.generation import Defect, Outcome
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item


class Sampling(NamedTuple):
    """Everything besides the messages that can change an answer.

    Attributes:
        temperature: None leaves it out of the call.
        seed: differs between replicates; a provider without seeds ignores it.
    """

    temperature: float | None
    max_tokens: int
    seed: int


class Wire(NamedTuple):
    """A call's body, in the parts that a study repeats; `body` joins them.

    Attributes:
        prefix: from the opening brace to the end of the context: the very same object for every
            question after one context.
        question: the rest of what can change the answer, up to the closing brace.
        delivery: fields that steer delivery only (cache key, service tier), each with a leading
            comma. They are sent, but are no part of the ledger's key: paying less for the same
            answer must not mean asking again.
    """

    prefix: bytes
    question: bytes
    delivery: bytes = b""

    def body(self) -> bytes:
        """The exact bytes that are sent."""
        return b"".join((self.prefix, self.question, self.delivery, b"}"))


class Exchange(NamedTuple):
    """One call as it went over the wire. `started_at` and `latency_s` are None for a local model.

    Attributes:
        raw: the reply's body.
        request_id: the provider's name for the call, None where it gives none.
        headers: the reply's headers that tell limits, names in lower case.
    """

    raw: bytes
    started_at: datetime | None = None
    latency_s: float | None = None
    request_id: str | None = None
    headers: Mapping[str, str] = {}


class Usage(NamedTuple):
    """Tokens as the provider bills them; None where it does not say.

    Attributes:
        input: all of the prompt, cached and cache-written ones included.
        output: all of the answer, reasoning included.
    """

    input: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None


class Reply(NamedTuple):
    """A raw reply, read.

    Attributes:
        returned_model: None where the reply names none.
        defects: parts that are missing or could not be read as they came.
    """

    text: str | None
    outcome: Outcome
    finish_reason: str | None = None
    returned_model: str | None = None
    fingerprint: str | None = None
    service_tier: str | None = None
    usage: Usage = Usage()
    defects: tuple[Defect, ...] = ()


def defects_of(
    *, is_whole: bool, has_usage: bool, returned_model: str | None
) -> tuple[Defect, ...]:
    """The defects of a reply.

    Args:
        is_whole: no byte of it had to be replaced.
        has_usage: it tells its tokens.
    """
    checks: dict[Defect, bool] = {
        "encoding": is_whole,
        "usage": has_usage,
        "model": returned_model is not None,
    }
    return tuple(defect for defect, is_sound in checks.items() if not is_sound)


class ModelInfo(NamedTuple):
    """A model the server offers; `shutdown` is None where it names no day."""

    id: str
    shutdown: date | None = None


class TransientError(Exception):
    """The call failed in a way that another try may mend.

    Attributes:
        retry_after_s: how long the server asked to wait, None where it did not say.
        throttled: the server said that it is asked too much; others slow down too.
        maybe_billed: the call was sent and its reply lost (a timeout, a reset, an unreadable body):
            the provider may have billed it.
    """

    def __init__(
        self,
        message: str,
        retry_after_s: float | None = None,
        *,
        throttled: bool = False,
        maybe_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.throttled = throttled
        self.maybe_billed = maybe_billed

    @property
    def is_timeout(self) -> bool:
        """Whether the call took as long as it may: raised for a `TimeoutError`."""
        # `from None` hides the context from tracebacks and leaves it in place
        return isinstance(self.__cause__ or self.__context__, TimeoutError)


class RejectedError(Exception):
    """The server refuses this one call and would refuse it again."""


class Provider(Protocol):
    """A model behind some interface.

    Attributes:
        endpoint: names the service and the version of its interface; part of the ledger's key.
        concurrency: calls that may be under way at once.
        timeout_s: seconds a call may take; None where nothing ends it.
        sends_temperature: False where the model refuses one and it is left out of every call.
    """

    endpoint: str
    concurrency: int
    timeout_s: float | None
    sends_temperature: bool

    def prefix(self, context: Sequence[Message]) -> bytes:
        """`Wire.prefix` of a context; made once a context, however many questions follow."""

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """`Wire.question` of an item."""

    def delivery(self, context_id: str | None) -> bytes:
        """`Wire.delivery` of the questions after a context."""

    async def send(self, body: bytes) -> Exchange:
        """Send once; whether what came is an answer, `read` tells.

        Raises:
            TransientError: no reply came, or an error that may pass.
            RejectedError: this call will not be answered.
            StudyError: no call will be answered until the user changes something.
        """

    def read(self, raw: bytes) -> Reply:
        """Read a raw reply; an answer is kept where only what stands beside it cannot be read.

        Raises:
            TransientError: the bytes are no reply of this provider.
            StudyError: no call will be answered until the user changes something.
        """

    def is_asked_for(self, returned_model: str) -> bool:
        """Whether a reply from `returned_model` is one from the model that was asked for."""

    def masked(self, text: str) -> str:
        """A text of the server's without the secrets that calls carry."""

    async def models(self) -> list[ModelInfo] | None:
        """The models the server offers; None where it cannot tell."""

    async def close(self) -> None:
        """Let go of connections."""
