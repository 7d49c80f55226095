"""Torch and transformers: loading a chat model, unpacking a GGUF, prompts to tokens, tokens to logits.

Everything runs on one thread and one row at a time, so that an answer depends on its call alone: in a
batch the last bits of a row depend on the number of rows. States of prompts are kept, as many questions
follow one context and many draws follow one question.
"""

import copy
import os
import shutil
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldwork.errors import StudyError, first_line, size_text

# states of contexts and of prompts in memory
STATES = 4
# prompts with candidates of their own whose part of the last layer is in memory
ALPHABETS = 64
# rows of options that are scored together; the number is fixed by the item alone
ROWS_AT_ONCE = 16

Logits = npt.NDArray[np.float32]
Alphabet = tuple[int, ...]
RawMessage = tuple[str, str]

# what transformers and torch raise for files and settings that they cannot use
_LOAD_ERRORS = (OSError, ValueError, KeyError, AttributeError, NotImplementedError, RuntimeError)


class ConversationError(Exception):
    """The model's chat template or window does not take a conversation."""


class Machine(NamedTuple):
    """Where a model runs, `cpu` or `cuda`, and in which precision, `fp32` or `bf16`."""

    device: str
    dtype: str


def machine_for(dtype: str) -> Machine:
    """The machine for a setting `dtype`; `auto` is bf16 where the processor or GPU multiplies it."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if dtype != "auto":
        return Machine(device, dtype)
    if device == "cuda":
        return Machine(device, "bf16" if torch.cuda.is_bf16_supported() else "fp32")
    skills = torch.cpu.get_capabilities()
    has_bf16 = skills.get("avx512_bf16") or skills.get("amx_bf16")
    return Machine(device, "bf16" if has_bf16 else "fp32")


def _torch_dtype(dtype: str) -> Any:
    import torch

    return {"fp32": torch.float32, "bf16": torch.bfloat16}[dtype]


def unpack(gguf: Path, folder: Path, dtype: str) -> None:
    """Make a folder of transformers from a GGUF file.

    Raises:
        StudyError: the package gguf is missing, the file cannot be read, its architecture is not known to
            transformers, or memory is too small.
    """
    import torch

    try:
        import accelerate  # noqa: F401  # transformers unpacks nothing without it
        import gguf as _gguf  # noqa: F401  # read by transformers
    except ImportError as error:
        raise StudyError(
            f"{gguf}: reading a GGUF needs the package {error.name}, which is not installed; install "
            f"requirements.txt"
        ) from error
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    _quieten()
    partial = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        with _gguf_read_once() as read:
            # unpacked in fp32 first, then saved
            n_bytes = 4 * sum(int(tensor.n_elements) for tensor in read(str(gguf)).tensors)
            require_memory(str(gguf), n_bytes)
            place: dict[str, Any] = {"gguf_file": gguf.name}
            tokenizer: Any = AutoTokenizer.from_pretrained(gguf.parent, **place)
            config: Any = GgufConfig(dequantize=True)
            model: Any = AutoModelForCausalLM.from_pretrained(
                gguf.parent, **place, quantization_config=config, dtype=torch.float32
            )
        model.to(_torch_dtype(dtype)).save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        partial.rename(folder)
    except _LOAD_ERRORS as error:
        if folder.is_dir():
            return  # another job was faster
        raise StudyError(
            f"{gguf}: transformers cannot unpack it ({first_line(error)}); set models.*.package or "
            f"models.*.path to a GGUF of an architecture that it knows, or ask the file from a server "
            f"(provider: openai)"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _gguf_read_once() -> Iterator[Any]:
    """The reader of GGUF files, which keeps what it has read.

    transformers reads the whole file for the configuration, the tokenizer and the weights each.
    """
    import gguf

    reader = gguf.GGUFReader
    gguf.GGUFReader = cache(reader)
    try:
        yield gguf.GGUFReader
    finally:
        gguf.GGUFReader = reader


def require_memory(name: str, n_bytes: float) -> float:
    """The bytes of memory that are free; StudyError where a model needs more."""
    import psutil

    available = float(psutil.virtual_memory().available)
    if n_bytes > available:
        raise StudyError(
            f"{name}: the model needs about {size_text(n_bytes)} of memory, and {size_text(available)} "
            f"are free; close other programs, set models.*.dtype to bf16, or take a smaller model"
        )
    return available


class PromptState(NamedTuple):
    """A prompt that the model has read.

    Attributes:
        n_tokens, n_shared: tokens of the prompt, and of these in the part that its context shares.
        logits: of the next token, for the tokens of the alphabet.
        past: the model's cache. It is copied before it is written to.
    """

    n_tokens: int
    n_shared: int
    logits: Logits
    past: Any


class ChatWeights:
    """A loaded chat model.

    Args:
        folder: in the form of transformers.
        name: of the model, for messages.

    Raises:
        StudyError: the folder cannot be loaded, or its tokenizer has no chat template.
    """

    def __init__(self, folder: Path, machine: Machine, name: str) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        _quieten()
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True, warn_only=True)
        # nothing here reads memory before it is written, and filling it takes a tenth of a short pass
        torch.utils.deterministic.fill_uninitialized_memory = False
        self._torch, self._device = torch, machine.device
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
            model: Any = AutoModelForCausalLM.from_pretrained(
                folder, dtype=_torch_dtype(machine.dtype)
            )
            self._model = model.to(machine.device).eval()
            self._head = _exact_head(self._model.get_output_embeddings())
            self._model.set_output_embeddings(self._head)
        except _LOAD_ERRORS as error:
            raise StudyError(
                f"{name}: the model in {folder} cannot be loaded ({first_line(error)}); delete the "
                f"folder if it is under resources/, or set models.*.path to another model"
            ) from error
        if not self._tokenizer.chat_template:
            raise StudyError(
                f"{name}: the model has no chat template, so it is not a chat model; take the variant "
                f"that was trained for conversations (often named Instruct or Chat)"
            )
        text_config = self._model.config.get_text_config()
        self.window = int(getattr(text_config, "max_position_embeddings", 1 << 30))
        self._states: OrderedDict[tuple[int, ...], PromptState] = OrderedDict()
        self._beginnings: OrderedDict[tuple[RawMessage, ...], list[int]] = OrderedDict()

    # ---- tokens --------------------------------------------------------------------------------

    @cached_property
    def stops(self) -> frozenset[int]:
        """The tokens that end a turn."""
        ends = self._model.generation_config.eos_token_id
        ends = [ends] if isinstance(ends, int) else list(ends or [])
        return frozenset({*ends, self._tokenizer.eos_token_id} - {None})

    @cached_property
    def special(self) -> frozenset[int]:
        """Tokens that are no text."""
        return frozenset(self._tokenizer.all_special_ids)

    def texts(self) -> list[str]:
        """The text of each token of the vocabulary."""
        return list(self._tokenizer.batch_decode([[i] for i in range(len(self._tokenizer))]))

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """The tokens of a text, each with the place in the text where it ends."""
        encoding = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in encoding["offset_mapping"]]
        return list(zip(encoding["input_ids"], ends, strict=True))

    def text(self, ids: Sequence[int]) -> str:
        """The text of tokens, without those that are no text."""
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        return str(self._tokenizer.decode(list(ids), **options))

    def prompt_ids(self, messages: Sequence[RawMessage]) -> list[int]:
        """The tokens of a conversation, up to where the model's turn begins.

        Raises:
            ConversationError: the chat template does not take it.
        """
        from jinja2.exceptions import TemplateError

        turns = [{"role": role, "content": content} for role, content in messages]
        try:
            ids = self._tokenizer.apply_chat_template(
                turns, add_generation_prompt=True, tokenize=True, return_dict=False
            )
        except TemplateError as error:
            raise ConversationError(
                f"the model's chat template does not take the conversation ({first_line(error)})"
            ) from error
        return list(ids)

    def shared_ids(self, context: tuple[RawMessage, ...]) -> list[int]:
        """The tokens with which every prompt after a context begins."""
        if context not in self._beginnings:
            probes = [self.prompt_ids([*context, ("user", text)]) for text in ("0", "A")]
            n = next((i for i, (a, b) in enumerate(zip(*probes, strict=False)) if a != b), 0)
            _remember(self._beginnings, context, probes[0][:n])
        return self._beginnings[context]

    # ---- logits --------------------------------------------------------------------------------

    def state(
        self,
        context: tuple[RawMessage, ...],
        ids: Sequence[int],
        run: Sequence[int] = (),
        alphabet: Alphabet | None = None,
    ) -> PromptState:
        """The state after a prompt and the forced beginning of its answer.

        The context is read alone, and the rest after it, so that the bits are the same whatever was asked
        before.

        Args:
            ids: the whole prompt, its context included.
            run: tokens that every answer begins with.
            alphabet: the tokens that may be drawn; None for all.
        """
        key = (*ids, -1, *run, -1, *(alphabet or ()))
        if key in self._states:
            self._states.move_to_end(key)
            return self._states[key]
        beginning = self.shared_ids(context)
        rest = [*ids, *run]
        if rest[: len(beginning)] != beginning or not beginning:
            logits, past = self._read(rest, None, alphabet)
            state = PromptState(len(ids), 0, logits, past)
        else:
            base = self._base(tuple(beginning))
            logits, past = self._read(rest[len(beginning) :], base.past, alphabet)
            state = PromptState(len(ids), len(beginning), logits, past)
        _remember(self._states, key, state)
        return state

    def _base(self, beginning: tuple[int, ...]) -> PromptState:
        if beginning not in self._states:
            logits, past = self._read(beginning, None, ())
            _remember(self._states, beginning, PromptState(len(beginning), 0, logits, past))
        self._states.move_to_end(beginning)
        return self._states[beginning]

    def _read(self, ids: Sequence[int], past: Any, alphabet: Alphabet | None) -> tuple[Logits, Any]:
        follower = Follower(self, past, alphabet)
        return follower.read(ids), follower.past

    def follower(self, state: PromptState, alphabet: Alphabet | None = None) -> "Follower":
        """One answer after a prompt."""
        return Follower(self, state.past, alphabet)

    def forward(
        self, rows: Sequence[Sequence[int]], past: Any, n_logits: int, alphabet: Alphabet | None
    ) -> tuple[Any, Any]:
        """Logits of the last `n_logits` places of each row, float32, and the cache after them."""
        torch = self._torch
        self._head.choose_alphabet(alphabet)
        with torch.inference_mode():
            ids = torch.tensor([list(row) for row in rows], device=self._device)
            output = self._model(
                input_ids=ids, past_key_values=past, use_cache=True, logits_to_keep=n_logits
            )
            return output.logits.float().cpu().numpy(), output.past_key_values

    def tails(
        self,
        state: PromptState,
        rows: Sequence[Sequence[int]],
        alphabet: Alphabet | None = None,
    ) -> list[Logits]:
        """Logits after each token of each row, where every row follows the prompt by itself.

        Rows are read together, filled up on the right, which a causal model does not see. Which rows
        stand together depends on the call alone.
        """
        tails: list[Logits] = []
        for start in range(0, len(rows), ROWS_AT_ONCE):
            chunk = rows[start : start + ROWS_AT_ONCE]
            width = max(len(row) for row in chunk)
            past = copy.deepcopy(state.past)
            past.batch_repeat_interleave(len(chunk))
            filled_rows = [[*row, *[0] * (width - len(row))] for row in chunk]
            logits, _ = self.forward(filled_rows, past, width, alphabet)
            tails += [logits[i, : len(row)] for i, row in enumerate(chunk)]
        return tails


class Follower:
    """An answer that grows after a prompt. The prompt's state is not touched."""

    def __init__(self, weights: ChatWeights, past: Any, alphabet: Alphabet | None) -> None:
        self._weights, self.past, self._alphabet = weights, copy.deepcopy(past), alphabet

    def read(self, ids: Sequence[int]) -> Logits:
        """Read tokens in one pass; the logits of the token after them."""
        logits, self.past = self._weights.forward([ids], self.past, 1, self._alphabet)
        result: Logits = logits[0, -1]
        return result


def _quieten() -> None:
    """No progress bars and no advice of transformers on the output of a job."""
    from transformers.utils import logging

    quiet: Any = logging
    quiet.disable_progress_bar()
    quiet.set_verbosity_error()


def _exact_head(head: Any) -> Any:
    """The last layer in fp32, for all tokens or those of an alphabet.

    In bf16 the logits of a model would have two or three digits, and many tokens the same probability.
    """
    import torch

    class ExactHead(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.bias = head.weight, getattr(head, "bias", None)
            self._columns: Any = None
            self._parts: dict[Alphabet | None, Any] = {}

        def choose_alphabet(self, alphabet: Alphabet | None) -> None:
            if alphabet not in self._parts:
                if len(self._parts) > ALPHABETS:
                    self._parts.clear()
                rows = slice(None) if alphabet is None else list(alphabet)
                bias = None if self.bias is None else self.bias[rows].float()
                self._parts[alphabet] = (self.weight[rows].float(), bias)
            self._columns = self._parts[alphabet]

        def forward(self, states: Any) -> Any:
            return torch.nn.functional.linear(states.float(), *self._columns)

    return ExactHead()


def _remember(states: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    states[key] = value
    while len(states) > STATES:
        states.popitem(last=False)
