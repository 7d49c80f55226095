"""Write down what the study will claim, from how much and how, before anything is asked.

In: items of every task, and the tables of `snakemake power`. Out: a record and a page in
resources/preregistration/{study}, which no later run changes.
"""

import logging
from datetime import UTC, datetime
from glob import glob
from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.claims import preregistration
from fieldwork.provenance import digest
from fieldwork.records.generation import Response
from fieldwork.records.power import PowerRow


def main(
    questions: list[str], power: str, folder: str, responses: str, config: dict[str, Any]
) -> None:
    """Write a new record, unless one of the same config is there.

    Args:
        responses: glob of the tables of answers.
    """
    logger, config = logging.getLogger("fieldwork"), preregistration.json_config(config)
    for record in preregistration.read_records(folder):
        if record["config_digest"] == digest(config):
            logger.warning("%s: this config was preregistered %s", folder, record["time"])
            return
    n_items = {task: len(items) for task, items in tables.read_tasks(questions).items()}
    record = preregistration.preregister(
        config,
        preregistration.study_sizes(config, n_items),
        tables.read_rows(power, PowerRow),
        n_answers=sum(len(tables.read_columns(p, Response, ("model",))) for p in glob(responses)),
        time=datetime.now(UTC),
    )
    page = preregistration.write_record(folder, record)
    logger.info("written: %s", page, extra={"is_shown": True})


if __name__ == "__main__":
    stage.run_script(main, snakemake)
