"""Files of an OSF project, by its id, through OSF's API v2 (https://developer.osf.io).

Owns which files are asked for, and how an edited file stays edited. `osf` asks for listings, and
`downloads.transfer` fetches and verifies. The listing is kept beside the files: a project that changes
stays as it was first seen until that listing is deleted. No network is used once every file is there
and whole.
"""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.config.field import READABLE
from fieldwork.downloads import transfer
from fieldwork.downloads.manifest import change_entry
from fieldwork.downloads.transfer import DownloadedFile, DownloadSource, ListedFile
from fieldwork.osf.session import OsfProject, OsfSession
from fieldwork.osf.storage import read_storage, walk

_MOST_NAMES = 12


class _OsfRequest(NamedTuple):
    """Which files of which project are asked for.

    Attributes:
        has_defaults: whether the patterns are all kinds that are read, of which some may have no file.
    """

    session: OsfSession
    source: DownloadSource
    patterns: tuple[str, ...]
    has_defaults: bool


def download(
    *, node: str, url: str, patterns: Sequence[str] | None, folder: Path
) -> list[DownloadedFile]:
    """Bring the files of a project's OSF Storage that match `patterns` to `folder`.

    Patterns are globs over the paths that OSF shows, without the first slash; each must match, and None
    takes every file of a kind that is read. `OSF_TOKEN`, where it is set, is sent to OSF for private
    projects. Files keep their paths; those already there are hashed, and fetched again only where the
    hash is wrong. Ordered by path.

    Raises:
        StudyError: no network, no access, no such project or file, too little disk space, a listing
            that points outside the folder, or content other than it promises.
    """
    globs = tuple(f"*{ending}" for ending in READABLE) if patterns is None else tuple(patterns)
    project = OsfProject(url.rstrip("/"), node)
    with closing(OsfSession(project)) as session:
        source = DownloadSource(
            name=node,
            subject=project.subject,
            settings="field.osf.node and field.osf.url",
            alternative="download the files by hand into resources/field and set field.path",
            mirrors="",
            folder=folder,
            open_url=session.open_url,
        )
        with transfer.explain_disk_errors(source):
            return _bring(_OsfRequest(session, source, globs, patterns is None))


def _bring(request: _OsfRequest) -> list[DownloadedFile]:
    project, source = request.session.project, request.source
    path = transfer.listing_path(
        source.folder, [project.url, project.node, sorted(request.patterns)]
    )

    def ask_files() -> list[ListedFile]:
        files = _ask_listing(request)
        source.refuse_outside(files)
        transfer.write_listing(path, files)
        return files

    return transfer.bring_files(source, _read_listing(path), ask_files)


# ---- the listing ---------------------------------------------------------------------------------


def _read_listing(path: Path) -> list[ListedFile] | None:
    try:
        return [ListedFile(*entry) for entry in transfer.read_listing(path)]
    except TypeError:
        return None


def _ask_listing(request: _OsfRequest) -> list[ListedFile]:
    session, source = request.session, request.source
    storage = read_storage(session, source, source.alternative)
    entries = [entry.file for entry in walk(session, source, storage) if entry.file is not None]
    _refuse_unmatched(request, entries)
    matches = [e for e in entries if any(fnmatchcase(e.path, p) for p in request.patterns)]
    return sorted(matches, key=attrgetter("path"))


def _refuse_unmatched(request: _OsfRequest, entries: Sequence[ListedFile]) -> None:
    paths = sorted(entry.path for entry in entries)
    unmatched_patterns = [p for p in request.patterns if not any(fnmatchcase(x, p) for x in paths)]
    is_enough = request.has_defaults and len(unmatched_patterns) < len(request.patterns)
    if unmatched_patterns and not is_enough:
        rest = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
        raise request.session.project.error(
            f"has no file {', '.join(unmatched_patterns)} (field.osf.files); there are "
            f"{', '.join(paths[:_MOST_NAMES]) or 'none'}{rest}"
        )


# ---- edited files --------------------------------------------------------------------------------


def accept_edit(manifest: Path, file: Path, successor: Path | None) -> None:
    """Enter in the kept listings that a file was edited here, or deleted.

    Otherwise the next download would fetch the old file again, with what was taken out of it.

    Args:
        successor: what takes the place of `file`; None where it is deleted.
    """
    folder = manifest.parent / "files"
    name = file.relative_to(folder).as_posix()
    edits: dict[str, Any] = {}
    if successor is not None:
        content = successor.read_bytes()
        edits = {"size": len(content), "digest": hashlib.sha256(content).hexdigest()}
    for path in sorted(folder.glob(".listing-*.json")):
        entries = _read_listing(path) or []
        edited_entries = [
            entry._replace(**edits) if entry.path == name else entry
            for entry in entries
            if entry.path != name or edits
        ]
        if edited_entries != entries:
            transfer.write_listing(path, edited_entries)
    changes = {"sha256": edits["digest"], "bytes": edits["size"], "edited": True} if edits else None
    change_entry(manifest, file, changes)
