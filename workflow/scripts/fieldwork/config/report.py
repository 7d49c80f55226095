"""The tables of estimates: their modules of row types, and how the report of a study names them.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import NamedTuple

from fieldwork.records import (
    arms,
    claims,
    drift,
    field,
    judging,
    memory,
    metrics,
    practice,
    robustness,
    service,
    values,
)
from fieldwork.records.columns import row_types_of, table_of
from fieldwork.views import VIEWS

ESTIMATES = (
    ("Metrics", metrics),
    ("Metrics", arms),
    ("Metrics", values),
    ("Metrics", robustness),
    ("Metrics", drift),
    ("Metrics", service),
    ("Metrics", practice),
    ("Field", field),
    ("Memory", memory),
    ("Judging", judging),
)
"""Modules of row types whose tables claims are made from, with their heading in the report."""


class ReportEntry(NamedTuple):
    """A table's title in the report, and the heading that it stands under."""

    title: str
    category: str


def report_entry(table: str) -> ReportEntry:
    """How the report names a table of estimates: by what a row is, beside others of its stage.

    Raises:
        KeyError: no row type declares the table.
    """
    entries = {
        table_of(row_type).name: ReportEntry((row_type.__doc__ or "").rstrip("."), category)
        for category, module in (*ESTIMATES, ("Claims", claims))
        for row_type in row_types_of(module)
    }
    views = {name: ReportEntry(view.title, "Metrics") for name, view in VIEWS.items()}
    return (entries | views)[table]
