"""The sizes of a model, and places in memory for the keys and values of tokens."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

# places for tokens of branches at first
FEWEST_SLOTS = 1024


class Shape(NamedTuple):
    """The sizes of a model.

    Attributes:
        width: channels between the layers.
        inner: channels between the two halves of a feed-forward layer.
        window: longest conversation, in tokens.
        has_head_norms: queries and keys of each head are normed.
        frequencies: radians a token by which each pair of channels of a head turns.
        angle_scale: what cosines and sines are multiplied with.
    """

    layers: int
    width: int
    heads: int
    key_heads: int
    head_size: int
    inner: int
    vocabulary: int
    epsilon: float
    window: int
    has_head_norms: bool
    frequencies: list[float]
    angle_scale: float = 1.0

    @property
    def bytes_per_token(self) -> int:
        """Bytes of the keys and values of a token."""
        return self.layers * self.key_heads * (self.head_size * (2 + 2) + 4)


class KeysAndValues:
    """Keys and values of tokens in every layer.

    Attributes:
        keys: int16, (layers, key heads, tokens, head size), with a scale for each token and head.
        values: int16, shaped like keys, with a scale for each layer and head that all tokens share.
    """

    def __init__(self, shape: Shape, n_tokens: int, device: str) -> None:
        room = (shape.layers, shape.key_heads, n_tokens)
        # what fills up a pass is read too, and must be numbers
        self.keys = torch.zeros(*room, shape.head_size, dtype=torch.int16, device=device)
        self.key_scales = torch.zeros(*room, device=device)
        self.values = torch.zeros_like(self.keys)

    def __len__(self) -> int:
        return int(self.keys.shape[2])

    def copy(self, start: int, other: "KeysAndValues", slots: Sequence[int]) -> None:
        """Copy tokens of another one to the places from `start` on."""
        span, places = slice(start, start + len(slots)), list(slots)
        self.keys[:, :, span] = other.keys[:, :, places]
        self.key_scales[:, :, span] = other.key_scales[:, :, places]
        self.values[:, :, span] = other.values[:, :, places]


class SlotStore:
    """Places for the tokens of branches, as many as are needed.

    Attributes:
        room: where they are.
    """

    def __init__(self, shape: Shape, device: str) -> None:
        self._shape, self._device = shape, device
        self._free: list[int] = []
        self.room = KeysAndValues(shape, 0, device)

    @property
    def n_taken(self) -> int:
        """Places in use."""
        return len(self.room) - len(self._free)

    def take(self, n: int) -> list[int]:
        """Free places, which are the caller's until it gives them back."""
        if n > len(self._free):
            n_old = len(self.room)
            n_slots = max(2 * n_old, n_old + n, FEWEST_SLOTS)
            larger = KeysAndValues(self._shape, n_slots, self._device)
            larger.copy(0, self.room, range(n_old))
            self.room = larger
            self._free += range(n_old, n_slots)
        slots = self._free[-n:]
        del self._free[-n:]
        return slots

    def give_back(self, slots: Sequence[int]) -> None:
        """Free places again."""
        self._free += slots
