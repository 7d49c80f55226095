"""Write down what the study will claim, from how much and how, before anything is asked.

In: items of every task, and the tables of `snakemake power`. Out: a record and a page in
resources/preregistration/{study}, which no later run changes.
"""

import json
import logging
from datetime import UTC, datetime
from glob import glob
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.claims.preregistration import StudySize, preregister, read_records, render
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
    config = json.loads(json.dumps(config, default=str))
    for record in read_records(folder):
        if record["config_digest"] == digest(config):
            logging.getLogger("fieldwork").warning(
                "%s: this config was preregistered %s", folder, record["time"]
            )
            return
    tasks, conditions = config["study"]["tasks"], config["study"]["conditions"]
    replicates = {name: config["conditions"][name].get("replicates", 1) for name in conditions}
    items = tables.read_tasks(questions, tasks)
    sizes = [
        StudySize(task, len(items[task]), config["tasks"][task]["runs"], replicates)
        for task in tasks
    ]
    record = preregister(
        config,
        sizes,
        tables.read_rows(power, PowerRow),
        n_answers=sum(
            len(list(tables.read_columns(path, Response, ("model",)))) for path in glob(responses)
        ),
        time=datetime.now(UTC),
    )
    path = Path(folder, f"{record['time'][:19].replace(':', '')}_{record['config_digest']}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, ensure_ascii=False, indent=1)
    for name, content in ((path, text), (path.with_suffix(".md"), render(record))):
        with tables.atomic_path(name) as partial:
            partial.write_text(content, encoding="utf-8")
    logging.getLogger("fieldwork").info(
        "written: %s", path.with_suffix(".md"), extra={"is_shown": True}
    )


if __name__ == "__main__":
    stage.run_script(main, snakemake)
