"""Records are whole, in order and complete, or it is said which is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.metrics.claims.registration_records import (
    FORMAT,
    PLAIN_FORMAT,
    Record,
    RecordName,
    complete_record,
    missing_records,
    read_record,
    read_records,
    record_digest,
    times_of_equals,
    write_record,
)

PLAIN: Record = {"format": PLAIN_FORMAT, "time": "2026-02-28T08:00:00+00:00", "study": "s"}


def content(day: int) -> Record:
    return {"format": FORMAT, "time": f"2026-03-0{day}T09:30:00+00:00", "study": "s", "é": 0.1}


def chain(n: int, first: Record | None = None) -> list[Record]:
    """Records of so many days, each written while all before it were there."""
    records = [first] if first else []
    for day in range(1, n + 1):
        records.append(complete_record(content(day), records))
    return records


def name_of(record: Record) -> RecordName:
    return RecordName(record["time"], record_digest(record))


def test_a_record_is_written_with_its_page_and_read_again(tmp_path: Path) -> None:
    (record,) = chain(1)
    path = write_record(str(tmp_path / "kept"), record, "# Page")
    assert path.name == f"2026-03-01T093000_{record['digest'][:16]}.json"
    assert path.with_suffix(".md").read_text(encoding="utf-8") == "# Page"
    assert read_record(path) == record


def test_records_are_read_in_order_and_a_copy_counts_once(tmp_path: Path) -> None:
    records = chain(3)
    # names of files say nothing: the copy of OSF may have any
    for name, record in zip("cba", records, strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "from_osf.json").write_text(json.dumps(records[0]), encoding="utf-8")
    assert read_records(tmp_path.glob("*.json")) == records
    assert read_records([]) == []


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "other"}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=r"a\.json: is no preregistration"):
        read_record(tmp_path / "a.json")


@pytest.mark.parametrize(
    "edit",
    [
        {"study": "t"},
        {"time": "2026-02-01T09:30:00+00:00"},
        {"earlier": []},
        {"note": "more"},
        {"digest": "0" * 64},
        {"format": PLAIN_FORMAT},
    ],
)
def test_an_edited_record_is_refused(tmp_path: Path, edit: dict[str, Any]) -> None:
    record = chain(2)[1]
    path = write_record(str(tmp_path), record, "")
    path.write_text(json.dumps(record | edit), encoding="utf-8")
    with pytest.raises(StudyError, match=r"\.json: this preregistration was edited after"):
        read_record(path)
    del record["digest"]
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(StudyError, match="was edited after"):
        read_record(path)


def test_a_record_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(json.dumps(PLAIN), encoding="utf-8")
    assert read_record(tmp_path / "old.json") == PLAIN


@pytest.mark.parametrize("deleted", [[0], [1], [0, 1], [0, 2]])
def test_a_deleted_record_is_noticed_while_a_later_one_is_there(deleted: list[int]) -> None:
    records = chain(4)
    left = [record for k, record in enumerate(records) if k not in deleted]
    assert missing_records(left) == [name_of(records[k]) for k in deleted]
    assert missing_records(records) == []
    # and it stays noticed when one more is written
    assert missing_records([*left, complete_record(content(9), left)]) == missing_records(left)


def test_a_study_is_registered_again_once_something_changed() -> None:
    new = {"config_digest": "c", "hashes": {"code": {"parsing": "v"}}}
    old = {**new, "time": "2026-03-01"}
    assert times_of_equals(new, [old]) == ["2026-03-01"]
    assert times_of_equals({**new, "config_digest": "d"}, [old]) == []
    assert times_of_equals({**new, "hashes": {"code": {"parsing": "w"}}}, [old]) == []
    assert times_of_equals(new, [{**PLAIN, "config_digest": "c"}]) == []
