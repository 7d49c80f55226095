"""What the storage of a project on OSF holds: its files and folders, folder by folder and page by page.

Owns the form of API v2's listings (https://developer.osf.io).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from fieldwork.downloads import transfer
from fieldwork.downloads.transfer import ListedFile, Remote
from fieldwork.osf.session import NotThereError, OsfSession

KINDS = ("nodes", "registrations")
_STORAGE = "osfstorage"
_PAGE_SIZE = "page%5Bsize%5D=100"
_MOST_PAGES = 2_000


class StorageEntry(NamedTuple):
    """A file or a folder of the storage.

    Attributes:
        path: below the storage, without a slash at its ends; empty for the storage itself.
        file: None for a folder.
        links: addresses by what is done there: `upload`, `new_folder`, `download`.
        children_url: the list of what is in a folder; empty for a file.
    """

    path: str
    file: ListedFile | None
    links: Mapping[str, str]
    children_url: str = ""


def read_storage(session: OsfSession, remote: Remote, alternative: str) -> StorageEntry:
    """The storage of a project, or of a frozen registration of one, as a folder.

    Args:
        alternative: ends the error where there is none.

    Raises:
        StudyError: the project cannot be read, or has no such storage.
    """
    with _known_form(session):
        providers = _providers(session, remote)
        storage = [e for e in providers if e["attributes"]["name"] == _STORAGE]
        if not storage:
            raise session.project.error(f"has no OSF Storage, where files would be; {alternative}")
        return _folder(storage[0], "")


def read_folder(session: OsfSession, remote: Remote, folder: StorageEntry) -> list[StorageEntry]:
    """What lies directly in a folder.

    Raises:
        StudyError: it cannot be read.
    """
    with _known_form(session):
        return [_entry(e) for e in _entries(session, remote, folder.children_url)]


def walk(
    session: OsfSession,
    remote: Remote,
    storage: StorageEntry,
    is_wanted: Callable[[str], bool] = lambda _: True,
) -> Iterator[StorageEntry]:
    """Everything below a folder, the folder itself first.

    Args:
        is_wanted: whether what is in a folder of this path is asked for.
    """
    queue, urls = [storage], {storage.children_url}
    while queue:
        folder = queue.pop(0)
        yield folder
        for entry in read_folder(session, remote, folder):
            if entry.file is not None:
                yield entry
            elif entry.children_url not in urls and is_wanted(entry.path):
                urls.add(entry.children_url)
                queue.append(entry)


@contextmanager
def _known_form(session: OsfSession) -> Iterator[None]:
    """Turn errors of a reply that has another form into a sentence."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise session.project.error(
            f"lists its files in another form than OSF's API does; check {session.project.setting}.url"
        ) from error


def _providers(session: OsfSession, remote: Remote) -> list[Mapping[str, Any]]:
    """Where a project, or a registration of one, keeps files."""
    node = quote(session.project.node, safe="")
    urls = [f"{session.project.url}/{kind}/{node}/files/?{_PAGE_SIZE}" for kind in KINDS]
    try:
        return list(_entries(session, remote, urls[0]))
    except NotThereError:
        return list(_entries(session, remote, urls[1]))


def _entries(session: OsfSession, remote: Remote, first_url: str) -> Iterator[Mapping[str, Any]]:
    """The entries of a list, page by page."""
    url: str | None = first_url
    for _ in range(_MOST_PAGES):
        if url is None:
            return
        page = transfer.with_retries(remote, partial(session.page, url))
        yield from page["data"]
        url = page["links"].get("next")
    raise session.project.error("lists its files without end; try again later")


def _entry(entry: Mapping[str, Any]) -> StorageEntry:
    attributes = entry["attributes"]
    if attributes["kind"] != "file":
        return _folder(entry, str(attributes["materialized_path"]).strip("/"))
    file = _file(entry)
    return StorageEntry(file.path, file, _links(entry))


def _folder(entry: Mapping[str, Any], path: str) -> StorageEntry:
    href = str(entry["relationships"]["files"]["links"]["related"]["href"])
    url = f"{href}{'&' if '?' in href else '?'}{_PAGE_SIZE}"
    return StorageEntry(path, None, _links(entry), url)


def _links(entry: Mapping[str, Any]) -> dict[str, str]:
    return {name: link for name, link in entry["links"].items() if isinstance(link, str)}


def _file(entry: Mapping[str, Any]) -> ListedFile:
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
