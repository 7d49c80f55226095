"""`make bench`: asking models, side by side with peers, against a server on this machine.

Every tool has its own environment (`environments/`) and process, and does the same work: n different
prompts at temperature 1, five tokens at most, with whatever the tool keeps on disk by itself. Only
answered requests count. Tools take turns within a round; medians of the rounds go to `results.csv`,
and from there to `results.md` and `readme_table.md`.
"""

import argparse
import shutil
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import environments
import machine
import scenarios
from processes import ClientError, ask, serving
from scenarios import CLIENTS, FIELDWORK, PEER_PACKAGES, PEERS, OwnRun, Scenario

import report

HERE = Path(__file__).parent
PINS = HERE / "environments"
WORK = HERE.parent / ".work"
Measured = dict[tuple[str, str, int], list[dict[str, float]]]


class Options(NamedTuple):
    """The command line."""

    rounds: int
    scale: float
    tools: list[str]
    scenarios: list[str]
    day: str
    out: Path


def options() -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    names = [each.name for each in scenarios.shared()]
    names += [each.name for each in scenarios.own()]
    tools = [FIELDWORK, *PEERS]
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of every number of requests")
    parser.add_argument("--tools", nargs="*", default=tools, choices=tools)
    parser.add_argument("--scenarios", nargs="*", default=names, choices=names)
    parser.add_argument("--day", default=date.today().isoformat())
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the results")
    asked = parser.parse_args()
    return Options(
        asked.rounds, asked.scale, asked.tools, asked.scenarios, asked.day, asked.out.resolve()
    )


class Bench:
    """Runs what is asked for and keeps what was measured, by scenario, tool and number of requests."""

    def __init__(self, asked: Options, pythons: Mapping[str, Path]) -> None:
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


def rows_of(bench: Bench) -> list[report.Row]:
    """Medians, with the lowest and highest of the rounds."""
    rows = []
    for (scenario, tool, n), runs in bench.measured.items():
        for measure in _measures(runs[0]):
            values = [_value(run, measure) for run in runs]
            middle, low, high = statistics.median(values), min(values), max(values)
            rows.append(report.Row(scenario, tool, measure, n, len(runs), middle, low, high, ""))
    for (scenario, tool), reason in bench.failures.items():
        rows.append(report.Row(scenario, tool, "failed", 0, 0, None, None, None, reason))
    return rows


def _measures(run: Mapping[str, float]) -> list[str]:
    derived = ["requests_per_s"] if "seconds" in run else []
    derived += ["disk_bytes_a_row"] if "disk_bytes" in run else []
    return derived + [name for name in run if name not in ("answered", "disk_bytes")]


def _value(run: Mapping[str, float], measure: str) -> float:
    if measure == "requests_per_s":
        return run["answered"] / run["seconds"]
    return run["disk_bytes"] / run["answered"] if measure == "disk_bytes_a_row" else run[measure]


def told(what: str, tool: str, note: str) -> report.Row:
    """A row that holds words."""
    return report.Row(what, tool, "note", 0, 0, None, None, None, note)


def main() -> None:
    """Install, run, report."""
    asked = options()
    notes = [told("day", "", asked.day)]
    notes += [told(f"machine: {name}", "", value) for name, value in machine.facts().items()]
    pythons = {FIELDWORK: Path(sys.executable)}
    for tool in PEERS:
        if tool not in asked.tools:
            notes.append(told("left out", tool, "not asked for"))
            continue
        prepared = environments.prepare(tool, PINS)
        if prepared.python is None:
            notes.append(told("left out", tool, prepared.reason))
            continue
        pythons[tool] = prepared.python
        notes.append(told("version", tool, environments.pinned(PEER_PACKAGES[tool], tool, PINS)))
    bench = Bench(asked, pythons)
    for scenario in scenarios.shared():
        if scenario.name in asked.scenarios:
            bench.compare(scenario)
    for run in scenarios.own():
        if run.name in asked.scenarios:
            bench.measure(run)
    asked.out.mkdir(parents=True, exist_ok=True)
    report.write(asked.out, notes + rows_of(bench))
    if bench.failures:
        raise SystemExit(
            f"{len(bench.failures)} measurements failed: see {asked.out.name}/results.md"
        )


if __name__ == "__main__":
    main()
