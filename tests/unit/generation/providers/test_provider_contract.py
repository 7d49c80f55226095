"""The contract of `Provider` and `BatchClient`, held by every implementation and by every fake.

The docstring of `Provider` states it. A provider with a wire talks to a loopback server, and the server
goes wrong in every way that it can. A fake is held to the same contract, or tests that use it would show
nothing about the real ones.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from batch_service import Service, Ticking
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from provider_cases import (
    CONTEXTS,
    KEY,
    NOWHERE,
    make_anthropic,
    make_gemini,
    make_openai,
    make_vertex,
    send,
    wire_of,
)
from scripted_provider import ScriptedProvider, reply_bytes
from senders import item_of, sender_of
from tiny_chat import make_tiny_chat

from fieldwork.encoder import Encoder, EncoderSettings
from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.chat import sources
from fieldwork.generation.chat.sources import ModelSource, model_source
from fieldwork.generation.engine import settle
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.legibility import Legibility, LegibilityRules
from fieldwork.generation.providers import embedded, jsontext
from fieldwork.generation.providers.base import (
    Exchange,
    Provider,
    RejectedError,
    Sampling,
    TransientError,
    Usage,
)
from fieldwork.generation.providers.batch_anthropic import AnthropicBatches
from fieldwork.generation.providers.batch_base import BatchClient, BatchRow
from fieldwork.generation.providers.batch_gemini import GeminiBatches
from fieldwork.generation.providers.batch_openai import OpenAIBatches
from fieldwork.generation.providers.local_chat import ChatSettings, LocalChat
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.puppets import Message
from servers.faults import anthropic_error, google_error, openai_error
from servers.provider import Chat, Fault, refuse_connections, serve_chat

TINY_FOLDER = TemporaryDirectory(prefix="fieldwork-test-")
DECLARED = (TransientError, RejectedError, StudyError)
TIMEOUT_S = 2.0


class FixedEncoder(Encoder):
    """An encoder without a model's file: the vector is a hash of the text."""

    def __init__(self) -> None:
        self.settings = EncoderSettings("fixed")

    def encode(self, texts: Any) -> npt.NDArray[np.float32]:
        seeds = [int.from_bytes(text.encode()[:8].ljust(8), "big") for text in texts]
        return np.stack([np.random.default_rng(s).normal(size=8) for s in seeds]).astype("float32")


Maker = Callable[[str], Provider]


def remote(make: Callable[..., Provider], path: str = "", **changes: Any) -> Maker:
    return lambda url: make(f"{url}{path}", timeout_s=TIMEOUT_S, **changes)


def openai(**changes: Any) -> Maker:
    return remote(make_openai, "/v1", **changes)


def embedded_model(_: str) -> Provider:
    return embedded.EmbeddedModel(FixedEncoder(), embedded.EmbeddedSettings(8.0, 0.5), "code")


@cache
def tiny_chat_source() -> ModelSource:
    return model_source({"path": str(make_tiny_chat(Path(TINY_FOLDER.name) / "tiny"))})


def local_chat(choices: str) -> Maker:
    settings_ = ChatSettings("candidates", 0.0, choices, 1)  # type: ignore[arg-type]
    return lambda _: LocalChat(tiny_chat_source(), settings_, "code")


def said(body: dict[str, Any]) -> Callable[..., bytes]:
    """What makes replies that are sound but for the changes; `...` leaves a field out."""

    def reply(**changes: Any) -> bytes:
        fields = (body | changes).items()
        return json.dumps({name: value for name, value in fields if value is not ...}).encode()

    return reply


