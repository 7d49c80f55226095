"""Which parts a study has: tables that could say nothing are not made."""

from typing import Any

import pytest
from tests.unit.shipped_config import shipped_config

from fieldwork.config.parts import parts_of
from fieldwork.config.settings import check_config


def config_with(**study: Any) -> dict[str, Any]:
    config: dict[str, Any] = shipped_config()
    config["study"] |= study
    check_config(config, "config.yaml")
    return config


@pytest.mark.parametrize(
    ("study", "parts"),
    [
        ({}, {"controls"}),
        ({"conditions": ["offline", "rag"], "primary": []}, set()),
        ({"models": ["gpt-6-luna"]}, {"controls", "service"}),
        ({"models": ["smollm2", "gpt-6-luna"]}, {"controls", "service"}),
        ({"models": ["smollm2", "gpt-6-luna", "gpt-4o-mini"]}, {"controls", "service", "practice"}),
    ],
)
def test_a_study_has_the_parts_that_it_can_fill(study: dict[str, Any], parts: set[str]) -> None:
    assert parts_of(config_with(**study)) == {"every study", *parts}
