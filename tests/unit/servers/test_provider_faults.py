"""Faults of the loopback server that no client of ours would miss if they were others."""

import json
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest
from provider_clients import ask

from servers.provider import (
    FOREVER,
    Chat,
    Fault,
    http_error,
)

BODY = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "Why?"}]}).encode()


def raw_call(server: Chat) -> tuple[bytes, bytes]:
    """Head and body as they come over a bare socket, until the server closes."""
    address = urlsplit(server.base_url)
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    head += f"Content-Length: {len(BODY)}\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
        connection.sendall(head.encode() + BODY)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    found, _, body = received.partition(b"\r\n\r\n")
    return found, body


def declared(head: bytes) -> int:
    lines = head.decode().lower().split("\r\n")
    return int(next(line for line in lines if line.startswith("content-length")).split(":")[1])


@pytest.mark.parametrize(("wrong", "more"), [(10, 10), (-10, -10)])
def test_a_wrong_length(server: Chat, wrong: int, more: int) -> None:
    server.faults.append(Fault(wrong_length=wrong))
    head, body = raw_call(server)
    assert declared(head) - len(body) == more
    assert json.loads(body)["choices"]


def test_the_middle_of_a_body(server: Chat) -> None:
    server.faults += [Fault(cut=True), Fault(cut=True, reset=True)]
    head, body = raw_call(server)
    assert 0 < len(body) < declared(head)
    with pytest.raises(ConnectionResetError):
        raw_call(server)
    # the server has answered, and billed, both times
    assert server.bill.lines["gpt-4o", "live"].requests == 2
    assert server.n_answered == 0


def test_a_slow_drip(server: Chat) -> None:
    server.faults.append(Fault(drip_s=0.02))
    began = time.monotonic()
    _, body = raw_call(server)
    assert time.monotonic() - began > 16 * 0.02
    assert json.loads(body)["choices"]


def met(server: Chat, questions: list[str]) -> list[bool]:
    def fails(question: str) -> bool:
        try:
            ask(server, question, context="")
        except openai.APIStatusError:
            return True
        return False

    return [fails(question) for question in questions]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({"times": 2}, [True, True, False, False]),
        ({"text": "b"}, [False, True, False, False]),
        ({"skip": 1, "times": 2}, [False, True, True, False]),
    ],
)
def test_which_calls_meet_a_fault(
    server: Chat, which: dict[str, Any], expected: list[bool]
) -> None:
    server.faults.append(http_error(400, **which))
    assert met(server, ["a", "b", "c", "d"]) == expected


def test_chance_is_seeded(server: Chat) -> None:
    found = []
    for seed in (1, 1, 2):
        server.faults[:] = [http_error(400, times=FOREVER, probability=0.5, seed=seed)]
        found.append(met(server, ["a"] * 12))
    assert found[0] == found[1] != found[2]
    assert 0 < sum(found[0]) < 12
