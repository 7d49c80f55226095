"""The loopback server as the official SDKs see it: prefix caches, bills, keys, batches, refusals."""

import functools
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors as google_errors
from google.genai import types

from fieldwork.puppets.contexts import estimate_tokens
from fieldwork.records.puppets import Message
from servers.prefix_cache import Part, Prompt
from servers.provider import BatchRules, Chat, ModelSpec, serve_provider

KEY = "key-of-the-loopback-test"
PRICES = {
    "gpt-4o": {"input": 2.0, "cached": 1.0, "output": 8.0},
    "gpt-5": {"input": 1.0, "output": 10.0},
    "gpt-5.6": {"input": 4.0, "output": 16.0},
    "gemini-pro": {"input": 1.0, "output": 5.0, "storage": 100.0},
    "claude-pro": {"input": 1.0, "output": 5.0},
}
SPECS = (
    ModelSpec("gpt-4o"),
    ModelSpec("gpt-5", family="5", reasoning=7),
    ModelSpec("gpt-5.6", family="5.6"),
    ModelSpec("gemini-pro", family="gemini", reasoning=5),
    ModelSpec("claude-pro", family="claude", reasoning=5),
    ModelSpec("claude-new", refuses=frozenset({"temperature"})),
)
# 16,000 bytes: 4,000 tokens and 4 that open the message
LONG = "All I know. " + "x" * 15_988


@pytest.fixture
def server() -> Iterator[Chat]:
    rules = BatchRules(validating_s=1.0, running_s=10.0, finalizing_s=1.0)
    with serve_provider(specs=SPECS, prices=PRICES, batch=rules) as running:
        yield running


# making a client takes longer than most tests
@functools.lru_cache(maxsize=2)
def sdk_of(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key=KEY, max_retries=0)


@functools.lru_cache(maxsize=2)
def google(url: str) -> genai.Client:
    return genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url))


def claude(server: Chat, version: str = "2023-06-01", key: str = KEY) -> anthropic.Anthropic:
    place: Any = {"base_url": server.anthropic_url, "max_retries": 0}
    return anthropic.Anthropic(api_key=key, default_headers={"anthropic-version": version}, **place)


def ask(server: Chat, question: str = "Why?", model: str = "gpt-4o", **more: Any) -> Any:
    context = more.pop("context", LONG)
    messages: Any = [{"role": "user", "content": context}] if context else []
    messages.append({"role": "user", "content": question})
    sdk = sdk_of(server.base_url)
    return sdk.chat.completions.create(model=model, messages=messages, **more)


def cached(server: Chat, **more: Any) -> int:
    return int(ask(server, **more).usage.prompt_tokens_details.cached_tokens)


# --- OpenAI: prefixes and bills


# 4 + 1015 + 4 tokens are one short of 1,024; hits come in steps of 128
@pytest.mark.parametrize(
    ("tokens", "expected"), [(1015, 0), (1016, 1024), (1143, 1024), (1144, 1152)]
)
def test_a_prefix_is_hit_from_its_second_call_on(server: Chat, tokens: int, expected: int) -> None:
    assert [cached(server, question="", context="y" * 4 * tokens) for _ in "12"] == [0, expected]


def test_a_prefix_lives_after_its_last_use_and_on_one_machine(server: Chat) -> None:
    hits = [cached(server, prompt_cache_key="k") > 0 for _ in range(17)]
    assert hits == [False, *[True] * 14, False, True]
    for seconds, is_there in ((61, True), (290, True), (310, False)):
        server.clock.skip(seconds)
        assert (cached(server, prompt_cache_key="k") > 0) == is_there


