"""The forward pass of a decoder of the Llama family, in exact arithmetic, for many branches at once.

A pass reads segments: tokens that go on after a context and after earlier tokens of their own branch. Each
token's numbers depend on the tokens before it alone, to the last bit, so that segments of any calls can be
read together and long ones in parts.

The weights are those of `packing`: a residual stream that is rotated by a Hadamard matrix in blocks, with
the gains of norms multiplied into the matrices behind them.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file

from fieldwork.generation.chat.exact import (
    TOP,
    IntegerMatrix,
    IntegerRows,
    fastest_product,
    hadamard_side,
    hadamard_signs,
    power_of_two_,
    rounded_rows,
    swish_gate,
)

Tensor = torch.Tensor

MODEL_FILE, WEIGHTS_FILE = "model.json", "weights.safetensors"

# bits of an attention weight before all of them are made to add up to `TOTAL_WEIGHT`
WEIGHT_BITS = 16
# With roundings of 8,192 weights it stays below 2**15; times the largest value that is below 2**24, so that weighted
# sums are exact.
TOTAL_WEIGHT = 28_672.0
# largest whole number of a value, and how many standard deviations it stands for at least
VALUE_TOP, VALUE_DEVIATIONS = 511, 12.0
# before the blocks of a Hadamard matrix: 64 numbers below 2**17 add up to less than 2**24
ROTATED_TOP = 2**17 - 1
# a difference of scores, in powers of two, below which an attention weight is 0
NOTHING = -24.0
# bits behind the point of a cosine: few enough that no library rounds another way
ANGLE_BITS = 22
# places for tokens of branches at first
FEWEST_SLOTS = 1024
# rows of logits of the whole vocabulary in memory
LOGITS_AT_ONCE = 32
# bits of a token's share in the sum of all
SHARE_BITS = 36


class Shape(NamedTuple):
    """What a model's weights are multiplied by what.

    Attributes:
        inner: channels between the two halves of a feed-forward layer.
        window: longest conversation, in tokens.
        has_head_norms: queries and keys of each head are normed.
        frequencies: radians a token by which each pair of channels of a head turns.
        angle_scale: what cosines and sines are multiplied with.
    """

    layers: int
    hidden: int
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
        return self.keys.shape[2]

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
            before = len(self.room)
            larger = KeysAndValues(
                self._shape, max(2 * before, before + n, FEWEST_SLOTS), self._device
            )
            larger.copy(0, self.room, range(before))
            self.room = larger
            self._free += range(before, len(larger))
        taken = self._free[-n:]
        del self._free[-n:]
        return taken

    def give_back(self, slots: Sequence[int]) -> None:
        """Free places again."""
        self._free += slots


class Segment(NamedTuple):
    """Tokens to read in one pass.

    Attributes:
        ids: the tokens.
        context: keys and values of the tokens that all branches after a context share.
        n_context: how many of these stand before the segment.
        earlier: slots of the earlier tokens of its branch, behind the context.
        slots: where the keys and values of the tokens go.
    """

    ids: Sequence[int]
    context: KeysAndValues
    n_context: int
    earlier: Sequence[int]
    slots: Sequence[int]


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


class _ContextGroup(NamedTuple):
    """Neighbouring rows of a pass whose segments follow the same tokens of one context."""

    start: int
    stop: int
    context: KeysAndValues
    n_context: int


class _Layout(NamedTuple):
    """Where the rows of a pass stand, and what each of them sees of its branch.

    Attributes:
        rows: rows of the pass by segment, filled up to the longest, flat.
        places: the place of each row among these.
        slots: slots of the new tokens.
        seen: slots that a segment may see, filled up to the most, flat.
        mask: (segments, longest, most): 0 where a token sees a slot, else far below.
    """

    n_segments: int
    rows: Tensor
    places: Tensor
    slots: Tensor
    seen: Tensor
    mask: Tensor
    groups: list[_ContextGroup]
    cosines: Tensor
    sines: Tensor


class Transformer:
    """A model in memory.

    Args:
        folder: what `packing` made; the file is mapped into memory, so processes share it.
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

    @torch.inference_mode()
    def read(self, segments: Sequence[Segment]) -> IntegerRows:
        """Read segments; the last states of all their tokens, normed but for the scale.

        Args:
            segments: those after one context stand together.
        """
        ids = torch.tensor([i for one in segments for i in one.ids], device=self._device)
        states = self._embedding.integers[ids].float()
        states.mul_(self._embedding.scales[ids, None])
        layout = self._layout(segments)
        for number, layer in enumerate(self._layers):
            mixed = self._attention(number, layer, states, layout)
            states = states + mixed
            states = states + self._feed_forward(layer, states)
        return self._normed(states)

    def _layout(self, segments: Sequence[Segment]) -> _Layout:
        n_rows = sum(len(one.ids) for one in segments)
        longest = max(len(one.ids) for one in segments)
        most = longest + max(len(one.earlier) for one in segments)
        rows = torch.zeros(len(segments), longest, dtype=torch.int64)
        seen = torch.zeros(len(segments), most, dtype=torch.int64)
        mask = torch.full((len(segments), longest, most), -math.inf)
        places = torch.empty(n_rows, dtype=torch.int64)
        positions = torch.empty(n_rows, dtype=torch.int64)
        groups: list[_ContextGroup] = []
        row = 0
        for number, one in enumerate(segments):
            n, n_earlier = len(one.ids), len(one.earlier)
            rows[number, :n] = torch.arange(row, row + n)
            places[row : row + n] = torch.arange(number * longest, number * longest + n)
            positions[row : row + n] = torch.arange(n) + one.n_context + n_earlier
            seen[number, : n_earlier + n] = torch.tensor([*one.earlier, *one.slots])
            mask[number, :n, :n_earlier] = 0
            mask[number, :n, n_earlier : n_earlier + n].triu_(1)
            last = groups[-1] if groups else None
            if last and last.context is one.context and last.n_context == one.n_context:
                groups[-1] = last._replace(stop=row + n)
            else:
                groups.append(_ContextGroup(row, row + n, one.context, one.n_context))
            row += n
        # rows that only fill up see something, so that no score is lost in infinities
        mask[:, :, 0].masked_fill_(mask.amax(-1) < 0, 0)
        slots = torch.tensor([slot for one in segments for slot in one.slots], dtype=torch.int64)
        angles = self._angles_up_to(int(positions.max()) + 1)[positions.to(self._device)]
        parts = (rows.flatten(), places, slots, seen.flatten(), mask)
        return _Layout(
            len(segments),
            *(part.to(self._device) for part in parts),
            [group for group in groups if group.n_context],
            angles[:, None, 0],
            angles[:, None, 1],
        )

    def _angles_up_to(self, n: int) -> Tensor:
        """Cosine and sine of each position and pair of channels, float32, (positions, 2, pairs)."""
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
            more = torch.tensor(rows, dtype=torch.float32, device=self._device)
            self._angles = torch.cat([self._angles, more])
        return self._angles

    def _normed(self, states: Tensor) -> IntegerRows:
        """States divided by their root mean square; gains are in the matrices behind."""
        rows = rounded_rows(states)
        squares = rows.integers.square().sum(-1, keepdim=True, dtype=torch.float64)
        mean = squares.div_(states.shape[-1]).mul_(rows.scale.double().square())
        root = mean.add_(self.shape.epsilon).sqrt_()
        return IntegerRows(rows.integers, rows.scale.double().div_(root).float())

    def _feed_forward(self, layer: _Layer, states: Tensor) -> Tensor:
        rows = self._normed(states)
        both = self._product(rows.integers, layer.inner_in).mul_(rows.scale)
        inner = self.shape.inner
        gated = swish_gate(both[:, :inner].contiguous(), both[:, inner:])
        wide = rounded_rows(gated, ROTATED_TOP)
        side = len(self._signs)
        turned = (wide.integers.view(-1, side) @ self._signs).view(len(states), inner)
        narrow = rounded_rows(turned)
        scale = narrow.scale.mul_(wide.scale).div_(math.sqrt(side))
        return self._product(narrow.integers, layer.inner_out).mul_(scale)

    # ---- attention ---------------------------------------------------------------------------------

    def _attention(self, number: int, layer: _Layer, states: Tensor, layout: _Layout) -> Tensor:
        shape, rows = self.shape, self._normed(states)
        heads = self._product(rows.integers, layer.attention_in).mul_(rows.scale)
        if layer.attention_bias is not None:
            heads.add_(layer.attention_bias)
        heads = heads.view(len(states), -1, shape.head_size)
        n_turning = shape.heads + shape.key_heads
        turning = heads[:, :n_turning]
        if layer.query_gain is not None and layer.key_gain is not None:
            turning = self._normed_heads(turning, layer.query_gain, layer.key_gain)
        turned = rounded_rows(_turned(turning, layout), self._key_top)
        self._store(number, turned, heads[:, n_turning:] / layer.value_steps, layout)
        queries = turned.integers[:, : shape.heads].unflatten(1, (shape.key_heads, -1))
        # scores in powers of two
        factor = math.log2(math.e) / math.sqrt(shape.head_size)
        scales = turned.scale[:, : shape.heads, 0].mul(factor).unflatten(1, (shape.key_heads, -1))
        queries, scales = queries.permute(1, 2, 0, 3).contiguous(), scales.permute(1, 2, 0)
        mixed = self._mixed(number, queries, scales, layout).mul_(layer.value_steps[:, None, None])
        out = rounded_rows(mixed.permute(2, 0, 1, 3).reshape(len(states), -1))
        return self._product(out.integers, layer.attention_out).mul_(out.scale)

    def _normed_heads(self, heads: Tensor, query_gain: Tensor, key_gain: Tensor) -> Tensor:
        normed = self._normed(heads)
        n = self.shape.heads
        values = normed.integers * normed.scale
        return torch.cat([values[:, :n] * query_gain, values[:, n:] * key_gain], 1)

    def _store(self, number: int, turned: IntegerRows, values: Tensor, layout: _Layout) -> None:
        first = self.shape.heads
        slots, store = layout.slots, self.slots.room
        keys = turned.integers[:, first:].to(torch.int16).transpose(0, 1)
        store.keys[number].index_copy_(1, slots, keys)
        store.key_scales[number].index_copy_(1, slots, turned.scale[:, first:, 0].t())
        whole = values.round_().clamp_(-VALUE_TOP, VALUE_TOP).to(torch.int16)
        store.values[number].index_copy_(1, slots, whole.transpose(0, 1))

    def _mixed(self, number: int, queries: Tensor, scales: Tensor, layout: _Layout) -> Tensor:
        """The values that each row attends to, float32, (key heads, group, rows, head size).

        Args:
            queries: whole numbers, shaped like the result; heads of a group share keys.
            scales: of the queries, (key heads, group, rows).
        """
        own = _own_scores(self.slots.room, number, queries, scales, layout)
        shared = [_shared_scores(number, queries, scales, group) for group in layout.groups]
        peaks = _by_row(own.amax(-1), layout)
        for scores, group in zip(shared, layout.groups, strict=True):
            part = peaks[:, :, group.start : group.stop]
            torch.maximum(part, scores.amax(-1), out=part)
        own = _powers(own.sub_(_by_segment(peaks, own, layout)))
        totals = _by_row(own.sum(-1, dtype=torch.float64), layout)
        for scores, group in zip(shared, layout.groups, strict=True):
            span = slice(group.start, group.stop)
            scores.copy_(_powers(scores.sub_(peaks[:, :, span, None])))
            totals[:, :, span] += scores.sum(-1, dtype=torch.float64)
        factors = totals.reciprocal_().mul_(TOTAL_WEIGHT).float()
        own.mul_(_by_segment(factors, own, layout)).round_()
        sums = _by_row(_own_values(self.slots.room, number, own, layout), layout)
        weights = _by_row(own.sum(-1), layout)
        for scores, group in zip(shared, layout.groups, strict=True):
            span = slice(group.start, group.stop)
            scores.mul_(factors[:, :, span, None]).round_()
            values = group.context.values[number, :, : group.n_context].float()
            sums[:, :, span] += torch.bmm(scores.flatten(1, 2), values).view_as(sums[:, :, span])
            weights[:, :, span] += scores.sum(-1)
        return sums.div_(weights[..., None])

    # ---- what comes out ----------------------------------------------------------------------------

    @torch.inference_mode()
    def logits(self, states: IntegerRows, alphabet: Tensor | None) -> Tensor:
        """Logits of the next token, float32, (rows, tokens of the alphabet or all)."""
        head = self._head
        if alphabet is not None:
            head = IntegerMatrix(head.integers[alphabet], head.scales[alphabet])
        return self._product(states.integers, head).mul_(states.scale)

    @torch.inference_mode()
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
                chosen = (logits[i, list(tokens)].double() - peaks[i].double()).tolist()
                log_sum = math.log(sums[i]) - SHARE_BITS * math.log(2)
                results.append([value - log_sum for value in chosen])
        return results


