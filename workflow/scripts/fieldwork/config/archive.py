"""What an archive of a study holds, and what stays out of it.

Owns the choice of files, by the config alone: no folder is packed as a whole, so that a file which nobody
named is in no archive. Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from fieldwork.config.archive_files import (
    archive_inputs,
    archived_config,
    key_files,
    private_files,
    shown_path,
    shown_settings,
)
from fieldwork.config.archive_tables import (
    claims,
    closed_recordings,
    final_tables,
    first_tables,
    has_field_answers,
    has_groups,
    has_merges,
    is_whole,
    ledger_tables,
    open_tasks,
)
from fieldwork.config.explorer import context_form, shows_field
from fieldwork.config.layers import Config, settings_in
from fieldwork.config.licences import Source, closed_sources_of, sources_of
from fieldwork.config.memory import memory_conditions
from fieldwork.config.study import ANSWERS, CLAIMS, Study
from fieldwork.errors import StudyError

Sources = dict[str, Source]

FOLDER = "<results>/archive"

FIGURES_OF_QUESTIONS = frozenset(("fig1", "fig2", "fig4", "fig5", "values"))
"""Figures that print the questions of their task."""

_PERSONAL_TABLES = ("metrics/accuracy_runs.parquet", "metrics/accuracy_runs.csv")
"""Estimates with a row for each user, real ones under their pseudonyms."""


def archive_plan(study: Study) -> Config:
    """What the archive is made of; keys are those of `ArchivePlan` in `exports/archive`.

    Paths of tables begin in the study's folder of results.

    Raises:
        StudyError: a file that the config names is gone.
    """
    sources = sources_of(study)
    first, final = first_tables(study, sources), final_tables(study, sources)
    is_complete = is_whole(study, sources)
    return {
        "study": study.name,
        "license": study.config["archive"]["license"],
        "config": archived_config(study, sources),
        "project_config": shown_settings(study),
        "sources": [
            source._replace(origin=shown_path(study, source.origin))._asdict()
            for source in sources.values()
        ],
        "first_tables": first,
        "tables": final,
        "of_models_alone": [] if has_field_answers(study) else [*_PERSONAL_TABLES],
        "remade": [path for path in (final if is_complete else claims()) if path not in first],
        "pages": [*_pages(study, sources)],
        "explorer": _page_obstacle(study, sources) is None,
        "prompts": [f"tasks/{task}.parquet" for task in open_tasks(study, sources)],
        "inputs": archive_inputs(study, sources),
        "private_files": sorted(private_files(study, sources)),
        "ledgers": ledger_tables(study, sources),
        "key_files": [*key_files(study)],
        "is_whole": is_complete,
        "left_out": [*_left_out_always(study, sources), *_left_out_by_choice(study, sources)],
    }


def require_finished(study: Study, lock: str) -> list[str]:
    """The files of a finished study, which an archive is made of.

    Args:
        lock: that of the folder as this run begins (`LockState` in `run_record`).

    Raises:
        StudyError: the study runs, or is not finished.
    """
    if lock in ("in use", "elsewhere"):
        raise StudyError(
            f"{study.results}: the study is still running, and an archive of it would lack results; wait "
            f"until it ends, and run `snakemake archive` again. If that run was killed, run `snakemake "
            f"--unlock` and finish the study first"
        )
    paths = [*study.outputs(), *study.metric_tables(), CLAIMS, ANSWERS, *study.tables("responses")]
    missing_paths = [path for path in map(study.place, paths) if not Path(path).exists()]
    if missing_paths:
        raise StudyError(
            f"{study.results}: the study is not finished, {len(missing_paths)} of its results are "
            f"missing ({missing_paths[0]}); run `snakemake all` for it first, and an archive asks no "
            f"model"
        )
    return paths


# ---- pages ---------------------------------------------------------------------------------------


def _pages(study: Study, sources: Sources) -> Iterator[str]:
    yield "findings.md"
    yield "provenance/versions.csv"
    closed_figures = _closed_figures(study, sources)
    for name in study.figures():
        if name not in closed_figures:
            yield from (f"figures/{name}.{end}" for end in ("pdf", "svg", "png"))


def _closed_figures(study: Study, sources: Sources) -> list[str]:
    """The figures that print questions which may not be handed on."""
    tasks = open_tasks(study, sources)
    return [
        name
        for name in study.figures()
        if name in FIGURES_OF_QUESTIONS and study.figure_task(name) not in tasks
    ]


def _page_obstacle(study: Study, sources: Sources) -> str | None:
    """Why the study's page may not be in the archive; None where it may."""
    conditions = study.entries("conditions")
    closed_sources = [s for name in conditions for s in closed_sources_of(study, name, sources)]
    if context_form(study) == "full" and closed_sources:
        return f"it shows texts of {closed_sources[0].setting} (explorer.contexts)"
    if len(open_tasks(study, sources)) < len(study.tasks):
        return "it shows questions that may not be handed on"
    for source in closed_recordings(study, sources).values():
        return f"it shows answers of {source.setting}"
    if shows_field(study) and not study.config["archive"]["field"]:
        return "it shows answers of real users (explorer.field)"
    return None


