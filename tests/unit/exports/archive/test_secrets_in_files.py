"""Keys are looked for in what is to be given away, inside of what programs pack as well."""

import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.exports.archive.secrets import refuse_secrets, secret_marks
from fieldwork.files.text_search import files_beneath, search

KEY = "sk-proj-4711abcDEF0815xyz"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    folder = tmp_path / "archive"
    (folder / "tables").mkdir(parents=True)
    (folder / "README.md").write_text("a study")
    return folder


def refusal(folder: Path, *key_files: str) -> str:
    with pytest.raises(StudyError) as caught:
        refuse_secrets(search(files_beneath(folder), secret_marks(key_files)), folder)
    assert KEY not in str(caught.value)
    return str(caught.value)


def test_keys_are_refused_in_texts_tables_and_packages(folder: Path, tmp_path: Path) -> None:
    (folder / "study.yaml").write_text(f"headers: {{x: '{KEY}'}}")
    assert refusal(folder).startswith("study.yaml: a key or a password that is set in the env")
    (folder / "study.yaml").unlink()
    table = folder / "tables/answers.parquet"
    pq.write_table(pa.table({"text": ["fine", f"my key is {KEY}"]}), table)
    assert refusal(folder).startswith("tables/answers.parquet: ")
    table.unlink()
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("inner.txt", KEY * 10)
    assert refusal(folder).startswith("a.zip: ")
    (folder / "a.zip").unlink()
    # the key of pseudonyms, and what cannot be looked into
    key_file = tmp_path / "key"
    key_file.write_text("00112233445566778899aabbccddeeff\n")
    (folder / "notes.txt").write_text("key=00112233445566778899aabbccddeeff")
    assert refusal(folder, str(key_file), "no/such/file").startswith("notes.txt: ")
    (folder / "data.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + b"0" * 40)
    assert "data.7z: is a 7z archive, so that keys cannot be looked for" in refusal(folder)
