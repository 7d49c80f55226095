"""`make bench-interrupted`: a run over a million conversations, killed twice, and how it goes on.

A corpus of WildChat's shape (`wildchat.py`) goes through the workflow as a study's would, download
excepted: filtered, split, embedded, searched. The whole run is killed (SIGKILL, all its processes) while
it filters and again while it embeds, and each time started anew. What was stored before and after
each kill goes to `interrupted.md`. Takes half an hour and 12 GB of disk at full size.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import machine
import pyarrow.parquet as pq
import wildchat
from command_line import Option, read_options

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = HERE.parent / ".work" / "interrupted"
TARGET = "results/contexts/probe/rag.parquet"
FILES = 14
LOOK_S = 0.2
LIMIT_S = 7_200.0


class Phase(NamedTuple):
    """One start of the run, to its kill or its end."""

    until: str
    seconds: float
    stored: int


def study(folder: Path, corpus: Path) -> list[str]:
    """Write the study and give the command that runs it."""
    overlay = {
        "study": {"name": "interrupted", "conditions": ["rag"], "tasks": ["probe"]},
        "corpora": {"sample": {"path": str(corpus)}},
        # half the arithmetic of fp32, and what most conversations open with: the run, not the encoder,
        # is looked at here
        "embedding": {"precision": "bf16", "batch_size": 32, "text": "first_user_turn"},
        "metrics": {"baseline": "rag"},
    }
    file = folder / "interrupted.yaml"
    file.write_text(yaml.safe_dump(overlay), encoding="utf-8")
    cores = str(len(os.sched_getaffinity(0)))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--workflow-profile", str(ROOT / "profiles" / "default")]
    return [*command, "--directory", str(folder), "--cores", cores, "--configfile", str(file)]


def n_stored(folder: Path) -> int:
    """Vectors that are on disk."""
    total = 0
    for path in sorted((folder / "results" / "embeddings").glob("**/[0-9][0-9].sqlite")):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as store:
            try:
                total += int(store.execute("SELECT count(*) FROM vectors").fetchone()[0])
            except sqlite3.OperationalError:  # made a moment ago, without its table
                continue
    return total


def start(command: list[str], folder: Path, until: str, killed: Callable[[], bool]) -> Phase:
    """Run until `killed` says so, or to the end."""
    with (folder / "snakemake.log").open("a", encoding="utf-8") as log:
        begun = time.monotonic()
        running = subprocess.Popen(
            [*command, "--rerun-incomplete", TARGET],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        while running.poll() is None and not killed() and time.monotonic() - begun < LIMIT_S:
            time.sleep(LOOK_S)
        ended = running.poll()
        if ended is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            subprocess.run([*command, "--unlock"], stdout=log, stderr=log, check=True)
        elif ended != 0:
            raise SystemExit(f"the run failed, see {log.name}")
    return Phase(until, time.monotonic() - begun, n_stored(folder))


def run(folder: Path, corpus: Path, stop_at: int) -> list[Phase]:
    """Kill in the filter, kill in the embedding, finish."""
    command = study(folder, corpus)
    begun = time.monotonic()
    phases = [
        start(command, folder, "killed while filtering", lambda: time.monotonic() - begun > 12),
        start(command, folder, "killed while embedding", lambda: n_stored(folder) >= stop_at),
        start(command, folder, "to its end", lambda: False),
        start(command, folder, "once more, nothing to do", lambda: False),
    ]
    for phase in phases:
        print(f"{phase.until:28} {phase.seconds:8.1f} s {phase.stored:9,} vectors", flush=True)
    return phases


def page(phases: list[Phase], conversations: int, kept: int, day: str) -> str:
    """The page that is committed."""
    killed, whole = phases[1].stored, phases[2].stored
    rows = "\n".join(f"| {p.until} | {p.seconds:,.0f} | {p.stored:,} |" for p in phases)
    return f"""# A run over {conversations:,} conversations, interrupted

{day}. Made by `make bench-interrupted` ([how](interrupted.py)).

- Machine: {machine.sentence()}.
- {conversations:,} generated conversations, of which the filter keeps {kept:,}; their first user
  turns are embedded (bf16, 32 at a time) and searched for the histories of four questions.

| the run | seconds | vectors stored by its end |
|---|---|---|
{rows}

After the second kill {killed:,} vectors were on disk; the third start came to {whole:,}, and so
computed {whole - killed:,}. That none in the store is computed again is held by
tests/workflow/test_embedding.py. The filter keeps nothing between: it starts anew.
"""


def main() -> None:
    """Generate, run, write."""
    asked = read_options(
        __doc__,
        HERE,
        conversations=1_000_000,
        stop_at=Option(20_000, "vectors at the second kill"),
        source=wildchat.SOURCE,
    )
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    corpus = WORK / "corpus"
    speech = wildchat.read_speech(asked.source)
    wildchat.write_corpus(corpus, speech, wildchat.Size(asked.conversations, FILES))
    phases = run(WORK, corpus, asked.stop_at)
    (kept_file,) = (WORK / "results" / "corpus").glob("**/conversations.parquet")
    kept = pq.ParquetFile(kept_file).metadata.num_rows
    text = page(phases, asked.conversations, kept, asked.day)
    (asked.out / "interrupted.md").write_text(text, encoding="utf-8")
    shutil.rmtree(WORK)


if __name__ == "__main__":
    main()
