"""What each token of a pass attends to: the context of its branch, and what stands before it there.

Scores are products of whole numbers. So are the sums of values, as their weights are whole numbers too.
All of them stay below 2**24, so that they are exact in fp32, in whatever order they are added.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fieldwork.generation.chat.exact import power_of_two_
from fieldwork.generation.chat.slots import KeysAndValues

# bits of an attention weight before all of them are made to add up to `TOTAL_WEIGHT`
WEIGHT_BITS = 16
# with the roundings of 8,192 weights their sum stays below 2**15; times `VALUE_TOP` that is below 2**24
TOTAL_WEIGHT = 28_672.0
# largest whole number of a value
VALUE_TOP = 511
# a difference of scores, in powers of two, below which an attention weight is 0
NOTHING = -24.0


class Segment(NamedTuple):
    """Tokens to read in one pass.

    Attributes:
        ids: the tokens.
        context: keys and values of the tokens that all branches after a context share.
        n_context: how many of these stand before the segment.
        earlier_slots: of the earlier tokens of its branch, behind the context.
        slots: where the keys and values of the tokens go.
    """

    ids: Sequence[int]
    context: KeysAndValues
    n_context: int
    earlier_slots: Sequence[int]
    slots: Sequence[int]


class SharedContext(NamedTuple):
    """Neighbouring rows of a pass whose segments follow the same tokens of one context."""

    start: int
    stop: int
    context: KeysAndValues
    n_context: int

    @property
    def span(self) -> slice:
        """The rows."""
        return slice(self.start, self.stop)


class Layout(NamedTuple):
    """Where the rows of a pass stand, and what each of them sees of its branch.

    Attributes:
        n_segments: segments of the pass.
        rows: rows of the pass by segment, filled up to the longest, flat.
        places: the place of each row among these.
        positions: of each row in its conversation.
        slots: slots of the new tokens.
        visible_slots: that a segment may see, filled up to the most, flat.
        mask: (segments, longest, most): 0 where a token sees a slot, else far below.
        contexts: rows with a context before their branch.
    """

    n_segments: int
    rows: Tensor
    places: Tensor
    positions: Tensor
    slots: Tensor
    visible_slots: Tensor
    mask: Tensor
    contexts: list[SharedContext]


class Queries(NamedTuple):
    """What the rows of a pass ask, in whole numbers; heads of a group share keys.

    Attributes:
        integers: (key heads, group, rows, head size).
        scales: (key heads, group, rows), so that scores are powers of two.
    """

    integers: Tensor
    scales: Tensor


def lay_out(segments: Sequence[Segment], device: str) -> Layout:
    """The layout of a pass; segments after one context stand together."""
    n_rows = sum(len(one.ids) for one in segments)
    longest = max(len(one.ids) for one in segments)
    n_visible = longest + max(len(one.earlier_slots) for one in segments)
    rows = torch.zeros(len(segments), longest, dtype=torch.int64)
    visible_slots = torch.zeros(len(segments), n_visible, dtype=torch.int64)
    mask = torch.full((len(segments), longest, n_visible), -math.inf)
    places, positions = (torch.empty(n_rows, dtype=torch.int64) for _ in range(2))
    row = 0
    for number, one in enumerate(segments):
        n, n_earlier = len(one.ids), len(one.earlier_slots)
        span = slice(row, row + n)
        rows[number, :n] = torch.arange(row, row + n)
        places[span] = torch.arange(number * longest, number * longest + n)
        positions[span] = torch.arange(n) + one.n_context + n_earlier
        visible_slots[number, : n_earlier + n] = torch.tensor([*one.earlier_slots, *one.slots])
        mask[number, :n, :n_earlier] = 0
        mask[number, :n, n_earlier : n_earlier + n].triu_(1)
        row += n
    # rows that only fill up see something, so that no score is lost in infinities
    mask[:, :, 0].masked_fill_(mask.amax(-1) < 0, 0)
    slots = torch.tensor([slot for one in segments for slot in one.slots], dtype=torch.int64)
    return Layout(
        len(segments),
        rows.flatten().to(device),
        places.to(device),
        positions.to(device),
        slots.to(device),
        visible_slots.flatten().to(device),
        mask.to(device),
        _shared_contexts(segments),
    )


def _shared_contexts(segments: Sequence[Segment]) -> list[SharedContext]:
    parts: list[SharedContext] = []
    row = 0
    for one in segments:
        stop = row + len(one.ids)
        last = parts[-1] if parts else None
        if last and last.context is one.context and last.n_context == one.n_context:
            parts[-1] = last._replace(stop=stop)
        else:
            parts.append(SharedContext(row, stop, one.context, one.n_context))
        row = stop
    return [part for part in parts if part.n_context]


def attend(queries: Queries, store: KeysAndValues, layer: int, layout: Layout) -> Tensor:
    """The values that each row attends to, float32, shaped like the queries.

    Args:
        store: keys and values of branches, those of the pass included.
    """
    branch = _branch_scores(queries, store, layer, layout)
    of_contexts = [_context_scores(queries, layer, part) for part in layout.contexts]
    peaks = _by_row(branch.amax(-1), layout)
    for scores, part in zip(of_contexts, layout.contexts, strict=True):
        peak = peaks[:, :, part.span]
        torch.maximum(peak, scores.amax(-1), out=peak)
    branch = _powers(branch.sub_(_by_segment(peaks, branch, layout)))
    totals = _by_row(branch.sum(-1, dtype=torch.float64), layout)
    for scores, part in zip(of_contexts, layout.contexts, strict=True):
        scores.copy_(_powers(scores.sub_(peaks[:, :, part.span, None])))
        totals[:, :, part.span] += scores.sum(-1, dtype=torch.float64)
    factors = totals.reciprocal_().mul_(TOTAL_WEIGHT).float()
    branch.mul_(_by_segment(factors, branch, layout)).round_()
    sums = _by_row(_branch_values(branch, store, layer, layout), layout)
    weights = _by_row(branch.sum(-1), layout)
    for scores, part in zip(of_contexts, layout.contexts, strict=True):
        scores.mul_(factors[:, :, part.span, None]).round_()
        values = part.context.values[layer, :, : part.n_context].float()
        partial_sums = sums[:, :, part.span]
        partial_sums += torch.bmm(scores.flatten(1, 2), values).view_as(partial_sums)
        weights[:, :, part.span] += scores.sum(-1)
    return sums.div_(weights[..., None])


def _branch_scores(queries: Queries, store: KeysAndValues, layer: int, layout: Layout) -> Tensor:
    """Scores of each segment's branch, (segments, key heads, group, longest, most)."""
    key_heads, group, _, size = queries.integers.shape
    n = layout.n_segments
    keys = store.keys[layer].index_select(1, layout.visible_slots).float()
    keys = keys.view(key_heads, n, -1, size).transpose(0, 1).flatten(0, 1)
    key_scales = store.key_scales[layer].index_select(1, layout.visible_slots)
    integers = queries.integers.index_select(2, layout.rows).view(key_heads, group, n, -1, size)
    integers = integers.permute(2, 0, 1, 3, 4).reshape(n * key_heads, -1, size)
    scores = torch.bmm(integers, keys.transpose(1, 2)).view(n, key_heads, group, -1, keys.shape[1])
    scores.mul_(key_scales.view(key_heads, n, 1, 1, -1).transpose(0, 1))
    return scores.mul_(_by_segment(queries.scales, scores, layout)).add_(layout.mask[:, None, None])


