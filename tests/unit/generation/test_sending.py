"""What a job sends with, as the config says."""

import asyncio
from pathlib import Path

import pytest
from senders import loopback_entry

from fieldwork.errors import StudyError
from fieldwork.generation.sending import open_sender


def test_the_tokens_a_minute_include_the_longest_answers(tmp_path: Path) -> None:
    async def wait_of_the_next() -> float:
        await sender.limits.acquire(100)
        waiting = asyncio.create_task(sender.limits.acquire(100))
        await asyncio.sleep(0)
        hold = sender.limits.hold
        waiting.cancel()
        return hold.wait_s if hold is not None else 0.0

    generation = {"budget_usd": None, "attempts": 1}
    stores = {"folder": tmp_path, "vector_store": tmp_path / "v"}
    model = loopback_entry(tokens_per_minute=6000)
    with open_sender("m", model, generation, {}, max_tokens=900, **stores) as sender:
        # a call takes 1,000 of the 6,000 tokens of a minute
        assert asyncio.run(wait_of_the_next()) == pytest.approx(10, abs=0.5)


def test_a_study_from_an_archive_asks_no_model(tmp_path: Path) -> None:
    generation = {"attempts": 1, "budget_usd": None, "may_ask": False}
    stores = {"folder": tmp_path, "vector_store": tmp_path / "v"}
    with open_sender("m", loopback_entry(), generation, {}, max_tokens=5, **stores) as sender:
        assert sender.preflight is not None
        with pytest.raises(StudyError, match="the ledger of this archive lacks an answer, and a"):
            asyncio.run(sender.preflight(1.0))
