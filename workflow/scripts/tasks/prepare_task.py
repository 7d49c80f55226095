"""Read a task's items from their sources, and put them otherwise where the task is derived.

In: the sources' files. Out: <results>/tasks/{task}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.records.tasks import Item
from fieldwork.tasks.items import read_sources
from fieldwork.tasks.own_items import TaskSource
from fieldwork.tasks.variants.kinds import Step, change_items


def main(sources: list[TaskSource], steps: list[dict[str, Any]], questions: str) -> None:
    """Read every source, make every step and write one table."""
    items = change_items(read_sources(sources), [Step(**step) for step in steps])
    tables.write_table(questions, items, Item)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
