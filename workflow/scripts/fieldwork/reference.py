"""What the tables of a study are: in the terminal, as a page, and as a list for docs/data.md.

`python -m fieldwork.reference`, run in workflow/scripts, prints the page of all columns; with the path of
docs/data.md it writes the list of tables there again.
"""

import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.database import view_columns
from fieldwork.dictionary import STAGES, about, views
from fieldwork.errors import StudyError
from fieldwork.measures import questions
from fieldwork.records.columns import Column, columns_of, row_types_of, table_of

_WIDEST = 110
"""Columns of a terminal that lines of words fill at most."""

_LIST = re.compile(r"(?<=<!-- tables -->\n).*(?=<!-- end of tables -->)", re.DOTALL)
"""Where a document holds the list of tables."""


class TableDescription(NamedTuple):
    """A table or view, for its readers.

    Attributes:
        about: what a row is.
        part: the part of a study that has it.
        place: its files, from the study's folder of results.
        has_methods: whether docs/methods.md says how it is computed, under its name.
    """

    name: str
    about: str
    part: str
    place: str
    columns: Sequence[Column]
    has_methods: bool


@cache
def descriptions() -> dict[str, list[TableDescription]]:
    """All tables, and last the views, under the headings of the dictionary."""
    by_heading = {
        title: [_table(row_type) for row_type in row_types_of(stage)]
        for title, stage in STAGES.items()
    }
    columns = view_columns()
    by_heading["Views of study.duckdb"] = [
        TableDescription(
            name,
            view.title,
            view.part,
            "study.duckdb" if name == "transcripts" else f"study.duckdb and metrics/{name}.csv",
            columns[name],
            has_methods=False,
        )
        for name, view in views().items()
    ]
    return by_heading


def _table(row_type: type[Any]) -> TableDescription:
    table = table_of(row_type)
    return TableDescription(
        table.name,
        about(table.name),
        table.part,
        f"{table.path} and .csv" if table.has_csv else table.path,
        columns_of(row_type),
        has_methods=table.path.startswith(("metrics/", "power/")),
    )


# ---- in the terminal -----------------------------------------------------------------------------


def describe(names: Sequence[str], study: str, folder: str, parts: Collection[str]) -> str:
    """What tables and their columns are; without names, which tables a study has.

    Args:
        study: its name.
        folder: its folder of results.
        parts: those that it has.

    Raises:
        StudyError: there is no table of a name.
    """
    tables = {table.name: table for group in descriptions().values() for table in group}
    if names:
        return "\n".join(line for name in names for line in _whole(name, tables, folder, parts))
    lines = [f"Tables of the study {study}, with their files in {folder}."]
    lines += ["The columns of one are shown by its name, as in: snakemake describe answers"]
    for title, group in descriptions().items():
        if of_study := [table for table in group if table.part in parts]:
            lines += [f"\n{title}"]
            lines += _entries((t.name, f"{t.about}: {t.place}") for t in of_study)
    return "\n".join(lines)


def _whole(
    name: str, tables: dict[str, TableDescription], folder: str, parts: Collection[str]
) -> Iterator[str]:
    if name not in tables:
        near_names = get_close_matches(name, tables, 3)
        question = f"did you mean {' or '.join(near_names)}? " if near_names else ""
        raise StudyError(
            f"{name}: there is no table of this name; {question}`snakemake describe` lists all tables"
        )
    table = tables[name]
    absence = "" if table.part in parts else ", which this study does not have"
    yield _fill(f"{name}. A row: {_lower(table.about)}.")
    yield _fill(f"In {folder}: {table.place}{absence}.") + "\n"
    yield from _entries(
        (column.name, f"{column.text} ({_type(column)})") for column in table.columns
    )
    if name == "estimates":
        yield "\nMeasures:"
        yield from _entries(
            (measure.name, measure.meaning)
            for question in questions().values()
            for measure in question.measures
        )
    yield ""


def _entries(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names with what they mean, in lines that the terminal holds."""
    pairs = [*entries]
    indent = max(len(name) for name, _ in pairs) + 4
    for name, text in pairs:
        yield _fill(text, f"  {name}".ljust(indent))


def _fill(text: str, start: str = "") -> str:
    return textwrap.fill(
        text,
        min(shutil.get_terminal_size().columns, _WIDEST),
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _type(column: Column) -> str:
    return f"{column.kind} or NULL" if column.is_nullable else column.kind


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


# ---- in documents --------------------------------------------------------------------------------


def render() -> str:
    """The page of all tables, views and measures with all their columns, in Markdown."""
    parts = [_INTRODUCTION.strip()]
    for title, group in descriptions().items():
        parts.append(f"## {title}")
        for table in group:
            parts.append(f"### {table.name}")
            parts.append(f"A row: {_lower(table.about)}. In `{table.place}`.")
            rows = [
                f"| `{column.name}` | {_type(column)} | {column.text} |" for column in table.columns
            ]
            parts.append("\n".join(["| column | type | meaning |", "|---|---|---|", *rows]))
    parts += ["## Measures", "\n".join(_measures())]
    return "\n\n".join(parts) + "\n"


def _measures() -> Iterator[str]:
    """What each declared measure is, question by question."""
    yield from ("| measure | file | takes | meaning |", "|---|---|---|---|")
    for name, question in questions().items():
        for measure in question.measures:
            takes = "options" if measure.of == "options" else f"`{measure.of}`"
            yield f"| `{measure.name}` | {name} | {takes} | {measure.meaning} |"


def table_list() -> str:
    """All tables under their headings, those of docs/methods.md by links to their sections there."""
    lines: list[str] = []
    for title, group in descriptions().items():
        lines += [f"**{title}**", ""]
        links = ", ".join(f"[{t.name}](methods.md#{t.name})" for t in group if t.has_methods)
        lines += [f"- `{t.name}`: {_lower(t.about)}" for t in group if not t.has_methods]
        lines += [f"- {links}"] if links else []
        lines.append("")
    return "\n".join(lines)


def with_list(document: str) -> str:
    """A document, its list of tables written anew."""
    return _LIST.sub(lambda _: table_list(), document)


_INTRODUCTION = """
# Tables and their columns

Paths begin in the study's folder, `results/{study}/`. [Data](data.md) says how the tables belong
together, and [methods](methods.md) how estimates are computed.
"""


if __name__ == "__main__":
    if sys.argv[1:]:
        path = Path(sys.argv[1])
        path.write_text(with_list(path.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(render())
