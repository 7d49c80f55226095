"""Recordings of answers in the config: what a schema cannot say of them, and which rows an arm has.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from fieldwork.conditions import has_user, kind_of
from fieldwork.config.checks import SettingCheck, Spot
from fieldwork.config.layers import Config
from fieldwork.config.models import is_recorded
from fieldwork.sections.corpora import RecordingForm


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


def _model(spot: Spot, *, with_recording: bool) -> str | None:
    """The first selected model that is recorded, or that is not."""
    models = spot.config["models"]
    names = spot.config["study"]["models"]
    return next((name for name in names if is_recorded(models[name]) == with_recording), None)


def _shared_rows(spot: Spot) -> list[str] | None:
    """The recording of a model, and conditions of one kind that would have the same rows of it."""
    recording = spot.entry("models").get("recording")
    rules = spot.config["recordings"][recording]["conditions"] if recording else {}
    for is_of_users in (False, True) if recording else ():
        names = [
            name
            for name in spot.config["study"]["conditions"]
            if has_user(entry := spot.config["conditions"][name]) == is_of_users
            and not entry.get("after")
            and not rules.get(name)
        ]
        if len(names) > 1:
            return [recording, *names]
    return None


RECORDING_CHECKS = (
    SettingCheck(
        "study.conditions.*",
        lambda at: (
            at.entry("conditions")["context"] == "recorded" and _model(at, with_recording=False)
        ),
        "{value!r} has the users of a recording, and {detail!r} would be asked; leave one of them out of "
        "the study",
        place="study.conditions",
    ),
    SettingCheck(
        "study.conditions.*",
        lambda at: kind_of(at.entry("conditions")).has_contexts and _model(at, with_recording=True),
        "{value!r} makes contexts to ask with, and the answers of {detail!r} are recorded; select "
        "conditions with context: none or recorded",
        place="study.conditions",
    ),
    SettingCheck(
        "study.models.*",
        _shared_rows,
        "{detail[1]!r} and {detail[2]!r} would have the same rows; say which rows each has, or select "
        "one of them",
        place="recordings.{detail[0]}.conditions",
    ),
)
"""What a study selects beside recordings that they cannot have."""
