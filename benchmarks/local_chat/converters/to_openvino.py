"""The folder of transformers as an OpenVINO model: keys and values are its state, weights are int8.

usage: python to_openvino.py FOLDER TARGET
"""

import os
import sys
from pathlib import Path
from typing import Any

# behind the project's own packages, so that torch and transformers stay the project's
sys.path.append(os.environ["PEER_PACKAGES"])

import nncf
import openvino as ov
import torch
from openvino._offline_transformations import (
    apply_make_stateful_transformation,
)
from torch import Tensor, nn
from transformers import AutoModelForCausalLM


def main() -> None:
    """Convert, round the weights and save."""
    folder, target = map(Path, sys.argv[1:])
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    decoder, config = Decoder(model).eval(), model.config
    ids, places = torch.ones(2, 3, dtype=torch.int64), torch.arange(2)
    size = (2, config.num_key_value_heads, 5, config.head_dim)
    past = [torch.zeros(size) for _ in range(2 * config.num_hidden_layers)]
    dynamic = [ov.PartialShape([-1, -1]), ov.PartialShape([-1])]
    dynamic += [ov.PartialShape([-1, size[1], -1, size[3]])] * len(past)
    with torch.inference_mode():
        converted = ov.convert_model(
            decoder,
            example_input=(ids, places, *past),
            input=dynamic,
        )
    names = ["input_ids", "beam_idx", *(f"past.{i}" for i in range(len(past)))]
    for entry, name in zip(converted.inputs, names, strict=True):
        entry.get_tensor().set_names({name})
    names = ["logits", *(f"present.{i}" for i in range(len(past)))]
    for entry, name in zip(converted.outputs, names, strict=True):
        entry.get_tensor().set_names({name})
    states = {f"past.{i}": f"present.{i}" for i in range(len(past))}
    apply_make_stateful_transformation(converted, states)
    compressed = nncf.compress_weights(converted, mode=nncf.CompressWeightsMode.INT8_ASYM)
    target.mkdir()
    ov.save_model(compressed, target / "model.xml", compress_to_fp16=False)


class Decoder(nn.Module):
    """The model of transformers with its keys and values in the open."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.inner, self.head, self.config = model.model, model.lm_head, model.config

    def forward(self, ids: Tensor, beam_idx: Tensor, *past: Tensor) -> tuple[Tensor, ...]:
        config, states = self.config, self.inner.embed_tokens(ids)
        n_past = past[0].shape[2]
        positions = torch.arange(n_past, n_past + ids.shape[1])[None]
        cosines, sines = self.inner.rotary_emb(states, positions)
        columns = torch.arange(n_past + ids.shape[1])
        mask = torch.where(columns[None] <= positions[0][:, None], 0.0, -65504.0)[None, None]
        present: list[Tensor] = []
        for number, layer in enumerate(self.inner.layers):
            normed, part = layer.input_layernorm(states), layer.self_attn
            queries, keys, values = (
                projection(normed).unflatten(-1, (-1, config.head_dim)).transpose(1, 2)
                for projection in (part.q_proj, part.k_proj, part.v_proj)
            )
            queries, keys = (turned(x, cosines, sines) for x in (queries, keys))
            # OpenVINO knows a cache by this choice of rows
            keys = torch.cat([past[2 * number].index_select(0, beam_idx), keys], 2)
            values = torch.cat([past[2 * number + 1].index_select(0, beam_idx), values], 2)
            present += [keys, values]
            group = config.num_attention_heads // config.num_key_value_heads
            keys, values = (repeated(x, group) for x in (keys, values))
            out = nn.functional.scaled_dot_product_attention(queries, keys, values, mask)
            states = states + part.o_proj(out.transpose(1, 2).flatten(2))
            states = states + layer.mlp(layer.post_attention_layernorm(states))
        return self.head(self.inner.norm(states[:, -1:])), *present


def repeated(values: Tensor, group: int) -> Tensor:
    """Keys or values once for each head."""
    batch, heads, n, size = values.shape
    return values.unsqueeze(2).expand(batch, heads, group, n, size).reshape(batch, -1, n, size)


def turned(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Heads turned by the angles of their positions."""
    first, second = heads.chunk(2, -1)
    return heads * cosines[:, None] + torch.cat([-second, first], -1) * sines[:, None]


if __name__ == "__main__":
    main()
