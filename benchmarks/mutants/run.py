"""Which one-line faults of the library the unit tests notice: `python benchmarks/mutants/run.py`.

Each of 200 faults, drawn by a seed, is put into a copy of the project alone. The tests that mirror its
module are run, then those of its folder. What neither notices survives; a survivor may be a fault that
changes nothing. Writes mutants.csv and results.md, and goes on where it was stopped.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(HOME / "benchmarks")]

import machine  # noqa: E402
from command_line import read_options  # noqa: E402
from mutations import Mutant, draw_mutants  # noqa: E402
from result_rows import read_rows, table, write_rows  # noqa: E402

LIBRARY = Path("workflow/scripts/fieldwork")
HERE, RESULTS = Path(__file__).parent, "mutants.csv"
SEED = 38
LONGEST_S = 300
NOT_COPIED = (
    *("results", "logs", "__pycache__", ".git", ".venv", ".work", ".snakemake", ".hypothesis"),
    ".*_cache",
)


class Trial(NamedTuple):
    """A line of mutants.csv: a fault, and the first test that noticed it."""

    number: int
    file: str
    line: int
    old: str
    new: str
    noticed_by: str
    seconds: int


def main() -> None:
    """Try the faults that have no row yet."""
    options = read_options(__doc__, HERE, n=200, seed=SEED)
    mutants = draw_mutants(HOME / LIBRARY, options.n, options.seed)
    places = {number: (mutant.file, mutant.line) for number, mutant in enumerate(mutants)}
    # as far as they are of these faults
    rows = {
        row.number: row
        for row in read_rows(options.out, Trial, RESULTS)
        if places.get(row.number) == (row.file, row.line)
    }
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
        # what mirrors a module takes seconds and notices most; folders take minutes
        for of_module in (True, False):
            for number, mutant in enumerate(mutants):
                if number in rows or not (
                    trial := try_mutant(copy, number, mutant, of_module=of_module)
                ):
                    continue
                rows[number] = trial
                write_rows(options.out, [rows[n] for n in sorted(rows)], RESULTS)
                print(*trial, flush=True)
    trials = [rows[n] for n in sorted(rows)]
    (options.out / "results.md").write_text(page(trials, options.day), encoding="utf-8")


def try_mutant(copy: Path, number: int, mutant: Mutant, *, of_module: bool) -> Trial | None:
    """What came of a fault; None yet where only the tests of its folder may notice it."""
    started = time.monotonic()
    before = mutant.apply(copy / LIBRARY)
    try:
        noticed_by = notice(copy, mutant, of_module=of_module)
    finally:
        (copy / LIBRARY / mutant.file).write_text(before, encoding="utf-8")
    if of_module and not noticed_by:
        return None
    seconds = round(time.monotonic() - started)
    return Trial(number, mutant.file, mutant.line, mutant.old, mutant.new, noticed_by, seconds)


def page(trials: Sequence[Trial], day: str) -> str:
    """How many faults are noticed, and those that are not, as Markdown."""
    survivors = [trial for trial in trials if not trial.noticed_by]
    lines = [
        "# Which faults the unit tests notice",
        "",
        f"{day}, {machine.sentence()}. Made by `python benchmarks/mutants/run.py` ([how](run.py)) from "
        "[mutants.csv](mutants.csv).",
        "",
        f"Of {len(trials)} one-line faults, drawn by a seed from all places of the library, "
        f"**{len(trials) - len(survivors)} are noticed** by the tests that mirror the module or by those "
        "of its folder. Tests of the workflow and the browser did not run, and a fault may change "
        "nothing. "
        "Lines are those of the library as it was that day. Not noticed:",
        "",
        *table(
            ("file", "line", "was", "became"),
            ((t.file, t.line, f"`{t.old}`", f"`{t.new}`") for t in survivors),
        ),
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