def _turned(heads: Tensor, layout: _Layout) -> Tensor:
    """Heads turned by the angles of their positions."""
    half = heads.shape[-1] // 2
    first, second = heads[..., :half], heads[..., half:]
    cosines, sines = layout.cosines, layout.sines
    result = torch.empty(heads.shape, device=heads.device)
    torch.sub(first * cosines, second * sines, out=result[..., :half])
    torch.add(second * cosines, first * sines, out=result[..., half:])
    return result


def _own_scores(
    store: KeysAndValues, number: int, queries: Tensor, scales: Tensor, layout: _Layout
) -> Tensor:
    """Scores of each segment's own branch, (segments, key heads, group, longest, most)."""
    key_heads, group, _, size = queries.shape
    n = layout.n_segments
    keys = store.keys[number].index_select(1, layout.seen).float()
    keys = keys.view(key_heads, n, -1, size).transpose(0, 1).flatten(0, 1)
    key_scales = store.key_scales[number].index_select(1, layout.seen)
    own = queries.index_select(2, layout.rows).view(key_heads, group, n, -1, size)
    own = own.permute(2, 0, 1, 3, 4).reshape(n * key_heads, -1, size)
    scores = torch.bmm(own, keys.transpose(1, 2)).view(n, key_heads, group, -1, keys.shape[1])
    scores.mul_(key_scales.view(key_heads, n, 1, 1, -1).transpose(0, 1))
    own_scales = scales.index_select(2, layout.rows).view(key_heads, group, n, -1, 1)
    return scores.mul_(own_scales.permute(2, 0, 1, 3, 4)).add_(layout.mask[:, None, None])


