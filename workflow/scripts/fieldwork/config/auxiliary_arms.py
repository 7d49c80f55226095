"""The arms of a study's auxiliary tasks: which models are asked, and the tables of their answers.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterable
from typing import Literal

from fieldwork.config.settings import Config
from fieldwork.config.study import Study


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
