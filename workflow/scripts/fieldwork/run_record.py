"""Which process runs a study in a folder, to distinguish a killed run's lock from a lock in use.

Snakemake's own locks do not say who holds them, and every run that ends removes those of all others. So
each study has a record of its last run, which is written as the run starts and never deleted. Snakemake
imports this module while it parses, so it imports no scientific package.
"""

import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import psutil

from fieldwork.errors import StudyError

RECORDS = Path(".snakemake/fieldwork_runs")
LOCKS = ".snakemake/locks/*.lock"


class RunRecord(NamedTuple):
    """A run as recorded.

    Attributes:
        host: name of its machine.
        pid: of the Snakemake process.
        created_at: its start in seconds since 1970, because a later process may have the same pid.
    """

    host: str
    pid: int
    created_at: float

    def began(self) -> str:
        """Local time at which the process started."""
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(self.created_at))


LockState = Literal["none", "in use", "elsewhere", "left behind"]


def record_run(folder: Path, study: str) -> None:
    """Record this process as the one that runs a study in `folder`.

    Raises:
        StudyError: another process does.
    """
    run = RunRecord(socket.gethostname(), os.getpid(), psutil.Process().create_time())
    last = read_run(folder, study)
    if last is not None and _is_another(last):
        raise StudyError(
            f"results/{study}: another run (process {last.pid}, since {last.began()}) makes this study; "
            f"wait until it ends, or end it"
        )
    record = folder / RECORDS / f"{study}.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    content = {"host": run.host, "pid": run.pid, "created": run.created_at}
    record.write_text(json.dumps(content), encoding="utf-8")


def read_run(folder: Path, study: str = "*") -> RunRecord | None:
    """The last run of a study in `folder`, or of any; None where none is recorded, or it is damaged."""
    return max(_read_runs(folder, study), key=lambda run: run.created_at, default=None)


def _read_runs(folder: Path, study: str) -> list[RunRecord]:
    runs = []
    for record in (folder / RECORDS).glob(f"{study}.json"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            content = json.loads(record.read_text(encoding="utf-8"))
            runs.append(RunRecord(content["host"], content["pid"], content["created"]))
    return runs


def lock_state(folder: Path, study: str = "*") -> LockState:
    """Whether a study in `folder`, or any, is run by another process or locked by one that is gone.

    `elsewhere` is a run on another machine, whose state is unknown here.
    """
    runs = _read_runs(folder, study)
    if any(map(_is_another, runs)):
        return "in use"
    if not any(folder.glob(LOCKS)):
        return "none"
    if any(run.host != socket.gethostname() for run in runs):
        return "elsewhere"
    return "left behind"


def _is_another(run: RunRecord) -> bool:
    """Whether a living process of this machine, and not this one, has the run."""
    return run.host == socket.gethostname() and run.pid != os.getpid() and _is_alive(run)


def _is_alive(run: RunRecord) -> bool:
    try:
        created_at: float = psutil.Process(run.pid).create_time()
    except psutil.Error:
        return False
    return abs(created_at - run.created_at) < 1