def _shared_scores(number: int, queries: Tensor, scales: Tensor, group: _ContextGroup) -> Tensor:
    """Scores of the context of some rows, (key heads, group, rows, tokens)."""
    span = slice(group.start, group.stop)
    keys = group.context.keys[number, :, : group.n_context].float()
    own = queries[:, :, span]
    scores = torch.bmm(own.flatten(1, 2), keys.transpose(1, 2)).view(*own.shape[:3], -1)
    scores.mul_(group.context.key_scales[number, :, None, None, : group.n_context])
    return scores.mul_(scales[:, :, span, None])


def _by_row(values: Tensor, layout: _Layout) -> Tensor:
    """From (segments, key heads, group, longest, …) to (key heads, group, rows, …)."""
    moved = values.movedim(0, 2)
    return moved.flatten(2, 3).index_select(2, layout.places)


def _by_segment(values: Tensor, like: Tensor, layout: _Layout) -> Tensor:
    """From (key heads, group, rows) to (segments, key heads, group, longest, 1)."""
    chosen = values.index_select(2, layout.rows).view(*values.shape[:2], layout.n_segments, -1, 1)
    return chosen.movedim(2, 0).expand(*like.shape[:-1], 1)


def _powers(differences: Tensor) -> Tensor:
    """Whole numbers of at most 2**WEIGHT_BITS for differences from the highest score."""
    return power_of_two_(differences.clamp_(min=NOTHING), WEIGHT_BITS).round_()


