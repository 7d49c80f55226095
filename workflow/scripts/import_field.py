"""Read real users' answers: ids become keyed hashes and texts are masked before anything is written.

In: the files that `field` names and the items. Out: <results>/field/answers.parquet,
participants.parquet, quality.csv and attrition.csv.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.downloads.manifest import local_files
from fieldwork.errors import StudyError
from fieldwork.field import attrition, checks, columns, importing, privacy, sources
from fieldwork.field.deletion.record import refuse_return
from fieldwork.field.raw_answers import Prompt
from fieldwork.metrics.permutation import holm
from fieldwork.parsing.refusals import is_refusal
from fieldwork.records.field import Attrition, FieldAnswer, Participant, QualityCheck
from fieldwork.records.tasks import Item


def main(
    files: Sequence[str],
    tasks: Mapping[str, str],
    field: dict[str, Any],
    labels: dict[str, str],
    written: Mapping[str, str],
    seed: int,
    deletions: Sequence[str],
) -> None:
    """Read, hash and mask, check, write.

    Args:
        tasks: the table of items of each task.
        labels: what each model of the study is called.
        written: where answers, participants, quality and attrition go.
        deletions: the record of those who were forgotten, if there is one.
    """
    logger = logging.getLogger("fieldwork.import_field")
    items = {(task, i.item_id): i for task, p in tasks.items() for i in tables.read_rows(p, Item)}
    readable = [path for path in local_files(files) if path.suffix.lower() in sources.READABLE]
    if not readable:
        raise StudyError(f"{files[0]}: no file of a kind that is read; correct field.osf.files")
    told = columns.Map(field, [Prompt(*key) for key in items], list(labels))
    raw = columns.read_field([sources.read_sheet(path) for path in readable], told)
    summary = (
        "%d file(s), %d answers asked for; %d rows left out by field.models or field.skip_prompts"
    )
    logger.info(summary, len(readable), len(raw.answers), raw.n_left_out)
    key = privacy.read_key(Path(field["key_file"]))
    refuse_return(raw, key, deletions)
    kept = importing.keep(raw, key)
    excluded = checks.default_excluded() if field["exclude"] is None else field["exclude"]
    answers = checks.check_answers(
        kept.answers, items, excluded=excluded, is_refusal=is_refusal, labels=labels
    )
    order = "model, task, item_id, participant_id, replicate"
    tables.write_rows(written["answers"], answers, FieldAnswer, order_by=order)
    order = "variable, participant_id"
    tables.write_rows(written["participants"], kept.participants, Participant, order_by=order)
    quality = checks.quality(answers, excluded=excluded)
    tables.write_csv_rows(written["quality"], quality, QualityCheck)
    lost = attrition.attrition(answers, kept.participants, holm=holm, seed=seed)
    tables.write_csv_rows(written["attrition"], lost, Attrition)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        files=list(snakemake.input.files),
        tasks=dict(zip(snakemake.params.tasks, snakemake.input.tasks, strict=True)),
        field=snakemake.params.field,
        labels=snakemake.params.labels,
        written=dict(snakemake.output.items()),
        seed=snakemake.params.seed,
        deletions=list(snakemake.input.deletions),
    )
