"""The shipped study, from nothing to figures, and again."""

import csv
import itertools
import json
import re
import zipfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork import tables
from fieldwork.records.metrics import Rank
from fieldwork.records.puppets import Conversation
from workflow.conftest import TINY, Checkout, digests
from workflow.page_claims import require_agreement

pytestmark = pytest.mark.workflow

TABLES = (
    "results/**/*.parquet",
    "results/**/*.csv",
    "results/*/findings.md",
    "results/*/figures/*",
    "results/*/explorer/*.html",
    "results/*/explorer/data/*.js",
)


def test_all_leaves_every_result(quickstart: Checkout) -> None:
    results = quickstart.results()
    for figure in ("fig1", "fig2", "fig3", "fig4", "fig5", "who_asks"):
        for suffix in ("pdf", "svg", "png"):
            assert (results / "figures" / f"{figure}.{suffix}").stat().st_size > 5_000
    findings = (results / "findings.md").read_text()
    assert "not a chat model" in findings
    assert "nan" not in findings
    tables = set(re.findall(r"\]\((metrics/[\w/]+\.csv)\)", findings))
    assert {"metrics/variance.csv", "metrics/shifts.csv", "metrics/estimates/lists.csv"} <= tables
    assert all((results / table).exists() for table in tables)
    assert all((results / table).is_file() for table in tables)
    require_agreement(quickstart, "quickstart", ("history", "rag", "profile"), ("offline_again",))


def test_the_table_that_duckdb_writes_has_its_declared_columns(quickstart: Checkout) -> None:
    """It marks no column as one that every row has: the rows themselves tell."""
    path = quickstart.results() / "corpus/sample/conversations.parquet"
    table, declared = pq.read_table(path), tables.schema_of(Conversation)
    assert table.num_rows > 0
    assert all(field.nullable or not table[field.name].null_count for field in declared)
    turns = table["messages"].combine_chunks().flatten()
    assert not any(turns.field(name).null_count for name in ("role", "content"))
    declared = pa.schema(_optional(field) for field in declared)
    assert table.schema.equals(declared, check_metadata=False)


def test_synthetic_questions_have_no_place_on_a_leaderboard(finished: Checkout) -> None:
    results = finished.results()
    ranks = pq.read_table(results / "metrics/ranks.parquet")
    assert ranks.schema.equals(tables.schema_of(Rank), check_metadata=False)
    assert ranks.num_rows == 0
    findings = (results / "findings.md").read_text()
    assert "the leaderboard only gives scale" in findings
    assert "## Places" not in findings
    # texts of a figure stand in comments of its SVG
    assert "places (median)" not in (results / "figures/fig3.svg").read_text()
    # it is the note that says so: without it the questions count as the leaderboard's own
    own = finished.study("quickstart", {"tasks": {"mmlu_lite": {"leaderboard_note": None}}})
    finished.make("all", study=own)
    places = pq.read_table(results / "metrics/ranks.parquet").to_pylist()
    assert {(row["task"], row["leaderboard"], row["n_models"]) for row in places} == {
        ("mmlu_lite", "HELM Lite v1.13.0, MMLU", 91)
    }
    assert "|91    |HELM Lite v1.13.0, MMLU|" in (results / "findings.md").read_text()
    assert "places (median)" in (results / "figures/fig3.svg").read_text()


def _optional(field: pa.Field) -> pa.Field:
    kind = field.type
    if pa.types.is_list(kind):
        kind = pa.list_(_optional(kind.value_field))
    if pa.types.is_struct(kind):
        kind = pa.struct([_optional(kind.field(n)) for n in range(kind.num_fields)])
    return pa.field(field.name, kind)


def test_every_arm_answers_every_item_equally_often(quickstart: Checkout) -> None:
    counts = duckdb.sql(
        f"""SELECT task, condition, item_id, count(*) AS n, count(reason) AS unread
        FROM '{quickstart.results()}/answers/answers.parquet' GROUP BY ALL"""
    ).fetchall()
    units = {"recommendations": 40, "probe": 40, "mmlu_lite": 10}
    # a puppet is asked twice
    times = {"history": 2, "rag": 2, "profile": 2}
    assert len(counts) == 6 * (9 + 4 + 75)
    for task, condition, _, n, unread in counts:
        assert (n, unread) == (units[task] * times.get(condition, 1), 0)


