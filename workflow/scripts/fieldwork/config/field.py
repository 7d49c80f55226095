"""The setting `field`, checked: what a schema cannot say of a column map, and which files it names.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fieldwork.config.archived import is_left_out
from fieldwork.errors import StudyError

Config = dict[str, Any]

FORGET_FILE = "resources/field/forget.txt"
"""Ids of the participants who are to be forgotten, one a line; written by hand."""
DELETIONS_FILE = "resources/field/deletions.csv"
"""What `snakemake forget` deleted: no file of answers, whatever `field.path` is."""

READABLE = (".csv", ".tsv", ".xlsx", ".parquet")
"""Endings of the files that are read."""


def missing_answers(config: Config) -> Iterator[str]:
    """The sentence on a `field` whose files are not there."""
    try:
        field_files(config)
    except StudyError as error:
        yield str(error)


def field_files(config: Config) -> list[str]:
    """The files that field answers are read from, or the manifest of those to be fetched.

    Raises:
        StudyError: nothing is there, or nothing of a kind that is read.
    """
    field = config["field"]
    if field is None:
        return []
    if field["osf"] is not None:
        return [f"resources/downloads/osf/{field['osf']['node'].lower()}/manifest.json"]
    path = field["path"]
    is_folder = Path(path).is_dir()
    pattern = f"{glob.escape(path)}/**/*" if is_folder else path
    paths = sorted(glob.glob(pattern, recursive=True))
    # spreadsheet programs leave a lock beside an open file
    files = [f for f in paths if Path(f).is_file() and not _is_of_others(f)]
    files = [path] if not files and Path(path).is_file() else files
    if not files and is_left_out(config, path):
        return [path]
    if not files:
        raise StudyError(f"field.path: nothing at {path}; correct the path, or give osf")
    readable = [file for file in files if Path(file).suffix.lower() in READABLE]
    if readable:
        return readable
    names = ", ".join(Path(file).name for file in files[:5])
    raise StudyError(
        f"field.path: {path} holds nothing that is read ({names}); export the answers as "
        f"{', '.join(READABLE)}"
    )


def _is_of_others(file: str) -> bool:
    return (
        Path(file).name.startswith("~$") or Path(file).resolve() == Path(DELETIONS_FILE).resolve()
    )
