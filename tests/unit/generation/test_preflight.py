"""A run that cannot end well is refused in one sentence, before anything is asked."""

import asyncio
import logging
from datetime import date
from typing import Any

import pytest
from scripted_provider import ScriptedProvider

from fieldwork.errors import StudyError
from fieldwork.generation.preflight import check_model
from fieldwork.generation.providers.base import ModelInfo, TransientError

MINI = "gpt-4o-mini-2024-07-18"
OFFERED = [ModelInfo(MINI, date(2027, 1, 14)), ModelInfo("models/gemini-x"), ModelInfo("llama")]


def check(
    found: Any = OFFERED, *, days: float = 1, today: date = date(2026, 11, 20), **entry: Any
) -> None:
    model = {"model": MINI, "api_key_env": "OPENAI_API_KEY", **entry}
    provider = ScriptedProvider(listing=found)
    asyncio.run(check_model(provider, model, estimate_s=days * 86_400.0, today=today))


@pytest.mark.parametrize(
    ("arguments"),
    [
        {},
        {"model": "gemini-x"},
        {"found": None, "model": "unlisted"},
        {"found": TransientError("HTTP 503")},
        {"days": 60, "allow_shutdown": True},
        {"model": "any", "api_key_env": None},
    ],
)
def test_what_may_run(arguments: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    check(**arguments)
    assert not [record for record in caplog.records if record.levelno > logging.WARNING]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "gpt-4o-minni"}, "does not offer 'gpt-4o-minni'.*such as gpt-4o-mini-2024"),
        ({"model": "x", "successors": ["y", "z"]}, "does not offer 'x'.*to a successor: y, z"),
        ({"today": date(2027, 1, 14)}, "was shut down on 2027-01-14"),
        ({"days": 55}, "will be shut down on 2027-01-14, and this run may take until 2027-01-14"),
        ({"shutdown": "2026-11-21"}, "will be shut down on 2026-11-21"),
        ({"found": None, "shutdown": "2026-06-01", "successors": ["s"]}, "to a successor: s"),
        # gone is gone, allowed or not
        ({"shutdown": "2026-06-01", "allow_shutdown": True}, "was shut down on 2026-06-01"),
        ({"found": StudyError("HTTP 401; check the key")}, "check the key"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message) as caught:
        check(**arguments)
    assert "\n" not in str(caught.value)
