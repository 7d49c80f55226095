"""Uploads to a loopback OSF: what is sent, what is not sent again, and what is said."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldwork.downloads.transfer import RETRIES
from fieldwork.errors import StudyError
from fieldwork.osf import upload as upload_module
from fieldwork.osf.upload import UploadAccount, upload
from servers.osf import Fault, Osf, serve_osf

NODE = "abc12"
CONTENTS = {
    "README.md": b"# A study\n",
    "figures/fig 1 #2.svg": b"<svg/>",
    "tables/metrics/claims.csv": b"a,b\n" * 1_000,
    "trivia.zip": bytes(range(256)) * 4_000,
    "empty.txt": b"",
}
BELOW = {f"trivia/{path}": content for path, content in CONTENTS.items()}
BELOW_README = "trivia/README.md"
OTHERS = {"notes.txt": b"of somebody else", "old/trivia/README.md": b"old"}


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was waited between attempts, without waiting it."""
    asked: list[float] = []
    monkeypatch.setattr(time, "sleep", asked.append)
    monkeypatch.setenv("OSF_TOKEN", "right")
    return asked


@pytest.fixture
def osf() -> Iterator[Osf]:
    with serve_osf({NODE: OTHERS}, private=[NODE]) as server:
        yield server


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {name: tmp_path / "archive" / name for name in CONTENTS}
    for name, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENTS[name])
    return paths


def send(osf: Osf, files: dict[str, Path], **changes: Any) -> UploadAccount:
    target = {"node": NODE, "url": osf.url, "folder": "trivia", "files": files}
    return upload(**(target | changes))


def refusal(osf: Osf, files: dict[str, Path], **changes: Any) -> str:
    with pytest.raises(StudyError) as caught:
        send(osf, files, **changes)
    sentence = str(caught.value)
    assert sentence.startswith("archive.osf: ")
    assert "\n" not in sentence
    assert "right" not in sentence.replace("right to write", "")
    return sentence


def test_files_arrive_under_their_paths_once_and_nothing_else_changes(
    osf: Osf, files: dict[str, Path], waits: list[float]
) -> None:
    account = send(osf, files)
    assert osf.nodes[NODE] == OTHERS | BELOW
    assert account.new_paths == sorted(BELOW)
    assert account.n_bytes == sum(map(len, CONTENTS.values()))
    assert waits == []
    assert {r.token for r in osf.requests if r.host == "api"} == {"right"}
    # what is there is not sent again, and a file that changed becomes a new version
    n_uploads = len(osf.uploads())
    account = send(osf, files)
    assert (account.same_paths, account.new_paths, account.n_bytes) == (sorted(BELOW), [], 0)
    assert len(osf.uploads()) == n_uploads
    files["README.md"].write_bytes(b"# A study\r")  # of the same size
    assert send(osf, files).changed_paths == ["trivia/README.md"]
    assert osf.nodes[NODE]["trivia/README.md"] == b"# A study\r"
    assert osf.versions["trivia/README.md"] == 2
    assert [r.status for r in osf.uploads()][-1] == 200


@pytest.mark.parametrize("folder", ["a/b/c", "trivia"])
def test_folders_are_made_once(osf: Osf, files: dict[str, Path], folder: str) -> None:
    send(osf, files, folder=folder)
    names = [r.path for r in osf.uploads() if "kind=folder" in r.path]
    n_folders = len({*folder.split("/"), "figures", "tables", "metrics"})
    assert len(names) == len(set(names)) == n_folders


@pytest.mark.parametrize(
    "fault",
    [
        Fault("claims.csv", status=429, retry_after="7"),
        Fault("trivia.zip", cut_after=300_000),
        Fault(f"/v2/nodes/{NODE}/", status=500),
    ],
)
def test_a_passing_failure_is_tried_again(
    osf: Osf, files: dict[str, Path], waits: list[float], fault: Fault
) -> None:
    osf.faults.append(fault)
    send(osf, files)
    assert osf.nodes[NODE] == OTHERS | BELOW
    assert waits == [7.0 if fault.retry_after else 1.0]


@pytest.mark.parametrize("path", ["name=claims.csv", "name=trivia&", "name=tables"])
def test_a_reply_that_was_lost_makes_no_second_copy(
    osf: Osf, files: dict[str, Path], path: str
) -> None:
    osf.faults.append(Fault(path.removesuffix("&"), is_lost=True))
    send(osf, files)
    assert osf.nodes[NODE] == OTHERS | BELOW
    assert set(osf.versions.values()) == {1}
    assert 409 in {r.status for r in osf.requests}


def test_a_name_that_somebody_else_took_meanwhile_becomes_a_new_version(
    osf: Osf, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = upload_module._Upload._send

    def take_name(one: Any, path: str, file: Path) -> bool:
        if path == "trivia/trivia.zip":
            osf.nodes[NODE][path] = b"of another machine"
        return whole(one, path, file)

    monkeypatch.setattr(upload_module._Upload, "_send", take_name)
    send(osf, files)
    assert osf.nodes[NODE] == OTHERS | BELOW


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        ("trivia/README.md/x", "has a folder at trivia/README.md, where the archive has"),
        ("trivia", "has a file at trivia, where the archive has a folder; rename it on OSF"),
    ],
)
def test_a_file_and_a_folder_of_one_name_are_one_sentence(
    files: dict[str, Path], there: str, sentence: str
) -> None:
    with serve_osf({NODE: {there: b"precious"}}, private=[NODE]) as server:
        message = refusal(server, {"README.md": files["README.md"]})
        assert sentence in message
        assert message.endswith("name another folder in archive.osf.folder")
        assert server.nodes[NODE] == {there: b"precious"}


