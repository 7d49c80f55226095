"""What the jobs of declared measures are given: the tables that their questions take, and settings.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fieldwork.measures import question_names, questions
from fieldwork.views import VIEWS

if TYPE_CHECKING:
    from fieldwork.config.study import Study

ESTIMATES_OF = "<results>/metrics/estimates/{question}.parquet"


def estimate_files() -> list[str]:
    """The files of the table of estimates, one a question."""
    return [ESTIMATES_OF.format(question=name) for name in question_names()]


def question_jobs(study: "Study") -> dict[str, list[str]]:
    """The questions of each job, by the job's name: those of one source share a process.

    A job of several is named by the last word of its source.
    """
    if not study.config["metrics"]["one_job"]:
        return {name: [name] for name in question_names()}
    jobs: dict[str, list[str]] = {}
    for name, question in questions().items():
        jobs.setdefault(re.split("[/_]", question.source)[-1], []).append(name)
    return jobs


def measured_tables(study: "Study", names: Sequence[str], answers: str) -> dict[str, Any]:
    """The tables that questions of one source are measured on, by input.

    Args:
        answers: path of the table of answers.
    """
    declarations = [questions()[name] for name in names]
    has_groups = any(one.has_groups for one in declarations)
    participants = ["<results>/field/participants.parquet"] if has_groups else []
    sources = {
        "answers": [answers],
        "answers/forms": study.form_tables(),
        "accuracy_runs": ["<results>/metrics/accuracy_runs.parquet"],
    }
    return {
        "source": sources[declarations[0].source],
        "participants": study.has("field", participants),
    }


def estimate_settings(study: "Study", names: Sequence[str]) -> dict[str, Any]:
    """What the study says of the estimates of questions; keys are those of `EstimateSettings`."""
    metrics = study.config["metrics"]
    settings = {
        "baseline": study.baseline,
        "seed": study.config["study"]["seed"],
        "rarest_users": metrics["rarest_users"],
        "rarest_prompts": metrics["rarest_prompts"],
        **study.users_and_controls(),
    }
    # runs alone are dealt anew: nothing else is made again when there are to be other permutations
    if any(measure.noun == "run" for name in names for measure in questions()[name].measures):
        settings["n_permutations"] = metrics["permutations"]
    return settings


def view_inputs() -> dict[str, Any]:
    """The files that views are made of, by table."""
    tables = dict.fromkeys(table for view in VIEWS.values() for table in view.tables)
    files: dict[str, Any] = {table: f"<results>/metrics/{table}.parquet" for table in tables}
    return files | {"estimates": estimate_files()}


def study_views(study: "Study") -> list[str]:
    """Names of the tables of earlier versions that the study has as views."""
    parts = study.parts()
    return [name for name, view in VIEWS.items() if view.part in parts]
