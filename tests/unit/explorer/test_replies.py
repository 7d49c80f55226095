"""What the page knows of a reply: complete where it is known, silent where it would name somebody."""

import dataclasses
from datetime import datetime, timedelta, timezone

import pytest

from fieldwork.explorer.replies import (
    CallSettings,
    merges_by_spelling,
    reply_details,
    text_hash,
)
from fieldwork.generation.responses import _sampling
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import OptionProbability
from fieldwork.records.parsing import MergedItem
from unit.explorer.test_page_answers import FILMS, answer
from unit.table_rows import response_of

CALL = CallSettings(temperature=1, max_tokens=512, seed=2509)
USAGE = {
    "input_tokens": 9,
    "cached_tokens": 0,
    "output_tokens": 4,
    "cost_usd": 0.0,
    "latency_s": 0.25,
}
RESPONSE = response_of(
    "1. alien",
    task="lists", condition="offline", item_id="films", replicate=3, ledger_key="key",
    finish_reason="stop", returned_model="m-2026", attempts=1, temperature_sent=False, **USAGE,
    started_at=datetime(2026, 11, 22, 12, tzinfo=timezone(timedelta(hours=2))),
)  # fmt: skip
MERGES = merges_by_spelling([MergedItem("lists", "films", "alien", "Alien", "near", 4)])


def test_details_say_all_that_is_known_and_leave_out_the_rest() -> None:
    details = reply_details(FILMS, RESPONSE, 3, MERGES, CALL)
    assert details == USAGE | {
        "text": "1. alien",
        "sha256": text_hash("1. alien"),
        "written": [
            {"raw": "alien", "name": "Alien", "rule": "near"},
            {"raw": "Aliens", "name": "Aliens", "rule": "exact"},
        ],
        "finish_reason": "stop", "returned_model": "m-2026", "attempts": 1, "dispatch": "live",
        "started_at": "2026-11-22T10:00:00Z", "temperature_sent": False, "ledger_key": "key",
        "temperature": 1, "max_tokens": 512, "seed": 2509 * 1_000_003 + 3,
    }  # fmt: skip
    # the seed is the one that was sent
    arm = GenerationArm(
        model="m", task="t", condition="c", temperature=1, max_tokens=512, seed=2509
    )
    assert details["seed"] == _sampling(arm, 3).seed


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("/home/ann/logs/run.eval, sample 3", "run.eval, sample 3"),
        ("C:\\Users\\ann\\run.csv, row 3", "run.csv, row 3"),
        ("resources/recorded/run.csv, row 3", "resources/recorded/run.csv, row 3"),
    ],
)
def test_a_recorded_answer_names_no_folder_of_the_machine(source: str, shown: str) -> None:
    response = dataclasses.replace(RESPONSE, ledger_key=None, source=source, attempts=None)
    details = reply_details(FILMS, response, 0, MERGES, CALL)
    assert details["source"] == shown
    assert not {"seed", "temperature", "max_tokens", "attempts"} & set(details)


def test_probabilities_and_failures() -> None:
    shares = [OptionProbability("A", 2 / 3), OptionProbability("B", 1 / 3)]
    letter = dataclasses.replace(answer(), option_probabilities=shares)
    failure = dataclasses.replace(RESPONSE, text=None, outcome="failed", defects=["model"])
    details = reply_details(letter, failure, 0, MERGES, CALL)
    assert details["probabilities"] == [["A", 0.666667], ["B", 0.333333]]
    assert details["defects"] == ["model"]
    assert not {"text", "sha256", "written"} & set(details)
