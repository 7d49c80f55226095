"""Files sent to a folder of a project on OSF: only those that are not there yet, each verified.

Owns what OSF's file service (WaterButler, API v1) says of an upload. A file whose size and hash are those
of the one on OSF is not sent again, so that a broken upload goes on with the next run. One that differs
becomes a new version of the file there. Nothing on OSF is deleted.
"""

import hashlib
import logging
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import httpx2

from fieldwork.downloads.transfer import ListedFile, with_retries
from fieldwork.errors import StudyError, size_text
from fieldwork.osf.session import TOKEN, NotThereError, OsfProject, OsfSession, refuse_busy
from fieldwork.osf.storage import StorageEntry, read_folder, read_storage, walk

logger = logging.getLogger(__name__)

SETTING = "archive.osf"

LARGEST_FILE = 5 * 2**30
"""Bytes of a file that OSF Storage takes at most (help.osf.io, article 555, read in November 2026)."""

_RESUME = "what arrived stays there, and the next run sends the rest"
# the service answers once it has moved a file to its store
_TIMEOUT_S = 600.0


class UploadAccount(NamedTuple):
    """What an upload came to.

    Attributes:
        new_paths: of new files.
        changed_paths: of files that became a new version.
        same_paths: of files that were there with the same content.
        n_bytes: sent.
    """

    new_paths: list[str]
    changed_paths: list[str]
    same_paths: list[str]
    n_bytes: int


def upload(*, node: str, url: str, folder: str, files: Mapping[str, Path]) -> UploadAccount:
    """Bring files to a folder of a project's OSF Storage, under their paths there.

    OSF_TOKEN names the account. The folder is made where it is missing.

    Args:
        folder: of the storage.
        files: by path below that folder, with `/`.

    Raises:
        StudyError: no token, a token that OSF does not know, a project that is not there or may not be
            written to, too little room there, a file that is too large, or a server that fails for too
            long.
    """
    project = OsfProject(url.rstrip("/"), node, SETTING)
    _refuse_large(project, files)
    with closing(_WritingSession(project)) as session:
        if session.token is None:
            raise project.error(
                f"needs a token: set {TOKEN} to a personal access token with the scope "
                f"osf.full_write, of an account that may write there"
            )
        _require_right_to_write(session)
        return _Upload(session, folder).send_all(files)


def _refuse_large(project: OsfProject, files: Mapping[str, Path]) -> None:
    for path, file in files.items():
        n_bytes = file.stat().st_size
        if n_bytes > LARGEST_FILE:
            raise project.error(
                f"takes files of {size_text(LARGEST_FILE)} at most, and {path} has "
                f"{size_text(n_bytes)}; say archive.osf.form: files, or leave the raw replies out "
                f"(archive.replies: false)"
            )


def _require_right_to_write(session: "_WritingSession") -> None:
    project = session.project
    address = f"{project.url}/nodes/{quote(project.node, safe='')}/"
    content = with_retries(session, partial(session.document, address))
    try:
        permissions = list(content["data"]["attributes"]["current_user_permissions"])
    except (KeyError, TypeError) as error:
        raise project.foreign_reply() from error
    if "write" not in permissions:
        raise project.error(
            f"may not be written to by the account of {TOKEN}, which may only read it; ask its "
            f"administrators for the right to write, or name a project of yours in {SETTING}.node"
        )


class _NameTakenError(Exception):
    """A file or a folder of this name is there already."""


class _WritingSession(OsfSession):
    """A session whose errors are those of somebody who wants to write; a `Remote` for retries."""

    @property
    def name(self) -> str:
        return self.project.node

    def unreachable(self, reason: str) -> StudyError:
        """The error where OSF cannot be asked."""
        return self.project.error(f"cannot be reached ({reason}); {_RESUME}: try again later")

    def refuse(self, response: httpx2.Response) -> None:
        status, project = response.status_code, self.project
        remedies = {
            401: f"does not take the token in {TOKEN} (HTTP 401), which was revoked, has expired or was "
            f"mistyped; make a new one on OSF under Settings, Personal access tokens",
            403: f"may not be written to with the token in {TOKEN} (HTTP 403); it needs the scope "
            f"osf.full_write and an account that may write there",
            410: f"was deleted (HTTP 410); name another project in {SETTING}.node",
            413: f"does not take a file as large as this (HTTP 413); say {SETTING}.form: files",
            507: f"has no room left (HTTP 507): OSF gives a private project 5 GB and a public one 50 GB; "
            f"{_RESUME}, once there is room",
        }
        if status in remedies:
            raise project.error(remedies[status])
        if status == 404:
            raise NotThereError(
                f"{project.subject} does not exist (HTTP 404); {SETTING}.node is what follows osf.io/ in "
                f"the project's address; a registration is frozen, so name the project behind it"
            )
        if status == 409:
            raise _NameTakenError
        refuse_busy(response)
        if status >= 300:
            raise project.error(f"refuses the upload (HTTP {status}); check {SETTING}.url")

    def put(self, url: str, file: Path | None = None) -> Mapping[str, Any]:
        """What the file service says of a file that was sent, or of a folder that was made."""
        if not self.is_own(url):
            raise self.project.error(
                f"names a place for uploads at another host; check {SETTING}.url"
            )
        with self.explain():
            if file is None:
                response = self.client.put(url)
            else:
                with file.open("rb") as content:
                    response = self.client.put(url, content=content, timeout=_TIMEOUT_S)
        self.refuse(response)
        return self.json_of(response)


