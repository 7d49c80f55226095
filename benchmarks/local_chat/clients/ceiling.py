"""What plain products reach on this machine, and where the time of Fieldwork's pass goes."""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from fieldwork.generation.chat import transformer
from fieldwork.generation.chat.attention import Segment
from fieldwork.generation.chat.passes import TOKENS_AT_ONCE
from fieldwork.generation.chat.transformer import Transformer

TURNS = 3
# parts of a pass that do not contain each other; what is left is additions, rotations and copies
PARTS = {"attend": "attention", "rounded_rows": "rounding rows", "swish_gate": "swish gate"}
PARTS |= {"_turn": "turning heads"}


def main() -> None:
    """Measure and write."""
    job = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    model = Transformer(Path(job["packed"]), "cpu")
    measures = products(model)
    ids = json.loads(Path(job["prompts"]).read_text(encoding="utf-8"))["prefill"]
    measures |= shares_of_pass(model, ids[:TOKENS_AT_ONCE])
    Path(job["result"]).write_text(json.dumps(measures), encoding="utf-8")


def products(model: Transformer) -> dict[str, float]:
    """Products at the shapes of the layers, each with a matrix of its own, as in a pass."""
    shape = model.shape
    heads = (shape.heads + 2 * shape.key_heads) * shape.head_size
    sizes = [(heads, shape.width), (shape.width, shape.heads * shape.head_size)]
    sizes += [(2 * shape.inner, shape.width), (shape.width, shape.inner)]
    n_weights = shape.layers * sum(rows * columns for rows, columns in sizes)
    measures = {"weights": float(n_weights)}
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
    for rows, columns in sizes * shape.layers:
        left = torch.randint(-127, 128, (TOKENS_AT_ONCE, columns), dtype=torch.int8)
        pairs.append((left, torch.randint(-64, 65, (rows, columns), dtype=torch.int8).t()))
    operations = 2 * n_weights * TOKENS_AT_ONCE
    measures["int8 gop/s"] = operations / 1e9 / _cpu_seconds(torch._int_mm, pairs)
    pairs = [(left.float(), right.t().float().t()) for left, right in pairs]
    measures["fp32 gop/s"] = operations / 1e9 / _cpu_seconds(torch.mm, pairs)
    return measures


def _cpu_seconds(
    product: Callable[..., Any], pairs: list[tuple[torch.Tensor, torch.Tensor]]
) -> float:
    for pair in pairs:
        product(*pair)
    begun = time.process_time()
    for _ in range(TURNS):
        for pair in pairs:
            product(*pair)
    return (time.process_time() - begun) / TURNS


def shares_of_pass(model: Transformer, ids: list[int]) -> dict[str, float]:
    """What share of a pass over one prompt each part takes."""
    seconds: Counter[str] = Counter()

    def timed(name: str, part: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*values: Any) -> Any:
            begun = time.process_time()
            result = part(*values)
            seconds[name] += time.process_time() - begun
            return result

        return measured

    for name, title in PARTS.items():
        setattr(transformer, name, timed(title, getattr(transformer, name)))
    model._product = timed("products with weights", model._product)
    segment = Segment(ids, model.new_context(0), 0, (), model.slots.take(len(ids)))
    model.read([segment])
    seconds.clear()
    begun = time.process_time()
    for _ in range(TURNS):
        model.read([segment])
    whole = time.process_time() - begun
    return {f"share, {name}": value / whole for name, value in seconds.items()}


if __name__ == "__main__":
    main()
