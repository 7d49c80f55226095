"""A corpus whose embedding is killed midway is taken up where it stopped, in the same precision."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workflow.conftest import Checkout, copy_project, from_yaml

pytestmark = pytest.mark.workflow

# vectors are stored 128 at a time: there is time to be killed in after the first
N_CONVERSATIONS = 136
STUDY = from_yaml("""
study: {name: killed, corpus: few, conditions: [rag], tasks: [probe]}
corpora: {few: {path: few.parquet, format: wildchat}}
filters: {min_user_turns: 1, languages: [], exclude_toxic: false}
embedding: {shards: 1}
tasks: {probe: {runs: 3}}
metrics: {baseline: rag}
""")
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
    sample = pq.read_table(checkout.root / "resources/sample/conversations.parquet")
    rows = sample.slice(0, N_CONVERSATIONS).to_pylist()
    for number, row in enumerate(rows):
        for turn in row["conversation"]:
            # short and not alike, as each is encoded
            turn["content"] = f"{number} {turn['content'][:80]}"
    pq.write_table(pa.Table.from_pylist(rows, sample.schema), checkout.root / "few.parquet")
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
    checkout.make(*arguments)
    (shard,) = (checkout.root / "results/killed/embeddings").glob("**/shards/*.parquet")
    vectors = pq.read_table(shard).column("vector").to_pylist()
    kept = sum(vector == mark.tobytes() for vector in vectors)
    assert 0 < before == kept < len(vectors)


# ---- the precision that the processor decides ----------------------------------------------------------

OPEN_STUDY = from_yaml("""
study: {name: open, corpus: mine, conditions: [rag], tasks: [probe]}
corpora:
  mine:
    path: resources/mine/conversations.jsonl
    filters: {min_user_turns: 1, languages: [], max_tokens: null}
filters: {exclude_toxic: false, exclude_redacted: false}
embedding: {precision: auto, shards: 2}
tasks: {probe: {runs: 3}}
metrics: {baseline: rag}
""")
OPEN_TARGET = "results/open/contexts/probe/rag.parquet"


def precisions_of_vectors(checkout: Checkout) -> list[set[str]]:
    """The precisions of the vectors of each shard, and of those of the questions."""
    vectors = checkout.root / "results/vectors"
    shards: list[set[str]] = [set(), set(), set()]
    for path in [*stores(checkout), vectors / "questions/probe/rag.sqlite"]:
        with closing(sqlite3.connect(path)) as store:
            names = {name for (name,) in store.execute("SELECT DISTINCT model FROM vectors")}
        shard = int(path.stem) % 2 if path.stem.isdigit() else 2
        shards[shard] |= {name.rpartition("/")[2] for name in names}
    return shards


def test_all_jobs_follow_what_was_measured_on_another_machine(tmp_path: Path) -> None:
    checkout = copy_project(tmp_path / "project", with_vectors=False)
    record = checkout.root / "resources/precision/open.json"
    entry = {"precision": "bf16", "reason": "it was faster", "processor": "one with bfloat16"}
    content = json.dumps({"all-MiniLM-L6-v2": entry | {"day": "2026-11-24"}})
    record.parent.mkdir()
    record.write_text(content)
    study = checkout.study("open", OPEN_STUDY)
    finished = checkout.make(OPEN_TARGET, study=study)
    # once, on the terminal
    assert finished.stderr.count("auto is bf16 in this study: it was faster (measured on one") == 1
    assert precisions_of_vectors(checkout) == [{"bf16"}] * 3
    (row,) = csv.DictReader((checkout.root / "results/open/encoder.csv").open())
    assert row == {"encoder": "all-MiniLM-L6-v2", **entry}
    assert record.read_text() == content
