"""What the jobs of the quickstart cost beside their work: `python benchmarks/workflow_jobs/run.py`.

The golden quickstart is run from its stored answers (tests/goldens). Counted are its jobs; measured are a
dry run, and the run of all metrics, figures and pages once the answers are there: seconds, and processor
seconds of all processes, which other work on the machine moves less. Scripts are forks of one process, as
on Linux, or start by themselves, as on other systems, in conda and on a cluster. `--of NAME=FOLDER`
measures other copies of the project, such as a worktree of an older commit, in turn with this one. Writes
results.csv and results.md; some ten minutes.
"""

import argparse
import csv
import os
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / part) for part in ("benchmarks", "tests/goldens", "tests")]

import replay  # noqa: E402
from machine import facts  # noqa: E402
from measuring import Measured, measure  # noqa: E402

HERE = Path(__file__).parent
STUDY = "quickstart"
ANSWERS = f"results/{STUDY}/answers/answers.parquet"
BEFORE_METRICS = (
    *("answers", "contexts", "corpus", "embeddings", "personas", "puppets.csv"),
    *("requests", "responses", "tasks"),
)
"""What stays when metrics, figures and pages are made anew."""

NO_FORKS = "import fieldwork.script_forks\nfieldwork.script_forks.fork_scripts = lambda: None\n"
LIMIT_S, LIMIT_MIB = 900, 16_384


class Row(NamedTuple):
    """A copy of the project, and what it took; times are medians of the rounds."""

    copy: str
    jobs: int
    what: str
    rounds: int
    cpu_s: float
    seconds: float


def main() -> None:
    """Measure all copies, and write what they took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--of", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--day", default=date.today().isoformat())
    options = parser.parse_args()
    homes = dict(part.split("=", 1) for part in options.of) | {"this": str(HOME)}
    with tempfile.TemporaryDirectory() as folder:
        copies = {
            name: StudyCopy(Path(folder) / name, Path(home).resolve())
            for name, home in homes.items()
        }
        # in turn, so that what else the machine does is shared by all
        rounds = [
            (name, copy.measured_round())
            for _ in range(options.rounds)
            for name, copy in copies.items()
        ]
        n_jobs = {name: copy.n_jobs for name, copy in copies.items()}
    rows = [
        Row(
            *(name, n_jobs[name], what, options.rounds),
            *(
                round(
                    statistics.median(getattr(one[what], key) for of, one in rounds if of == name),
                    1,
                )
                for key in ("cpu_s", "seconds")
            ),
        )
        for what in rounds[0][1]
        for name in homes
    ]
    write(rows, options.day)


class StudyCopy:
    """A folder in which a copy of the project has a quickstart with its answers."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._folder, self._home = folder, home
        replay.fill(folder, STUDY)
        startup = folder / "without_forks"
        startup.mkdir()
        (startup / "sitecustomize.py").write_text(NO_FORKS, encoding="utf-8")
        self._run("all", is_planned=True)
        plan = (folder / "benchmark.log").read_text(encoding="utf-8")
        self.n_jobs = int(re.findall(r"^total +(\d+)", plan, re.MULTILINE)[0])
        self._run(ANSWERS)

    def measured_round(self) -> dict[str, Measured]:
        """What each thing took, once."""
        taken = {"dry run": self._run("all", is_planned=True)}
        for what, is_forked in (("from answers on", True), ("from answers on, no forks", False)):
            for path in (self._folder / "results" / STUDY).iterdir():
                if path.name not in BEFORE_METRICS:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            taken[what] = self._run("all", is_forked=is_forked)
        return taken

    def _run(self, target: str, *, is_planned: bool = False, is_forked: bool = True) -> Measured:
        hidden = re.compile(r"_API_KEY$|^HF_|^SNAKEMAKE_|^PYTHONPATH$")
        environment = {name: text for name, text in os.environ.items() if not hidden.search(name)}
        if not is_forked:
            parts = (self._folder / "without_forks", self._home / "workflow/scripts")
            environment["PYTHONPATH"] = ":".join(map(str, parts))
        overlay = replay.HERE / "studies" / f"{STUDY}.yaml"
        command = [sys.executable, "-m", "snakemake", "--directory", self._folder, "--cores", "2"]
        command += ["--snakefile", self._home / "Snakefile", "--configfile", overlay]
        command += [*(["-n"] if is_planned else []), "--", target]
        log = self._folder / "benchmark.log"
        limits = {"limit_s": LIMIT_S, "limit_mib": LIMIT_MIB}
        measured = measure(command, environment=environment, log=log, **limits)
        if measured.failure:
            raise RuntimeError(f"{measured.failure}\n{log.read_text(encoding='utf-8')[-3000:]}")
        return measured


def write(rows: Sequence[Row], day: str) -> None:
    """The table, and a page of it."""
    with (HERE / "results.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([Row._fields, *rows])
    machine = ", ".join(f"{name} {value}" for name, value in facts().items())
    load = f"load at the end {os.getloadavg()[0]:.1f}"
    lines = [
        "# What jobs cost",
        "",
        f"{day}, {machine}, {load}. Made by `python benchmarks/workflow_jobs/run.py` ([how](run.py)) "
        "from [results.csv](results.csv).",
        "",
        "The golden quickstart, two jobs at a time. *From answers on*: all metrics, figures and pages; "
        "*no forks*: each script starts Python and imports its libraries, as outside Linux, in conda and "
        "on a cluster. Processor seconds are of all processes; medians of the rounds. With a load above "
        "the cores only they compare.",
        "",
        "| what | copy | jobs of the study | processor s | seconds |",
        "|---|---|---|---|---|",
        *(f"| {r.what} | {r.copy} | {r.jobs} | {r.cpu_s:.1f} | {r.seconds:.1f} |" for r in rows),
    ]
    (HERE / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
