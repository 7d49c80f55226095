"""Read the items, the letter or the value out of each answer of the field that is kept.

In: the field's answers, the items, a person's corrections. Out: <results>/answers/field.parquet, as any
condition's.
"""

import dataclasses

from fieldwork import stage, tables
from fieldwork.field.pasted import without_prompt
from fieldwork.parsing.answers import parse_field_answer
from fieldwork.parsing.corrections import correct_answers, read_corrections
from fieldwork.records.field import FieldAnswer
from fieldwork.records.parsing import Answer
from fieldwork.sections.asking import ValueRules


def main(
    field_answers: str,
    questions: list[str],
    overrides: list[str],
    value_rules: ValueRules,
    answers: str,
) -> None:
    """Parse, correct, write; the overrides are a file each, or none."""
    items = tables.read_questions(questions)
    rows: list[Answer] = []
    replies: list[str | None] = []
    for answer in tables.read_rows(field_answers, FieldAnswer):
        if answer.excluded_for is None:
            item = items[answer.task, answer.item_id]
            # a question pasted before its answer has options of its own to be read
            text = without_prompt(answer.text, item.prompt) if answer.text else answer.text
            answer_alone = dataclasses.replace(answer, text=text)
            rows.append(parse_field_answer(answer_alone, item, value_rules))
            # the page shows the whole text, and its key is of that
            replies.append(answer.text)
    readings = read_corrections(overrides).readings
    tables.write_table(answers, correct_answers(rows, replies, items, readings), Answer)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
