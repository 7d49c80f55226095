"""`make bench-retrieval`: encoding, a first stage before it, and the search after it.

Search: exact neighbours of made-up vectors, streamed from disk, beside faiss's flat index. Encoding and
first stage: on the real conversations of `../shared/data`, and left out where they are not. What was
measured goes to `results.csv`, and from there to `results.md`. About eight minutes on two cores.
"""

import argparse
import os
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import environments
import texts
from command_line import Option, read_options
from measuring import ask_client
from result_rows import Row, machine_rows, note_row, row_of, write_rows

import report
from report import FAISS, FIELDWORK

HERE = Path(__file__).parent
CLIENTS = HERE / "clients"
PINS = HERE / "environments"
WORK = HERE.parent / ".work" / "retrieval"
LIBRARY = HERE.parents[1] / "workflow" / "scripts"
LIMIT_S = 900.0
SHARDS = 8
PARTS = ("search", "texts")


def options() -> argparse.Namespace:
    """Read the command line."""
    return read_options(
        __doc__,
        HERE,
        rows=1_000_000,
        questions=600,
        k=100,
        rounds=3,
        threads=len(os.sched_getaffinity(0)),
        parts=Option([*PARTS], choices=PARTS),
        note=Option("", "what a reader must know of this run"),
    )


def ask(python: Path, client: str, job: dict[str, Any]) -> dict[str, Any]:
    """Run a client in a process of its own; its result, with the memory it took."""
    environment = {**os.environ, "PYTHONPATH": str(LIBRARY)}
    result, path = WORK / "result.json", CLIENTS / f"{client}.py"
    answer, taken = ask_client(
        python, path, job, result=result, environment=environment, limit_s=LIMIT_S
    )
    answer["measures"] |= {"private_mib": taken.private_mib, "cpu_s": taken.cpu_s}
    return answer


def search(asked: argparse.Namespace, faiss: Path | None) -> list[Row]:
    """Tools in turn, round by round; all must find the same."""
    folder = WORK / "vectors"
    folder.mkdir(parents=True)
    job = {"folder": str(folder), "rows": asked.rows, "shards": SHARDS, "k": asked.k}
    job |= {"questions": asked.questions, "threads": asked.threads}
    own = Path(sys.executable)
    ask(own, "make_vectors", job)
    turns = [(FIELDWORK, own, "search_fieldwork", False), ("held", own, "search_fieldwork", True)]
    turns += [(FAISS, faiss, "search_faiss", False)] if faiss else []
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    found: dict[str, list[set[str]]] = {}
    for _ in range(asked.rounds):
        for tool, python, client, held in turns:
            answer = ask(python, client, {**job, "held": held})
            found[tool] = [set(each) for each in answer["found"]]
            for name, value in answer["measures"].items():
                values[tool, name].append(value)
            print(f"search {tool:10} {answer['measures']}", flush=True)
    rows = [row_of("search", *place, asked.rows, taken) for place, taken in values.items()]
    for tool in set(found) - {FIELDWORK}:
        pairs = zip(found[FIELDWORK], found[tool], strict=True)
        same = sum(len(a & b) for a, b in pairs) / (asked.questions * asked.k)
        rows.append(row_of("search", tool, "same", asked.rows, [same]))
    return rows


def encoding(asked: argparse.Namespace) -> list[Row]:
    """Settings of the encoder, and the first stages."""
    folder = WORK / "texts"
    folder.mkdir(parents=True)
    job = {"folder": str(folder), "k": asked.k, "threads": asked.threads}
    rows = []
    for scenario in ("encode", "first_stage"):
        answer = ask(Path(sys.executable), scenario, job)
        n = answer["n"]
        for name, value in answer["measures"].items():
            rows.append(row_of(scenario, FIELDWORK, name, n, [value]))
            print(f"{scenario} {name}: {value:,.4g}", flush=True)
        for line in answer.get("curves", ()):
            stage, n_texts, k = (line.pop(name) for name in ("stage", "n", "k"))
            rows += [
                row_of("curve", stage, f"k={k} {name}", n_texts, [v]) for name, v in line.items()
            ]
    return rows


def main() -> None:
    """Install, run, report."""
    asked = options()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    notes = machine_rows(asked.day)
    notes += [
        note_row("asked", name, str(getattr(asked, name))) for name in ("questions", "k", "threads")
    ]
    notes += [note_row("remark", "", asked.note)] if asked.note else []
    rows = []
    if "search" in asked.parts:
        prepared = environments.prepare(FAISS, PINS)
        if prepared.python:
            notes.append(note_row("version", FAISS, environments.pinned("faiss-cpu", FAISS, PINS)))
        else:
            notes.append(note_row("left out", FAISS, prepared.reason))
        rows += search(asked, prepared.python)
        shutil.rmtree(WORK / "vectors")
    if "texts" in asked.parts:
        if texts.available():
            rows += encoding(asked)
        else:
            notes.append(note_row("left out", "real conversations", "../shared/data is not here"))
    asked.out.mkdir(parents=True, exist_ok=True)
    write_rows(asked.out, notes + rows)
    report.render(asked.out)


if __name__ == "__main__":
    main()
