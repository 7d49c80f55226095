"""Which tables are in an archive, and what of them stays behind: texts of others, and groups of people.

Paths begin in the study's folder of results. Read while Snakemake parses the workflow, so it imports no
scientific package.
"""

from collections.abc import Iterator
from pathlib import Path

from fieldwork.conditions import kind_of
from fieldwork.config.arms import (
    askable_models,
    auxiliary_requests,
    auxiliary_tables,
    first_token_tables,
)
from fieldwork.config.estimates import study_views
from fieldwork.config.judging import (
    OF_ANSWERS,
    judge_task,
    judged_units,
)
from fieldwork.config.licences import Source, closed_sources_of
from fieldwork.config.memory import SELECT
from fieldwork.config.models import is_recorded
from fieldwork.config.study import ANSWERS, CLAIMS, Study
from fieldwork.config.variants import source_settings
from fieldwork.records import judging, memory, puppets
from fieldwork.records.columns import columns_that_hold, row_types_of
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer

Sources = dict[str, Source]
Columns = tuple[str, ...]

TEXT_COLUMNS: Columns = columns_that_hold(
    [row_type for stage in (puppets, memory, judging) for row_type in row_types_of(stage)],
    *("words of users", "words of questions", "words of answers", "words of raters"),
)
"""Columns that hold texts of users or what was read off these, in tables of users, contexts, memory and
judging; one that a table does not have is passed over."""

ANSWER_COLUMNS: Columns = columns_that_hold([Response, Answer], "words of answers")
"""Columns that hold the words of answers, in tables of responses and answers."""

GROUP_COLUMNS: Columns = columns_that_hold(row_types_of(judging), "groups of users")
"""Columns that hold what `judging.groups` says of users."""

FIELD_TABLES = (
    "field/answers.parquet",
    "field/participants.parquet",
    "field/quality.csv",
    "field/attrition.csv",
)

_MERGES = "answers/items.csv"
_GROUP_ESTIMATES = ("metrics/judgements", "metrics/alternative_annotators")
"""Estimates that are computed from units and their groups, by one rule."""


# ---- what is open --------------------------------------------------------------------------------


def open_tasks(study: Study, sources: Sources) -> list[str]:
    """The tasks whose questions are in the archive."""
    return [
        task
        for task in study.tasks
        if all(
            sources[part["dataset"]].is_open
            for part in source_settings(study.config, task).values()
        )
    ]


def closed_recordings(study: Study, sources: Sources) -> dict[str, Source]:
    """The models whose answers were collected elsewhere and may not be handed on."""
    return {
        name: sources[model["recording"]]
        for name, model in study.entries("models").items()
        if is_recorded(model) and not sources[model["recording"]].is_open
    }


def has_field_answers(study: Study) -> bool:
    """Whether no answer of real users is left out."""
    return not study.config["field"] or bool(study.config["archive"]["field"])


def has_merges(study: Study, sources: Sources) -> bool:
    """Whether written options and a person's corrections are in the archive: both quote answers."""
    return has_field_answers(study) and not closed_recordings(study, sources)


def has_groups(study: Study) -> bool:
    """Whether users are in groups of `judging.groups`."""
    return bool(study.config["judging"] and study.config["judging"]["groups"])


def is_whole(study: Study, sources: Sources) -> bool:
    """Whether every table can be made again: from the questions, and the answers of all."""
    return (
        has_field_answers(study)
        and len(open_tasks(study, sources)) == len(study.tasks)
        and not closed_recordings(study, sources)
    )


# ---- tables that others begin with ---------------------------------------------------------------


def first_tables(study: Study, sources: Sources) -> dict[str, Columns]:
    """The tables that others begin with, and the columns that are blank in them."""
    tables = dict(_tables_before_estimates(study, sources))
    if not is_whole(study, sources):
        tables |= dict.fromkeys(estimates(study), ())
    if has_groups(study):
        ends = (".parquet", ".csv")
        tables |= {path + end: () for path in _GROUP_ESTIMATES for end in ends}
    return tables


def _tables_before_estimates(study: Study, sources: Sources) -> Iterator[tuple[str, Columns]]:
    yield from _tables_of_users(study, sources)
    yield from ((f"tasks/{task}.parquet", ()) for task in open_tasks(study, sources))
    yield from ((plain(path), ()) for path in study.request_tables())
    recorded_models = closed_recordings(study, sources)
    for model in study.entries("models"):
        columns = ANSWER_COLUMNS if model in recorded_models else ()
        yield from ((plain(path), columns) for path in study.tables("responses", [model]))
    yield from ((plain(path), ()) for path in first_token_tables(study))
    if "<results>/cost.csv" in study.outputs():
        yield "cost.csv", ()
    yield from _auxiliary_tables(study, sources)
    if study.config["field"] and has_field_answers(study):
        yield from ((path, ()) for path in FIELD_TABLES)


