"""The kit as workbooks: one for each question and rater, a row a unit, answers chosen from lists.

The first row is the header, its cells are texts: nothing in an answer is taken for a formula. The
options stand on a hidden sheet, so that they may have commas and be long. Sheets are protected without a
password, so that raters change nothing but their answers by mistake.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldwork.judging.kit.questions import (
    RaterQuestion,
    ReviewKit,
    option_labels,
    question_line,
)
from fieldwork.judging.kit.sides import shown_answers, shown_side
from fieldwork.records.judging import Allotment, UnitText

HEADER = (
    "rater",
    "units",
    "unit",
    "position",
    "kit",
    "first_side",
    "question",
    "known",
    "conversation",
    "user asks",
    "concluded",
    "answer 1",
    "answer 2",
    "value",
    "why",
    "note",
)
LONGEST_CELL = 32_000
"""Characters that a cell may hold."""
OPTIONS_SHEET = "options"
"""The hidden sheet."""
_OF_RATERS = ("value", "why", "note")
_WIDE = {"conversation": 60, "answer 1": 50, "answer 2": 50, "concluded": 40, "user asks": 40}


def write_workbooks(kit: ReviewKit, folder: Path) -> None:
    """A workbook for each question and rater: `{units}/{rater}.xlsx`."""
    from openpyxl import Workbook

    for question in kit.questions:
        for rater in kit.raters:
            own_units = [a for a in kit.allotments if (a.rater, a.units) == (rater, question.name)]
            if own_units:
                book = Workbook()
                _fill_sheet(book.worksheets[0], _rows(kit, question, own_units))
                _list_options(book, question)
                path = folder / question.name / f"{rater}.xlsx"
                path.parent.mkdir(parents=True, exist_ok=True)
                book.save(path)
    folder.mkdir(parents=True, exist_ok=True)


def _fill_sheet(sheet: Any, rows: Iterable[Mapping[str, str]]) -> None:
    from openpyxl.styles import Alignment, Font, Protection
    from openpyxl.utils import get_column_letter

    sheet.append(HEADER)
    for row in rows:
        sheet.append([""] * len(HEADER))
        for number, name in enumerate(HEADER, start=1):
            cell = sheet.cell(sheet.max_row, number)
            _write_text(cell, row.get(name, ""))
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.protection = Protection(locked=name not in _OF_RATERS)
    sheet.freeze_panes = "A2"
    sheet.protection.sheet = True
    # False is what stays allowed: columns and rows may be made wider and higher
    sheet.protection.formatColumns = sheet.protection.formatRows = False
    for number, name in enumerate(HEADER, start=1):
        letter = get_column_letter(number)
        sheet[f"{letter}1"].font = Font(bold=True)
        sheet.column_dimensions[letter].width = _WIDE.get(name, 16)


def _write_text(cell: Any, text: str) -> None:
    """Write a text as one, whatever it begins with, without characters that no workbook may hold."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell.value = ILLEGAL_CHARACTERS_RE.sub("", text)[:LONGEST_CELL]
    cell.data_type = "s"


def _list_options(book: Any, question: RaterQuestion) -> None:
    """The lists to choose from: a column of the hidden sheet for each column of answers."""
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    sheet, lists = book.worksheets[0], book.create_sheet(OPTIONS_SHEET)
    lists.sheet_state = "hidden"
    for number, (name, options) in enumerate(_choices(question), start=1):
        for place, option in enumerate(options, start=1):
            _write_text(lists.cell(place, number), option)
        column = get_column_letter(number)
        cells = f"{OPTIONS_SHEET}!${column}$1:${column}${len(options)}"
        validation = DataValidation(type="list", formula1=cells, allow_blank=True)
        letter = get_column_letter(HEADER.index(name) + 1)
        validation.add(f"{letter}2:{letter}{sheet.max_row}")
        sheet.add_data_validation(validation)


def _rows(
    kit: ReviewKit, question: RaterQuestion, allotments: Sequence[Allotment]
) -> Iterator[Mapping[str, str]]:
    """The cells of a rater's rows by the names of their columns, in the order of the rater."""
    units = {unit.code: unit for unit in question.units}
    for allotment in sorted(allotments, key=lambda a: a.place):
        yield {"kit": kit.digest, **_cells(question, allotment, units[allotment.code])}


def _choices(question: RaterQuestion) -> Iterator[tuple[str, list[str]]]:
    yield "value", [option for option, _ in option_labels(question.scale)]
    if question.reason:
        yield "why", [option for option, _ in option_labels(question.reason.scale)]


def _cells(question: RaterQuestion, allotment: Allotment, unit: UnitText) -> Mapping[str, str]:
    answers = shown_answers(unit, allotment.first_side)
    return {
        "rater": allotment.rater,
        "units": question.name,
        "unit": unit.code,
        "position": str(allotment.place + 1),
        "first_side": shown_side(unit, allotment.first_side),
        "question": question_line(question.text, question.scale),
        "known": "\n".join(unit.facts),
        "conversation": unit.evidence or "",
        "user asks": unit.question or "",
        "concluded": unit.attribute or "",
        "answer 1": answers[0] or "",
        "answer 2": answers[1] or "",
    }
