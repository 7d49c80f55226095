"""Downloads from a loopback OSF: what goes over the wire, what lands on disk, what is said."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from field import download_field
from fieldwork.downloads.manifest import local_files
from fieldwork.downloads.transfer import DownloadedFile
from fieldwork.errors import StudyError
from fieldwork.field.osf import download
from fieldwork.osf.session import _is_own, _origin
from servers.osf import MODIFIED, Fault, Osf, serve_osf

NODE = "abc12"
LARGE = bytes(range(256)) * 4_000
FILES = {
    "codebook.pdf": b"%PDF",
    "answers.csv": b"id,movies\np1,Alien\n",
    "data/field/wave 1.csv": LARGE,
    "data/field/wave #2.csv": LARGE[::-1],
    "data/notes.txt": b"notes\n",
}
WAVE = ["data/field/wave 1.csv"]
CSV = ["answers.csv", "data/field/wave #2.csv", "data/field/wave 1.csv"]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was waited between attempts, without waiting it."""
    asked: list[float] = []
    monkeypatch.setattr(time, "sleep", asked.append)
    monkeypatch.delenv("OSF_TOKEN", raising=False)
    return asked


@pytest.fixture
def osf() -> Iterator[Osf]:
    with serve_osf({NODE: FILES}) as server:
        yield server


def fetch(osf: Osf, folder: Path, **changes: Any) -> list[DownloadedFile]:
    wanted = {"node": NODE, "url": osf.url, "patterns": ["*.csv"], "folder": folder}
    return download(**(wanted | changes))


def refusal(osf: Osf, folder: Path, **changes: Any) -> str:
    with pytest.raises(StudyError) as caught:
        fetch(osf, folder, **changes)
    told = str(caught.value)
    assert told.startswith("field.osf: ")
    assert "\n" not in told
    return told


def names(folder: Path) -> list[str]:
    """Files there, but for what is hidden."""
    paths = (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    return sorted(p.relative_to(folder).as_posix() for p in paths)


@pytest.mark.parametrize(
    ("patterns", "expected", "served"),
    [
        (["*.csv"], CSV, {"page_size": 1}),
        (["*"], sorted(FILES), {"page_size": 100}),
        (None, CSV, {"registrations": [NODE]}),
        (["*.txt", "*.pdf"], ["codebook.pdf", "data/notes.txt"], {"page_size": 2}),
    ],
)
def test_files_of_all_folders_and_pages_land_under_their_paths(
    waits: list[float], tmp_path: Path, patterns: Any, expected: list[str], served: dict[str, Any]
) -> None:
    with serve_osf({NODE: FILES}, **served) as osf:
        files = fetch(osf, tmp_path, patterns=patterns)
        n_requests = len(osf.requests)
        # nothing goes over the network once everything is there
        assert fetch(osf, tmp_path, patterns=patterns) == files
        assert len(osf.requests) == n_requests
    assert [f.path.relative_to(tmp_path).as_posix() for f in files] == expected == names(tmp_path)
    for file, name in zip(files, expected, strict=True):
        assert file.path.read_bytes() == FILES[name]
        assert file.sha256 == hashlib.sha256(FILES[name]).hexdigest()
        assert (file.n_bytes, file.modified_at, file.version) == (len(FILES[name]), MODIFIED, 3)
    assert waits == []


@pytest.mark.parametrize(
    ("ranges", "served"), [(True, len(LARGE)), (False, len(LARGE) + 300_000 + 700_000)]
)
def test_a_broken_connection_is_taken_up_where_it_broke_if_the_store_can(
    tmp_path: Path, ranges: bool, served: int
) -> None:
    cuts = [300_000, 400_000] if ranges else [300_000, 700_000]
    faults = [Fault("signature", cut_after=cut) for cut in cuts]
    with serve_osf({NODE: FILES}, ranges=ranges, faults=faults) as osf:
        (file,) = fetch(osf, tmp_path, patterns=WAVE)
        assert file.path.read_bytes() == LARGE
        assert osf.bytes_served == served


@pytest.mark.parametrize("body", [LARGE[:-1] + b"\x00", b""])
def test_other_content_than_listed_is_refused(osf: Osf, tmp_path: Path, body: bytes) -> None:
    osf.faults.append(Fault("signature", body=body, times=9))
    assert "another content than it lists" in refusal(osf, tmp_path, patterns=WAVE)
    assert names(tmp_path) == []
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize(
    ("path", "status", "retry_after", "waited"),
    [
        ("/v2/nodes", 429, "7", [7.0]),
        ("/v2/nodes", 503, "Thu, 01 Jan 1970 00:00:00 GMT", [0.0]),
        ("/download/", 429, "7", [7.0]),
        ("signature", 502, "soon", [1.0]),
    ],
)
def test_a_busy_server_is_given_the_time_it_asks_for(
    osf: Osf,
    waits: list[float],
    tmp_path: Path,
    path: str,
    status: int,
    retry_after: str,
    waited: Any,
) -> None:
    osf.faults.append(Fault(path, status=status, retry_after=retry_after))
    assert fetch(osf, tmp_path)
    assert waits == waited


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("/v2/", status=410), "was deleted (HTTP 410)"),
        (Fault("/v2/", body=b"<html>"), "another answer than OSF's API"),
        (Fault("/v2/", body=b'{"data": [{}]}'), "in another form"),
        (Fault("/v2/", body=b'{"data": [], "links": {}}'), "no OSF Storage"),
    ],
)
def test_another_answer_than_osf_gives_is_told(
    osf: Osf, tmp_path: Path, fault: Fault, said: str
) -> None:
    osf.faults.append(fault)
    assert said in refusal(osf, tmp_path)


