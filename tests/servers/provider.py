"""A loopback server with the APIs of OpenAI, Gemini and Anthropic, batches included, and with faults.

    with serve_provider(specs=[ModelSpec("gpt-x", family="5.6")], speed=60) as server:
        entry = {"provider": "openai", "base_url": server.base_url, ...}

Every answer is a new one, unless `answer` computes it from the request. Prefix caches, batches and the
bill go by documented rules (see `prefix_cache`, `batch_jobs`, `bill`), on a clock that may run fast.
`server.faults` may be added to at any time; a request meets the first fault that fits it (see `faults`).

As a process: `python -m servers.provider --port 8000`, with `--fast` for benchmarks (see `fast`).
`GET /server/bill` tells the bill to other processes.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from servers import fast
from servers.batch_jobs import BatchRules
from servers.clock import Clock
from servers.faults import (
    FOREVER,
    Fault,
    gemini_error,
    http_error,
    no_credit,
    prompt_blocked,
    rerouted,
    stopped,
)
from servers.model_server import Answer, Chat, ChatRequest, ModelSpec
from servers.prefix_cache import Count, count_tokens
from servers.serving import running, serve

__all__ = [
    "FOREVER",
    "Answer",
    "BatchRules",
    "Chat",
    "ChatRequest",
    "Fault",
    "ModelSpec",
    "gemini_error",
    "http_error",
    "no_credit",
    "prompt_blocked",
    "refuse_connections",
    "rerouted",
    "serve_chat",
    "serve_provider",
    "stopped",
]


@contextmanager
def serve_chat(
    *,
    answer: Answer | None = None,
    faults: Sequence[Fault] = (),
    models: Sequence[Mapping[str, Any]] = ({"id": "loopback"},),
    latency_s: float = 0.0,
) -> Iterator[Chat]:
    """A server with no rules but its faults: any model, no prices.

    `models` are entries of the list of models; `latency_s` passes before every completion.
    """
    with running(Chat(answer, models, latency_s, faults=list(faults))) as chat:
        yield chat


@contextmanager
def serve_provider(
    *,
    specs: Sequence[ModelSpec] = (),
    prices: Mapping[str, Mapping[str, Any]] | None = None,
    answer: Answer | None = None,
    faults: Sequence[Fault] = (),
    latency_s: float = 0.0,
    speed: float = 1.0,
    ttl_s: float | None = None,
    prefix_requests_per_minute: float = 15,
    strict: bool = True,
    api_key: str | None = None,
    credit_usd: float | None = None,
    count: Count = count_tokens,
    batch: BatchRules | None = None,
) -> Iterator[Chat]:
    """A server by the rules; see `Chat` for the arguments, `Bill` for `prices`.

    Args:
        speed: how fast its clock runs: time to live and batches go by it.
        ttl_s: how long a prefix lives unused, instead of every family's own.
        prefix_requests_per_minute: how many of them reach the same machine.
    """
    chat = Chat(
        answer,
        (),
        latency_s,
        faults=list(faults),
        specs={spec.id: spec for spec in specs},
        strict=strict,
        api_key=api_key,
        credit_usd=credit_usd,
        count=count,
        prices=prices or {},
        clock=Clock(speed),
        batch=batch or BatchRules(),
    )
    chat.cache.ttl_s, chat.cache.per_minute = ttl_s, prefix_requests_per_minute
    with running(chat) as served:
        yield served


@contextmanager
def refuse_connections(chat: Chat) -> Iterator[None]:
    """Until the block ends, connections are refused; open ones are reset at once."""
    chat.listen(False)
    try:
        yield
    finally:
        chat.listen(True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the process ends; prints the port."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fast", action="store_true", help="read no body, answer from a template")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument(
        "--family", default="4o", help="how every model caches: 4o, 5, 5.6, claude, none"
    )
    parser.add_argument("--speed", type=float, default=1.0, help="of the clock")
    parser.add_argument("--ttl-s", type=float, help="of a cached prefix, on the clock")
    parser.add_argument("--prefix-rpm", type=float, default=15)
    parser.add_argument("--prices", type=json.loads, default={}, help="JSON, see servers.bill")
    asked = parser.parse_args(arguments)
    if asked.fast:
        asyncio.run(fast.serve(asked.port, asked.latency_ms / 1000))
        return
    clock = Clock(asked.speed)
    chat = Chat(None, ({"id": "loopback"},), asked.latency_ms / 1000, clock=clock)
    chat.default_family, chat.records, chat.prices = asked.family, False, asked.prices
    chat.bill.prices = asked.prices
    chat.cache.ttl_s, chat.cache.per_minute = asked.ttl_s, asked.prefix_rpm
    asyncio.run(serve(chat, asyncio.Event(), asked.port))


if __name__ == "__main__":
    main()
