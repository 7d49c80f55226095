"""What an archive of a study holds, and what stays out of it.

Owns the choice of files, by the config alone: no folder is packed as a whole, so that a file which nobody
named is in no archive. Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fieldwork.conditions import kind_of
from fieldwork.config.archived import SECTION
from fieldwork.config.auxiliary_arms import askable_models, auxiliary_requests, auxiliary_tables
from fieldwork.config.encoding import precision_record
from fieldwork.config.explorer import context_form, shows_field
from fieldwork.config.first_tokens import first_token_tables
from fieldwork.config.layers import settings_in
from fieldwork.config.licences import Source, closed_sources_of, sources_of
from fieldwork.config.memory import memory_conditions
from fieldwork.config.study import ANSWERS, CLAIMS, Study
from fieldwork.config.study_files import single_files
from fieldwork.config.variants import source_settings
from fieldwork.errors import StudyError

Config = dict[str, Any]

FOLDER = "<results>/archive"

CODE = (
    "Snakefile",
    "config.yaml",
    "Makefile",
    "LICENSE",
    "CITATION.cff",
    "README.md",
    "requirements.txt",
    "requirements-models.txt",
    "profiles",
    "workflow",
    *(f"docs/{name}.md" for name in ("archive", "data", "methods")),
    "resources/figures.mplstyle",
    *(
        f"resources/{name}"
        for name in (
            "explorer",
            "field_kit",
            "judge_prompts",
            "memory",
            "pages",
            "review_kit",
            "templates",
            "variants",
        )
    ),
)
"""Files and folders of the project that a study runs with."""

OUTSIDE = "inputs"
"""The folder of an archive for files that lay outside of the study's folder."""

_FIELD_TABLES = (
    "field/answers.parquet",
    "field/participants.parquet",
    "field/quality.csv",
    "field/attrition.csv",
)
_PERSONAL_TABLES = ("metrics/accuracy_runs.parquet", "metrics/accuracy_runs.csv")
"""Estimates with a row for each user, real ones under their pseudonyms."""

_PATH_KEYS = frozenset({"path", "key_file"})


