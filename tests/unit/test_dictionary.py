"""What a column means is said where the reader is: in SQL, Parquet, the terminal and documents."""

import pkgutil
import re
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from fieldwork import dictionary, records, reference, tables
from fieldwork.database import write_database
from fieldwork.errors import StudyError
from fieldwork.records.columns import columns_of, row_types_of
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
ROW_TYPES = dictionary.row_types()


def test_every_table_has_a_name_of_its_own_under_a_heading() -> None:
    modules = {module.name for module in pkgutil.iter_modules(records.__path__)}
    stages = {stage.__name__.rpartition(".")[2] for stage in dictionary.STAGES.values()}
    assert stages == modules - {"columns", "shared"}
    declared = [
        row_type for stage in dictionary.STAGES.values() for row_type in row_types_of(stage)
    ]
    assert len(ROW_TYPES) == len(declared)
    assert not ROW_TYPES.keys() & dictionary.views().keys()


def test_types_are_those_of_the_files() -> None:
    """What DuckDB calls the columns of the Parquet schema is what descriptions say."""
    for name, row_type in ROW_TYPES.items():
        columns = columns_of(row_type)
        table = tables.schema_of(row_type).empty_table()
        kinds = [str(kind).replace('"', "") for kind in duckdb.from_arrow(table).types]
        written = [kind.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ") for kind in kinds]
        assert written == [column.kind for column in columns], name
        assert all(column.description and column.description[-1] != "." for column in columns)


def test_parquet_keeps_what_columns_mean(tmp_path: Path) -> None:
    tables.write_rows(tmp_path / "r.parquet", [], Response)
    schema = pq.read_schema(tmp_path / "r.parquet")
    assert schema.metadata[b"description"] == b"An answer as it arrived."
    assert schema.field("cost_usd").metadata[b"unit"] == b"US dollars"
    assert schema.field("outcome").metadata[b"values"].startswith(b"ok, truncated, refused")
    option = schema.field("option_probabilities").type.value_type.field("option")
    assert option.metadata == {b"description": b"choice: the letter; list: the candidate"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every table of a study, without rows, and all views."""
    folder = tmp_path_factory.mktemp("study")
    files = {name: [str(folder / f"{name}.parquet")] for name in ROW_TYPES}
    for name, (path,) in files.items():
        tables.write_rows(path, [], ROW_TYPES[name])
    write_database(folder / "study.duckdb", files)
    return folder / "study.duckdb"


def test_every_table_view_and_column_has_its_comment(database: Path) -> None:
    with duckdb.connect(database, read_only=True) as connection:
        about = dict(
            connection.sql(
                "SELECT table_name, comment FROM duckdb_tables() UNION ALL "
                "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        )
        comments = connection.sql(
            "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
    assert about == {name: dictionary.about(name) for name in (*ROW_TYPES, *dictionary.views())}
    assert [place for *place, comment in comments if not comment] == []
    of_items = {name: comment for table, name, comment in comments if table == "items"}
    assert of_items["gold"] == dictionary.column_texts("items")["gold"]
    assert of_items["task"] == "the task, from the path of the file"
    of_means = {name: comment for table, name, comment in comments if table == "prompt_means"}
    assert of_means["difference"].startswith("`mean` less the same of `baseline`")


EXAMPLES = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run(example: str, database: Path) -> None:
    with duckdb.connect(database, read_only=True) as connection:
        rows = connection.sql(example).fetchall()
    assert len(EXAMPLES) == 3
    assert len(rows) == (len(columns_of(Answer)) + 1 if "comment" in example else 0)


def described(*names: str, parts: tuple[str, ...] = ("every study",)) -> list[str]:
    return reference.describe(names, "mine", "results/mine", parts).splitlines()


def test_a_table_is_described_within_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = described("responses", "accuracy")
    assert lines[0] == "responses. A row: an answer as it arrived."
    assert lines[1:3] == ["In results/mine:", "responses/{model}/{task}/{condition}.parquet."]
    assert "  cost_usd              price of the call, NULL without a" in lines
    assert "In results/mine: study.duckdb and metrics/accuracy.csv." in lines
    assert max(map(len, lines)) == 60


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("answer", "did you mean answers"),
        ("zzz", "there is no table of this name; `snakemake describe` lists all tables"),
    ],
)
def test_an_unknown_table_is_a_sentence_with_near_names(name: str, words: str) -> None:
    with pytest.raises(StudyError, match=f"^{name}: ") as caught:
        described(name)
    assert words in str(caught.value)


def test_documents_list_every_table_and_the_page_every_column() -> None:
    assert reference.with_list(DOCUMENT) == DOCUMENT, (
        "run: cd workflow/scripts && python -m fieldwork.reference ../../docs/data.md"
    )
    page = reference.render()
    headings = re.findall("^#+ .*", page, re.MULTILINE)
    assert len(headings) == len({*headings})
    for name in (*ROW_TYPES, *dictionary.views()):
        assert f"`{name}`" in DOCUMENT or f"[{name}](methods.md#{name})" in DOCUMENT
        assert f"\n### {name}\n" in page
    for row_type in (Answer, Item):
        for column in columns_of(row_type):
            assert f"| `{column.name}` | {column.kind}" in page


def test_the_tables_of_a_study_are_those_of_its_parts() -> None:
    names = {line.split()[0] for line in described() if line.startswith("  ")}
    assert {"answers", "claims", "transcripts"} <= names
    assert "groups" not in names
    assert any(line.startswith("  groups ") for line in described(parts=("field",)))
    assert "which this study does not have." in " ".join(described("groups"))
