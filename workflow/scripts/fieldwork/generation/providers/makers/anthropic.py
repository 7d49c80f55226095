"""Claude models by Anthropic."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.generation.providers.anthropic import Anthropic
from fieldwork.generation.providers.service import settings_with_keys
from fieldwork.sections.services import AnthropicEntry


def make(model: Mapping[str, Any], vector_store: Path) -> Anthropic:  # noqa: ARG001
    """From an entry of `models`; see `registry.make_provider`."""
    return Anthropic(
        settings_with_keys(AnthropicEntry.model_validate(AnthropicEntry.part_of(model)))
    )