CHOICE = {"message": {"content": "B", "refusal": None}, "finish_reason": "stop"}
CHAT: dict[str, Any] = {"id": "c1", "model": "gpt-test", "choices": [CHOICE]}
CHAT |= {"system_fingerprint": "fp", "service_tier": "default"}
chat_reply = said(CHAT | {"usage": {"prompt_tokens": 9, "completion_tokens": 1}})
CANDIDATE = {"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP"}
GEMINI = {"responseId": "r1", "modelVersion": "gemini-x", "candidates": [CANDIDATE]}
TOKENS = {"promptTokenCount": 9, "candidatesTokenCount": 1, "serviceTier": "standard"}
gemini_reply = said(GEMINI | {"usageMetadata": TOKENS})
CLAUDE: dict[str, Any] = {"id": "msg_1", "model": "claude-x", "stop_reason": "end_turn"}
CLAUDE |= {"content": [{"type": "text", "text": "B"}]}
CLAUDE |= {"usage": {"input_tokens": 9, "cache_read_input_tokens": 0, "output_tokens": 1}}
anthropic_reply = said(CLAUDE)
scripted_reply = said(json.loads(reply_bytes("B")))
PARTS = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "B"}]
ENDPOINTS = {"available": [{"provider": "a", "selected": True}]}
gateway_reply = said(
    json.loads(chat_reply(openrouter_metadata={"endpoints": ENDPOINTS}))
    | {"choices": [CHOICE | {"message": {"content": PARTS}}]}
)
LOCALS: dict[str, Any] = {"text": "B", "finish_reason": "stop", "input": 9, "cache_read": 4}
local_chat_reply = said(LOCALS | {"output": 1, "probabilities": {"A": 0.25, "B": 0.75}})


class Case(NamedTuple):
    """An implementation, a reply with the answer B, and replies that lack something."""

    make: Maker
    sound: bytes
    without: dict[str, bytes]
    has_wire: bool = True


MANY = {"prompt_tokens": "many", "completion_tokens": -1, "promptTokenCount": "many"}
MANY |= {"input_tokens": "many", "output_tokens": -1, "input": "many", "output": -1}


def lacking(
    reply: Callable[..., bytes], usage: str, model: str, **textless: Any
) -> dict[str, bytes]:
    """Replies of one form that lack a text, and tokens or a model under these names."""
    return {
        "text": reply(**textless),
        "usage": reply(**{usage: ...}),
        "readable usage": reply(**{usage: MANY}),
        "model": reply(**{model: ...}),
    }


def empty(content: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}