def test_a_prefix_can_be_read_once_the_answer_that_wrote_it_is_finished(server: Chat) -> None:
    server.latency_s = 0.2
    hits: list[int] = []
    threads = [threading.Thread(target=lambda: hits.append(cached(server))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hits == [0, 0]
    assert server.most_under_way == 2
    assert cached(server) > 0


def test_explicit_breakpoints_are_written_for_a_fee_and_read_exactly(server: Chat) -> None:
    mode = {"mode": "explicit"}
    marked = [{"type": "text", "text": LONG, "prompt_cache_breakpoint": mode}]
    options = {"model": "gpt-5.6", "context": marked, "prompt_cache_options": mode}
    usages = [ask(server, question, **options).usage for question in ("Why?", "How?")]
    details = [usage.prompt_tokens_details for usage in usages]
    assert [(d.cached_tokens, d.cache_write_tokens) for d in details] == [(0, 4004), (4004, 0)]
    # both questions are 5 tokens, the first of all is written at 1.25 ×, the next read at 0.1 ×
    plain, out = 2 * 5 * 4.0, 2 * 2 * 16.0
    usd = (plain + 4004 * 5.0 + 4004 * 0.4 + out) / 1e6
    assert server.bill.lines["gpt-5.6", "live"].usd == pytest.approx(usd)


def test_the_bill_knows_each_familys_discount(server: Chat) -> None:
    for model in ("gpt-4o", "gpt-5"):
        for _ in range(2):
            ask(server, model=model)
    hit, n = 1024 + 23 * 128, 2 * 4009
    four, five = server.bill.lines["gpt-4o", "live"], server.bill.lines["gpt-5", "live"]
    assert (four.input, four.cached, four.output, four.reasoning) == (n, hit, 4, 0)
    assert four.usd == pytest.approx(((n - hit) * 2 + hit * 1 + 4 * 8) / 1e6)
    assert (five.output, five.reasoning) == (18, 14)
    assert five.usd == pytest.approx(((n - hit) * 1 + hit * 0.1 + 18 * 10) / 1e6)
    assert server.bill.usd == pytest.approx(four.usd + five.usd)


def test_one_key_alone_opens(server: Chat) -> None:
    server.api_key = "another"
    gemini = google(server.gemini_url)
    with pytest.raises(openai.AuthenticationError):
        ask(server)
    with pytest.raises(google_errors.ClientError, match="API key not valid"):
        gemini.models.generate_content(model="gemini-pro", contents="Why?")
    with pytest.raises(anthropic.AuthenticationError):
        message(claude(server))
    server.api_key = KEY
    assert ask(server).choices
    assert message(claude(server)).content


# --- OpenAI: batches


def lines(n: int, model: str = "gpt-4o", **more: Any) -> bytes:
    place = {"method": "POST", "url": "/v1/chat/completions"}
    bodies = [
        {"model": model, "messages": [{"role": "user", "content": f"Why {i}?"}]} for i in range(n)
    ]
    rows = [{"custom_id": f"row-{i}", **place, "body": body} for i, body in enumerate(bodies)]
    return b"\n".join(json.dumps(row | more).encode() for row in rows)


class Batch:
    """A batch that was submitted."""

    def __init__(self, server: Chat, data: bytes) -> None:
        self._server, self._sdk = server, sdk_of(server.base_url)
        file = self._sdk.files.create(file=("requests.jsonl", data), purpose="batch")
        batch = self._sdk.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={"run": "r1"},
        )
        assert (batch.status, batch.metadata) == ("validating", {"run": "r1"})
        self._id = batch.id

    def after(self, seconds: float) -> Any:
        self._server.clock.skip(seconds)
        return self._sdk.batches.retrieve(self._id)

    def rows(self, file_id: str) -> list[dict[str, Any]]:
        return [json.loads(row) for row in self._sdk.files.content(file_id).text.splitlines()]


def test_a_batch_goes_through_its_states_at_half_price(server: Chat) -> None:
    batch = Batch(server, lines(10))
    assert [batch.after(s).status for s in (1.5, 10, 1)] == [
        "in_progress",
        "finalizing",
        "completed",
    ]
    done = batch.after(0)
    assert done.request_counts.to_dict() == {"total": 10, "completed": 10, "failed": 0}
    assert done.error_file_id is None
    rows = batch.rows(done.output_file_id)
    ids, names = [row["custom_id"] for row in rows], [f"row-{i}" for i in range(10)]
    assert sorted(ids) == names != ids
    assert len({str(row["response"]["body"]["choices"][0]["message"]) for row in rows}) == 10
    line, price = server.bill.lines["gpt-4o", "batch"], PRICES["gpt-4o"]
    assert line.requests == 10
    full = line.input * price["input"] + line.output * price["output"]
    assert line.usd == pytest.approx(full / 2 / 1e6)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"{broken", "invalid_json_line"),
        (lines(1) + b"\n" + lines(1), "duplicate_custom_id"),
        (lines(1) + b"\n" + lines(1, "gpt-5", custom_id="other"), "mismatched_model"),
        (lines(4), "too_many_requests"),
    ],
)
def test_what_validation_finds(server: Chat, data: bytes, code: str) -> None:
    server.batch.max_requests = 3
    batch = Batch(server, data).after(2)
    assert (batch.status, batch.output_file_id, server.bill.usd) == ("failed", None, 0)
    assert [error.code for error in batch.errors.data] == [code]


