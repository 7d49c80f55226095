"""What is known of a study before anything is asked: sources to count, and tables to plan from.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fieldwork.conditions import has_user, kind_of, materials_of
from fieldwork.config.archived import is_archived
from fieldwork.config.arms import (
    askable_models,
    auxiliary_requests,
    auxiliary_tables,
    call_settings,
    recorded_models,
)
from fieldwork.config.figures import task_of
from fieldwork.config.layers import Config
from fieldwork.config.memory import READ, memory_conditions, memory_corpus
from fieldwork.config.needs import are_small
from fieldwork.config.nests import nests_of
from fieldwork.config.settings import filters_of
from fieldwork.config.study import Study
from fieldwork.errors import StudyError
from fieldwork.provenance import code_version, digest
from fieldwork.records.field import FIELD

COUNTS_FILE = Path(".snakemake/fieldwork_counts.txt")
"""What was counted and found to be enough, in the folder where Snakemake runs; it may be deleted."""


def require_sources(study: Study) -> None:
    """Refuse a study whose questions cannot be read, or that needs more puppets than there are.

    Small files are read; of large ones with puppets, the table of counts that an earlier run made.

    Files are counted in a process of their own, so that Snakemake, which may run for days, holds no
    scientific package. What was enough is not counted again while neither files nor settings change.

    Raises:
        StudyError: a file cannot be read, or there are too few puppets.
    """
    if is_archived(study.config):
        return  # it asks nobody, and its files may be missing
    sources = {**small_sources(study), "counts": _earlier_counts(study)}
    if not any(sources[kind] for kind in ("corpora", "personas", "questions", "counts")):
        return
    state = _state_of(sources, study.home)
    with suppress(OSError):
        if state in COUNTS_FILE.read_text(encoding="utf-8").split():
            return
    count = subprocess.run(
        [sys.executable, study.home / "workflow" / "early_count.py"],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=False,
    )
    if count.returncode == 1:
        raise StudyError(count.stderr.strip())
    if count.returncode == 0:
        with suppress(OSError):
            COUNTS_FILE.parent.mkdir(exist_ok=True)
            with COUNTS_FILE.open("a", encoding="utf-8") as file:
                file.write(f"{state}\n")


def _earlier_counts(study: Study) -> str | None:
    """The study's table of counts, where it is younger than what was counted."""
    table = Path(study.results, "puppets.csv")
    names = dict.fromkeys(need.source for need in study.needs())
    if not names or not table.exists():
        return None
    files = [Path(file) for name in names for file in study.source(name)]
    is_young = all(f.exists() and f.stat().st_mtime < table.stat().st_mtime for f in files)
    return str(table) if is_young else None


def _state_of(sources: Config, home: Path) -> str:
    """Hash of what a count depends on: the needs, the files as they are now, and the code."""
    entries = [*sources["corpora"].values(), *sources["personas"].values()]
    entries += [source for parts in sources["questions"].values() for source in parts]
    paths = [Path(file) for entry in entries for file in entry["files"]]
    paths += [Path(sources["counts"])] if sources["counts"] else []
    stats = [path.stat() if path.exists() else None for path in paths]
    files = [stat and (stat.st_size, stat.st_mtime_ns) for stat in stats]
    scripts = ("puppets/count_puppets.py", "tasks/prepare_task.py")
    return digest([sources, files, [code_version(home / "workflow/scripts" / s) for s in scripts]])


def small_sources(study: Study) -> Config:
    """What `early_count.py` reads: puppets' sources and questions that are read in about a second."""
    needs = study.needs()
    names = [
        name
        for name in dict.fromkeys(need.source for need in needs)
        if study.location(name)["path"] is not None and are_small(study.source(name))
    ]
    column = study.config["profiles"]["personas"]["column"]
    sources: Config = {
        "needs": needs,
        "corpora": {},
        "personas": {},
        "questions": _small_questions(study),
    }
    for name in names:
        files = study.source(name)
        if name in study.config["corpora"]:
            form = {"reading": study.reading(name), "filters": filters_of(study.config, name)}
            sources["corpora"][name] = {"files": files, **form}
        else:
            sources["personas"][name] = {"files": files, "column": column}
    return sources


def _small_questions(study: Study) -> dict[str, list[Config]]:
    """Sources of the questions in somebody's own files, by task."""
    questions: dict[str, list[Config]] = {}
    for task in study.tasks:
        for source in study.item_sources(task):
            is_own = source["format"] == "items" and study.location(source["dataset"])["path"]
            if is_own and are_small(source["files"]):
                questions.setdefault(task, []).append(source)
    return questions


