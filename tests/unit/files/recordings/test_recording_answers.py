"""Tables of recorded answers: columns by what they hold, rows that count, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.files.recordings.answers import RecordedAnswer, Recording, read_answers

COLUMNS = {"item": "q", "answer": "said", "user": "who"}


def read(path: Path, columns: dict[str, Any] = COLUMNS, **settings: Any) -> list[RecordedAnswer]:
    recording = Recording(name="mine", format="table", columns=columns, **{"rows": {}} | settings)
    return [*read_answers([path], recording)]


def csv_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text(text)
    return path


def test_what_a_file_lacks_is_none(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "q,said,who\n1,B,anna\n2,,ben\n3,C,\n")
    first, third = read(path)
    assert (first.item, first.text, first.user) == ("1", "B", "anna")
    assert (third.item, third.user) == ("3", None)
    nothing = set(first._fields) - {"source", "item", "text", "user", "options", "fields"}
    assert {getattr(first, name) for name in nothing} == {None}
    assert first.source == "answers.csv: row 2"


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_an_empty_text_that_a_file_holds_is_an_answer(tmp_path: Path, kind: str) -> None:
    rows, path = [{"q": "1", "said": ""}, {"q": "2", "said": None}], tmp_path / f"answers.{kind}"
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    (answer,) = read(path, {"item": "q", "answer": "said"})
    assert (answer.item, answer.text) == ("1", "")


def test_rows_and_blank_users_choose_and_several_columns_are_one_id(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "q,said,who,run\n1,A,nobody,1\n1,B,anna,1\n1,C,anna,2\n1,D,anna,\n")
    columns = {**COLUMNS, "item": ["run", "q"]}
    answers = read(path, columns, rows={"run": [1, None]}, blank_users=["nobody"])
    found = [(a.item, a.text, a.user) for a in answers]
    assert found[:2] == [("1/1", "A", None), ("1/1", "B", "anna")]
    assert [text for _, text, _ in found] == ["A", "B", "D"]


def test_numbers_and_times(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "q,said,t,when,n\n1,B,0.5,2026-01-31T12:00:00+01:00,12.0\n")
    columns = {"item": "q", "answer": "said", "temperature": "t", "started_at": "when"}
    (answer,) = read(path, {**columns, "output_tokens": "n"})
    assert (answer.temperature, answer.output_tokens) == (0.5, 12)
    assert answer.started_at is not None
    assert answer.started_at.isoformat() == "2026-01-31T11:00:00+00:00"


@pytest.mark.parametrize("cell", ["yes|no", "yes | no", '"[""yes"", ""no""]"'])
def test_options_stand_in_a_cell_with_bars_or_as_json(tmp_path: Path, cell: str) -> None:
    path = csv_file(tmp_path, f"q,said,choices\n1,B,{cell}\n")
    (answer,) = read(path, {"item": "q", "answer": "said", "options": "choices"})
    assert answer.options == ["yes", "no"]


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        ({"item": "id", "answer": "said"}, {}, r"columns\.item: .*has no column 'id'; its columns"),
        (COLUMNS, {"experiment": "x"}, r"rows\.experiment: .*has no column 'experiment'"),
        (COLUMNS, {"q": "9"}, r"recordings\.mine\.rows: none of the 1 rows"),
        ({**COLUMNS, "temperature": "said"}, {}, r"row 2: 'B' is no number, as `columns\.temper"),
        ({**COLUMNS, "started_at": "said"}, {}, r"'B' is no time of the form"),
    ],
    ids=["column", "rule", "no row", "number", "time"],
)
def test_settings_that_do_not_fit_the_file(
    tmp_path: Path, columns: dict[str, Any], rows: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError, match=message) as refusal:
        read(csv_file(tmp_path, "q,said,who\n1,B,anna\n"), columns, rows=rows)
    assert "\n" not in str(refusal.value)
    with pytest.raises(StudyError, match="there are no answers in"):
        read(csv_file(tmp_path, "q,said,who\n"))


def test_a_path_leads_into_an_object_or_a_cell_with_json(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"q": 1, "said": {"text": "B"}}')
    with pytest.raises(StudyError, match=r"line 1 holds a list or an object as its answer"):
        read(path, {"item": "q", "answer": "said"})
    (answer,) = read(path, {"item": "q", "answer": "said.text"})
    assert answer.text == "B"
    path = csv_file(tmp_path, 'q,said,who\n1,"{""Answer"": ""B""}",\n2,"{no json",\n')
    (answer,) = read(path, {"item": "q", "answer": "said.Answer"})
    assert (answer.item, answer.text) == ("1", "B")
