"""The arms of a study: which models are asked, by whom and how often, and where recorded answers are.

An arm is a model under a condition in a task, auxiliary tasks included. Read while Snakemake parses the
workflow, so it imports no scientific package.
"""

from collections.abc import Iterable
from typing import Literal

from fieldwork.conditions import has_user
from fieldwork.config.layers import Config
from fieldwork.config.models import is_local, is_recorded
from fieldwork.config.pseudonyms import key_file_of
from fieldwork.config.recordings import reading_of
from fieldwork.config.study import Study

_SAMPLE_SIZE = "first_token_sample"

# ---- models on this machine, which one job asks together -----------------------------------------


def local_models(study: Study) -> list[str]:
    """The selected models that answer on this machine."""
    return [name for name, entry in study.asked_models().items() if is_local(entry)]


def is_asked_here(study: Study) -> bool:
    """Whether all models that the study asks answer on this machine, and there is one."""
    return bool(study.asked_models()) and len(local_models(study)) == len(study.asked_models())


def request_arms(study: Study) -> list[Config]:
    """How often every arm asks, in the order of the tables of requests."""
    return [
        study.request_settings(task, name)
        for task in study.tasks
        for name in study.entries("conditions")
    ]


def generation_arms(study: Study, model: str) -> list[Config]:
    """How a model is asked in every arm, in the order of the tables of requests and responses."""
    return [
        study.generation_arm(model, task, name)
        for task in study.tasks
        for name in study.entries("conditions")
    ]


# ---- auxiliary tasks -----------------------------------------------------------------------------


def askable_models(study: Study) -> dict[str, Config]:
    """The models that are asked for anything: the selected ones, and those of auxiliary tasks."""
    names = [model for one in study.auxiliaries().values() for model in one.models]
    return study.asked_models() | {name: study.config["models"][name] for name in names}


def auxiliary_tables(
    study: Study, stage: Literal["responses", "answers/parsed"], names: Iterable[str] | None = None
) -> list[str]:
    """The tables of a stage of every model and auxiliary task, of all where none are named."""
    auxiliaries = study.auxiliaries()
    return [
        f"<results>/{stage}/{model}/{name}/{name}.parquet"
        for name in (auxiliaries if names is None else names)
        for model in auxiliaries[name].models
    ]


def auxiliary_requests(study: Study, names: Iterable[str] | None = None) -> list[str]:
    """The questions and requests of auxiliary tasks, of all where none are named."""
    return [
        f"<results>/{table}.parquet"
        for name in (study.auxiliaries() if names is None else names)
        for table in (f"tasks/{name}", f"requests/{name}/{name}")
    ]


def rater_drawing(study: Study) -> Config:
    """What the figure of raters needs to know: the names of judges that the study does not ask."""
    drawing = study.drawing()
    names = {name: entry["label"] for name, entry in askable_models(study).items()}
    return drawing | {"model_labels": names | drawing["model_labels"]}


# ---- answers that were recorded ------------------------------------------------------------------


def registered_models(study: Study) -> dict[str, Config]:
    """All models of the config that can be asked, selected or not."""
    return {n: entry for n, entry in study.config["models"].items() if not is_recorded(entry)}


def recorded_models(study: Study) -> list[str]:
    """The selected models whose answers are recorded."""
    return [name for name in study.entries("models") if name not in study.asked_models()]


def recording_of(study: Study, model: str) -> Config:
    """How a model's answers are read; keys are those of `Recording` in `files/recordings/answers`."""
    return reading_of(study.config, study.config["models"][model]["recording"])


def recording_files(study: Study, model: str) -> list[str]:
    """The files that the answers of a recorded model are read from."""
    return study.source(study.config["models"][model]["recording"])


def recorded_arm(study: Study, model: str, task: str, condition: str) -> Config:
    """Which answers an arm has; keys are those of `RecordedArm` in `generation/recordings`.

    A condition that repeats another has the rows of that one, and its repeats after those.
    """
    config = study.config
    entry = config["models"][model]
    recording = config["recordings"][entry["recording"]]
    settings = config["conditions"][condition]
    rule = recording["conditions"].get(settings.get("after") or condition)
    return {
        "model": model,
        "task": task,
        "condition": condition,
        "recording": entry["recording"],
        "recorded_model": entry["recorded_as"],
        "has_user": has_user(settings),
        "rows": {**recording["tasks"].get(task, {}), **(rule or {})},
        "temperature": settings.get("temperature"),
        "first": study.first_replicate(task, condition),
        "runs": config["tasks"][task]["runs"],
        "match": recording["match"],
        "wording": recording["wording"],
        "key_file": key_file_of(config, recording),
    }


# ---- calls that are sent once more as streams, to learn when the first text comes -----------------


def streaming_models(study: Study) -> list[str]:
    """The selected models of which some calls are sent once more as streams."""
    return [name for name, entry in study.asked_models().items() if entry.get(_SAMPLE_SIZE)]


def first_token_tables(study: Study) -> list[str]:
    """The tables of streamed calls of every model that has any."""
    return [
        f"<results>/first_tokens/{model}/{task}/{condition}.parquet"
        for model in streaming_models(study)
        for task in study.tasks
        for condition in study.entries("conditions")
    ]


def call_settings(study: Study, model: str) -> Config:
    """A model's entry as its usual calls need it: a larger sample of streams makes none of them again."""
    return {
        key: value for key, value in study.config["models"][model].items() if key != _SAMPLE_SIZE
    }
