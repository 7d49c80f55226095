"""Say how precise judgements will be, by numbers of users and units, and how many raters that takes.

In: nothing but settings. Out: <results>/review_kit/precision.csv and precision.md.
"""

from fieldwork import stage, tables
from fieldwork.judging.kit.files import precision_page
from fieldwork.judging.kit.precision import precision_rows
from fieldwork.records.judging import RaterPrecision
from fieldwork.sections.judging import UnitSharing
from fieldwork.sections.power import RaterAssumptions


def main(precision: str, page: str, assumptions: RaterAssumptions, sharing: UnitSharing) -> None:
    """Compute and write."""
    rows = list(precision_rows(assumptions, sharing))
    tables.write_table(precision, rows, RaterPrecision)
    tables.write_text(page, precision_page(rows, assumptions.per_rater, assumptions.likeness))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
