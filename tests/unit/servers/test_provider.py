"""Prefix cache, bill and keys of the loopback server, with the official SDK as its client."""

import threading
from typing import Any

import openai
import pytest
from google import genai
from google.genai import errors as google_errors
from provider_clients import KEY, LONG, ask, cached

from servers.provider import Chat


@pytest.mark.parametrize(
    ("n_bytes", "expected"),
    [
        (4 * 1015, 0),  # 4 + 1015 + 4 tokens are one short of 1,024
        (4 * 1016, 1024),
        (4 * (1016 + 127), 1024),
        (4 * (1016 + 128), 1024 + 128),
    ],
)
def test_hits_begin_at_1024_tokens_and_come_in_steps_of_128(
    server: Chat, n_bytes: int, expected: int
) -> None:
    found = [cached(ask(server, "", context="y" * n_bytes)) for _ in range(2)]
    assert found == [0, expected]


def test_a_prefix_lives_for_its_time_after_its_last_use(server: Chat) -> None:
    ask(server, "Why?")
    for _ in range(2):
        server.clock.skip(290)
        assert cached(ask(server, "Why?")) > 0
    server.clock.skip(310)
    assert cached(ask(server, "Why?")) == 0


def test_beyond_15_requests_a_minute_another_machine_misses_first(server: Chat) -> None:
    hits = [cached(ask(server, "Why?", prompt_cache_key="k")) > 0 for _ in range(17)]
    assert hits == [False, *[True] * 14, False, True]
    server.clock.skip(61)
    assert cached(ask(server, "Why?", prompt_cache_key="k")) > 0


def test_a_prefix_can_be_read_once_the_answer_that_wrote_it_is_finished(server: Chat) -> None:
    server.latency_s = 0.2
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(cached(ask(server, "Why?")))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0, 0]
    assert server.most_under_way == 2
    assert cached(ask(server, "Why?")) > 0


def marked(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text, "prompt_cache_breakpoint": {"mode": "explicit"}}]


def test_explicit_breakpoints_are_written_for_a_fee_and_read_exactly(server: Chat) -> None:
    mode = {"prompt_cache_options": {"mode": "explicit"}}
    details = [
        ask(server, q, "gpt-5.6", context=marked(LONG), **mode).usage.prompt_tokens_details
        for q in ("Why?", "How?")
    ]
    assert [(d.cached_tokens, d.cache_write_tokens) for d in details] == [(0, 4004), (4004, 0)]
    line = server.bill.lines["gpt-5.6", "live"]
    # both questions are 5 tokens, the first of all is written at 1.25 ×, the next read at 0.1 ×
    plain, out = 2 * 5 * 4.0, 2 * 2 * 16.0
    assert line.usd == pytest.approx((plain + 4004 * 5.0 + 4004 * 0.4 + out) / 1e6)


def test_the_bill_knows_each_familys_discount(server: Chat) -> None:
    for model in ("gpt-4o", "gpt-5"):
        for _ in range(2):
            ask(server, "Why?", model)
    hit = 1024 + 23 * 128
    n = 2 * 4009
    four, five = server.bill.lines["gpt-4o", "live"], server.bill.lines["gpt-5", "live"]
    assert (four.input, four.cached, four.output, four.reasoning) == (n, hit, 4, 0)
    assert four.usd == pytest.approx(((n - hit) * 2 + hit * 1 + 4 * 8) / 1e6)
    assert (five.output, five.reasoning) == (18, 14)
    assert five.usd == pytest.approx(((n - hit) * 1 + hit * 0.1 + 18 * 10) / 1e6)
    assert server.bill.usd == pytest.approx(four.usd + five.usd)


def test_one_key_alone_opens(server: Chat, gemini: genai.Client) -> None:
    server.api_key = "another"
    with pytest.raises(openai.AuthenticationError):
        ask(server, "Why?")
    with pytest.raises(google_errors.ClientError, match="API key not valid"):
        gemini.models.generate_content(model="gemini-pro", contents="Why?")
    server.api_key = KEY
    assert ask(server, "Why?").choices
