"""Write the page of findings: a summary in plain words, a table for each question, the limits.

In: <results>/metrics, <results>/answers/answers.parquet, <results>/responses. Out: <results>/findings.md.
"""

import json
from itertools import chain
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.claims.preregistration import registration_note
from fieldwork.metrics.findings.evidence import ROW_TYPES, FindingsTables
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.page import findings_page
from fieldwork.metrics.findings.replies import count_answers, count_unnamed
from fieldwork.metrics.findings.verdicts import StudyClaims
from fieldwork.records.claims import Claim
from fieldwork.records.generation import Response
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
    paths = {tables.stem(path): path for path in metrics}
    rows = {
        name: tables.read_rows(paths[name], ROW_TYPES[name]) for name in ROW_TYPES if name in paths
    }
    claims = StudyClaims(tables.read_rows(paths["claims"], Claim))
    replies = (tables.read_columns(path, Response, ("model", "defects")) for path in responses)
    records = [json.loads(Path(path).read_text(encoding="utf-8")) for path in preregistrations]
    page = findings_page(
        FindingsTables(**rows, claims=claims),
        count_answers(tables.read_frame(answers, Answer)),
        count_unnamed(chain.from_iterable(replies)),
        StudyOutline(**study),
        figures,
        registration_note(records, json.loads(json.dumps(config, default=str))),
    )
    with tables.atomic_path(findings) as partial:
        partial.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    stage.run_script(main, snakemake)