def _own_values(store: KeysAndValues, number: int, weights: Tensor, layout: _Layout) -> Tensor:
    """The weighted sum of the values of each segment's own branch, shaped like its scores."""
    n, key_heads, group, longest, most = weights.shape
    values = store.values[number].index_select(1, layout.seen).float()
    values = values.view(key_heads, n, most, -1).transpose(0, 1).flatten(0, 1)
    sums = torch.bmm(weights.view(n * key_heads, -1, most), values)
    return sums.view(n, key_heads, group, longest, -1)


def _value_steps(matrix: IntegerMatrix, bias: Tensor | None, shape: Shape) -> Tensor:
    """What a whole number of each head's values stands for, a power of two, float32, (key heads, 1).

    A value is the product of a row of weights and a state of root mean square 1, so its standard deviation
    is about the length of the row.
    """
    rows = slice(-shape.key_heads * shape.head_size, None)
    squares = matrix.integers[rows].double().square().sum(1)
    lengths = squares.sqrt().mul_(matrix.scales[rows].double())
    reach = lengths.mul_(VALUE_DEVIATIONS)
    if bias is not None:
        reach.add_(bias[rows].double().abs())
    peaks = reach.view(shape.key_heads, -1).amax(1, keepdim=True).clamp_(min=1e-30)
    return torch.exp2(torch.ceil(torch.log2(peaks / VALUE_TOP))).float()