# ---- what stays out ------------------------------------------------------------------------------


def _left_out_always(study: Study, sources: Sources) -> Iterator[tuple[str, str, str]]:
    """What no archive holds: what, why, and what others do instead."""
    yield "keys and passwords", "they are in the environment alone", "nothing asks a model here"
    step = (
        "`make rebuild WHAT=all` makes it" if is_whole(study, sources) else "tables are in tables/"
    )
    yield "study.duckdb", "it holds every table once more", step
    yield "embeddings", "they are computed from texts", "they are made again from the texts"
    yield "logs and reports", "they name folders and processes of a machine", "nobody needs them"
    yield (
        "answers that other studies asked for",
        "a ledger is shared by studies",
        "nobody needs them",
    )
    if any(key == "path" and value for _, key, value in settings_in(study.asked_models())):
        yield (
            "weights of models",
            "they are large, and their licences differ",
            "nothing asks a model",
        )


def _left_out_by_choice(study: Study, sources: Sources) -> Iterator[tuple[str, str, str]]:
    """What this archive does not hold, by licence, for privacy, or as the config says."""
    for source in sources.values():
        if not source.is_open:
            origin = shown_path(study, source.origin)
            step = f"put it at {origin}" if source.files else "the workflow downloads it"
            yield f"texts of {source.setting}", source.reason, f"get {origin}: {step}"
    yield from _left_out_with_texts(study, sources)
    obstacle = _page_obstacle(study, sources)
    if obstacle is not None:
        step = "`make rebuild WHAT=all` makes a page without these"
        yield "explorer", obstacle, step if is_whole(study, sources) else "read findings.md"
    if not study.config["archive"]["replies"]:
        yield "raw replies", "archive.replies is false", "answers are in results/*/responses"
    yield from _left_out_of_people(study)


def _left_out_with_texts(study: Study, sources: Sources) -> Iterator[tuple[str, str, str]]:
    """What else goes with questions and answers that may not be handed on."""
    figures = _closed_figures(study, sources)
    if figures:
        yield (
            f"figures {', '.join(figures)}",
            "they print questions that may not be handed on",
            "their numbers are in tables/metrics",
        )
    settings = sorted({source.setting for source in closed_recordings(study, sources).values()})
    if settings and has_field_answers(study):
        yield (
            "tables/answers/items.csv, and the words of answers in tables/answers/answers.parquet",
            f"the words are those of {', '.join(settings)}",
            "the estimates in tables/metrics count them",
        )
    if study.config["parsing"]["overrides"] and not has_merges(study, sources):
        yield (
            "parsing.overrides",
            "a correction quotes the answer that it corrects",
            "the estimates in tables/metrics are those after it",
        )


def _left_out_of_people(study: Study) -> Iterator[tuple[str, str, str]]:
    ask = "ask the authors, who need the consent of the participants"
    if study.config["field"]:
        yield "raw answers of real users", "their ids and unmasked texts name people", ask
        yield "the key of pseudonyms", "with it, people could be found again", "nobody may have it"
        smallest_cell = study.config["metrics"]["smallest_cell"]
        if smallest_cell > 1:
            yield (
                f"words of options that fewer than {smallest_cell} people wrote",
                "they may say who wrote them",
                "the estimates in tables/metrics count them, under numbers",
            )
        if not study.config["archive"]["field"]:
            yield "masked answers of real users", "archive.field is false", ask
            yield (
                "tables/answers, and rows of real users in tables/metrics/accuracy_runs",
                "they have a row for each answer or participant",
                "results/*/responses has the answers of models",
            )
    if study.config["judging"]:
        yield (
            "files of raters",
            "they hold the ids of people",
            "results/*/judging has what they say",
        )
        yield "notes of raters", "they may name people", ask
    if has_groups(study):
        yield (
            "groups of users (judging.groups)",
            "they say what a user is",
            "tables/metrics/judgements has the estimates of each group, which are not made again",
        )
    if memory_conditions(study.config) and study.config["memory"]["reference"]:
        yield "memory.reference", "it says what is true of users", ask


def sent_files(name: str, form: str, paths: Iterable[str]) -> list[str]:
    """Of the files below the folder of archives, those that are sent to OSF.

    Args:
        name: of the study.
        form: the setting `archive.osf.form`.
    """
    if form == "files":
        return [path for path in paths if path.startswith(f"{name}/")]
    first_pages = ("README.md", "left_out.csv", "licences.csv", "findings.md")
    return [f"{name}.zip", *(p for p in paths if p in {f"{name}/{one}" for one in first_pages})]
