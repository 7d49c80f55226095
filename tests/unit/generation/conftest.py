"""Fixtures of the tests of asking."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from fieldwork.generation.ledger import Ledger, open_ledger


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between sends, which then take no time."""
    taken: list[float] = []
    sleep = asyncio.sleep

    async def nap(seconds: float) -> None:
        if seconds:
            taken.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", nap)
    return taken


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """An open ledger, m.sqlite."""
    with open_ledger(tmp_path / "m.sqlite") as opened:
        yield opened
