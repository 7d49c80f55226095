"""`make bench-scale`: how time, memory and disk grow with the corpus and with the study.

Corpora of WildChat's shape (`wildchat.py`) go through the corpus step, beside polars, pandas and
datasets doing the same filter, and on to contexts; studies of growing size go from requests to figures.
Each measurement is a process of its own. What was measured goes to `results.csv`, and from there to
`results.md` and `growth.png`. Needs 20 GB of disk for a million conversations, or fewer `--sizes`.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import environments
import machine
import wildchat
from command_line import Option, read_options
from measurements import FIELDWORK, PEERS, STEPS, Row, note_row
from measuring import Measured, measure
from result_rows import write_rows

import report

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CLIENTS = HERE / "clients"
PINS = HERE / "environments"
WORK = HERE.parent / ".work" / "scale"
OWN_ENVIRONMENT = (FIELDWORK, "pandas")
FILES = 14
CONVERSATIONS_A_PUPPET = 200
LIMIT_S = 1_800.0


def options() -> argparse.Namespace:
    """Read the command line."""
    tools = [FIELDWORK, *PEERS]
    return read_options(
        __doc__,
        HERE,
        sizes=[10_000, 100_000, 1_000_000],
        scales=Option([1, 10, 100], "of the study"),
        rounds=3,
        tools=Option(tools, choices=tools),
        scale_text=Option(1.0, "of every message's length"),
        memory_gib=0.7 * machine.memory_gib(),
        source=wildchat.SOURCE,
        keep=Option(False, "do not delete the corpora at the end"),
    )


class Bench:
    """Runs what is asked for and keeps a row for each run."""

    def __init__(self, asked: argparse.Namespace, pythons: dict[str, Path]) -> None:
        self._asked, self._pythons = asked, pythons
        self.rows: list[Row] = []

    def corpus(self, size: int) -> None:
        """Every tool in turn over one corpus, then contexts from what ours wrote."""
        folder = WORK / f"corpus-{size}-{self._asked.scale_text:g}"
        speech = wildchat.read_speech(self._asked.source)
        wanted = wildchat.Size(size, FILES, text=self._asked.scale_text)
        files = wildchat.write_corpus(folder, speech, wanted)
        n_bytes = sum(file.stat().st_size for file in files)
        self.rows.append(Row("generated", "", size, 0, None, None, None, None, n_bytes, size, ""))
        # what is still on its way to the disk would hold up whoever comes first
        os.sync()
        failed: set[str] = set()
        tools = list(self._pythons)
        for turn in range(self._asked.rounds):
            for tool in tools[turn % len(tools) :] + tools[: turn % len(tools)]:
                if tool not in failed and not self._filter(tool, folder, size, turn):
                    failed.add(tool)
            self._contexts(size, turn)
        if not self._asked.keep:
            shutil.rmtree(folder)

    def study(self, scale: int, *, steps: Sequence[str] = STEPS) -> None:
        """From requests to figures; a second asking finds every answer in the ledger."""
        folder = _emptied(WORK / f"study-{scale}")
        for step in steps:
            command = [CLIENTS / "study_step.py", step.removeprefix("again: "), folder, str(scale)]
            if not self._run(step, FIELDWORK, scale, 0, command):
                return

    def _filter(self, tool: str, folder: Path, size: int, turn: int) -> bool:
        place = _emptied(WORK / "filter")
        out = WORK / f"{tool}.parquet"
        job = {
            "folder": str(folder),
            "out": str(out),
            "work": str(place),
            "result": str(WORK / "result.json"),
            "threads": len(os.sched_getaffinity(0)),
        }
        client = CLIENTS / f"corpus_{tool}.py"
        fine = self._run("corpus", tool, size, turn, [client, json.dumps(job)], takes_result=False)
        shutil.rmtree(place, ignore_errors=True)
        if fine and not self._agrees(size):
            raise SystemExit(
                f"{tool} kept {self.rows[-1].kept} conversations of {size}, others not"
            )
        return fine

    def _agrees(self, size: int) -> bool:
        kept = {row.kept for row in self.rows if (row.what, row.n) == ("corpus", size) and row.kept}
        return len(kept) == 1

    def _contexts(self, size: int, turn: int) -> None:
        puppets, out = max(size // CONVERSATIONS_A_PUPPET, 1), WORK / "contexts.parquet"
        corpus = WORK / f"{FIELDWORK}.parquet"
        if corpus.exists():
            command = [CLIENTS / "contexts_fieldwork.py", corpus, out, str(puppets)]
            self._run("contexts", FIELDWORK, size, turn, command)

    def _run(
        self,
        what: str,
        tool: str,
        n: int,
        turn: int,
        command: Sequence[str | Path],
        *,
        takes_result: bool = True,
    ) -> bool:
        result = WORK / "result.json"
        result.unlink(missing_ok=True)
        measured = measure(
            [self._pythons[tool], *command, *([result] if takes_result else [])],
            environment=_environment(tool),
            log=WORK / f"{what.replace(': ', '-')}-{tool}-{n}.log",
            limit_s=LIMIT_S,
            limit_mib=self._asked.memory_gib * 1024,
        )
        self.rows.append(_row(what, tool, n, turn, measured, result))
        print(_told(self.rows[-1]), flush=True)
        return not measured.failure


def _row(what: str, tool: str, n: int, turn: int, measured: Measured, result: Path) -> Row:
    if measured.failure:
        failed = measured.failure
        return Row(what, tool, n, turn, None, None, measured.private_mib, None, 0, 0, failed)
    told = json.loads(result.read_text(encoding="utf-8"))
    return Row(
        what,
        tool,
        n,
        turn,
        told["seconds"],
        measured.cpu_s,
        measured.private_mib,
        measured.resident_mib,
        told["out_bytes"] + told.get("work_bytes", 0),
        told["rows"],
        "",
    )


def _told(row: Row) -> str:
    seconds = (
        "failed" if row.seconds is None else f"{row.seconds:9.2f} s {row.cpu_s or 0:9.2f} cpu s"
    )
    memory = f"{row.private_mib or 0:8.0f} MiB"
    return f"{row.what:22} {row.tool:10} {row.n:9,} {seconds} {memory} {row.kept:8,} {row.note}"


def _environment(tool: str) -> dict[str, str]:
    """No telemetry and no downloads; our own tool finds the library and the scripts."""
    scripts = str(ROOT / "workflow" / "scripts") if tool == FIELDWORK else ""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    quiet = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    return kept | quiet | {"PYTHONPATH": scripts, "HOME": str(WORK / "home")}


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _report(folder: Path, rows: Sequence[Row]) -> None:
    write_rows(folder, rows)
    report.render(folder)


def main() -> None:
    """Install, run, report; what is measured is on disk after every size."""
    asked = options()
    asked.out.mkdir(parents=True, exist_ok=True)
    (WORK / "home").mkdir(parents=True, exist_ok=True)
    notes = [note_row("day", "", asked.day)]
    notes += [note_row(f"machine: {name}", "", value) for name, value in machine.facts().items()]
    notes.append(note_row("machine: load at the start", "", f"{os.getloadavg()[0]:.1f}"))
    notes.append(note_row("scale of texts", "", f"{asked.scale_text:g}"))
    pythons = {tool: Path(sys.executable) for tool in OWN_ENVIRONMENT if tool in asked.tools}
    installed = {tool: tool for tool in PEERS if tool not in OWN_ENVIRONMENT}
    for tool, prepared, version in environments.prepare_peers(installed, asked.tools, PINS):
        if prepared.python:
            pythons[tool] = prepared.python
            notes.append(note_row("version", tool, version))
        else:
            print(f"{tool} is left out: {prepared.reason}", flush=True)
    bench = Bench(asked, pythons)
    for size in asked.sizes:
        bench.corpus(size)
        _report(asked.out, [*notes, *bench.rows])
    if asked.scales and FIELDWORK in pythons:
        # encodes the texts that all sizes share, which is not what is measured
        Bench(asked, pythons).study(1, steps=STEPS[:2])
    for scale in asked.scales if FIELDWORK in pythons else ():
        bench.study(scale)
        _report(asked.out, [*notes, *bench.rows])


if __name__ == "__main__":
    main()
