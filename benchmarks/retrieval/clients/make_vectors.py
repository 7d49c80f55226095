"""Write tables of made-up unit vectors, in clusters as texts are, and the questions to ask of them."""

import json
import sys
from pathlib import Path

import numpy as np

from fieldwork.streams import KeyedBlock, write_blocks

DIMENSIONS = 384
N_CENTRES = 2_000
ROWS_PER_DRAW = 16_384
SPREAD = 1.0


def main() -> None:
    """Shards and questions, into a folder."""
    job = json.loads(sys.argv[1])
    folder, n, n_shards = Path(job["folder"]), job["rows"], job["shards"]
    rng = np.random.default_rng(2509)
    centres = rng.standard_normal((N_CENTRES, DIMENSIONS), np.float32)
    for shard in range(n_shards):
        size = n * (shard + 1) // n_shards - n * shard // n_shards
        path = folder / f"{shard:02d}.parquet"
        write_blocks(path, (_block(rng, centres, shard, at, size) for at in _starts(size)))
    np.save(folder / "questions.npy", _draw(rng, centres, job["questions"]))
    Path(job["result"]).write_text('{"measures": {}}', encoding="utf-8")


def _starts(size: int) -> range:
    return range(0, size, ROWS_PER_DRAW)


def _block(
    rng: np.random.Generator, centres: np.ndarray, shard: int, start: int, size: int
) -> KeyedBlock:
    n = min(ROWS_PER_DRAW, size - start)
    ids = [f"{shard:02d}-{row:026d}" for row in range(start, start + n)]
    return KeyedBlock(ids, ["0" * 64] * n, _draw(rng, centres, n))


def _draw(rng: np.random.Generator, centres: np.ndarray, n: int) -> np.ndarray:
    noise = rng.standard_normal((n, DIMENSIONS), np.float32)
    vectors = centres[rng.integers(0, len(centres), n)] + SPREAD * noise
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
