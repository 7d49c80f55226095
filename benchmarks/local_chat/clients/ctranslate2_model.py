"""CTranslate2 in int8. It keeps the state of one prompt."""

import json
from pathlib import Path
from typing import Any

import ctranslate2
import measures
import numpy as np


class CTranslate2:
    """Its generator, by tokens as text."""

    def __init__(self, job: dict[str, Any]) -> None:
        folder = Path(job["ctranslate2"])
        self._model = ctranslate2.Generator(
            str(folder), device="cpu", compute_type="int8", inter_threads=1, intra_threads=1
        )
        self._tokens = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))

    def _texts(self, ids: measures.Ids) -> list[str]:
        return [self._tokens[i] for i in ids]

    def next_logits(self, ids: measures.Ids) -> measures.Logits:
        results = self._model.generate_batch(
            [self._texts(ids)],
            max_length=1,
            include_prompt_in_result=False,
            return_logits_vocab=True,
        )
        return np.array(results[0].logits[0])[0]

    def answers(self, past: measures.Ids, rows: int, width: int) -> measures.Steps:
        starts = [self._texts(row) for row in measures.forced_ids(rows, width).tolist()]
        prompt = self._texts(past)

        def steps(n: int) -> measures.Logits:
            results = self._model.generate_batch(
                starts,
                max_length=n,
                min_length=n,
                static_prompt=prompt,
                include_prompt_in_result=False,
                return_logits_vocab=n == 1,
            )
            return np.array([np.array(one.logits[0])[0] for one in results if one.logits])

        def forced(n: int) -> measures.Logits:
            # always after the same prompt, as it keeps no other
            for _ in range(n):
                steps(1)
            return np.empty((0, 0))

        return forced if width > 1 else steps


if __name__ == "__main__":
    measures.run(CTranslate2)
