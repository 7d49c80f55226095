"""Which one-line faults of the library the unit tests notice: `python benchmarks/mutants/run.py`.

Each of 200 faults, drawn by a seed, is put into a copy of the project alone. The tests that mirror its
module are run, then those of its folder. What neither notices survives; a survivor may be a fault that
changes nothing. Writes mutants.csv and results.md, and goes on where it was stopped.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(HOME / "benchmarks")]

from machine import facts  # noqa: E402
from mutations import Mutant, draw_mutants  # noqa: E402

LIBRARY = Path("workflow/scripts/fieldwork")
RESULTS = Path(__file__).with_name("mutants.csv")
COLUMNS = ("number", "file", "line", "old", "new", "noticed_by", "seconds")
SEED = 38
LONGEST_S = 300
NOT_COPIED = (
    *("results", "logs", "__pycache__", ".git", ".venv", ".work", ".snakemake", ".hypothesis"),
    ".*_cache",
)


def main() -> None:
    """Try the faults that have no row yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--day", default=date.today().isoformat())
    options = parser.parse_args()
    mutants = draw_mutants(HOME / LIBRARY, options.n, options.seed)
    rows = read_rows(mutants)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
        for number, mutant in enumerate(mutants):
            if number in rows:
                continue
            started = time.monotonic()
            before = mutant.apply(copy / LIBRARY)
            try:
                noticed_by = notice(copy, mutant)
            finally:
                (copy / LIBRARY / mutant.file).write_text(before, encoding="utf-8")
            seconds = f"{time.monotonic() - started:.0f}"
            rows[number] = (
                str(number),
                *map(str, (mutant.file, mutant.line, mutant.old)),
                mutant.new,
                noticed_by,
                seconds,
            )
            write_rows(rows)
            print(*rows[number], flush=True)
    RESULTS.with_name("results.md").write_text(page(rows, options.day), encoding="utf-8")


def read_rows(mutants: Sequence[Mutant]) -> dict[int, tuple[str, ...]]:
    """The rows that are there, as far as they are of these faults."""
    if not RESULTS.exists():
        return {}
    with RESULTS.open(encoding="utf-8", newline="") as file:
        rows = {int(row["number"]): row for row in csv.DictReader(file)}
    return {
        number: tuple(rows[number][name] for name in COLUMNS)
        for number, mutant in enumerate(mutants)
        if number in rows
        and (rows[number]["file"], rows[number]["line"]) == (mutant.file, str(mutant.line))
    }


def write_rows(rows: dict[int, tuple[str, ...]]) -> None:
    """Write them in the order of their numbers."""
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *(rows[number] for number in sorted(rows))])


def page(rows: dict[int, tuple[str, ...]], day: str) -> str:
    """How many faults are noticed, and those that are not, as Markdown."""
    survivors = [row for _, row in sorted(rows.items()) if not row[COLUMNS.index("noticed_by")]]
    machine = ", ".join(f"{name} {value}" for name, value in facts().items())
    lines = [
        "# Which faults the unit tests notice",
        "",
        f"{day}, {machine}. Made by `python benchmarks/mutants/run.py` ([how](run.py)) from "
        "[mutants.csv](mutants.csv).",
        "",
        f"Of {len(rows)} one-line faults, drawn by a seed from all places of the library, "
        f"**{len(rows) - len(survivors)} are noticed** by the tests that mirror the module or by those "
        "of its folder. Tests of the workflow and the browser did not run, and a fault may change "
        "nothing. "
        "Lines are those of the library as it was that day. Not noticed:",
        "",
        "| file | line | was | became |",
        "|---|---|---|---|",
        *(f"| {file} | {line} | `{old}` | `{new}` |" for _, file, line, old, new, *_ in survivors),
    ]
    return "\n".join(lines) + "\n"


def notice(copy: Path, mutant: Mutant) -> str:
    """The first test that fails with the fault; empty where none does."""
    for tests in test_files(copy, mutant.file):
        finished = run_tests(copy, tests)
        if finished is None:
            return "no end"
        if finished.returncode == 1:
            failed = re.search(r"^FAILED (\S+)", finished.stdout, re.MULTILINE)
            return failed[1] if failed else "a test"
        # tests that cannot be collected notice too; 5 is a folder without tests
        if finished.returncode not in (0, 5):
            return "an error"
    return ""


def test_files(copy: Path, file: str) -> list[list[str]]:
    """The tests of the same name, then those of the folder, if there are any."""
    module = Path("tests/unit") / file
    mirror = module.with_name(f"test_{module.name}")
    folder = next(part for part in module.parents if (copy / part).is_dir())
    return [[str(path)] for path in (mirror, folder) if (copy / path).exists()]


def run_tests(copy: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """Run tests to the first that fails; None where they do not end."""
    options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "-rf"]
    try:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=copy,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


if __name__ == "__main__":
    main()
