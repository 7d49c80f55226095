"""Texts looked for in files of every kind, inside of what programs pack as well.

Owns how programs write a text (encodings, Unicode forms, the escapes of CSV, JSON, XML and addresses),
and what is looked into: the bytes of every file, Parquet files, DuckDB databases, the members of zip
files (Excel workbooks are such), gzip, bzip2 and xz, and files packed into HTML pages. Promises that a
file which cannot be looked into is named, never passed over.
"""

import base64
import bz2
import gzip
import html
import io
import json
import lzma
import os
import re
import shutil
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple
from urllib.parse import quote

from fieldwork import tables
from fieldwork.errors import StudyError, first_line

_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "cp1252")
# a border must be there to be seen, as files are read in blocks; the zero bytes are those of UTF-16
_WORD = rb"(?:(?<=[^0-9A-Za-z\x00])|(?<=[^0-9A-Za-z]\x00))%b(?=[^0-9A-Za-z\x00]|\x00[^0-9A-Za-z])"
_BORDERS = 8
"""Bytes around a text that decide whether something touches it."""
_BLOCK = 1 << 24
_HEAD = 16
_DEEPEST = 8
_BASE64 = re.compile(rb"base64,([A-Za-z0-9+/]{4,}={0,2})")
_DATABASE = "searched"
_MADE_OF_NUMBERS = re.compile(r"(FLOAT|DOUBLE)(\[\d*\])+")
"""Vectors: all of their text is digits, and there are millions."""

DAMAGE = "is damaged, open in another program, or locked with a password"
_OPAQUE = {
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive",
    b"Rar!": "is a RAR archive",
    b"\x28\xb5\x2f\xfd": "is packed with Zstandard",
    b"\xd0\xcf\x11\xe0": "is a workbook with a password, or of Excel before 2007",
}
_DECOMPRESSORS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
_UNREADABLE: tuple[type[Exception], ...] = (
    OSError,
    EOFError,
    RuntimeError,  # zipfile's word for a password
    NotImplementedError,  # zipfile's word for a compression that it cannot read
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    *tables.DATABASE_ERRORS,
)


class Mark(NamedTuple):
    """A text to look for in any case, as a word only where no letter or digit may touch it."""

    text: str
    is_word: bool = False


class Matcher:
    """Looks for marks in bytes and texts."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        self.texts: set[str] = set()
        self._patterns: dict[bytes, re.Pattern[bytes] | None] = {}
        for mark in marks:
            self.texts |= {form.lower() for form in _forms(mark.text)}
            for form in map(bytes.lower, _byte_forms(mark.text)):
                pattern = re.compile(_WORD % re.escape(form)) if mark.is_word else None
                self._patterns[form] = pattern
        self.n_bytes = max(map(len, self._patterns), default=0)
        """Length of the longest form."""

    def matches(self, block: bytes) -> bool:
        """Whether a mark stands in bytes of any encoding; their ends are not taken for borders."""
        lower_block = block.lower()
        return any(
            form in lower_block and (pattern is None or bool(pattern.search(lower_block)))
            for form, pattern in self._patterns.items()
        )

    def matches_text(self, text: str) -> bool:
        """Whether a mark stands in a text, such as a cell, whose ends are borders."""
        return self.matches(f"\n{text}\n".encode("utf-8", "replace"))


def _forms(text: str) -> Iterator[str]:
    """The text's Unicode forms: files of one operating system have the one, of another the other."""
    yield unicodedata.normalize("NFC", text)
    yield unicodedata.normalize("NFD", text)


def _byte_forms(text: str) -> Iterator[bytes]:
    """The bytes that programs write for a text."""
    for form in _forms(text):
        spellings = {
            form,
            form.replace('"', '""'),
            json.dumps(form)[1:-1],
            json.dumps(form, ensure_ascii=False)[1:-1],
            html.escape(form),
            html.escape(form, quote=False),
            quote(form, safe=""),
        }
        for spelling, encoding in product(spellings, _ENCODINGS):
            with suppress(UnicodeEncodeError):
                yield spelling.encode(encoding)


class Search(NamedTuple):
    """What a search came to.

    Attributes:
        holders: files that hold a mark.
        obstacles: files that could not be looked into, with what they are.
    """

    n_files: int
    holders: list[Path]
    obstacles: dict[Path, str]


class _OpaqueError(Exception):
    """A file of a kind that is not looked into."""


def search(files: Iterable[Path], matcher: Matcher) -> Search:
    """Read every file for marks, its path included."""
    holders: list[Path] = []
    obstacles: dict[Path, str] = {}
    n_files = 0
    with tables.open_database(threads=2) as database:
        reader = _FileReader(matcher, database)
        for path in files:
            try:
                with path.open("rb") as stream:
                    if matcher.matches_text(str(path)) or reader.holds(stream, path):
                        holders.append(path)
            except FileNotFoundError:
                continue  # a file that Snakemake needed for a moment
            except _OpaqueError as error:
                obstacles[path] = str(error)
            except PermissionError:
                obstacles[path] = "may not be read"
            except _UNREADABLE:
                # what a library says may quote the file
                obstacles[path] = DAMAGE
            n_files += 1
    return Search(n_files, holders, obstacles)


