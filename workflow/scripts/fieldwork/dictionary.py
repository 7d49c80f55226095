"""The data dictionary: the tables and views of a study by their names, and what their columns mean.

Owns nothing but their order: what it says is declared at the columns and views. The comments in
study.duckdb, `snakemake describe`, the page of all columns and the exports take it from here.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from fieldwork.records import (
    answer_form,
    arms,
    claims,
    drift,
    estimates,
    field,
    figures,
    generation,
    judging,
    memory,
    metrics,
    parsing,
    power,
    practice,
    puppets,
    robustness,
    service,
    tasks,
    values,
)
from fieldwork.records.columns import columns_of, row_types_of, table_of
from fieldwork.views import VIEWS, View, transcripts

STAGES = {
    "Puppets": puppets,
    "Tasks": tasks,
    "Memory": memory,
    "Generation": generation,
    "Answers": parsing,
    "The form of answers": answer_form,
    "Estimates": estimates,
    "Metrics": metrics,
    "Conditions side by side": arms,
    "Scales and numbers": values,
    "Tasks put otherwise": robustness,
    "The same questions after a time": drift,
    "Time and money": service,
    "Offline and practice": practice,
    "The field": field,
    "Raters": judging,
    "Claims": claims,
    "Figures": figures,
    "How large a study must be": power,
}
"""Headings, each with the module whose row types stand under it."""


@cache
def row_types() -> dict[str, type[Any]]:
    """The row types of all tables, by the tables' names."""
    declarations = (row_type for stage in STAGES.values() for row_type in row_types_of(stage))
    return {table_of(row_type).name: row_type for row_type in declarations}


@cache
def views() -> dict[str, View]:
    """All views of study.duckdb, by name."""
    return {"transcripts": transcripts(row_types()), **VIEWS}


def about(name: str) -> str:
    """What a row of a table or view is, without a full stop.

    Raises:
        KeyError: there is no such table.
    """
    if name in views():
        return views()[name].title
    return (row_types()[name].__doc__ or "").rstrip(".")


def column_texts(name: str) -> dict[str, str]:
    """What the columns of a table mean, or those that a view may have.

    Raises:
        KeyError: there is no such table.
    """
    if name not in views():
        return {column.name: column.text for column in columns_of(row_types()[name])}
    view = views()[name]
    meanings: dict[str, str] = {}
    for table in reversed(view.tables):
        texts = column_texts(table)
        meanings |= texts
        for column in view.names.keys() & texts.keys():
            meanings[view.names[column]] = texts[column]
    of_tables = {column: _with_names(text, view.names) for column, text in meanings.items()}
    return {**of_tables, **view.words}


def _with_names(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"`(\w+)`", lambda match: f"`{names.get(match[1], match[1])}`", text)
