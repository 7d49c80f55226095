"""`make validity`: every estimator on sources whose truth is known.

Bias, coverage of the 95 % interval and false positives, each with its error of simulation, go to
`results.csv` and from there to `results.md`. Each question of `fieldwork/measures` is a part. The file is
written after every job, and lines that are not simulated again stay, so that a run can be cut into
pieces: `--first` and `--seconds`.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from datetime import date
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import agreement
import arms
import calibration
import categories
import changed_model
import comparisons
import corrections
import declared
import discarded
import drift
import exact
import groups
import machine
import nested
import novelty
import odd_users
import power_alike
import power_promises
import power_values
import practice
import robustness
import runs
import scores
import shifts
import studies
import values
import variance
import waiting
from outcomes import Job, Outcome

import report
from fieldwork.measures import questions

HERE = Path(__file__).parent
PARTS = {
    "share_who": variance.jobs,
    "nested": nested.jobs,
    "categories": categories.jobs,
    "distance": comparisons.jobs,
    "run": runs.jobs,
    "scores": scores.jobs,
    "novelty": novelty.jobs,
    "discarded": discarded.jobs,
    "shift": shifts.jobs,
    "groups": groups.jobs,
    "agreement": agreement.jobs,
    "uneven": variance.uneven_jobs,
    "calibration": calibration.jobs,
    "studies": studies.jobs,
    "changed": changed_model.jobs,
    "values": values.jobs,
    "arms": arms.jobs,
    "odd": odd_users.jobs,
    "corrections": corrections.jobs,
    "power": power_promises.jobs,
    "power alike": power_alike.jobs,
    "power values": power_values.jobs,
    "exact": exact.jobs,
    "robustness": robustness.jobs,
    "waiting": waiting.jobs,
    "practice": practice.jobs,
    "drift": drift.jobs,
}
Row = dict[str, str]


def all_parts() -> Mapping[str, Callable[[], Iterator[Job]]]:
    """Jobs by part: declared questions first."""
    return {**{name: partial(declared.jobs, name) for name in questions()}, **PARTS}


def main() -> None:
    """Simulate the chosen parts, and write the tables."""
    parts = all_parts()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", type=int, default=1000, help="data sets of a simulation")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--parts", nargs="*", default=[*parts], choices=[*parts])
    parser.add_argument("--first", type=int, default=0, help="jobs to skip")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no job after")
    parser.add_argument("--day", default=date.today().isoformat())
    parser.add_argument("--machine", default="{cores} cores of {cpu}".format_map(machine.facts()))
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the results")
    options = parser.parse_args()
    jobs = [job for part in options.parts for job in parts[part]()]
    begun, number = time.monotonic(), options.first
    rows = _read(options.out / "results.csv")
    while number < len(jobs) and time.monotonic() - begun < options.seconds:
        rows |= {_key(row): row for row in map(_text, jobs[number](options.sets, options.seed))}
        number += 1
        _write(options.out / "results.csv", rows.values())
        print(f"{number} of {len(jobs)} jobs, {time.monotonic() - begun:.0f} s", flush=True)
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
