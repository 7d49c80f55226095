"""What a server that streams must do: the loopback server and a real one alike."""

import pytest
from provider_cases import send, wire_of

from fieldwork.generation.providers.base import Exchange, Reply, Sampling
from fieldwork.generation.providers.openai import OpenAI
from fieldwork.generation.providers.openai_stream import StreamedOpenAI, first_text_s


def ask_once(provider: OpenAI, prompt: str, max_tokens: int) -> tuple[Exchange, Reply]:
    wire = wire_of(provider, prompt=prompt, sampling=Sampling(0.0, max_tokens, 1))
    exchange = send(provider, wire._replace(delivery=b""))
    return exchange, provider.read(exchange.raw)


def check_stream(provider: OpenAI, prompt: str, max_tokens: int) -> float:
    """An answer in pieces is the whole answer, and its first text comes before its end."""
    whole_exchange, whole = ask_once(provider, prompt, max_tokens)
    exchange, reply = ask_once(StreamedOpenAI(provider.settings), prompt, max_tokens)
    assert first_text_s(whole_exchange.raw) is None
    seconds = first_text_s(exchange.raw)
    assert seconds is not None
    assert exchange.latency_s is not None
    assert 0 < seconds <= exchange.latency_s
    # all but what a cache had, which the first call may have filled
    names = ("text", "outcome", "finish_reason", "returned_model", "fingerprint", "defects")
    for name in names:
        assert getattr(reply, name) == getattr(whole, name), name
    assert reply.defects == ()
    assert (reply.usage.input, reply.usage.output) == (whole.usage.input, whole.usage.output)
    return seconds


def check_error(provider: OpenAI, prompt: str, kind: type[Exception], words: str) -> None:
    """A server that refuses a call says so alike."""
    for asked in (provider, StreamedOpenAI(provider.settings)):
        with pytest.raises(kind, match=words):
            ask_once(asked, prompt, 4)
