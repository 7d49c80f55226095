"""A folder of survey files becomes one more condition in every figure, and names nobody."""

import csv
import random
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from workflow.conftest import TINY, Checkout

pytestmark = pytest.mark.workflow

WRITTEN = ("Tesla", "tesla", "**Patagonia**", "Costco", "costco wholesale", "Ikea", "IKEA", "Lego")
PARTICIPANTS = [f"5f3c9b{n:02d}ab77" for n in range(14)]
PLANTED = ("jo.planted@example.org", "+1 (555) 010-7788", "https://example.org/chat/planted-7")
FIELD: dict[str, Any] = {
    "path": "resources/field",
    "layout": "wide",
    "columns": {
        "participant": "PROLIFIC_PID",
        "platform": "Platform",
        "position": "Order",
        "groups": {"group": "Group"},
    },
    "prompts": {"companies": "Q1", "probe/sample_medicine-000": "Q2"},
}


def answer_rows() -> list[list[str]]:
    """A row a participant: the last one pastes personal data, the one before leaves a cell empty."""
    draw = random.Random(3)
    rows = []
    for n, participant in enumerate(PARTICIPANTS):
        listed = "\n".join(
            f"{i}. {name}" for i, name in enumerate(draw.sample(WRITTEN, 5), start=1)
        )
        letter = "Answer: " + "ABCD"[n % 4]
        rows.append([participant, "ChatGPT", "Q2|Q1", ("a", "b")[n % 2], listed, letter])
    rows[-1][4] += (
        f"\n\nWrite to {PLANTED[0]} or {PLANTED[1]}, or see {PLANTED[2]}. {PARTICIPANTS[-1]}"
    )
    rows[-2][5] = ""
    return rows


def write_survey(folder: Path) -> None:
    """The first half as Qualtrics exports it, the second as a workbook."""
    folder.mkdir(parents=True)
    header = ["PROLIFIC_PID", "Platform", "Order", "Group", "Q1", "Q2"]
    rows = answer_rows()
    with (folder / "wave_1.csv").open("w", newline="", encoding="utf-8-sig") as handle:
        ids = [f'{{"ImportId":"{name}"}}' for name in header]
        csv.writer(handle).writerows([header, ["Text"] * 6, ids, *rows[:7]])
    frame = pd.DataFrame(rows[7:], columns=header)
    frame.to_excel(folder / "wave_2.xlsx", index=False, engine="openpyxl")


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    from workflow.conftest import copy_project

    made = copy_project(tmp_path_factory.mktemp("field") / "project")
    write_survey(made.root / "resources/field")
    study = made.study("field", TINY | {"field": FIELD})
    finished = made.snakemake("all", "--configfile", str(study))
    assert finished.returncode == 0, finished.stderr[-3000:]
    (made.root / "logs/terminal.log").write_text(finished.stdout + finished.stderr)
    return made


