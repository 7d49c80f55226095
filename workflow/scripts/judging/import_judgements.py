"""Read judgements: ids of people become keyed hashes and notes are masked before anything is written.

In: the files of `judging.sources`, the units that raters were given, and the judgements of the study's
own judges. Out: <results>/judging/judgements.parquet and units.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.judging.importing import StudyUnits, import_judgements
from fieldwork.judging.units import drawn_units, judged_unit
from fieldwork.records.judging import JudgedUnit, Judgement, UnitText
from fieldwork.sections.judging import Scale


def main(
    texts: list[str],
    model_judgements: list[str],
    judgements: str,
    units: str,
    sources: dict[str, Any],
    scales: dict[str, Scale],
    key_file: str | None,
) -> None:
    """Read and write."""
    rows_of_units = [unit for path in texts for unit in tables.read_rows(path, UnitText)]
    study = StudyUnits(
        {unit.code: judged_unit(unit) for unit in drawn_units(rows_of_units)},
        [row for path in model_judgements for row in tables.read_rows(path, Judgement)],
    )
    rows = import_judgements(sources, scales, key_file or "", study)
    tables.write_table(judgements, rows.judgements, Judgement)
    tables.write_table(units, rows.units, JudgedUnit)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