def _context_scores(queries: Queries, layer: int, part: SharedContext) -> Tensor:
    """Scores of the context of some rows, (key heads, group, rows, tokens)."""
    keys = part.context.keys[layer, :, : part.n_context].float()
    integers = queries.integers[:, :, part.span]
    scores = torch.bmm(integers.flatten(1, 2), keys.transpose(1, 2)).view(*integers.shape[:3], -1)
    scores.mul_(part.context.key_scales[layer, :, None, None, : part.n_context])
    return scores.mul_(queries.scales[:, :, part.span, None])


def _by_row(values: Tensor, layout: Layout) -> Tensor:
    """From (segments, key heads, group, longest, …) to (key heads, group, rows, …)."""
    return values.movedim(0, 2).flatten(2, 3).index_select(2, layout.places)


def _by_segment(values: Tensor, like: Tensor, layout: Layout) -> Tensor:
    """From (key heads, group, rows) to (segments, key heads, group, longest, 1)."""
    wide = values.index_select(2, layout.rows).view(*values.shape[:2], layout.n_segments, -1, 1)
    return wide.movedim(2, 0).expand(*like.shape[:-1], 1)


def _powers(differences: Tensor) -> Tensor:
    """Whole numbers of at most 2**WEIGHT_BITS for differences from the highest score."""
    return power_of_two_(differences.clamp_(min=NOTHING), WEIGHT_BITS).round_()


def _branch_values(weights: Tensor, store: KeysAndValues, layer: int, layout: Layout) -> Tensor:
    """The weighted sum of the values of each segment's branch, shaped like its scores."""
    n, key_heads, group, longest, n_visible = weights.shape
    values = store.values[layer].index_select(1, layout.visible_slots).float()
    values = values.view(key_heads, n, n_visible, -1).transpose(0, 1).flatten(0, 1)
    sums = torch.bmm(weights.view(n * key_heads, -1, n_visible), values)
    return sums.view(n, key_heads, group, longest, -1)
