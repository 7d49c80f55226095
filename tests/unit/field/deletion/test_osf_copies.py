"""A download of an OSF project is edited, stays edited, and what comes back from OSF is refused."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from field import download_field
from fieldwork.config.field import DELETIONS_FILE, FORGET_FILE, field_files
from fieldwork.downloads.manifest import local_files
from fieldwork.errors import StudyError
from fieldwork.field.deletion import forgetting
from fieldwork.field.deletion.forgetting import DeletionOutcome
from fieldwork.field.deletion.record import refuse_return
from fieldwork.field.deletion.sentences import failure_of
from fieldwork.field.deletion.site import site_of
from fieldwork.field.raw_answers import FieldPrompt, RawAnswer, RawField
from fieldwork.privacy import read_key
from servers.osf import Osf, serve_osf

NODE = "abc12"
ONE, OTHER = "5f3c9b01ab77", "5f3c9b02cd88"
FILES = {
    "answers.csv": f"id,movies\n{ONE},Alien\n{OTHER},Brazil\n".encode(),
    "waves/alone.csv": f"id,movies\n{ONE},Cube\n".encode(),
    "waves/codebook.csv": b"name,meaning\nid,who\n",
}
FOLDER = Path(f"resources/downloads/osf/{NODE}")
MANIFEST, ANSWERS = FOLDER / "manifest.json", FOLDER / "files/answers.csv"


@pytest.fixture
def osf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Osf]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OSF_TOKEN", raising=False)
    with serve_osf({NODE: FILES}) as server:
        yield server


def fetch(osf: Osf) -> None:
    download_field.main(str(MANIFEST), {"node": NODE, "url": osf.url, "files": None})


def again() -> DeletionOutcome:
    """Another run with the ids that are there."""
    field: dict[str, Any] = {"path": None, "osf": {"node": NODE}, "columns": {"participant": "id"}}
    field["key_file"] = "resources/field/key"
    site = site_of(field, field_files({"field": field}))
    return forgetting.forget(site, is_alone=lambda: True)


def run(*ids: str) -> DeletionOutcome:
    Path(FORGET_FILE).parent.mkdir(parents=True, exist_ok=True)
    Path(FORGET_FILE).write_text("\n".join(ids))
    return again()


def entries() -> dict[str, dict[str, Any]]:
    return {entry["path"]: entry for entry in json.loads(MANIFEST.read_text())["files"]}


def test_rows_go_from_the_copy_and_the_next_download_leaves_it_so(osf: Osf) -> None:
    fetch(osf)
    assert failure_of(run(ONE)) is None
    left = f"id,movies\n{OTHER},Brazil\n".encode()
    entry, n_requests = entries()["files/answers.csv"], len(osf.requests)
    assert entry["sha256"] == hashlib.sha256(left).hexdigest()
    assert (entry["bytes"], entry["edited"]) == (len(left), True)
    assert "edited" not in entries()["files/waves/codebook.csv"]
    for _ in range(2):
        assert ANSWERS.read_bytes() == left
        assert not (FOLDER / "files/waves/alone.csv").exists()
        paths = local_files([str(MANIFEST)])
        assert [path.name for path in paths] == ["answers.csv", "codebook.csv"]
        fetch(osf)
    assert len(osf.requests) == n_requests


def test_what_a_new_download_brings_back_is_refused_and_deleted_again(osf: Osf) -> None:
    fetch(osf)
    run(ONE)
    for listing in (FOLDER / "files").glob(".listing-*"):
        listing.unlink()
    fetch(osf)
    assert ANSWERS.read_bytes() == FILES["answers.csv"]
    raw = RawAnswer(ONE, None, "m", FieldPrompt("t", "movies"), 0, None, "Alien", ANSWERS, 2)
    key = read_key(Path("resources/field/key"))
    with pytest.raises(StudyError, match="a download or a backup has brought it back"):
        refuse_return(RawField([raw], [], 0), key, [DELETIONS_FILE])
    assert failure_of(again()) is None
    assert ONE.encode() not in ANSWERS.read_bytes()
    assert not (FOLDER / "files/waves/alone.csv").exists()


def test_a_run_that_was_killed_before_the_edit_is_finished(
    osf: Osf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """List and manifest are ahead of the file then."""
    fetch(osf)
    original = Path.replace

    def killed(path: Path, target: Path) -> Path:
        if Path(target).name == "answers.csv":
            raise KeyboardInterrupt
        return original(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            run(ONE)
    assert ANSWERS.read_bytes() == FILES["answers.csv"]
    assert failure_of(again()) is None
    left = ANSWERS.read_bytes()
    assert ONE.encode() not in left
    assert entries()["files/answers.csv"]["sha256"] == hashlib.sha256(left).hexdigest()
