"""Downloads against a loopback hub: what goes over the wire, what lands on disk, what is said."""

import hashlib
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from fieldwork.downloads.hub import DownloadedFile, download
from fieldwork.errors import StudyError
from servers.hub import Fault, Hub, serve_hub

REPO = "owner/chats"
REVISION = "a" * 40
ONE = ["data/train-0.parquet"]
LARGE = bytes(range(256)) * 12_000
FILES = {
    "data/train-0.parquet": LARGE,
    "data/train-1.parquet": LARGE[::-1],
    "README.md": b"a card\n",
    "data/odd name #1.csv": b"a,b\n",
}


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_OIDC_RESOURCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/none")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    # small chunks, so that small files break in the middle, and no pauses between attempts
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serve_hub({REPO: FILES}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        yield server


def fetch(folder: Path, **changes: Any) -> list[DownloadedFile]:
    wanted: dict[str, Any] = {"name": "chats", "repo": REPO, "revision": REVISION}
    wanted |= {"patterns": ["data/*.parquet"], "folder": folder}
    return download(**(wanted | changes))


def test_files_land_under_their_paths_with_checksums_that_sha256sum_accepts(
    hub: Hub, tmp_path: Path
) -> None:
    files = fetch(tmp_path, patterns=["*"])
    assert [str(f.path.relative_to(tmp_path)) for f in files] == sorted(FILES)
    for file in files:
        content = FILES[str(file.path.relative_to(tmp_path))]
        assert file.path.read_bytes() == content
        assert (file.sha256, file.n_bytes) == (hashlib.sha256(content).hexdigest(), len(content))
        command = ["sha256sum", "-c", f"{file.path.name}.sha256"]
        assert subprocess.run(command, cwd=file.path.parent, check=False).returncode == 0
    assert not list(tmp_path.rglob("*.partial"))
    assert all(r.token is None for r in hub.requests)
    assert {r.encoding for r in hub.requests if r.n_bytes} == {"identity"}
    # nothing goes over the network once everything is there
    n_requests = len(hub.requests)
    assert fetch(tmp_path, patterns=["*"]) == files
    assert len(hub.requests) == n_requests


@pytest.mark.parametrize("damage", [b"", LARGE[:-1], LARGE[:-1] + b"\x00", None])
def test_a_damaged_or_missing_file_is_fetched_again_and_only_that(
    hub: Hub, tmp_path: Path, damage: bytes | None
) -> None:
    target = fetch(tmp_path)[0].path
    before = hub.bytes_served
    target.unlink() if damage is None else target.write_bytes(damage)
    fetch(tmp_path)
    assert target.read_bytes() == LARGE
    assert hub.bytes_served - before == len(LARGE)


def test_a_broken_connection_is_taken_up_where_it_broke(hub: Hub, tmp_path: Path) -> None:
    hub.faults.append(Fault("/lfs/owner/chats/data/train-0.parquet", cut_after=1_000_000))
    fetch(tmp_path, patterns=ONE)
    assert hub.bytes_served == len(LARGE)
    assert [r.range for r in hub.requests if r.n_bytes] == [None, "bytes=1000000-"]


def break_off(hub: Hub, folder: Path) -> Path:
    """Leave a partial file of 1,000,000 bytes: the connection drops and the server fails from then on."""
    hub.faults += [Fault("/lfs/", cut_after=1_000_000), Fault("/lfs/", status=500, times=99)]
    with pytest.raises(StudyError, match=r"HTTP 500.*HF_ENDPOINT"):
        fetch(folder, patterns=ONE)
    hub.faults.clear()
    (partial,) = (folder / "data").glob(".*.partial")
    return partial


def test_a_killed_download_is_taken_up_by_the_next_run(
    hub: Hub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    break_off(hub, tmp_path)
    with caplog.at_level("INFO", "fieldwork.downloads.transfer"):
        fetch(tmp_path, patterns=ONE)
    assert hub.bytes_served == len(LARGE)
    assert f"{(len(LARGE) - 1_000_000) / 1e6:,.1f} MB to download" in caplog.messages[0]


@pytest.mark.parametrize("damage", [b"x" * 500, b"x" * len(LARGE), b"x" * (len(LARGE) + 1)])
def test_a_damaged_partial_file_is_started_afresh(hub: Hub, tmp_path: Path, damage: bytes) -> None:
    break_off(hub, tmp_path).write_bytes(damage)
    (file,) = fetch(tmp_path, patterns=ONE)
    assert file.path.read_bytes() == LARGE


@pytest.mark.parametrize("body", [LARGE[:-1] + b"\x00", LARGE[:-1], LARGE + b"\x00", b""])
def test_other_content_than_promised_is_refused(hub: Hub, tmp_path: Path, body: bytes) -> None:
    hub.faults.append(Fault("/lfs/", body=body, times=9))
    with pytest.raises(StudyError, match="another content"):
        fetch(tmp_path, patterns=ONE)
    assert not (tmp_path / "data/train-0.parquet").exists()
    assert not list(tmp_path.rglob("*.partial"))


TERMS = "accept its terms at http"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("/api/", status=401), [TERMS, f"/datasets/{REPO}, then set HF_TOKEN"]),
        (Fault("/resolve/", status=403), [TERMS, "HF_TOKEN"]),
        (Fault("/api/", status=404), [REPO, REVISION, "HF_ENDPOINT"]),
        (Fault("/lfs/", status=404), ["HTTP 404 for http", "/resolve/"]),
        (Fault("/lfs/", status=429, times=99), ["HTTP 429", "HF_ENDPOINT", "`path:` of chats"]),
        # an endpoint that is no hub is said to be none
        (Fault("/api/", body=b"<html>log in to the hotel's network</html>"), ["not that of a hub"]),
        (Fault("/api/", body=b"[]"), ["not that of a hub"]),
        (Fault("/api/", body=b"{}"), ["not that of a hub"]),
        (Fault("/api/", body=b'{"id": "a", "sha": "b", "siblings": [{"rfilename": "data/a.parquet"}]}'),
         ["not that of a hub"]),
    ],
)  # fmt: skip
def test_refusals_say_what_to_do(hub: Hub, tmp_path: Path, fault: Fault, said: list[str]) -> None:
    hub.faults.append(fault)
    with pytest.raises(StudyError) as caught:
        fetch(tmp_path)
    assert "\n" not in str(caught.value)
    assert [part for part in said if part not in str(caught.value)] == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(hub: Hub, tmp_path: Path, status: int) -> None:
    hub.faults.append(Fault("/lfs/", status=status, times=3))
    assert len(fetch(tmp_path)) == 2


