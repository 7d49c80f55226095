"""Gemini, by its own interface and by Vertex AI."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.generation.providers.entry_settings import (
    api_key,
    common_settings,
    direct_settings,
)
from fieldwork.generation.providers.gemini import GEMINI_URL, Gemini, GeminiSettings
from fieldwork.generation.providers.vertex import VertexSettings


def make(model: Mapping[str, Any], vector_store: Path) -> Gemini:  # noqa: ARG001
    """From an entry of `models`; see `registry.make_provider`."""
    vertex, settings = model.get("vertex"), direct_settings(model, GeminiSettings)
    if vertex and (settings.get("base_url") or GEMINI_URL).rstrip("/") == GEMINI_URL:
        # that is the default for the Gemini API; the models of a project have another address
        settings["base_url"] = None
    if vertex and settings.get("api_version") == "v1beta":
        settings["api_version"] = "v1beta1"  # the same interface's name on Vertex AI
    if (model.get("prefix_cache") or {}).get("min_tokens"):
        settings["cache_min_tokens"] = model["prefix_cache"]["min_tokens"]
    return Gemini(
        GeminiSettings(
            **settings,
            **common_settings(model),
            api_key=None if vertex else api_key(model["api_key_env"]),
            vertex=VertexSettings(**vertex) if vertex else None,
        )
    )
