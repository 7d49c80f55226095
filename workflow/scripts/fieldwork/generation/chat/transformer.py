"""The forward pass of a decoder of the Llama family, in exact arithmetic, for many branches at once.

A pass reads segments: tokens that go on after a context and after earlier tokens of their own branch.
Each token's numbers depend on the tokens before it alone, to the last bit, so that segments of any calls
can be read together and long ones in parts.

The weights are those of `packing`: channels are rotated by a Hadamard matrix in blocks, and the gains of
norms are multiplied into the matrices behind them.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor

from fieldwork.generation.chat.attention import (
    VALUE_TOP,
    Layout,
    Queries,
    Segment,
    attend,
    lay_out,
)
from fieldwork.generation.chat.exact import (
    IntegerMatrix,
    IntegerRows,
    fastest_product,
    hadamard_side,
    hadamard_signs,
    power_of_two_,
    rounded_rows,
    swish_gate,
)
from fieldwork.generation.chat.slots import KeysAndValues, Shape, SlotStore

MODEL_FILE, WEIGHTS_FILE = "model.json", "weights.safetensors"

# how many standard deviations of a value its largest whole number stands for, at least
VALUE_DEVIATIONS = 12.0
# before a block of a Hadamard matrix: 64 numbers below 2**17 add up to less than 2**24
WIDE_TOP = 2**17 - 1
# bits behind the point of a cosine: few enough that no library rounds another way
ANGLE_BITS = 22
# rows of logits of the whole vocabulary in memory
LOGITS_AT_ONCE = 32
# bits of a token's share in the sum of all
SHARE_BITS = 36


class _Layer(NamedTuple):
    """The matrices of a layer: queries, keys and values; gate and up; and behind each of these."""

    attention_in: IntegerMatrix
    attention_bias: Tensor | None
    attention_out: IntegerMatrix
    inner_in: IntegerMatrix
    inner_out: IntegerMatrix
    query_gain: Tensor | None
    key_gain: Tensor | None
    value_steps: Tensor


class _Angles(NamedTuple):
    """How far each row turns, float32, (rows, 1, pairs of channels)."""

    cosines: Tensor
    sines: Tensor


class Transformer:
    """A model in memory.

    Args:
        folder: what `packing` made; the file is mapped into memory, so processes share it.

    Attributes:
        slots: places for the tokens of branches.
    """

    def __init__(self, folder: Path, device: str) -> None:
        model = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
        self.shape = Shape(**model["shape"])
        tensors = load_file(folder / WEIGHTS_FILE, device=device)

        def matrix(name: str) -> IntegerMatrix:
            return IntegerMatrix(tensors[f"{name}.integers"], tensors[f"{name}.scales"])

        self._device = device
        self._embedding, self._head = matrix("embedding"), matrix("head")
        self._layers: list[_Layer] = []
        for i in range(self.shape.layers):
            attention_in, bias = matrix(f"{i}.attention_in"), tensors.get(f"{i}.attention_bias")
            layer = _Layer(
                attention_in,
                bias,
                matrix(f"{i}.attention_out"),
                matrix(f"{i}.inner_in"),
                matrix(f"{i}.inner_out"),
                tensors.get(f"{i}.query_gain"),
                tensors.get(f"{i}.key_gain"),
                _value_steps(attention_in, bias, self.shape),
            )
            self._layers.append(layer)
        self._product = fastest_product(device)
        self._signs = hadamard_signs(hadamard_side(self.shape.inner)).to(device)
        # sums of products of queries and keys stay below 2**24
        self._key_top = math.isqrt((2**24 - 1) // self.shape.head_size)
        self._angles = torch.empty(0, 2, self.shape.head_size // 2, device=device)
        self.slots = SlotStore(self.shape, device)

    def new_context(self, n_tokens: int) -> KeysAndValues:
        """Room for the tokens of a context."""
        return KeysAndValues(self.shape, n_tokens, self._device)

    # ---- a pass ------------------------------------------------------------------------------------

    def read(self, segments: Sequence[Segment]) -> IntegerRows:
        """Read segments; the last states of all their tokens, in the order of the tokens.

        Args:
            segments: those after one context stand together.
        """
        ids = torch.tensor([i for one in segments for i in one.ids], device=self._device)
        states = self._embedding.integers[ids].float()
        states.mul_(self._embedding.scales[ids, None])
        layout = lay_out(segments, self._device)
        angles = self._angles_at(layout.positions)
        for number, layer in enumerate(self._layers):
            states = states + self._attention(number, layer, states, layout, angles)
            states = states + self._feed_forward(layer, states)
        return self._norm(states)

    def _angles_at(self, positions: Tensor) -> _Angles:
        n = int(positions.max()) + 1
        if n > len(self._angles):
            n = max(n, 256, 2 * len(self._angles))
            step, scale = 2.0**ANGLE_BITS, self.shape.angle_scale
            rows = [
                [
                    [round(turn(i * f) * scale * step) / step for f in self.shape.frequencies]
                    for turn in (math.cos, math.sin)
                ]
                for i in range(len(self._angles), n)
            ]
            new_rows = torch.tensor(rows, dtype=torch.float32, device=self._device)
            self._angles = torch.cat([self._angles, new_rows])
        rows_of_pass = self._angles[positions]
        return _Angles(rows_of_pass[:, None, 0], rows_of_pass[:, None, 1])

    def _norm(self, states: Tensor) -> IntegerRows:
        """States divided by their root mean square; gains are in the matrices behind."""
        rows = rounded_rows(states)
        squares = rows.integers.square().sum(-1, keepdim=True, dtype=torch.float64)
        mean = squares.div_(states.shape[-1]).mul_(rows.scale.double().square())
        root = mean.add_(self.shape.epsilon).sqrt_()
        return IntegerRows(rows.integers, rows.scale.double().div_(root).float())

    def _feed_forward(self, layer: _Layer, states: Tensor) -> Tensor:
        rows = self._norm(states)
        halves = self._product(rows.integers, layer.inner_in).mul_(rows.scale)
        gate, values = halves[:, : self.shape.inner], halves[:, self.shape.inner :]
        wide = rounded_rows(swish_gate(gate, values), WIDE_TOP)
        side = len(self._signs)
        rotation = (wide.integers.view(-1, side) @ self._signs).view(values.shape)
        narrow = rounded_rows(rotation)
        scale = narrow.scale.mul_(wide.scale).div_(math.sqrt(side))
        return self._product(narrow.integers, layer.inner_out).mul_(scale)

    def _attention(
        self, number: int, layer: _Layer, states: Tensor, layout: Layout, angles: _Angles
    ) -> Tensor:
        shape, rows = self.shape, self._norm(states)
        heads = self._product(rows.integers, layer.attention_in).mul_(rows.scale)
        if layer.attention_bias is not None:
            heads.add_(layer.attention_bias)
        heads = heads.view(len(states), -1, shape.head_size)
        n_turning = shape.heads + shape.key_heads
        turning = heads[:, :n_turning]
        if layer.query_gain is not None and layer.key_gain is not None:
            turning = self._norm_heads(turning, layer.query_gain, layer.key_gain)
        turns = rounded_rows(_turn(turning, angles), self._key_top)
        self._store(number, turns, heads[:, n_turning:] / layer.value_steps, layout)
        values = attend(self._queries(turns), self.slots.room, number, layout)
        values.mul_(layer.value_steps[:, None, None])
        out = rounded_rows(values.permute(2, 0, 1, 3).reshape(len(states), -1))
        return self._product(out.integers, layer.attention_out).mul_(out.scale)

    def _norm_heads(self, heads: Tensor, query_gain: Tensor, key_gain: Tensor) -> Tensor:
        rows = self._norm(heads)
        values, n = rows.integers * rows.scale, self.shape.heads
        return torch.cat([values[:, :n] * query_gain, values[:, n:] * key_gain], 1)

    def _queries(self, turns: IntegerRows) -> Queries:
        n, groups = self.shape.heads, (self.shape.key_heads, -1)
        factor = math.log2(math.e) / math.sqrt(self.shape.head_size)
        integers = turns.integers[:, :n].unflatten(1, groups).permute(1, 2, 0, 3).contiguous()
        scales = turns.scale[:, :n, 0].mul(factor).unflatten(1, groups).permute(1, 2, 0)
        return Queries(integers, scales)

    def _store(self, number: int, turns: IntegerRows, values: Tensor, layout: Layout) -> None:
        n, slots, room = self.shape.heads, layout.slots, self.slots.room
        keys = turns.integers[:, n:].to(torch.int16)
        room.keys[number].index_copy_(1, slots, keys.transpose(0, 1))
        room.key_scales[number].index_copy_(1, slots, turns.scale[:, n:, 0].t())
        integers = values.round_().clamp_(-VALUE_TOP, VALUE_TOP).to(torch.int16)
        room.values[number].index_copy_(1, slots, integers.transpose(0, 1))

    # ---- what comes out ----------------------------------------------------------------------------

    def logits(self, states: IntegerRows, alphabet: Tensor | None) -> Tensor:
        """Logits of the next token, float32, (rows, tokens of the alphabet or all)."""
        head = self._head
        if alphabet is not None:
            head = IntegerMatrix(head.integers[alphabet], head.scales[alphabet])
        return self._product(states.integers, head).mul_(states.scale)

    def log_shares(
        self, states: IntegerRows, targets: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """The logarithm of the probability of tokens to come next, for each row of its own tokens."""
        results: list[list[float]] = []
        for start in range(0, len(targets), LOGITS_AT_ONCE):
            span = slice(start, start + LOGITS_AT_ONCE)
            rows = IntegerRows(states.integers[span], states.scale[span])
            logits = self.logits(rows, None)
            peaks = logits.amax(1, keepdim=True)
            differences = (logits - peaks).mul_(math.log2(math.e)).clamp_(min=-100)
            # whole numbers, whose sum is exact
            shares = power_of_two_(differences, SHARE_BITS).round_()
            sums = shares.sum(1, dtype=torch.float64).tolist()
            for i, tokens in enumerate(targets[span]):
                scores = (logits[i, list(tokens)].double() - peaks[i].double()).tolist()
                log_sum = math.log(sums[i]) - SHARE_BITS * math.log(2)
                results.append([score - log_sum for score in scores])
        return results


def _turn(heads: Tensor, angles: _Angles) -> Tensor:
    """Heads turned by the angles of their positions."""
    half = heads.shape[-1] // 2
    first, second = heads[..., :half], heads[..., half:]
    result = torch.empty(heads.shape, device=heads.device)
    torch.sub(first * angles.cosines, second * angles.sines, out=result[..., :half])
    torch.add(second * angles.cosines, first * angles.sines, out=result[..., half:])
    return result


def _value_steps(matrix: IntegerMatrix, bias: Tensor | None, shape: Shape) -> Tensor:
    """What a whole number of each head's values stands for, a power of two, float32, (key heads, 1).

    A value is the product of a row of weights and a state of root mean square 1, so its standard
    deviation is about the length of the row.
    """
    rows = slice(-shape.key_heads * shape.head_size, None)
    squares = matrix.integers[rows].double().square().sum(1)
    lengths = squares.sqrt().mul_(matrix.scales[rows].double())
    reach = lengths.mul_(VALUE_DEVIATIONS)
    if bias is not None:
        reach.add_(bias[rows].double().abs())
    peaks = reach.view(shape.key_heads, -1).amax(1, keepdim=True).clamp_(min=1e-30)
    return torch.exp2(torch.ceil(torch.log2(peaks / VALUE_TOP))).float()