def archive_plan(study: Study) -> Config:
    """What the archive is made of; keys are those of `ArchivePlan` in `exports/archive`.

    Paths of tables begin in the study's folder of results.

    Raises:
        StudyError: a file that the config names is gone.
    """
    sources = sources_of(study)
    is_whole = _is_whole(study, sources)
    first_tables, final_tables = (
        dict(_first_tables(study, sources, is_whole=is_whole)),
        _final_tables(study),
    )
    left_out = [*_left_out_always(study), *_left_out_by_choice(study, sources)]
    inputs = _inputs(study, sources)
    config = _archived_config(study, sources)
    return {
        "study": study.name,
        "license": study.config["archive"]["license"],
        "config": config,
        "sources": [
            source._replace(origin=_shown_origin(source))._asdict() for source in sources.values()
        ],
        "first_tables": first_tables,
        "tables": final_tables,
        "of_models_alone": [] if _has_field_answers(study) else [*_PERSONAL_TABLES],
        "remade": [
            path for path in (final_tables if is_whole else _claims()) if path not in first_tables
        ],
        "pages": [*_pages(study)],
        "explorer": _page_obstacle(study, sources) is None,
        "prompts": [f"tasks/{task}.parquet" for task in _open_tasks(study, sources)],
        "inputs": inputs,
        "ledgers": _ledgers(study, sources),
        "key_files": [*_key_files(study)],
        "is_whole": is_whole,
        "left_out": left_out,
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


# ---- tables --------------------------------------------------------------------------------------


def _plain(path: str) -> str:
    return path.removeprefix("<results>/")


def _is_whole(study: Study, sources: dict[str, Source]) -> bool:
    """Whether every table can be made again: from the questions, and the answers of all."""
    return _has_field_answers(study) and len(_open_tasks(study, sources)) == len(study.tasks)


def _has_field_answers(study: Study) -> bool:
    """Whether no answer of real users is left out."""
    return not study.config["field"] or bool(study.config["archive"]["field"])


def _open_tasks(study: Study, sources: dict[str, Source]) -> list[str]:
    """The tasks whose questions are in the archive."""
    return [
        task
        for task in study.tasks
        if all(
            sources[part["dataset"]].is_open or part["format"] == "recording"
            for part in source_settings(study.config, task).values()
        )
    ]


def _first_tables(
    study: Study, sources: dict[str, Source], *, is_whole: bool
) -> Iterator[tuple[str, bool]]:
    """The tables that others begin with, and whether they are without texts."""
    for name in study.corpora():
        yield f"corpus/{name}/conversations.parquet", not sources[name].is_open
        yield f"corpus/{name}/funnel.csv", False
    is_closed = any(s.use == "profiles" and not s.is_open for s in sources.values())
    yield from ((_plain(path), is_closed) for path in study.profiles())
    yield from ((_plain(path), False) for path in study.puppet_counts())
    for condition, entry in study.entries("conditions").items():
        if kind_of(entry).has_contexts:
            is_closed = bool(closed_sources_of(study, condition, sources))
            yield from ((_plain(path), is_closed) for path in study.context_tables([condition]))
    yield from ((f"tasks/{task}.parquet", False) for task in _open_tasks(study, sources))
    plain_tables = [
        *study.request_tables(),
        *study.tables("responses"),
        *first_token_tables(study),
        *(["<results>/cost.csv"] if "<results>/cost.csv" in study.outputs() else []),
    ]
    yield from ((_plain(path), False) for path in plain_tables)
    yield from _auxiliary_tables(study, sources)
    if study.config["field"] and _has_field_answers(study):
        yield from ((path, False) for path in _FIELD_TABLES)
    if not is_whole:
        yield from ((path, False) for path in _estimates(study))


def _auxiliary_tables(study: Study, sources: dict[str, Source]) -> Iterator[tuple[str, bool]]:
    """Memory and judging, which models and people made."""
    is_closed = any(
        source.use in ("conversations", "profiles") and not source.is_open
        for source in sources.values()
    )
    for part in ("memory", "judging"):
        folder = Path(study.results, part)
        for path in sorted(folder.rglob("*.parquet")) if study.has(part, [part]) else ():
            name = path.relative_to(study.results).as_posix()
            # what raters wrote beside their judgements is theirs
            yield name, is_closed or (part == "judging" and not name.startswith("judging/texts/"))
    if study.has("memory", ["memory"]):
        yield from (("metrics/memory_matches" + end, False) for end in (".parquet", ".csv"))
    if not is_closed:
        names = [*auxiliary_requests(study), *auxiliary_tables(study, "responses")]
        yield from ((_plain(path), False) for path in names)


def _estimates(study: Study) -> Iterator[str]:
    for path in map(_plain, study.metric_tables()):
        yield path
        yield path.replace(".parquet", ".csv")


def _claims() -> list[str]:
    path = _plain(CLAIMS)
    return [path, path.replace(".parquet", ".csv")]


def _final_tables(study: Study) -> list[str]:
    """The tables that the study ends with."""
    field_tables = ["field/quality.csv", "field/attrition.csv"]
    # both hold what single people wrote
    answers = [_plain(ANSWERS), "answers/items.csv"] if _has_field_answers(study) else []
    return [
        *answers,
        *_estimates(study),
        *_claims(),
        *(["cost.csv"] if "<results>/cost.csv" in study.outputs() else []),
        *study.has("field", field_tables),
    ]


def _pages(study: Study) -> Iterator[str]:
    yield "findings.md"
    yield "provenance/versions.csv"
    for name in study.figures():
        yield from (f"figures/{name}.{end}" for end in ("pdf", "svg", "png"))


def _page_obstacle(study: Study, sources: dict[str, Source]) -> str | None:
    """Why the study's page may not be in the archive; None where it may."""
    conditions = study.entries("conditions")
    closed_sources = [s for name in conditions for s in closed_sources_of(study, name, sources)]
    if context_form(study) == "full" and closed_sources:
        return f"it shows texts of {closed_sources[0].setting} (explorer.contexts)"
    if len(_open_tasks(study, sources)) < len(study.tasks):
        return "it shows questions that may not be handed on"
    if shows_field(study) and not study.config["archive"]["field"]:
        return "it shows answers of real users (explorer.field)"
    return None


def _ledgers(study: Study, sources: dict[str, Source]) -> dict[str, list[str]]:
    """The tables that name the answers in each model's ledger."""
    if not study.config["archive"]["replies"]:
        return {}
    paths = [path for path, _ in _first_tables(study, sources, is_whole=True)]
    return {
        model: [
            path
            for path in paths
            if path.startswith((f"responses/{model}/", f"first_tokens/{model}/"))
        ]
        for model in askable_models(study)
    }


# ---- files from outside --------------------------------------------------------------------------


def _inputs(study: Study, sources: dict[str, Source]) -> dict[str, str]:
    """Files that the config names, by their places in the archive."""
    files: dict[str, str] = {}
    for _, path in single_files(study.config):
        if path != study.config["memory"]["reference"] and path != _groups_of(study):
            files[_place(study, path, study.resolve(path))] = study.resolve(path)
    for source in sources.values():
        for file in source.files if source.is_open else ():
            files[_place(study, source.origin, file)] = file
    weights = study.config["calibration"]["weights"]
    if weights:
        files[_place(study, weights, weights)] = weights
    kept_files = (*study.preregistrations(), *_registration_pages(study), *precision_record(study))
    for file in kept_files:
        files[file] = file
    return files


def _groups_of(study: Study) -> str | None:
    judging = study.config["judging"]
    return judging["groups"] if judging else None


def _registration_pages(study: Study) -> list[str]:
    return sorted(map(str, Path(study.preregistration).glob("*.md")))


def is_outside(path: str) -> bool:
    """Whether a path of the config leads out of the study's folder."""
    return Path(path).is_absolute() or ".." in Path(path).parts or path.startswith("~")


def _place(study: Study, setting: str, file: str) -> str:
    """Where a file lies in the archive: under the path of its setting."""
    if not is_outside(setting):
        path = Path(file)
        return (
            path.relative_to(study.home) if path.is_relative_to(study.home) else path
        ).as_posix()
    inner = Path(file).relative_to(setting) if Path(setting).is_dir() else Path()
    return (Path(outside_place(setting)) / inner).as_posix()


def outside_place(path: str) -> str:
    """The path in an archive's config of a file that lay outside of the study's folder."""
    return f"{OUTSIDE}/{Path(path).name}"


def _archived_config(study: Study, sources: dict[str, Source]) -> Config:
    """The config that the archive is run with: no path of this machine, and what was left out."""
    left_out = [source.origin for source in sources.values() if source.files and not source.is_open]
    field, reference = study.config["field"], study.config["memory"]["reference"]
    left_out += [field["path"]] if field and field["path"] else []
    left_out += [reference] if reference else []
    groups = _groups_of(study)
    left_out += [groups] if groups else []
    judging = study.config["judging"]
    left_out += [one["path"] for one in judging["sources"].values()] if judging else []
    config: Config = _without_machine(study.config)
    is_closed = any(not source.is_open for source in sources.values())
    if is_closed and config["explorer"]["contexts"] == "full":
        config["explorer"] = {**config["explorer"], "contexts": "ids"}
    paths = [outside_place(path) if is_outside(path) else path for path in left_out]
    return {**config, SECTION: {"left_out": sorted(set(paths))}}


def _without_machine(value: Any, key: Any = None) -> Any:
    """A copy of settings, in which files outside of the study's folder lie in the archive."""
    if isinstance(value, dict):
        return {name: _without_machine(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_machine(inner, key) for inner in value]
    if isinstance(value, str) and is_outside(value) and _is_path(value, key):
        return outside_place(value)
    return value


def _is_path(value: str, key: Any) -> bool:
    try:
        return key in _PATH_KEYS or Path(value).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False


def _key_files(study: Study) -> Iterator[str]:
    """The files with the keys of pseudonyms, whose content must be nowhere in the archive."""
    for section in ("field", "judging"):
        if study.config[section]:
            yield study.config[section]["key_file"]


# ---- what stays out ------------------------------------------------------------------------------


def _left_out_always(study: Study) -> Iterator[tuple[str, str, str]]:
    """What no archive holds: what, why, and what others do instead."""
    yield "keys and passwords", "they are in the environment alone", "nothing asks a model here"
    yield "study.duckdb", "it holds every table once more", "`make rebuild` makes it"
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


def _left_out_by_choice(study: Study, sources: dict[str, Source]) -> Iterator[tuple[str, str, str]]:
    """What this archive does not hold, by licence, for privacy, or as the config says."""
    for source in sources.values():
        if not source.is_open:
            step = (
                f"put it at {_shown_origin(source)}"
                if source.files
                else "the workflow downloads it"
            )
            yield (
                f"texts of {source.setting}",
                source.reason,
                f"get {_shown_origin(source)}: {step}",
            )
    obstacle = _page_obstacle(study, sources)
    if obstacle is not None:
        yield "explorer", obstacle, "`make rebuild` makes a page without these"
    if not study.config["archive"]["replies"]:
        yield "raw replies", "archive.replies is false", "answers are in results/*/responses"
    yield from _left_out_of_people(study)


def _shown_origin(source: Source) -> str:
    """Where a source comes from, without folders of this machine."""
    return outside_place(source.origin) if is_outside(source.origin) else source.origin


def _left_out_of_people(study: Study) -> Iterator[tuple[str, str, str]]:
    ask = "ask the authors, who need the consent of the participants"
    if study.config["field"]:
        yield "raw answers of real users", "their ids and unmasked texts name people", ask
        yield "the key of pseudonyms", "with it, people could be found again", "nobody may have it"
        if not study.config["archive"]["field"]:
            yield "masked answers of real users", "archive.field is false", ask
    if study.config["judging"]:
        yield (
            "files of raters",
            "they hold the ids of people",
            "results/*/judging has what they say",
        )
        yield "notes of raters", "they may name people", ask
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
