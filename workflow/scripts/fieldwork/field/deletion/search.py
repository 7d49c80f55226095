"""The proof: every file below some folders is read for marks, inside of what programs pack as well.

Owns what is looked into: the bytes of every file, the columns of Parquet files and DuckDB databases, the
members of zip files (Excel workbooks are such), gzip, bzip2 and xz, and files packed into HTML pages.
Promises that a file which cannot be looked into is named, never passed over.
"""

import base64
import bz2
import gzip
import io
import lzma
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

from fieldwork import tables
from fieldwork.errors import StudyError, first_line
from fieldwork.field.deletion.marks import Matcher

_BLOCK = 1 << 24
_HEAD = 16
_DEEPEST = 8
_BORDERS = 8
"""Bytes around a form that decide whether something touches it."""
_BASE64 = re.compile(rb"base64,([A-Za-z0-9+/]{4,}={0,2})")
_DATABASE_NAME = "searched"
_COLUMNS = f"""
SELECT schema_name, table_name, list((column_name, data_type)) FROM duckdb_columns()
WHERE database_name = '{_DATABASE_NAME}' AND table_oid IN
    (SELECT table_oid FROM duckdb_tables() WHERE database_name = '{_DATABASE_NAME}')
GROUP BY ALL"""
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
    NotImplementedError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    *tables.DATABASE_ERRORS,
)


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
            f"it, and run `snakemake forget` again"
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
            with _file_on_disk(stream, path) as file_path:
                values = self._parquet if head.startswith(b"PAR1") else self._tables
                return any(self._matcher.matches_text(value) for value in values(file_path))
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
        source = f"read_parquet({_literal(path)}, hive_partitioning = false)"
        columns = self._database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        yield from self._values(source, [(name, kind) for name, kind, *_ in columns])

    def _tables(self, path: Path) -> Iterator[str]:
        """The values of a database's tables; views only show them again."""
        self._database.execute(f"ATTACH {_literal(path)} AS {_DATABASE_NAME} (READ_ONLY)")
        try:
            columns = self._database.execute(_COLUMNS).fetchall()
            for schema, table, pairs in columns:
                source = f"{_DATABASE_NAME}.{_quoted_name(schema)}.{_quoted_name(table)}"
                yield from self._values(source, pairs)
        finally:
            self._database.execute(f"DETACH {_DATABASE_NAME}")

    def _values(self, source: str, columns: Iterable[tuple[str, str]]) -> Iterator[str]:
        """The values that hold the letters of a mark, as text."""
        texts = sorted(self._matcher.texts)
        for name, kind in columns:
            if texts and not _MADE_OF_NUMBERS.fullmatch(kind):
                value = f"CAST({_quoted_name(name)} AS VARCHAR)"
                condition = " OR ".join([f"contains(lower({value}), ?)"] * len(texts))
                query = f"SELECT {value} FROM {source} WHERE {condition}"
                rows = self._database.execute(query, texts)
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


# ---- packages ------------------------------------------------------------------------------------


def _inner_files(stream: IO[bytes], head: bytes) -> Iterator[IO[bytes]]:
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
