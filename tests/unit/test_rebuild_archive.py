"""The script that makes an archive's tables again: what it checks, and how it compares."""

import hashlib
import importlib.machinery
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "workflow/rebuild_archive"


@pytest.fixture
def rebuild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, as if it lay in an archive; Snakemake is not started."""
    loader = importlib.machinery.SourceFileLoader("rebuild_archive", str(SCRIPT))
    spec = importlib.util.spec_from_loader("rebuild_archive", loader)
    assert spec is not None
    module: Any = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ARCHIVE", tmp_path)
    monkeypatch.setattr(module, "run", lambda *_: 0)
    return module  # type: ignore[no-any-return]


def archive(folder: Path, published: str, remade: str | None, *, name: str = "a.csv") -> None:
    """An archive of one table, and what was made again of it."""
    files = {f"tables/{name}": published, "results/trivia/tasks.parquet": "given"}
    record = {"remade": {f"tables/{name}": f"results/trivia/{name}"}, "is_whole": True}
    files["archive.json"] = json.dumps(record)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    digests = {path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in files}
    lines = [f"{digest}  {path}\n" for path, digest in digests.items()]
    (folder / "checksums.sha256").write_text("".join(lines))
    if remade is not None:
        (folder / f"results/trivia/{name}").write_text(remade)


SAME, DIFFERENT = "1 more are the same but for the r", "DIFFERENT: tables/a.csv"
LONG = "x" * 140_000


@pytest.mark.parametrize(
    ("published", "remade", "sentence"),
    [
        ("a,b\n1,x\n", "a,b\n1,x\n", "1 files were made again and are the same, byte"),
        ("a,b\n0.1,x\n", "a,b\n0.10000000000000002,x\n", SAME),
        ("a,b\n0.1,x\n", "a,b\n0.11,x\n", DIFFERENT),
        ("a,b\n0.1,x\n", "a,b\n0.1,y\n", DIFFERENT),
        ("a,b\n0.1,x\n", None, "NOT MADE: tables/a.csv"),
        # small p-values, ids and counts are no rounding
        ("p\n1e-12\n", "p\n9e-10\n", DIFFERENT),
        ("id\n007\n", "id\n7\n", DIFFERENT),
        ("n\n10000000000\n", "n\n10000000001\n", DIFFERENT),
        ("id\n1e400\n", "id\n2e400\n", DIFFERENT),
        ("a\n0.0\n", "a\n-1.1e-16\n", SAME),
        (f"a,b\n1.0,{LONG}", f"a,b\n1.00,{LONG}", SAME),
    ],
)
def test_tables_are_compared_by_bytes_and_then_by_values(
    rebuild: ModuleType, tmp_path: Path, capsys: Any, published: str, remade: str, sentence: str
) -> None:
    archive(tmp_path, published, remade)
    assert rebuild.main("2") == ("same" not in sentence)
    assert sentence in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["changed", None])
@pytest.mark.parametrize("path", ["tables/a.csv", "results/trivia/tasks.parquet"])
def test_a_damaged_archive_is_one_sentence(
    rebuild: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    path: str,
    damage: str | None,
) -> None:
    archive(tmp_path, "a\n", "a\n")
    (tmp_path / path).unlink() if damage is None else (tmp_path / path).write_text(damage)
    # who begins with the texts deletes the tables
    is_allowed = damage is None and path.startswith("results/")
    assert rebuild.main("2") == int(not is_allowed)
    error = capsys.readouterr().err
    assert (
        is_allowed
        or f"ERROR: 1 files of the archive are missing or not as they were packed ({path})" in error
    )


def test_files_are_older_than_what_is_made_of_them_and_a_second_run_takes_these(
    rebuild: ModuleType, tmp_path: Path
) -> None:
    archive(tmp_path, "a\n", "a\n")
    assert [*rebuild.check()] == []
    paths = ("tables/a.csv", "results/trivia/tasks.parquet", "archive.json")
    assert {(tmp_path / path).stat().st_mtime for path in paths} == {rebuild.LONG_AGO}
    (tmp_path / ".snakemake").mkdir()
    (tmp_path / "results/trivia/tasks.parquet").write_text("made from the texts")
    assert rebuild.main("2") == 0


def test_a_machine_without_snakemake_is_one_sentence(tmp_path: Path) -> None:
    """As an environment of its own would be, into which nothing was installed."""
    script = tmp_path / "code/workflow/rebuild_archive"
    script.parent.mkdir(parents=True)
    shutil.copy(SCRIPT, script)
    archive(tmp_path, "a\n", "a\n")
    # without the packages of this environment
    command = [sys.executable, "-I", "-S", str(script), "1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "has no Snakemake; run make rebuild in" in ran.stderr
    assert "Traceback" not in ran.stderr