OPENAI_REPLIES = lacking(chat_reply, "usage", "model", **empty(None))
GATEWAY_REPLIES = lacking(gateway_reply, "usage", "model", **empty([]))
STOPPED = [{"finishReason": "STOP"}]
GEMINI_REPLIES = lacking(gemini_reply, "usageMetadata", "modelVersion", candidates=STOPPED)
ANTHROPIC_REPLIES = lacking(anthropic_reply, "usage", "model", content=[])
SCRIPTED_REPLIES = lacking(scripted_reply, "usage", "model", text=None)
GATEWAY = {"seed_field": "random_seed", "extra_body": {"provider": {"only": ["a"]}, "top_k": 0}}
MARKED = {"cache_key": True, "cache_breakpoint": True}
AZURE = {"azure_version": "2024-10-21"}
MARKED_CLAUDE = remote(make_anthropic, cache_breakpoint=True)
LETTERS = local_chat_reply(probabilities=None)
CASES = {
    "openai": Case(openai(), chat_reply(), OPENAI_REPLIES),
    "openai with breakpoints": Case(openai(**MARKED), chat_reply(), OPENAI_REPLIES),
    "azure": Case(remote(make_openai, **AZURE), chat_reply(), OPENAI_REPLIES),
    "compatible server": Case(openai(api_key=None, send_seed=True), chat_reply(), OPENAI_REPLIES),
    "gateway": Case(openai(send_seed=True, **GATEWAY), gateway_reply(), GATEWAY_REPLIES),
    "gemini": Case(remote(make_gemini), gemini_reply(), GEMINI_REPLIES),
    "vertex": Case(remote(make_vertex), gemini_reply(), GEMINI_REPLIES),
    "anthropic": Case(remote(make_anthropic), anthropic_reply(), ANTHROPIC_REPLIES),
    "anthropic with breakpoints": Case(MARKED_CLAUDE, anthropic_reply(), ANTHROPIC_REPLIES),
    "embedded": Case(embedded_model, b'{"text": "B"}', {}, has_wire=False),
    "local chat": Case(local_chat("likelihood"), local_chat_reply(), {}, has_wire=False),
    "local chat with letters": Case(local_chat("letter"), LETTERS, {}, has_wire=False),
    "scripted, of tests": Case(
        lambda _: ScriptedProvider(), scripted_reply(), SCRIPTED_REPLIES, has_wire=False
    ),
}
LOCAL = {"embedded", "local chat", "local chat with letters"}
ON_A_WIRE = [name for name, case in CASES.items() if case.has_wire]
LIKE_OPENAI = ON_A_WIRE[1:5]
LACKING = [(name, lack) for name, case in CASES.items() for lack in case.without]


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed models go to the folder of the tiny one, not into that of the project."""
    monkeypatch.setattr(sources, "MODELS", Path(TINY_FOLDER.name) / "models")
    monkeypatch.setenv("VERTEX_TOKEN", "a-token")


@pytest.fixture(scope="module")
def server() -> Iterator[Chat]:
    with serve_chat() as chat:
        yield chat


@pytest.fixture
def chat(server: Chat) -> Chat:
    server.faults.clear()
    server.requests.clear()
    return server


def address(chat: Chat) -> str:
    return chat.base_url.removesuffix("/v1")


def ask(provider: Provider) -> Exchange:
    return send(provider, wire_of(provider, CONTEXTS["history"]))


@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_sent_once_and_read(name: str, chat: Chat) -> None:
    provider = CASES[name].make(address(chat))
    exchange = ask(provider)
    assert len(chat.requests) == CASES[name].has_wire
    reply = provider.read(exchange.raw)
    # a model with random weights writes on to the limit
    assert reply.outcome == "ok" or name == "local chat with letters"
    assert reply.text
    assert (exchange.latency_s is not None) == (name not in LOCAL)
    assert all(header == header.lower() for header in exchange.headers)


LONE, MENDED = "nul \x00 \ud83d half, pair \ud83d\ude00", "nul \x00 \ufffd half, pair 😀"


@pytest.mark.parametrize("name", CASES)
def test_equal_contexts_give_equal_bytes_and_bodies_are_json(name: str) -> None:
    provider, other = CASES[name].make(NOWHERE), CASES[name].make(NOWHERE)
    for context in CONTEXTS.values():
        assert provider.prefix(context) == other.prefix(list(context))
        assert provider.prefix([*context, Message("user", "more")]) != provider.prefix(context)
        wire = wire_of(provider, context, context_id="c")
        for body in (wire.body(), wire._replace(delivery=b"").body()):
            assert isinstance(json.loads(body), dict)
            assert body.count(b"Which one?") == 1 or not CASES[name].has_wire
    if CASES[name].has_wire:
        written = wire_of(provider, [Message("system", LONE), Message("user", LONE)], prompt=LONE)
        texts = json.dumps(json.loads(written.body()), ensure_ascii=False)
        mended = json.dumps(MENDED, ensure_ascii=False)
        assert texts.count(mended) == 3, "text that UTF-8 cannot carry is mended"


STATUSES = (400, 401, 402, 403, 404, 408, 422, 429, 498, 500, 503, 504, 529)
ERROR_BODIES = {
    "openai": openai_error("broken"),
    "google": google_error(500, "broken"),
    "anthropic": anthropic_error("broken"),
    "a list": b'[{"error": {"message": "broken", "details": [7, {"violations": 3}]}}]',
    "a text for an error": b'{"error": "broken"}',
    "numbers": b'{"error": {"message": 7, "code": [1], "type": {}, "innererror": 3, "details": 5}}',
    "html": b"<html>broken</html>",
    "nothing": b"",
    "half": b'{"error": {"message": "bro',
    "no utf-8": b'{"error": {"message": "\xff\xfe"}}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", ON_A_WIRE)
def test_an_error_of_the_server_is_a_declared_one(name: str, chat: Chat) -> None:
    make = CASES[name].make
    # what a status means does not depend on who is called there, but on the body's form it may
    bodies = ["deep", "numbers"] if name in LIKE_OPENAI else ERROR_BODIES
    for body, status in product(bodies, STATUSES):
        chat.faults.append(Fault(status=status, body=ERROR_BODIES[body]))
        with pytest.raises(DECLARED) as caught:
            ask(make(address(chat)))
        assert "\n" not in str(caught.value)
        assert KEY not in str(caught.value)
        if status in (429, 500, 503):
            assert isinstance(caught.value, TransientError)
            assert caught.value.is_throttled == (status != 500)
        if status in (401, 402):
            assert isinstance(caught.value, StudyError)
    assert len(chat.requests) == len(bodies) * len(STATUSES), "each is sent once"


BROKEN_CONNECTIONS = {
    "reset": Fault(reset=True),
    "cut": Fault(cut=True),
    "too short": Fault(wrong_length=7),
    "hangs": Fault(wait_s=60.0),
    "drips": Fault(drip_s=1.0),
}


@pytest.mark.parametrize("fault", BROKEN_CONNECTIONS)
@pytest.mark.parametrize("name", ON_A_WIRE)
def test_a_broken_connection_may_be_billed_and_is_tried_again(
    name: str, fault: str, chat: Chat
) -> None:
    slow = fault in ("hangs", "drips")
    provider = CASES[name].make(address(chat))
    if slow:
        provider._http._settings = replace(provider._http._settings, timeout_s=0.2)  # type: ignore[attr-defined]
    chat.faults.append(BROKEN_CONNECTIONS[fault])
    BROKEN_CONNECTIONS[fault].times = 1
    with pytest.raises(TransientError) as caught:
        ask(provider)
    assert caught.value.maybe_billed
    assert caught.value.is_timeout == slow
    assert not caught.value.is_throttled


@pytest.mark.parametrize("name", ON_A_WIRE)
def test_a_connection_that_is_refused_was_never_billed(name: str, chat: Chat) -> None:
    with refuse_connections(chat), pytest.raises(TransientError) as caught:
        ask(CASES[name].make(address(chat)))
    assert not caught.value.maybe_billed


@pytest.mark.parametrize("name", ON_A_WIRE)
def test_what_is_no_reply_is_returned_by_send_and_refused_by_read(name: str, chat: Chat) -> None:
    make = CASES[name].make
    bodies = [body for key, body in ERROR_BODIES.items() if key != "deep"]
    for raw in (*bodies, b"null", b"{}"):
        chat.faults.append(Fault(body=raw))
        provider = make(address(chat))
        exchange = ask(provider)
        assert exchange.raw == raw
        with pytest.raises(TransientError) as caught:
            provider.read(exchange.raw)
        assert caught.value.maybe_billed, "the server has replied"


@pytest.mark.parametrize("name", CASES)
def test_a_sound_reply_is_read_the_same_each_time(name: str) -> None:
    case = CASES[name]
    first, second = (case.make(NOWHERE).read(case.sound) for _ in range(2))
    assert first == second
    assert (first.text, first.outcome, first.defects) == ("B", "ok", ())
    if case.without:
        assert (first.usage.input, first.usage.output) in ((9, 1), (10, 1))


@pytest.mark.parametrize(("name", "lack"), LACKING)
def test_what_a_reply_lacks_is_none_and_listed(name: str, lack: str) -> None:
    case = CASES[name]
    reply = case.make(NOWHERE).read(case.without[lack])
    if lack == "text":
        assert reply.outcome == "empty"
        assert not (reply.text or "").strip()
        assert reply.defects == ()
        return
    assert (reply.text, reply.outcome) == ("B", "ok"), "the answer counts all the same"
    assert reply.defects == ("model" if lack == "model" else "usage",)
    if lack == "usage":
        assert reply.usage == Usage()
    if lack == "readable usage":
        assert None in (reply.usage.input, reply.usage.output)
    if lack == "model":
        assert reply.returned_model is None


@pytest.mark.parametrize("name", CASES)
def test_a_reply_that_is_cut_anywhere_is_refused(name: str) -> None:
    case = CASES[name]
    provider = case.make(NOWHERE)
    for raw in (*(case.sound[:end] for end in range(len(case.sound))), b"[]", b"null", b"\xff"):
        with pytest.raises(TransientError) as caught:
            provider.read(raw)
        assert (caught.value.retry_after_s, caught.value.is_throttled) == (None, False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("half \ud83d"),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=8,
)


def spoil(raw: bytes, where: int, value: object) -> bytes:
    """A reply with one of its values, whichever, replaced by another."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        steps = node.items() if isinstance(node, dict) else enumerate(node)
        for step, child in list(steps):
            places.append((node, step))
            if isinstance(child, dict | list):
                walk(child)

    body = json.loads(raw)
    walk(body)
    node, step = places[where % len(places)]
    node[step] = value
    return json.dumps(body).encode()


