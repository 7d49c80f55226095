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


def chain(n: int) -> list[Record]:
    """Records of so many days, each written while all before it were there, of an old version first."""
    records = [PLAIN]
    for day in range(1, n):
        records.append(complete_record(content(day), records))
    return records


def test_records_are_written_with_pages_and_read_in_order_and_a_copy_counts_once(
    tmp_path: Path,
) -> None:
    records = chain(3)
    path = write_record(str(tmp_path), records[1], "# Page")
    assert path.name == f"2026-03-01T093000_{records[1]['digest'][:16]}.json"
    assert path.with_suffix(".md").read_text(encoding="utf-8") == "# Page"
    # names of files say nothing: the copy of OSF may have any
    for name, record in zip("cba", records, strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    assert read_records(tmp_path.glob("*.json")) == records
    assert read_records([]) == []


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other"}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=r"a\.json: is no preregistration"):
        read_record(tmp_path / "a.json")


@pytest.mark.parametrize(
    "edit",
    [
        {"study": "t"},
        {"earlier": []},
        {"note": "more"},
        {"digest": "0" * 64},
        {"digest": None},
        {"format": PLAIN_FORMAT},
    ],
)
def test_an_edited_record_is_refused(tmp_path: Path, edit: dict[str, Any]) -> None:
    record = {k: v for k, v in (chain(2)[1] | edit).items() if v is not None}
    (tmp_path / "a.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(StudyError, match=r"\.json: this preregistration was edited after"):
        read_record(tmp_path / "a.json")


@pytest.mark.parametrize("deleted", [[0], [1], [0, 1], [0, 2]])
def test_a_deleted_record_is_noticed_while_a_later_one_is_there(deleted: list[int]) -> None:
    records = chain(4)
    left = [record for k, record in enumerate(records) if k not in deleted]
    names = [RecordName(records[k]["time"], record_digest(records[k])) for k in deleted]
    assert missing_records(left) == names
    assert missing_records(records) == []
    # and it stays noticed when one more is written
    assert missing_records([*left, complete_record(content(9), left)]) == names
    # an edited one whose digest was computed anew is another record
    forged = [complete_record({**content(9), "study": "t"}, []), *records[1:]]
    assert missing_records(forged) == [RecordName(PLAIN["time"], record_digest(PLAIN))]


def test_a_study_is_registered_again_once_something_changed() -> None:
    new = {"config_digest": "c", "hashes": {"code": {"parsing": "v"}}}
    assert times_of_equals(new, [{**new, "time": "2026-03-01"}]) == ["2026-03-01"]
    for changed in (
        {"config_digest": "d"},
        {"hashes": {"code": {"parsing": "w"}}},
        {**PLAIN, "hashes": {}},
    ):
        assert times_of_equals({**new, **changed}, [{**new, "time": "2026-03-01"}]) == []
