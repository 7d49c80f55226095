"""Records of preregistrations, as they lie in their folder: whole, in order, and none of them missing.

A record holds its own digest, and the digests of all records before it. So a record that was edited is
refused, and one that was deleted is noticed while a later one is there. Both can be forged by who
computes the digests anew: only a copy that somebody else dated shows that.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.provenance import full_digest

FORMAT = "fieldwork-preregistration-2"
PLAIN_FORMAT = "fieldwork-preregistration-1"
"""That of earlier versions, without hashes and digests."""

Record = dict[str, Any]


class RecordName(NamedTuple):
    """What identifies a record, as later ones name it."""

    time: str
    digest: str


def read_records(paths: Iterable[str | Path]) -> list[Record]:
    """The records in some files, the oldest first; a copy of one that is there counts once.

    Raises:
        StudyError: a file is no record, or was edited.
    """
    records = {record_digest(record): record for record in map(read_record, paths)}
    return sorted(records.values(), key=lambda record: (record["time"], len(_names_in(record))))


def read_record(path: str | Path) -> Record:
    """A record.

    Raises:
        StudyError: the file is no record, or was edited.
    """
    try:
        record: Record = json.loads(Path(path).read_text(encoding="utf-8"))
        is_record = record["format"] in (FORMAT, PLAIN_FORMAT)
    except (ValueError, KeyError, TypeError):
        is_record = False
    if not is_record:
        raise StudyError(f"{path}: is no preregistration; move it out of the folder")
    if not has_digest(record) and record["format"] == PLAIN_FORMAT:
        return record
    if record.get("digest") != record_digest(record):
        raise StudyError(
            f"{path}: this preregistration was edited after it was written, as its content no longer has "
            f"its digest; put an unedited copy in its place, such as the one on OSF"
        )
    return record


def has_digest(record: Mapping[str, Any]) -> bool:
    """Whether a record holds a digest and hashes: those of earlier versions do not."""
    return "digest" in record


def record_digest(record: Mapping[str, Any]) -> str:
    """sha256 of all that a record says but its own digest."""
    return full_digest({key: value for key, value in record.items() if key != "digest"})


def times_of_equals(content: Mapping[str, Any], records: Iterable[Record]) -> list[str]:
    """When a study was registered with the very settings, questions, files and code of a new record."""
    return [
        record["time"]
        for record in records
        if all(record.get(key) == content[key] for key in ("config_digest", "hashes"))
    ]


def complete_record(record: Mapping[str, Any], records: Sequence[Record]) -> Record:
    """A new record with the names of all before it, missing ones included, and with its digest."""
    names = sorted({*_present_names(records), *missing_records(records)})
    content = {**record, "earlier": [name._asdict() for name in names]}
    return {**content, "digest": record_digest(content)}


def missing_records(records: Sequence[Record]) -> list[RecordName]:
    """The records that later ones name and that are not among them, the oldest first."""
    digests = {name.digest for name in _present_names(records)}
    names = {name for record in records for name in _names_in(record)}
    return sorted(name for name in names if name.digest not in digests)


def _present_names(records: Iterable[Record]) -> list[RecordName]:
    return [RecordName(record["time"], record_digest(record)) for record in records]


def _names_in(record: Mapping[str, Any]) -> list[RecordName]:
    return [RecordName(**name) for name in record.get("earlier", ())]


def write_record(folder: str, record: Mapping[str, Any], page: str) -> Path:
    """Write a record and a page about it beside each other; return the path of the record."""
    name = f"{record['time'][:19].replace(':', '')}_{record['digest'][:16]}.json"
    path = Path(folder, name)
    tables.write_text(path, json.dumps(record, ensure_ascii=False, indent=1))
    tables.write_text(path.with_suffix(".md"), page)
    return path
