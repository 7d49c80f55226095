"""How a section of the page is declared, and how a declaration and a study's rows become a section.

A declaration is a query with its words: a heading, a sentence, which rows, a heading and a format for
each column, and the claim that gives the verdict.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.keys import arm_of
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.verdicts import NO_TEST, FindingVerdict
from fieldwork.metrics.findings.wording import NOTHING, NumberStyle, p_cell

Cell = Callable[[Any, StudyEvidence], str]
"""A row as one cell."""

Words = str | Callable[[StudyEvidence], str]
"""A text, or what it is in a study."""


class TableColumn(NamedTuple):
    """A column of a section's table; one whose heading is empty is left out."""

    heading: Words
    cell: Cell


@dataclass(frozen=True, eq=False)
class Section:
    """A question of the page.

    Attributes:
        title: its heading.
        sentence: what is asked, and how to read the table, in one or two sentences.
        tables: names of the metric tables the numbers come from, the one with the verdict last. Their
            names are headings in docs/methods.md.
        rows: the query; without rows the page has no such section.
        columns: all but the verdict's.
        verdict: the measure of `claims` whose test a row has, or the verdict of a row.
        is_reference: whether a row is what others are compared with.
        listed_rows: which of the rows the table has, as a function of all; verdicts of the others are
            counted.
        verdict_heading: heading of the last column.
    """

    title: Words
    sentence: Words
    tables: Sequence[str]
    rows: Callable[[StudyEvidence], Sequence[Any]]
    columns: Sequence[TableColumn]
    verdict: str | Callable[[Any, StudyEvidence], FindingVerdict] = lambda *_: NO_TEST
    is_reference: Callable[[Any, StudyEvidence], bool] = lambda *_: False
    listed_rows: Callable[[Sequence[Any], StudyEvidence], Sequence[Any]] = lambda rows, _: rows
    verdict_heading: str = "Verdict"


def section_of(section: Section, study: StudyEvidence) -> FindingsSection | None:
    """The section of a study; None without rows."""
    rows = section.rows(study)
    if not rows:
        return None
    listed_rows = section.listed_rows(rows, study)
    places = {id(row) for row in listed_rows}
    columns = [(words_of(column.heading, study), column.cell) for column in section.columns]
    columns = [(heading, cell) for heading, cell in columns if heading]
    measure = section.verdict
    verdict = measure if callable(measure) else lambda row, _: study.verdict(measure, row)
    return FindingsSection(
        words_of(section.title, study),
        words_of(section.sentence, study),
        (*(heading for heading, _ in columns), section.verdict_heading),
        [
            Finding(
                tuple(cell(row, study) for _, cell in columns),
                verdict(row, study),
                section.is_reference(row, study),
            )
            for row in listed_rows
        ],
        section.tables,
        [verdict(row, study) for row in rows if id(row) not in places],
    )


def words_of(words: Words, study: StudyEvidence) -> str:
    """A text as it is in a study."""
    return words(study) if callable(words) else words


# ---- cells -------------------------------------------------------------------------------------------


Style = NumberStyle | Callable[[Any], NumberStyle]
"""How a number is printed, or how that of a row is."""


def style_of(column: str, styles: Mapping[Any, NumberStyle]) -> Callable[[Any], NumberStyle]:
    """How numbers of a row are printed, by what its column says."""
    return lambda row: styles[getattr(row, column)]


def interval(name: str, style: Style, low: str = "ci_low", high: str = "ci_high") -> Cell:
    """A value with its interval, from these columns."""
    return lambda row, _: (style(row) if callable(style) else style).interval(
        *(getattr(row, column) for column in (name, low, high))
    )


def number(name: str, style: Style) -> Cell:
    """A number of a column, or a dash."""
    return lambda row, _: (style(row) if callable(style) else style).number(getattr(row, name))


def words_of_style(style: Callable[[Any], NumberStyle]) -> Cell:
    """What the page calls the measure of a row."""
    return lambda row, _: style(row).words


def of_row_beside(find: Callable[[Any, StudyEvidence], Any | None], cell: Cell) -> Cell:
    """A cell of another row that stands beside this one, or a dash without it."""

    def cell_beside(row: Any, study: StudyEvidence) -> str:
        row_beside = find(row, study)
        return NOTHING if row_beside is None else cell(row_beside, study)

    return cell_beside


def count(name: str) -> Cell:
    """How many, or a dash."""
    return lambda row, _: NOTHING if getattr(row, name) is None else f"{getattr(row, name):,}"


def text(name: str) -> Cell:
    """A text as it is written, or a dash."""
    return lambda row, _: NOTHING if getattr(row, name) is None else literal(getattr(row, name))


def word(name: str, words: Mapping[Any, str]) -> Cell:
    """What the page calls a value of a column."""
    return lambda row, _: words[getattr(row, name)]


def p_value(measure: str) -> Cell:
    """The corrected p-value of a row's claim."""
    return lambda row, study: p_cell(study.claims.p_value(measure, row))


def if_tested(measure: str, *columns: TableColumn) -> list[TableColumn]:
    """Columns with dashes where the test of a row could not have shown anything."""
    return [
        TableColumn(
            heading,
            lambda row, study, cell=cell: (  # type: ignore[misc]
                cell(row, study) if study.verdict(measure, row).is_tested else NOTHING
            ),
        )
        for heading, cell in columns
    ]


def _model_cell(row: Any, study: StudyEvidence) -> str:
    model = arm_of(row).model
    return study.outline.models[model] if model else "all"


TASK = TableColumn("Task", lambda row, _: literal(arm_of(row).task))
MODEL = TableColumn(
    lambda study: "Model" if len(study.outline.models) > 1 else "",
    _model_cell,
)
CONDITION = TableColumn("Condition", lambda row, study: study.outline.label(arm_of(row).condition))
ARM = (TASK, MODEL, CONDITION)
"""Which arm a row is about; one model goes without saying."""
