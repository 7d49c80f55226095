"""transformers, in fp32 or bf16."""

from typing import Any

import measures
import torch
from transformers import AutoModelForCausalLM, DynamicCache

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class TorchModel:
    """The folder by transformers' own classes."""

    def __init__(self, job: dict[str, Any]) -> None:
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        dtype = DTYPES[job["variant"]]
        self._model: Any = AutoModelForCausalLM.from_pretrained(job["folder"], dtype=dtype).eval()

    def next_logits(self, ids: measures.Ids) -> measures.Logits:
        logits = self._model(torch.tensor([ids]), use_cache=True, logits_to_keep=1).logits
        return logits[0, -1].float().numpy()

    def answers(self, past: measures.Ids, rows: int, width: int) -> measures.Steps:
        known = self._model(torch.tensor([past]), use_cache=True, logits_to_keep=1).past_key_values
        cache = DynamicCache()
        for place, layer in enumerate(known.layers):
            both = (values.repeat(rows, 1, 1, 1) for values in (layer.keys, layer.values))
            cache.update(*both, place)
        ids = torch.from_numpy(measures.forced_ids(rows, width))

        def steps(n: int) -> measures.Logits:
            logits = torch.empty(0)
            for _ in range(n):
                logits = self._model(
                    ids, past_key_values=cache, use_cache=True, logits_to_keep=1
                ).logits
            return logits[:, -1].float().numpy()

        return steps


if __name__ == "__main__":
    measures.run(TorchModel)
