"""The record of deletions: what was deleted when, under pseudonyms, and never an id.

A line is written before its file is touched, so that a crash loses none, and gets the time of the
search that found nothing left. `import_field` reads it: rows that come back are refused.
"""

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.field.raw_answers import Membership, RawAnswer, RawField
from fieldwork.files import texts
from fieldwork.files.cells import plain_cell
from fieldwork.privacy import pseudonym

Action = Literal["rows deleted", "file deleted", "results deleted", "deleted"]
"""What happens to a file of answers, to one that holds nobody else, to a study's folder, to another file.
The last is not recorded."""


class Deletion(NamedTuple):
    """A line of the record.

    Attributes:
        participant: pseudonym.
        place: the file, or the folder of a study.
        action: what was deleted of it.
        number: of rows, or of files in a folder.
        deleted_at: when this began, UTC.
        searched_at: when a search found nothing left of the participant; empty until then.
    """

    participant: str
    place: str
    action: str
    number: int
    deleted_at: str
    searched_at: str = ""

    def is_open(self) -> bool:
        """Whether no search has said yet that the deletion is whole."""
        return not self.searched_at


def read_record(path: Path) -> list[Deletion]:
    """The lines so far; none where there is no file.

    Raises:
        StudyError: the file cannot be read as this record.
    """
    if not path.exists():
        return []
    try:
        rows = csv.DictReader(io.StringIO(texts.read_text(path), newline=""))
        names = [name for name in Deletion._fields if name != "number"]
        return [
            Deletion(number=int(row["number"]), **{name: plain_cell(row[name]) for name in names})
            for row in rows
        ]
    except (TypeError, ValueError, KeyError, csv.Error) as error:
        raise StudyError(
            f"{path}: is not the record of deletions that `snakemake forget` writes; put back the file "
            f"that was there, or move it away if nobody was ever forgotten"
        ) from error


def write_record(path: Path, lines: Sequence[Deletion]) -> None:
    tables.write_csv_tuples(path, Deletion._fields, lines)


def with_new_lines(lines: Sequence[Deletion], new_lines: Iterable[Deletion]) -> list[Deletion]:
    """The lines and new ones, but those that a run which did not end has written already."""
    open_deletions = {line[:3] for line in lines if line.is_open()}
    return [*lines, *(line for line in new_lines if line[:3] not in open_deletions)]


def with_search_time(lines: Sequence[Deletion], participants: Collection[str]) -> list[Deletion]:
    """The lines, with the time of the search in those of some participants.

    So is it in what the same runs wrote under a key that went with its study: a run has one time.
    """
    runs = {li.deleted_at for li in lines if li.is_open() and li.participant in participants}
    return [
        line._replace(searched_at=time_text())
        if line.is_open() and line.deleted_at in runs
        else line
        for line in lines
    ]


def time_text() -> str:
    """The time, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_by_pseudonym(lines: Iterable[Deletion]) -> Mapping[str, str]:
    """The pseudonyms of those who were forgotten, each with the day."""
    return {line.participant: line.deleted_at[:10] for line in lines}


def refuse_return(raw: RawField, key: bytes, records: Sequence[str]) -> None:
    """Refuse answers of a participant who was forgotten: a download or a backup has brought them back.

    Raises:
        StudyError: naming the file, the row and the day.
    """
    lines = [line for record in records for line in read_record(Path(record))]
    days = day_by_pseudonym(lines)
    rows: list[RawAnswer | Membership] = [*raw.answers, *raw.members] if days else []
    for row in rows:
        day = days.get(pseudonym(row.participant, key))
        if day is not None:
            raise StudyError(
                f"{row.path}: row {row.row} belongs to a participant who was deleted on {day} "
                f"({records[0]}), so a download or a backup has brought it back; `snakemake forget` "
                f"with this study's --configfile deletes it again"
            )
