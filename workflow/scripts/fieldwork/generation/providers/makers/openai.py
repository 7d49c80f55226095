"""OpenAI, Azure, and servers that speak their language."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.generation.providers.openai import OpenAI
from fieldwork.generation.providers.openai_stream import StreamedOpenAI
from fieldwork.generation.providers.service import settings_with_keys
from fieldwork.sections.services import OpenAIEntry


def make(model: Mapping[str, Any], vector_store: Path) -> OpenAI:  # noqa: ARG001
    """From an entry of `models`, which may ask for streams; see `registry.make_provider`."""
    kind = StreamedOpenAI if model.get("is_streamed") else OpenAI
    return kind(settings_with_keys(OpenAIEntry.model_validate(OpenAIEntry.part_of(model))))
