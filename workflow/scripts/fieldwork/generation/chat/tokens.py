"""A model's tokens: texts and conversations to tokens and back."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from fieldwork.errors import StudyError, first_line
from fieldwork.generation.chat.transformer import MODEL_FILE

# contexts whose beginning is remembered
BEGINNINGS = 256

RawMessage = tuple[str, str]


class ConversationError(Exception):
    """The model's chat template or window does not take a conversation."""


class ChatTokens:
    """The tokenizer and the chat template of a model.

    Args:
        folder: what `packing` made.
        name: of the model, for messages.

    Raises:
        StudyError: the folder cannot be read.
    """

    def __init__(self, folder: Path, name: str) -> None:
        from transformers import AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        except (OSError, ValueError, KeyError) as error:
            raise StudyError(
                f"{name}: the tokenizer in {folder} cannot be read ({first_line(error)}); delete the "
                f"folder, and the next run makes it again"
            ) from error
        model = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
        self._stops = frozenset({*model["stops"], self._tokenizer.eos_token_id} - {None})
        self._beginnings: OrderedDict[tuple[RawMessage, ...], list[int]] = OrderedDict()

    @property
    def stops(self) -> frozenset[int]:
        """The tokens that end a turn."""
        return self._stops

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
            self._beginnings[context] = probes[0][:n]
            if len(self._beginnings) > BEGINNINGS:
                self._beginnings.popitem(last=False)
        return self._beginnings[context]
