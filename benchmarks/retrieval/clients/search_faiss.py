"""faiss's exact search over the same tables: reading and adding them, and the search by itself."""

import json
import sys
import time
from pathlib import Path

import faiss
import numpy as np
import pyarrow.parquet as pq


def main() -> None:
    """Search, and write what was found and how long it took."""
    job = json.loads(sys.argv[1])
    folder = Path(job["folder"])
    queries = np.load(folder / "questions.npy")
    faiss.omp_set_num_threads(job["threads"])
    begun = time.perf_counter()
    index, ids = faiss.IndexFlatIP(queries.shape[1]), []
    for path in sorted(folder.glob("*.parquet")):
        source = pq.ParquetFile(path)
        for number in range(source.num_row_groups):
            table = source.read_row_group(number, ["conversation_id", "vector"]).combine_chunks()
            ids += table["conversation_id"].to_pylist()
            content = np.frombuffer(table["vector"].chunk(0).buffers()[2], np.float32)
            index.add(content.reshape(table.num_rows, -1))
    read = time.perf_counter()
    _, rows = index.search(queries, job["k"])
    done = time.perf_counter()
    found = [[ids[row] for row in each] for each in rows]
    result = {"search_s": done - read, "total_s": done - begun}
    Path(job["result"]).write_text(json.dumps({"measures": result, "found": found}))


if __name__ == "__main__":
    main()
