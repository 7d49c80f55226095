"""A command in a process of its own: its wall time, processor time and memory, children included.

Memory is looked at twenty times a second and summed over the process and all it started. `private`
is what the processes hold themselves; `resident` counts the pages of files they mapped as well.
"""

import json
import os
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import machine

LOOK_S = 0.05
KIB = 1024


class Measured(NamedTuple):
    """What a command took; memory in MiB, times in seconds. `failure` is empty where it went well."""

    seconds: float
    cpu_s: float
    private_mib: float
    resident_mib: float
    failure: str


class _Memory(NamedTuple):
    private_kib: int
    resident_kib: int


class ClientError(Exception):
    """A client did not do its job; the message says how it ended."""


class Result(NamedTuple):
    """What a client wrote, and what it took."""

    content: dict[str, Any]
    taken: Measured


def ask_client(
    python: Path,
    client: Path,
    job: Mapping[str, Any],
    arguments: Sequence[str] = (),
    *,
    result: Path,
    environment: Mapping[str, str],
    limit_s: float,
    folder: Path | None = None,
) -> Result:
    """Have a client do a job, given to it as JSON with the file for its result.

    Raises:
        ClientError: it failed, took too long or too much memory, or wrote no result.
    """
    result.unlink(missing_ok=True)
    log = result.with_name(f"{client.stem}.log")
    content = json.dumps({**job, "result": str(result)})
    command = [python, client, content, *arguments]
    taken = measure(command, environment=environment, log=log, limit_s=limit_s, folder=folder)
    if taken.failure or not result.exists():
        raise ClientError(f"{client.name}: {taken.failure or f'no result, see {log.name}'}")
    return Result(json.loads(result.read_text(encoding="utf-8")), taken)


def measure(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    log: Path,
    limit_s: float,
    limit_mib: float = 0.9 * 1024 * machine.memory_gib(),
    folder: Path | None = None,
) -> Measured:
    """Run a command, in a folder, until it ends, or is over a limit and is ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    peak, failure = _Memory(0, 0), ""
    with log.open("w", encoding="utf-8") as handle:
        # a session of its own, so that whatever it started ends with it
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=handle,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
        while process.poll() is None and not failure:
            now = _memory(process.pid)
            peak = _Memory(*(max(pair) for pair in zip(peak, now, strict=True)))
            failure = _over(now, time.perf_counter() - begun, limit_s, limit_mib)
            time.sleep(LOOK_S)
        if failure:
            os.killpg(process.pid, 9)
        status = process.wait()
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if status and not failure:
        failure = f"exit status {status}, see {log.name}"
    return Measured(seconds, cpu, peak.private_kib / KIB, peak.resident_kib / KIB, failure)


def _over(now: _Memory, seconds: float, limit_s: float, limit_mib: float) -> str:
    if now.private_kib > limit_mib * KIB:
        return f"ended at {limit_mib / KIB:.0f} GiB of memory, after {seconds:.0f} s"
    return f"not done within {limit_s:.0f} s" if seconds > limit_s else ""


def _memory(pid: int) -> _Memory:
    """Of a process and all below it; what has just ended counts nothing."""
    folder = Path("/proc") / str(pid)
    try:
        lines = (folder / "status").read_text(encoding="utf-8").splitlines()
        children = [c for task in (folder / "task").iterdir() for c in _children(task)]
    except OSError:
        return _Memory(0, 0)
    sizes = {name: int(rest.split()[0]) for name, _, rest in map(_parted, lines) if "kB" in rest}
    below = [_memory(child) for child in children]
    return _Memory(
        sizes.get("RssAnon", 0) + sizes.get("RssShmem", 0) + sum(b.private_kib for b in below),
        sizes.get("VmRSS", 0) + sum(b.resident_kib for b in below),
    )


def _parted(line: str) -> tuple[str, str, str]:
    return line.partition(":")


def _children(task: Path) -> list[int]:
    return [int(pid) for pid in (task / "children").read_text(encoding="utf-8").split()]
