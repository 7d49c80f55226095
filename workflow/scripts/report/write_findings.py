"""Write the page of findings: a summary in plain words, a table for each question, the limits.

In: <results>/metrics, <results>/answers/answers.parquet, <results>/responses. Out: <results>/findings.md.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.claims.preregistration import json_config, read_record, registration_note
from fieldwork.metrics.findings.evidence import read_findings_tables
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.page import findings_page
from fieldwork.metrics.findings.replies import count_answers, count_unnamed, read_defects
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    responses: list[str],
    metrics: list[str],
    findings: str,
    figures: list[str],
    study: dict[str, Any],
    preregistrations: list[str],
    config: dict[str, Any],
) -> None:
    """Write the findings; a study without real users lacks their tables."""
    replies = count_answers(tables.read_frame(answers, Answer))
    nameless = count_unnamed(read_defects(responses))
    evidence, outline = read_findings_tables(metrics), StudyOutline(**study)
    note = registration_note(map(read_record, preregistrations), json_config(config))
    page = findings_page(evidence, replies, nameless, outline, figures, note)
    tables.write_text(findings, page)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
