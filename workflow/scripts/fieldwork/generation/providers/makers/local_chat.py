"""A chat model on this machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.generation.chat import worker
from fieldwork.generation.chat.sources import model_source
from fieldwork.generation.providers.local_chat import ChatSettings, LocalChat
from fieldwork.provenance import code_version


def make(model: Mapping[str, Any], vector_store: Path) -> LocalChat:  # noqa: ARG001
    """From an entry of `models`; see `registry.make_provider`."""
    decoding, n_workers = model["decoding"], model["workers"]
    settings = ChatSettings(
        decoding["grammar"],
        decoding["min_p"],
        model["choices"],
        None if n_workers == "auto" else n_workers,
    )
    # what is wrong with the weights is said before torch is loaded
    source = model_source(model)
    code = code_version(Path(worker.__file__))
    return LocalChat(source, settings, code)
