"""The list of files a download left behind, and reading it back."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.errors import StudyError

NAME = "manifest.json"


def write_manifest(
    path: Path,
    *,
    repo: str,
    revision: str,
    checksums: Iterable[tuple[Path, str]],
    details: Mapping[Path, Mapping[str, Any]] | None = None,
) -> None:
    """Write where files came from and their sha256, by their paths beneath the manifest's folder.

    Args:
        details: further entries of a file.
    """
    details_by_file = details or {}
    files = [
        {
            "path": file.relative_to(path.parent).as_posix(),
            "sha256": sha256,
            **details_by_file.get(file, {}),
        }
        for file, sha256 in sorted(checksums)
    ]
    content = {"repo": repo, "revision": revision, "files": files}
    tables.write_text(path, json.dumps(content, indent=1) + "\n")


def change_entry(path: Path, file: Path, changes: Mapping[str, Any] | None) -> None:
    """Enter what changed in a listed file after its download, or that it is there no more (None)."""
    name = file.relative_to(path.parent).as_posix()
    content = _content(path)
    files = [
        entry if entry["path"] != name else {**entry, **(changes or {})}
        for entry in content["files"]
        if entry["path"] != name or changes is not None
    ]
    tables.write_text(path, json.dumps({**content, "files": files}, indent=1) + "\n")


def local_files(inputs: Sequence[str]) -> list[Path]:
    """The files a stage reads: its inputs, with each manifest replaced by the files it lists.

    Raises:
        StudyError: a file is gone, or a manifest cannot be read.
    """
    files: list[Path] = []
    for path in map(Path, inputs):
        if path.name == NAME:
            files += _listed_files(path)
        elif path.is_file():
            files.append(path)
        else:
            raise StudyError(f"{path}: the file is gone; put it back, or correct its `path`")
    return files


def _listed_files(manifest: Path) -> list[Path]:
    files = [manifest.parent / entry["path"] for entry in _content(manifest)["files"]]
    for file in files:
        if not file.is_file():
            raise StudyError(f"{file}: the file is gone; delete {manifest} to download it again")
    return files


def _content(manifest: Path) -> dict[str, Any]:
    """A manifest as it was written, every file of it with a path."""
    try:
        content: dict[str, Any] = json.loads(manifest.read_text("utf-8"))
        content["files"] = [{**entry, "path": str(entry["path"])} for entry in content["files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StudyError(
            f"{manifest}: not a readable list of files; delete {manifest} to download it again"
        ) from error
    return content
