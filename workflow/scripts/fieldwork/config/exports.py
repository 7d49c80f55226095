"""What the files of `snakemake export` say of a study: printed names, and whether real users are in them.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import Any

from fieldwork.config.explorer import shows_field
from fieldwork.config.study import Study
from fieldwork.records.field import FIELD


def data_settings(study: Study, version: str) -> dict[str, Any]:
    """What labelled files need to know; keys are those of `DataSettings` in `exports/data_files`.

    Args:
        version: of this project.
    """
    conditions = {name: entry["label"] for name, entry in study.conditions_and_baseline().items()}
    return {
        "study": study.name,
        "version": version,
        "model_labels": study.model_labels(),
        "condition_labels": conditions | ({FIELD: "Field"} if study.config["field"] else {}),
        "has_field": shows_field(study),
    }
