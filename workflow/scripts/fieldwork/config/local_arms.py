"""The arms of models that answer on this machine, which one job asks together.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from fieldwork.config.models import is_local
from fieldwork.config.settings import Config
from fieldwork.config.study import Study


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
