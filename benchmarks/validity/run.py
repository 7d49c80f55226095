"""`make validity`: every estimator on sources whose truth is known.

Bias, coverage of the 95 % interval and false positives, each with its error of simulation, go to
`results.csv` and from there to `results.md`. Each question of `fieldwork/measures` is a part. The file is
written after every simulation, and lines that are not simulated again stay, so that a run can be cut into
pieces: `--first` and `--seconds`.
"""

import csv
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, fields
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import declared
import machine
from command_line import Option, read_options
from simulations import Outcome, Simulation

import report
from fieldwork.measures import questions

HERE = Path(__file__).parent
MODULES = (
    *("variance", "distances", "scores", "novelty", "declared", "groups", "agreement"),
    *("calibration", "studies", "values", "arms", "odd_users", "promises", "power_values", "exact"),
    *("stated_promises", "robustness", "waiting", "practice", "drift"),
)
"""Where simulations are, beside those of every declared question."""
Row = dict[str, str]


def all_simulations() -> dict[str, list[Simulation]]:
    """By part: declared questions first."""
    parts = {name: [*declared.simulations(name)] for name in questions()}
    for module in MODULES:
        for simulation in import_module(module).SIMULATIONS:
            parts.setdefault(simulation.part, []).append(simulation)
    return parts


def main() -> None:
    """Simulate the chosen parts, and write the tables."""
    parts = all_simulations()
    options = read_options(
        __doc__,
        HERE,
        sets=Option(1000, "data sets of a simulation"),
        seed=5,
        parts=Option([*parts], choices=[*parts]),
        first=Option(0, "simulations to skip"),
        seconds=Option(float("inf"), "start none after"),
        machine="{cores} cores of {cpu}".format_map(machine.facts()),
    )
    chosen = [simulation for part in options.parts for simulation in parts[part]]
    begun, rows = time.monotonic(), _read(options.out / "results.csv")
    for number in range(options.first, len(chosen)):
        if time.monotonic() - begun >= options.seconds:
            break
        outcomes = chosen[number].outcomes(options.sets, options.seed)
        rows |= {_key(row): row for row in map(_text, outcomes)}
        _write(options.out / "results.csv", rows.values())
        print(f"{number + 1} of {len(chosen)}, {time.monotonic() - begun:.0f} s", flush=True)
    page = report.page(list(rows.values()), options.day, options.machine)
    (options.out / "results.md").write_text(page, encoding="utf-8")


def _key(row: Row) -> tuple[str, ...]:
    return row["part"], row["estimator"], row["source"], row["size"]


def _text(line: Outcome) -> Row:
    return {
        name: "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)
        for name, value in asdict(line).items()
    }


def _read(path: Path) -> dict[tuple[str, ...], Row]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {_key(row): row for row in csv.DictReader(file) if _is_of_today(row)}


def _is_of_today(row: Row) -> bool:
    """Whether a line of a question is of a measure that it still has."""
    question = questions().get(row["part"])
    return question is None or declared.measure_name(row["estimator"]) in question.names


def _write(path: Path, rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Outcome)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
