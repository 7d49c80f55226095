"""Put the question to a model, for each attribute of a user and each question, whether it matters there.

In: attributes and the study's questions. Out: <results>/tasks/memory.select.parquet.
"""

from fieldwork import stage, tables
from fieldwork.memory.selection import selection_items
from fieldwork.records.memory import Attribute
from fieldwork.records.tasks import Item
from fieldwork.text_templates import read_template


def main(attributes: str, tasks: list[str], template: str, questions: str) -> None:
    """Write the questions."""
    rows = tables.read_rows(attributes, Attribute)
    pairs = selection_items(rows, tables.read_tasks(tasks), read_template(template))
    tables.write_table(questions, list(pairs), Item)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
