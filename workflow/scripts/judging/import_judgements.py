"""Read judgements: ids of people become keyed hashes and notes are masked before anything is written.

In: the files of `judging.sources`. Out: <results>/judging/judgements.parquet and units.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.judging.importing import import_judgements
from fieldwork.judging.scales import answer_scales
from fieldwork.records.judging import JudgedUnit, Judgement


def main(
    inputs: dict[str, list[str]],
    judgements: str,
    units: str,
    sources: dict[str, Any],
    scales: list[dict[str, Any]],
    key_file: str,
) -> None:
    """Read and write; `inputs` are the files of each source."""
    files = {name: [f] if isinstance(f, str) else [*f] for name, f in inputs.items()}
    rows = import_judgements(files, sources, answer_scales(scales), key_file)
    tables.write_table(judgements, rows.judgements, Judgement)
    tables.write_table(units, rows.units, JudgedUnit)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