def test_an_expired_batch_returns_and_bills_what_finished(server: Chat) -> None:
    server.batch.done_share = 0.4
    batch = Batch(server, lines(10))
    assert batch.after(80_000).status == "in_progress"
    done = batch.after(6_400)
    assert (done.status, done.request_counts.completed) == ("expired", 4)
    assert len(batch.rows(done.output_file_id)) == 4
    left = [(row["error"]["code"], row["response"]) for row in batch.rows(done.error_file_id)]
    assert left == [("batch_expired", None)] * 6
    assert server.bill.lines["gpt-4o", "batch"].requests == 4


# --- Anthropic

QUESTION: dict[str, Any] = {"role": "user", "content": "Why?"}


def message(client: anthropic.Anthropic, **changes: Any) -> Any:
    body = {"model": "claude-pro", "max_tokens": 64, "messages": [QUESTION], **changes}
    return client.messages.create(**body)


def block(kind: str = "ephemeral") -> dict[str, Any]:
    text = {"type": "text", "text": LONG, "cache_control": {"type": kind}}
    return {"role": "user", "content": [text]}


def test_a_context_is_cached_up_to_its_breakpoint(server: Chat) -> None:
    usages = [message(claude(server), messages=[block(), QUESTION]).usage for _ in range(2)]
    read = [usage.cache_read_input_tokens for usage in usages]
    written = [usage.cache_creation_input_tokens for usage in usages]
    assert (read, written) == ([0, 4004], [4004, 0])
    assert [usage.input_tokens for usage in usages] == [5, 5]
    line = server.bill.lines["claude-pro", "live"]
    usd = 2 * 5 * 1.0 + 4004 * 1.25 + 4004 * 0.1 + line.output * 5.0
    assert line.usd == pytest.approx(usd / 1e6)
    server.clock.skip(301)
    again = message(claude(server), messages=[block(), QUESTION])
    assert again.usage.cache_read_input_tokens == 0


def turns(*roles: str, text: str = "Hi") -> dict[str, Any]:
    return {"messages": [{"role": role, "content": text} for role in roles]}


WARM = {"extra_body": {"temperature": 1.0}}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        (turns("assistant", "user"), 'must use the "user" role'),
        (turns("user", "assistant"), "prefill"),
        (turns("system", "user"), "Unexpected role"),
        (turns("user", text=" "), "non-whitespace"),
        ({"messages": [block("eternal")]}, "cache_control"),
        ({"extra_body": {"seed": 1}}, "seed: Extra inputs"),
        ({"extra_body": {"temperature": 1.5}}, "temperature: range"),
        ({"model": "claude-new", **WARM}, "deprecated for this model"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, "must be greater than"),
        ({"version": "2026-10-21", **WARM}, "temperature: Extra inputs"),
        ({"version": "2024-01-01"}, "is not a valid version"),
        ({"extra_headers": {"anthropic-version": anthropic.Omit()}}, "header is required"),
    ],
)
def test_what_anthropics_interface_refuses(
    server: Chat, changes: dict[str, Any], told: str
) -> None:
    client = claude(server, changes.pop("version", "2023-06-01"))
    with pytest.raises(anthropic.BadRequestError, match=told) as caught:
        message(client, **changes)
    assert caught.value.type == "invalid_request_error"
    assert message(claude(server), **WARM).stop_reason == "end_turn"


# --- Gemini


def test_an_answer_says_its_tokens_and_its_version(server: Chat) -> None:
    config = types.GenerateContentConfig(system_instruction="Be brief.", seed=1)
    call: Any = {"model": "gemini-pro", "contents": LONG, "config": config}
    first, second = (google(server.gemini_url).models.generate_content(**call) for _ in range(2))
    assert first.text != second.text
    assert first.model_version == "gemini-pro"
    usage, again = first.usage_metadata, second.usage_metadata
    assert usage is not None
    assert again is not None
    # 9 bytes of instruction are 3 tokens
    assert usage.prompt_token_count == 4000 + 4 + 3 + 4
    assert (usage.thoughts_token_count, usage.total_token_count) == (5, 4011 + 2 + 5)
    assert (usage.cached_content_token_count, again.cached_content_token_count) == (None, 3968)


