"""The forward pass beside transformers' own, for every architecture of the family."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_chat import TEMPLATE, make_tokenizer

from fieldwork.generation.chat.attention import Segment
from fieldwork.generation.chat.packing import pack
from fieldwork.generation.chat.transformer import Transformer

SIZES: dict[str, Any] = {"hidden_size": 128, "intermediate_size": 192, "num_hidden_layers": 3}
SIZES |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256}
SIZES |= {"initializer_range": 0.08, "eos_token_id": 0, "bos_token_id": 1}
LINEAR = {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 2.0}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10_000.0, "factor": 8.0}
LLAMA3 |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {"tie_word_embeddings": True}),
    "llama stretched": ("Llama", {"rope_parameters": LLAMA3}),
    "llama stretched evenly": ("Llama", {"rope_parameters": LINEAR}),
    "mistral": ("Mistral", {"head_dim": 48, "sliding_window": None}),
    "qwen2": ("Qwen2", {}),
    "qwen3": ("Qwen3", {"head_dim": 32}),
}
IDS = [(7 * i * i + 3 * i) % 300 for i in range(60)]


def make_model(folder: Path, kind: str) -> Any:
    import transformers

    name, changes = KINDS[kind]
    tokenizer = make_tokenizer(TEMPLATE)
    make_config = getattr(transformers, f"{name}Config")
    config = make_config(vocab_size=len(tokenizer), **SIZES, **changes)
    torch.manual_seed(1)
    model = getattr(transformers, f"{name}ForCausalLM")(config)
    for parameter_name, parameter in model.named_parameters():
        if parameter_name.endswith(("norm.weight", "bias")):
            # as trained models have, so that none of them can be forgotten
            torch.nn.init.normal_(parameter, 1.0 if parameter.mean() else 0.0, 0.2)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model.eval()


@pytest.mark.parametrize("kind", KINDS)
def test_the_pass_is_that_of_transformers_but_for_rounding(kind: str, tmp_path: Path) -> None:
    reference = make_model(tmp_path / "model", kind)
    pack(tmp_path / "model", tmp_path / "packed", kind)
    model = Transformer(tmp_path / "packed", "cpu")
    model.slots.take(len(IDS))
    segment = Segment(IDS, model.new_context(0), 0, (), range(len(IDS)))
    logits = model.logits(model.read([segment]), None).double()
    with torch.inference_mode():
        expected = reference(torch.tensor([IDS])).logits[0].double()
    # rounding to eight bits moves logits by some per cent of their spread; a forgotten part, by all of it
    error = (logits - expected).std(-1) / expected.std(-1)
    assert float(error.max()) < 0.12, kind
    assert float(error.mean()) < 0.07, kind
    shares = model.log_shares(model.read([segment]), [[5, 9]] * len(IDS))
    own = logits.log_softmax(-1)[:, [5, 9]]
    assert torch.allclose(torch.tensor(shares, dtype=torch.float64), own, atol=1e-5)


def test_tokens_read_in_parts_and_among_others_have_the_same_bits(packed_folder: Path) -> None:
    model = Transformer(packed_folder, "cpu")
    model.slots.take(400)
    nothing = model.new_context(0)
    whole = model.read([Segment(IDS, nothing, 0, (), range(60))])
    context = model.new_context(20)
    context.copy(0, model.slots.room, range(20))
    first = model.read(
        [
            Segment(IDS[::-1], nothing, 0, (), range(300, 360)),
            Segment(IDS[20:31], context, 20, (), range(100, 111)),
            Segment(IDS[20:50], context, 20, (), range(150, 180)),
        ]
    )
    second = model.read(
        [
            Segment(IDS[31:33], context, 20, range(100, 111), range(200, 202)),
            Segment(IDS[50:], context, 20, range(150, 180), range(210, 220)),
        ]
    )
    parts = [(first, slice(60, 71), slice(20, 31)), (first, slice(71, 101), slice(20, 50))]
    parts += [(second, slice(0, 2), slice(31, 33)), (second, slice(2, 12), slice(50, 60))]
    for read, rows, expected in parts:
        assert torch.equal(read.integers[rows], whole.integers[expected])
        assert torch.equal(read.scale[rows], whole.scale[expected])
