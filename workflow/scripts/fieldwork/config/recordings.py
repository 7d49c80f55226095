"""Recordings of answers in the config: what a schema cannot say of them, and which rows an arm has.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator
from typing import Any

from fieldwork.conditions import has_user, kind_of
from fieldwork.config.models import is_recorded
from fieldwork.sections.corpora import RecordingForm

Config = dict[str, Any]


def study_recordings(config: Config) -> list[str]:
    """The recordings that the selected models and tasks are read from, in alphabetical order."""
    study = config["study"]
    models = [config["models"][name] for name in study["models"]]
    sources = [source for task in study["tasks"] for source in config["tasks"][task]["sources"]]
    return sorted(
        {model["recording"] for model in models if is_recorded(model)}
        | {source["dataset"] for source in sources if source["format"] == "recording"}
    )


def reading_of(config: Config, recording: str) -> Config:
    """How a recording's files are read; keys are those of `Recording` in `files/recordings/answers`."""
    return {"name": recording, **RecordingForm.part_of(config["recordings"][recording])}


def reading_of_source(config: Config, source: Config) -> Config | None:
    """How the recording of a task's source is read; None for a source of another format.

    The source's own `rows` narrow those of the recording.
    """
    if source["format"] != "recording":
        return None
    reading = reading_of(config, source["dataset"])
    return {**reading, "rows": {**reading["rows"], **source["rows"]}}


def broken_selection(config: Config) -> Iterator[str]:
    """Conditions that a selected model cannot have answers under, a sentence each."""
    study = config["study"]
    models = {name: config["models"][name] for name in study["models"]}
    conditions = {name: config["conditions"][name] for name in study["conditions"]}
    for name, condition in conditions.items():
        is_of_recordings = condition["context"] == "recorded"
        for model, entry in models.items():
            if is_of_recordings and not is_recorded(entry):
                yield (
                    f"study.conditions: {name!r} has the users of a recording, and {model!r} would be "
                    f"asked; leave one of them out of the study"
                )
                return
            if is_recorded(entry) and kind_of(condition).has_contexts:
                yield (
                    f"study.conditions: {name!r} makes contexts to ask with, and the answers of "
                    f"{model!r} are recorded; select conditions with context: none or recorded"
                )
                return
    for recording in {m["recording"] for m in models.values() if is_recorded(m)}:
        yield from _shared_rows(recording, conditions, config)


def _shared_rows(recording: str, conditions: dict[str, Config], config: Config) -> Iterator[str]:
    """Conditions of one kind that would have the same rows."""
    rules = config["recordings"][recording]["conditions"]
    for is_of_users in (False, True):
        names = [
            name
            for name, entry in conditions.items()
            if has_user(entry) == is_of_users and not entry.get("after") and not rules.get(name)
        ]
        if len(names) > 1:
            yield (
                f"recordings.{recording}.conditions: {names[0]!r} and {names[1]!r} would have the same "
                f"rows; say which rows each has, or select one of them"
            )
            return
