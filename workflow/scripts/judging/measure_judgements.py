"""Measure what raters say, how far they agree, and whether a model may judge in place of people.

In: <results>/judging/judgements.parquet and units.parquet. Out: <results>/metrics/judgements and
alternative_annotators.
"""

from fieldwork import stage, tables
from fieldwork.metrics.judgements.table import measure_judgements
from fieldwork.records.judging import (
    AlternativeAnnotator,
    JudgedUnit,
    Judgement,
    JudgementEstimate,
)
from fieldwork.sections.judging import Scale


def main(
    judgement_table: str,
    unit_table: str,
    judgements: str,
    alternative_annotators: str,
    scales: dict[str, Scale],
    rarest_users: float,
) -> None:
    """Read, measure, write."""
    tables_of_raters = measure_judgements(
        tables.read_frame(judgement_table, Judgement),
        tables.read_frame(unit_table, JudgedUnit),
        [*scales.values()],
        rarest_users=rarest_users,
    )
    tables.write_table(judgements, tables_of_raters.estimates, JudgementEstimate)
    tables.write_table(alternative_annotators, tables_of_raters.annotators, AlternativeAnnotator)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
