"""Read real users' answers: ids become keyed hashes and texts are masked before anything is written.

In: the files that `field` names and the items. Out: <results>/field/answers.parquet,
participants.parquet, quality.csv and attrition.csv.
"""

import logging
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.downloads.manifest import local_files
from fieldwork.errors import StudyError
from fieldwork.field import checks, columns, importing, privacy, sources
from fieldwork.field.attrition import measure_attrition
from fieldwork.field.deletion.record import refuse_return
from fieldwork.field.raw_answers import FieldPrompt
from fieldwork.parsing.refusals import is_refusal
from fieldwork.records.field import Attrition, FieldAnswer, Participant, QualityCheck


def main(
    files: list[str],
    questions: list[str],
    deletions: list[str],
    tasks: list[str],
    field: dict[str, Any],
    labels: dict[str, str],
    answers: str,
    participants: str,
    quality: str,
    attrition: str,
    seed: int,
) -> None:
    """Read, hash and mask, check, write.

    Args:
        labels: what each model of the study is called.
        deletions: the record of those who were forgotten, if there is one.
    """
    items = tables.read_questions(questions, tasks)
    readable = [path for path in local_files(files) if path.suffix.lower() in sources.READABLE]
    if not readable:
        raise StudyError(f"{files[0]}: no file of a kind that is read; correct field.osf.files")
    column_map = columns.ColumnMap(field, [FieldPrompt(*key) for key in items], list(labels))
    raw = columns.read_field([sources.read_sheet(path) for path in readable], column_map)
    logging.getLogger("fieldwork.import_field").info(
        "%d file(s), %d answers read; %d rows left out by field.models or field.skip_prompts",
        len(readable),
        len(raw.answers),
        raw.n_left_out,
    )
    key = privacy.read_key(Path(field["key_file"]))
    refuse_return(raw, key, deletions)
    pseudonymous_field = importing.pseudonymise(raw, key)
    excluding_checks = checks.default_excluded() if field["exclude"] is None else field["exclude"]
    rows = checks.check_answers(
        pseudonymous_field.answers,
        items,
        excluding_checks=excluding_checks,
        is_refusal=is_refusal,
        labels=labels,
    )
    tables.write_table(answers, rows, FieldAnswer)
    tables.write_table(participants, pseudonymous_field.participants, Participant)
    tables.write_table(
        quality, checks.count_quality(rows, excluding_checks=excluding_checks), QualityCheck
    )
    losses = measure_attrition(rows, pseudonymous_field.participants, seed=seed)
    tables.write_table(attrition, losses, Attrition)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
