"""OSF on the loopback interface: its API v2, its files in both directions, the store behind them, and bad
days.

    with serve_osf({"abc12": {"data/answers.csv": b"..."}}) as osf:
        download(node="abc12", url=osf.url, ...)

A project is listed as OSF lists it: providers first, then OSF Storage folder by folder and page by
page, JSON:API throughout. A download is redirected twice, as there: from `links.download` to the file
service, and from there to a store at another host (here another port), which must never see a token.
`osf.requests` holds what was asked, in order; `osf.faults` may be added to at any time.

A PUT to `links.upload` of a folder makes a file, and of a file a new version; one to `links.new_folder`
makes a folder. The statuses are those of WaterButler (waterbutler/server/api/v1/provider/create.py): 409
for a name that is taken, 400 without a name, 411 without a length, 507 for a full project. Files that
arrive are in `osf.nodes`.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from servers.file_hosts import Fault, FileHost, HostHandler, Request, retry_after, serving

__all__ = ["MODIFIED", "Fault", "Osf", "serve_osf"]

MODIFIED = "2026-10-01T09:30:00.000000"


@dataclass(kw_only=True)
class Osf(FileHost):
    """Running servers: the API with the file service, and the store.

    Attributes:
        nodes: the files of each project.
        private: projects that want the token.
        registrations: projects that are listed as such, and not as nodes.
        md5_only: paths that are listed without a sha256.
        listed_paths: renames files in the listing only.
        ranges: without it the store sends files whole.
        read_only: projects that the token's account may not write to.
        revoked: tokens that are known no more.
        room: bytes that a project holds at most.
    """

    nodes: dict[str, dict[str, bytes]]
    private: Collection[str] = ()
    token: str = "right"
    page_size: int = 2
    registrations: Collection[str] = ()
    md5_only: Collection[str] = ()
    listed_paths: Mapping[str, str] = field(default_factory=dict)
    ranges: bool = True
    read_only: Collection[str] = ()
    revoked: Collection[str] = ()
    room: int | None = None
    api: str = ""
    store: str = ""
    folders: dict[str, set[str]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Address of the API, for `field.osf.url`."""
        return f"{self.api}/v2"

    def uploads(self) -> list[Request]:
        """The requests that brought a file or made a folder."""
        return [r for r in self.requests if r.method == "PUT" and r.status in (200, 201)]


@contextmanager
def serve_osf(nodes: Mapping[str, Mapping[str, bytes]], **options: Any) -> Iterator[Osf]:
    """Serve projects until the block ends; see `Osf` for the options."""
    osf = Osf(nodes={node: dict(files) for node, files in nodes.items()}, **options)
    with serving(osf, _Api) as osf.api, serving(osf, _Store) as osf.store:
        yield osf


def file_id(path: str) -> str:
    """The id of a file or folder, 24 hex digits as in OSF Storage."""
    return hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()[:24]


def _hashes(content: bytes) -> dict[str, str]:
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return {"md5": md5, "sha256": hashlib.sha256(content).hexdigest()}


class _Handler(HostHandler):
    site: Osf

    def put(self) -> None:
        fault = self.site.take_fault(unquote(self.path))
        length = self.headers.get("Content-Length")
        body = b""
        if length:
            cut = fault.cut_after if fault else None
            body = self.rfile.read(int(length) if cut is None else cut)
            if cut is not None:
                self.record(0, len(body))
                self.close_connection = True
                return
        if fault and fault.status:
            self.reject(fault.status, "A bad day.", retry_after(fault))
        elif fault and fault.body is not None:
            self.send(200, fault.body, {"Content-Type": "text/html"})
        else:
            self.take(body, length, is_lost=bool(fault and fault.is_lost))

    def take(self, body: bytes, length: str | None, *, is_lost: bool) -> None:
        raise NotImplementedError

    def refuse(self, status: int, reason: str, headers: Mapping[str, str] = {}) -> None:
        told = {"errors": [{"detail": reason}], "meta": {"version": "2.0"}}
        self.send(status, json.dumps(told).encode(), headers)

    def reject(self, status: int, message: str, headers: Mapping[str, str] = {}) -> None:
        """An error as the file service says it."""
        self.send(status, json.dumps({"code": status, "message": message}).encode(), headers)


