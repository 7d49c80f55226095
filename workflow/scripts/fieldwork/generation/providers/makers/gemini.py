"""Gemini, by its own interface and by Vertex AI."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.generation.providers.gemini import Gemini
from fieldwork.generation.providers.service import settings_with_keys
from fieldwork.sections.services import GeminiEntry


def make(model: Mapping[str, Any], vector_store: Path) -> Gemini:  # noqa: ARG001
    """From an entry of `models`; see `registry.make_provider`."""
    return Gemini(settings_with_keys(GeminiEntry.model_validate(GeminiEntry.part_of(model))))
