"""docs/data.md is what the row types say, all tables are in it, and its queries run."""

import pkgutil
from pathlib import Path

import duckdb
import pytest

from fieldwork import dictionary, records, tables
from fieldwork.database import write_database
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "data.md"


def test_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == dictionary.render(), (
        "run: cd workflow/scripts && python -m fieldwork.dictionary ../../docs/data.md"
    )


def test_every_module_of_row_types_is_a_stage() -> None:
    names = {module.name for module in pkgutil.iter_modules(records.__path__)}
    stages = {stage.__name__.rpartition(".")[2] for stage in dictionary.STAGES.values()}
    assert stages == names - {"columns", "shared"}


def test_no_heading_stands_twice() -> None:
    headings = [line for line in dictionary.render().splitlines() if line.startswith("#")]
    assert len(headings) == len(set(headings))


@pytest.mark.parametrize(
    "line",
    [
        "### corpus/{corpus}/conversations.parquet",
        "### responses/{model}/{task}/{condition}.parquet",
        "### answers/items.csv",
        "### metrics/novelty.parquet and .csv",
        "A row: a conversation that passed the filters.",
        "| `messages` | STRUCT(role VARCHAR, content VARCHAR)[] |  | the conversation in order |",
        "| `started_at` | TIMESTAMPTZ | yes | UTC time of the conversation, NULL where unknown |",
        "| `text` | VARCHAR |  | the text, by the setting `embedding.text` |",
        "| `vector` | BLOB |  | unit vector, little-endian float32: `numpy.frombuffer(vector, '<f4')` |",
        "| `raw_items` | VARCHAR[] | yes | list: options as written, NULL where none can be read |",
    ],
)
def test_a_line_of_the_dictionary(line: str) -> None:
    assert line in dictionary.render().splitlines()


@pytest.mark.parametrize("number", range(3))
def test_the_examples_run(number: int, tmp_path: Path) -> None:
    row_types = {"answers": Answer, "responses": Response, "items": Item}
    files = {}
    for name, row_type in {**row_types, "contexts": Context}.items():
        files[name] = [str(tmp_path / f"{name}.parquet")]
        tables.write_rows(files[name][0], [], row_type)
    write_database(tmp_path / "study.duckdb", files)
    examples = dictionary.sql_examples()
    assert len(examples) == 3
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as database:
        assert database.sql(examples[number]).fetchall() == []


def test_types_are_those_of_the_files() -> None:
    """What DuckDB calls the columns of the Parquet schema is what the dictionary says."""
    rendered = dictionary.render()
    with duckdb.connect() as database:
        for stage in dictionary.STAGES.values():
            for row_type in dictionary.row_types_of(stage):
                database.register("t", tables.schema_of(row_type).empty_table())
                described = database.sql("SELECT * FROM t LIMIT 0")
                for name, kind in zip(described.columns, described.types, strict=True):
                    written = str(kind).replace('"', "")
                    written = written.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")
                    assert f"| `{name}` | {written} |" in rendered
