"""Which of a corpus's files hold conversations, and whose: exports as they are downloaded, or unpacked.

An export is one person's: a .zip, a folder with conversations.json (in one part or several, among much
else), or any other file. Promises that a user's name is the shortest end of the path that tells the
exports apart, so that the exports may be moved together.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, NamedTuple

from fieldwork.errors import StudyError, first_line
from fieldwork.files import json_values, sheets
from fieldwork.files.sheets import Record

_LISTS = re.compile(r"conversations(-\d+)?\.json", re.IGNORECASE)
ZIP = ".zip"


class ConversationFile(NamedTuple):
    """A file that is read, or one in an archive; `export` is what the export it belongs to is called."""

    path: Path
    member: str | None
    export: str

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.path}: {self.member}" if self.member else str(self.path)


def conversation_files(files: Sequence[Path]) -> list[ConversationFile]:
    """The files that conversations are read from.

    Beside archives and lists of conversations of exports no other file counts, as exports hold many;
    without them all files do that can be read.

    Raises:
        StudyError: none of the files can be read, or an archive holds no conversations.
    """
    seen = [file for file in files if not file.name.startswith((".", "~$"))]
    exports = [f for f in seen if f.suffix.lower() == ZIP or _LISTS.fullmatch(f.name)]
    chosen = exports or [file for file in seen if sheets.is_readable(file)]
    if not chosen:
        raise StudyError(
            f"{files[0]}: is none of {', '.join(sheets.kinds())} or {ZIP} of an export; save the "
            f"conversations as one of these kinds"
        )
    names = dict(zip(chosen, _names([_export(file) for file in chosen]), strict=True))
    return [
        ConversationFile(file, member, names[file]) for file in chosen for member in _members(file)
    ]


def _export(file: Path) -> PurePath:
    return file.parent if _LISTS.fullmatch(file.name) else file


def _names(exports: Sequence[PurePath]) -> list[str]:
    """The shortest ends of paths that tell different paths apart."""
    distinct = set(exports)
    length = 1
    while len({_end(path, length) for path in distinct}) < len(distinct):
        length += 1
    return [_end(path, length) for path in exports]


def _end(path: PurePath, length: int) -> str:
    return "/".join(path.parts[-length:])


def _members(file: Path) -> list[str] | list[None]:
    if file.suffix.lower() != ZIP:
        return [None]
    try:
        with zipfile.ZipFile(file) as archive:
            names = [PurePosixPath(name) for name in sorted(archive.namelist())]
    except (OSError, zipfile.BadZipFile) as error:
        raise StudyError(
            f"{file}: not a readable archive ({first_line(error)}); download the export again"
        ) from error
    members = [str(n) for n in names if _LISTS.fullmatch(n.name) and "__MACOSX" not in n.parts]
    if not members:
        raise StudyError(
            f"{file}: holds no conversations.json, so it is not an export of ChatGPT; unpack it, and "
            f"give the files in it"
        )
    return members


def stream_records(file: ConversationFile) -> Iterator[Record]:
    """The rows of a file, as `sheets.stream_records` reads them."""
    if file.member is None:
        yield from sheets.stream_records(file.path)
        return
    for place, value in stream_json(file):
        if not isinstance(value, dict):
            raise StudyError(f"{file.name}: {place} is not an object; export the file again")
        yield Record(place, value)


def stream_json(file: ConversationFile) -> Iterator[json_values.JsonValue]:
    """The values of a JSON file."""
    if file.member is None:
        yield from json_values.stream_values(file.path)
        return
    try:
        with _opened(file) as raw:
            yield from json_values.values_in(raw, file.name)
    except (OSError, zipfile.BadZipFile, EOFError, RuntimeError) as error:
        # a password is a RuntimeError
        raise StudyError(f"{file.name}: cannot be read ({first_line(error)})") from error


@contextmanager
def _opened(file: ConversationFile) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(file.path) as archive, archive.open(str(file.member)) as raw:
        yield raw