def check_reading(provider: Provider, raw: bytes) -> None:
    with suppress(TransientError, StudyError):
        reply = provider.read(raw)
        assert bool(reply.text and reply.text.strip()) or reply.outcome != "ok"
        assert all(count is None or count >= 0 for count in reply.usage)
        names = (reply.returned_model, reply.request_id, reply.fingerprint, reply.service_tier)
        for text in (reply.text, reply.finish_reason, *names):
            assert text is None or isinstance(text.encode(), bytes)


SIXTY = {"max_examples": 60, "deadline": None}
FIXTURES = [HealthCheck.function_scoped_fixture]


@pytest.mark.parametrize("name", [name for name in CASES if name != "embedded"])
@settings(**SIXTY, suppress_health_check=FIXTURES)  # type: ignore[arg-type]
@given(where=st.integers(0, 99), value=JSON, junk=st.binary(max_size=80))
def test_no_reply_breaks_reading(name: str, where: int, value: object, junk: bytes) -> None:
    case = CASES[name]
    provider = case.make(NOWHERE)
    check_reading(provider, junk)
    check_reading(provider, spoil(case.sound, where, value))


def batch_client(api: str, folder: Path) -> BatchClient:
    if api == "openai":
        return OpenAIBatches(make_openai().settings)
    if api == "gemini":
        return GeminiBatches(make_gemini().settings)
    if api == "anthropic":
        return AnthropicBatches(make_anthropic().settings, folder)
    return Service(folder / "service", Ticking())


