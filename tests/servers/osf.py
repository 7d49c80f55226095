"""OSF on the loopback interface: its API v2, its downloads, the store behind them, and bad days.

    with serve_osf({"abc12": {"data/answers.csv": b"..."}}) as osf:
        download(node="abc12", url=osf.url, ...)

A project is listed as OSF lists it: providers first, then OSF Storage folder by folder and page by
page, JSON:API throughout. A download is redirected twice, as there: from `links.download` to the file
service, and from there to a store at another host (here another port), which must never see a token.
`osf.requests` holds what was asked, in order; `osf.faults` may be added to at any time.
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
    of the body and drops the connection. `body` answers with other bytes.
    """

    path: str
    status: int | None = None
    retry_after: str | None = None
    cut_after: int | None = None
    body: bytes | None = None
    times: int = 1


class Request(NamedTuple):
    """A request as a server saw it; `n_bytes` of a file's content were sent in answer."""

    host: str
    path: str
    range: str | None
    token: str | None
    status: int
    n_bytes: int


@dataclass
class Osf:
    """Running servers: the API with the file service, and the store."""

    nodes: Mapping[str, Mapping[str, bytes]]
    private: Collection[str]
    token: str
    page_size: int
    registrations: Collection[str]
    md5_only: Collection[str]
    listed_paths: Mapping[str, str]
    ranges: bool
    faults: list[Fault]
    api: str = ""
    store: str = ""
    requests: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        """Address of the API, for `field.osf.url`."""
        return f"{self.api}/v2"

    @property
    def bytes_served(self) -> int:
        """Bytes of files sent so far."""
        return sum(request.n_bytes for request in self.requests)

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
) -> Iterator[Osf]:
    """Serve projects until the block ends.

    `private` ones want the token; `registrations` are listed as such, and not as nodes; paths in
    `md5_only` are listed without a sha256; `listed_paths` renames files in the listing only. Without
    `ranges` the store sends files whole.
    """
    osf = Osf(
        nodes,
        private,
        token,
        page_size,
        registrations,
        md5_only,
        listed_paths or {},
        ranges,
        list(faults),
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
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        n_bytes = len(sent) if is_file else 0
        seen = Request(
            self.host, unquote(self.path), self.headers.get("Range"), token, status, n_bytes
        )
        with self.osf.lock:
            self.osf.requests.append(seen)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(sent)
        if cut_after is not None:
            self.wfile.flush()
            self.close_connection = True


class _Api(_Handler):
    host = "api"

    def _answer(self, path: str, fault: Fault | None) -> None:
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
            "links": {"storage_addons": f"{self.osf.url}/addons/"},
        }

    def _children(self, node: str, folder: str | None) -> list[dict[str, Any]]:
        files = self.osf.nodes[node]
        folders = {path.rsplit("/", n)[0] for path in files for n in range(1, path.count("/") + 1)}
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
            "links": {},
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
