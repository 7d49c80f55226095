"""Write what a small field study needs: the survey, its column maps, and the papers around it.

In: task tables, the tables of `snakemake power`, and the templates of resources/field_kit. Out:
<results>/field_kit.
"""

import logging
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.field.kit import documents, qualtrics, size, templates, web_page
from fieldwork.field.kit.survey import page_map, qualtrics_map, survey_of
from fieldwork.files import texts
from fieldwork.records.power import PowerAdvice, PowerRow


def main(
    inputs: dict[str, str],
    questions: list[str],
    tasks: list[str],
    settings: dict[str, Any],
    labels: dict[str, str],
    name: str,
    outputs: dict[str, str],
) -> None:
    """Build the survey and write it in every form."""
    items = tables.read_tasks(questions, tasks)
    survey = survey_of(name, items, settings, labels)
    words = templates.read_words(inputs["texts"], inputs["shipped_texts"])
    consent = texts.read_text(inputs["consent"])
    page = web_page.PageTemplate(
        *(texts.read_text(inputs[part]) for part in ("page", "style", "script")), inputs["page"]
    )
    information = texts.read_text(inputs["information_template"])
    readme = texts.read_text(inputs["readme_template"])
    drafts = [Path(inputs["consent"]).name] if templates.is_draft(consent) else []
    facts = documents.template_values(survey, [*drafts, "information.md"])
    advice = texts.read_table(inputs["advice"])
    ids = qualtrics.question_ids(survey)
    by_page = page_map(survey, "resources/field/page")
    by_qualtrics = qualtrics_map(survey, "resources/field/qualtrics", ids)
    texts_of_files = {
        "survey": web_page.render(survey, page, words, consent),
        "qualtrics": qualtrics.render(survey, words, consent),
        "page_map": documents.column_map(name, by_page, documents.PAGE_MAP),
        "qualtrics_map": documents.column_map(name, by_qualtrics, documents.QUALTRICS_MAP),
        "information": templates.fill(information, facts, inputs["information_template"]),
        "readme": templates.fill(readme, facts, inputs["readme_template"]),
        "size": size.render(
            advice,
            tables.read_rows(inputs["power"], PowerRow),
            {task: len(rows) for task, rows in items.items()},
            survey.repeats,
        ),
    }
    for output, text in texts_of_files.items():
        with tables.atomic_path(outputs[output]) as partial:
            partial.write_text(text, encoding="utf-8")
    columns = [*PowerAdvice.__dataclass_fields__]
    rows = size.field_advice(advice, [*tasks])
    tables.write_csv_tuples(outputs["size_csv"], columns, ([r[c] for c in columns] for r in rows))
    for draft in drafts:
        logging.getLogger("fieldwork").warning(
            "%s: replace what is marked REPLACE before anyone sees the survey (or name your own "
            "text in field_kit.consent), and run `snakemake field_kit` again",
            draft,
        )


if __name__ == "__main__":
    stage.run_script(main, snakemake)
