"""The weights of a model as they come, in a GGUF file or a folder of transformers, by one set of names.

Names are those of transformers. What Fieldwork runs itself is the Llama family: models that differ in
sizes, biases of queries, keys and values, norms of heads, and how positions turn.
"""

import json
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from fieldwork.errors import StudyError
from fieldwork.generation.chat.slots import Shape

FAMILY = ("llama", "mistral", "qwen2", "qwen3")

_GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}
_GGUF_LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


class ModelFiles(Protocol):
    """Weights that can be read one by one.

    Attributes:
        shape: the sizes of the model.
        stops: tokens that end the model's turn, as far as the files say.
    """

    @property
    def shape(self) -> Shape: ...

    @property
    def stops(self) -> list[int]: ...

    def tensor(self, name: str) -> Tensor | None:
        """A tensor, float32, by its name in transformers; None where there is none."""


class _Turning(NamedTuple):
    """How positions turn queries and keys; `scaling` as in a config of transformers."""

    theta: float
    head_size: int
    scaling: Mapping[str, Any]

    def frequencies(self, name: str) -> list[float]:
        """Radians a token of each pair of channels.

        Raises:
            StudyError: a way to stretch positions that is not known here.
        """
        half = self.head_size // 2
        plain = [self.theta ** (-i / half) for i in range(half)]
        kind = self.scaling.get("rope_type", self.scaling.get("type", "default"))
        if kind == "default":
            return plain
        factor = float(self.scaling.get("factor", 1.0))
        if kind == "linear":
            return [frequency / factor for frequency in plain]
        if kind == "llama3":
            return [_stretch(frequency, factor, self.scaling) for frequency in plain]
        raise StudyError(
            f"{name}: the model stretches positions by {kind}, which Fieldwork does not know; ask it "
            f"from a server such as llama.cpp or vLLM (provider: openai)"
        )


def _stretch(frequency: float, factor: float, scaling: Mapping[str, Any]) -> float:
    """Llama 3.1: slow turns are slowed by `factor`, quick ones stay, and those between lie between."""
    length = 2 * math.pi / frequency
    low, high = float(scaling["low_freq_factor"]), float(scaling["high_freq_factor"])
    turns = float(scaling["original_max_position_embeddings"]) / length
    share = min(max((turns - low) / (high - low), 0.0), 1.0)
    return (1 - share) * frequency / factor + share * frequency


def require_family(architecture: str, name: str) -> None:
    """StudyError for a model that is not of the Llama family."""
    if architecture not in FAMILY:
        raise StudyError(
            f"{name}: its architecture {architecture} is not one that Fieldwork runs itself "
            f"({', '.join(FAMILY)}); take a model of these, or ask this one from a server such as "
            f"llama.cpp, vLLM or Ollama (provider: openai)"
        )