class _Upload:
    """One upload: what is on OSF by now, and what was done."""

    def __init__(self, session: _WritingSession, folder: str) -> None:
        self._session, self._folder = session, PurePosixPath(folder)
        self._entries: dict[str, StorageEntry] = {}
        self._account = UploadAccount([], [], [], 0)

    def send_all(self, files: Mapping[str, Path]) -> UploadAccount:
        """Send what is missing, in order of the paths."""
        storage = read_storage(self._session, self._session, "enable it in the project's settings")
        for entry in walk(self._session, self._session, storage, self._is_wanted):
            self._entries[entry.path] = entry
        for number, (name, file) in enumerate(sorted(files.items()), start=1):
            path = str(self._folder / name)
            if self._send(path, file):
                size = size_text(file.stat().st_size)
                logger.info("%s: %d/%d %s (%s)", self._session.name, number, len(files), path, size)
        return self._account

    def _is_wanted(self, folder: str) -> bool:
        path = PurePosixPath(folder)
        return path in (self._folder, *self._folder.parents) or self._folder in path.parents

    def _send(self, path: str, file: Path) -> bool:
        """Send a file unless it is there; whether it was sent."""
        entry = self._entries.get(path)
        if entry is not None and _is_same(entry.file, file):
            self._account.same_paths.append(path)
            return False
        try:
            # an attempt whose reply was lost may have arrived, and the next one finds its name taken
            with_retries(self._session, lambda: self._send_once(path, file))
        except _NameTakenError:
            self._look_again(path)
            if not self._is_there(path, file):
                self._send_over(path, file)
        account = self._account
        (account.new_paths if entry is None else account.changed_paths).append(path)
        self._account = account._replace(n_bytes=account.n_bytes + file.stat().st_size)
        return True

    def _send_over(self, path: str, file: Path) -> None:
        """Send a file whose name was taken meanwhile."""
        try:
            with_retries(self._session, lambda: self._send_once(path, file))
        except _NameTakenError as error:
            raise self._other_spelling(path) from error

    def _is_there(self, path: str, file: Path) -> bool:
        entry = self._entries.get(path)
        return entry is not None and _is_same(entry.file, file)

    def _send_once(self, path: str, file: Path) -> None:
        entry = self._entries.get(path)
        if entry is not None and entry.file is None:
            raise self._clash(path, "a folder", "a file")
        if entry is not None:
            reply = self._session.put(_with_query(entry.links["upload"], kind="file"), file)
        else:
            parent = self._made_folder(PurePosixPath(path).parent)
            url = _with_query(parent.links["upload"], kind="file", name=PurePosixPath(path).name)
            reply = self._session.put(url, file)
        self._require_whole(reply, path, file)

    def _made_folder(self, folder: PurePosixPath) -> StorageEntry:
        """A folder of the storage, made with those above it where it is missing."""
        path = "" if folder == PurePosixPath() else str(folder)
        if path not in self._entries:
            parent = self._made_folder(folder.parent)
            url = _with_query(parent.links["new_folder"], kind="folder", name=folder.name)
            is_new = True
            try:
                self._session.put(url)
            except _NameTakenError:
                is_new = False
                logger.info("%s: %s is there already", self._session.name, path)
            self._look_again(path)
            if path not in self._entries and not is_new:
                raise self._other_spelling(path)
            if path not in self._entries:
                raise self._session.project.error(
                    f"says that it made the folder {path}, and does not list it; try again later"
                )
        entry = self._entries[path]
        if entry.file is not None:
            raise self._clash(path, "a file", "a folder")
        return entry

    def _clash(self, path: str, obstacle: str, kind: str) -> StudyError:
        return self._session.project.error(
            f"has {obstacle} at {path}, where the archive has {kind}; rename it on OSF, or name another "
            f"folder in {SETTING}.folder"
        )

    def _other_spelling(self, path: str) -> StudyError:
        return self._session.project.error(
            f"says that {path} is there already, and lists it under another spelling; rename it on OSF, "
            f"or name another folder in {SETTING}.folder"
        )

    def _look_again(self, path: str) -> None:
        """Read anew what is beside a path."""
        folder = PurePosixPath(path).parent
        parent = self._entries["" if folder == PurePosixPath() else str(folder)]
        for entry in read_folder(self._session, self._session, parent):
            self._entries[entry.path] = entry

    def _require_whole(self, reply: Mapping[str, Any], path: str, file: Path) -> None:
        """Refuse a file that arrived with another content."""
        try:
            attributes = reply["data"]["attributes"]
            hashes = attributes["extra"]["hashes"]
            digest = str(hashes.get("sha256") or hashes["md5"]).lower()
            listed_file = ListedFile(path, int(attributes["size"]), digest)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise self._session.project.foreign_reply() from error
        if not _is_same(listed_file, file):
            raise self._session.project.error(
                f"got {path} with another content than was sent; try again later"
            )


def _is_same(listed_file: ListedFile | None, file: Path) -> bool:
    """Whether a file on OSF has the size and the hash of one that is here."""
    if listed_file is None or listed_file.size != file.stat().st_size:
        return False
    hasher = "sha256" if len(listed_file.digest) == 64 else "md5"
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, hasher).hexdigest() == listed_file.digest


def _with_query(url: str, **query: str) -> str:
    """An address with these settings; one that it has already stays as it is."""
    new_query = {key: value for key, value in query.items() if f"{key}=" not in url}
    mark = "&" if "?" in url else "?"
    return f"{url}{mark}{urlencode(new_query, quote_via=quote)}" if new_query else url
