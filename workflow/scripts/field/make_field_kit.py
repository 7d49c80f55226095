"""Write what a small field study needs: the survey, its column maps, and the papers around it.

In: task tables, the tables of `snakemake power`, and the templates of resources/field_kit. Out:
<results>/field_kit.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.field.kit import size
from fieldwork.field.kit.files import kit_texts
from fieldwork.field.kit.survey import survey_of
from fieldwork.files import texts
from fieldwork.records.power import PowerAdvice, PowerRow


def main(
    inputs: dict[str, str],
    questions: list[str],
    settings: dict[str, Any],
    labels: dict[str, str],
    name: str,
    outputs: dict[str, str],
) -> None:
    """Build the survey and write it in every form."""
    items = tables.read_tasks(questions)
    survey = survey_of(name, items, settings, labels)
    advice = size.field_advice(texts.read_table(inputs["advice"]), [*items])
    power = tables.read_rows(inputs["power"], PowerRow)
    n_items = {task: len(rows) for task, rows in items.items()}
    kit = kit_texts(survey, inputs) | {"size": size.render(advice, power, n_items, survey.repeats)}
    for file, text in kit.items():
        tables.write_text(outputs[file], text)
    columns = [*PowerAdvice.__dataclass_fields__]
    tables.write_csv_tuples(outputs["size_csv"], columns, ([r[c] for c in columns] for r in advice))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
