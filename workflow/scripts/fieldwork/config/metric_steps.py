"""The steps that make tables of `metrics/` by one function a table, with what each reads, and the jobs.

A function takes its inputs and settings by the names of its parameters; a later one may take the rows of
an earlier table of its step. Read while Snakemake parses the workflow, so it imports no scientific
package.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fieldwork.config.nests import nests_of
from fieldwork.config.settings import controls_of

if TYPE_CHECKING:
    from fieldwork.config.study import Study


class _MetricStep(NamedTuple):
    """What a table, and those that need its rows, are made by.

    Attributes:
        functions: by the table's name, a module of `fieldwork/metrics` and its function, with a colon.
        inputs: names of what they read, as in `_step_files`.
        settings: names of what they are set by, as in `step_settings`.
    """

    functions: Mapping[str, str]
    inputs: tuple[str, ...] = ("answers",)
    settings: tuple[str, ...] = ()

    @property
    def modules(self) -> list[str]:
        """The modules of the functions, as paths without ending from the folder of scripts."""
        names = dict.fromkeys(place.partition(":")[0] for place in self.functions.values())
        return [f"fieldwork/metrics/{name.replace('.', '/')}" for name in names]


WITH_QUESTIONS = ("answers", "items")
OF_TESTS = ("baseline", "n_permutations", "seed")
METRIC_STEPS: Mapping[str, _MetricStep] = {
    "item_shares": _MetricStep(
        {
            "item_shares": "item_shares:measure_item_shares",
            "list_lengths": "list_lengths:measure_list_lengths",
        }
    ),
    "rarefaction": _MetricStep({"rarefaction": "rarefaction:measure_rarefaction"}),
    "distributions": _MetricStep(
        {
            "distributions": "distributions:measure_distributions",
            "novelty": "novelty:measure_novelty",
        },
        WITH_QUESTIONS,
        (*OF_TESTS, "rarest_users", "control", "reruns"),
    ),
    "accuracy_runs": _MetricStep(
        {
            "accuracy_runs": "accuracy:measure_runs",
            "score_spreads": "scores:measure_score_spreads",
        },
        WITH_QUESTIONS,
        (*OF_TESTS, "rarest_users"),
    ),
    "comparisons": _MetricStep(
        {"comparisons": "comparisons:measure_comparisons"}, settings=(*OF_TESTS, "rarest_users")
    ),
    "shifts": _MetricStep(
        {"shifts": "shifts:measure_shifts"}, settings=("baseline", "rarest_users")
    ),
    "variance": _MetricStep(
        {"variance": "variance:measure_variance"}, settings=(*OF_TESTS, "rarest_users")
    ),
    "nests": _MetricStep(
        {"users_and_contexts": "nests:measure_nests"},
        settings=("nests", "n_permutations", "seed", "rarest_users"),
    ),
    "categories": _MetricStep(
        {
            "subjects": "categories:measure_subjects",
            "categories": "categories:measure_categories",
        },
        (*WITH_QUESTIONS, "subject_categories"),
        ("n_permutations", "seed"),
    ),
    "values": _MetricStep(
        {
            "values": "values.estimates:measure_values",
            "value_comparisons": "values.comparisons:measure_value_comparisons",
        },
        WITH_QUESTIONS,
        (*OF_TESTS, "rarest_users"),
    ),
}


def metric_jobs(study: "Study") -> dict[str, list[str]]:
    """The steps of each job, by the job's name.

    Most of what a step of a small study takes is the start of a process, so the study's steps share one.
    Steps that the study lacks have a job each, for whoever asks for their tables.
    """
    names = {Path(path).stem for path in study.metric_tables()}
    study_steps = [name for name, step in METRIC_STEPS.items() if {*step.functions} <= names]
    if not study.config["metrics"]["one_job"]:
        study_steps = []
    jobs = {"tables": study_steps} if study_steps else {}
    return jobs | {name: [name] for name in METRIC_STEPS if name not in study_steps}


def job_tables(steps: Iterable[str]) -> list[str]:
    """The tables that steps make."""
    return [table for step in steps for table in METRIC_STEPS[step].functions]


def job_modules(steps: Iterable[str]) -> list[str]:
    """The modules that steps import by name."""
    return [module for step in steps for module in METRIC_STEPS[step].modules]


def job_files(study: "Study", steps: Iterable[str], answers: str) -> dict[str, Any]:
    """The files that the steps of a job read, by input.

    Args:
        answers: path of the table of answers.
    """
    return {
        name: file for step in steps for name, file in _step_files(study, step, answers).items()
    }


def job_steps(study: "Study", steps: Iterable[str]) -> list[dict[str, Any]]:
    """What the script is to know of each step: functions, names of inputs and of settings."""
    return [
        {
            "functions": dict(METRIC_STEPS[step].functions),
            "inputs": [*_step_files(study, step, "")],
            "settings": [*METRIC_STEPS[step].settings],
        }
        for step in steps
    ]


def _step_files(study: "Study", step: str, answers: str) -> dict[str, Any]:
    """The files of a step's inputs, by input.

    Args:
        answers: path of the table of answers.
    """
    files = {
        "answers": answers,
        # Snakemake keeps the name `items` for itself
        "items": study.task_tables(),
        "subject_categories": study.resolve(study.config["metrics"]["categories"]),
    }
    return {
        "questions" if name == "items" else name: files[name] for name in METRIC_STEPS[step].inputs
    }


def step_settings(study: "Study", steps: Iterable[str]) -> dict[str, Any]:
    """What steps are set by, by the names of parameters."""
    metrics = study.config["metrics"]
    settings = {
        "baseline": study.baseline,
        "control": next(iter(controls_of(study.config)), None),
        "n_permutations": metrics["permutations"],
        "seed": study.config["study"]["seed"],
        "rarest_users": metrics["rarest_users"],
        "nests": nests_of(study.config),
        "reruns": {name: task["runs"] for name, task in study.entries("tasks").items()},
    }
    names = {name for step in steps for name in METRIC_STEPS[step].settings}
    return {name: value for name, value in settings.items() if name in names}
