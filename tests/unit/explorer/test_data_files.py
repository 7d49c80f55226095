"""Files of data: rows in order, of bounded size, and no text that ends a script."""

import json
from pathlib import Path
from typing import Any

import pytest

from fieldwork.explorer.data_files import RowFiles


def content(path: Path) -> Any:
    """What a file hands to the page, as a browser would read it."""
    text = path.read_text(encoding="ascii")
    head = f'fieldwork.receive("{path.stem}",'
    assert text.startswith(head)
    assert text.endswith(")\n")
    return json.loads(text[len(head) : -2])


def files_of(folder: Path) -> dict[str, Any]:
    return {path.stem: content(path) for path in sorted((folder / "data").iterdir())}


def test_rows_are_split_by_number_and_by_size_and_a_long_row_stands_alone(tmp_path: Path) -> None:
    with RowFiles(tmp_path, "details", most_rows=3) as files:
        places = [files.add({"row": n}) for n in range(7)]
    assert files.first_rows == [0, 3, 6]
    written = files_of(tmp_path)
    assert [*written] == ["details-000", "details-001", "details-002"]
    assert [written[place.file][place.place] for place in places] == [{"row": n} for n in range(7)]
    with RowFiles(tmp_path / "texts", "rows", most_bytes=100) as files:
        places = [files.add(text) for text in ("a" * 40, "b" * 40, "c" * 500, "d")]
    assert files.first_rows == [0, 2, 3]
    assert [len(rows) for rows in files_of(tmp_path / "texts").values()] == [2, 1, 1]
    assert [place.place for place in places] == [0, 1, 0, 0]


def test_an_error_leaves_no_last_file(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), RowFiles(tmp_path, "rows") as files:
        files.add(1 / (files.add("one").place))
    assert not (tmp_path / "data").exists()


NASTY = [
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "\u2028 \u2029 \ud800 \udfff",
    "a\\b\"c'd\n\r\t\0",
    "مرحبا ‮ 你好 🦊",
]


@pytest.mark.parametrize("text", NASTY)
def test_no_text_gets_out_of_its_file(tmp_path: Path, text: str) -> None:
    with RowFiles(tmp_path, "rows") as files:
        files.add({"text": text})
    path = tmp_path / "data" / "rows-000.js"
    assert content(path) == [{"text": text}]
    assert not {"<", ">", "&"} & set(path.read_text(encoding="ascii"))
