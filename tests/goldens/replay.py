"""Runs the small studies from their stored answers, in folders of their own.

    tests/goldens/replay.py make FOLDER [STUDY ...]     their results, from the stored answers
    tests/goldens/replay.py compare OLD NEW             which files differ, row by row
    tests/goldens/replay.py accept FOLDER               write digests.csv from results
    tests/goldens/replay.py record [STUDY ...]          ask anew, and store the answers

`make FOLDER --of COPY` runs another copy of the project, such as a worktree of an
older commit. Between two commits: `make` the results of both, then `compare` them.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

HOME = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / "tests"), str(HOME / "workflow/scripts")]

from goldens.contents import differences, files_of, read_contents  # noqa: E402
from goldens.inputs import write_inputs  # noqa: E402
from goldens.loop_model import LoopModel  # noqa: E402

HERE = Path(__file__).resolve().parent
DIGESTS = HERE / "digests.csv"
PORT = 8377
TARGETS = ("all",)
STORED = ("resources/ledger", "resources/waves", "results/vectors")
MOST_LINES = 20

CLOCK = """
import os
from datetime import datetime

from fieldwork import waves

waves.present = lambda: datetime.fromisoformat(os.environ["STUDY_TIME"])
"""
"""Read by every Python of a run before all else, where the study's time matters."""


class Golden(NamedTuple):
    """A small study whose results are known.

    Attributes:
        files: study files, laid over config.yaml in turn; those without a folder are of this package.
        times: when it is run to be recorded; at the last of them it is replayed. None where it asks
            no clock.
        is_exported: whether its tables are written for other programs too: kinds of tables and of
            columns, not of studies, are what differs there.
    """

    files: Sequence[str]
    times: Sequence[str | None] = (None,)
    is_exported: bool = False


Finished = subprocess.CompletedProcess[str]

Start = Callable[[Path, Path, Sequence[str], Mapping[str, str]], Finished]
"""Runs a copy of the project in a folder, with arguments and environment, to its end."""


GOLDENS: Mapping[str, Golden] = {
    "quickstart": Golden(["quickstart.yaml"]),
    "field": Golden(["model.yaml", "field.yaml"], is_exported=True),
    "practice": Golden(["studies/practice.yaml", "model.yaml", "practice.yaml"]),
    "waves": Golden(
        ["studies/drift.yaml", "model.yaml", "waves.yaml"],
        [f"2026-12-{day:02}T12:00:00+00:00" for day in (7, 14, 21)],
    ),
    "memory": Golden(
        ["studies/personalisation.yaml", "model.yaml", "memory.yaml"], is_exported=True
    ),
    "values": Golden(["model.yaml", "values.yaml"], is_exported=True),
}


def main() -> int:
    """Do what the command says; 1 where results differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "record"):
        command = commands.add_parser(name)
        if name == "make":
            command.add_argument("folder", type=Path)
            command.add_argument("--of", type=Path, default=HOME)
        command.add_argument("studies", nargs="*", default=[*GOLDENS])
    compared = commands.add_parser("compare")
    compared.add_argument("old", type=Path)
    compared.add_argument("new", type=Path)
    commands.add_parser("accept").add_argument("folder", type=Path)
    options = parser.parse_args()
    match options.command:
        case "make":
            for name in options.studies:
                replay(name, options.folder.resolve() / name, options.of)
        case "record":
            for name in options.studies:
                record(name)
        case "accept":
            write_digests(options.folder)
        case "compare":
            return int(compare(options.old, options.new))
    return 0


def replay(name: str, folder: Path, home: Path = HOME, start: Start | None = None) -> Path:
    """Run a study from its stored answers in a new folder; returns its results.

    Args:
        home: the copy of the project that runs.
        start: what runs Snakemake, if not a process of its own.
    """
    fill(folder, name)
    run(name, folder, GOLDENS[name].times[-1], home, start or start_snakemake)
    return folder / "results" / name


def record(name: str) -> None:
    """Ask the study's models, and store what they answered and the vectors of texts."""
    golden = GOLDENS[name]
    folder = HOME / ".work/goldens" / name
    shutil.rmtree(folder, ignore_errors=True)
    fill(folder)
    for version, time in enumerate(golden.times):
        # behind the same name there is another model at the last time
        is_last = len(golden.times) > 1 and time == golden.times[-1]
        with (
            served(LoopModel(version if is_last else 0)) if name != "quickstart" else nullcontext()
        ):
            run(name, folder, time, HOME, start_snakemake)
    pack(folder, stored_file(name))


