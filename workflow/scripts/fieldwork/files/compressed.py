"""Files that may be compressed with gzip, opened as bytes."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from fieldwork.errors import StudyError, first_line


def open_bytes(path: Path) -> IO[bytes]:
    """A file to read from, decompressed where its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    return path.open("rb")


@contextmanager
def read_errors(path: Path) -> Iterator[None]:
    """Turn an error of the disk or of the compression into a StudyError."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise StudyError(
            f"{path}: cannot be read ({first_line(error)}); check that the file is complete and that you "
            f"may open it"
        ) from error
