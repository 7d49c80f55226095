"""Snakemake started by forking a process that has imported it, which is two thirds of what a start costs.

A child sees what `python -m snakemake` would: arguments, folder, environment, streams. What the Snakefile
imports of the project is imported too; it serves copies of the project whose library is the same file by
file, and is forgotten in others. Requests are lines of JSON on stdin:
`arguments`, `cwd`, `env`, `interpreter` (of scripts), `stdout` and `stderr` (files). Answers are lines
too: first the child's process id, then its exit status.
"""

import atexit
import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from servers.library_copies import (
    LIBRARY,
    PROJECT,
    LibraryFiles,
    adapt_library,
    library_files,
    set_clock_and_hub,
)

IMPORTED = (
    "snakemake.cli",
    "snakemake.api",
    "snakemake.report",
    "snakemake.report.html_reporter",
    "snakemake.scheduling.job_scheduler",
    "snakemake.storage",
    "requests",
    "smart_open",
    "nbformat",
)
# the first request waits for the imports, on a machine that is busy too
START_SECONDS = 300


def import_library() -> None:
    """Import what the Snakefile imports of the project."""
    sys.path.insert(0, str(PROJECT / LIBRARY))
    for part in ("config", "measures"):
        for path in sorted((PROJECT / LIBRARY / "fieldwork" / part).glob("*.py")):
            importlib.import_module(f"fieldwork.{part}.{path.stem}")
    sys.path.remove(str(PROJECT / LIBRARY))


def run_child(request: dict[str, Any], library: LibraryFiles) -> None:
    """Be `python -m snakemake` to the end.

    Args:
        library: the files of the library as they were imported.
    """
    os.setsid()
    os.chdir(request["cwd"])
    adapt_library(Path(request["cwd"]), library_files(Path(request["cwd"])) == library)
    set_clock_and_hub(request["env"])
    os.environ.clear()
    os.environ.update(request["env"])
    for descriptor, name in ((0, os.devnull), (1, request["stdout"]), (2, request["stderr"])):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(name, flags, 0o644), descriptor)
    sys.path[0] = request["cwd"]
    sys.executable = request["interpreter"]
    import snakemake.cli
    import snakemake.workflow

    # the one thing that it looks up when it is imported
    snakemake.workflow.Workflow._rundir = request["cwd"]
    program = Path(snakemake.cli.__file__).with_name("__main__.py")
    sys.argv = [str(program), *request["arguments"]]
    snakemake.cli.main(request["arguments"])


def main() -> None:
    """Fork for each request, one at a time."""
    for name in IMPORTED:
        importlib.import_module(name)
    library = library_files(PROJECT)
    import_library()
    # a child that looked through what is imported would copy all of its memory
    gc.freeze()
    for line in sys.stdin:
        process = os.fork()
        if not process:
            # and ends as the interpreter ends
            run_child(json.loads(line), library)
            return
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


class SnakemakeForks:
    """The process that forks, started with the first request of a test process and ended with it."""

    def __init__(self) -> None:
        # unbuffered: a line that Python has read ahead would be none for select
        self._process = subprocess.Popen(
            [sys.executable, "-m", "servers.snakemake_forks"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=PROJECT / "tests",
        )
        atexit.register(self._process.kill)

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        interpreter: str | Path = sys.executable,
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake to its end.

        Args:
            interpreter: of scripts of rules.

        Raises:
            subprocess.TimeoutExpired: it took longer than `timeout` seconds, and was killed.
        """
        assert self._process.stdin is not None
        with tempfile.TemporaryDirectory() as folder:
            files = {name: str(Path(folder) / name) for name in ("stdout", "stderr")}
            request = {
                "arguments": list(arguments),
                "cwd": str(cwd),
                "env": dict(env),
                "interpreter": str(interpreter),
                **files,
            }
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            child = int(self._line(START_SECONDS))
            try:
                status = int(self._line(timeout))
            except TimeoutError:
                os.killpg(child, signal.SIGKILL)
                self._line(60)
                raise subprocess.TimeoutExpired([*arguments], timeout) from None
            texts = [Path(file).read_text(errors="replace") for file in files.values()]
        return subprocess.CompletedProcess(["snakemake", *arguments], status, *texts)

    def _line(self, timeout: float) -> str:
        stream = self._process.stdout
        assert stream is not None
        if not select.select([stream], [], [], timeout)[0]:
            raise TimeoutError
        return stream.readline().decode()


if __name__ == "__main__":
    main()
