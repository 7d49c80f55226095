"""Write the page of findings: a summary in plain words, a table for each question, the limits.

In: <results>/metrics, <results>/answers/answers.parquet, <results>/responses, questions, field/quality.
Out: <results>/findings.md.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.files.texts import read_table
from fieldwork.metrics.claims.preregistration import json_config
from fieldwork.metrics.claims.registration_note import registration_note
from fieldwork.metrics.claims.registration_records import read_records
from fieldwork.metrics.claims.study_hashes import read_hashes
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.field import repeated_text_notes
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.page import findings_page
from fieldwork.metrics.findings.replies import count_answers, count_unnamed, read_defects
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    responses: list[str],
    metrics: list[str],
    questions: list[str],
    quality: list[str],
    findings: str,
    figures: list[str],
    study: dict[str, Any],
    preregistrations: list[str],
    hashes: list[str],
    config: dict[str, Any],
) -> None:
    """Write the findings; a study without real users lacks their tables.

    Args:
        hashes: the file of what decides the study, where it was preregistered.
    """
    replies = count_answers(tables.read_frame(answers, Answer))
    nameless = count_unnamed(read_defects(responses))
    notes = [note for path in quality for note in repeated_text_notes(read_table(path))]
    outline = StudyOutline(**study)
    outline = outline._replace(
        notes=[*outline.notes, *notes], questions=tables.read_questions(questions)
    )
    hashes_now = read_hashes(hashes[0]) if hashes else {}
    note = registration_note(read_records(preregistrations), json_config(config), hashes_now)
    page = findings_page(StudyEvidence(outline, metrics), replies, nameless, figures, note)
    tables.write_text(findings, page)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
