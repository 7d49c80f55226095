"""Read items, letter or value out of each response, a person's reading wins; and the form of its text.

In: responses of a model to one task, its items, a person's corrections.
Out: <results>/answers/parsed and <results>/answers/forms, each {model}/{task}/{condition}.parquet.
"""

from fieldwork import stage, tables
from fieldwork.parsing.answers import StatedCount, count_stated, log_stated, parse_responses
from fieldwork.parsing.corrections import correct_answers, read_corrections
from fieldwork.parsing.form.readings import read_forms
from fieldwork.parsing.visible_text import warn_of_later_turns
from fieldwork.records.answer_form import FormReading
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.sections.asking import ValueRules


def main(
    responses: list[str],
    questions: str,
    overrides: list[str],
    value_rules: ValueRules,
    answers: list[str],
    forms: list[str],
) -> None:
    """Parse, correct, write, condition by condition; the overrides are a file each, or none."""
    counts: dict[tuple[str, str, str], StatedCount] = {}
    items, readings = tables.read_questions([questions]), read_corrections(overrides).readings
    for path, answers_path, forms_path in zip(responses, answers, forms, strict=True):
        with stage.making(answers_path):
            rows = tables.read_rows(path, Response)
            parsed_answers = parse_responses(rows, items.values(), value_rules)
            counts |= count_stated(parsed_answers)
            replies = [row.text for row in rows]
            warn_of_later_turns(replies)
            corrected_answers = correct_answers(parsed_answers, replies, items, readings)
            tables.write_table(answers_path, corrected_answers, Answer)
            tables.write_table(forms_path, read_forms(rows), FormReading)
    log_stated(counts)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
