"""The tables of a study as files for SPSS, Stata, R and spreadsheets, with a codebook of all of them.

Owns the folder that they are written to. One table is in memory at a time. Equal tables give equal bytes.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.exports.code_sets import CodeSet, code_set
from fieldwork.exports.codebook import CodebookHead, TableEntry, codebook, render, variable_entry
from fieldwork.exports.labelled_files import (
    LabelledTable,
    coded_column,
    cut_texts,
    n_with_nul,
    refuse_infinity,
    write_dta,
    write_sav,
)
from fieldwork.exports.study_tables import StudyDatabase, StudyTable, open_tables
from fieldwork.exports.variables import Variable, value_of, variables_of
from fieldwork.records.columns import columns_of

MOST_ROWS = 250_000
"""Of a .sav or .dta file, whose rows are all in memory: some 4 GB with texts of 1,000 bytes."""

_LOGGER = logging.getLogger(__name__)


class DataSettings(NamedTuple):
    """What the files say of the study.

    Attributes:
        version: of this project.
        model_labels: printed names, in the order of the study.
        condition_labels: likewise.
        has_field: whether answers of real users may leave the study.
    """

    study: str
    version: str
    model_labels: Mapping[str, str]
    condition_labels: Mapping[str, str]
    has_field: bool

    def labels(self, code_set_name: str) -> Mapping[str, str]:
        """Printed names of the values of a code set."""
        match code_set_name:
            case "model":
                return self.model_labels
            case "condition":
                return self.condition_labels
            case "other":
                return {**self.condition_labels, **self.model_labels}
        return {}


def write_data_files(folder: Path, database: str | Path, settings: DataSettings) -> None:
    """Write every table of `StudyDatabase.tables` as .csv, .sav and .dta, and the codebook.

    Raises:
        StudyError: the database cannot be read, a number is infinite, or the disk refuses a file.
    """
    with open_tables(database, has_field=settings.has_field) as source:
        variables = {t.name: _variables(t, source.rows(t)) for t in source.tables()}
        code_sets = _code_sets(source, variables, settings)
        entries = [
            _write_table(
                folder,
                TableContent(
                    table, _with_codes(variables[table.name], code_sets), source.rows(table)
                ),
                code_sets,
                f"{table.name} of the study {settings.study}",
            )
            for table in source.tables()
        ]
    book = codebook(CodebookHead(settings.study, settings.version), entries, code_sets)
    text = json.dumps(book, indent=1, ensure_ascii=False)
    tables.write_text(folder / "codebook.json", f"{text}\n")
    tables.write_text(folder / "codebook.html", render(book))


class TableContent(NamedTuple):
    """A table, its variables, and its rows as an Arrow table."""

    table: StudyTable
    variables: Sequence[Variable]
    rows: Any

    def values(self, variable: Variable) -> list[Any]:
        """The values of a variable, row by row."""
        return [value_of(variable, cell) for cell in self.rows[variable.column].to_pylist()]

    def records(self) -> Iterator[list[Any]]:
        """The values of all variables, a row at a time; of the rows few are held as objects."""
        for batch in self.rows.to_batches(max_chunksize=tables.ROWS_AT_ONCE):
            for row in batch.to_pylist():
                yield [value_of(variable, row[variable.column]) for variable in self.variables]


def _variables(table: StudyTable, rows: Any) -> list[Variable]:
    longest = {
        column.name: max((len(cell) for cell in rows[column.name].to_pylist() if cell), default=0)
        for column in columns_of(table.row_type)
        if column.kind.endswith("[]")
    }
    return variables_of(table.row_type, longest)


def _code_sets(
    source: StudyDatabase, variables: Mapping[str, Sequence[Variable]], settings: DataSettings
) -> dict[str, CodeSet]:
    """The codes of all tables, by the name of the set; none for a set with too many values."""
    known_values: dict[str, list[str]] = {}
    values: dict[str, set[Any]] = {}
    for table in source.tables():
        content = TableContent(table, variables[table.name], source.rows(table))
        closed_values = {column.name: column.values for column in columns_of(table.row_type)}
        for variable in content.variables:
            if name := variable.code_set:
                labels = settings.labels(name) if name in ("model", "condition") else ()
                known_values.setdefault(name, [*labels]).extend(closed_values[variable.column])
                values.setdefault(name, set()).update(content.values(variable))
    sets = {
        name: code_set(known_values[name], values[name] - {None}, settings.labels(name))
        for name in sorted(values)
    }
    return {name: codes for name, codes in sets.items() if codes is not None}


def _with_codes(variables: Sequence[Variable], code_sets: Mapping[str, CodeSet]) -> list[Variable]:
    """The variables, those with too many values for codes as texts."""
    return [
        v._replace(kind="text", code_set=None) if v.code_set and v.code_set not in code_sets else v
        for v in variables
    ]


def _write_table(
    folder: Path, content: TableContent, code_sets: Mapping[str, CodeSet], title: str
) -> TableEntry:
    import pandas as pd

    name, variables = content.table.name, content.variables
    names = [variable.name for variable in variables]
    tables.write_csv_tuples(folder / f"{name}.csv", names, content.records())
    is_labelled = content.rows.num_rows <= MOST_ROWS
    columns, entries = {}, []
    for variable in variables:
        values = content.values(variable)
        entry = variable_entry(variable, values)
        entries.append(entry)
        if is_labelled:
            entry |= {"n_with_nul": n} if (n := n_with_nul(variable, values)) else {}
            column = coded_column(variable, values, code_sets.get(variable.code_set or ""))
            refuse_infinity(folder / f"{name}.sav", variable, column)
            columns[variable.name] = column
    files, notes = [f"{name}.csv"], [*content.table.notes]
    if is_labelled:
        table = LabelledTable(title, variables, pd.DataFrame(columns), code_sets)
        n_cut = _write_labelled(folder, name, table)
        for entry in entries:
            entry |= {"n_cut": n_cut[entry["name"]]} if entry["name"] in n_cut else {}
        files += [f"{name}.sav", f"{name}.dta"]
    else:
        notes.append(f"A table of more than {MOST_ROWS:,} rows is written as CSV alone.")
    return TableEntry(name, content.table.about, files, content.rows.num_rows, notes, entries)


def _write_labelled(folder: Path, name: str, table: LabelledTable) -> dict[str, int]:
    """Write both files; returns how many texts the .sav file cuts, by the name of the variable."""
    write_dta(folder / f"{name}.dta", table)
    short_table, n_cut = cut_texts(table)
    write_sav(folder / f"{name}.sav", short_table)
    for variable, n in n_cut.items():
        _LOGGER.warning(
            "%s.sav: %d text(s) of %s are longer than SPSS allows and end in …; they are whole in "
            "%s.csv and %s.dta",
            name,
            n,
            variable,
            name,
            name,
        )
    return n_cut