def test_a_wrong_setting_a_server_that_is_away_and_a_list_at_another_host_are_told(
    osf: Osf, tmp_path: Path
) -> None:
    assert "zzzzz at http://127.0.0.1" in refusal(osf, tmp_path, node="zzzzz")
    told = refusal(osf, tmp_path, patterns=["*.csv", "*.xlsx"])
    assert "has no file *.xlsx (field.osf.files); there are answers.csv, " in told
    told = refusal(osf, tmp_path, url="http://127.0.0.1:9/v2")
    assert "cannot be downloaded" in told
    assert "set field.path" in told
    page = {"data": [], "links": {"next": f"{osf.store}/v2/nodes/{NODE}/files/?page=2"}}
    osf.faults.append(Fault("/v2/", body=json.dumps(page).encode()))
    assert "another host" in refusal(osf, tmp_path)
    assert {r.host for r in osf.requests} == {"api"}


@pytest.mark.parametrize("path", ["/../out.csv", "/../../out.csv", "/a\\b.csv"])
def test_a_listing_may_not_choose_a_place_outside_the_folder(tmp_path: Path, path: str) -> None:
    with serve_osf({NODE: FILES}, listed_paths={"answers.csv": path}) as osf:
        assert "lies outside" in refusal(osf, tmp_path / "folder")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (None, "is private (HTTP 401); set OSF_TOKEN"),
        ("wrong", "is private (HTTP 403); the token in OSF_TOKEN may not read it"),
        ("right", None),
    ],
)
def test_a_private_project_wants_a_token_that_no_other_host_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str | None, said: str | None
) -> None:
    if token is not None:
        monkeypatch.setenv("OSF_TOKEN", token)
    with serve_osf({NODE: FILES}, private=[NODE]) as osf:
        if said is None:
            assert len(fetch(osf, tmp_path)) == 3
            assert {r.token for r in osf.requests if r.host == "store"} == {None}
        else:
            assert said in refusal(osf, tmp_path)
        assert {r.token for r in osf.requests if r.host == "api"} == {token}
    kept = b"".join(p.read_bytes() for p in tmp_path.rglob(".*") if p.is_file())
    assert token is None or token.encode() not in kept


@pytest.mark.parametrize(
    ("url", "is_own"),
    [
        ("https://api.osf.io/v2/nodes/", True),
        ("https://osf.io/download/1", True),
        ("https://files.de-1.osf.io/v1", True),
        ("http://osf.io/download/1", False),
        ("https://osf.io:8443/", False),
        ("https://notosf.io/", False),
        ("https://osf.io.example.org/", False),
        ("https://storage.googleapis.com/osf.io", False),
        ("https://osf.io@example.org/", False),
        ("https://[::1", False),
    ],
)
def test_only_hosts_of_osf_see_the_token(url: str, is_own: bool) -> None:
    assert _is_own(_origin(url), _origin("https://api.osf.io/v2")) is is_own


def test_the_manifest_names_each_file_with_hash_size_version_and_date(
    osf: Osf, tmp_path: Path
) -> None:
    manifest, patterns = tmp_path / "manifest.json", ["answers.csv", "data/*.txt"]
    download_field.main(str(manifest), {"node": NODE, "url": osf.url, "files": patterns})
    told = json.loads(manifest.read_text())
    assert (told["repo"], told["revision"]) == (f"{osf.url}/nodes/{NODE}", MODIFIED)
    contents = {name: FILES[name] for name in ("answers.csv", "data/notes.txt")}
    assert told["files"] == [
        {
            "path": f"files/{name}",
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "version": 3,
            "modified": MODIFIED,
        }
        for name, content in contents.items()
    ]
    paths = local_files([str(manifest)])
    assert [path.read_bytes() for path in paths] == [*contents.values()]
