"""A corpus whose embedding is killed midway is taken up where it stopped."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from workflow.conftest import Checkout, copy_project

pytestmark = pytest.mark.workflow

STUDY = {
    "study": {"name": "killed", "conditions": ["rag"], "tasks": ["probe"]},
    # nearly all of the sample, so that there is time to be killed in
    "filters": {"min_user_turns": 1, "languages": [], "exclude_toxic": False},
    "embedding": {"shards": 1},
    "tasks": {"probe": {"runs": 3}},
    "metrics": {"baseline": "rag"},
}
TARGET = "results/killed/contexts/probe/rag.parquet"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return copy_project(tmp_path / "project", with_vectors=False)


def stores(checkout: Checkout) -> list[Path]:
    return sorted((checkout.root / "results/vectors/corpora").glob("*/[0-9][0-9].sqlite"))


def n_stored(checkout: Checkout) -> int:
    total = 0
    for path in stores(checkout):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as store:
            try:
                total += int(store.execute("SELECT count(*) FROM vectors").fetchone()[0])
            except sqlite3.OperationalError:  # the file is there before its table
                continue
    return total


def test_a_killed_embedding_computes_no_vector_twice(checkout: Checkout) -> None:
    arguments = (TARGET, "--configfile", str(checkout.study("killed", STUDY)))
    checkout.kill_once(lambda: n_stored(checkout) > 0, *arguments)
    before = n_stored(checkout)
    assert not (checkout.root / TARGET).exists()
    # vectors that no encoder gives: what is found in the shard again was not computed anew
    mark = np.zeros(384, np.float32)
    mark[0] = 1
    for path in stores(checkout):
        with closing(sqlite3.connect(path)) as store, store:
            store.execute("UPDATE vectors SET vector = ?", [mark.tobytes()])
    finished = checkout.snakemake(*arguments)
    assert finished.returncode == 0, finished.stderr[-3000:]
    (shard,) = (checkout.root / "results/killed/embeddings").glob("**/shards/*.parquet")
    vectors = pq.read_table(shard).column("vector").to_pylist()
    kept = sum(vector == mark.tobytes() for vector in vectors)
    assert 0 < before == kept < len(vectors)
