"""Fieldwork's own pass. Answers follow one context, which is read once and kept once."""

from pathlib import Path
from typing import Any

import measures
import torch

from fieldwork.generation.chat.attention import Segment
from fieldwork.generation.chat.passes import TOKENS_AT_ONCE
from fieldwork.generation.chat.transformer import Transformer


class Fieldwork:
    """The transformer, asked as `passes` asks it."""

    def __init__(self, job: dict[str, Any]) -> None:
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        self._model = Transformer(Path(job["packed"]), "cpu")
        self._nothing = self._model.new_context(0)

    def next_logits(self, ids: measures.Ids) -> measures.Logits:
        slots = self._model.slots.take(len(ids))
        states = None
        for start in range(0, len(ids), TOKENS_AT_ONCE):
            span = slice(start, start + TOKENS_AT_ONCE)
            segment = Segment(ids[span], self._nothing, 0, slots[:start], slots[span])
            states = self._model.read([segment])
        self._model.slots.give_back(slots)
        assert states is not None
        last = states._replace(integers=states.integers[-1:], scale=states.scale[-1:])
        return self._model.logits(last, None)[0].numpy()

    def answers(self, past: measures.Ids, rows: int, width: int) -> measures.Steps:
        slots = self._model.slots.take(len(past))
        self._model.read([Segment(past, self._nothing, 0, (), slots)])
        context = self._model.new_context(len(past))
        context.copy(0, self._model.slots.room, slots)
        ids = measures.forced_ids(rows, width).tolist()
        own: list[list[int]] = [[] for _ in ids]

        def steps(n: int) -> measures.Logits:
            logits = torch.empty(0)
            for _ in range(n):
                segments = []
                for row, mine in zip(ids, own, strict=True):
                    new = self._model.slots.take(width)
                    segments.append(Segment(row, context, len(past), tuple(mine), new))
                    mine += new
                states = self._model.read(segments)
                last = slice(width - 1, None, width)
                states = states._replace(integers=states.integers[last], scale=states.scale[last])
                logits = self._model.logits(states, None)
            return logits.numpy()

        return steps


if __name__ == "__main__":
    measures.run(Fieldwork)
