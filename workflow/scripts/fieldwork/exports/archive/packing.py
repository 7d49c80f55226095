"""Checksums of an archive, and its zip file: equal files give equal bytes."""

import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from fieldwork import tables
from fieldwork.exports.archive.contents import files_below
from fieldwork.provenance import file_digest

CHECKSUMS = "checksums.sha256"

_BLOCK = 1 << 20
# the first day that a zip file can name
_TIME = (1980, 1, 1, 0, 0, 0)
_COMPRESSED_ENDINGS = frozenset((".parquet", ".png", ".zip", ".sqlite"))
_UNIX = 3
_REGULAR_FILE = 0o100000


def write_checksums(folder: Path) -> None:
    """Write the sha256 of every file, as `sha256sum --check` reads it."""
    paths = [path for path in files_below(folder) if path != CHECKSUMS]
    lines = checksum_lines({path: file_digest(folder / path) for path in paths})
    tables.write_text(folder / CHECKSUMS, "".join(lines))


def checksum_lines(hashes: Mapping[str, str]) -> Iterable[str]:
    """Lines of hashes by path; a name with a line break or a backslash is escaped as there."""
    for path, digest in sorted(hashes.items()):
        name = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        mark = "\\" if name != path else ""
        yield f"{mark}{digest}  {name}\n"


def write_zip(path: Path, folder: Path) -> None:
    """Pack a folder under its name, file after file, with one time for all.

    Files and packages larger than 4 GB are written in the form that has room for them (Zip64).

    Raises:
        StudyError: the disk refuses the file.
    """
    with tables.atomic_path(path) as partial, zipfile.ZipFile(partial, "w") as package:
        for name in files_below(folder):
            file = folder / name
            entry = zipfile.ZipInfo(f"{folder.name}/{name}", _TIME)
            entry.compress_type = (
                zipfile.ZIP_STORED if file.suffix in _COMPRESSED_ENDINGS else zipfile.ZIP_DEFLATED
            )
            entry.create_system = _UNIX
            mode = 0o755 if os.access(file, os.X_OK) else 0o644
            entry.external_attr = (_REGULAR_FILE | mode) << 16
            entry.file_size = file.stat().st_size
            with file.open("rb") as source, package.open(entry, "w") as target:
                while block := source.read(_BLOCK):
                    target.write(block)
