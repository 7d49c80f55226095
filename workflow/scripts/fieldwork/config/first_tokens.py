"""Which models of a study are asked for streams, to learn when the first text of an answer comes.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import Any

from fieldwork.config.study import Study

Config = dict[str, Any]

_SETTING = "first_token_sample"


def streaming_models(study: Study) -> list[str]:
    """The selected models of which some calls are sent once more as streams."""
    return [name for name, entry in study.asked_models().items() if entry.get(_SETTING)]


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
    return {key: value for key, value in study.config["models"][model].items() if key != _SETTING}


def sample_size(study: Study, model: str) -> int:
    """How many calls of a task and condition are sent once more."""
    return int(study.config["models"][model].get(_SETTING, 0))
