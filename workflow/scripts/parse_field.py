"""Read the items or the letter out of each answer of the field that is kept.

In: the field's answers and the items. Out: <results>/answers/field.parquet, as any condition's.
"""

import dataclasses
from collections.abc import Mapping

from fieldwork import stage, tables
from fieldwork.field.pasted import without_prompt
from fieldwork.parsing.answers import parse_field_answer
from fieldwork.records.field import FieldAnswer
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item


def main(field: str, tasks: Mapping[str, str], answers: str) -> None:
    """Parse and write; `tasks` is the table of items of each task."""
    items = {(task, i.item_id): i for task, p in tasks.items() for i in tables.read_rows(p, Item)}
    parsed: list[Answer] = []
    for answer in tables.read_rows(field, FieldAnswer):
        if answer.excluded_for is None:
            item = items[answer.task, answer.item_id]
            # a question pasted before its answer has options of its own to be read
            text = without_prompt(answer.text, item.prompt) if answer.text else answer.text
            parsed.append(parse_field_answer(dataclasses.replace(answer, text=text), item))
    order = "model, task, item_id, puppet_id, replicate"
    tables.write_rows(answers, parsed, Answer, order_by=order)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        field=snakemake.input.answers,
        tasks=dict(zip(snakemake.params.tasks, snakemake.input.tasks, strict=True)),
        answers=snakemake.output.answers,
    )
