"""Write a study in the formats of others: every_eval_ever's evaluations, and Croissant's description.

In: items, responses, answers and scores. Out: <results>/export and <results>/croissant.json.
"""

import json
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.exports.croissant import StudyLabel, croissant
from fieldwork.exports.every_eval import ExportedModel, StudyTables, every_eval_exports
from fieldwork.records.estimates import Estimate
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item


def main(
    questions: list[str],
    responses: list[str],
    answers: str,
    accuracy: str,
    evaluations: str,
    description: str,
    label: dict[str, Any],
    models: dict[str, Any],
    temperatures: dict[str, float | None],
    max_tokens: dict[str, int],
) -> None:
    """Read the tables, and write two kinds of files."""
    study = StudyTables(
        name=label["name"],
        version=label["version"],
        items={
            (Path(path).stem, item.item_id): item
            for path in questions
            for item in tables.read_rows(path, Item)
        },
        responses=[row for path in responses for row in tables.read_rows(path, Response)],
        answers=tables.read_rows(answers, Answer),
        scores=tables.read_rows(accuracy, Estimate),
        temperatures=temperatures,
        max_tokens=max_tokens,
    )
    Path(evaluations).mkdir(parents=True)
    for export in every_eval_exports(study, [ExportedModel(*pair) for pair in models.items()]):
        place = Path(evaluations).parent
        tables.write_text(place / export.path, json.dumps(export.record, indent=1) + "\n")
        tables.write_text(place / export.samples_path, export.samples)
    # paths in the description begin where it lies, in the study's folder
    page = croissant(Path(description).parent, StudyLabel(**label))
    tables.write_text(description, json.dumps(page, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    stage.run_script(main, snakemake)
