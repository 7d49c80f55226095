"""How many simulated users the sources give, and whether they are enough, before any model is called."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fieldwork import tables
from fieldwork.config.needs import Need
from fieldwork.errors import StudyError
from fieldwork.files.texts import read_table, read_texts
from fieldwork.puppets.conversations.staging import ColumnsAndRoles
from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.puppets.personas import distinct_texts
from fieldwork.records.puppets import PuppetCount
from fieldwork.sections.corpora import FiltersSection

Supply = Sequence[int]
"""One number for each user or persona: a user's conversations, and 1 for a persona."""


def count_conversations(conversations: str | Path) -> Supply:
    users = tables.read_groups(conversations, "user_id", "conversation_id")
    return [len(ids) for ids in users.values()]


def count_personas(files: Sequence[Path], column: str | None) -> Supply:
    """The supply of a persona source.

    Raises:
        StudyError: a file cannot be read.
    """
    return [1] * len(distinct_texts(read_texts(files, column)))


def count_corpus(
    files: Sequence[Path], reading: Mapping[str, Any], filters: Mapping[str, Any]
) -> Supply | None:
    """The supply of a corpus that is read and filtered only to be counted.

    None where the disk fails: the job that prepares the corpus reports it.

    Raises:
        StudyError: it cannot be read, or no conversation passes the filters.
    """
    with TemporaryDirectory(prefix="fieldwork-") as folder, _quiet():
        out = Path(folder) / "conversations.parquet"
        try:
            prepare_corpus(
                files,
                format=reading["format"],
                reading=ColumnsAndRoles(reading["columns"], reading["roles"]),
                filters=FiltersSection.model_validate(filters),
                out=out,
            )
        except StudyError as error:
            if isinstance(error.__cause__, OSError):
                return None
            raise
        return count_conversations(out)


@contextmanager
def _quiet() -> Iterator[None]:
    # the job that prepares the corpus writes these messages into its log
    package = logging.getLogger("fieldwork")
    level = package.level
    package.setLevel(logging.ERROR)
    try:
        yield
    finally:
        package.setLevel(level)


def puppet_counts(
    supplies: Mapping[str, Supply], filters: Mapping[str, str]
) -> Iterator[PuppetCount]:
    """How many users have so many conversations or more, for every number that one of them has.

    Args:
        supplies: by the source's name.
        filters: those of each corpus; a persona source has none.
    """
    for source, supply in supplies.items():
        unit = "users" if source in filters else "personas"
        for n in sorted({1, *supply}):
            available = sum(one >= n for one in supply)
            yield PuppetCount(source, filters.get(source, ""), unit, n, available)


def read_supplies(path: str | Path, needs: Sequence[Need]) -> dict[str, Supply]:
    """The supplies that a table of counts tells, of sources with the filters that are needed."""
    filters = {need.source: need.filters for need in needs}
    counts: dict[str, list[tuple[int, int]]] = {}
    for row in read_table(path, ("source", "filters", "unit", "at_least", "available")):
        if filters.get(row["source"]) == row["filters"]:
            counts.setdefault(row["source"], []).append(
                (int(row["at_least"]), int(row["available"]))
            )
    return {
        source: [
            n
            for (n, available), (_, rest) in zip(pairs, [*pairs[1:], (0, 0)], strict=True)
            for _ in range(available - rest)
        ]
        for source, pairs in counts.items()
    }


def require_enough(needs: Sequence[Need], supplies: Mapping[str, Supply | None]) -> None:
    """Refuse a study that needs more puppets than there are.

    Args:
        supplies: by the source's name; a source that is missing was not counted.

    Raises:
        StudyError: a source has too little for a condition.
    """
    for need in needs:
        supply = supplies.get(need.source)
        if supply is None:
            continue
        are_counted = (n >= need.at_least for n in supply)
        available = sum(supply) if need.unit == "conversations" else sum(are_counted)
        if available < need.n_needed:
            raise _too_few(need, available)


def _too_few(need: Need, available: int) -> StudyError:
    runs = f"tasks.{need.task}.runs"
    advice = [f"set {runs} to {available} or less"] if available else []
    if need.unit == "personas":
        return StudyError(
            f"conditions.{need.condition} needs {need.n_needed} personas ({runs}), but datasets."
            f"{need.source} has {available} distinct ones; {_alternatives([*advice, 'add personas'])}"
        )
    minimum = f" with {need.at_least} conversations or more" if need.at_least > 1 else ""
    shorter = f"conditions.{need.condition}.conversations (or out_of)"
    if need.unit == "conversations":
        advice = [f"lower {runs} or {shorter}"]
    elif minimum:
        advice.append(f"lower {shorter}")
    advice += ["loosen the filters", "name a larger corpus"]
    return StudyError(
        f"conditions.{need.condition} needs {need.n_needed} {need.unit}{minimum} ({runs}), but corpora."
        f"{need.source} has {available} after its filters ({need.filters}); {_alternatives(advice)}"
    )


def _alternatives(advice: Sequence[str]) -> str:
    *earlier, last = advice
    return f"{', '.join(earlier)}, or {last}" if earlier else last
