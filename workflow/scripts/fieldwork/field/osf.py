"""Files of an OSF project, by its id, through OSF's API v2 (https://developer.osf.io).

Promises files verified by the hashes that OSF lists, interrupted downloads taken up where they
stopped, nothing written outside the folder, and no network at all once everything is there and
sound. The listing is kept beside the files: a project that changes stays as it was first seen until
that listing is deleted.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from fieldwork import tables
from fieldwork.downloads.manifest import change_entry
from fieldwork.field.osf_http import Desk, NotThereError, Session
from fieldwork.field.sources import READABLE

logger = logging.getLogger(__name__)

_KINDS = ("nodes", "registrations")
_STORAGE = "osfstorage"
_PAGE = "page%5Bsize%5D=100"
_MOST_NAMED = 12
_MOST_PAGES = 2_000


class OsfFile(NamedTuple):
    """A file that is there, whole and verified."""

    path: Path
    sha256: str
    n_bytes: int
    modified: str
    version: int


class _Remote(NamedTuple):
    """A file as OSF lists it; `digest` is its sha256, or its md5 where that is all there is."""

    path: str
    size: int
    digest: str
    modified: str
    version: int
    url: str


class _Order(NamedTuple):
    """What is to be downloaded, and to where."""

    desk: Desk
    patterns: tuple[str, ...]
    needs_all: bool
    folder: Path


def download(*, node: str, url: str, patterns: Sequence[str] | None, folder: Path) -> list[OsfFile]:
    """Bring the files of a project's OSF Storage that match `patterns` to `folder`.

    Patterns are globs over the paths that OSF shows, without the first slash; each must match, and None
    takes every file of a kind that is read. `OSF_TOKEN`, where it is
    set, is sent to OSF for private projects. Files keep their paths; those already there are hashed,
    and fetched again only where the hash is wrong. Ordered by path.

    Raises:
        StudyError: no network, no access, no such project or file, too little disk space, a listing
            that points outside the folder, or content other than it promises.
    """
    readable = [f"*{ending}" for ending in READABLE]
    globs = tuple(readable if patterns is None else patterns)
    order = _Order(Desk(url.rstrip("/"), node), globs, patterns is not None, folder)
    try:
        remotes = _read_listing(_listing_path(order))
        done = _sound_files(order, remotes or [])
        if remotes is None or len(done) < len(remotes):
            with Session(order.desk) as session:
                remotes = _ask_listing(order, session)
                done = _sound_files(order, remotes)
                _write_listing(_listing_path(order), remotes)
                _fetch_all(order, session, [r for r in remotes if r.path not in done], done)
    except OSError as error:
        raise order.desk.error(
            f"cannot be kept in {folder} ({error.strerror or error}); make room, or mend permissions"
        ) from error
    return [done[remote.path] for remote in remotes]


# ---- the listing ---------------------------------------------------------------------------------


def _listing_path(order: _Order) -> Path:
    asked = json.dumps([order.desk.url, order.desk.node, sorted(order.patterns)])
    return order.folder / f".listing-{hashlib.sha256(asked.encode()).hexdigest()[:16]}.json"


def _read_listing(path: Path) -> list[_Remote] | None:
    try:
        entries = json.loads(path.read_text("utf-8"))
        return [_Remote(*entry) for entry in entries]
    except (OSError, ValueError, TypeError):
        return None


def _write_listing(path: Path, remotes: Sequence[_Remote]) -> None:
    with tables.atomic_path(path) as partial:
        partial.write_text(json.dumps(remotes, indent=1) + "\n", encoding="utf-8")


def _ask_listing(order: _Order, session: Session) -> list[_Remote]:
    try:
        storage = [e for e in _providers(order, session) if e["attributes"]["name"] == _STORAGE]
        if not storage:
            raise order.desk.error(
                "has no OSF Storage; download its files by hand, give field.path"
            )
        found = list(_walk(session, _inside(storage[0])))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise order.desk.error(
            "lists its files in another form than OSF's API does; check field.osf.url"
        ) from error
    unmatched = [p for p in order.patterns if not any(fnmatchcase(e.path, p) for e in found)]
    if unmatched and (order.needs_all or len(unmatched) == len(order.patterns)):
        there = sorted(e.path for e in found)
        more = f" and {len(there) - _MOST_NAMED} more" if len(there) > _MOST_NAMED else ""
        raise order.desk.error(
            f"has no file {', '.join(unmatched)} (field.osf.files); there are "
            f"{', '.join(there[:_MOST_NAMED]) or 'none'}{more}"
        )
    wanted = [e for e in found if any(fnmatchcase(e.path, p) for p in order.patterns)]
    return sorted(wanted, key=attrgetter("path"))


def _providers(order: _Order, session: Session) -> list[Mapping[str, Any]]:
    """Where a project, or a frozen registration of one, keeps files."""
    node = quote(order.desk.node, safe="")
    kinds = [f"{order.desk.url}/{kind}/{node}/files/?{_PAGE}" for kind in _KINDS]
    try:
        return list(_entries(session, kinds[0]))
    except NotThereError:
        return list(_entries(session, kinds[1]))


def _inside(folder: Mapping[str, Any]) -> str:
    """Where a folder's own entries are listed."""
    href = str(folder["relationships"]["files"]["links"]["related"]["href"])
    return f"{href}{'&' if '?' in href else '?'}{_PAGE}"


def _entries(session: Session, url: str | None) -> Iterator[Mapping[str, Any]]:
    """The entries of a list, page by page."""
    for _ in range(_MOST_PAGES):
        if url is None:
            return
        page = session.page(url)
        yield from page["data"]
        url = page["links"].get("next")
    raise session.desk.error("lists its files without end; try again later")


