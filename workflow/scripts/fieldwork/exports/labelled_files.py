"""Files of SPSS and Stata: variables with labels, codes with labels, and what these programs cannot hold.

The only user of pyreadstat. Missing is the program's own missing value, and an empty text in a text.
Both formats hold the time at which a file was written: here always the same one, so that equal data give
equal bytes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyreadstat

from fieldwork.errors import StudyError
from fieldwork.exports.code_sets import CodeSet, cut_text, without_nul
from fieldwork.exports.variables import Variable
from fieldwork.tables import atomic_path

if TYPE_CHECKING:  # pandas takes half a second to import, and most stages never need it
    import pandas as pd

LONGEST_SPSS_TEXT = 32_766
"""Bytes. SPSS takes one more, which older readers cut off."""
LONGEST_SPSS_LABEL = 256
"""Bytes."""
LONGEST_SPSS_TITLE = 64
"""Bytes."""
LONGEST_STATA_TEXT = 2_045
"""Bytes of a text that is not of type strL."""
LONGEST_STATA_LABEL = 80
"""Characters of a variable's label and of a file's title; bytes are no fewer."""

_TIME = datetime(2000, 1, 1)
# date and time in the head of a .sav file, after 92 bytes
_SPSS_TIME_AT, _SPSS_TIME = 92, b"01 Jan 0000:00:00"
_YES_NO = {0: "no", 1: "yes"}
_SPSS_FORMATS = {"code": "F8.0", "yes_no": "F8.0", "number": "F12.4", "time": "DATETIME20"}


class LabelledTable(NamedTuple):
    """A table for these programs.

    Attributes:
        title: what it is, in one line.
        frame: a column for each variable: floats, times without a zone, or texts.
        code_sets: by name.
    """

    title: str
    variables: Sequence[Variable]
    frame: "pd.DataFrame"
    code_sets: Mapping[str, CodeSet]

    def value_labels(self) -> dict[Any, dict[Any, str]]:
        """Labels of values by the name of the variable."""
        labels: dict[Any, dict[Any, str]] = {
            v.name: _YES_NO for v in self.variables if v.kind == "yes_no"
        }
        by_set = {name: codes.value_labels() for name, codes in self.code_sets.items()}
        return labels | {v.name: by_set[v.code_set] for v in self.variables if v.code_set}


def coded_column(variable: Variable, values: Sequence[Any], codes: CodeSet | None) -> "pd.Series":
    """The values of a variable as programs hold them."""
    import pandas as pd

    match variable.kind:
        case "text":
            return pd.Series(
                ["" if value is None else without_nul(str(value)) for value in values], dtype=object
            )
        case "time":
            return pd.to_datetime(pd.Series(values, dtype="datetime64[us, UTC]")).dt.tz_localize(
                None
            )
    by_value = None if codes is None else codes.codes
    numbers = values if by_value is None else [by_value.get(value) for value in values]
    return pd.Series(numbers, dtype="float64")


def n_with_nul(variable: Variable, values: Sequence[Any]) -> int:
    """How many texts hold a NUL, which programs cannot."""
    is_text = variable.kind == "text"
    return sum("\0" in str(value) for value in values if value is not None) if is_text else 0


def refuse_infinity(path: str | Path, variable: Variable, column: "pd.Series") -> None:
    """StudyError where a column has a number that no program holds."""
    if variable.kind == "number" and column.isin([float("inf"), -float("inf")]).any():
        raise StudyError(
            f"{path}: {variable.column} has an infinite number, which SPSS and Stata cannot hold; let "
            f"the metric write NULL and a reason"
        )


def cut_texts(table: LabelledTable) -> tuple[LabelledTable, dict[str, int]]:
    """The table with texts as long as SPSS allows, and how many were cut of each variable."""
    cut_columns, n_cut = {}, {}
    for name in [v.name for v in table.variables if v.kind == "text"]:
        column = table.frame[name]
        if n := int((_lengths(column) > LONGEST_SPSS_TEXT).sum()):
            n_cut[name] = n
            cut_columns[name] = column.map(lambda text: cut_text(text, LONGEST_SPSS_TEXT))
    return table._replace(frame=table.frame.assign(**cut_columns)), n_cut


def write_sav(path: str | Path, table: LabelledTable) -> None:
    """Write a table for SPSS, whose texts `cut_texts` has cut."""
    labels: dict[str, str | None] = {
        v.name: cut_text(_plain(v.label), LONGEST_SPSS_LABEL) for v in table.variables
    }
    measures = {
        v.name: "scale" if v.kind in ("number", "time") else "nominal" for v in table.variables
    }
    formats = {v.name: _SPSS_FORMATS[v.kind] for v in table.variables if v.kind in _SPSS_FORMATS}
    with atomic_path(path) as partial:
        pyreadstat.write_sav(
            table.frame,
            partial,
            file_label=cut_text(table.title, LONGEST_SPSS_TITLE),
            column_labels=labels,
            row_compress=True,
            variable_value_labels=table.value_labels(),
            variable_measure=measures,
            variable_format=formats,
        )
        with partial.open("r+b") as file:
            file.seek(_SPSS_TIME_AT)
            file.write(_SPSS_TIME)


def write_dta(path: str | Path, table: LabelledTable) -> None:
    """Write a table for Stata 14 and newer; texts are as long as they are."""
    # slow, and no key of a merge: only where nothing else holds the texts
    long_texts = [
        v.name
        for v in table.variables
        if v.kind == "text" and (_lengths(table.frame[v.name]) > LONGEST_STATA_TEXT).any()
    ]
    with atomic_path(path) as partial:
        table.frame.to_stata(
            partial,
            version=118,
            write_index=False,
            time_stamp=_TIME,
            data_label=cut_text(table.title, LONGEST_STATA_LABEL),
            variable_labels={
                v.name: cut_text(_plain(v.label), LONGEST_STATA_LABEL) for v in table.variables
            },
            value_labels=table.value_labels(),
            convert_strl=long_texts,
            convert_dates={v.name: "tc" for v in table.variables if v.kind == "time"},
        )


def _lengths(column: "pd.Series") -> "pd.Series":
    """Bytes of the texts of a column."""
    return column.map(lambda text: len(text.encode())).astype("int64")


def _plain(label: str) -> str:
    """A label without the marks of code, which these programs would show."""
    return label.replace("`", "")
