"""A tiny chat model, packed and loaded once."""

from pathlib import Path

import pytest
import torch
from tiny_chat import TinyModel, make_tiny_chat

from fieldwork.generation.chat import sources
from fieldwork.generation.chat.packing import pack
from fieldwork.generation.chat.tokens import ChatTokens
from fieldwork.generation.chat.transformer import Transformer


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_chat(tmp_path_factory.mktemp("chat") / "tiny")


@pytest.fixture(scope="session")
def packed_folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed") / "tiny"
    pack(tiny_folder, folder, "tiny")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """As in the processes of a model: several would wait for each other in so small a model."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def model(packed_folder: Path) -> TinyModel:
    return TinyModel(Transformer(packed_folder, "cpu"), ChatTokens(packed_folder, "tiny"))


@pytest.fixture(autouse=True)
def _models_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packed models go to one folder of the test run, not into that of the project."""
    monkeypatch.setattr(sources, "MODELS", tmp_path_factory.getbasetemp() / "models")
