"""`make reproduce`: the paper's design on a chat model, and its page.

`DATA=folder` runs studies/reproduce.yaml with the corpora and datasets of a folder of public extracts.
`MODEL=name` asks a model of the registry by studies/reproduce_model.yaml, with the users and questions of
the sample. Writes results.csv and results.md; `--page` writes the page from the table. A run that was
killed goes on where it was.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from command_line import Option, read_options
from evidence import claim_rows, read_tables
from machine import facts
from result_rows import read_rows, write_rows
from rows import Row

from fieldwork.errors import StudyError
from report import EXTRACTS_PAGE, MODEL_PAGE, PageWords, page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = Path("benchmarks/reproduction/results.md")


class Design(NamedTuple):
    """Studies that test the paper's claims.

    Attributes:
        study: the first of them, a file.
        parts: their names, and the files laid over the first one for each.
        settings: laid over them all.
        out: folder of the table and the page.
    """

    study: str
    parts: Mapping[str, Sequence[str]]
    settings: Mapping[str, Any]
    out: Path
    words: PageWords


def main(options: argparse.Namespace) -> None:
    """Run what is asked for, and write it.

    Raises:
        StudyError: the folder lacks a file, or a part of the study failed.
    """
    design = design_of_model(options) if options.model else design_on_extracts(options)
    names = options.parts or [*design.parts]
    if unknown := {*names} - {*design.parts}:
        raise StudyError(f"--parts {min(unknown)}: choose among {', '.join(design.parts)}")
    if not options.page:
        folders = [options.directory / "results" / name for name in names]
        for name in names:
            with _counted_time(folders[0] / "seconds.csv"):
                run_study(name, design, options)
        evidence = [*claim_rows(read_tables(folders))]
        write_rows(design.out, [*about_rows(folders, options), *evidence])
    text = page(read_rows(design.out, Row), design.words)
    (design.out / PAGE.name).write_text(text, "utf-8")


def design_on_extracts(options: argparse.Namespace) -> Design:
    """The design on SmolLM2 and a folder of public extracts.

    Raises:
        StudyError: there is no folder, or a file is not in it.
    """
    study = "studies/reproduce.yaml"
    overlays = {name: f"benchmarks/reproduction/{name}.yaml" for name in ("scores", "lists")}
    parts = {"reproduce": [], **{f"reproduce_{name}": [file] for name, file in overlays.items()}}
    settings = {} if options.page else data_settings(study, options.data)
    return Design(study, parts, settings, options.out, EXTRACTS_PAGE)


def design_of_model(options: argparse.Namespace) -> Design:
    """The design on a model of the registry, with users and questions of the sample."""
    name = f"reproduce_{re.sub(r'[^0-9A-Za-z]+', '_', options.model)}"
    parts = {name: [], f"{name}_scores": ["benchmarks/reproduction/scores.yaml"]}
    out = HERE / options.model if options.out == HERE else options.out
    out.mkdir(parents=True, exist_ok=True)
    settings = {"study": {"models": [options.model]}}
    return Design("studies/reproduce_model.yaml", parts, settings, out, MODEL_PAGE)


def data_settings(study_file: str, folder: str) -> dict[str, Any]:
    """The study's corpora and datasets with their files in a folder.

    Raises:
        StudyError: there is no folder, or a file is not in it.
    """
    if not folder:
        raise StudyError(
            f"DATA is not set; enter make reproduce DATA=folder, with a folder of the files that {PAGE} "
            "lists, or make reproduce MODEL=name for a model of the registry on the sample"
        )
    study = yaml.safe_load((ROOT / study_file).read_text(encoding="utf-8"))
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


def run_study(name: str, design: Design, options: argparse.Namespace) -> None:
    """Run one part to its end; what is there already is not made again.

    Raises:
        StudyError: Snakemake failed, and said why.
    """
    settings = dict(design.settings)
    settings["study"] = {**settings.get("study", {}), "name": name}
    command = [
        *(sys.executable, "-m", "snakemake", "all", "--cores", str(options.cores)),
        *("--quiet", "host", "rules", "--directory", str(options.directory)),
        *("--configfile", design.study, *design.parts[name], *options.configfile),
        *("--config", *(f"{section}={json.dumps(value)}" for section, value in settings.items())),
    ]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if status:
        raise StudyError(
            f"the study {name} stopped, for the reason above; enter make reproduce again and it goes on, "
            f"every answer is kept"
        )


@contextmanager
def _counted_time(path: Path) -> Iterator[None]:
    """Add the seconds of a part to those of earlier runs, also where it fails or is interrupted."""
    started = time.monotonic()
    try:
        yield
    finally:
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
    seconds = (folders[0] / "seconds.csv").read_text(encoding="utf-8").split()
    yield Row("about", "seconds", note=f"{sum(map(int, seconds)):,} of wall clock")
    for folder in folders:
        config = yaml.safe_load((folder / "provenance/config.yaml").read_text(encoding="utf-8"))
        yield Row("about", f"study {folder.name}", note=_size(folder, config))
        for name in config["study"]["models"]:
            entry = {k: v for k, v in config["models"][name].items() if v is not None}
            if len(parts := entry.get("parts", ())) > 1:
                entry["parts"] = [parts[0], "...", parts[-1]]
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
        model=Option("", "name of a model of the registry"),
        parts=Option([], "studies of the design, all where none is named"),
        configfile=Option([], "laid over each part"),
        directory=Option(ROOT, "folder of the studies' results"),
        page=Option(False, "write the page again, run nothing"),
    )


if __name__ == "__main__":
    try:
        main(arguments())
    except StudyError as error:
        sys.exit(f"ERROR: {error}")
