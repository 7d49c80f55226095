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
        # what mirrors a module takes seconds and notices most; folders take minutes
        for of_module in (True, False):
            for number, mutant in enumerate(mutants):
                if number not in rows:
                    rows |= try_mutant(copy, number, mutant, of_module=of_module)
                    write_rows(rows)
    RESULTS.with_name("results.md").write_text(page(rows, options.day), encoding="utf-8")


def try_mutant(
    copy: Path, number: int, mutant: Mutant, *, of_module: bool
) -> dict[int, tuple[str, ...]]:
    """The row of a fault, by its number; none yet where only its folder's tests may notice it."""
    started = time.monotonic()
    before = mutant.apply(copy / LIBRARY)
    try:
        noticed_by = notice(copy, mutant, of_module=of_module)
    finally:
        (copy / LIBRARY / mutant.file).write_text(before, encoding="utf-8")
    if of_module and not noticed_by:
        return {}
    seconds = f"{time.monotonic() - started:.0f}"
    fault = (mutant.file, str(mutant.line), mutant.old, mutant.new)
    row = (str(number), *fault, noticed_by, seconds)
    print(*row, flush=True)
    return {number: row}


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


def notice(copy: Path, mutant: Mutant, *, of_module: bool) -> str:
    """The first test that fails with the fault; empty where none does."""
    tests = module_tests(mutant.file) if of_module else folder_tests(copy, mutant.file)
    if not (copy / tests).exists():
        return ""
    finished = run_tests(copy, [str(tests)])
    if finished is None:
        return "no end"
    if finished.returncode == 1:
        failed = re.search(r"^FAILED (\S+)", finished.stdout, re.MULTILINE)
        return failed[1] if failed else "a test"
    # tests that cannot be collected notice too; 5 is a folder without tests
    return "an error" if finished.returncode not in (0, 5) else ""


def module_tests(file: str) -> Path:
    """The tests of the same name."""
    return (Path("tests/unit") / file).with_name(f"test_{Path(file).name}")


def folder_tests(copy: Path, file: str) -> Path:
    """The tests of the folder."""
    return next(part for part in (Path("tests/unit") / file).parents if (copy / part).is_dir())


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