@pytest.mark.parametrize(("condition", "first"), [("offline", 0), ("offline_again", 10)])
def test_the_second_offline_arm_is_drawn_anew(
    quickstart: Checkout, condition: str, first: int
) -> None:
    ((drawn,),) = duckdb.sql(
        f"""SELECT list(DISTINCT replicate ORDER BY replicate)
        FROM '{quickstart.results()}/requests/mmlu_lite/{condition}.parquet'"""
    ).fetchall()
    assert drawn == [*range(first, first + 10)]


def test_a_puppet_never_meets_the_same_conversation_twice(quickstart: Checkout) -> None:
    repeats = duckdb.sql(
        f"""SELECT count(*) FROM '{quickstart.results()}/contexts/*/*.parquet'
        WHERE len(conversation_ids) <> len(list_distinct(conversation_ids))"""
    ).fetchall()
    assert repeats == [(0,)]


def test_history_puppets_are_distinct_users_with_their_own_conversations(
    quickstart: Checkout,
) -> None:
    results = quickstart.results()
    rows = duckdb.sql(
        f"""SELECT count(*), count(DISTINCT puppet_id), bool_and(c.user_id = x.puppet_id)
        FROM '{results}/contexts/recommendations/history.parquet' x
        JOIN '{results}/corpus/sample/conversations.parquet' c
        ON c.conversation_id = x.conversation_ids[1]"""
    ).fetchall()
    assert rows == [(40, 40, True)]


def test_the_funnel_counts_down(quickstart: Checkout) -> None:
    with (quickstart.results() / "corpus/sample/funnel.csv").open() as handle:
        steps = list(csv.DictReader(handle))
    for before, after in itertools.pairwise(steps):
        assert int(after["rows_in"]) == int(before["rows_out"])
    kept = pq.read_table(quickstart.results() / "corpus/sample/conversations.parquet")
    assert int(steps[-1]["rows_out"]) == kept.num_rows
    dropping = {s["filter"] for s in steps if s["rows_in"] != s["rows_out"]}
    assert {"min_user_turns", "languages", "exclude_toxic", "exclude_redacted"} <= dropping


def test_the_database_answers_sql_from_the_study_folder(
    quickstart: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quickstart.root)
    with duckdb.connect(quickstart.results() / "study.duckdb", read_only=True) as database:
        views = {name for (name,) in database.sql("SHOW TABLES").fetchall()}
        assert {"conversations", "contexts", "responses", "answers", "heterogeneity"} <= views
        ((joined,),) = database.sql(
            "SELECT count(*) FROM responses r JOIN contexts c USING (context_id, puppet_id)"
            " WHERE c.item_id IS NULL OR c.item_id = r.item_id"
        ).fetchall()
    assert joined >= 3 * (40 * 13 + 10 * 75)


def test_a_second_run_does_nothing_and_says_so(quickstart: Checkout) -> None:
    again = quickstart.make("all")
    assert "Nothing to be done" in again.stderr


def test_elsewhere_from_nothing_gives_the_same_bytes(checkout: Checkout, tmp_path: Path) -> None:
    """With other cores, with vectors that were computed anew, and every job a start of Python."""
    elsewhere = Checkout(checkout.root, tmp_path / "elsewhere")
    small = checkout.study("small", TINY)
    for place, cores in ((checkout, 8), (elsewhere, 2)):
        place.make("all", study=small, cores=cores, as_users_do=place is elsewhere)
    first = digests(checkout.root, *TABLES)
    second = digests(elsewhere.directory, *TABLES)
    assert len(first) > 60
    assert second == first
    assert not (checkout.root / "elsewhere").exists()


def test_the_report_holds_figures_captions_and_provenance(
    quickstart: Checkout, tmp_path: Path
) -> None:
    path = tmp_path / "report.zip"
    quickstart.make("--report", str(path))
    with zipfile.ZipFile(path) as archive:
        names = {Path(name).name for name in archive.namelist()}
        page = archive.read("report/report.html").decode()
    assert {
        *(f"fig{k}.svg" for k in range(1, 6)),
        "config.yaml",
        "versions.csv",
        "findings.md",
    } <= names
    assert {"heterogeneity.csv", "accuracy.csv", "items.csv", "novelty.csv"} <= names
    script = page.split('<script id="results">', 1)[1]
    results, _ = json.JSONDecoder().raw_decode(script.split("var results = ", 1)[1])
    assert len(results) >= 3 + 6 + 1 + 2
    for path_in_report, entry in results.items():
        assert entry["caption"].strip(), path_in_report
    assert "not a chat model" in results["results/quickstart/figures/fig1.svg"]["caption"]
