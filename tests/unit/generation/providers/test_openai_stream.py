"""Streams: the first text is timed, the pieces are one answer, and what breaks off is none."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from provider_cases import KEY, make_openai
from stream_contract import ask_once, check_error, check_stream

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, Reply, TransientError
from fieldwork.generation.providers.openai_stream import (
    FIRST_TEXT,
    StreamedOpenAI,
    _FirstText,
    first_text_s,
)
from servers.faults import openai_error
from servers.provider import Chat, Fault, serve_provider

LATENCY_S, PIECE_S = 0.05, 0.04
TEXT = "one two three four five"


@pytest.fixture
def server() -> Iterator[Chat]:
    with serve_provider(strict=False, answer=lambda _: TEXT, latency_s=LATENCY_S) as chat:
        chat.piece_s = PIECE_S
        yield chat


def streamed(server: Chat, **changes: Any) -> StreamedOpenAI:
    return StreamedOpenAI(make_openai(server.base_url, **changes).settings)


def test_a_stream_of_the_loopback_server_keeps_the_contract(server: Chat) -> None:
    seconds = check_stream(make_openai(server.base_url), "Count.", 64)
    # the role comes before the first word, and the other four come after it
    assert seconds >= LATENCY_S + PIECE_S
    exchange, _ = ask_once(streamed(server), "Count again.", 64)
    assert exchange.latency_s is not None
    assert exchange.latency_s - (first_text_s(exchange.raw) or 9) > 3 * PIECE_S


def event(**fields: Any) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


def piece(content: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {} if content is None else {"content": content}
    return {"choices": [{"delta": delta, "finish_reason": finish}], **more}


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_the_first_text_is_seen_however_the_bytes_are_cut(size: int) -> None:
    role = {"choices": [{"delta": {"role": "assistant", "content": None}}]}
    events = [role, piece(""), piece("Zoë"), piece(" more")]
    raw = "".join(f"data: {json.dumps(event)}\r\n\r\n" for event in events).encode()
    end = raw.index(b"Zo") + raw[raw.index(b"Zo") :].index(b"\n")
    watch = _FirstText()
    for start in range(0, len(raw), size):
        watch.note(raw[start : start + size], float(start + size))
    assert watch.seconds is not None
    assert end < watch.seconds <= max(end + 2 * size, len(raw) + size)


def test_a_server_that_does_not_stream_gives_an_answer_without_a_first_text(server: Chat) -> None:
    body = {"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}], "model": "m"}
    server.faults.append(Fault(body=json.dumps(body).encode(), times=1))
    exchange, reply = ask_once(streamed(server), "Which?", 4)
    assert (reply.text, first_text_s(exchange.raw)) == ("B", None)


HALF = event(**piece("half"))


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (HALF, "no whole stream"),
        (HALF + event(error={"message": "busy"}), "busy"),
        (b"data: {broken\n\n", "no whole stream"),
        (b": keep-alive\n\n", "no whole stream"),
        (b"data: [DONE]\n\n", "no whole stream"),
    ],
)
def test_a_stream_that_breaks_off_is_no_answer_and_may_be_billed(
    server: Chat, raw: bytes, words: str
) -> None:
    server.faults.append(Fault(body=raw, times=1))
    with pytest.raises(TransientError, match=words) as caught:
        ask_once(streamed(server), "Which?", 4)
    assert caught.value.maybe_billed
    # the next try is answered
    assert ask_once(streamed(server), "Which?", 4)[1].text == TEXT


def test_a_key_that_comes_in_pieces_is_masked(server: Chat) -> None:
    events = [piece(KEY[:8]), piece(KEY[8:]), piece(" end"), piece(finish="stop")]
    raw = b"".join(event(**fields) for fields in events)
    server.faults.append(Fault(body=raw, times=1))
    exchange, reply = ask_once(streamed(server), "Which?", 4)
    assert KEY.encode() not in exchange.raw
    assert KEY not in (reply.text or "")
    assert (reply.text or "").endswith(" end")


def ask_stream(server: Chat, *events: dict[str, Any]) -> tuple[dict[str, Any], Reply]:
    """What is stored of a stream of `events`, and the reply that it is read as."""
    raw = b"".join(event(**fields) for fields in events)
    server.faults.append(Fault(body=raw + b"data: [DONE]\n\n", times=1))
    exchange, reply = ask_once(streamed(server), "Which?", 4)
    return json.loads(exchange.raw), reply


USAGE = {"prompt_tokens": 5, "completion_tokens": 1}


def test_an_event_without_names_before_the_answer_hides_none(server: Chat) -> None:
    # Azure's first event is about the prompt's filters
    head = {"id": "c", "created": 9, "model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_1"}
    blank = {"choices": [], "id": "", "created": 0, "model": "", "prompt_filter_results": []}
    pieces = [piece("", **head), piece("Hi", **head), piece(finish="stop", **head)]
    usage = {**head, "choices": [], "usage": USAGE}
    stored, reply = ask_stream(server, blank, *pieces, usage)
    assert {name: stored[name] for name in head} == head
    assert (reply.returned_model, reply.fingerprint) == ("gpt-4o-2024-08-06", "fp_1")
    assert reply.defects == ()


def test_pieces_that_are_lists_of_parts_are_read_as_whole_answers_are(server: Chat) -> None:
    # as Mistral's models that think write them
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    pieces = [piece([thought]), piece([{"type": "text", "text": "Par"}]), piece("is", "stop")]
    named = [{"model": "m", **fields} for fields in pieces]
    stored, reply = ask_stream(server, *named, {"choices": [], "usage": USAGE})
    assert (reply.text, reply.outcome) == ("Paris", "ok")
    assert stored[FIRST_TEXT] is not None


def test_errors_are_those_of_a_whole_call(server: Chat) -> None:
    too_long = openai_error("too long", "context_length_exceeded", "invalid_request_error")
    server.faults += [Fault(status=400, body=too_long, times=2)]
    check_error(make_openai(server.base_url), "x", RejectedError, "too long")
    server.faults[:] = [Fault(status=401, body=openai_error("bad key"), times=2)]
    check_error(make_openai(server.base_url), "x", StudyError, "bad key")
