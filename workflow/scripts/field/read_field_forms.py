"""Read the form of each answer of the field that is kept: how long it is, how hard it reads.

In: the field's answers, the items. Out: <results>/answers/forms/field.parquet.
"""

import dataclasses
from collections.abc import Iterator

from fieldwork import stage, tables
from fieldwork.field.pasted import without_prompt
from fieldwork.parsing.form.readings import read_field_forms
from fieldwork.records.answer_form import FormReading
from fieldwork.records.field import FieldAnswer


def main(field_answers: str, questions: list[str], forms: str) -> None:
    """Read and write; a prompt that was pasted before its answer is no part of it."""
    items = tables.read_questions(questions)

    def answers() -> Iterator[FieldAnswer]:
        for answer in tables.read_rows(field_answers, FieldAnswer):
            if answer.excluded_for is None and answer.text:
                prompt = items[answer.task, answer.item_id].prompt
                yield dataclasses.replace(answer, text=without_prompt(answer.text, prompt))

    tables.write_table(forms, read_field_forms(answers()), FormReading)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
