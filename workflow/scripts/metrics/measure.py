"""Measure what answers one question of `fieldwork/measures`, under every condition.

In: <results>/answers/answers.parquet or answers/forms, <results>/field/participants.parquet.
Out: <results>/metrics/estimates/{question}.
"""

from typing import Any

import pandas as pd

from fieldwork import measures, stage, tables
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import Participant


def main(
    question: str,
    source: list[str],
    participants: list[str],
    estimates: str,
    settings: dict[str, Any],
) -> None:
    """Measure and write; the participants are a file, or none."""
    declared = measures.question(question)
    row_type = measures.ROW_TYPES[declared.source]
    answers = pd.concat([tables.read_frame(path, row_type) for path in source])
    members = [tables.read_frame(path, Participant) for path in participants]
    rows = estimate_question(
        declared, answers, EstimateSettings(**settings), members[0] if members else None
    )
    tables.write_table(estimates, rows, Estimate)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
