"""Files of an OSF project, by its id, through OSF's API v2 (https://developer.osf.io).

Owns what OSF lists of a project, and how an edited file stays edited. `downloads.transfer` fetches and
verifies. The listing is kept beside the files: a project that changes stays as it was first seen until
that listing is deleted. No network is used once every file is there and whole.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from fieldwork.config.field import READABLE
from fieldwork.downloads import transfer
from fieldwork.downloads.manifest import change_entry
from fieldwork.downloads.transfer import DownloadedFile, DownloadSource, ListedFile
from fieldwork.field.osf_http import NotThereError, OsfProject, OsfSession

_KINDS = ("nodes", "registrations")
_STORAGE = "osfstorage"
_PAGE_SIZE = "page%5Bsize%5D=100"
_MOST_NAMES = 12
_MOST_PAGES = 2_000


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
    project = request.session.project
    try:
        storage = [e for e in _providers(request) if e["attributes"]["name"] == _STORAGE]
        if not storage:
            raise project.error(
                f"has no OSF Storage, where files would be; {request.source.alternative}"
            )
        entries = list(_walk(request, _children_url(storage[0])))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise project.error(
            "lists its files in another form than OSF's API does; check field.osf.url"
        ) from error
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


def _providers(request: _OsfRequest) -> list[Mapping[str, Any]]:
    """Where a project, or a frozen registration of one, keeps files."""
    node = quote(request.session.project.node, safe="")
    urls = [f"{request.session.project.url}/{kind}/{node}/files/?{_PAGE_SIZE}" for kind in _KINDS]
    try:
        return list(_entries(request, urls[0]))
    except NotThereError:
        return list(_entries(request, urls[1]))


def _children_url(folder: Mapping[str, Any]) -> str:
    href = str(folder["relationships"]["files"]["links"]["related"]["href"])
    return f"{href}{'&' if '?' in href else '?'}{_PAGE_SIZE}"


def _entries(request: _OsfRequest, url: str | None) -> Iterator[Mapping[str, Any]]:
    """The entries of a list, page by page."""
    for _ in range(_MOST_PAGES):
        if url is None:
            return
        page = transfer.with_retries(request.source, partial(request.session.page, url))
        yield from page["data"]
        url = page["links"].get("next")
    raise request.session.project.error("lists its files without end; try again later")


def _walk(request: _OsfRequest, url: str) -> Iterator[ListedFile]:
    queue, urls = [url], {url}
    while queue:
        for entry in _entries(request, queue.pop(0)):
            if entry["attributes"]["kind"] == "file":
                yield _entry_of(entry)
            elif (url_below := _children_url(entry)) not in urls:
                urls.add(url_below)
                queue.append(url_below)


def _entry_of(entry: Mapping[str, Any]) -> ListedFile:
    attributes = entry["attributes"]
    hashes = attributes["extra"]["hashes"]
    digest = hashes.get("sha256") or hashes["md5"]
    return ListedFile(
        path=str(attributes["materialized_path"]).lstrip("/"),
        size=int(attributes["size"]),
        digest=str(digest).lower(),
        modified_at=str(attributes.get("date_modified") or attributes.get("last_touched") or ""),
        version=int(attributes.get("current_version") or 1),
        url=str(entry["links"]["download"]),
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
