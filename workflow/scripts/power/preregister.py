"""Write down what the study will claim, from how much and how, before anything is asked.

In: items of every task, the hashes of what decides the study, and the table of `snakemake power` where
models are asked. Out: a record and a page in resources/preregistration/{study}, to stay as they are.
"""

import logging
from datetime import UTC, datetime
from glob import glob
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.inventory import Inventory
from fieldwork.metrics.claims import preregistration, registration_records
from fieldwork.metrics.claims.study_hashes import read_hashes
from fieldwork.records.generation import Response
from fieldwork.records.power import PowerRow


def main(
    questions: list[str],
    hashes: str,
    power: list[str],
    folder: str,
    responses: str,
    ledgers: list[str],
    config: dict[str, Any],
) -> None:
    """Write a new record, unless there is one of the same settings, questions, files and code.

    Args:
        responses: glob of the tables of answers.
        ledgers: where answers of its models are stored, if there are any.
    """
    logger, config = logging.getLogger("fieldwork"), preregistration.json_config(config)
    n_items = {task: len(items) for task, items in tables.read_tasks(questions).items()}
    sizes = preregistration.study_sizes(config, n_items)
    rows = [row for path in power for row in tables.read_rows(path, PowerRow)]
    answers = {
        "n_read": sum(len(tables.read_columns(p, Response, ("model",))) for p in glob(responses)),
        "n_stored": sum(Inventory(Path(path)).count() or 0 for path in ledgers),
    }
    today = datetime.now(UTC)
    content = preregistration.preregister(
        config, sizes, rows, read_hashes(hashes), today, **answers
    )
    records = registration_records.read_records(Path(folder).glob("*.json"))
    for time in registration_records.times_of_equals(content, records):
        logger.warning("%s: this study was preregistered %s", folder, time)
        return
    record = registration_records.complete_record(content, records)
    path = registration_records.write_record(folder, record, preregistration.render(record))
    advice = "upload it to OSF now, whose time stamp is the proof"
    logger.info("written: %s, with a page; %s", path, advice, extra={"is_shown": True})


if __name__ == "__main__":
    stage.run_script(main, snakemake)
