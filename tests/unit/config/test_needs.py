"""What a study's conditions need is read off its config."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.needs import SMALL, Need, are_small
from fieldwork.config.study_needs import needs_of
from unit.shipped_config import HOME, checked_config


def needs(**condition: Any) -> list[Need]:
    """Of a condition with histories of a user's conversations."""
    entry = {"context": "history", "label": "L", "conversations": 5, **condition}
    return needs_of(checked_config({"study/conditions": ["c"], "conditions/c": entry}))


def test_the_task_with_the_most_runs_counts_and_only_selected_ones_do() -> None:
    selection = {"study/conditions": ["offline", "profile"], "study/tasks": ["probe", "mmlu_lite"]}
    runs = {"tasks/mmlu_lite/runs": 90, "tasks/recommendations/runs": 500}
    (need,) = needs_of(checked_config(selection | runs))
    assert (need.n_needed, need.task) == (90, "mmlu_lite")


@pytest.mark.parametrize(
    ("condition", "unit", "at_least", "n_needed"),
    [
        ({}, "users", 5, 40),
        ({"out_of": 8}, "users", 8, 40),
        ({"pool": "corpus"}, "conversations", 1, 200),
        ({"pool": "corpus", "out_of": 8}, "conversations", 1, 8),
    ],
)
def test_users_need_as_many_conversations_as_are_drawn_of_them(
    condition: dict[str, Any], unit: str, at_least: int, n_needed: int
) -> None:
    (need,) = needs(**condition)
    assert (need.unit, need.at_least, need.n_needed) == (unit, at_least, n_needed)


def test_profiles_before_histories_need_personas_too() -> None:
    personas, users = needs(profile="system")
    assert (personas.unit, personas.source, users.unit) == ("personas", "sample_personas", "users")


def test_small_is_what_is_in_a_file(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / "b.csv.gz"
    plain.write_bytes(b"x" * SMALL)
    assert are_small([str(plain)])
    assert not are_small([str(plain), str(HOME / "README.md")])
    packed.write_bytes(gzip.compress(b"x", 0) + b"\0" * (SMALL // 5))
    assert not are_small([str(packed)])
