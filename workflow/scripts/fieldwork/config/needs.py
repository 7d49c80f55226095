"""What a condition needs: so many simulated users, and what they are made from.

It imports nothing of the config, whose every change would make users be counted anew. Read while
Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

Unit = Literal["users", "conversations", "personas"]


SMALL = 8_000_000
"""Bytes of files that are counted in about a second, compressed ones by what is in them."""
_EXPANSION = {".xlsx": 10, ".gz": 5, ".zip": 5}


class Need(NamedTuple):
    """What a condition needs of a corpus, or of the persona source.

    Attributes:
        condition: its name.
        source: the entry of `corpora` or `datasets`.
        unit: what is counted there.
        at_least: conversations a user must have to count, or 1.
        n_needed: how many of the unit, for the task with the most runs.
        task: that task.
        filters: the filters of the corpus that are on, as a person would write them.
    """

    condition: str
    source: str
    unit: Unit
    at_least: int
    n_needed: int
    task: str
    filters: str


def are_small(files: Sequence[str]) -> bool:
    """Whether files are counted so quickly that it can be done whenever a config is read."""
    sizes = (
        Path(file).stat().st_size * _EXPANSION.get(Path(file).suffix.lower(), 1) for file in files
    )
    return sum(sizes) <= SMALL
