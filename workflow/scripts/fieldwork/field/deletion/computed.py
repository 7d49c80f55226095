"""What a study computed from the field's answers.

Owns the list of it, which a test holds against the rules. Promises an order in which what holds
pseudonyms is last, so that after a crash it is still seen which studies the participant is part of.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from fieldwork import tables
from fieldwork.field.deletion.raw_files import delete_file
from fieldwork.field.deletion.search import files_beneath

RESULTS = Path("results")
LOGS = Path("logs")
RECORDS = Path(".snakemake")
_ENVIRONMENTS = frozenset(RECORDS / name for name in ("conda", "conda-archive", "singularity"))
"""Software that Snakemake installed."""

_REPORTS = ("report*.zip", "report*.html", "report/report.html", "report/data/**/*")
_FIGURES = ("figures/*",)
_OF_THE_FIELD = (
    *_REPORTS,
    *_FIGURES,
    "explorer/**/*",
    "explorer_so_far/**/*",
    "export/**/*",
    "archive/**/*",
    "croissant.json",
    "findings.md",
    "metrics/**/*",
    "answers/items.csv",
    "field/quality.csv",
    "field/attrition.csv",
    "study.duckdb*",
    "answers/answers.parquet",
    "answers/field.parquet",
    "answers/forms/field.parquet",
    "field/participants.parquet",
    "field/answers.parquet",
)
_REMADE_RECORDS = (RECORDS / "log", RECORDS / "metadata")


def computed_files() -> list[Path]:
    """Every file that a study, or Snakemake, made."""
    return [*files_beneath(RESULTS), *files_beneath(LOGS), *files_beneath(RECORDS, _ENVIRONMENTS)]


def study_folders() -> list[Path]:
    """The folders of results, `results` itself among them, where an older version put a study."""
    inner = sorted(RESULTS.iterdir()) if RESULTS.is_dir() else []
    return [*(folder for folder in inner if folder.is_dir()), RESULTS]


def field_files_of(study: Path) -> list[Path]:
    """What a study computed from the field, reports that were packed or unpacked beside it included."""
    return list(_files_at(study, _OF_THE_FIELD))


def copies_of_figures() -> list[Path]:
    """Copies and reports that lie in `results` itself, of whichever study."""
    return list(_files_at(RESULTS, (*_REPORTS, *_FIGURES)))


def is_leftover(path: Path) -> bool:
    """Whether a killed run left a file half-written."""
    return RESULTS in path.parents and path.name.startswith(".") and ".partial" in path.name


def is_remade(path: Path) -> bool:
    """Whether a file may be deleted without loss: results, logs, and Snakemake's records of jobs."""
    return any(folder in path.parents for folder in (RESULTS, LOGS, *_REMADE_RECORDS))


def delete_computed(paths: Iterable[Path]) -> None:
    """Delete files in their order, and the folders of results that are empty then."""
    for path in paths:
        delete_file(path)
        if RESULTS in path.parents:
            for folder in path.parents[:-2]:
                with suppress(OSError):
                    folder.rmdir()


def pseudonyms_in(study: Path) -> set[str]:
    """The participants in a study's table of field answers."""
    table = study / "field" / "answers.parquet"
    if not table.is_file():
        return set()
    return set(tables.read_groups(table, "participant_id", "model"))


def _files_at(folder: Path, patterns: Collection[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from (path for path in sorted(folder.glob(pattern)) if path.is_file())