MESSAGE, RESPONSE = {"id": "m"}, {"status_code": 200, "body": {"x": 1}}
ROWS: dict[str, dict[str, Any]] = {
    "openai": {"custom_id": "q", "response": RESPONSE, "error": None},
    "gemini": {"key": "q", "response": {"candidates": [], "responseId": "r"}},
    "anthropic": {"custom_id": "q", "result": {"type": "succeeded", "message": MESSAGE}},
    "service, of tests": {"id": "q", "status": 200, "body": {"x": 1}},
}
ROW_BODIES = (*ERROR_BODIES.values(), b"null", b"7", b"{}", b'{"custom_id": 7}', b'{"key": []}')


@pytest.mark.parametrize("api", ROWS)
def test_a_line_of_results_is_a_row_or_a_value_error(api: str, tmp_path: Path) -> None:
    client = batch_client(api, tmp_path)
    for line in ROW_BODIES:
        with pytest.raises(ValueError, match=r"\w"):
            client.row(line)
    sound = json.dumps(ROWS[api]).encode()

    @settings(**SIXTY)  # type: ignore[arg-type]
    @given(where=st.integers(0, 99), value=JSON)
    def check(where: int, value: object) -> None:
        with suppress(ValueError):
            assert isinstance(client.row(spoil(sound, where, value)), BatchRow)

    check()
    client.close()


@pytest.mark.parametrize("name", [name for name in CASES if "letters" not in name])
def test_a_reply_is_parsed_once_from_the_wire_to_the_ledger(
    name: str, chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = CASES[name].make(address(chat))
    asks = [Ask(item_of(f"q{i}", "choice", "ab"), Sampling(1.0, 16, 0), 0) for i in range(8)]
    arm = GenerationArm("m", "task", "condition", 1.0, 16, 0)
    n_parsed = Counter[bytes]()

    def counting(loads: Callable[..., Any]) -> Callable[..., Any]:
        def counted(raw: Any, **options: Any) -> Any:
            n_parsed[raw if isinstance(raw, bytes) else raw.encode()] += 1
            return loads(raw, **options)

        return counted

    with open_ledger(tmp_path / "m.sqlite") as ledger:
        sender = sender_of(provider, ledger, attempts=2, ceiling=4)
        legibility = Legibility(LegibilityRules(lambda *_: None, 0.5), arm, sender)
        for module in (jsontext.orjson, json):
            monkeypatch.setattr(module, "loads", counting(module.loads))
        group = ContextGroup(None, [], asks)
        tally = settle([group], sender, total=len(asks), legibility=legibility)
        monkeypatch.undo()
        replies = Counter(entry.raw for entry in ledger.entries(tally.keys))
    assert replies.total() == len(asks)
    assert legibility.note() == "0 unreadable"
    assert {raw: n_parsed[raw] for raw in replies} == replies
