"""Which process runs a study in a folder, to distinguish a killed run's lock from a lock in use.

Snakemake's own locks do not say who holds them. The record is written when a run starts, and it is never
deleted. Snakemake imports this module while it parses, so it imports no scientific package.
"""

import json
import os
import socket
import time
from pathlib import Path
from typing import Literal, NamedTuple

import psutil

RECORD = Path(".snakemake/fieldwork_run.json")
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


def record_run(folder: Path) -> None:
    """Record this process as the one that runs a study in `folder`."""
    run = RunRecord(socket.gethostname(), os.getpid(), psutil.Process().create_time())
    record = folder / RECORD
    record.parent.mkdir(parents=True, exist_ok=True)
    content = {"host": run.host, "pid": run.pid, "created": run.created_at}
    record.write_text(json.dumps(content), encoding="utf-8")


def read_run(folder: Path) -> RunRecord | None:
    """The last run recorded in `folder`; None where there is none, or its record is damaged."""
    try:
        content = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return RunRecord(content["host"], content["pid"], content["created"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def lock_state(folder: Path) -> LockState:
    """Whether `folder` is locked, and whether the run that locked it is still alive.

    `elsewhere` is a run on another machine, whose state is unknown here.
    """
    if not any(folder.glob(LOCKS)):
        return "none"
    run = read_run(folder)
    if run is not None and run.host != socket.gethostname():
        return "elsewhere"
    if run is not None and _is_alive(run):
        return "in use"
    return "left behind"


def _is_alive(run: RunRecord) -> bool:
    try:
        created_at: float = psutil.Process(run.pid).create_time()
    except psutil.Error:
        return False
    return abs(created_at - run.created_at) < 1