def _can_count(study: Study, task: str, condition: str | None = None) -> bool:
    """Whether the plan counts a task, or its contexts under a condition, from tables."""
    if condition is not None and kind_of(study.condition(condition)).has_memory:
        return False  # a model would have to read conversations first
    mode = study.config["plan"]["tables"]
    if mode != "auto":
        return bool(mode == "build")
    if condition is None:
        return all(
            study.is_here(part["dataset"]) for part in study.config["tasks"][task]["sources"]
        )
    if "profiles" in materials_of(study.condition(condition)):
        parts = [study.config["profiles"][part]["dataset"] for part in ("personas", "sentences")]
        if not all(study.is_here(part) for part in parts):
            return False
    corpus = study.condition(condition).get("corpus")
    if corpus is None or study.location(corpus)["path"] is not None:
        return True
    # a downloaded corpus takes hours to filter and embed: its contexts count once they are made
    contexts = Path(f"{study.results}/contexts/{task}/{condition}.parquet")
    return study.is_here(corpus) and contexts.exists()


def plan_tables(study: Study) -> list[str]:
    """The tables that a plan is counted from: those on this machine, or made from what is."""
    if not askable_models(study):
        return []
    tasks = [task for task in study.tasks if _can_count(study, task)]
    arms = [(t, c) for t in tasks for c in study.entries("conditions") if _can_count(study, t, c)]
    return [
        *(f"<results>/tasks/{task}.parquet" for task in tasks),
        *(f"<results>/requests/{task}/{condition}.parquet" for task, condition in arms),
        *(
            f"<results>/contexts/{task}/{condition}.parquet"
            for task, condition in arms
            if kind_of(study.condition(condition)).has_contexts
        ),
        *(auxiliary_requests(study, [READ]) if _can_read(study) else []),
    ]


def _can_read(study: Study) -> bool:
    """Whether the plan counts the conversations that a model reads from tables."""
    mode = study.config["plan"]["tables"]
    if READ not in study.auxiliaries() or mode == "assume":
        return False
    return mode == "build" or study.location(memory_corpus(study.config))["path"] is not None


def made_table_stamps(study: Study) -> dict[str, int]:
    """The tables that are there and can only be made after models were asked, with their time stamps."""
    conditions = memory_conditions(study.config)
    return _time_stamps(
        study,
        [
            *auxiliary_requests(study, study.auxiliaries()),
            *study.context_tables(conditions),
            *(f"<results>/requests/{t}/{c}.parquet" for t in study.tasks for c in conditions),
        ],
    )


def plan_settings(study: Study) -> Config:
    """What a plan counts with; keys are those of `PlanInputs` in `generation/planning`."""
    return {
        "tasks": study.entries("tasks"),
        "conditions": study.entries("conditions") if study.asked_models() else {},
        "models": study.asked_models(),
        "auxiliaries": {
            name: {
                "task": one.task(),
                "condition": one.condition(name),
                "models": {model: call_settings(study, model) for model in one.models},
            }
            for name, one in study.auxiliaries().items()
        },
        "recorded_models": recorded_models(study),
        "prices": study.config["prices"],
        "assumptions": study.config["plan"],
        "folder": study.results,
        "seed": study.config["study"]["seed"],
        "is_by_probabilities": study.config["study"]["probabilities"] == "instead",
    }


def power_settings(study: Study) -> Config:
    """What the power of a study depends on; keys are those of `PlannedStudy` in `metrics/power`."""
    conditions = study.conditions_and_baseline()
    asked_again = [name for name, entry in conditions.items() if entry.get("replicates", 1) > 1]
    return {
        "name": study.name,
        "models": {name: entry["label"] for name, entry in study.asked_models().items()},
        "conditions": {n: entry["label"] for n, entry in conditions.items() if has_user(entry)},
        "baseline": study.baseline,
        "n_comparisons": len(conditions) - 1,
        "runs": {name: task["runs"] for name, task in study.entries("tasks").items()},
        "score_task": task_of(study.config, "fig3"),
        "asked_again": [
            *asked_again,
            *([FIELD] if study.config["field_kit"]["repeats"] > 1 else []),
        ],
        "nests": nests_of(study.config),
        "settings": study.config["power"],
        "rules": study.claim_rules(),
        "n_permutations": study.config["metrics"]["permutations"],
        "seed": study.config["study"]["seed"],
        "rarest_users": study.config["metrics"]["rarest_users"],
        "is_by_probabilities": study.config["study"]["probabilities"] == "instead",
    }


def _time_stamps(study: Study, paths: Sequence[str]) -> dict[str, int]:
    """The files among `paths` that are there, and when they were written, in nanoseconds.

    A rule has them as a param, not as inputs: planning must never have questions asked.
    """
    files = [Path(path.replace("<results>", study.results)) for path in paths]
    return {str(file): file.stat().st_mtime_ns for file in files if file.exists()}


def answer_time_stamps(study: Study) -> dict[str, int]:
    """When the tables of responses were written, as far as they are there."""
    return _time_stamps(study, [*study.tables("responses"), *auxiliary_tables(study, "responses")])


def parsed_time_stamps(study: Study) -> dict[str, int]:
    """When the answers were read that are there: a pilot's, for the study's power."""
    return _time_stamps(study, study.tables("answers/parsed"))


def ledger_time_stamps(study: Study) -> dict[str, int]:
    """When the ledgers were written; their newest answers are in a second file until a job ends."""
    stems = [f"resources/ledger/{model}.sqlite" for model in askable_models(study)]
    return _time_stamps(study, [f"{stem}{part}" for stem in stems for part in ("", "-wal")])
