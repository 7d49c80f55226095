"""Which process runs a study in a folder, so that a lock that a killed run left is told from one in use.

Snakemake's own locks do not say who holds them. The record is written when a run starts and is never
deleted. Read while Snakemake parses the workflow, so it imports no scientific package.
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


class Run(NamedTuple):
    """A run as recorded.

    Attributes:
        host: name of its machine.
        pid: of the Snakemake process.
        created: when that process began, seconds since 1970; tells it from a later one of its number.
    """

    host: str
    pid: int
    created: float

    def began(self) -> str:
        """Local time at which it began."""
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(self.created))


LockState = Literal["none", "in use", "elsewhere", "left behind"]


def record_run(folder: Path) -> None:
    """Record this process as the one that runs a study in `folder`."""
    run = Run(socket.gethostname(), os.getpid(), psutil.Process().create_time())
    record = folder / RECORD
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(run._asdict()), encoding="utf-8")


def read_run(folder: Path) -> Run | None:
    """The last run recorded in `folder`; None where there is none, or its record is damaged."""
    try:
        return Run(**json.loads((folder / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def lock_state(folder: Path) -> LockState:
    """Whether `folder` is locked, and whether the run that locked it is still alive.

    `elsewhere` is a run on another machine, of which nothing can be known here.
    """
    if not any(folder.glob(LOCKS)):
        return "none"
    run = read_run(folder)
    if run is not None and run.host != socket.gethostname():
        return "elsewhere"
    if run is not None and _is_alive(run):
        return "in use"
    return "left behind"


def _is_alive(run: Run) -> bool:
    try:
        created: float = psutil.Process(run.pid).create_time()
    except psutil.Error:
        return False
    return abs(created - run.created) < 1
