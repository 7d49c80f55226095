"""llama.cpp by xllamacpp, whose server gives texts and the likeliest tokens."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import measures
import numpy as np
import xllamacpp

# likeliest tokens that are asked for; the others count as impossible
TOKENS = 1000


class LlamaCpp:
    """The server inside this process, on the GGUF."""

    def __init__(self, job: dict[str, Any]) -> None:
        params = xllamacpp.CommonParams()
        params.model.path = job["gguf"]
        # else it keeps prompts of earlier calls, up to 8 GiB
        params.cache_ram_mib = 0
        params.n_ctx, params.n_parallel = 1024 * max(measures.ROWS), max(measures.ROWS)
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        self._vocabulary = job["vocabulary"]
        self._server = xllamacpp.Server(params)

    def _complete(self, ids: measures.Ids, n: int, slot: int, **changes: Any) -> dict[str, Any]:
        call = {"prompt": ids, "n_predict": n, "id_slot": slot, "temperature": 0.0}
        call |= {"ignore_eos": True, "cache_prompt": True, **changes}
        reply: dict[str, Any] = self._server.handle_completions(call)
        return reply

    def next_logits(self, ids: measures.Ids) -> measures.Logits:
        return self._logits(self._complete(ids, 1, 0, cache_prompt=False, logprobs=TOKENS))

    def _logits(self, reply: dict[str, Any]) -> measures.Logits:
        logits = np.full(self._vocabulary, -np.inf, dtype=np.float32)
        for entry in reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
            logits[entry["id"]] = entry["logprob"]
        return logits

    def answers(self, past: measures.Ids, rows: int, width: int) -> measures.Steps:
        ids = measures.forced_ids(rows, width).tolist()
        prompts = [past + row for row in ids]

        def written(n: int) -> measures.Logits:
            # but for its last token, a slot keeps its prompt after the first step
            options = {"logprobs": TOKENS} if n == 1 else {}
            replies = self._together(prompts, n, **options)
            return np.array([self._logits(r) for r in replies]) if n == 1 else np.empty((0, 0))

        def forced(n: int) -> measures.Logits:
            # a call whose prompt goes on after the one that its slot keeps reads what is new
            for _ in range(n):
                self._together(prompts, 1)
                for prompt, row in zip(prompts, ids, strict=True):
                    prompt += row
            return np.empty((0, 0))

        return forced if width > 1 else written

    def _together(self, prompts: list[measures.Ids], n: int, **options: Any) -> list[Any]:
        with ThreadPoolExecutor(len(prompts)) as threads:
            places = range(len(prompts))
            return list(threads.map(lambda i: self._complete(prompts[i], n, i, **options), places))


if __name__ == "__main__":
    measures.run(LlamaCpp)
