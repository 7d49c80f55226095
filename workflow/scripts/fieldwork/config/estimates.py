"""What the rule of declared measures is given: the tables that a question takes, and settings.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import TYPE_CHECKING, Any

from fieldwork.measures import question_names, questions
from fieldwork.views import VIEWS

if TYPE_CHECKING:
    from fieldwork.config.study import Study

ESTIMATES_OF = "<results>/metrics/estimates/{question}.parquet"


def estimate_files() -> list[str]:
    """The files of the table of estimates, one a question."""
    return [ESTIMATES_OF.format(question=name) for name in question_names()]


def measured_tables(study: "Study", question: str, answers: str) -> dict[str, Any]:
    """The tables that a question is measured on, by input.

    Args:
        answers: path of the table of answers.
    """
    declaration = questions()[question]
    participants = ["<results>/field/participants.parquet"] if declaration.has_groups else []
    sources = {
        "answers": [answers],
        "answers/forms": study.form_tables(),
        "accuracy_runs": ["<results>/metrics/accuracy_runs.parquet"],
    }
    return {
        "source": sources[declaration.source],
        "participants": study.has("field", participants),
    }


def estimate_settings(study: "Study") -> dict[str, Any]:
    """What the study says of its estimates; keys are those of `EstimateSettings`."""
    metrics = study.config["metrics"]
    return {
        "baseline": study.baseline,
        "seed": study.config["study"]["seed"],
        "rarest_users": metrics["rarest_users"],
        "rarest_prompts": metrics["rarest_prompts"],
        "n_permutations": metrics["permutations"],
        **study.users_and_controls(),
    }


def view_inputs() -> dict[str, Any]:
    """The files that views are made of, by table."""
    tables = dict.fromkeys(table for view in VIEWS.values() for table in view.tables)
    return {
        "estimates": estimate_files(),
        **{table: f"<results>/metrics/{table}.parquet" for table in tables},
    }


def study_views(study: "Study") -> list[str]:
    """Names of the tables of earlier versions that the study has as views."""
    parts = study.parts()
    return [name for name, view in VIEWS.items() if view.part in parts]
