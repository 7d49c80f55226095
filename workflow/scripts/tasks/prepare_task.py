"""Read a task's items from their sources.

In: the sources' files. Out: <results>/tasks/{task}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.downloads.manifest import local_files
from fieldwork.records.tasks import Item
from fieldwork.tasks.items import load_items, read_candidates
from fieldwork.tasks.own_items import SourceOptions, require_distinct


def main(sources: list[dict[str, Any]], questions: str) -> None:
    """Read every source and write one table."""
    rows: list[Item] = []
    for source in sources:
        options = SourceOptions(
            format=source["format"],
            name=source["dataset"],
            kind=source["kind"],
            subjects=tuple(source["subjects"]),
            item_ids=tuple(source["item_ids"]),
            shots=source["shots"],
            letter_instruction=source["letter_instruction"],
            columns=source["columns"],
            gold=source["gold"],
        )
        candidates = read_candidates(source["candidates"]) if source["candidates"] else {}
        rows += load_items(local_files(source["files"]), options, candidates)
    require_distinct(rows)
    tables.write_table(questions, rows, Item)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