@pytest.mark.usefixtures("hub")
def test_what_a_setting_names_wrongly_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    changes: list[tuple[dict[str, Any], str]] = [
        ({"repo": "none/such"}, "none/such at http"),
        ({"repo": "no such//name"}, "write `repo:` as owner/name"),
        ({"patterns": ["README.md", "data/none.parquet"]}, "data/none.parquet"),
        ({"patterns": ["README.md", "*.jsonl"]}, r"\*\.jsonl"),
    ]
    for change, said in changes:
        with pytest.raises(StudyError, match=said):
            fetch(tmp_path, **change)
    with pytest.raises(StudyError, match="cannot be saved in"):
        fetch(tmp_path / "file" / "folder")


def test_a_missing_revision_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with serve_hub({REPO: FILES}, revisions=["main"]) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        with pytest.raises(StudyError, match=f"no revision {REVISION}"):
            fetch(tmp_path)


def test_a_branch_stays_at_the_commit_first_seen(hub: Hub, tmp_path: Path) -> None:
    (file,) = fetch(tmp_path, revision="main", patterns=["README.md"])
    file.path.unlink()
    fetch(tmp_path, revision="main", patterns=["README.md"])
    commit = hub.commit(REPO, "main")
    assert [r.path.split("?")[0] for r in hub.requests] == [
        f"/api/datasets/{REPO}/revision/main",
        f"/datasets/{REPO}/resolve/{commit}/README.md",
        f"/api/datasets/{REPO}/revision/{commit}",
        f"/datasets/{REPO}/resolve/{commit}/README.md",
    ]


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9", "http://none.invalid", "nonsense", ":"])
def test_without_a_network_one_line_names_both_ways_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, endpoint: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    with pytest.raises(StudyError) as caught:
        fetch(tmp_path)
    message = str(caught.value)
    assert endpoint in message
    assert "set HF_ENDPOINT to a mirror, or set `path:` of chats in the config" in message
    assert "\n" not in message


def test_offline_mode_asks_nobody(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(StudyError, match="unset the `HF_HUB_OFFLINE`"):
        fetch(tmp_path)
    assert not hub.requests


def test_too_small_a_disk_is_said_before_the_first_byte(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=len(LARGE))
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(StudyError, match="free space"):
        fetch(tmp_path)
    assert hub.bytes_served == 0


@pytest.mark.parametrize(
    "listed",
    ["../outside.parquet", "/tmp/outside.parquet", "data/../../outside.parquet", "a\\b", "link/x"],
)
def test_a_listing_cannot_point_outside_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listed: str
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with serve_hub({REPO: FILES}, listed_paths={"data/train-0.parquet": listed}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        with pytest.raises(StudyError, match="lies outside"):
            fetch(folder, patterns=["*"])
        assert server.bytes_served == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in"]


def test_the_token_goes_to_the_hub_and_the_library_asks_for_nothing_else(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    callers = "huggingface_hub.utils._detect_agent"
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr(constants, "AGENT_HARNESSES_PATH", str(tmp_path / "agents.json"))
    monkeypatch.setattr(f"{callers}._registry", None)
    monkeypatch.setattr(f"{callers}._fetch_registry", lambda: asked.append("callers"))
    fetch(tmp_path / "data", patterns=["README.md"])
    assert [r.path.split("?")[0] for r in hub.requests] == [
        f"/api/datasets/{REPO}/revision/{REVISION}",
        f"/datasets/{REPO}/resolve/{REVISION}/README.md",
    ]
    assert not asked
    assert {r.token for r in hub.requests} == {"hf_secret"}
    kept = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert not any(b"hf_secret" in content for content in kept)
