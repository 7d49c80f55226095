"""Where the answers of recorded models are, and which of them each arm has.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import Any

from fieldwork.conditions import has_user
from fieldwork.config.models import is_recorded
from fieldwork.config.pseudonyms import recording_key_file
from fieldwork.config.recordings import reading_of
from fieldwork.config.study import Study

Config = dict[str, Any]


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
        "key_file": recording_key_file(config, entry["recording"]),
    }
