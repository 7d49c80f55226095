"""Chat Completions as a stream, to learn when the first text of an answer comes.

A streamed call is a call of its own: its body asks for the stream, so that its key in the ledger is no
other call's. What is stored is a completion like any other, put together from the pieces, with the
seconds to the first text beside it. Whatever reads completions reads these.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fieldwork.generation.providers.base import Exchange, Sampling, TransientError
from fieldwork.generation.providers.jsontext import (
    as_list,
    as_map,
    as_text,
    dumps,
    error_line,
    loads,
    loads_or_none,
)
from fieldwork.generation.providers.openai import OpenAI, content_text
from fieldwork.records.tasks import Item

FIRST_TEXT = "first_token_s"
"""The key of the seconds to the first text, in the stored completion."""

_OPTIONS = b',"stream":true,"stream_options":{"include_usage":true}'
_EVENT, _END = b"data:", b"[DONE]"
_HEAD = ("id", "created", "model", "system_fingerprint", "service_tier", "provider")


def first_text_s(raw: bytes) -> float | None:
    """Seconds to the first text of a stored reply; None where it came in one piece or has no text."""
    seconds = as_map(loads_or_none(raw)).get(FIRST_TEXT)
    return float(seconds) if isinstance(seconds, int | float) else None


class StreamedOpenAI(OpenAI):
    """The provider `openai`, asked for its answers piece by piece."""

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """As of a whole answer, with the fields that ask for a stream and for its tokens."""
        return super().question(item, sampling) + _OPTIONS

    async def send(self, body: bytes) -> Exchange:
        """Send one POST and note when the first text comes."""
        watch = _FirstText()
        exchange = await self._post(body, watch.note)
        if not exchange.raw.lstrip().startswith((_EVENT, b":", b"event:")):
            return exchange
        return exchange._replace(raw=self._completion(exchange.raw, watch.seconds))

    def _completion(self, raw: bytes, seconds: float | None) -> bytes:
        """The pieces as one completion; a stream that breaks off is no answer."""
        try:
            body = _join_events(raw)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            line = error_line(_error_text(raw), raw, self._http.mask)
            raise TransientError(f"no whole stream: {line}", maybe_billed=True) from error
        return self._http.mask_reply(dumps(body | {FIRST_TEXT: seconds}))


class _FirstText:
    """Watches the bytes of a stream as they come.

    Attributes:
        seconds: from the send to the first text; None so far.
    """

    def __init__(self) -> None:
        self.seconds: float | None = None
        self._rest = b""

    def note(self, piece: bytes, seconds: float) -> None:
        """Take what came `seconds` after the send; lines may be cut anywhere."""
        if self.seconds is not None:
            return
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if any(_has_text(loads_or_none(data)) for data in _events(lines)):
            self.seconds = round(seconds, 4)


def _events(lines: list[bytes]) -> Iterator[bytes]:
    """The data of the events in lines of a stream, without the sign of its end."""
    for line in lines:
        data = line.strip().removeprefix(_EVENT).strip()
        if line.startswith(_EVENT) and data != _END:
            yield data


def _choice(event: object) -> Mapping[str, Any]:
    """The first choice of an event; empty where it has none, as that with the tokens."""
    choices = as_list(as_map(event).get("choices"))
    return as_map(choices[0]) if choices else {}


def _has_text(event: object) -> bool:
    """Whether an event brings a piece of an answer; one that cannot be read is met at the end."""
    delta = as_map(_choice(event).get("delta"))
    try:
        text = content_text(delta.get("content"))
    except (KeyError, TypeError):
        text = None
    return bool(text or as_text(delta.get("refusal")))


def _join_events(raw: bytes) -> dict[str, Any]:
    """One completion from the events of a stream.

    Raises:
        ValueError: an event is no JSON, or nothing says why the answer ended.
        TypeError, KeyError: a piece of the answer is no text.
    """
    events = [as_map(loads(data)) for data in _events(raw.split(b"\n"))]
    choices = [_choice(event) for event in events]
    deltas = [as_map(choice.get("delta")) for choice in choices]
    finish = [choice["finish_reason"] for choice in choices if choice.get("finish_reason")]
    if not finish or any(event.get("error") for event in events):
        raise ValueError("the stream has no end")
    # the first that is not empty: Azure begins with an event that names neither model nor call
    body = {name: event[name] for event in reversed(events) for name in _HEAD if event.get(name)}
    usage = next((event["usage"] for event in reversed(events) if event.get("usage")), None)
    message = {
        "role": "assistant",
        "content": "".join(content_text(delta.get("content")) or "" for delta in deltas),
        "refusal": "".join(as_text(delta.get("refusal")) or "" for delta in deltas) or None,
    }
    choice = {"index": 0, "message": message, "finish_reason": finish[-1]}
    return body | {"object": "chat.completion", "choices": [choice], "usage": usage}


def _error_text(raw: bytes) -> str:
    """What an event says is wrong; empty where none does."""
    events = (as_map(loads_or_none(data)) for data in _events(raw.split(b"\n")))
    errors = (as_map(event.get("error")).get("message") for event in events)
    return next((str(message) for message in errors if message), "")
