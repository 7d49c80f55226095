"""A study from an archive asks no model: the job ends before anything is sent."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.generation.sending import open_sender

SERVER: dict[str, Any] = {
    "provider": "openai",
    "model": "m",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key_env": None,
    "token_limit_field": "max_tokens",
}


def test_a_ledger_that_lacks_an_answer_is_one_sentence(tmp_path: Path) -> None:
    generation = {"attempts": 1, "budget_usd": None, "may_ask": False}
    stores = {"folder": tmp_path, "vector_store": tmp_path / "vectors"}
    with open_sender("m", SERVER, generation, {}, max_tokens=5, **stores) as sender:
        assert sender.preflight is not None
        with pytest.raises(StudyError, match="the ledger of this archive lacks an answer, and a"):
            asyncio.run(sender.preflight(1.0))
