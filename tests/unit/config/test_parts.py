"""Which parts a study has: tables that could say nothing are not made."""

from typing import Any

import pytest

from fieldwork.config.arms import first_token_tables, streaming_models
from fieldwork.config.parts import parts_of
from fieldwork.config.study import Study
from unit.shipped_config import HOME, checked_config

OF_A_SERVER = {
    "provider": "openai",
    "label": "S",
    "model": "s",
    "base_url": "http://127.0.0.1:9/v1",
}


@pytest.mark.parametrize(
    ("study", "parts"),
    [
        ({}, {"controls"}),
        ({"study/conditions": ["offline", "rag"], "study/primary": []}, set()),
        ({"study/models": ["gpt-6-luna"]}, {"controls", "service"}),
        ({"study/models": ["smollm2", "gpt-6-luna"]}, {"controls", "service"}),
        ({"study/models": ["smollm2", "gpt-6-luna", "gpt-4o-mini"]}, {"controls", "service", "practice"}),
    ],
)  # fmt: skip
def test_a_study_has_the_parts_that_it_can_fill(study: dict[str, Any], parts: set[str]) -> None:
    assert parts_of(checked_config(study)) == {"every study", *parts}


def test_models_with_a_sample_of_first_tokens_have_a_table_for_each_task_and_condition() -> None:
    changes = {
        "models/sampled": OF_A_SERVER | {"first_token_sample": 8},
        "models/plain": OF_A_SERVER | {"label": "P", "first_token_sample": 0},
        "study/models": ["sampled", "plain", "smollm2"],
        "study/conditions": ["offline", "history"],
        "study/tasks": ["probe"],
    }
    study = Study(checked_config(changes), HOME)
    assert streaming_models(study) == ["sampled"]
    assert first_token_tables(study) == [
        "<results>/first_tokens/sampled/probe/offline.parquet",
        "<results>/first_tokens/sampled/probe/history.parquet",
    ]
