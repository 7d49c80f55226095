"""Downloads from the Hugging Face hub, or from any mirror that speaks its protocol.

Promises: a pinned revision, files verified against the hub's own hashes each time they are asked
for, interrupted downloads taken up where they stopped (but for the last 10 MiB), nothing written
outside the folder, no telemetry, and no network at all once everything is there and sound.

`huggingface_hub` speaks to the hub; places, partial files and hashes are kept here, since its
`hf_hub_download` deletes the partial file when it fails, so that nothing resumes across runs. The
listing is kept beside the files: a revision that moves (a branch) stays at the commit first seen
until that listing is deleted.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import httpx2  # for the exceptions of a broken connection, which the library passes on
from huggingface_hub import HfApi, constants, hf_hub_url
from huggingface_hub.errors import (
    HfHubHTTPError,
    HFValidationError,
    OfflineModeIsEnabled,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import http_get
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # public, lazy
from huggingface_hub.utils.sha import git_hash

from fieldwork.errors import StudyError, size_text

logger = logging.getLogger(__name__)

_PUBLIC_HUB = "https://huggingface.co"
_ANSWER_WITHIN_S = 10.0


class DownloadedFile(NamedTuple):
    """A file that is there, whole and verified."""

    path: Path
    sha256: str
    n_bytes: int


class _Remote(NamedTuple):
    """A file as the hub lists it; `digest` is a large file's sha256 or a small one's git hash."""

    path: str
    size: int
    digest: str


class _Listing(NamedTuple):
    """What a revision holds of what was asked for, ordered by path."""

    commit: str
    remotes: list[_Remote]


class _Order(NamedTuple):
    """What is to be downloaded, and where errors point."""

    name: str
    repo: str
    revision: str
    patterns: Sequence[str]
    folder: Path
    repo_type: str
    endpoint: str


def download(
    *,
    name: str,
    repo: str,
    revision: str,
    patterns: Sequence[str],
    folder: Path,
    repo_type: str = "dataset",
) -> list[DownloadedFile]:
    """Bring the files of a repository that match `patterns` to `folder`, keeping their paths.

    `name` is the data set's name in the config; `patterns` are globs over whole paths. `HF_ENDPOINT`
    and `HF_TOKEN` are read at each call. Each file gets a `<file>.sha256` that `sha256sum -c` reads.
    Files already there are hashed, and fetched again only where the hash is wrong. Before the first
    byte, the log says how much is to be fetched and how much room there is. Ordered by path.

    Raises:
        StudyError: no network, no access, no such repository, revision or file, too little disk
            space, a listing that points outside the folder, or content other than it promises.
    """
    endpoint = (os.environ.get("HF_ENDPOINT") or _PUBLIC_HUB).rstrip("/")
    order = _Order(name, repo, revision, patterns, folder, repo_type, endpoint)
    # Else the library fetches a list of known callers and keeps it in the home folder. Its switch in
    # the environment is read when it is imported, which may have been long ago.
    constants.HF_HUB_DISABLE_TELEMETRY = True
    with _explained(order):
        listing = _kept_listing(order)
        done = _sound_files(order, listing) if listing else {}
        if listing is None or len(done) < len(listing.remotes):
            # Asked again where files are missing: a hub that is away or closed says so in seconds.
            listing = _ask_listing(order, listing.commit if listing else revision)
            done = done or _sound_files(order, listing)
            _keep_listing(order, listing)
            missing = [remote for remote in listing.remotes if remote.path not in done]
            _announce(order, missing)
            for number, remote in enumerate(missing, start=1):
                done[remote.path] = _fetch(order, listing.commit, remote)
                logger.info("%s: %d/%d %s", name, number, len(missing), remote.path)
        for file in done.values():
            _write_checksum(file)
    return [done[remote.path] for remote in listing.remotes]


def _listing_path(order: _Order) -> Path:
    asked = json.dumps([order.repo_type, order.repo, order.revision, sorted(order.patterns)])
    return order.folder / f".listing-{hashlib.sha256(asked.encode()).hexdigest()[:16]}.json"


def _kept_listing(order: _Order) -> _Listing | None:
    """The listing kept from an earlier call; one that cannot be read is asked for again."""
    try:
        commit, remotes = json.loads(_listing_path(order).read_text("utf-8"))
        return _Listing(commit, [_Remote(*remote) for remote in remotes])
    except (OSError, ValueError, TypeError):
        return None


def _keep_listing(order: _Order, listing: _Listing) -> None:
    order.folder.mkdir(parents=True, exist_ok=True)
    _listing_path(order).write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8")


def _ask_listing(order: _Order, revision: str) -> _Listing:
    api = HfApi(endpoint=order.endpoint, headers={"user-agent": "fieldwork"})
    ask = api.model_info if order.repo_type == "model" else api.dataset_info
    try:
        info = ask(order.repo, revision=revision, timeout=_ANSWER_WITHIN_S, files_metadata=True)
        entries = [_remote(sibling) for sibling in info.siblings or []]
    except HFValidationError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreachable(order, "its answer is not that of a hub") from error
    unmatched = [p for p in order.patterns if not any(fnmatchcase(e.path, p) for e in entries)]
    if unmatched:
        raise StudyError(
            f"{order.name}: {order.repo} at revision {order.revision} has no file "
            f"{', '.join(unmatched)}; correct the file names or the revision in the config"
        )
    wanted = [e for e in entries if any(fnmatchcase(e.path, p) for p in order.patterns)]
    return _Listing(str(info.sha), sorted(wanted, key=attrgetter("path")))


def _remote(sibling: RepoSibling) -> _Remote:
    if sibling.lfs:
        return _Remote(sibling.rfilename, sibling.lfs.size, sibling.lfs.sha256)
    if sibling.size is None or sibling.blob_id is None:
        raise TypeError(f"{sibling.rfilename} is listed without what it can be verified by")
    return _Remote(sibling.rfilename, sibling.size, sibling.blob_id)


def _target(order: _Order, path: str) -> Path:
    """Where a listed file goes; a listing is foreign data and may not choose a place elsewhere."""
    inside = order.folder.resolve()
    if any(c in path for c in "\\\0") or inside not in (inside / path).resolve().parents:
        raise StudyError(
            f"{order.name}: {order.repo} lists {path!r}, which lies outside {order.folder}; "
            f"nothing was fetched: check `repo:` and HF_ENDPOINT"
        )
    return order.folder / path


def _partial_path(order: _Order, remote: _Remote) -> Path:
    """Named by content, so that a partial file of another revision is never continued."""
    target = _target(order, remote.path)
    return target.with_name(f".{target.name}.{remote.digest[:12]}.partial")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _sound_files(order: _Order, listing: _Listing) -> dict[str, DownloadedFile]:
    """The files that are there and hash to what the hub said."""
    targets = [(remote, _target(order, remote.path)) for remote in listing.remotes]
    return {r.path: file for r, target in targets if (file := _verified(target, r))}


def _verified(path: Path, remote: _Remote) -> DownloadedFile | None:
    if not path.is_file() or path.stat().st_size != remote.size:
        return None
    with path.open("rb") as handle:
        sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
    is_large = len(remote.digest) == len(sha256)
    if remote.digest != (sha256 if is_large else git_hash(path.read_bytes())):
        return None
    return DownloadedFile(path, sha256, remote.size)


def _write_checksum(file: DownloadedFile) -> None:
    sidecar = file.path.with_name(f"{file.path.name}.sha256")
    text = f"{file.sha256}  {file.path.name}\n"
    if not sidecar.is_file() or sidecar.read_bytes() != text.encode():
        sidecar.write_text(text, encoding="utf-8")


def _announce(order: _Order, missing: Sequence[_Remote]) -> None:
    """Say what is coming, or that the disk cannot hold it."""
    needed = sum(r.size - min(_size(_partial_path(order, r)), r.size) for r in missing)
    free = shutil.disk_usage(order.folder).free
    room = f"{size_text(needed)} to download, {size_text(free)} free in {order.folder}"
    if needed > free:
        raise StudyError(
            f"{order.name}: {room}; make room, or set `path:` of {order.name} to a copy elsewhere"
        )
    logger.info("%s: %d files, %s (from %s)", order.name, len(missing), room, order.endpoint)


def _fetch(order: _Order, commit: str, remote: _Remote) -> DownloadedFile:
    target, partial = _target(order, remote.path), _partial_path(order, remote)
    target.parent.mkdir(parents=True, exist_ok=True)
    # What an earlier run left may have been damaged since: then once more, from the start.
    for _ in range(2 if _size(partial) else 1):
        _transfer(order, commit, remote, partial)
        if file := _verified(partial, remote):
            partial.replace(target)
            return file._replace(path=target)
        partial.unlink()
    raise StudyError(
        f"{order.name}: {remote.path} arrived from {order.endpoint} with another content than its "
        f"listing promises; try again, or set HF_ENDPOINT to another mirror"
    )


def _transfer(order: _Order, commit: str, remote: _Remote, partial: Path) -> None:
    """Go on with a partial file until it is whole, or a connection breaks before a byte of it."""
    url = hf_hub_url(
        order.repo, remote.path, repo_type=order.repo_type, revision=commit, endpoint=order.endpoint
    )
    # Ranges and hashes are of the file itself, not of a compressed form of it.
    headers = build_hf_headers(headers={"user-agent": "fieldwork", "accept-encoding": "identity"})
    partial.touch()
    while (have := _size(partial)) < remote.size:
        try:
            with partial.open("ab") as handle:
                http_get(url, handle, resume_size=have, headers=headers, expected_size=remote.size)
        except httpx2.NetworkError:
            if _size(partial) == have:
                raise
        except OSError as error:
            # The library's error for a file of another size has no number; its hash tells the rest.
            if error.errno is not None or isinstance(error, HfHubHTTPError | OfflineModeIsEnabled):
                raise
            return


@contextmanager
def _explained(order: _Order) -> Iterator[None]:
    """Turn errors of the hub, the network and the disk into sentences."""
    repo = f"{order.name}: {order.repo}"
    try:
        yield
    except HFValidationError as error:
        raise StudyError(f"{repo} names no repository; write `repo:` as owner/name") from error
    except RevisionNotFoundError as error:
        raise StudyError(f"{repo} has no revision {order.revision}; correct it") from error
    except HfHubHTTPError as error:
        raise _refusal(order, error) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OfflineModeIsEnabled) as error:
        raise _unreachable(order, str(error).strip() or type(error).__name__) from error
    except OSError as error:
        raise StudyError(
            f"{order.name}: cannot read or write in {order.folder} ({error.strerror or error}); "
            f"make room or mend its permissions, or set `path:` of {order.name} to a copy elsewhere"
        ) from error


def _refusal(order: _Order, error: HfHubHTTPError) -> StudyError:
    repo, status = f"{order.name}: {order.repo}", error.response.status_code
    if status in (401, 403):
        kind = "" if order.repo_type == "model" else f"{order.repo_type}s/"
        return StudyError(
            f"{repo} is closed to you (HTTP {status}): accept its terms at {order.endpoint}/{kind}"
            f"{order.repo}, then set HF_TOKEN to that account's token; or correct `repo:`, if there "
            f"is no such page"
        )
    if status != 404:
        return _unreachable(order, f"HTTP {status}")
    # the first address: one redirected to may carry a signature
    asked = [*error.response.history, error.response][0].url
    return StudyError(
        f"{repo} at revision {order.revision} is not, or not whole, at {order.endpoint} (HTTP 404 "
        f"for {asked}); correct the config, or set HF_ENDPOINT to a mirror that has it"
    )


def _unreachable(order: _Order, reason: str) -> StudyError:
    return StudyError(
        f"{order.name}: cannot download {order.repo} from {order.endpoint} ({reason}); set "
        f"HF_ENDPOINT to a mirror, or set `path:` of {order.name} in the config to a local copy"
    )
