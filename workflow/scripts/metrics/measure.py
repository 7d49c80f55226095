"""Measure what answers questions of `fieldwork/measures`, under every condition.

In: <results>/answers/answers.parquet or answers/forms, <results>/field/participants.parquet.
Out: <results>/metrics/estimates/{question}, each.
"""

from typing import Any

import pandas as pd

from fieldwork import measures, stage, tables
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import Participant


def main(
    questions: list[str],
    inputs: dict[str, Any],
    outputs: dict[str, str],
    settings: dict[str, Any],
) -> None:
    """Measure and write; the questions are of one source, and the participants a file, or none."""
    declarations = {name: measures.question(name) for name in questions}
    (row_type,) = {measures.ROW_TYPES[one.source] for one in declarations.values()}
    answers = pd.concat([tables.read_frame(path, row_type) for path in inputs["source"]])
    members = [tables.read_frame(path, Participant) for path in inputs["participants"]]
    for name, declaration in declarations.items():
        with stage.making(outputs[name]):
            rows = estimate_question(
                declaration, answers, EstimateSettings(**settings), members[0] if members else None
            )
            tables.write_table(outputs[name], rows, Estimate)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
