"""The server as a process: fast for benchmarks, whole for the bill; and what tokens it counts."""

import itertools
import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from google import genai
from google.genai import types as google_types

from fieldwork.puppets.contexts import estimate_tokens
from fieldwork.records.puppets import Message
from servers.prefix_cache import Part, Prompt

TESTS = Path(__file__).resolve().parents[2]


@contextmanager
def process(*arguments: str) -> Iterator[int]:
    """The port of a server of its own."""
    command = [sys.executable, "-m", "servers.provider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            yield int(running.stdout.readline())
        finally:
            running.kill()


@pytest.fixture(scope="module")
def fast() -> Iterator[int]:
    with process("--fast") as port:
        yield port


def request(body: bytes, path: str = "/v1/chat/completions") -> bytes:
    return b"POST %b HTTP/1.1\r\ncontent-LENGTH: %d\r\n\r\n" % (path.encode(), len(body)) + body


def exchange(port: int, pieces: list[bytes], n_replies: int) -> list[dict[str, Any]]:
    """Send pieces, each after the server is silent, and read so many replies."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces[:-1]:
            connection.sendall(piece)
            connection.settimeout(0.03)
            with pytest.raises(TimeoutError):
                connection.recv(1)
        connection.settimeout(5)
        connection.sendall(pieces[-1])
        received = b""
        while received.count(b'"usage') < n_replies or not received.endswith(b"}"):
            received += connection.recv(65536)
    bodies = re.split(rb"HTTP/1\.1 200 OK.*?\r\n\r\n", received, flags=re.DOTALL)[1:]
    return [json.loads(body) for body in bodies]


def test_the_fast_server_reads_the_sdks_and_repeats_nothing(fast: int) -> None:
    sdk = openai.OpenAI(base_url=f"http://127.0.0.1:{fast}/v1", api_key="k", max_retries=0)
    long = "x" * 400_000
    replies = [
        sdk.chat.completions.create(model="m-1", messages=[{"role": "user", "content": text}])
        for text in ("Why?", long, "Why?")
    ]
    assert len({r.choices[0].message.content for r in replies}) == 3
    assert replies[1].usage is not None
    assert replies[1].usage.prompt_tokens == pytest.approx(100_000, rel=1e-3)
    assert [m.id for m in sdk.models.list()] == ["loopback"]
    options = google_types.HttpOptions(base_url=f"http://127.0.0.1:{fast}")
    gemini = genai.Client(api_key="k", http_options=options)
    reply = gemini.models.generate_content(model="g-1", contents="Why?")
    assert (reply.model_version, reply.text is not None) == ("g-1", True)


@pytest.mark.parametrize("cuts", [[10], [30, 50], [60], [-1], [70, -500]])
def test_the_fast_server_answers_whole_requests_only(fast: int, cuts: list[int]) -> None:
    whole = request(b'{"model":"cut"' + b" " * 2000)
    places = [0, *(cut % len(whole) for cut in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in itertools.pairwise(places)]
    (reply,) = exchange(fast, pieces, 1)
    assert reply["usage"]["prompt_tokens"] == 2014 // 4


def test_the_whole_server_tells_its_bill() -> None:
    prices = json.dumps({"m": {"input": 2.0, "output": 0.0}})
    with process("--family", "5", "--prices", prices) as port:
        sdk = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="k", max_retries=0)
        for _ in range(2):
            sdk.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "x" * 8000}]
            )
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/server/bill", timeout=5) as told:
            bill = json.load(told)
    (line,) = bill["lines"]
    hit = 1024 + 7 * 128
    assert (line["requests"], line["input"], line["cached"]) == (2, 4008, hit)
    assert bill["usd"] == pytest.approx(((4008 - hit) * 2 + hit * 0.2) / 1e6)


@pytest.mark.parametrize("texts", [[], [""], ["abc", "abcd", "abcde"], ["é☃🎈", "\ud83d"]])
def test_tokens_are_those_of_the_plan(texts: list[str]) -> None:
    prompt = Prompt([Part("user", text) for text in texts])
    assert prompt.n_tokens == estimate_tokens([Message("user", text) for text in texts])