class _Api(_Handler):
    place = "api"

    def answer(self, path: str, fault: Fault | None) -> None:
        node = re.fullmatch(r"/v2/nodes/(\w+)/", path)
        if self._is_revoked():
            self.refuse(401, "User provided an invalid OAuth2 access token")
        elif node and not (fault and fault.body is not None) and node[1] in self.site.nodes:
            self._describe(node[1])
        else:
            self._answer_of_files(path, fault)

    def _is_revoked(self) -> bool:
        given = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        return given in self.site.revoked

    def _describe(self, node: str) -> None:
        """A project as API v2 describes it, with what the account may do."""
        if self._is_closed(node):
            self.refuse(403, "You do not have permission to perform this action.")
            return
        is_writer = self._may_write(node)
        attributes = {
            "title": "A project",
            "category": "project",
            "public": node not in self.site.private,
            "registration": False,
            "current_user_permissions": ["read", "write"] if is_writer else ["read"],
        }
        data = {"id": node, "type": "nodes", "attributes": attributes, "links": {}}
        self.send(200, json.dumps({"data": data, "meta": {"version": "2.0"}}).encode(), {})

    def _may_write(self, node: str) -> bool:
        given = self.headers.get("Authorization")
        return given == f"Bearer {self.site.token}" and node not in self.site.read_only

    def take(self, body: bytes, length: str | None, *, is_lost: bool) -> None:
        """A file or a folder that is sent to the file service."""
        parts = urlsplit(self.path)
        place = re.fullmatch(r"/v1/resources/(\w+)/providers/osfstorage/(?:(\w+)(/)?)?", parts.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if self._is_revoked():
            self.reject(401, "Unauthorized")
        elif place is None or place[1] not in self.site.nodes:
            self.reject(404, "Could not retrieve file or directory")
        elif not self._may_write(place[1]):
            self.reject(403, "Forbidden")
        elif length is None and query.get("kind", "file") == "file":
            self.reject(411, "Content-Length is required for file uploads")
        else:
            status, entry = self._store(place[1], place[2], place[3], query, body)
            if status >= 300:
                self.reject(status, str(entry))
            elif is_lost:
                self.record(status, len(body))
                self.close_connection = True
            else:
                self.send(status, json.dumps({"data": entry}).encode(), {})

    def _store(
        self, node: str, ident: str | None, slash: str | None, query: Mapping[str, str], body: bytes
    ) -> tuple[int, Any]:
        files, folders = self.site.nodes[node], self._folders(node)
        if ident and not slash:
            path = next((p for p in files if file_id(p) == ident), None)
            if path is None or "name" in query:
                return (404, "Could not retrieve file") if path is None else (400, "'name'")
            is_new = False
        else:
            inside = next((f"{f}/" for f in folders if file_id(f) == ident), None if ident else "")
            if inside is None or "name" not in query:
                return (404, "no folder") if inside is None else (400, "Missing 'name'")
            path, is_new = inside + query["name"], True
        if query.get("kind") == "folder":
            if path in folders:
                return 409, "already exists"
            self.site.folders.setdefault(node, set()).add(path)
            return 201, {"id": f"osfstorage/{file_id(path)}/", "attributes": {"kind": "folder"}}
        if is_new and path in files:
            return 409, f'file or folder "{query["name"]}" already exists in this location'
        if (
            self.site.room is not None
            and sum(map(len, files.values())) + len(body) > self.site.room
        ):
            return 507, "The quota on this osfstorage project has been exceeded"
        files[path] = body
        self.site.versions[path] = self.site.versions.get(path, 0) + 1
        return (201 if is_new else 200), self._stored(path, body)

    @staticmethod
    def _stored(path: str, body: bytes) -> dict[str, Any]:
        """A file that arrived, as the file service describes it."""
        attributes = {
            "kind": "file",
            "name": path.rsplit("/", 1)[-1],
            "materialized": f"/{path}",
            "size": len(body),
            "extra": {"hashes": _hashes(body), "version": 1, "downloads": 0},
        }
        return {"id": f"osfstorage/{file_id(path)}", "type": "files", "attributes": attributes}

    def _folders(self, node: str) -> set[str]:
        """Folders that were made, and those that files are in."""
        paths = self.site.nodes[node]
        above = {path.rsplit("/", n)[0] for path in paths for n in range(1, path.count("/") + 1)}
        return above | self.site.folders.get(node, set())

    def _service(self, node: str) -> str:
        return f"{self.site.api}/v1/resources/{node}/providers/osfstorage/"

    def _answer_of_files(self, path: str, fault: Fault | None) -> None:
        kind = "registrations" if "/registrations/" in path else "nodes"
        listing = re.fullmatch(rf"/v2/{kind}/(\w+)/files/(?:osfstorage/(?:(\w+)/)?)?", path)
        if listing and (listing[1] in self.site.registrations) != (kind == "registrations"):
            listing = None
        service = re.fullmatch(r"/(?:download|v1/resources)/(\w+)/(\w+)/?", path)
        if fault and fault.body is not None:
            self.send(200, fault.body, {"Content-Type": "text/html"})
        elif (found := listing or service) is None or found[1] not in self.site.nodes:
            self.refuse(404, "Not found.")
        elif self._is_closed(found[1]):
            given = self.headers.get("Authorization")
            self.refuse(403 if given else 401, "You do not have permission to do this.")
        elif service:
            self._redirect(service[1], service[2], path)
        elif "osfstorage" in path and listing:
            self._list(self._children(listing[1], listing[2]))
        else:
            self._list([self._provider(found[1], name) for name in ("github", "osfstorage")])

    def _kind(self, node: str) -> str:
        return "registrations" if node in self.site.registrations else "nodes"

    def _is_closed(self, node: str) -> bool:
        given = self.headers.get("Authorization")
        return node in self.site.private and given != f"Bearer {self.site.token}"

    def _redirect(self, node: str, file: str, path: str) -> None:
        """`links.download` leads to the file service, and that to the store with a signature."""
        to = f"{self.site.api}/v1/resources/{node}/{file}"
        if path.startswith("/v1/"):
            to = f"{self.site.store}/{node}/{file}?signature=5f1c"
        self.send(302, b"", {"Location": to})

    def _list(self, entries: Sequence[Mapping[str, Any]]) -> None:
        query = parse_qs(urlsplit(self.path).query)
        size = min(self.site.page_size, int(query.get("page[size]", ["10"])[0]))
        number = int(query.get("page", ["1"])[0])
        here = f"{self.site.api}{urlsplit(self.path).path}?page%5Bsize%5D={size}"
        is_last = number * size >= len(entries)
        links = {"first": None, "last": None, "prev": None, "meta": {}}
        page = {
            "data": entries[(number - 1) * size : number * size],
            "links": links | {"next": None if is_last else f"{here}&page={number + 1}"},
            "meta": {"total": len(entries), "per_page": size, "version": "2.0"},
        }
        self.send(200, json.dumps(page).encode(), {"Content-Type": "application/vnd.api+json"})

    def _entry(
        self, name: str, about: Mapping[str, Any], links: Mapping[str, str], inside: str = ""
    ) -> dict[str, Any]:
        """A folder or file as API v2 lists it; `inside` is where a folder's own entries are."""
        related = {"files": {"links": {"related": {"href": inside, "meta": {}}}}} if inside else {}
        kinds = {"type": "files", "relationships": related}
        return {"id": name, "attributes": dict(about), "links": dict(links), **kinds}

    def _provider(self, node: str, name: str) -> dict[str, Any]:
        about = {"kind": "folder", "name": name, "path": "/", "node": node, "provider": name}
        links = {
            "storage_addons": f"{self.site.url}/addons/",
            "upload": self._service(node),
            "new_folder": f"{self._service(node)}?kind=folder",
        }
        inside = f"{self.site.url}/{self._kind(node)}/{node}/files/{name}/"
        return self._entry(f"{node}:{name}", about, links, inside)

    def _children(self, node: str, folder: str | None) -> list[dict[str, Any]]:
        files = self.site.nodes[node]
        folders = self._folders(node)
        inside = next((f"{f}/" for f in folders if file_id(f) == folder), "")
        below = [p for p in [*sorted(folders), *files] if p.startswith(inside) and p != inside]
        direct = [p for p in below if "/" not in p[len(inside) :]]
        return [self._folder(node, p) if p in folders else self._file(node, p) for p in direct]

    def _folder(self, node: str, path: str) -> dict[str, Any]:
        name = file_id(path)
        about = {
            "kind": "folder",
            "name": path.rsplit("/", 1)[-1],
            "path": f"/{name}/",
            "materialized_path": f"/{path}/",
            "provider": "osfstorage",
            "size": None,
        }
        place = f"{self._service(node)}{name}/"
        links = {"upload": place, "new_folder": f"{place}?kind=folder"}
        inside = f"{self.site.url}/{self._kind(node)}/{node}/files/osfstorage/{name}/"
        return self._entry(name, about, links, inside)

    def _file(self, node: str, path: str) -> dict[str, Any]:
        content, name = self.site.nodes[node][path], file_id(path)
        hashes = _hashes(content)
        if path in self.site.md5_only:
            del hashes["sha256"]
        about = {
            "kind": "file",
            "name": path.rsplit("/", 1)[-1],
            "path": f"/{name}",
            "materialized_path": self.site.listed_paths.get(path, f"/{path}"),
            "provider": "osfstorage",
            "size": len(content),
            "current_version": 3,
            "date_created": "2026-09-01T08:00:00.000000",
            "date_modified": MODIFIED,
            "extra": {"hashes": hashes, "downloads": 4},
            "tags": [],
        }
        links = {
            "download": f"{self.site.api}/download/{node}/{name}/",
            "self": f"{self.site.url}/files/{name}/",
            "upload": f"{self._service(node)}{name}",
        }
        return self._entry(name, about, links)


class _Store(_Handler):
    place = "store"

    def answer(self, path: str, fault: Fault | None) -> None:
        _, node, file = path.split("/")
        files = {file_id(name): content for name, content in self.site.nodes[node].items()}
        self.send_range(files[file], {}, fault, parts=self.site.ranges)
