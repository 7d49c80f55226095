"""The sample study's data and the task resources hold what their README promises."""

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
SAMPLE = RESOURCES / "sample"
TASKS = RESOURCES / "tasks"
SUBJECTS = ("astronomy", "cooking", "geography", "grammar", "medicine", "statistics")
ITEM_IDS = {
    *("haircuts", "movies", "restaurants", "companies", "majors"),
    *("books", "hobbies", "destinations", "careers"),
}
TEXT_FILES = [
    "attributes.csv",
    "personas.jsonl",
    "profile_sentences.csv",
    "ethics.csv",
    *(f"mmlu/{split}/sample_{s}_{split}.csv" for s in SUBJECTS for split in ("dev", "test")),
]

Row = dict[str, Any]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def passes_filters(row: Row) -> bool:
    clean = row["language"] == "English" and not row["toxic"] and not row["redacted"]
    texts = [m["content"] for m in row["conversation"] if m["role"] == "user"]
    return clean and len(texts) >= 5 and all(texts)


def test_files_are_what_the_generator_writes(tmp_path: Path) -> None:
    script = [sys.executable, "-B", str(SAMPLE / "make_sample.py"), "--out", str(tmp_path)]
    subprocess.run(script, check=True, capture_output=True, timeout=60)
    for name in TEXT_FILES:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name
    new, old = (folder / "conversations.parquet" for folder in (tmp_path, SAMPLE))
    if pq.ParquetFile(new).metadata.created_by == pq.ParquetFile(old).metadata.created_by:
        assert new.read_bytes() == old.read_bytes()
    assert pq.read_table(new).equals(pq.read_table(old))


def test_enough_conversations_pass_the_filters() -> None:
    conversations = pq.read_table(SAMPLE / "conversations.parquet").to_pylist()
    assert len(conversations) >= 480
    assert len({row["hashed_ip"] for row in conversations}) == 64
    passing = Counter(row["hashed_ip"] for row in conversations if passes_filters(row))
    assert passing.total() >= 200
    assert sum(count >= 2 for count in passing.values()) >= 52


def test_candidates_are_forty_an_item() -> None:
    rows = read_csv(TASKS / "candidates.csv")
    assert list(rows[0]) == ["item_id", "candidate"]
    assert Counter(row["item_id"] for row in rows) == dict.fromkeys(ITEM_IDS, 40)
    pairs = {(row["item_id"], row["candidate"].casefold()) for row in rows}
    assert len(pairs) == len(rows)


def test_aliases_lead_to_candidates_and_not_in_circles() -> None:
    rows = read_csv(TASKS / "aliases.csv")
    assert list(rows[0]) == ["task", "item_id", "written", "canonical"]
    assert 60 <= len(rows) <= 120
    assert {row["task"] for row in rows} == {"recommendations"}
    written = [(row["item_id"], row["written"].casefold()) for row in rows]
    assert len(set(written)) == len(written)
    candidates = {(r["item_id"], r["candidate"]) for r in read_csv(TASKS / "candidates.csv")}
    assert {(row["item_id"], row["canonical"]) for row in rows} <= candidates
    assert not set(written) & {(item, name.casefold()) for item, name in candidates}
