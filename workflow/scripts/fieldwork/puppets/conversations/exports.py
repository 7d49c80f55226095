"""Which of a corpus's files hold conversations, whose they are, and in which format.

An export belongs to one person: a .zip, a folder with conversations.json (in one part or several, among
other files), or any other file. Promises that a user's name is the shortest end of the path that
distinguishes the exports, so that all of them can be moved together.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from fieldwork import streams
from fieldwork.errors import StudyError, first_line
from fieldwork.files import json_values, sheets
from fieldwork.files.sheets import Record
from fieldwork.puppets.conversations.chatgpt import is_export

_LISTS = re.compile(r"conversations(-\d+)?\.json", re.IGNORECASE)
ZIP = ".zip"
MESSAGES, CHATGPT = "messages", "chatgpt"
CONVERTED_FORMATS = (MESSAGES, CHATGPT)
"""Formats that are converted before they are filtered; public corpora are read as they are."""

_PUBLIC = {
    "oasst2": {"message_id", "parent_id", "user_id", "text", "role", "message_tree_id"},
    "lmsys": {"conversation_id", "conversation.role", "conversation.content", "openai_moderation"},
    "wildchat": {"conversation_hash", "conversation.role", "conversation.content"},
}
_PARQUET = ".parquet"


class ConversationFile(NamedTuple):
    """A file, or a member of an archive, with the name of the export that it belongs to."""

    path: Path
    member: str | None
    export: str

    @property
    def name(self) -> str:
        return f"{self.path}: {self.member}" if self.member else str(self.path)


def conversation_files(files: Sequence[Path]) -> list[ConversationFile]:
    """The files that conversations are read from.

    Where there are archives or a conversations.json, no other file counts, because exports hold many
    other files. Otherwise all files of a readable kind count.

    Raises:
        StudyError: none of the files can be read, or an archive holds no conversations.
    """
    visible_files = [file for file in files if not file.name.startswith((".", "~$"))]
    exports = [f for f in visible_files if f.suffix.lower() == ZIP or _LISTS.fullmatch(f.name)]
    sources = exports or [file for file in visible_files if sheets.is_readable(file)]
    if not sources:
        raise StudyError(
            f"{files[0]}: this kind of file is not read; give the {ZIP} of an export, or save the "
            f"conversations as one of {', '.join(sheets.kinds())}"
        )
    owners = [file.parent if _LISTS.fullmatch(file.name) else file for file in sources]
    names = dict(zip(sources, _names(owners), strict=True))
    return [
        ConversationFile(file, member, names[file]) for file in sources for member in _members(file)
    ]


def _names(exports: Sequence[PurePath]) -> list[str]:
    """The shortest ends of the paths that still distinguish them."""
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
            f"{file}: the archive cannot be opened ({first_line(error)}); download the export again"
        ) from error
    members = [str(n) for n in names if _LISTS.fullmatch(n.name) and "__MACOSX" not in n.parts]
    if not members:
        raise StudyError(
            f"{file}: holds no conversations.json, so it is not an export of ChatGPT; unpack it, and set "
            f"the corpus's `path` to the files in it"
        )
    return members


def stream_records(file: ConversationFile) -> Iterator[Record]:
    """The rows of a file, as `sheets.stream_records` reads them."""
    if file.member is None:
        yield from sheets.stream_records(file.path)
        return
    for place, value in stream_json(file):
        if not isinstance(value, dict):
            raise StudyError(f"{file.name}: {place} is not a JSON object; export the file again")
        yield Record(place, value)


def stream_json(file: ConversationFile) -> Iterator[json_values.JsonValue]:
    if file.member is None:
        yield from json_values.stream_values(file.path)
        return
    try:
        with zipfile.ZipFile(file.path) as archive, archive.open(file.member) as raw:
            yield from json_values.values_in(raw, file.name)
    except (OSError, zipfile.BadZipFile, EOFError, RuntimeError) as error:
        # an archive with a password raises RuntimeError
        raise StudyError(
            f"{file.name}: cannot be read ({first_line(error)}); download the export again, or unpack it"
        ) from error


# ---- formats -------------------------------------------------------------------------------------


def public_format(files: Sequence[Path]) -> str | None:
    """The public corpus whose columns all files have; None where there is none.

    Raises:
        StudyError: a file whose name ends in .parquet is not Parquet.
    """
    if any(file.suffix.lower() != _PARQUET for file in files):
        return None
    columns = frozenset.intersection(*map(streams.column_names, files))
    return next((name for name, names in _PUBLIC.items() if names <= columns), None)


def own_file_format(files: Sequence[ConversationFile]) -> str:
    """`chatgpt` where the first entry of any JSON file is a tree of messages, else `messages`."""
    for file in files:
        if file.member is None and not sheets.is_json(file.path):
            continue
        for _, value in islice(stream_json(file), 1):
            if is_export(value):
                return CHATGPT
    return MESSAGES
