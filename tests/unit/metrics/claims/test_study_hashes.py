"""The hashes of a study follow its questions, files and code, and nothing else."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from fieldwork.metrics.claims.study_hashes import read_hashes, study_hashes
from fieldwork.records.tasks import Item

ITEM = Item("q1", "choice", "Which?", "Which? (A) x (B) y", ["x", "y"], "A", None, "mine: row 1")


def question_hash(*items: Item) -> str | None:
    return study_hashes({"probe": items}, {}, {}, {})["questions"]["probe"]


def file_hash(*paths: Path) -> str | None:
    return study_hashes({}, {"s": [str(path) for path in paths]}, {}, {})["files"]["s"]


def test_questions_are_hashed_with_their_right_answers_in_order() -> None:
    other = replace(ITEM, gold="B")
    others = [(other,), (replace(ITEM, choices=["y", "x"]),), (ITEM, other), (other, ITEM), ()]
    hashes = [question_hash(*items) for items in ((ITEM,), *others)]
    assert len({*hashes}) == len(hashes)
    assert question_hash(replace(ITEM)) == hashes[0]


def test_one_file_has_the_hash_that_sha256sum_prints(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"one")
    second.write_bytes(b"two")
    both = file_hash(first, second)
    assert file_hash(first) == hashlib.sha256(b"one").hexdigest() != both
    second.write_bytes(b"three")
    assert file_hash(first, second) != both
    assert file_hash() is None


def test_a_download_is_hashed_by_what_pins_it(tmp_path: Path) -> None:
    pins = {"repo": "a/b", "revision": "0" * 40, "files": ["x"]}
    hashes, other = (
        study_hashes({}, {}, {"corpora.c": one}, {"parsing": "v1"})
        for one in (pins, pins | {"revision": "1" * 40})
    )
    assert hashes["files"]["corpora.c"] != other["files"]["corpora.c"]
    assert hashes["code"] == {"parsing": "v1"}
    (tmp_path / "h.json").write_text(json.dumps(hashes), encoding="utf-8")
    assert read_hashes(tmp_path / "h.json") == hashes
