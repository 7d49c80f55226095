"""What the fakes of a hub and of OSF share: bad days, a record of requests, files whole or in part."""

import re
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit


@dataclass
class Fault:
    """Something that goes wrong with the next `times` requests whose path contains `path`.

    Attributes:
        status, retry_after: the answer's code, and what is in its header.
        cut_after: so many bytes of the body are sent, and the connection is dropped, by a reset if
            `reset`; of an upload so many are taken before.
        body: other bytes in answer.
        is_lost: what was asked is done, and the connection is dropped before an answer.
    """

    path: str
    status: int | None = None
    retry_after: str | None = None
    cut_after: int | None = None
    reset: bool = False
    body: bytes | None = None
    times: int = 1
    is_lost: bool = False


class Request(NamedTuple):
    """A request as a server saw it; `n_bytes` of a file's content were sent in answer, or came in."""

    host: str
    path: str
    range: str | None
    encoding: str | None
    token: str | None
    status: int
    n_bytes: int
    method: str


@dataclass(kw_only=True)
class FileHost:
    """Servers that run, and what was asked of them."""

    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def bytes_served(self) -> int:
        """Bytes of files sent so far."""
        return sum(request.n_bytes for request in self.requests if request.method == "GET")

    def take_fault(self, path: str) -> Fault | None:
        """The first fault that is left for a path."""
        with self.lock:
            for fault in self.faults:
                if fault.times > 0 and fault.path in path:
                    fault.times -= 1
                    return fault
        return None


class HostHandler(BaseHTTPRequestHandler):
    """A request to a server; `place` is what its record calls the server."""

    site: FileHost
    place = ""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""

    def do_GET(self) -> None:
        fault = self.site.take_fault(unquote(self.path))
        if fault and fault.status:
            self.refuse(fault.status, "A bad day.", retry_after(fault))
        else:
            self.answer(urlsplit(self.path).path, fault)

    def do_PUT(self) -> None:
        self.put()

    def put(self) -> None:
        """Take a file, where the server takes any."""
        self.send_error(501)

    def answer(self, path: str, fault: Fault | None) -> None:
        """Answer a GET that no status of a fault meets."""
        raise NotImplementedError

    def refuse(self, status: int, reason: str, headers: Mapping[str, str] = {}) -> None:
        """Answer with an error."""
        raise NotImplementedError

    def send_range(
        self, content: bytes, headers: Mapping[str, str], fault: Fault | None, *, parts: bool = True
    ) -> None:
        """Send a file, or the part that is asked for; without `parts` always the whole."""
        content = content if fault is None or fault.body is None else fault.body
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if not wanted or not parts:
            self.send(200, content, headers, fault=fault, is_file=True)
            return
        start, stop = int(wanted[1]), int(wanted[2] or len(content) - 1) + 1
        if start >= len(content):
            self.refuse(416, "Range Not Satisfiable")
            return
        part = content[start:stop]
        place = {"Content-Range": f"bytes {start}-{start + len(part) - 1}/{len(content)}"}
        self.send(206, part, {**headers, **place}, fault=fault, is_file=True)

    def send(
        self,
        status: int,
        body: bytes,
        headers: Mapping[str, str],
        *,
        fault: Fault | None = None,
        is_file: bool = False,
    ) -> None:
        """Send an answer, or what a fault leaves of it."""
        cut = fault.cut_after if fault else None
        sent = body[:cut]
        self.record(status, len(sent) if is_file else 0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(sent)
        if cut is not None:
            self.wfile.flush()
            self.close_connection = True
        if fault and fault.reset:
            # a reset throws away what the client has not read yet, so let it read
            threading.Event().wait(0.3)
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def record(self, status: int, n_bytes: int) -> None:
        """Keep what was asked and how it was answered."""
        header = self.headers.get
        token = (header("Authorization") or "").removeprefix("Bearer ") or None
        about = (self.place, unquote(self.path), header("Range"), header("Accept-Encoding"), token)
        with self.site.lock:
            self.site.requests.append(Request(*about, status, n_bytes, self.command))


def retry_after(fault: Fault) -> dict[str, str]:
    """The header of a fault that says when to come again."""
    return {"Retry-After": fault.retry_after} if fault.retry_after else {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is no news."""


@contextmanager
def serving(site: FileHost, handler: type[HostHandler]) -> Iterator[str]:
    """The address of a server, until the block ends."""
    server = _Server(("127.0.0.1", 0), type("_Bound", (handler,), {"site": site}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