def stored_file(name: str) -> Path:
    """Where the answers of a study are stored."""
    return HERE / "stored" / f"{name}.zip"


def fill(folder: Path, name: str | None = None) -> None:
    """Write the inputs of all studies into a folder, and the stored answers of one."""
    (folder / "resources").mkdir(parents=True)
    write_inputs(folder / "resources")
    if name is not None:
        with zipfile.ZipFile(stored_file(name)) as archive:
            archive.extractall(folder)


def run(name: str, folder: Path, time: str | None, home: Path, start: Start) -> None:
    """Make everything of a study; raises RuntimeError with the end of Snakemake's words."""
    golden = GOLDENS[name]
    files = [str((home if "/" in file else HERE / "studies") / file) for file in golden.files]
    environment = {} if time is None else _clock(folder, time, home)
    targets = (*TARGETS, "export") if golden.is_exported else TARGETS
    finished = start(home, folder, ["--configfile", *files, "--", *targets], environment)
    if finished.returncode:
        raise RuntimeError(f"{name}: {finished.stderr[-4000:]}")


def start_snakemake(
    home: Path, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> Finished:
    """Run Snakemake as users do, without keys and without what would steer downloads."""
    hidden = re.compile(r"_API_KEY$|^HF_|^SNAKEMAKE_")
    kept = {name: value for name, value in os.environ.items() if not hidden.search(name)}
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", "--directory", folder, *arguments],
        cwd=home,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def _clock(folder: Path, time: str, home: Path) -> dict[str, str]:
    """The environment in which it is that time."""
    clock = folder / "clock"
    clock.mkdir(exist_ok=True)
    (clock / "sitecustomize.py").write_text(CLOCK, encoding="utf-8")
    return {"STUDY_TIME": time, "PYTHONPATH": f"{clock}:{home / 'workflow/scripts'}"}


@contextmanager
def served(model: LoopModel) -> Iterator[Any]:
    """The invented model on the port that the studies name."""
    from servers.model_server import Chat
    from servers.serving import running

    with running(Chat(model.answer, [{"id": "loop"}], 0.0), PORT) as chat:
        yield chat


def pack(folder: Path, file: Path) -> None:
    """Store the ledgers, the waves and the vectors of a folder, the same bytes for the same content."""
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for place in STORED:
            for path in sorted((folder / place).rglob("*")):
                if path.is_file() and path.suffix not in (".lock",):
                    entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(entry, path.read_bytes())


# ---- what came out ------------------------------------------------------------------------------------


def digests_of(results: Path) -> dict[str, tuple[str, str]]:
    """Number of rows and digest of each file of a study."""
    contents = {name: read_contents(results / name) for name in files_of(results)}
    return {name: (str(len(of.rows)), of.digest) for name, of in contents.items()}


def known_digests(name: str) -> dict[str, tuple[str, str]]:
    """What `digests.csv` says of a study."""
    with DIGESTS.open(encoding="utf-8", newline="") as file:
        return {
            row["file"]: (row["n_rows"], row["digest"])
            for row in csv.DictReader(file)
            if row["study"] == name
        }


def write_digests(folder: Path) -> None:
    """Write `digests.csv` from results; studies that are not in the folder keep what is known."""
    rows = []
    for name in GOLDENS:
        results = folder / name / "results" / name
        digests = digests_of(results) if results.is_dir() else known_digests(name)
        rows += [(name, file, *values) for file, values in digests.items()]
    with DIGESTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("study", "file", "n_rows", "digest"), *rows])


def compare(old: Path, new: Path) -> bool:
    """Print which files of two makings differ, row by row; whether any does."""
    is_other = False
    for name in GOLDENS:
        sides = [folder / name / "results" / name for folder in (old, new)]
        if not all(side.is_dir() for side in sides):
            continue
        before, after = (files_of(side) for side in sides)
        for file in sorted({*before, *after}):
            if file not in before or file not in after:
                print(f"{name}/{file}: only in {old if file in before else new}")
                is_other = True
                continue
            contents = [read_contents(side / file) for side in sides]
            if contents[0].digest == contents[1].digest:
                continue
            is_other = True
            lines = [*differences(*contents)]
            print(f"{name}/{file}: {len(lines):,} of {len(contents[1].rows):,} rows differ")
            print("\n".join(f"    {line}" for line in lines[:MOST_LINES]))
    return is_other


if __name__ == "__main__":
    sys.exit(main())
