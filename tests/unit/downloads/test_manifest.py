"""A manifest names what a download left, and stages read it back as plain files."""

import json
from pathlib import Path

import pytest

from fieldwork.downloads.manifest import NAME, local_files, write_manifest
from fieldwork.errors import StudyError


@pytest.fixture
def download(tmp_path: Path) -> Path:
    """A manifest of two files in folders of their own."""
    folder = tmp_path / "download"
    files = [folder / "data" / "b.csv", folder / "data" / "a.csv"]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    manifest = folder / NAME
    write_manifest(manifest, repo="a/b", revision="main", checksums=[(f, "00") for f in files])
    return manifest


def test_manifest_is_sorted_relative_and_the_same_each_time(download: Path, tmp_path: Path) -> None:
    files = [{"path": f"data/{name}.csv", "sha256": "00"} for name in "ab"]
    assert json.loads(download.read_text()) == {"repo": "a/b", "revision": "main", "files": files}
    before = download.read_bytes()
    paths = [download.parent / "data" / name for name in ("a.csv", "b.csv")]
    write_manifest(download, repo="a/b", revision="main", checksums=[(p, "00") for p in paths])
    assert download.read_bytes() == before
    plain = tmp_path / "plain.csv"
    plain.touch()
    assert local_files([str(plain), str(download)]) == [plain, *paths]


def test_a_file_that_is_gone_is_named_with_the_manifest_that_lists_it(download: Path) -> None:
    gone = download.parent / "data" / "b.csv"
    gone.unlink()
    with pytest.raises(StudyError) as caught:
        local_files([str(download)])
    assert str(caught.value) == f"{gone}: the file is gone; delete {download} to download it again"
    with pytest.raises(StudyError, match=r"b\.csv: the file is gone; put it back"):
        local_files([str(gone)])


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"files": [{}]}', '{"files": 3}', "\xff"])
def test_a_damaged_manifest_says_to_delete_it(tmp_path: Path, text: str) -> None:
    manifest = tmp_path / NAME
    manifest.write_text(text, encoding="latin-1")
    with pytest.raises(StudyError, match=r"manifest\.json: not a readable"):
        local_files([str(manifest)])
