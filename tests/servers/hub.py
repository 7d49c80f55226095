"""A Hugging Face hub on the loopback interface: the hub's own paths, and its bad days.

    with serve_hub({"owner/data": {"data/a.parquet": b"..."}}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)

Serves data sets under `/api/datasets/...` and `/datasets/...`, models under `/api/models/...` and
`/...`. Large-file suffixes are answered as the hub answers LFS files: a sha256 in the listing and a
redirect to another path for the bytes. `hub.requests` holds what was asked, in order; `hub.faults`
may be added to at any time.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from servers.file_hosts import Fault, FileHost, HostHandler, serving

__all__ = ["Fault", "Hub", "serve_hub"]

LARGE_SUFFIXES = (".parquet", ".safetensors", ".bin", ".gz")

Content = bytes | Path
Repositories = Mapping[str, Mapping[str, Content]]


@dataclass(kw_only=True)
class Hub(FileHost):
    """A running server.

    Attributes:
        revisions: those that exist; None: every one.
        listed_paths: renames files in the listing only, for a hub that lies about them.
    """

    repositories: Repositories
    revisions: Sequence[str] | None = None
    listed_paths: Mapping[str, str] = field(default_factory=dict)
    endpoint: str = ""

    def content(self, repo: str, path: str) -> bytes | None:
        stored = self.repositories.get(repo, {}).get(path)
        return stored.read_bytes() if isinstance(stored, Path) else stored

    def commit(self, repo: str, revision: str) -> str:
        """The commit behind a revision: itself if it is one, else a hash of the two names."""
        if re.fullmatch("[0-9a-f]{40}", revision):
            return revision
        return hashlib.sha1(f"{repo}@{revision}".encode(), usedforsecurity=False).hexdigest()

    def problem(self, repo: str | None, revision: str) -> str | None:
        """What the hub calls it that it has no such repository or revision."""
        if repo not in self.repositories:
            return "RepoNotFound"
        known = (revision,) if self.revisions is None else self.revisions
        is_there = revision in (*known, *(self.commit(str(repo), name) for name in known))
        return None if is_there else "RevisionNotFound"


@contextmanager
def serve_hub(
    repositories: Repositories,
    *,
    faults: Sequence[Fault] = (),
    revisions: Sequence[str] | None = None,
    listed_paths: Mapping[str, str] | None = None,
) -> Iterator[Hub]:
    """Serve repositories until the block ends; see `Hub` for the arguments."""
    hub = Hub(
        repositories=repositories,
        revisions=revisions,
        listed_paths=listed_paths or {},
        faults=list(faults),
    )
    with serving(hub, _Handler) as hub.endpoint:
        yield hub


def git_hash(content: bytes) -> str:
    """The hash git gives a blob."""
    head = f"blob {len(content)}\0".encode()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


class _Handler(HostHandler):
    site: Hub

    def refuse(self, status: int, reason: str, headers: Mapping[str, str] = {}) -> None:
        codes = {401: "GatedRepo", 403: "GatedRepo", 404: reason}
        code = {"X-Error-Code": codes[status]} if status in codes else {}
        self.send(status, b"{}", {**headers, **code})

    def answer(self, path: str, fault: Fault | None) -> None:
        if not path.startswith("/api/"):
            self._answer_file(path, fault)
        elif fault and fault.body is not None:
            self.send(200, fault.body, {"Content-Type": "text/html"})
        else:
            self._answer_api(path)

    def _answer_api(self, path: str) -> None:
        match = re.fullmatch(r"/api/(?:datasets|models)/([^/]+/[^/]+)/revision/([^/]+)", path)
        repo, revision = (match[1], unquote(match[2])) if match else ("", "")
        if problem := self.site.problem(repo, revision):
            self.refuse(404, problem)
            return
        blobs = parse_qs(urlsplit(self.path).query).get("blobs") in (["True"], ["true"])
        files = [self._sibling(repo, name, blobs) for name in self.site.repositories[repo]]
        info = {"id": repo, "sha": self.site.commit(repo, revision), "siblings": files}
        self.send(200, json.dumps(info).encode(), {"Content-Type": "application/json"})

    def _sibling(self, repo: str, name: str, whole: bool) -> dict[str, object]:
        content = self.site.content(repo, name) or b""
        entry: dict[str, object] = {"rfilename": self.site.listed_paths.get(name, name)}
        if not whole:
            return entry
        entry |= {"size": len(content), "blobId": git_hash(content)}
        if not name.endswith(LARGE_SUFFIXES):
            return entry
        sha256 = hashlib.sha256(content).hexdigest()
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\n"
        pointer += f"size {len(content)}\n"
        large = {"sha256": sha256, "size": len(content), "pointerSize": len(pointer)}
        return entry | {"blobId": git_hash(pointer.encode()), "lfs": large}

    def _answer_file(self, path: str, fault: Fault | None) -> None:
        if stored := re.fullmatch(r"/lfs/([^/]+/[^/]+)/(.+)", path):
            self._send_file(stored[1], unquote(stored[2]), fault)
            return
        match = re.fullmatch(r"(?:/datasets)?/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        repo, revision, name = match.groups() if match else ("", "", "")
        if problem := self.site.problem(repo, revision):
            self.refuse(404, problem)
        elif name.endswith(LARGE_SUFFIXES):
            self.send(302, b"", {"Location": f"/lfs/{repo}/{name}"})
        else:
            self._send_file(repo, unquote(name), fault)

    def _send_file(self, repo: str, name: str, fault: Fault | None) -> None:
        content = self.site.content(repo, name)
        if content is None:
            self.refuse(404, "EntryNotFound")
        else:
            headers = {"ETag": f'"{git_hash(content)}"', "Accept-Ranges": "bytes"}
            self.send_range(content, headers, fault)
