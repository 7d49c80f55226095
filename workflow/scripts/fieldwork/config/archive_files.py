"""Which files of a study and of the project are in its archive, where they lie there, and its settings.

A file from outside of the study's folder gets a folder of its own, named after the setting, so that two
files of one name are two. Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fieldwork.config.archive_tables import has_merges
from fieldwork.config.archived import SECTION
from fieldwork.config.encoding import precision_record
from fieldwork.config.licences import Source
from fieldwork.config.path_settings import (
    ANSWER_FILES,
    CORRECTION_SETTINGS,
    PRIVATE_SETTINGS,
    Config,
    Keys,
    is_outside,
    paths_in,
    with_paths,
)
from fieldwork.config.paths import files_at
from fieldwork.config.study import Study
from fieldwork.config.study_files import single_files
from fieldwork.config.yaml_files import read_yaml
from fieldwork.errors import StudyError

Sources = dict[str, Source]

OUTSIDE = "inputs"
"""The folder of an archive for files that lay outside of the study's folder."""

SETTINGS = "config.yaml"

CODE: dict[str, tuple[str, ...]] = {
    "Snakefile": (),
    SETTINGS: (),
    "Makefile": (),
    "LICENSE": (),
    "CITATION.cff": (),
    "README.md": (),
    "requirements.txt": (),
    "requirements-models.txt": (),
    "profiles": (".yaml",),
    "workflow/rebuild_archive": (),
    "workflow/run_study": (),
    "workflow": (".py", ".smk", ".yaml", ".csv", ".json", ".rst", ".sh"),
    **{f"docs/{name}.md": () for name in ("archive", "data", "methods")},
    "resources/figures.mplstyle": (),
    "resources/explorer": (".html", ".css", ".js"),
    "resources/field_kit": (".html", ".css", ".js", ".md", ".yaml"),
    "resources/judge_prompts": (".txt",),
    "resources/memory": (".txt",),
    "resources/pages": (".html", ".css", ".js"),
    "resources/review_kit": (".html", ".css", ".js", ".md", ".yaml"),
    "resources/templates": (".txt",),
    "resources/variants": (".csv", ".md"),
}
"""Files of the project that a study runs with; of a folder those with these endings, at any depth."""


# ---- places --------------------------------------------------------------------------------------


def outside_places(config: Config) -> dict[str, str]:
    """Where files from outside of the study's folder lie in the archive, by their path in the config.

    A pattern stays one, below the folder of its setting. Files that people filled in have no name
    there: it may be a person's.
    """
    places = {path: f"{OUTSIDE}/{setting}" for setting, path in paths_in(config, ANSWER_FILES)}
    for setting, path in paths_in(config):
        if is_outside(path):
            places.setdefault(path, (Path(OUTSIDE, setting) / _split(path)[1]).as_posix())
    return places


def _split(path: str) -> tuple[Path, str]:
    """A path as a folder that stays behind, and the rest: a name, or all from the first wildcard on."""
    parts = Path(path).parts
    start = next((n for n, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    if parts[start] in ("..", os.sep, "~"):
        start += 1
    return Path(*parts[:start]), "/".join(parts[start:])


def shown_path(study: Study, path: str) -> str:
    """A path of the config, without folders of this machine."""
    return outside_places(study.config).get(path, path)


def _place(study: Study, path: str, file: str) -> str:
    """Where a file lies in the archive that is at a path of the config."""
    if not is_outside(path):
        return _below(study.home, Path(file)).as_posix()
    base, rest = _split(path)
    folder = shown_path(study, path).removesuffix(rest)
    # a path that leads up from the study's folder may be found from the project's
    return (Path(folder) / _below(study.home / base, _below(base, Path(file)))).as_posix()


def _below(folder: Path, file: Path) -> Path:
    return file.relative_to(folder) if file.is_relative_to(folder) else file


# ---- files ---------------------------------------------------------------------------------------


def archive_inputs(study: Study, sources: Sources) -> dict[str, str]:
    """Files that the config names, by their places in the archive.

    Raises:
        StudyError: two of them would lie in one place.
    """
    withheld_files = private_files(study, sources) | _real(
        file for source in sources.values() if not source.is_open for file in source.files
    )
    files: dict[str, str] = {}
    for path, file in _named_files(study, sources):
        # a folder may hold more than the setting that names it is about
        if not _real([file]) & withheld_files:
            place = _place(study, path, file)
            if files.setdefault(place, file) != file or ".." in Path(place).parts:
                raise StudyError(
                    f"{path}: the archive has no place for {file}, as it cannot be {place} there; copy "
                    f"the file into the study's folder under another name, and correct the setting"
                )
    return files


def _named_files(study: Study, sources: Sources) -> Iterator[tuple[str, str]]:
    """Paths of the config, each with a file there."""
    for _, path in single_files(study.config):
        yield path, study.resolve(path)
    for source in sources.values():
        yield from ((source.origin, file) for file in source.files if source.is_open)
    weights = study.config["calibration"]["weights"]
    pages = sorted(map(str, Path(study.preregistration).glob("*.md")))
    kept_files = [*study.preregistrations(), *pages, *precision_record(study)]
    yield from ((file, file) for file in [*([weights] if weights else []), *kept_files])


def _private_settings(study: Study, sources: Sources) -> tuple[Keys, ...]:
    """The settings whose files are in no archive of the study."""
    corrections = () if has_merges(study, sources) else CORRECTION_SETTINGS
    return (*PRIVATE_SETTINGS, *corrections)


def private_files(study: Study, sources: Sources) -> set[str]:
    """The files that say something of people, wherever they lie."""
    return _real(
        file
        for _, path in paths_in(study.config, _private_settings(study, sources))
        for place in (path, study.resolve(path))
        for file in files_at(place)
    )


def _real(files: Any) -> set[str]:
    return {os.path.realpath(file) for file in files}


def key_files(study: Study) -> Iterator[str]:
    """The files with the keys of pseudonyms, whose content must be nowhere in the archive."""
    for section in ("study", "field", "judging"):
        if study.config[section]:
            yield study.config[section]["key_file"]


# ---- settings ------------------------------------------------------------------------------------


def archived_config(study: Study, sources: Sources) -> Config:
    """The config that the archive is run with: no path of this machine, and what was left out."""
    left_out = [source.origin for source in sources.values() if source.files and not source.is_open]
    left_out += [path for _, path in paths_in(study.config, _private_settings(study, sources))]
    places = outside_places(study.config)
    config = with_paths(study.config, lambda _, path: places.get(path, path))
    is_closed = any(not source.is_open for source in sources.values())
    if is_closed and config["explorer"]["contexts"] == "full":
        config["explorer"] = {**config["explorer"], "contexts": "ids"}
    return {**config, SECTION: {"left_out": sorted({places.get(path, path) for path in left_out})}}


def shown_settings(study: Study) -> Config | None:
    """The project's own `config.yaml` without paths of this machine; None where it has none."""
    settings = read_yaml(study.home / SETTINGS).settings
    places = outside_places(settings)
    return with_paths(settings, lambda _, path: places.get(path, path)) if places else None
