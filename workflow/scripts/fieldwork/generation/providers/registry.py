"""The provider that an entry of `models` in the config names."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import Provider
from fieldwork.generation.providers.batch_base import BatchClient


def make_provider(model: Mapping[str, Any], vector_store: Path) -> Provider:
    """The provider of a model. Only the modules that it needs are imported.

    Args:
        model: entry of `models`, with defaults.
        vector_store: file in which encoders keep finished vectors.

    Raises:
        StudyError: the model's key is not in the environment, or a setting is not valid.
    """
    maker = import_module(f"fieldwork.generation.providers.makers.{model['provider']}")
    provider: Provider = maker.make(model, vector_store)
    return provider


def make_batch_client(provider: Provider, folder: Path) -> BatchClient:
    """The client of a provider's batches.

    Args:
        folder: where the journal is; holds input files for a service that takes none.

    Raises:
        StudyError: the provider has none.
    """
    from fieldwork.generation.providers.anthropic import Anthropic
    from fieldwork.generation.providers.gemini import Gemini
    from fieldwork.generation.providers.openai import OpenAI

    if isinstance(provider, OpenAI):
        from fieldwork.generation.providers.batch_openai import OpenAIBatches

        return OpenAIBatches(provider.settings)
    if isinstance(provider, Gemini):
        from fieldwork.generation.providers.batch_gemini import GeminiBatches

        return GeminiBatches(provider.settings)
    if isinstance(provider, Anthropic):
        from fieldwork.generation.providers.batch_anthropic import AnthropicBatches

        return AnthropicBatches(provider.settings, folder)
    raise StudyError(f"{provider.endpoint} has no batches; set models.*.dispatch to live")