def _walk(session: Session, url: str) -> Iterator[_Remote]:
    """The files below a folder."""
    pending, seen = [url], {url}
    while pending:
        for entry in _entries(session, pending.pop(0)):
            if entry["attributes"]["kind"] == "file":
                yield _remote(entry)
            elif (inner := _inside(entry)) not in seen:
                seen.add(inner)
                pending.append(inner)


def _remote(entry: Mapping[str, Any]) -> _Remote:
    told = entry["attributes"]
    hashes = told["extra"]["hashes"]
    digest = hashes.get("sha256") or hashes["md5"]
    return _Remote(
        path=str(told["materialized_path"]).lstrip("/"),
        size=int(told["size"]),
        digest=str(digest).lower(),
        modified=str(told.get("date_modified") or told.get("last_touched") or ""),
        version=int(told.get("current_version") or 1),
        url=str(entry["links"]["download"]),
    )


def accept_edit(manifest: Path, file: Path, successor: Path | None) -> None:
    """Let a file that was edited here count as the listed one, or one that was deleted as not listed.

    Else the next download would fetch the file again, and what was taken out of it with it.

    Args:
        successor: what takes the place of `file`; None where it is deleted.
    """
    folder = manifest.parent / "files"
    name = file.relative_to(folder).as_posix()
    content = None if successor is None else successor.read_bytes()
    sha256 = None if content is None else hashlib.sha256(content).hexdigest()
    for path in sorted(folder.glob(".listing-*.json")):
        remotes = _read_listing(path) or []
        if any(remote.path == name for remote in remotes):
            _write_listing(path, [*_with_edit(remotes, name, content, sha256)])
    changes = None if content is None else {"sha256": sha256, "bytes": len(content), "edited": True}
    change_entry(manifest, file, changes)


def _with_edit(
    remotes: Iterable[_Remote], name: str, content: bytes | None, sha256: str | None
) -> Iterator[_Remote]:
    for remote in remotes:
        if remote.path != name:
            yield remote
        elif content is not None and sha256 is not None:
            yield remote._replace(size=len(content), digest=sha256)


# ---- the files -----------------------------------------------------------------------------------


def _target(order: _Order, path: str) -> Path:
    """Where a listed file goes; a listing is foreign data and may not choose a place elsewhere."""
    inside = order.folder.resolve()
    if any(c in path for c in "\\\0") or inside not in (inside / path).resolve().parents:
        raise order.desk.error(
            f"lists {path!r}, which lies outside {order.folder}; nothing was fetched"
        )
    return order.folder / path


def _partial_path(order: _Order, remote: _Remote) -> Path:
    """Named by content, so that a partial file of another version is never continued."""
    target = _target(order, remote.path)
    return target.with_name(f".{target.name}.{remote.digest[:12]}.partial")


def _sound_files(order: _Order, remotes: Sequence[_Remote]) -> dict[str, OsfFile]:
    targets = [(remote, _target(order, remote.path)) for remote in remotes]
    return {r.path: file for r, target in targets if (file := _verified(target, r))}


def _verified(path: Path, remote: _Remote) -> OsfFile | None:
    if not path.is_file() or path.stat().st_size != remote.size:
        return None
    raw = path.read_bytes()
    sha256 = hashlib.sha256(raw).hexdigest()
    is_sha256 = len(remote.digest) == len(sha256)
    found = sha256 if is_sha256 else hashlib.md5(raw, usedforsecurity=False).hexdigest()
    if found != remote.digest:
        return None
    return OsfFile(path, sha256, remote.size, remote.modified, remote.version)


def _fetch_all(
    order: _Order, session: Session, missing: Sequence[_Remote], done: dict[str, OsfFile]
) -> None:
    needed, free = sum(r.size for r in missing), shutil.disk_usage(order.folder).free
    room = f"{needed / 1e6:,.1f} MB to download, {free / 1e6:,.1f} MB free in {order.folder}"
    if needed > free:
        raise order.desk.error(f"does not fit: {room}; make room, or name fewer field.osf.files")
    logger.info("%s: %d files, %s", order.desk.node, len(missing), room)
    for number, remote in enumerate(missing, start=1):
        done[remote.path] = _fetch(order, session, remote)
        logger.info("%s: %d/%d %s", order.desk.node, number, len(missing), remote.path)


def _fetch(order: _Order, session: Session, remote: _Remote) -> OsfFile:
    target, partial = _target(order, remote.path), _partial_path(order, remote)
    target.parent.mkdir(parents=True, exist_ok=True)
    # what an earlier run left may have been damaged since: then once more, from the start
    for _ in range(2 if partial.is_file() else 1):
        _transfer(session, remote, partial)
        if file := _verified(partial, remote):
            partial.replace(target)
            return file._replace(path=target)
        partial.unlink()
    raise order.desk.error(
        f"sent {remote.path} with another content than it lists; try again, or download it by hand"
    )


def _transfer(session: Session, remote: _Remote, partial: Path) -> None:
    partial.touch()

    def have() -> int:
        return partial.stat().st_size

    def write(chunk: bytes, starts_anew: bool) -> None:
        with partial.open("wb" if starts_anew else "ab") as handle:
            handle.write(chunk)
        if have() > remote.size:
            raise _TooLongError

    if have() >= remote.size:
        return
    try:
        session.fetch(remote.url, have=have, write=write)
    except _TooLongError:
        logger.info("%s is longer than it is listed as", remote.path)


class _TooLongError(Exception):
    """More bytes than the listing promises."""
