"""A chat model of a few kilobytes with random weights, in the form of transformers, and packed."""

from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.generation.chat.answering import Responder, Result
from fieldwork.generation.chat.tokens import ChatTokens
from fieldwork.generation.chat.transformer import Transformer

TEXTS = (
    "1. Bob\n2. Bob Cut\n3. Café au lait\n4. Zoë\n5. The Lord of the Rings",
    "Recommend five haircuts. Which planet is the largest? Answer: Jupiter, Mars, 1984.\n",
    "日本 Москва naïve don't stop 42 % of the time",
)
TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
WINDOW = 512


def make_tokenizer(template: str | None) -> Any:
    """A tokenizer of transformers."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bytes_model = Tokenizer(models.BPE())
    bytes_model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_model.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<|end|>", "<|start|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bytes_model.train_from_iterator(TEXTS, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytes_model, eos_token="<|end|>", bos_token="<|start|>"
    )
    tokenizer.chat_template = template
    return tokenizer


def make_tiny_chat(folder: Path, *, template: str | None = TEMPLATE, seed: int = 0) -> Path:
    """Write the model into a new folder; equal seeds give equal files."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = make_tokenizer(template)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=WINDOW,
        initializer_range=0.4,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def digest_of(source: Path, folder: Path) -> str:
    """Of the packed weights and of one pass over ninety tokens: the same on every processor."""
    import hashlib

    from fieldwork.generation.chat.attention import Segment
    from fieldwork.generation.chat.packing import pack

    pack(source, folder, "tiny")
    model = Transformer(folder, "cpu")
    model.slots.take(90)
    states = model.read([Segment(range(90), model.new_context(0), 0, (), range(90))])
    shares = model.log_shares(states, [[1, 2, 3]] * 90)
    content = (folder / "weights.safetensors").read_bytes() + states.integers.numpy().tobytes()
    return hashlib.sha256(content + repr(shares).encode()).hexdigest()


class TinyModel(NamedTuple):
    """The model, from which every test makes its own responders."""

    transformer: Transformer
    tokens: ChatTokens

    def responder(self) -> Responder:
        return Responder(self.transformer, self.tokens)

    def answer(self, *calls: bytes) -> list[Result]:
        """The answers to calls that are under way together."""
        return answers_of(self.responder(), *calls)


def answers_of(responder: Responder, *calls: bytes) -> list[Result]:
    for number, call in enumerate(calls):
        responder.add(number, call)
    results: dict[int, Result] = {}
    while not responder.is_idle:
        results |= dict(responder.work())
    return [results[number] for number in range(len(calls))]
