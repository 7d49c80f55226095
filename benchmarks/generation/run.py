"""`make bench`: asking models, side by side with peers, against a server on this machine.

Every tool has its own environment (`environments/`) and process, and does the same work: n different
prompts at temperature 1, five tokens at most, with whatever the tool keeps on disk by itself. Only
answered requests count. Tools take turns within a round; medians of the rounds go to `results.csv`,
and from there to `results.md` and `readme_table.md`.
"""

import argparse
import shutil
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import environments
import scenarios
from command_line import Option, read_options
from measuring import ClientError
from processes import ask, serving
from result_rows import Row, machine_rows, note_row, row_of, write_rows
from scenarios import CLIENTS, FIELDWORK, PEER_PACKAGES, PEERS, OwnRun, Scenario

import report

HERE = Path(__file__).parent
PINS = HERE / "environments"
WORK = HERE.parent / ".work"
Measured = dict[tuple[str, str, int], list[dict[str, float]]]


def options() -> argparse.Namespace:
    """Read the command line."""
    names = [each.name for each in (*scenarios.shared(), *scenarios.own())]
    tools = [FIELDWORK, *PEERS]
    return read_options(
        __doc__,
        HERE,
        rounds=5,
        scale=Option(1.0, "of every number of requests"),
        tools=Option(tools, choices=tools),
        scenarios=Option(names, choices=names),
    )


class Bench:
    """Runs what is asked for and keeps what was measured, by scenario, tool and number of requests."""

    def __init__(self, asked: argparse.Namespace, pythons: Mapping[str, Path]) -> None:
        self._asked, self._pythons = asked, pythons
        self.measured: Measured = defaultdict(list)
        self.failures: dict[tuple[str, str], str] = {}

    def compare(self, scenario: Scenario) -> None:
        """Every tool in turn, round by round, against one server."""
        with serving(scenario.server) as url:
            for _ in range(self._asked.rounds):
                for tool, python in self._pythons.items():
                    job = self._job(url, scenario, scenario.requests[tool], tool)
                    self._run(scenario.name, tool, python, CLIENTS[tool], job, ())

    def measure(self, run: OwnRun) -> None:
        """This project alone, with a fresh server each time unless a run goes on from the last."""
        rounds = min(run.rounds or self._asked.rounds, self._asked.rounds)
        python = self._pythons[FIELDWORK]
        with ExitStack() as stack:
            url = stack.enter_context(serving(run.server)) if run.keeps_folder else ""
            if run.keeps_folder:
                ask(python, run.client, self._job(url, run, run.requests, run.name), run.arguments)
            for _ in range(rounds):
                with ExitStack() as once:
                    address = url or once.enter_context(serving(run.server))
                    # a study of a fixed size is not scaled
                    job = self._job(address, run, run.requests, run.name, keep=run.keeps_folder)
                    self._run(run.name, FIELDWORK, python, run.client, job, run.arguments)

    def _job(
        self, url: str, of: Scenario | OwnRun, n: int, folder: str, *, keep: bool = False
    ) -> dict[str, Any]:
        place = WORK / folder
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        (WORK / "home").mkdir(exist_ok=True)
        is_shared = isinstance(of, Scenario)
        return {
            "url": url,
            "n": max(round(n * self._asked.scale), 1) if is_shared else n,
            "context_bytes": of.context_bytes if isinstance(of, Scenario) else 0,
            "concurrency": of.concurrency,
            "folder": str(place),
            "result": str(WORK / f"{folder}.json"),
        }

    def _run(
        self,
        scenario: str,
        tool: str,
        python: Path,
        client: str,
        job: Mapping[str, Any],
        arguments: Sequence[str],
    ) -> None:
        if (scenario, tool) in self.failures:
            return
        try:
            measured = ask(python, client, job, arguments)
        except ClientError as error:
            self.failures[scenario, tool] = str(error)
            print(f"{scenario:10} {tool:12} FAILED: {error}", flush=True)
            return
        self.measured[scenario, tool, job["n"]].append(measured)
        shown = ", ".join(f"{name} {value:,.4g}" for name, value in measured.items())
        print(f"{scenario:10} {tool:12} {shown}", flush=True)


def rows_of(bench: Bench) -> list[Row]:
    """Medians, with the lowest and highest of the rounds."""
    rows = [
        row_of(scenario, tool, measure, n, [_value(run, measure) for run in runs])
        for (scenario, tool, n), runs in bench.measured.items()
        for measure in _measures(runs[0])
    ]
    failures = bench.failures.items()
    return rows + [note_row(*place, reason, measure="failed") for place, reason in failures]


def _measures(run: Mapping[str, float]) -> list[str]:
    derived = ["requests_per_s"] if "seconds" in run else []
    derived += ["disk_bytes_a_row"] if "disk_bytes" in run else []
    return derived + [name for name in run if name not in ("answered", "disk_bytes")]


def _value(run: Mapping[str, float], measure: str) -> float:
    if measure == "requests_per_s":
        return run["answered"] / run["seconds"]
    return run["disk_bytes"] / run["answered"] if measure == "disk_bytes_a_row" else run[measure]


def main() -> None:
    """Install, run, report."""
    asked = options()
    notes = machine_rows(asked.day)
    pythons = {FIELDWORK: Path(sys.executable)}
    peers = environments.prepare_peers(PEER_PACKAGES, asked.tools, PINS)
    for tool, prepared, version in peers:
        if prepared.python:
            pythons[tool] = prepared.python
        note = (
            ("version", tool, version) if prepared.python else ("left out", tool, prepared.reason)
        )
        notes.append(note_row(*note))
    bench = Bench(asked, pythons)
    for scenario in scenarios.shared():
        if scenario.name in asked.scenarios:
            bench.compare(scenario)
    for run in scenarios.own():
        if run.name in asked.scenarios:
            bench.measure(run)
    asked.out.mkdir(parents=True, exist_ok=True)
    write_rows(asked.out, notes + rows_of(bench))
    report.render(asked.out)
    if bench.failures:
        raise SystemExit(
            f"{len(bench.failures)} measurements failed: see {asked.out.name}/results.md"
        )


if __name__ == "__main__":
    main()
