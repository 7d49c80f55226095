"""Read real users' answers: ids become keyed hashes and texts are masked before anything is written.

In: the files that `field` names and the items. Out: <results>/field/answers.parquet,
participants.parquet, quality.csv and attrition.csv.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.field.attrition import measure_attrition
from fieldwork.field.checks import check_answers, count_quality, excluding_checks_of
from fieldwork.field.columns import ColumnMap
from fieldwork.field.importing import import_field
from fieldwork.field.raw_answers import FieldPrompt
from fieldwork.parsing.refusals import is_refusal
from fieldwork.records.field import Attrition, FieldAnswer, Participant, QualityCheck


def main(
    files: list[str],
    questions: list[str],
    deletions: list[str],
    field: dict[str, Any],
    labels: dict[str, str],
    outputs: dict[str, str],
    seed: int,
) -> None:
    """Read, hash and mask, check, write; `deletions` is the record of who was forgotten, if any."""
    items = tables.read_questions(questions)
    numeric_prompts = {
        FieldPrompt(*key) for key, item in items.items() if item.kind in ("scale", "number")
    }
    prompts = [FieldPrompt(*key) for key in items]
    column_map = ColumnMap(field, prompts, [*labels], numeric_prompts)
    people = import_field(files, deletions, column_map)
    checks = excluding_checks_of(field)
    answers = check_answers(
        people.answers, items, excluding_checks=checks, is_refusal=is_refusal, labels=labels
    )
    attrition = measure_attrition(answers, people.participants, seed=seed)
    quality = count_quality(answers, excluding_checks=checks)
    tables.write_table(outputs["answers"], answers, FieldAnswer)
    tables.write_table(outputs["participants"], people.participants, Participant)
    tables.write_table(outputs["quality"], quality, QualityCheck)
    tables.write_table(outputs["attrition"], attrition, Attrition)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
