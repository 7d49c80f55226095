"""Where participants may be: the field's own files, files beside these, and what was computed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.config.field import DELETIONS_FILE, FORGET_FILE, READABLE
from fieldwork.errors import StudyError
from fieldwork.files.text_search import files_beneath

IDS = Path(FORGET_FILE)
RECORD = Path(DELETIONS_FILE)
RESULTS = Path("results")
FIGURES = RESULTS / "figures"
"""Copies of figures, of whichever study."""
FIELD_KIT = "field_kit"
"""The folder of a study that people are asked with: no answer is in it, and commands name its maps."""

_SNAKEMAKE = Path(".snakemake")
_REMADE = (RESULTS, Path("logs"), _SNAKEMAKE / "log", _SNAKEMAKE / "metadata")
_SOFTWARE = {_SNAKEMAKE / name for name in ("conda", "conda-archive", "singularity")}
_FIELD_FOLDERS = (Path("resources/field"), Path("resources/downloads/osf"))


class Site(NamedTuple):
    """Where the field's answers are, by its settings.

    Attributes:
        tables: the files of answers and groups.
        column: the participant's, in these.
        neighbours: the files beside these, in which participants are only looked for: another study's
            participant may have the same short code.
        manifest: the list of a download, where the field is one.
    """

    tables: list[Path]
    column: str
    neighbours: list[Path]
    key_file: Path
    manifest: Path | None

    def raw_area(self) -> list[Path]:
        """The files among which raw answers may be, each once; not those that `forget` itself keeps."""
        common_files = (path for folder in _FIELD_FOLDERS for path in files_beneath(folder))
        path_by_target: dict[Path, Path] = {}
        for path in (*self.tables, *self.neighbours, *common_files):
            if path.is_file():
                path_by_target.setdefault(path.resolve(), path)
        files_of_forget = {IDS.resolve(), RECORD.resolve()}
        return [p for target, p in path_by_target.items() if target not in files_of_forget]


def site_of(field: Mapping[str, Any] | None, files: Sequence[str]) -> Site:
    """The site of a field, by its setting and the files that this names, or its download's manifest.

    Raises:
        StudyError: the study has no field.
    """
    if field is None:
        raise StudyError(
            "field: the study has no field answers, so there is nobody to delete; name the study's own "
            "file, as in `snakemake forget --configfile my_field.yaml`"
        )
    raw_tables = [Path(file) for file in files]
    manifest = None
    if field["osf"] is not None:
        manifest = raw_tables[0]
        neighbours = [*files_beneath(manifest.parent / "files")]
        raw_tables = [path for path in neighbours if path.suffix.lower() in READABLE]
    elif Path(field["path"]).is_dir():
        neighbours = [*files_beneath(Path(field["path"]))]
    else:
        folders = dict.fromkeys(path.parent for path in raw_tables)
        neighbours = [p for folder in folders for p in sorted(folder.iterdir()) if p.is_file()]
    column = field["columns"]["participant"]
    return Site(raw_tables, column, neighbours, Path(field["key_file"]), manifest)


def computed_files() -> list[Path]:
    """Every file that a study, or Snakemake, made."""
    folders = (RESULTS, Path("logs"), _SNAKEMAKE)
    return [path for folder in folders for path in files_beneath(folder, _SOFTWARE)]


def study_of(path: Path) -> Path | None:
    """The folder of results that a file lies in: a study's, or one that studies share."""
    return path.parents[-3] if RESULTS in path.parents and path.parent != RESULTS else None


def is_remade(path: Path) -> bool:
    """Whether a file may be deleted without loss: results, logs, and Snakemake's records of jobs."""
    return any(folder in path.parents for folder in _REMADE)


def is_leftover(path: Path) -> bool:
    """Whether a killed run left a file half-written."""
    return RESULTS in path.parents and path.name.startswith(".") and ".partial" in path.name
