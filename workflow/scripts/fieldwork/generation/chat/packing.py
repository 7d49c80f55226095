"""Weights in whole numbers, made once from a model's files, and then mapped into memory by every process.

The folder is named by the source's hash and by the version of this code, written whole and then renamed.
Its bytes are the same on every processor.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from fieldwork.errors import StudyError, first_line
from fieldwork.generation.chat.exact import (
    BLOCK,
    IntegerMatrix,
    hadamard_side,
    rotate,
    rounded_matrix,
)
from fieldwork.generation.chat.memory import require_memory
from fieldwork.generation.chat.model_files import FolderModel, GgufModel, ModelFiles
from fieldwork.generation.chat.slots import Shape
from fieldwork.generation.chat.transformer import MODEL_FILE, WEIGHTS_FILE

# numbers that are rotated and rounded at once, so that they stay in a processor's cache
NUMBERS_AT_ONCE = 2**17
# of one matrix while it is read, rotated and rounded
WORKING_BYTES = 1.5e9

# what files that cannot be used make the libraries raise
_READ_ERRORS = (OSError, ValueError, KeyError, AttributeError, RuntimeError, TypeError, IndexError)


def pack(source: Path, folder: Path, name: str) -> None:
    """Make the folder that a model is loaded from.

    Args:
        source: a GGUF file, or a folder in the form of transformers.
        name: of the model, for messages.

    Raises:
        StudyError: the files cannot be read, are of another architecture, have no chat template, or
            memory is too small.
    """
    partial = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        with _gguf_read_once():
            model = _open(source, name)
            # the integers of the whole model stay in memory until they are written
            require_memory(name, _n_weights(model.shape) + WORKING_BYTES)
            _save_tokenizer(source, partial, name)
            _save_weights(model, partial)
        partial.rename(folder)
    except _READ_ERRORS as error:
        if folder.is_dir():
            return  # another job was faster
        raise StudyError(
            f"{name}: the model in {source} cannot be read ({first_line(error)}); bring a whole copy, or "
            f"set models.*.package, path or repo to another model"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _open(source: Path, name: str) -> ModelFiles:
    if source.is_dir():
        return FolderModel(source, name)
    try:
        import gguf
    except ImportError as error:
        raise StudyError(
            f"{source}: reading a GGUF needs the package gguf, which is not installed; install "
            f"requirements.txt"
        ) from error
    return GgufModel(gguf.GGUFReader(str(source)), name)


def _n_weights(shape: Shape) -> int:
    heads = (shape.heads * 2 + shape.key_heads * 2) * shape.head_size * shape.width
    return (
        shape.layers * (heads + 3 * shape.inner * shape.width) + 2 * shape.vocabulary * shape.width
    )


def _save_tokenizer(source: Path, folder: Path, name: str) -> None:
    from transformers import AutoTokenizer

    place = {} if source.is_dir() else {"gguf_file": source.name}
    tokenizer: Any = AutoTokenizer.from_pretrained(
        source if source.is_dir() else source.parent, **place
    )
    if not tokenizer.chat_template:
        raise StudyError(
            f"{name}: the model has no chat template, so it is not a chat model; take the variant "
            f"that was trained for conversations (often named Instruct or Chat)"
        )
    tokenizer.save_pretrained(folder)


def _save_weights(model: ModelFiles, folder: Path) -> None:
    tensors: dict[str, Tensor] = {}

    def keep(name: str, matrix: IntegerMatrix) -> None:
        tensors[f"{name}.integers"], tensors[f"{name}.scales"] = matrix

    shape = model.shape
    side = hadamard_side(shape.width)
    embedding = _tensor(model, "model.embed_tokens.weight")
    keep("embedding", _pack_matrix(embedding, turns=side))
    head = model.tensor("lm_head.weight")
    gain = _tensor(model, "model.norm.weight")
    keep("head", _pack_matrix(embedding if head is None else head, gain=gain, turns=side))
    for number in range(shape.layers):
        for name, part in _layer(model, number):
            if isinstance(part, IntegerMatrix):
                keep(f"{number}.{name}", part)
            else:
                tensors[f"{number}.{name}"] = part
    save_file(
        {name: tensor.contiguous() for name, tensor in tensors.items()}, folder / WEIGHTS_FILE
    )
    content = {"shape": shape._asdict(), "stops": model.stops}
    (folder / MODEL_FILE).write_text(json.dumps(content), encoding="utf-8")


def _layer(model: ModelFiles, number: int) -> Iterator[tuple[str, IntegerMatrix | Tensor]]:
    """The parts of a layer as `Transformer` takes them.

    Values are rotated within each head, and the matrix behind them takes that back.
    """
    shape, owner = model.shape, f"model.layers.{number}"
    side, head_side = hadamard_side(shape.width), hadamard_side(shape.head_size)
    names = [f"{owner}.self_attn.{name}_proj" for name in "qkv"]
    queries, keys, values = (_tensor(model, f"{name}.weight") for name in names)
    values = rotate(values, head_side, 0).float()
    gain = _tensor(model, f"{owner}.input_layernorm.weight")
    yield "attention_in", _pack_matrix(torch.cat([queries, keys, values]), gain=gain, turns=side)
    biases = [model.tensor(f"{name}.bias") for name in names]
    if biases[2] is not None:
        biases[2] = rotate(biases[2], head_side).float()
    if all(bias is not None for bias in biases):
        yield "attention_bias", torch.cat([bias for bias in biases if bias is not None])
    out = _tensor(model, f"{owner}.self_attn.o_proj.weight")
    yield "attention_out", _pack_matrix(out, turns=head_side, row_turns=side)
    for name in ("query", "key") if shape.has_head_norms else ():
        yield f"{name}_gain", _tensor(model, f"{owner}.self_attn.{name[0]}_norm.weight")
    gain = _tensor(model, f"{owner}.post_attention_layernorm.weight")
    halves = [_tensor(model, f"{owner}.mlp.{name}_proj.weight") for name in ("gate", "up")]
    yield "inner_in", _pack_matrix(torch.cat(halves), gain=gain, turns=side)
    down = _tensor(model, f"{owner}.mlp.down_proj.weight")
    yield "inner_out", _pack_matrix(down, turns=hadamard_side(shape.inner), row_turns=side)


def _tensor(model: ModelFiles, name: str) -> Tensor:
    tensor = model.tensor(name)
    if tensor is None:
        raise KeyError(f"there is no {name}")
    return tensor


def _pack_matrix(
    weights: Tensor, *, turns: int, gain: Tensor | None = None, row_turns: int | None = None
) -> IntegerMatrix:
    """A matrix in whole numbers.

    Args:
        turns: side of the blocks by which its columns are rotated.
        gain: what its columns are multiplied with before.
        row_turns: side of the blocks by which its rows are rotated; None for none.
    """
    parts = []
    blocks = max(NUMBERS_AT_ONCE // (weights.shape[1] * BLOCK), 1)
    for rows in weights.split(blocks * BLOCK):
        part = rows.double()
        if gain is not None:
            part = part * gain.double()
        part = rotate(part, turns)
        if row_turns is not None:
            part = rotate(part, row_turns, 0)
        parts.append(rounded_matrix(part))
    return IntegerMatrix(*(torch.cat(columns) for columns in zip(*parts, strict=True)))


@contextmanager
def _gguf_read_once() -> Iterator[None]:
    """The reader of GGUF files keeps what it has read: transformers reads it again for the tokenizer."""
    if find_spec("gguf") is None:
        yield
        return
    import gguf

    reader = gguf.GGUFReader
    gguf.GGUFReader = cache(reader)
    try:
        yield
    finally:
        gguf.GGUFReader = reader
