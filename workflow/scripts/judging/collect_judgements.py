"""Read the letters of model judges as judgements.

In: units, and the parsed answers of the judges. Out: <results>/judging/models/{units}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.judging.model_judges import model_judgements
from fieldwork.judging.scales import answer_scales
from fieldwork.records.judging import Judgement, UnitText
from fieldwork.records.parsing import Answer


def main(
    texts: str,
    parsed_answers: list[str],
    judgements: str,
    units: str,
    scales: list[dict[str, Any]],
    scale: str,
) -> None:
    """Read and write."""
    by_id = {unit.unit_id: unit for unit in tables.read_rows(texts, UnitText)}
    answers = [a for path in parsed_answers for a in tables.read_rows(path, Answer)]
    rows = model_judgements(answers, by_id, answer_scales(scales)[scale], units)
    tables.write_table(judgements, list(rows), Judgement)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
