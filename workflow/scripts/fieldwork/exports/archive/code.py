"""The project's code in an archive: which of its files are packed, and which version they are.

Owns what git is asked. A file that git does not track is not packed: it may be private, and lie there by
chance. Where there is no git, as in an unpacked archive, endings alone decide.
"""

import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.exports.archive.contents import files_below


class CodeVersion(NamedTuple):
    """The code that made a study.

    Attributes:
        release: of this project.
        commit: in its version control; None where it was installed without that.
        is_changed: whether files differ from that commit.
    """

    release: str
    commit: str | None
    is_changed: bool

    def sentence(self) -> str:
        """In words."""
        if self.commit is None:
            return f"Fieldwork {self.release}"
        changes = ", with changes that are in `code/`" if self.is_changed else ""
        return f"Fieldwork {self.release} (commit {self.commit}{changes})"


def code_version_at(home: Path, release: str) -> CodeVersion:
    """The version of the code in a folder, asked of git where it is there."""
    if not (home / ".git").exists():
        return CodeVersion(release, None, is_changed=False)
    commit, changes = (_git(home, *words) for words in (("rev-parse", "HEAD"), ("diff", "HEAD")))
    return CodeVersion(release, commit, is_changed=bool(changes))


def _git(home: Path, *words: str) -> str | None:
    try:
        reply = subprocess.run(
            ["git", "-C", str(home), *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return reply.stdout.strip() or None


def code_files(
    home: Path, code: Mapping[str, Collection[str]], private_files: Collection[str]
) -> list[str]:
    """The files of a project that a study runs with, by their paths in it.

    Args:
        code: files and folders, and the endings of a folder's files.
        private_files: real paths of files that are left out wherever they lie.
    """
    paths = [path for name in code for path in _files_of(home, name, code[name])]
    versioned_paths = _versioned_paths(home)
    return [
        path
        for path in dict.fromkeys(paths)
        if (versioned_paths is None or path in versioned_paths)
        and os.path.realpath(home / path) not in private_files
    ]


def _files_of(home: Path, name: str, endings: Collection[str]) -> Sequence[str]:
    if not endings:
        return [name]
    return [
        f"{name}/{path}"
        for path in files_below(home / name)
        # a hidden file has no ending, and one in a hidden folder is a tool's
        if Path(path).suffix in endings and not any(p.startswith(".") for p in Path(path).parts)
    ]


def _versioned_paths(home: Path) -> set[str] | None:
    """The files that git tracks; None without git."""
    if not (home / ".git").exists():
        return None
    listing = _git(home, "ls-files", "-z")
    return None if listing is None else {*listing.split("\0")}
