"""Read the letters of model judges as judgements.

In: units, and the parsed answers of the judges. Out: <results>/judging/models/{units}.parquet.
"""

from fieldwork import stage, tables
from fieldwork.judging.model_judges import model_judgements
from fieldwork.records.judging import Judgement, UnitText
from fieldwork.records.parsing import Answer
from fieldwork.sections.judging import Scale


def main(
    texts: str,
    parsed_answers: list[str],
    judgements: str,
    units: str,
    scale: Scale,
) -> None:
    """Read and write."""
    by_id = {unit.unit_id: unit for unit in tables.read_rows(texts, UnitText)}
    answers = [a for path in parsed_answers for a in tables.read_rows(path, Answer)]
    rows = model_judgements(answers, by_id, scale, units)
    tables.write_table(judgements, list(rows), Judgement)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