def rows_of(checkout: Checkout, sql: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = duckdb.sql(
        sql.replace("RESULTS", f"{checkout.root}/results")
    ).fetchall()
    return found


def test_answers_keep_their_file_row_and_place(surveyed: Checkout) -> None:
    found = rows_of(
        surveyed,
        """SELECT file, min(row), max(row), count(*), min(position), max(position), max(platform)
        FROM 'RESULTS/field/answers.parquet' GROUP BY file ORDER BY file""",
    )
    assert found == [
        ("wave_1.csv", 4, 10, 14, 1, 2, "ChatGPT"),
        ("wave_2.xlsx", 2, 8, 14, 1, 2, "ChatGPT"),
    ]


def test_the_field_is_measured_and_drawn_as_one_more_condition(surveyed: Checkout) -> None:
    ((n_equal, n_responses),) = rows_of(
        surveyed,
        """SELECT n_equal, n_responses FROM 'RESULTS/metrics/heterogeneity.parquet'
        WHERE condition = 'field' AND item_id = 'companies' AND metric = 'entropy_bits'""",
    )
    assert (n_equal, n_responses) == (3, 14)
    shares = rows_of(
        surveyed,
        """SELECT answer, n_answers FROM 'RESULTS/metrics/distributions.parquet'
        WHERE condition = 'field' AND item_id = 'sample_medicine-000' ORDER BY answer""",
    )
    assert shares == [("A", 3), ("B", 4), ("C", 3), ("D", 3), ("unknown", 0)]
    names = rows_of(
        surveyed,
        "SELECT DISTINCT answer FROM 'RESULTS/metrics/item_shares.parquet' WHERE condition = 'field'",
    )
    assert len(names) == 5, names
    for figure in ("fig1", "fig2", "fig4"):
        # glyphs are drawn, with each text in a comment before them
        assert "Field" in (surveyed.root / f"results/figures/{figure}.svg").read_text()


def test_what_was_left_out_is_counted(surveyed: Checkout) -> None:
    quality = list(csv.DictReader((surveyed.root / "results/field/quality.csv").open()))
    (empty,) = [r for r in quality if r["check"] == "empty" and r["item_id"] != "companies"]
    assert (empty["n_answers"], empty["n_flagged"], empty["n_excluded"]) == ("14", "1", "1")
    attrition = list(csv.DictReader((surveyed.root / "results/field/attrition.csv").open()))
    kept = {r["group"]: r["n_kept"] for r in attrition if r["item_id"] == "sample_medicine-000"}
    assert kept == {"": "13", "a": "6", "b": "7"}


def test_no_participant_and_nothing_planted_is_anywhere(surveyed: Checkout) -> None:
    ((text, n_masked),) = rows_of(
        surveyed, "SELECT text, n_masked FROM 'RESULTS/field/answers.parquet' WHERE n_masked > 0"
    )
    assert n_masked == 4, text
    secrets = [*PLANTED, *PARTICIPANTS, (surveyed.root / "resources/field/key").read_text().strip()]
    places = [p for folder in ("results", "logs") for p in (surveyed.root / folder).rglob("*")]
    contents = {p: p.read_bytes() for p in places if p.is_file()}
    tables = [p for p in contents if p.suffix == ".parquet"]
    for table in tables:  # compressed
        contents[table] = str(duckdb.read_parquet(str(table)).fetchall()).encode()
    assert len(tables) > 20
    for secret in secrets:
        assert not [p for p, content in contents.items() if secret.encode() in content], secret


def test_the_database_has_the_field(surveyed: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(surveyed.root)
    with duckdb.connect("results/study.duckdb", read_only=True) as database:
        ((n_answers,),) = database.sql("SELECT count(*) FROM field_answers").fetchall()
        ((n_people,),) = database.sql("SELECT count(*) FROM field_participants").fetchall()
    assert (n_answers, n_people) == (28, 14)


def test_a_map_that_does_not_fit_is_refused_in_a_sentence_that_names_nobody(
    checkout: Checkout,
) -> None:
    write_survey(checkout.root / "resources/field")
    columns = FIELD["columns"] | {"participant": "PROLIFIC_ID"}
    blank = {"study": {**TINY["study"], "conditions": ["offline"]}}
    study = checkout.study("field", TINY | blank | {"field": FIELD | {"columns": columns}})
    failed = checkout.snakemake("results/field/answers.parquet", "--configfile", str(study))
    assert failed.returncode != 0
    (sentence,) = {line for line in failed.stderr.splitlines() if line.startswith("ERROR: ")}
    assert "resources/field/wave_1.csv: row 1 has no column 'PROLIFIC_ID'" in sentence
    assert "(field.columns.participant) (nearest: 'PROLIFIC_PID')" in sentence
    assert not (checkout.root / "results/field").exists()
    assert not any(name in failed.stderr + failed.stdout for name in PARTICIPANTS)