def test_an_explicit_cache_is_read_until_it_ends_and_paid_by_the_hour(server: Chat) -> None:
    gemini = google(server.gemini_url)
    settings: Any = {"contents": LONG, "ttl": "600s", "display_name": "c"}
    name = gemini.caches.create(model="gemini-pro", config=settings).name or ""
    config = types.GenerateContentConfig(cached_content=name)

    def tokens() -> Any:
        call: Any = {"model": "gemini-pro", "contents": "Why?", "config": config}
        usage = gemini.models.generate_content(**call).usage_metadata
        assert usage is not None
        return usage.prompt_token_count, usage.cached_content_token_count

    assert tokens() == (4009, 4004)
    server.clock.skip(500)
    gemini.caches.update(name=name, config={"ttl": "600s"})
    server.clock.skip(500)
    assert tokens() == (4009, 4004)
    server.clock.skip(101)
    with pytest.raises(google_errors.ClientError) as gone:
        tokens()
    assert gone.value.code == 403
    # the cache is written at the full price and kept for 1,100 s
    assert server.bill.storage_usd == pytest.approx(4004 * 1100 / 3600 * 100 / 1e6, rel=1e-3)
    line = server.bill.lines["gemini-pro", "live"]
    usd = (4004 + 2 * 5) * 1.0 + 2 * 4004 * 0.1 + line.output * 5.0
    assert line.usd == pytest.approx(usd / 1e6)


# --- as a process of its own


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    """The address of a server of its own."""
    command = [sys.executable, "-m", "servers.provider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            yield f"http://127.0.0.1:{int(running.stdout.readline())}"
        finally:
            running.kill()


@pytest.fixture(scope="module")
def fast() -> Iterator[str]:
    with process("--fast") as url:
        yield url


def say(url: str, text: str, model: str = "m") -> Any:
    messages: Any = [{"role": "user", "content": text}]
    return sdk_of(f"{url}/v1").chat.completions.create(model=model, messages=messages)


def test_the_fast_server_reads_the_sdks_and_repeats_nothing(fast: str) -> None:
    replies = [say(fast, text) for text in ("Why?", "x" * 400_000, "Why?")]
    assert len({r.choices[0].message.content for r in replies}) == 3
    assert replies[1].usage.prompt_tokens == pytest.approx(100_000, rel=1e-3)
    assert [m.id for m in sdk_of(f"{fast}/v1").models.list()] == ["loopback"]
    reply = google(fast).models.generate_content(model="g-1", contents="Why?")
    assert (reply.model_version, reply.text is not None) == ("g-1", True)


@pytest.mark.parametrize("cuts", [[10], [30, 50], [60], [-1], [70, -500]])
def test_the_fast_server_answers_whole_requests_only(fast: str, cuts: list[int]) -> None:
    body = b'{"model":"cut"' + b" " * 2000
    head = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-LENGTH: %d\r\n\r\n" % len(body)
    whole = head + body
    places = [0, *(cut % len(whole) for cut in cuts), len(whole)]
    *pieces, last = [whole[a:b] for a, b in itertools.pairwise(places)]
    with socket.create_connection(("127.0.0.1", int(fast.rpartition(":")[2]))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
            connection.settimeout(0.03)
            with pytest.raises(TimeoutError):
                connection.recv(1)
        connection.settimeout(5)
        connection.sendall(last)
        received = b""
        while b'"usage' not in received or not received.endswith(b"}"):
            received += connection.recv(65536)
    (reply,) = re.split(rb"HTTP/1\.1 200 OK.*?\r\n\r\n", received, flags=re.DOTALL)[1:]
    assert json.loads(reply)["usage"]["prompt_tokens"] == 2014 // 4


def test_the_whole_server_tells_its_bill() -> None:
    prices = json.dumps({"m": {"input": 2.0, "output": 0.0}})
    with process("--family", "5", "--prices", prices) as url:
        for _ in range(2):
            say(url, "x" * 8000)
        bill = sdk_of(url).get("/server/bill", cast_to=object)
    assert isinstance(bill, dict)
    (line,) = bill["lines"]
    hit = 1024 + 7 * 128
    assert (line["requests"], line["input"], line["cached"]) == (2, 4008, hit)
    assert bill["usd"] == pytest.approx(((4008 - hit) * 2 + hit * 0.2) / 1e6)


@pytest.mark.parametrize("texts", [[], [""], ["abc", "abcd", "abcde"], ["é☃🎈", "\ud83d"]])
def test_tokens_are_those_of_the_plan(texts: list[str]) -> None:
    prompt = Prompt([Part("user", text) for text in texts])
    assert prompt.n_tokens == estimate_tokens([Message("user", text) for text in texts])
