"""What the engine needs of a provider: it makes the bytes of a call, sends them, and reads the reply.

`Provider` states the contract that each provider, and each fake of one in tests, is held to by
tests/unit/generation/providers/test_provider_contract.py.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple, Protocol

from fieldwork.records.generation import Defect, OptionProbability, Outcome
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item


class Sampling(NamedTuple):
    """Everything besides the messages that can change an answer.

    Attributes:
        temperature: None leaves it out of the call.
        seed: differs between replicates. A provider without seeds ignores it.
    """

    temperature: float | None
    max_tokens: int
    seed: int


class Wire(NamedTuple):
    """A call's body, in the parts that a study repeats. `body` joins them.

    Attributes:
        prefix: from the opening brace to the end of the context. All questions after one context
            share one object.
        question: the rest of what can change the answer, up to the closing brace.
        delivery: fields that change only how the call is delivered (cache key, service tier), each
            with a leading comma. They are sent, but the ledger's key leaves them out: who later pays
            less for the same answer must not have to pay for it again.
    """

    prefix: bytes
    question: bytes
    delivery: bytes = b""

    def body(self) -> bytes:
        """The exact bytes that are sent."""
        return b"".join((self.prefix, self.question, self.delivery, b"}"))


class Exchange(NamedTuple):
    """A reply as it came over the wire, not yet read.

    Attributes:
        raw: the reply's body.
        started_at, latency_s: when the call was sent and how long it took; None for a local model.
        request_id: the id that the reply's headers give the call; None where they give none.
        headers: the reply's headers about limits, names in lower case.
    """

    raw: bytes
    started_at: datetime | None = None
    latency_s: float | None = None
    request_id: str | None = None
    headers: Mapping[str, str] = {}


class Usage(NamedTuple):
    """Tokens as the provider bills them; None where the reply does not say.

    Attributes:
        input: all of the prompt, including tokens read from a cache or written to one.
        cache_read: tokens of the prompt that were read from a cache.
        output: all of the answer, including reasoning.
    """

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None


class CheckedUsage(NamedTuple):
    """The tokens of a reply that hold beside each other, and whether those that it states do."""

    usage: Usage
    is_consistent: bool = True

    @property
    def is_known(self) -> bool:
        """Whether the cost of the reply is known."""
        return self.usage.input is not None and self.usage.output is not None


def check_usage(usage: Usage, text: str | None, total: int | None = None) -> CheckedUsage:
    """Hold the tokens that a reply states against each other: the dearer reading counts.

    Some servers count cached tokens beside the prompt and not in it, or reasoning beside the answer. One
    that states no tokens for a text does not count them.

    Args:
        text: of the answer.
        total: of all tokens, where the reply states it.
    """
    if usage.input is None or usage.output is None:
        return CheckedUsage(usage)
    if text and not (usage.input and usage.output):
        return CheckedUsage(Usage())
    n_cached = (usage.cache_read or 0) + (usage.cache_write or 0)
    n_input = usage.input + (n_cached if n_cached > usage.input else 0)
    n_reasoning = usage.reasoning or 0
    n_output = usage.output + (n_reasoning if n_reasoning > usage.output else 0)
    n_total = n_input + n_output if total is None else total
    dearer_usage = usage._replace(input=n_input, output=max(n_output, n_total - n_input))
    is_consistent = dearer_usage == usage and n_total == n_input + n_output
    return CheckedUsage(dearer_usage, is_consistent)


class Reply(NamedTuple):
    """What a reply says.

    Attributes:
        text: None where the reply holds no answer.
        returned_model: the model that answered; None where the reply names none.
        usage: the tokens that the reply states. A provider estimates none.
        defects: what the reply lacks, and what could not be read as it came.
        request_id: the id that the reply's body gives the call; None where it gives none.
        option_probabilities: of the options of a choice, or of a list's candidates to be named first;
            None where the reply does not state them. In all less than 1 where others were possible.
        is_tempered: these are at the call's temperature; else at temperature 1.
    """

    text: str | None
    outcome: Outcome
    finish_reason: str | None = None
    returned_model: str | None = None
    fingerprint: str | None = None
    service_tier: str | None = None
    usage: Usage = Usage()
    defects: tuple[Defect, ...] = ()
    request_id: str | None = None
    option_probabilities: tuple[OptionProbability, ...] | None = None
    is_tempered: bool = True


def defects_of(
    *, is_whole: bool, usage: CheckedUsage, returned_model: str | None
) -> tuple[Defect, ...]:
    """The defects of a reply.

    Args:
        is_whole: no byte of the reply had to be replaced.
    """
    checks: dict[Defect, bool] = {
        "encoding": is_whole,
        "usage": usage.is_known,
        "tokens": usage.is_consistent,
        "model": returned_model is not None,
    }
    return tuple(defect for defect, is_sound in checks.items() if not is_sound)


class ModelInfo(NamedTuple):
    """A model that the server offers. `shutdown` is None where the server gives no date."""

    id: str
    shutdown: date | None = None


class TransientError(Exception):
    """The call failed, and another try may succeed.

    Attributes:
        retry_after_s: seconds that the server asks to wait; None where it does not say.
        is_throttled: the server gets too many requests, so all calls should slow down.
        maybe_billed: the call was sent and its reply was lost or cannot be read, so the provider may
            have billed it.
    """

    def __init__(
        self,
        message: str,
        retry_after_s: float | None = None,
        *,
        is_throttled: bool = False,
        maybe_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.is_throttled = is_throttled
        self.maybe_billed = maybe_billed

    @property
    def is_timeout(self) -> bool:
        """Whether the call ran into its time limit: the error was raised for a `TimeoutError`."""
        # `from None` hides the context from tracebacks and leaves it in place
        return isinstance(self.__cause__ or self.__context__, TimeoutError)


class RejectedError(Exception):
    """The server rejects this one call and would reject it again."""


class Provider(Protocol):
    """A model behind some interface: the contract of all providers.

    - `send` sends a call once and returns what came, unread. It never tries again. No other errors than
      those it declares leave it, whatever the server or the network does.
    - `read` is the only reader of replies, and reads the same bytes the same way on any day. No other
      errors than those it declares leave it, whatever the bytes are. They never ask for a wait and never
      say that the server is throttled: only `send` can know.
    - Nobody but the reply states tokens: `Usage` holds what it says, and None for the rest. Money and
      tokens are added up by `Account` alone.
    - An answer that broke off by an error of the server has the outcome `failed`. It is asked for again.
    - `text` is None or without a word only where the outcome is not `ok`. A missing model, missing tokens
      and replaced bytes are listed in `defects`; a local model has no such defects.

    Attributes:
        endpoint: names the service and the version of its interface; part of the ledger's key.
        concurrency: calls that may be under way at once.
        timeout_s: seconds a call may take; None where it has no limit.
        sends_temperature: False where the model takes no temperature and calls leave it out.
    """

    endpoint: str
    concurrency: int
    timeout_s: float | None
    sends_temperature: bool

    def prefix(self, context: Sequence[Message]) -> bytes:
        """`Wire.prefix` of a context. It is made once, however many questions follow."""

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """`Wire.question` of an item."""

    def delivery(self, context_id: str | None) -> bytes:
        """`Wire.delivery` of the questions after a context."""

    async def send(self, body: bytes) -> Exchange:
        """Send a call once. Whether the reply is an answer is for `read` to say.

        Raises:
            TransientError: no reply came, or an error that may pass.
            RejectedError: the server will not answer this call.
            StudyError: the server will answer no call until the user changes something.
        """

    def read(self, raw: bytes) -> Reply:
        """Read a reply. An answer counts even where something beside it cannot be read.

        Raises:
            TransientError: the bytes are no reply of this provider.
            StudyError: the server will answer no call until the user changes something.
        """

    def is_asked_for(self, returned_model: str) -> bool:
        """Whether a reply from `returned_model` comes from the model that the study names."""

    def mask(self, text: str) -> str:
        """A text from the server, without the secrets that calls carry."""

    async def models(self) -> list[ModelInfo] | None:
        """The models that the server offers; None where it has no list.

        Raises:
            TransientError, RejectedError, StudyError: as for `send`.
        """

    async def close(self) -> None:
        """Close the connections. The next call opens them again."""
