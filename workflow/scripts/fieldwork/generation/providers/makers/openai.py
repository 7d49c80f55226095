"""OpenAI, Azure, and servers that speak their language."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.generation.providers.entry_settings import (
    api_key,
    common_settings,
    direct_settings,
)
from fieldwork.generation.providers.openai import OpenAI, OpenAISettings
from fieldwork.generation.providers.openai_stream import StreamedOpenAI


def make(model: Mapping[str, Any], vector_store: Path) -> OpenAI:  # noqa: ARG001
    """From an entry of `models`; see `registry.make_provider`."""
    kind = StreamedOpenAI if model.get("is_streamed") else OpenAI
    api = model.get("api") or {}
    cache = model.get("prefix_cache") or {}
    is_azure = api.get("kind") == "azure"
    if is_azure and not api.get("version"):
        raise StudyError(
            "models.*.api.version is missing: every call to Azure names the version of the interface; "
            "set it to a version such as 2024-10-21"
        )
    settings = direct_settings(model, OpenAISettings)
    if is_azure:
        # Azure's pages show the address with and without this ending, which calls add
        settings["base_url"] = settings["base_url"].rstrip("/").removesuffix("/openai")
    return kind(
        OpenAISettings(
            **settings,
            **common_settings(model),
            api_key=api_key(model["api_key_env"]),
            azure_version=api["version"] if is_azure else None,
            cache_key=bool(cache.get("key")),
            cache_breakpoint=bool(cache.get("breakpoint")),
        )
    )
