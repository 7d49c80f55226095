"""The folder of an archive: what is copied where, and which texts stay behind.

Owns the layout. What goes in is chosen by `config/archive`; here nothing is looked for.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.records.field import FIELD

FILLER = "[left out of this archive: left_out.csv says why]"
"""What stands where a text was. It is not empty, as a call without a context is another call: its answer
would be taken for one that was given after the text."""

TABLES = "tables"
CODE = "code"
SETTINGS = "study.yaml"
LEDGERS = "resources/ledger"

PROJECT_SETTINGS = "config.yaml"

_NOT_CODE = frozenset(("__pycache__", ".snakemake"))
_OF_TOOLS = (".pyc", ".snakemake_timestamp")
"""Endings of files that Python compiles, or Snakemake leaves in a folder that a rule makes."""


class ArchivePlan(NamedTuple):
    """What an archive is made of.

    Attributes:
        license: of the study's own tables; None where none was chosen.
        config: of the study, as it is run from the archive.
        project_config: the project's own settings without paths of this machine; None where there are
            no such paths.
        sources: where texts come from; keys are those of `Source` in `config/licences`.
        first_tables: the tables that others begin with, from the study's folder of results, and the
            columns that are blank in them.
        tables: those that the study ends with, likewise.
        pages: what people read: findings, figures, versions.
        explorer: whether the study's page is in it.
        prompts: the tables of questions.
        inputs: files that the config names, by their places in the archive.
        private_files: files that say something of people, which are in no archive.
        ledgers: the tables that name a model's answers, by model.
        key_files: of pseudonyms.
        of_models_alone: tables whose rows of real users are left out.
        remade: of these the ones that others can make again.
        is_whole: whether every table can be made again.
        left_out: what stays out, why, and what others do instead.
    """

    study: str
    license: str | None
    config: Mapping[str, Any]
    project_config: Mapping[str, Any] | None
    sources: Sequence[Mapping[str, Any]]
    first_tables: Mapping[str, Sequence[str]]
    tables: Mapping[str, Sequence[str]]
    of_models_alone: Sequence[str]
    remade: Sequence[str]
    pages: Sequence[str]
    explorer: bool
    prompts: Sequence[str]
    inputs: Mapping[str, str]
    private_files: Sequence[str]
    ledgers: Mapping[str, Sequence[str]]
    key_files: Sequence[str]
    is_whole: bool
    left_out: Sequence[tuple[str, str, str]]

    @property
    def results(self) -> str:
        """The study's folder of results, here and in the archive."""
        return f"results/{self.study}"


def gather(folder: Path, plan: ArchivePlan, home: Path, code: Sequence[str]) -> None:
    """Copy everything into an empty folder.

    Args:
        home: where the project is.
        code: the files of it that a study runs with.

    Raises:
        StudyError: a file is gone, or the disk refuses a copy.
    """
    results = Path(plan.results)
    for path in plan.first_tables:
        _put_table(path, plan.first_tables[path], results, folder / plan.results, plan)
    for path in plan.tables:
        _put_table(path, plan.tables[path], results, folder / TABLES, plan)
    for path in plan.pages:
        _copy(results / path, folder / path)
    for path in files_below(results / "explorer") if plan.explorer else ():
        _copy(results / "explorer" / path, folder / "explorer" / path)
    for place, file in plan.inputs.items():
        _copy(Path(file), folder / place)
    _put_code(folder, plan, home, code)
    _put_settings(folder / SETTINGS, _SETTINGS_HEAD, plan.config)


def _put_table(
    path: str, blank_columns: Sequence[str], results: Path, folder: Path, plan: ArchivePlan
) -> None:
    source, target = results / path, folder / path
    if blank_columns and target.suffix == ".parquet":
        tables.blank_columns(source, target, blank_columns, FILLER)
    elif path not in plan.of_models_alone:
        _copy(source, target)
    elif target.suffix == ".parquet":
        conditions = tables.read_frame(source)["condition"]
        with tables.atomic_path(target) as partial:
            tables.drop_rows(source, partial, {*conditions.index[conditions == FIELD]})
    else:
        tables.write_csv(target, target.with_suffix(".parquet"))


def _put_code(folder: Path, plan: ArchivePlan, home: Path, code: Sequence[str]) -> None:
    for path in code:
        if path == PROJECT_SETTINGS and plan.project_config is not None:
            _put_settings(folder / CODE / path, _PROJECT_HEAD, plan.project_config)
        else:
            _copy(home / path, folder / CODE / path)
        # a study may have templates of its own
        template = Path(path)
        is_template = template.parts[0] == "resources" and template.is_file()
        is_private = os.path.realpath(template) in plan.private_files
        if is_template and not is_private and not template.samefile(home / path):
            _copy(template, folder / path)


def _put_settings(path: Path, head: str, settings: Mapping[str, Any]) -> None:
    text = yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True)
    tables.write_text(path, head + text)


_SETTINGS_HEAD = """\
# The settings of the study, with all defaults. `archived` says that it came out of an archive: no model
# is asked, and these files are missing. README.md says how every table is made again.

"""

_PROJECT_HEAD = """\
# The settings of the project. Files that lay outside of its folder have a place below inputs.

"""


def files_below(folder: Path) -> list[str]:
    """The files below a folder, by their paths from there, in order; those of tools are left out."""
    paths = []
    for inner, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_CODE]
        paths += [(Path(inner) / name).relative_to(folder).as_posix() for name in names]
    return sorted(path for path in paths if not path.endswith(_OF_TOOLS))


def _copy(source: Path, target: Path) -> None:
    if not source.is_file():
        raise StudyError(
            f"{source}: the file is gone, and the archive needs it; put it back, or run `snakemake all`"
        )
    with tables.atomic_path(target) as partial:
        shutil.copyfile(source, partial)
        partial.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
