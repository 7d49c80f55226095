"""Read a task's items from their sources.

In: the sources' files. Out: <results>/tasks/{task}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.records.tasks import Item
from fieldwork.tasks.items import read_sources


def main(sources: list[dict[str, Any]], questions: str) -> None:
    """Read every source and write one table."""
    tables.write_table(questions, read_sources(sources), Item)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
