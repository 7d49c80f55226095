"""A sentence encoder in place of a chat model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.encoder import Encoder, EncoderSettings
from fieldwork.generation.providers import embedded
from fieldwork.provenance import code_version


def make(model: Mapping[str, Any], vector_store: Path) -> embedded.EmbeddedModel:
    """From an entry of `models`; see `registry.make_provider`."""
    encoder = Encoder(EncoderSettings(model["encoder"]), vector_store)
    settings = embedded.EmbeddedSettings(model["sharpness"], model["context_weight"])
    return embedded.EmbeddedModel(encoder, settings, code_version(Path(embedded.__file__)))
