"""docs/data.md is what the row types say, all tables are in it, and its queries run."""

import dataclasses
import inspect
from pathlib import Path

import duckdb
import pytest

from fieldwork import against_field, designs, dictionary, estimates, participants, records, tables

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "data.md"


def test_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == dictionary.render(), (
        "run: cd workflow/scripts && python -m fieldwork.dictionary ../../docs/data.md"
    )


def test_every_table_is_told_once() -> None:
    row_types = [
        value
        for module in (records, participants, estimates, against_field, designs)
        for _, value in inspect.getmembers(module, inspect.isclass)
        if value.__module__ == module.__name__
        and dataclasses.is_dataclass(value)
        and value is not records.Message
    ]
    told = [row_type for stage in dictionary.stages() for row_type in stage.row_types]
    assert len(told) == len(set(told))
    assert set(told) == set(row_types)


@pytest.mark.parametrize(
    "line",
    [
        "### results/corpus/{corpus}/conversations.parquet",
        "### results/responses/{model}/{task}/{condition}.parquet",
        "### results/answers/items.csv",
        "### results/metrics/novelty.parquet and .csv",
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


@pytest.mark.parametrize("number", range(2))
def test_the_examples_run(number: int) -> None:
    query = dictionary.sql_examples()[number]
    with duckdb.connect() as database:
        database.register("answers", tables.schema_of(records.Answer).empty_table())
        database.register("responses", tables.schema_of(records.Response).empty_table())
        assert database.sql(query).fetchall() == []


def test_types_are_those_of_the_files() -> None:
    """What DuckDB calls the columns of the Parquet schema is what the dictionary says."""
    rendered = dictionary.render()
    with duckdb.connect() as database:
        for stage in dictionary.stages():
            for row_type in stage.row_types:
                database.register("t", tables.schema_of(row_type).empty_table())
                described = database.sql("SELECT * FROM t LIMIT 0")
                for name, kind in zip(described.columns, described.types, strict=True):
                    written = str(kind).replace('"', "")
                    written = written.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")
                    assert f"| `{name}` | {written} |" in rendered
