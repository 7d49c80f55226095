"""What every tool is asked to do with a corpus, and how it tells that it did. Standard library only.

A client is started as `python CLIENT JOB`; JOB is a JSON object with the fields of `Job`. It keeps
the English conversations of at least five user turns that are neither toxic nor redacted and whose
messages can be read, each once, counts their tokens, and writes them ordered by id, compressed with
Zstandard.
"""

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

LANGUAGE = "English"
MIN_USER_TURNS = 5
ROLES = ("system", "user", "assistant")


class Job(NamedTuple):
    """What a client is asked to do.

    Attributes:
        folder: of the corpus, files `*.parquet`.
        out: the file to write.
        work: an empty folder for what the tool keeps by itself.
        result: file for the measurement.
        threads: cores it may use.
    """

    folder: str
    out: str
    work: str
    result: str
    threads: int

    def files(self) -> list[Path]:
        """The corpus, in order."""
        return sorted(Path(self.folder).glob("*.parquet"))


def read_job() -> Job:
    """The job in the command line."""
    return Job(**json.loads(sys.argv[1]))


class Stopwatch:
    """Measures from its making on: a client makes it once its tool is imported."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()

    def report(self, job: Job, rows: int) -> None:
        """Write how long it took and how many conversations were kept."""
        seconds = time.perf_counter() - self._begun
        measured = {
            "seconds": seconds,
            "rows": rows,
            "out_bytes": Path(job.out).stat().st_size,
            "work_bytes": sum(f.stat().st_size for f in Path(job.work).rglob("*") if f.is_file()),
        }
        Path(job.result).write_text(json.dumps(measured), encoding="utf-8")
