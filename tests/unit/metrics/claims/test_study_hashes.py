"""The hashes of a study follow its questions, files and code, and nothing else."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from fieldwork.metrics.claims.study_hashes import read_hashes, study_hashes
from fieldwork.records.tasks import Item

ITEM = Item("q1", "choice", "Which?", "Which? (A) x (B) y", ["x", "y"], "A", None, "mine: row 1")


def question_hash(*items: Item) -> str | None:
    return study_hashes({"probe": items}, {}, {}, {})["questions"]["probe"]


def file_hash(*paths: Path) -> str | None:
    return study_hashes({}, {"s": [str(path) for path in paths]}, {}, {})["files"]["s"]


def test_questions_are_hashed_with_their_right_answers() -> None:
    changes: list[dict[str, Any]] = [{"gold": "B"}, {"prompt": "?"}, {"choices": ["y", "x"]}]
    others = [replace(ITEM, **change) for change in changes]
    hashes = [question_hash(one) for one in (ITEM, *others)]
    hashes += [question_hash(ITEM, others[0]), question_hash(others[0], ITEM), question_hash()]
    assert len({*hashes}) == len(hashes)
    assert question_hash(replace(ITEM)) == question_hash(ITEM)
    assert len(str(question_hash(ITEM))) == 64


def test_one_file_has_the_hash_that_sha256sum_prints(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "b").write_bytes(b"two")
    assert file_hash(tmp_path / "a") == hashlib.sha256(b"one").hexdigest()
    both = file_hash(tmp_path / "a", tmp_path / "b")
    assert both not in (file_hash(tmp_path / "a"), file_hash(tmp_path / "b"), None)
    (tmp_path / "b").write_bytes(b"three")
    assert file_hash(tmp_path / "a", tmp_path / "b") != both
    assert file_hash() is None


def test_a_download_is_hashed_by_what_pins_it(tmp_path: Path) -> None:
    pins = {"repo": "a/b", "revision": "0" * 40, "files": ["x"]}
    hashes = [
        study_hashes({}, {}, {"corpora.c": one}, {"parsing": "v1"})
        for one in (pins, pins | {"revision": "1" * 40})
    ]
    assert hashes[0]["files"]["corpora.c"] != hashes[1]["files"]["corpora.c"]
    assert hashes[0]["code"] == {"parsing": "v1"}
    (tmp_path / "h.json").write_text(json.dumps(hashes[0]), encoding="utf-8")
    assert read_hashes(tmp_path / "h.json") == hashes[0]
