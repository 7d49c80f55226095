"""Where a study's participants are, by its settings: files of answers, and folders that are searched.

Owns the difference between the field's own files, of which participants are deleted, and files beside
them, in which they are only looked for: another study's participant may have the same short code.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.config.field import DELETIONS_FILE, FORGET_FILE, READABLE
from fieldwork.errors import StudyError
from fieldwork.field.deletion.search import files_beneath

SEARCHED_FOLDERS = (Path("resources/field"), Path("resources/downloads/osf"))
_PAGE = ".json"


class Site(NamedTuple):
    """Where a study's participants are.

    Attributes:
        tables: the files of answers and groups.
        column: the participant's, in these.
        folders: the field's own, with all below them.
        single_folders: the field's own, without the folders below them.
        manifest: the list of a download, where the field is one.
        ids: the file that says who is to be forgotten.
        record: the file that says who was.
    """

    tables: tuple[Path, ...]
    column: str
    folders: tuple[Path, ...]
    single_folders: tuple[Path, ...]
    key_file: Path
    manifest: Path | None
    ids: Path = Path(FORGET_FILE)
    record: Path = Path(DELETIONS_FILE)

    def pages(self) -> list[Path]:
        """Files of the field's own that the survey page may have saved beside its CSV."""
        return [path for path in self._own_files() if path.suffix.lower() == _PAGE]

    def raw_area(self) -> list[Path]:
        """The files among which raw answers may be, each once; not those that `forget` itself keeps."""
        common_files = (path for folder in SEARCHED_FOLDERS for path in files_beneath(folder))
        files_of_forget = {self.ids.resolve(), self.record.resolve()}
        path_by_target: dict[Path, Path] = {}
        for path in (*self.tables, *self._own_files(), *common_files):
            if path.resolve() not in files_of_forget:
                path_by_target.setdefault(path.resolve(), path)
        return list(path_by_target.values())

    def _own_files(self) -> Iterator[Path]:
        for folder in self.folders:
            yield from files_beneath(folder)
        for folder in self.single_folders:
            yield from (path for path in sorted(folder.iterdir()) if path.is_file())


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
    tables = [Path(file) for file in files]
    folders, single_folders, manifest = [], [], None
    if field["osf"] is not None:
        manifest = tables[0]
        folders = [manifest.parent / "files"]
        tables = [path for path in files_beneath(folders[0]) if path.suffix.lower() in READABLE]
    elif Path(field["path"]).is_dir():
        folders = [Path(field["path"])]
    else:
        single_folders = list(dict.fromkeys(path.parent for path in tables))
    return Site(
        tables=tuple(tables),
        column=field["columns"]["participant"],
        folders=tuple(folders),
        single_folders=tuple(single_folders),
        key_file=Path(field["key_file"]),
        manifest=manifest,
    )
