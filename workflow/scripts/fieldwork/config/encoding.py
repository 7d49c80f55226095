"""Which jobs encode texts, and what they wait for.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from pathlib import Path

from fieldwork.conditions import kind_of
from fieldwork.config.study import Study


def encoder_choice(study: Study, condition: str | None = None) -> list[str]:
    """The table of the encoder's precision, for a job that encodes, where the config leaves it open.

    Args:
        condition: the one whose contexts a job makes; None for all other jobs that encode.
    """
    is_open = study.config["embedding"]["precision"] == "auto"
    encodes = condition is None or kind_of(study.condition(condition)).is_retrieved
    return ["<results>/encoder.csv"] if is_open and encodes else []


def precision_record(study: Study) -> list[str]:
    """The file that keeps the precision of an open study, once it is measured; archives take it along."""
    record = f"resources/precision/{study.name}.json"
    is_open = study.config["embedding"]["precision"] == "auto"
    return [record] if is_open and Path(record).exists() else []
