"""Fieldwork's exact search, streaming tables from disk; with `held`, over blocks in memory."""

import json
import sys
import time
from pathlib import Path

import numpy as np

from fieldwork.puppets.retrieval import top_k
from fieldwork.streams import read_blocks


def main() -> None:
    """Search, and write what was found and how long it took."""
    job = json.loads(sys.argv[1])
    folder = Path(job["folder"])
    queries = np.load(folder / "questions.npy")
    begun = time.perf_counter()
    blocks = read_blocks(sorted(folder.glob("*.parquet")))
    if job["held"]:
        blocks = iter(list(blocks))
    read = time.perf_counter()
    found = top_k(queries, blocks, job["k"], job["threads"])
    done = time.perf_counter()
    result = {"total_s": done - begun}
    if job["held"]:
        result = {"search_s": done - read}
    Path(job["result"]).write_text(json.dumps({"measures": result, "found": found}))


if __name__ == "__main__":
    main()
