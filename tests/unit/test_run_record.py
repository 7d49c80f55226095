"""Which process runs a study, and whether its lock is in use."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fieldwork.run_record import RECORD, lock_state, read_run, record_run


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    """A folder that Snakemake has locked."""
    lock = tmp_path / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/quickstart/findings.md\n")
    return tmp_path


def test_a_folder_without_locks_is_free(tmp_path: Path) -> None:
    record_run(tmp_path)
    assert lock_state(tmp_path) == "none"


def test_the_lock_of_a_living_run_is_in_use(locked: Path) -> None:
    record_run(locked)
    run = read_run(locked)
    assert run is not None
    assert (run.pid, run.host) == (os.getpid(), socket.gethostname())
    assert lock_state(locked) == "in use"


def test_the_lock_of_a_dead_run_is_left_behind(locked: Path) -> None:
    code = "import sys; from pathlib import Path; from fieldwork.run_record import record_run;"
    code += "record_run(Path(sys.argv[1]))"
    library = Path(__file__).parents[2] / "workflow/scripts"
    environment = {**os.environ, "PYTHONPATH": str(library)}
    subprocess.run([sys.executable, "-c", code, str(locked)], check=True, env=environment)
    assert read_run(locked) is not None
    assert lock_state(locked) == "left behind"


def test_a_later_process_of_the_same_number_is_another(locked: Path) -> None:
    record_run(locked)
    record = json.loads((locked / RECORD).read_text())
    (locked / RECORD).write_text(json.dumps(record | {"created": record["created"] - 60}))
    assert lock_state(locked) == "left behind"


def test_of_another_machine_nothing_is_known(locked: Path) -> None:
    record_run(locked)
    record = json.loads((locked / RECORD).read_text())
    (locked / RECORD).write_text(json.dumps(record | {"host": "login-2"}))
    assert lock_state(locked) == "elsewhere"


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"pid": 1}'])
def test_a_damaged_record_is_none(locked: Path, content: str | None) -> None:
    if content is not None:
        (locked / RECORD).write_text(content)
    assert read_run(locked) is None
    assert lock_state(locked) == "left behind"
