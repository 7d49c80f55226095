"""Answers of one study taken out of a ledger: those alone, as they were received, alike each time."""

from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.generation.answer_copies import copy_answers
from fieldwork.generation.ledger import open_ledger
from unit.generation.test_ledger import entry, read, stored


def test_the_answers_of_a_study_are_copied_and_no_others(tmp_path: Path) -> None:
    ledger, copy = tmp_path / "ledger/model.sqlite", tmp_path / "archive/model.sqlite"
    entries = [entry(name) for name in ("a", "b", "c")]
    stored(ledger, *entries)
    keys = [entries[0].key, entries[2].key, entry("never asked").key, entries[0].key]
    assert copy_answers(ledger, copy, keys) == 2
    assert [path.name for path in copy.parent.iterdir()] == ["model.sqlite"]
    assert read(copy, *(e.key for e in entries)) == {e.key: e for e in entries[::2]}
    with open_ledger(ledger) as whole:
        assert len(whole.keys()) == 3


def test_equal_answers_give_equal_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one.sqlite", tmp_path / "other.sqlite"
    entries = [entry(str(number)) for number in range(50)]
    stored(one, *entries)
    for chunk in reversed(entries):
        stored(other, chunk)
    keys = [e.key for e in entries]
    copy_answers(one, tmp_path / "a/m.sqlite", keys)
    copy_answers(other, tmp_path / "b/m.sqlite", keys[::-1])
    assert (tmp_path / "a/m.sqlite").read_bytes() == (tmp_path / "b/m.sqlite").read_bytes()


def test_answers_of_another_model_stay_in_quarantine(tmp_path: Path) -> None:
    path, wrong = tmp_path / "model.sqlite", entry("wrong")
    with open_ledger(path) as ledger:
        ledger.quarantine([wrong])
    assert copy_answers(path, tmp_path / "copy/model.sqlite", [wrong.key]) == 0


def test_a_file_that_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "model.sqlite").write_bytes(b"no database at all")
    with pytest.raises(StudyError, match="the ledger of answers"):
        copy_answers(tmp_path / "model.sqlite", tmp_path / "copy.sqlite", [])
