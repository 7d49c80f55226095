"""Filter a corpus into the one table of conversations.

In: the corpus's files. Out: <results>/corpus/{corpus}/conversations.parquet and funnel.csv.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.downloads.manifest import local_files
from fieldwork.pseudonyms import user_key
from fieldwork.puppets.conversations.staging import ColumnsAndRoles
from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.records.puppets import FunnelStep
from fieldwork.sections.corpora import FiltersSection


def main(
    files: list[str],
    conversations: str,
    funnel: str,
    reading: dict[str, Any],
    key_file: str | None,
    filters: FiltersSection,
    mem_mb: int,
    threads: int,
) -> None:
    """Filter, then count."""
    steps = prepare_corpus(
        local_files(files),
        format=reading["format"],
        reading=ColumnsAndRoles(reading["columns"], reading["roles"]),
        filters=filters,
        key=user_key(key_file),
        out=Path(conversations),
        # the database counts its own memory only, not that of what it hands out
        memory_limit=f"{mem_mb // 4}MB",
        threads=threads,
    )
    tables.write_table(funnel, steps, FunnelStep)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
