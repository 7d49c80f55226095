"""Read the judgements of one kind of units; what raters say of others is passed over.

In: files of raters, the units, and the judgements of the study's own judges. Out:
<results>/judging/parts/{units}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.judging.importing import StudyUnits, import_judgements
from fieldwork.judging.units import drawn_units, judged_unit
from fieldwork.records.judging import Judgement, UnitText
from fieldwork.sections.judging import Scale


def main(
    texts: str,
    model_judgements: list[str],
    judgements: str,
    sources: dict[str, Any],
    scales: dict[str, Scale],
    key_file: str | None,
) -> None:
    """Read and write."""
    units = drawn_units(tables.read_rows(texts, UnitText))
    study = StudyUnits(
        {unit.code: judged_unit(unit) for unit in units},
        [row for path in model_judgements for row in tables.read_rows(path, Judgement)],
        is_part=True,
    )
    rows = import_judgements(sources, scales, key_file or "", study)
    tables.write_table(judgements, rows.judgements, Judgement)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