def files_beneath(folder: Path, exceptions: Collection[Path] = ()) -> Iterator[Path]:
    """The files below a folder, linked folders included; none where there is no such folder.

    Raises:
        StudyError: a folder may not be read.
    """
    real_paths: set[str] = set()
    for inner_folder, folders, names in os.walk(folder, followlinks=True, onerror=_refuse):
        real_path = os.path.realpath(inner_folder)
        if real_path in real_paths:
            folders.clear()
            continue
        real_paths.add(real_path)
        folders[:] = sorted(name for name in folders if Path(inner_folder, name) not in exceptions)
        paths = (Path(inner_folder, name) for name in sorted(names))
        yield from (path for path in paths if path not in exceptions and path.is_file())


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise StudyError(
            f"a folder cannot be searched ({first_line(error)}); give yourself the right to read "
            f"it, and enter the command again"
        ) from error


# ---- one file ------------------------------------------------------------------------------------


class _FileReader:
    """Reads files of every kind for marks, tables with one database for all of them."""

    def __init__(self, matcher: Matcher, database: Any) -> None:
        self._matcher, self._database = matcher, database

    def holds(self, stream: IO[bytes], path: Path | None = None, depth: int = 0) -> bool:
        """Whether a mark stands in a file, or in what is packed into it.

        Args:
            path: where it lies, if it is a file of its own.
            depth: how many packages it is inside of.
        """
        if depth > _DEEPEST:
            raise _OpaqueError("holds packages inside packages without end")
        head = stream.read(_HEAD)
        reasons = [description for magic, description in _OPAQUE.items() if head.startswith(magic)]
        if reasons:
            raise _OpaqueError(reasons[0])
        stream.seek(0)
        if self._in_blocks(stream):
            return True
        stream.seek(0)
        if head.startswith(b"PAR1") or head[8:12] == b"DUCK":
            read_values = self._parquet if head.startswith(b"PAR1") else self._tables
            with _file_on_disk(stream, path) as file:
                return any(map(self._matcher.matches_text, read_values(file)))
        return any(self.holds(inner, None, depth + 1) for inner in _inner_files(stream, head))

    def _in_blocks(self, stream: IO[bytes]) -> bool:
        overlap = self._matcher.n_bytes + _BORDERS
        # the ends of a file are borders, as those of a line are
        tail = b"\n"
        while block := stream.read(_BLOCK):
            window = tail + block
            if self._matcher.matches(window):
                return True
            tail = window[-overlap:]
        return self._matcher.matches(tail + b"\n")

    def _parquet(self, path: Path) -> Iterator[str]:
        yield from self._rows(f"read_parquet({_literal(path)}, hive_partitioning = false)")

    def _tables(self, path: Path) -> Iterator[str]:
        """The rows of a database's tables; views only show them again."""
        self._database.execute(f"ATTACH {_literal(path)} AS {_DATABASE} (READ_ONLY)")
        try:
            names = self._database.execute(
                "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ?",
                [_DATABASE],
            ).fetchall()
            for schema, table in names:
                yield from self._rows(f"{_DATABASE}.{_quoted_name(schema)}.{_quoted_name(table)}")
        finally:
            self._database.execute(f"DETACH {_DATABASE}")

    def _rows(self, source: str) -> Iterator[str]:
        """The rows that hold the letters of a mark, a cell a line."""
        kinds = self._database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        names = [
            _quoted_name(name) for name, kind, *_ in kinds if not _MADE_OF_NUMBERS.fullmatch(kind)
        ]
        texts = sorted(self._matcher.texts)
        if names and texts:
            cells = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
            condition = " OR ".join(["contains(lower(cells), ?)"] * len(texts))
            rows = self._database.execute(
                f"SELECT cells FROM (SELECT concat_ws(chr(10), {cells}) AS cells FROM {source}) "
                f"WHERE {condition}",
                texts,
            )
            while row := rows.fetchone():
                yield row[0]


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _file_on_disk(stream: IO[bytes], path: Path | None) -> Iterator[Path]:
    """A file that a database can open: the file itself, or a copy of what was packed."""
    if path is not None:
        yield path
        return
    with TemporaryDirectory(prefix="fieldwork-") as folder:
        copy = Path(folder) / "unpacked"
        with copy.open("wb") as handle:
            shutil.copyfileobj(stream, handle)
        yield copy


def _inner_files(stream: IO[bytes], head: bytes) -> Iterator[IO[bytes]]:
    """What a package holds, the names of its members too."""
    if head.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                yield io.BytesIO(f"\n{member.filename}\n".encode("utf-8", "replace"))
                if not member.is_dir():
                    with archive.open(member) as inner:
                        yield inner
    elif magic := next(filter(head.startswith, _DECOMPRESSORS), None):
        with _DECOMPRESSORS[magic](stream) as inner:
            yield inner
    elif head.lstrip().startswith(b"<"):
        for part in _BASE64.finditer(stream.read()):
            yield io.BytesIO(base64.b64decode(part[1][: len(part[1]) // 4 * 4]))