def test_a_name_that_is_listed_otherwise_and_a_full_project_are_one_sentence(
    files: dict[str, Path],
) -> None:
    """OSF takes two spellings of a name for one, and lists one of them."""
    nodes, spelling = {NODE: {BELOW_README: b"old"}}, {BELOW_README: "/trivia/readme.md"}
    with serve_osf(nodes, private=[NODE], listed_paths=spelling) as server:
        message = refusal(server, {"README.md": files["README.md"]})
    assert f"says that {BELOW_README} is there already, and lists it under another spell" in message
    with serve_osf({NODE: OTHERS}, room=10_000) as osf:
        message = refusal(osf, files)
    assert "has no room left (HTTP 507): OSF gives a private project 5 GB" in message


def test_a_server_that_stays_busy_is_given_up_and_the_next_run_sends_the_rest(
    osf: Osf, files: dict[str, Path], waits: list[float]
) -> None:
    osf.faults.append(Fault("name=trivia.zip", status=503, times=RETRIES.attempts))
    sentence = refusal(osf, files)
    assert "cannot be reached (HTTP 503); what arrived stays there" in sentence
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert "trivia/README.md" in osf.nodes[NODE]
    account = send(osf, files)
    assert account.new_paths == ["trivia/trivia.zip"]
    assert len(account.same_paths) == len(BELOW) - 1


KILLED = """
import sys
from pathlib import Path
from fieldwork.osf.upload import upload
folder = Path(sys.argv[2])
files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
upload(node="abc12", url=sys.argv[1], folder="trivia", files=files)
"""


def test_an_upload_that_was_killed_goes_on_where_it_was(
    osf: Osf, files: dict[str, Path], tmp_path: Path
) -> None:
    osf.faults.append(Fault("name=trivia.zip", status=503, retry_after="60", times=1))
    command = [sys.executable, "-c", KILLED, osf.url, str(tmp_path / "archive")]
    library = str(Path(upload_module.__file__).parents[2])
    running = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": library})
    deadline = time.monotonic() + 60
    while osf.faults[0].times and time.monotonic() < deadline:
        running.poll()
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert "trivia/trivia.zip" not in osf.nodes[NODE]
    n_uploads = len(osf.uploads())
    assert send(osf, files).new_paths == ["trivia/trivia.zip"]
    assert osf.nodes[NODE] == OTHERS | BELOW
    assert len(osf.uploads()) == n_uploads + 1


@pytest.mark.parametrize(
    ("node", "token", "sentence"),
    [
        (NODE, None, "needs a token: set OSF_TOKEN to a personal access token with the scope"),
        (NODE, "old", "does not take the token in OSF_TOKEN (HTTP 401), which was revoked"),
        (NODE, "stranger", "may not be written to with the token in OSF_TOKEN (HTTP 403)"),
        ("pub34", "stranger", "may not be written to by the account of OSF_TOKEN, which"),
        ("ro567", "right", "may not be written to by the account of OSF_TOKEN, which may"),
        ("zzzzz", "right", "does not exist (HTTP 404); archive.osf.node is what follows"),
    ],
)
def test_a_project_that_may_not_be_written_to_is_one_sentence(
    files: Any, monkeypatch: pytest.MonkeyPatch, node: str, token: str | None, sentence: str
) -> None:
    monkeypatch.delenv("OSF_TOKEN")
    if token is not None:
        monkeypatch.setenv("OSF_TOKEN", token)
    nodes = {NODE: OTHERS, "pub34": OTHERS, "ro567": OTHERS}
    with serve_osf(nodes, private=[NODE], read_only=["ro567"], revoked=["old"]) as osf:
        assert sentence in refusal(osf, files, node=node)
        assert osf.uploads() == []
        assert all(files == OTHERS for files in osf.nodes.values())


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"status": 401}, "does not take the token in OSF_TOKEN (HTTP 401)"),
        ({"status": 410}, "was deleted (HTTP 410)"),
        ({"status": 413}, "does not take a file as large as this (HTTP 413)"),
        ({"body": b"<html>"}, "gives another answer than OSF's API does"),
        (None, "gives another answer than OSF's API does"),
    ],
)
def test_what_the_file_service_refuses_is_one_sentence(
    osf: Osf, files: dict[str, Path], fault: dict[str, Any] | None, sentence: str
) -> None:
    of_project = Fault(f"/v2/nodes/{NODE}/", body=b"{}")
    osf.faults.append(Fault("name=trivia.zip", **fault) if fault else of_project)
    assert sentence in refusal(osf, files)


def test_what_would_go_wrong_is_refused_before_or_noticed_after(
    osf: Osf, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(upload_module, "LARGEST_FILE", 100_000)
        assert "takes files of 100 kB at most, and trivia.zip has 1.0 MB" in refusal(osf, files)
        assert osf.requests == []
    with monkeypatch.context() as patched:
        patched.setattr("servers.osf._Api._service", lambda *_: "http://192.0.2.1/v1/resources/")
        assert "names a place for uploads at another host" in refusal(osf, files)
    digest = hashlib.sha256(b"other").hexdigest()
    reply = {"data": {"attributes": {"size": 10, "extra": {"hashes": {"sha256": digest}}}}}
    monkeypatch.setattr(upload_module._WritingSession, "put", lambda *_: reply)
    only = {"notes.txt": files["README.md"]}
    assert "got notes.txt with another content" in refusal(osf, only, folder="")
