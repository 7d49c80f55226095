"""Read the items or the letter out of each answer of the field that is kept.

In: the field's answers and the items. Out: <results>/answers/field.parquet, as any condition's.
"""

import dataclasses

from fieldwork import stage, tables
from fieldwork.field.pasted import without_prompt
from fieldwork.parsing.answers import parse_field_answer
from fieldwork.records.field import FieldAnswer
from fieldwork.records.parsing import Answer


def main(field_answers: str, questions: list[str], answers: str) -> None:
    """Parse and write."""
    items = tables.read_questions(questions)
    rows: list[Answer] = []
    for answer in tables.read_rows(field_answers, FieldAnswer):
        if answer.excluded_for is None:
            item = items[answer.task, answer.item_id]
            # a question pasted before its answer has options of its own to be read
            text = without_prompt(answer.text, item.prompt) if answer.text else answer.text
            rows.append(parse_field_answer(dataclasses.replace(answer, text=text), item))
    tables.write_table(answers, rows, Answer)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
