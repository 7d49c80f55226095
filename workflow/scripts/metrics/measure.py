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
    inputs: dict[str, Any],
    estimates: str,
    settings: dict[str, Any],
) -> None:
    """Measure and write; the participants are a file, or none."""
    declaration = measures.question(question)
    row_type = measures.ROW_TYPES[declaration.source]
    answers = pd.concat([tables.read_frame(path, row_type) for path in inputs["source"]])
    members = [tables.read_frame(path, Participant) for path in inputs["participants"]]
    rows = estimate_question(
        declaration, answers, EstimateSettings(**settings), members[0] if members else None
    )
    tables.write_table(estimates, rows, Estimate)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
