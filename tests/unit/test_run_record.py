"""Which process runs a study, and whether its lock is in use."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from fieldwork.errors import StudyError
from fieldwork.run_record import RECORDS, lock_state, read_run, record_run


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    """A folder that Snakemake has locked."""
    lock = tmp_path / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/quickstart/findings.md\n")
    return tmp_path


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives as long as the test."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def write_record(folder: Path, process: psutil.Process, **changes: Any) -> None:
    record = folder / RECORDS / "mine.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    content = {"host": socket.gethostname(), "pid": process.pid, "created": process.create_time()}
    record.write_text(json.dumps(content | changes))


def test_a_folder_where_nothing_runs_is_free(tmp_path: Path) -> None:
    assert lock_state(tmp_path) == "none"
    # a second record is of this very run
    for _ in range(2):
        record_run(tmp_path, "mine")
        run = read_run(tmp_path, "mine")
        assert run is not None
        assert (run.pid, run.host) == (os.getpid(), socket.gethostname())
        assert lock_state(tmp_path, "mine") == "none"


def test_a_study_has_one_run_whatever_became_of_its_lock(
    tmp_path: Path, other: subprocess.Popen[bytes]
) -> None:
    write_record(tmp_path, psutil.Process(other.pid))
    assert lock_state(tmp_path, "mine") == lock_state(tmp_path) == "in use"
    with pytest.raises(StudyError, match=rf"results/mine: another run \(process {other.pid}, "):
        record_run(tmp_path, "mine")
    assert lock_state(tmp_path, "yours") == "none"
    record_run(tmp_path, "yours")
    assert lock_state(tmp_path, "mine") == "in use"


def test_the_lock_of_a_dead_run_is_left_behind(locked: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        write_record(locked, psutil.Process(process.pid))
        process.kill()
    assert read_run(locked) is not None
    assert lock_state(locked) == "left behind"
    record_run(locked, "mine")


def test_another_process_of_the_same_number_or_of_another_machine(
    locked: Path, other: subprocess.Popen[bytes]
) -> None:
    process = psutil.Process(other.pid)
    write_record(locked, process, created=process.create_time() - 60)
    assert lock_state(locked) == "left behind"
    write_record(locked, process, host="login-2")
    assert lock_state(locked, "mine") == "elsewhere"


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"pid": 1}'])
def test_a_damaged_record_is_none(locked: Path, content: str | None) -> None:
    if content is not None:
        (locked / RECORDS).mkdir()
        (locked / RECORDS / "mine.json").write_text(content)
    assert read_run(locked) is None
    assert lock_state(locked) == "left behind"