class GgufModel:
    """A GGUF file.

    Raises:
        StudyError: the file is of another architecture.
    """

    def __init__(self, reader: Any, name: str) -> None:
        self._reader, self._name = reader, name
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}
        self._kind = str(self._field("general.architecture", ""))
        require_family(self._kind, name)

    def _field(self, key: str, default: Any = None) -> Any:
        field = self._reader.fields.get(key)
        return default if field is None else field.contents()

    def _setting(self, key: str, default: Any = None) -> Any:
        return self._field(f"{self._kind}.{key}", default)

    @cached_property
    def shape(self) -> Shape:
        """Read off the file's header."""
        width, heads = (
            int(self._setting("embedding_length")),
            int(self._setting("attention.head_count")),
        )
        head_size = int(self._setting("attention.key_length", width // heads))
        window = int(self._setting("context_length"))
        return Shape(
            layers=int(self._setting("block_count")),
            width=width,
            heads=heads,
            key_heads=int(self._setting("attention.head_count_kv", heads)),
            head_size=head_size,
            inner=int(self._setting("feed_forward_length")),
            vocabulary=int(self._tensors["token_embd.weight"].shape[1]),
            epsilon=float(self._setting("attention.layer_norm_rms_epsilon")),
            window=min(window, int(self._setting("attention.sliding_window", window))),
            has_head_norms="blk.0.attn_q_norm.weight" in self._tensors,
            frequencies=self._frequencies(head_size),
        )

    def _frequencies(self, head_size: int) -> list[float]:
        scaling = {
            "rope_type": {None: "default", "none": "default"}.get(
                kind := self._setting("rope.scaling.type"), kind
            ),
            "factor": self._setting("rope.scaling.factor", 1.0),
        }
        theta = float(self._setting("rope.freq_base", 10_000.0))
        frequencies = _Turning(theta, head_size, scaling).frequencies(self._name)
        factors = self._read("rope_freqs.weight")
        if factors is None:
            return frequencies
        return [f / factor for f, factor in zip(frequencies, factors.tolist(), strict=True)]

    @property
    def stops(self) -> list[int]:
        """The ends of a text and of a turn that the file names."""
        names = ("eos_token_id", "eot_token_id")
        ids = [self._field(f"tokenizer.ggml.{name}") for name in names]
        return [int(i) for i in ids if i is not None]

    def tensor(self, name: str) -> Tensor | None:
        """A tensor in the order of channels that transformers has."""
        owner, _, kind = name.rpartition(".")
        if owner.startswith("model.layers."):
            number, _, part = owner.removeprefix("model.layers.").partition(".")
            values = self._read(f"blk.{number}.{_GGUF_LAYER_NAMES[part]}.{kind}")
            turns = part in ("self_attn.q_proj", "self_attn.k_proj")
            # llama.cpp stores the channels of a pair side by side
            return self._by_halves(values) if turns and self._kind == "llama" else values
        return self._read(f"{_GGUF_NAMES[owner]}.{kind}")

    def _by_halves(self, values: Tensor | None) -> Tensor | None:
        if values is None:
            return None
        parts = values.reshape(-1, self.shape.head_size // 2, 2, *values.shape[1:])
        return parts.transpose(1, 2).reshape(values.shape)

    def _read(self, name: str) -> Tensor | None:
        import gguf

        entry = self._tensors.get(name)
        if entry is None:
            return None
        values = gguf.quants.dequantize(entry.data, entry.tensor_type)
        return torch.tensor(values, dtype=torch.float32)


class FolderModel:
    """A folder in the form of transformers, with its weights as safetensors.

    Raises:
        StudyError: the model is of another architecture, or the folder is not whole.
    """

    def __init__(self, folder: Path, name: str) -> None:
        from safetensors import safe_open

        self._folder, self._name = folder, name
        self._config = self._json("config.json")
        require_family(str(self._config.get("model_type")), name)
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            raise StudyError(
                f"{name}: the folder {folder} has no .safetensors file; take a copy of the model that has"
            )
        handles: list[Any] = [safe_open(file, "pt") for file in files]
        self._files = {key: file for file in handles for key in file.keys()}  # noqa: SIM118

    def _json(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        content: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        return content

    @cached_property
    def shape(self) -> Shape:
        """Read off `config.json`."""
        config = self._config
        if config.get("hidden_act", "silu") != "silu" or config.get("mlp_bias"):
            raise StudyError(
                f"{self._name}: {self._folder / 'config.json'} names another activation or biases of the "
                f"feed-forward layers, which Fieldwork does not run; ask the model from a server "
                f"(provider: openai)"
            )
        width, heads = config["hidden_size"], config["num_attention_heads"]
        head_size = config.get("head_dim") or width // heads
        turning = config.get("rope_parameters") or config.get("rope_scaling") or {}
        theta = float(config.get("rope_theta") or turning.get("rope_theta") or 10_000.0)
        window = config["max_position_embeddings"]
        slides = config.get("sliding_window") and config.get("use_sliding_window", True)
        return Shape(
            layers=config["num_hidden_layers"],
            width=width,
            heads=heads,
            key_heads=config.get("num_key_value_heads") or heads,
            head_size=head_size,
            inner=config["intermediate_size"],
            vocabulary=config["vocab_size"],
            epsilon=config["rms_norm_eps"],
            window=min(window, config["sliding_window"]) if slides else window,
            has_head_norms="model.layers.0.self_attn.q_norm.weight" in self._files,
            frequencies=_Turning(theta, head_size, turning).frequencies(self._name),
        )

    @property
    def stops(self) -> list[int]:
        """The ends that the folder's settings of generation name."""
        settings = self._json("generation_config.json") or self._config
        ends = settings.get("eos_token_id")
        return [ends] if isinstance(ends, int) else list(ends or [])

    def tensor(self, name: str) -> Tensor | None:
        """A tensor by its name."""
        file = self._files.get(name)
        return None if file is None else file.get_tensor(name).float()
