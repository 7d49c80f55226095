"""How fast each setting encodes real conversations, and how near its search is to fp32's.

Writes measures, and the vectors that `first_stage.py` goes on from.
"""

import json
import random
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import texts

from fieldwork.encoder import Encoder, EncoderSettings, Precision

SAMPLE = 300
BATCHES = (1, 8, 32)
PRECISIONS: tuple[Precision, ...] = ("fp32", "bf16")


def main() -> None:
    """Rates of a sample, then recall over all."""
    job = json.loads(sys.argv[1])
    folder, threads = Path(job["folder"]), job["threads"]
    found = texts.conversations()
    questions = texts.prompts() + texts.questions()
    sample = random.Random(2509).sample(found, SAMPLE)
    measures: dict[str, float] = {}
    for precision in PRECISIONS:
        for batch in BATCHES:
            settings = EncoderSettings(precision=precision, batch_size=batch, threads=threads)
            encoder = Encoder(settings, folder / f"{precision}-{batch}.sqlite")
            encoder.encode(["warm"])
            begun = time.perf_counter()
            encoder.encode(sample)
            measures[f"{precision} {batch}"] = SAMPLE / (time.perf_counter() - begun)
    vectors, asked = {}, {}
    for precision in PRECISIONS:
        settings = EncoderSettings(precision=precision, batch_size=8, threads=threads)
        encoder = Encoder(settings, folder / f"{precision}-8.sqlite")
        vectors[precision], asked[precision] = encoder.encode(found), encoder.encode(questions)
    exact, near = (_top(asked[p] @ vectors[p].T, job["k"]) for p in PRECISIONS)
    same = [len(set(a) & set(b)) / job["k"] for a, b in zip(exact, near, strict=True)]
    measures["bf16 recall, prompts"] = float(np.mean(same[: texts.N_PROMPTS]))
    measures["bf16 recall, MMLU"] = float(np.mean(same[texts.N_PROMPTS :]))
    np.savez(folder / "encoded.npz", vectors=vectors["fp32"], asked=asked["fp32"])
    result = {"measures": measures, "n": len(found)}
    Path(job["result"]).write_text(json.dumps(result), encoding="utf-8")


def _top(scores: np.ndarray, k: int) -> list[list[int]]:
    return np.argsort(-scores, axis=1, kind="stable")[:, :k].tolist()


if __name__ == "__main__":
    main()