def _tables_of_users(study: Study, sources: Sources) -> Iterator[tuple[str, Columns]]:
    """Conversations, profiles and contexts."""
    for name in study.corpora():
        is_open = sources[name].is_open
        yield f"corpus/{name}/conversations.parquet", () if is_open else TEXT_COLUMNS
        yield f"corpus/{name}/funnel.csv", ()
    is_closed = any("profiles" in s.uses and not s.is_open for s in sources.values())
    yield from ((plain(path), TEXT_COLUMNS if is_closed else ()) for path in study.profiles())
    yield from ((plain(path), ()) for path in study.puppet_counts())
    for condition, entry in study.entries("conditions").items():
        if kind_of(entry).has_contexts:
            is_closed = bool(closed_sources_of(study, condition, sources))
            columns = TEXT_COLUMNS if is_closed else ()
            yield from ((plain(path), columns) for path in study.context_tables([condition]))


def _auxiliary_tables(study: Study, sources: Sources) -> Iterator[tuple[str, Columns]]:
    """Memory and judging, which models and people made."""
    for part in ("memory", "judging"):
        folder = Path(study.results, part)
        for path in sorted(folder.rglob("*.parquet")) if study.has(part, [part]) else ():
            name = path.relative_to(study.results)
            yield name.as_posix(), _blank_columns(study, sources, name)
    for path in study.has("memory reference", ["metrics/memory_matches"]):
        yield from ((path + end, ()) for end in (".parquet", ".csv"))
    names = _open_auxiliaries(study, sources)
    paths = [
        *auxiliary_requests(study, names),
        *auxiliary_tables(study, "responses", names),
    ]
    yield from ((plain(path), ()) for path in paths)


def _blank_columns(study: Study, sources: Sources, path: Path) -> Columns:
    """The columns of a table of memory or judging that are blank."""
    groups = GROUP_COLUMNS if has_groups(study) and path.parts[0] == "judging" else ()
    tasks = {*study.tasks} - {*open_tasks(study, sources)}
    # what raters wrote beside their judgements is theirs
    is_of_raters = path.parts[0] == "judging" and path.parts[1] != "texts"
    is_closed = (
        is_of_raters
        or _has_closed_users(sources)
        or bool(tasks & {*path.parts})
        or (path.parts[1] == "texts" and path.stem in _closed_units(study, sources))
    )
    return (*(TEXT_COLUMNS if is_closed else ()), *groups)


def _has_closed_users(sources: Sources) -> bool:
    return any(
        {"conversations", "profiles"} & {*source.uses} and not source.is_open
        for source in sources.values()
    )


def _closed_units(study: Study, sources: Sources) -> set[str]:
    """The entries of `judging.units` that show questions or answers which may not be handed on."""
    tasks = {*study.tasks} - {*open_tasks(study, sources)}
    models = {*closed_recordings(study, sources)}
    return {
        name
        for name, units in judged_units(study.config).items()
        if (units["of"] != "attributes" and tasks & {*units["tasks"]})
        or (units["of"] in OF_ANSWERS and units["model"] in models)
    }


def _open_auxiliaries(study: Study, sources: Sources) -> list[str]:
    """The auxiliary tasks whose questions are in the archive."""
    if _has_closed_users(sources):
        return []
    closed_names = {judge_task(units) for units in _closed_units(study, sources)}
    if len(open_tasks(study, sources)) < len(study.tasks):
        closed_names.add(SELECT)
    return [name for name in study.auxiliaries() if name not in closed_names]


def ledger_tables(study: Study, sources: Sources) -> dict[str, list[str]]:
    """The tables that name the answers in each model's ledger."""
    if not study.config["archive"]["replies"]:
        return {}
    paths = dict(_tables_before_estimates(study, sources))
    return {
        model: [
            path
            for path in paths
            if path.startswith((f"responses/{model}/", f"first_tokens/{model}/"))
        ]
        for model in askable_models(study)
    }


# ---- tables that a study ends with ---------------------------------------------------------------


def final_tables(study: Study, sources: Sources) -> dict[str, Columns]:
    """The tables that the study ends with, and the columns that are blank in them."""
    tables: dict[str, Columns] = {}
    # both hold what single people wrote
    if has_field_answers(study):
        is_closed = bool(closed_recordings(study, sources))
        tables[plain(ANSWERS)] = ANSWER_COLUMNS if is_closed else ()
    if has_merges(study, sources):
        tables[_MERGES] = ()
    paths = [
        *estimates(study),
        *claims(),
        *(["cost.csv"] if "<results>/cost.csv" in study.outputs() else []),
        *study.has("field", ["field/quality.csv", "field/attrition.csv"]),
    ]
    return tables | dict.fromkeys(paths, ())


def estimates(study: Study) -> Iterator[str]:
    """The tables of estimates, without the corrected tests."""
    for path in map(plain, study.metric_tables()):
        yield path
        yield path.replace(".parquet", ".csv")
    yield from (f"metrics/{name}.csv" for name in study_views(study))


def claims() -> list[str]:
    """The table of corrected tests."""
    path = plain(CLAIMS)
    return [path, path.replace(".parquet", ".csv")]


def plain(path: str) -> str:
    """A path from the study's folder of results."""
    return path.removeprefix("<results>/")
