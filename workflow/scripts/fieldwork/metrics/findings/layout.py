"""How a finding is laid out: a section is a heading, what it asks, and one table in Markdown.

Promises that a long table keeps the rows that show a difference and counts the others in its last row.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.metrics.findings.links import LINK
from fieldwork.metrics.findings.verdicts import UNDECIDED_VERDICT, FindingVerdict

LONGEST = 30
"""Rows of a table above which only those that show a difference are kept."""


class Finding(NamedTuple):
    """A row of a table: its cells, and the verdict that stands last.

    Attributes:
        is_reference: what others are compared with, kept in a long table too.
    """

    cells: tuple[str, ...]
    verdict: FindingVerdict
    is_reference: bool = False


class FindingsSection(NamedTuple):
    """One question of the page.

    Attributes:
        question: what is asked, and how to read the table, in one or two sentences.
        columns: headings of the table; the last is the verdict's.
        findings: rows of the table, in order.
        tables: names of the metric tables the numbers come from, the one with the verdict last. Their
            names are headings in docs/methods.md.
        other_verdicts: verdicts of rows the table leaves out.
    """

    title: str
    question: str
    columns: tuple[str, ...]
    findings: Sequence[Finding]
    tables: Sequence[str]
    other_verdicts: Sequence[FindingVerdict] = ()


def section_lines(section: FindingsSection) -> list[str]:
    """The section as lines of Markdown."""
    sources = [f"[metrics/{name}.csv](metrics/{name}.csv)" for name in section.tables]
    sources.append(f"[method](../../docs/methods.md#{section.tables[-1].partition('/')[0]})")
    sentence = f"{section.question} ({', '.join(sources)})"
    return [f"### {section.title}", "", sentence, "", *_table(section), ""]


def _table(section: FindingsSection) -> list[str]:
    findings, other_verdicts = list(section.findings), list(section.other_verdicts)
    if len(findings) > LONGEST:
        short = [row for row in findings if row.verdict.is_shown or row.is_reference]
        other_verdicts += [row.verdict for row in findings if row not in short]
        findings = short
    rows = [section.columns, *((*row.cells, row.verdict.text) for row in findings)]
    if other_verdicts:
        blank = [""] * (len(section.columns) - 2)
        rows.append(
            (f"{len(other_verdicts):,} more", *blank, _omission(other_verdicts, section.tables[-1]))
        )
    return table_lines(rows)


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of Markdown, the headings of its columns first."""
    # a backslash at the end would escape the bar behind it
    rows = [tuple(f"{cell} " if cell.endswith("\\") else cell for cell in row) for row in rows]
    widths = [max(_width(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [_row(row, widths) for row in rows]
    return [lines[0], f"|{'---|' * len(widths)}", *lines[1:]]


def _omission(other_verdicts: Sequence[FindingVerdict], table: str) -> str:
    n_shown = sum(verdict.is_shown for verdict in other_verdicts)
    n_equivalent = sum(verdict.is_equivalent for verdict in other_verdicts)
    n_untested = sum(not verdict.is_tested for verdict in other_verdicts)
    counts = [
        (n_shown, "differ"),
        (n_equivalent, "equivalent"),
        (len(other_verdicts) - n_shown - n_untested - n_equivalent, UNDECIDED_VERDICT),
        (n_untested, "cannot be shown or have no test"),
    ]
    return ", ".join(f"{n:,} {text}" for n, text in counts if n) + f": metrics/{table}.csv"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    # cells are padded for those who read the page as text
    columns = [
        f"{cell}{' ' * (width - _width(cell))}" for cell, width in zip(cells, widths, strict=True)
    ]
    return f"|{'|'.join([*columns[:-1], cells[-1]])}|"


def _width(cell: str) -> int:
    """Letters of a cell as they are printed, where a number stands for the address of a link."""
    return len(LINK.sub("][00]", cell))
