"""The files of a page's data: scripts that hand their content to the page, since a file cannot fetch.

Owns their names, their form `fieldwork.receive(name, content)` and their sizes. Equal content gives equal
bytes. Whatever stands in the content, a file is ASCII, and nothing in it ends a script.
"""

from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.page_templates import script_json

DATA = "data"
"""The folder of data files, beside the page."""
MOST_ROWS = 1_000
MOST_BYTES = 1_000_000
"""Of a file of rows; a row that is longer has a file of its own."""


class RowPlace(NamedTuple):
    """Where a row is: the name of its file without ending, and its place there from 0."""

    file: str
    place: int


def write_data(folder: Path, name: str, text: str) -> None:
    """Write one file; `text` is its content as JSON."""
    tables.write_text(folder / DATA / f"{name}.js", f'fieldwork.receive("{name}",{text})\n')


class RowFiles:
    """Rows written into files `{stem}-000`, `{stem}-001` and on, in the order they are added.

    Attributes:
        first_rows: number of the first row of each file, from 0.
    """

    def __init__(
        self, folder: Path, stem: str, *, most_rows: int = MOST_ROWS, most_bytes: int = MOST_BYTES
    ) -> None:
        self._folder, self._stem = folder, stem
        self._most_rows, self._most_bytes = most_rows, most_bytes
        self._waiting: list[str] = []
        self._n_bytes = self._n_rows = 0
        self.first_rows: list[int] = []

    def __enter__(self) -> "RowFiles":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._write()

    def add(self, value: Any) -> RowPlace:
        """Write a row, or keep it until its file is full."""
        text = script_json(value)
        is_full = len(self._waiting) >= self._most_rows
        if is_full or (self._waiting and self._n_bytes + len(text) > self._most_bytes):
            self._write()
        if not self._waiting:
            self.first_rows.append(self._n_rows)
        self._waiting.append(text)
        self._n_bytes += len(text)
        self._n_rows += 1
        return RowPlace(self._name(len(self.first_rows) - 1), len(self._waiting) - 1)

    def _name(self, number: int) -> str:
        return f"{self._stem}-{number:03d}"

    def _write(self) -> None:
        if self._waiting:
            rows = ",\n".join(self._waiting)
            write_data(self._folder, self._name(len(self.first_rows) - 1), f"[\n{rows}\n]")
        self._waiting, self._n_bytes = [], 0
