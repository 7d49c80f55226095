"""The tables of estimates: their modules of row types, and how the report of a study names them.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import NamedTuple

from fieldwork.records import arms as arm_records
from fieldwork.records import claims as claim_records
from fieldwork.records import drift as drift_records
from fieldwork.records import field as field_records
from fieldwork.records import judging as judging_records
from fieldwork.records import memory as memory_records
from fieldwork.records import metrics as metric_records
from fieldwork.records import practice as practice_records
from fieldwork.records import robustness as robustness_records
from fieldwork.records import service as service_records
from fieldwork.records import values as value_records
from fieldwork.records.columns import row_types_of, table_of
from fieldwork.views import VIEWS

ESTIMATES = (
    ("Metrics", metric_records),
    ("Metrics", arm_records),
    ("Metrics", value_records),
    ("Metrics", robustness_records),
    ("Metrics", drift_records),
    ("Metrics", service_records),
    ("Metrics", practice_records),
    ("Field", field_records),
    ("Memory", memory_records),
    ("Judging", judging_records),
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
        for category, module in (*ESTIMATES, ("Claims", claim_records))
        for row_type in row_types_of(module)
    }
    views = {name: ReportEntry(view.title, "Metrics") for name, view in VIEWS.items()}
    return (entries | views)[table]
