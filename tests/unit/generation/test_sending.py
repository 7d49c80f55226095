"""What a job sends with, as the config says."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fieldwork.generation.sending import open_sender

MODEL: dict[str, Any] = {
    "provider": "openai",
    "model": "m",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key_env": None,
    "token_limit_field": "max_tokens",
    "concurrency": 4,
    "dispatch": "live",
}


def test_the_tokens_a_minute_include_the_longest_answers(tmp_path: Path) -> None:
    async def wait_of_the_next() -> float:
        await sender.limits.acquire(100)
        waiting = asyncio.create_task(sender.limits.acquire(100))
        await asyncio.sleep(0)
        hold = sender.limits.hold
        waiting.cancel()
        return hold.wait_s if hold is not None else 0.0

    generation = {"budget_usd": None, "attempts": 1}
    model = MODEL | {"tokens_per_minute": 6000}
    with open_sender(
        "m", model, generation, {}, max_tokens=900, folder=tmp_path, vector_store=tmp_path / "v"
    ) as sender:
        # a call takes 1,000 of the 6,000 tokens of a minute
        assert asyncio.run(wait_of_the_next()) == pytest.approx(10, abs=0.5)
