"""Claude models by Anthropic."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.generation.providers.anthropic import Anthropic, AnthropicSettings
from fieldwork.generation.providers.entry_settings import (
    api_key,
    common_settings,
    direct_settings,
)


def make(model: Mapping[str, Any], vector_store: Path) -> Anthropic:  # noqa: ARG001
    """From an entry of `models`; see `registry.make_provider`."""
    return Anthropic(
        AnthropicSettings(
            **direct_settings(model, AnthropicSettings),
            **common_settings(model),
            api_key=api_key(model["api_key_env"]),
            cache_breakpoint=model.get("prefix_cache") is not None,
        )
    )
