"""Put the question to model judges for each unit, and for each order of a pair.

In: the units. Out: <results>/tasks/judging.{units}.parquet.
"""

from fieldwork import stage, tables
from fieldwork.judging.model_judges import judge_items
from fieldwork.judging.units import drawn_units
from fieldwork.records.judging import UnitText
from fieldwork.records.tasks import Item
from fieldwork.sections.judging import Scale
from fieldwork.text_templates import read_template


def main(texts: str, template: str, questions: str, scale: Scale) -> None:
    """Write the questions."""
    units = drawn_units(tables.read_rows(texts, UnitText))
    items = judge_items(units, scale, read_template(template))
    tables.write_table(questions, list(items), Item)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
