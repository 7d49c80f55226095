"""The kit as workbooks: one for each question and rater, a row a unit, answers chosen from lists.

The first row is the header, its cells are texts: nothing in an answer
is taken for a formula.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldwork.judging.kit.questions import (
    RaterQuestion,
    ReviewKit,
    option_labels,
    question_line,
)
from fieldwork.records.judging import Allotment, UnitText

HEADER = (
    "rater",
    "units",
    "unit",
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
_WIDE = {"conversation": 60, "answer 1": 50, "answer 2": 50, "concluded": 40, "user asks": 40}


def write_workbooks(kit: ReviewKit, folder: Path) -> None:
    """A workbook for each question and rater: `{units}/{rater}.xlsx`."""
    from openpyxl import Workbook

    for question in kit.questions:
        for rater in kit.raters:
            own_units = [a for a in kit.allotments if (a.rater, a.units) == (rater, question.name)]
            if own_units:
                book = Workbook()
                _fill_sheet(book.worksheets[0], question, own_units)
                path = folder / question.name / f"{rater}.xlsx"
                path.parent.mkdir(parents=True, exist_ok=True)
                book.save(path)
    folder.mkdir(parents=True, exist_ok=True)


def _fill_sheet(sheet: Any, question: RaterQuestion, allotments: Sequence[Allotment]) -> None:
    from openpyxl.styles import Alignment, Font, Protection
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    sheet.append(HEADER)
    units = {unit.code: unit for unit in question.units}
    for allotment in sorted(allotments, key=lambda a: a.place):
        sheet.append([""] * len(HEADER))
        row = _cells(question, allotment, units[allotment.code])
        for number, name in enumerate(HEADER, start=1):
            cell = sheet.cell(sheet.max_row, number)
            cell.value = row.get(name, "")[:LONGEST_CELL]
            # a text, whatever it begins with
            cell.data_type = "s"
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.protection = Protection(locked=name not in ("value", "why", "note"))
    sheet.freeze_panes = "A2"
    for number, name in enumerate(HEADER, start=1):
        letter = get_column_letter(number)
        sheet[f"{letter}1"].font = Font(bold=True)
        sheet.column_dimensions[letter].width = _WIDE.get(name, 16)
    for name, options in _choices(question):
        validation = DataValidation(
            type="list", formula1=f'"{",".join(options)}"', allow_blank=True
        )
        letter = get_column_letter(HEADER.index(name) + 1)
        validation.add(f"{letter}2:{letter}{sheet.max_row}")
        sheet.add_data_validation(validation)


def _choices(question: RaterQuestion) -> Iterator[tuple[str, list[str]]]:
    yield "value", [option for option, _ in option_labels(question.scale)]
    if question.reason:
        yield "why", [option for option, _ in option_labels(question.reason.scale)]


def _cells(question: RaterQuestion, allotment: Allotment, unit: UnitText) -> Mapping[str, str]:
    answers = [unit.text_a or "", unit.text_b or ""]
    if allotment.first_side == "b":
        answers.reverse()
    return {
        "rater": allotment.rater,
        "units": question.name,
        "unit": unit.code,
        "first_side": allotment.first_side or "",
        "question": question_line(question.text, question.scale),
        "known": "\n".join(unit.facts),
        "conversation": unit.evidence or "",
        "user asks": unit.question or "",
        "concluded": unit.attribute or "",
        "answer 1": answers[0],
        "answer 2": answers[1],
    }
