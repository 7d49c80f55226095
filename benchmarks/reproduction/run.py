"""`make reproduce DATA=folder`: the paper's design on a small chat model, and its page.

Runs studies/reproduce.yaml and the two files here that are laid over it, with the corpora and datasets of
a folder of public extracts. Writes results.csv and results.md; `--page` writes the page from
the table. A run that was killed goes on where it was.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from command_line import Option, read_options
from evidence import claim_rows, read_tables
from machine import facts
from result_rows import read_rows, write_rows
from rows import Row

from fieldwork.errors import StudyError
from report import page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STUDY = "studies/reproduce.yaml"
PARTS: Mapping[str, Sequence[str]] = {
    "reproduce": [],
    "reproduce_scores": ["benchmarks/reproduction/scores.yaml"],
    "reproduce_lists": ["benchmarks/reproduction/lists.yaml"],
}
"""The studies, and the files laid over the first one for each."""
PAGE = Path("benchmarks/reproduction/results.md")
TIMES = Path("results/reproduce/seconds.csv")


def main(options: argparse.Namespace) -> None:
    """Run what is asked for, and write it.

    Raises:
        StudyError: the folder lacks a file, or a part of the study failed.
    """
    if not options.page:
        settings = data_settings(options.data)
        for name in options.parts:
            files = PARTS[name]
            with _counted_time(options.directory):
                run_study(name, [STUDY, *files, *options.configfile], settings, options)
        folders = [options.directory / "results" / name for name in options.parts]
        evidence = [*claim_rows(read_tables(folders))]
        write_rows(options.out, [*about_rows(folders, options), *evidence])
    text = page(read_rows(options.out, Row))
    (options.out / PAGE.name).write_text(text, "utf-8")


def data_settings(folder: str) -> dict[str, Any]:
    """The study's corpora and datasets with their files in a folder.

    Raises:
        StudyError: there is no folder, or a file is not in it.
    """
    if not folder:
        raise StudyError(
            f"DATA is not set; enter make reproduce DATA=folder, with a folder of the files that {PAGE} "
            "lists"
        )
    study = yaml.safe_load((ROOT / STUDY).read_text(encoding="utf-8"))
    settings: dict[str, Any] = {}
    for registry in ("corpora", "datasets"):
        for name, entry in study[registry].items():
            path = Path(folder, Path(entry["path"]).relative_to("data")).resolve()
            if not path.exists():
                raise StudyError(
                    f"DATA={folder}: has no {path.relative_to(Path(folder).resolve())}; set DATA to a "
                    f"folder of the files that {PAGE} lists"
                )
            settings.setdefault(registry, {})[name] = {"path": str(path)}
    return settings


def run_study(
    name: str, files: Sequence[str], settings: Mapping[str, Any], options: argparse.Namespace
) -> None:
    """Run one part to its end; what is there already is not made again.

    Raises:
        StudyError: Snakemake failed, and said why.
    """
    command = [
        *(sys.executable, "-m", "snakemake", "all", "--cores", str(options.cores)),
        *("--quiet", "host", "rules", "--directory", str(options.directory)),
        *("--configfile", *files),
        *("--config", *(f"{registry}={json.dumps(value)}" for registry, value in settings.items())),
    ]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if status:
        raise StudyError(
            f"the study {name} stopped, for the reason above; enter make reproduce again and it goes on, "
            f"every answer is kept"
        )


@contextmanager
def _counted_time(directory: Path) -> Iterator[None]:
    """Add the seconds of a part to those of earlier runs, also where it fails or is interrupted."""
    started = time.monotonic()
    try:
        yield
    finally:
        path = directory / TIMES
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{time.monotonic() - started:.0f}\n")


def about_rows(folders: Sequence[Path], options: argparse.Namespace) -> Iterator[Row]:
    """Day, machine, versions, sizes, seconds, models."""
    machine = facts()
    yield Row("about", "day", note=options.day)
    yield Row(
        *("about", "machine"),
        note=f"{machine['cpu']}, {machine['memory']}; {options.cores} of {machine['cores']} cores used",
    )
    seconds = (options.directory / TIMES).read_text(encoding="utf-8").split()
    yield Row("about", "seconds", note=f"{sum(map(int, seconds)):,} of wall clock")
    for folder in folders:
        config = yaml.safe_load((folder / "provenance/config.yaml").read_text(encoding="utf-8"))
        yield Row("about", f"study {folder.name}", note=_size(folder, config))
        for name in config["study"]["models"]:
            entry = {k: v for k, v in config["models"][name].items() if v is not None}
            yield Row("about", f"model {name}", note=f"`{json.dumps(entry)}`")


def _size(folder: Path, config: Mapping[str, Any]) -> str:
    import pyarrow.parquet as pq

    n_answers = pq.read_metadata(folder / "answers/answers.parquet").num_rows
    runs = ", ".join(f"{task} {config['tasks'][task]['runs']}" for task in config["study"]["tasks"])
    return f"{n_answers:,} answers; users or reruns: {runs}"


def arguments() -> argparse.Namespace:
    """What was entered."""
    return read_options(
        __doc__,
        HERE,
        data=Option("", "folder of the extracts"),
        cores=len(os.sched_getaffinity(0)),
        parts=Option([*PARTS], choices=[*PARTS]),
        configfile=Option([], "laid over each part"),
        directory=Option(ROOT, "folder of the studies' results"),
        page=Option(False, "write the page again, run nothing"),
    )


if __name__ == "__main__":
    try:
        main(arguments())
    except StudyError as error:
        sys.exit(f"ERROR: {error}")
