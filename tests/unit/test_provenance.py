"""The code version follows what code means, over every module a script reaches, and nothing else."""

import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pytest

from fieldwork.provenance import (
    code_version,
    digest,
    part_versions,
    versions,
)

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"

FILES = {
    "job.py": '"""A job."""\nfrom fieldwork.metrics import spread\nimport fieldwork.deep.below\n\n'
    "def main(x):\n    return spread.width(x)\n",
    "fieldwork/__init__.py": "",
    "fieldwork/metrics/__init__.py": '"""Metrics."""\n',
    "fieldwork/metrics/spread.py": '"""Spread."""\nfrom fieldwork.tables import read\n\n\n'
    'def width(x):\n    """How wide."""\n    return read(x)\n',
    "fieldwork/tables.py": 'LIMIT = 5\n"""Most rows."""\n\n\ndef read(x):\n    return x[:LIMIT]\n\n\n'
    'class Row:\n    n: int = column("how many")\n    m: int = Field(5, description="many")\n',
    "fieldwork/deep/__init__.py": "",
    "fieldwork/deep/below.py": "def sink():\n    from fieldwork import late\n    return late\n",
    "fieldwork/late.py": "x = 1\n",
    "fieldwork/unrelated.py": "y = 1\n",
}


def version(folder: Path, changed: Mapping[str, str]) -> str:
    for name, text in {**FILES, **changed}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return code_version(folder / "job.py")


@pytest.fixture
def unchanged(tmp_path: Path) -> str:
    return version(tmp_path / "unchanged", {})


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("job.py", '"""A job."""\n', '"""Another job."""\n'),
        ("job.py", '"""A job."""\n', ""),
        ("job.py", "    return", "    # why\n    return"),
        ("job.py", "spread.width(x)", "spread.width(\n        x\n    )"),
        ("fieldwork/metrics/spread.py", "How wide.", "How narrow."),
        ("fieldwork/metrics/__init__.py", "Metrics.", "Measures."),
        ("fieldwork/tables.py", "Most rows.", "Rows, at most."),
        ("fieldwork/tables.py", "how many", "how much"),
        ("fieldwork/tables.py", '="many"', '="much"'),
        ("fieldwork/unrelated.py", "y = 1", "y = 2"),
    ],
)
def test_words_and_unreached_modules_keep_the_version(
    tmp_path: Path, unchanged: str, file: str, old: str, new: str
) -> None:
    assert old in FILES[file]
    assert version(tmp_path / "changed", {file: FILES[file].replace(old, new)}) == unchanged


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("job.py", "width(x)", "width(x) + 1"),
        ("fieldwork/metrics/spread.py", "read(x)", "read(x[1:])"),
        ("fieldwork/tables.py", "LIMIT = 5", "LIMIT = 6"),
        ("fieldwork/tables.py", "Field(5", "Field(6"),
        ("fieldwork/deep/below.py", "return late", "return late.x"),
        ("fieldwork/late.py", "x = 1", "x = 2"),
        ("fieldwork/metrics/__init__.py", '"""Metrics."""', "seed = 1"),
        ("fieldwork/deep/__init__.py", "", "seed = 1"),
        ("fieldwork/__init__.py", "", "seed = 1"),
    ],
)
def test_meaning_changes_the_version(
    tmp_path: Path, unchanged: str, file: str, old: str, new: str
) -> None:
    changed = FILES[file].replace(old, new) if old else new
    assert version(tmp_path / "changed", {file: changed}) != unchanged


def test_a_part_has_the_versions_of_its_scripts_alone(tmp_path: Path) -> None:
    files = {"fieldwork/__init__.py": "", "fieldwork/late.py": "x = 1", "parsing/b.py": "b = 1"}
    files |= {"fieldwork/named.py": "n = 1", "tasks/a.py": "from fieldwork import late"}

    def versions_in(folder: str, **texts: str) -> dict[str, str]:
        for name, text in {**files, **texts}.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        named_modules = {"parsing": ["fieldwork/named"]}
        return part_versions(tmp_path / folder, ["tasks", "parsing"], named_modules)

    old = versions_in("old")
    assert versions_in("same") == old
    for name, parts in {
        "fieldwork/late.py": ["tasks"],
        "tasks/a.py": ["tasks"],
        "tasks/new.py": ["tasks"],
        "parsing/b.py": ["parsing"],
        "fieldwork/named.py": ["parsing"],
    }.items():
        new = versions_in(name.replace("/", "_"), **{name: "y = 2"})
        assert [part for part in old if new[part] != old[part]] == parts


PARSING = """
import sys
from pathlib import Path
import fieldwork.config.study
from fieldwork.measures import questions
questions()
from fieldwork.provenance import code_version
for script in Path(sys.argv[1]).glob('*/*.py'):
    code_version(script)
print(*sorted({m.split('.')[0] for m in sys.modules}))
"""


def test_parsing_the_workflow_imports_nothing_heavy() -> None:
    # formulas of measures are of NumPy
    heavy = {"pandas", "pyarrow", "duckdb", "torch", "scipy", "sentence_transformers"}
    assert not heavy & set(output_of(PARSING, SCRIPTS).split())


VERSION = """
import sys; from pathlib import Path; from fieldwork.provenance import code_version
print(code_version(Path(sys.argv[1])))
"""


def output_of(code: str, argument: Path, folder: Path | None = None) -> str:
    """What a process of its own prints that runs in a folder."""
    command, path = [sys.executable, "-c", code, str(argument)], {"PYTHONPATH": str(SCRIPTS)}
    ran = subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def version_in(folder: Path, code: Path) -> str:
    return output_of(VERSION, code / "job.py", folder)


def test_readings_are_kept_between_processes_and_never_stale(tmp_path: Path) -> None:
    code, folder = tmp_path / "code", tmp_path / "study"
    folder.mkdir()
    expected = version(code, {})
    assert version_in(folder, code) == expected
    kept = folder / ".snakemake/fieldwork_code.json"
    first = kept.read_bytes()
    assert version_in(folder, code) == expected
    assert kept.read_bytes() == first
    # the same size and the same second: only the bytes tell
    (code / "fieldwork/late.py").write_text("x = 2\n", encoding="utf-8")
    changed = version_in(folder, code)
    assert changed != expected
    kept.unlink()
    assert version_in(folder, code) == changed
    (code / "fieldwork/late.py").write_text("x = 1\n", encoding="utf-8")
    assert version_in(folder, code) == expected
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_versions_are_those_of_what_is_pinned() -> None:
    rows = dict(versions("# a comment\nPyYAML==6\nnumpy==2.0\nother>=1\n", {"a": 1}))
    assert [*rows] == ["python", "study config", "numpy", "PyYAML"]
    assert rows["numpy"] == metadata.version("numpy")
    assert rows["study config"] == digest({"a": 1})


def test_readings_that_cannot_be_kept_are_no_error(tmp_path: Path) -> None:
    code = tmp_path / "code"
    expected = version(code, {})
    # a file where the folder should be: not even root can write into it
    (tmp_path / ".snakemake").write_text("", encoding="utf-8")
    assert version_in(tmp_path, code) == expected
