"""What decides a study, by hash: its questions, the files that its config names, and the code."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fieldwork.provenance import file_digest, full_digest
from fieldwork.records.tasks import Item

Hashes = dict[str, dict[str, str | None]]
"""sha256 by kind (`questions`, `files`, `code`) and name; None for a file that is not here."""


def study_hashes(
    tasks: Mapping[str, Sequence[Item]],
    files: Mapping[str, Sequence[str]],
    downloads: Mapping[str, Mapping[str, Any]],
    code: Mapping[str, str],
) -> Hashes:
    """The hashes of a study.

    Args:
        tasks: the questions of each task, right answers included.
        files: paths by the setting that names them; none where they are not here.
        downloads: repository, commit and files of each source that they pin.
        code: versions by part of the workflow.
    """
    return {
        "questions": {task: _digest_of_items(items) for task, items in tasks.items()},
        "files": {
            **{setting: _digest_of_files(paths) for setting, paths in files.items()},
            **{setting: full_digest(location) for setting, location in downloads.items()},
        },
        "code": {**code},
    }


def read_hashes(path: str | Path) -> Hashes:
    """The hashes in a file that `hash_study` wrote."""
    hashes: Hashes = json.loads(Path(path).read_text(encoding="utf-8"))
    return hashes


def _digest_of_items(items: Sequence[Item]) -> str:
    # columns that a later version adds are empty in old questions, and change no hash
    return full_digest(
        [{k: value for k, value in asdict(item).items() if value is not None} for item in items]
    )


def _digest_of_files(paths: Sequence[str]) -> str | None:
    """The sha256 of one file, as `sha256sum` prints it; of several, that of all in their order."""
    digests = [file_digest(Path(path)) for path in paths]
    return digests[0] if len(digests) == 1 else full_digest(digests) if digests else None
