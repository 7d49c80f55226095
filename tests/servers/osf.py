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
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

MODIFIED = "2026-10-01T09:30:00.000000"


@dataclass
class Fault:
    """Something that goes wrong with the next `times` requests whose path contains `path`.

    `status` answers with that code, and `retry_after` in its header. `cut_after` sends so many bytes
    of the body and drops the connection; of an upload it takes so many bytes before. `body` answers with
    other bytes. `is_lost` does what was asked, and drops the connection before it answers.
    """

    path: str
    status: int | None = None
    retry_after: str | None = None
    cut_after: int | None = None
    body: bytes | None = None
    times: int = 1
    is_lost: bool = False


class Request(NamedTuple):
    """A request as a server saw it; `n_bytes` of a file's content were sent in answer, or came in."""

    host: str
    path: str
    range: str | None
    token: str | None
    status: int
    n_bytes: int
    method: str = "GET"


@dataclass
class Osf:
    """Running servers: the API with the file service, and the store."""

    nodes: dict[str, dict[str, bytes]]
    private: Collection[str]
    token: str
    page_size: int
    registrations: Collection[str]
    md5_only: Collection[str]
    listed_paths: Mapping[str, str]
    ranges: bool
    faults: list[Fault]
    read_only: Collection[str] = ()
    revoked: Collection[str] = ()
    room: int | None = None
    api: str = ""
    store: str = ""
    requests: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    folders: dict[str, set[str]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Address of the API, for `field.osf.url`."""
        return f"{self.api}/v2"

    @property
    def bytes_served(self) -> int:
        """Bytes of files sent so far."""
        return sum(request.n_bytes for request in self.requests if request.method == "GET")

    def uploads(self) -> list[Request]:
        """The requests that brought a file or made a folder."""
        return [r for r in self.requests if r.method == "PUT" and r.status in (200, 201)]

    def take_fault(self, path: str) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                if fault.times > 0 and fault.path in path:
                    fault.times -= 1
                    return fault
        return None


@contextmanager
def serve_osf(
    nodes: Mapping[str, Mapping[str, bytes]],
    *,
    private: Collection[str] = (),
    token: str = "right",
    page_size: int = 2,
    registrations: Collection[str] = (),
    md5_only: Collection[str] = (),
    listed_paths: Mapping[str, str] | None = None,
    ranges: bool = True,
    faults: Sequence[Fault] = (),
    read_only: Collection[str] = (),
    revoked: Collection[str] = (),
    room: int | None = None,
) -> Iterator[Osf]:
    """Serve projects until the block ends.

    `private` ones want the token; `registrations` are listed as such, and not as nodes; paths in
    `md5_only` are listed without a sha256; `listed_paths` renames files in the listing only. Without
    `ranges` the store sends files whole. The token's account may not write to `read_only` projects;
    tokens in `revoked` are known no more. A project holds `room` bytes at most.
    """
    osf = Osf(
        {node: dict(files) for node, files in nodes.items()},
        private,
        token,
        page_size,
        registrations,
        md5_only,
        listed_paths or {},
        ranges,
        list(faults),
        read_only,
        revoked,
        room,
    )
    with ExitStack() as stack:
        osf.api = stack.enter_context(_serving(osf, _Api))
        osf.store = stack.enter_context(_serving(osf, _Store))
        yield osf


@contextmanager
def _serving(osf: Osf, handler: type["_Handler"]) -> Iterator[str]:
    server = _Server(("127.0.0.1", 0), type("_Bound", (handler,), {"osf": osf}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is no news."""


def file_id(path: str) -> str:
    """The id of a file or folder, 24 hex digits as in OSF Storage."""
    return hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()[:24]


class _Handler(BaseHTTPRequestHandler):
    osf: Osf
    host = ""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        fault = self.osf.take_fault(unquote(self.path))
        if fault and fault.status:
            headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            self._refuse(fault.status, "A bad day.", headers)
        else:
            self._answer(urlsplit(self.path).path, fault)

    def do_PUT(self) -> None:
        fault = self.osf.take_fault(unquote(self.path))
        length = self.headers.get("Content-Length")
        body = b""
        if length:
            cut = fault.cut_after if fault else None
            body = self.rfile.read(int(length) if cut is None else cut)
            if cut is not None:
                self._log(0, len(body))
                self.close_connection = True
                return
        if fault and fault.status:
            headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            self._reject(fault.status, "A bad day.", headers)
        elif fault and fault.body is not None:
            self._send(200, fault.body, {"Content-Type": "text/html"})
        else:
            self._take(body, length, is_lost=bool(fault and fault.is_lost))

    def _take(self, body: bytes, length: str | None, *, is_lost: bool) -> None:
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""

    def _answer(self, path: str, fault: Fault | None) -> None:
        raise NotImplementedError

    def _refuse(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        told = {"errors": [{"detail": detail}], "meta": {"version": "2.0"}}
        self._send(status, json.dumps(told).encode(), headers or {})

    def _send(
        self,
        status: int,
        body: bytes,
        headers: Mapping[str, str],
        *,
        cut_after: int | None = None,
        is_file: bool = False,
    ) -> None:
        sent = body[:cut_after]
        self._log(status, len(sent) if is_file else 0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(sent)
        if cut_after is not None:
            self.wfile.flush()
            self.close_connection = True

    def _log(self, status: int, n_bytes: int) -> None:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        seen = Request(
            self.host,
            unquote(self.path),
            self.headers.get("Range"),
            token,
            status,
            n_bytes,
            self.command,
        )
        with self.osf.lock:
            self.osf.requests.append(seen)

    def _reject(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        """An error as the file service says it."""
        self._send(status, json.dumps({"code": status, "message": message}).encode(), headers or {})


class _Api(_Handler):
    host = "api"

    def _answer(self, path: str, fault: Fault | None) -> None:
        node = re.fullmatch(r"/v2/nodes/(\w+)/", path)
        if self._is_revoked():
            self._refuse(401, "User provided an invalid OAuth2 access token")
        elif node and not (fault and fault.body is not None) and node[1] in self.osf.nodes:
            self._describe(node[1])
        else:
            self._answer_of_files(path, fault)

    def _is_revoked(self) -> bool:
        given = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        return given in self.osf.revoked

    def _describe(self, node: str) -> None:
        """A project as API v2 describes it, with what the account may do."""
        if self._is_closed(node):
            self._refuse(403, "You do not have permission to perform this action.")
            return
        is_writer = self._may_write(node)
        attributes = {
            "title": "A project",
            "category": "project",
            "public": node not in self.osf.private,
            "registration": False,
            "current_user_permissions": ["read", "write"] if is_writer else ["read"],
        }
        data = {"id": node, "type": "nodes", "attributes": attributes, "links": {}}
        self._send(200, json.dumps({"data": data, "meta": {"version": "2.0"}}).encode(), {})

    def _may_write(self, node: str) -> bool:
        given = self.headers.get("Authorization")
        return given == f"Bearer {self.osf.token}" and node not in self.osf.read_only

    def _take(self, body: bytes, length: str | None, *, is_lost: bool) -> None:
        """A file or a folder that is sent to the file service."""
        parts = urlsplit(self.path)
        place = re.fullmatch(r"/v1/resources/(\w+)/providers/osfstorage/(?:(\w+)(/)?)?", parts.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if self._is_revoked():
            self._reject(401, "Unauthorized")
        elif place is None or place[1] not in self.osf.nodes:
            self._reject(404, "Could not retrieve file or directory")
        elif not self._may_write(place[1]):
            self._reject(403, "Forbidden")
        elif length is None and query.get("kind", "file") == "file":
            self._reject(411, "Content-Length is required for file uploads")
        else:
            status, entry = self._store(place[1], place[2], place[3], query, body)
            if status >= 300:
                self._reject(status, str(entry))
            elif is_lost:
                self._log(status, len(body))
                self.close_connection = True
            else:
                self._send(status, json.dumps({"data": entry}).encode(), {})

    def _store(
        self, node: str, ident: str | None, slash: str | None, query: Mapping[str, str], body: bytes
    ) -> tuple[int, Any]:
        files, folders = self.osf.nodes[node], self._folders(node)
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
            self.osf.folders.setdefault(node, set()).add(path)
            return 201, {"id": f"osfstorage/{file_id(path)}/", "attributes": {"kind": "folder"}}
        if is_new and path in files:
            return 409, f'file or folder "{query["name"]}" already exists in this location'
        if self.osf.room is not None and sum(map(len, files.values())) + len(body) > self.osf.room:
            return 507, "The quota on this osfstorage project has been exceeded"
        files[path] = body
        self.osf.versions[path] = self.osf.versions.get(path, 0) + 1
        return (201 if is_new else 200), self._stored(path, body)

    @staticmethod
    def _stored(path: str, body: bytes) -> dict[str, Any]:
        """A file that arrived, as the file service describes it."""
        hashes = {
            "md5": hashlib.md5(body, usedforsecurity=False).hexdigest(),
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        attributes = {
            "kind": "file",
            "name": path.rsplit("/", 1)[-1],
            "materialized": f"/{path}",
            "size": len(body),
            "extra": {"hashes": hashes, "version": 1, "downloads": 0},
        }
        return {"id": f"osfstorage/{file_id(path)}", "type": "files", "attributes": attributes}

    def _folders(self, node: str) -> set[str]:
        """Folders that were made, and those that files are in."""
        paths = self.osf.nodes[node]
        above = {path.rsplit("/", n)[0] for path in paths for n in range(1, path.count("/") + 1)}
        return above | self.osf.folders.get(node, set())

    def _service(self, node: str) -> str:
        return f"{self.osf.api}/v1/resources/{node}/providers/osfstorage/"

    def _answer_of_files(self, path: str, fault: Fault | None) -> None:
        kind = "registrations" if "/registrations/" in path else "nodes"
        listing = re.fullmatch(rf"/v2/{kind}/(\w+)/files/(?:osfstorage/(?:(\w+)/)?)?", path)
        if listing and (listing[1] in self.osf.registrations) != (kind == "registrations"):
            listing = None
        service = re.fullmatch(r"/(?:download|v1/resources)/(\w+)/(\w+)/?", path)
        if fault and fault.body is not None:
            self._send(200, fault.body, {"Content-Type": "text/html"})
        elif (found := listing or service) is None or found[1] not in self.osf.nodes:
            self._refuse(404, "Not found.")
        elif self._is_closed(found[1]):
            given = self.headers.get("Authorization")
            self._refuse(403 if given else 401, "You do not have permission to do this.")
        elif service:
            self._redirect(service[1], service[2], path)
        elif "osfstorage" in path and listing:
            self._list(self._children(listing[1], listing[2]))
        else:
            self._list([self._provider(found[1], name) for name in ("github", "osfstorage")])

    def _kind(self, node: str) -> str:
        return "registrations" if node in self.osf.registrations else "nodes"

    def _is_closed(self, node: str) -> bool:
        given = self.headers.get("Authorization")
        return node in self.osf.private and given != f"Bearer {self.osf.token}"

    def _redirect(self, node: str, file: str, path: str) -> None:
        """`links.download` leads to the file service, and that to the store with a signature."""
        to = f"{self.osf.api}/v1/resources/{node}/{file}"
        if path.startswith("/v1/"):
            to = f"{self.osf.store}/{node}/{file}?signature=5f1c"
        self._send(302, b"", {"Location": to})

    def _list(self, entries: Sequence[Mapping[str, Any]]) -> None:
        query = parse_qs(urlsplit(self.path).query)
        size = min(self.osf.page_size, int(query.get("page[size]", ["10"])[0]))
        number = int(query.get("page", ["1"])[0])
        here = f"{self.osf.api}{urlsplit(self.path).path}?page%5Bsize%5D={size}"
        is_last = number * size >= len(entries)
        links = {"first": None, "last": None, "prev": None, "meta": {}}
        page = {
            "data": entries[(number - 1) * size : number * size],
            "links": links | {"next": None if is_last else f"{here}&page={number + 1}"},
            "meta": {"total": len(entries), "per_page": size, "version": "2.0"},
        }
        self._send(200, json.dumps(page).encode(), {"Content-Type": "application/vnd.api+json"})

    def _provider(self, node: str, name: str) -> dict[str, Any]:
        told = {"kind": "folder", "name": name, "path": "/", "node": node, "provider": name}
        href = f"{self.osf.url}/{self._kind(node)}/{node}/files/{name}/"
        return {
            "id": f"{node}:{name}",
            "type": "files",
            "attributes": told,
            "relationships": {"files": {"links": {"related": {"href": href, "meta": {}}}}},
            "links": {
                "storage_addons": f"{self.osf.url}/addons/",
                "upload": self._service(node),
                "new_folder": f"{self._service(node)}?kind=folder",
            },
        }

    def _children(self, node: str, folder: str | None) -> list[dict[str, Any]]:
        files = self.osf.nodes[node]
        folders = self._folders(node)
        inside = next((f"{f}/" for f in folders if file_id(f) == folder), "")
        below = [p for p in [*sorted(folders), *files] if p.startswith(inside) and p != inside]
        direct = [p for p in below if "/" not in p[len(inside) :]]
        return [self._folder(node, p) if p in folders else self._file(node, p) for p in direct]

    def _folder(self, node: str, path: str) -> dict[str, Any]:
        told = {
            "kind": "folder",
            "name": path.rsplit("/", 1)[-1],
            "path": f"/{file_id(path)}/",
            "materialized_path": f"/{path}/",
            "provider": "osfstorage",
            "size": None,
        }
        href = f"{self.osf.url}/{self._kind(node)}/{node}/files/osfstorage/{file_id(path)}/"
        related = {"files": {"links": {"related": {"href": href, "meta": {}}}}}
        return {
            "id": file_id(path),
            "type": "files",
            "attributes": told,
            "relationships": related,
            "links": {
                "upload": f"{self._service(node)}{file_id(path)}/",
                "new_folder": f"{self._service(node)}{file_id(path)}/?kind=folder",
            },
        }

    def _file(self, node: str, path: str) -> dict[str, Any]:
        content = self.osf.nodes[node][path]
        hashes = {"md5": hashlib.md5(content, usedforsecurity=False).hexdigest()}
        if path not in self.osf.md5_only:
            hashes["sha256"] = hashlib.sha256(content).hexdigest()
        told = {
            "kind": "file",
            "name": path.rsplit("/", 1)[-1],
            "path": f"/{file_id(path)}",
            "materialized_path": self.osf.listed_paths.get(path, f"/{path}"),
            "provider": "osfstorage",
            "size": len(content),
            "current_version": 3,
            "date_created": "2026-09-01T08:00:00.000000",
            "date_modified": MODIFIED,
            "extra": {"hashes": hashes, "downloads": 4},
            "tags": [],
        }
        links = {
            "download": f"{self.osf.api}/download/{node}/{file_id(path)}/",
            "self": f"{self.osf.url}/files/{file_id(path)}/",
            "upload": f"{self._service(node)}{file_id(path)}",
        }
        return {
            "id": file_id(path),
            "type": "files",
            "attributes": told,
            "relationships": {},
            "links": links,
        }


class _Store(_Handler):
    host = "store"

    def _answer(self, path: str, fault: Fault | None) -> None:
        _, node, file = path.split("/")
        files = {file_id(name): content for name, content in self.osf.nodes[node].items()}
        content = files[file] if fault is None or fault.body is None else fault.body
        cut = fault.cut_after if fault else None
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if not wanted or not self.osf.ranges:
            self._send(200, content, {}, cut_after=cut, is_file=True)
            return
        start = int(wanted[1])
        if start >= len(content):
            self._refuse(416, "Range Not Satisfiable")
            return
        told = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        self._send(206, content[start:], told, cut_after=cut, is_file=True)
