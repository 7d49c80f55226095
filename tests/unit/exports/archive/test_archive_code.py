"""The project's code in an archive: its version, and that nothing private lies in it."""

import subprocess
from pathlib import Path

import pytest

from fieldwork.config.archive_files import CODE
from fieldwork.exports.archive.code import code_files, code_version_at

HOME = Path(__file__).resolve().parents[4]
PRIVATE = (
    "resources/memory/true_of_users.csv",
    "workflow/.env",
    "workflow/raw_export.csv",
    "workflow/.cache/a.py",
    "profiles/notes_on_p07.txt",
)
KNOWN = ("Snakefile", "workflow/rules/a.smk", "workflow/scripts/b.py", "resources/memory/read.txt")
FOLDERS = {
    "Snakefile": (),
    "workflow": (".py", ".smk"),
    "profiles": (".yaml",),
    "resources/memory": (".txt",),
}


def git(home: Path, *words: str) -> str:
    name = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    command = ["git", *name, "-C", str(home), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project with files that lie in its folders by chance."""
    for path in (*KNOWN, *PRIVATE):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    return tmp_path


def test_files_that_lie_in_a_folder_of_code_by_chance_stay_out(home: Path) -> None:
    """As in a copy without git, such as an unpacked archive; of a checkout what git tracks is packed."""
    assert sorted(code_files(home, FOLDERS, ())) == sorted(KNOWN)
    git(home, "init", "-q")
    git(home, "add", *KNOWN)
    (home / "resources/memory/notes_on_p07.txt").write_text("private")
    assert sorted(code_files(home, FOLDERS, ())) == sorted(KNOWN)


def test_every_file_of_the_project_that_a_study_runs_with_is_packed() -> None:
    """An ending that is not listed would leave a copy that does not run."""
    own_words = ["git", "-C", str(HOME), "ls-files", "--", *CODE]
    listing = subprocess.run(own_words, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("no git here")
    assert {*code_files(HOME, CODE, ())} == {*listing.stdout.split()}


def test_the_version_of_the_code(tmp_path: Path) -> None:
    assert code_version_at(tmp_path, "0.1.0").sentence() == "Fieldwork 0.1.0"

    (tmp_path / "a").touch()
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert code_version_at(tmp_path, "1").sentence() == f"Fieldwork 1 (commit {commit})"
    (tmp_path / "a").write_text("b")
    assert "with changes that are in `code/`" in code_version_at(tmp_path, "1").sentence()
