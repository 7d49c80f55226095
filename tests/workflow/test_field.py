"""A folder of survey files becomes one more condition in every figure, and names nobody."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from field.synthetic import MODEL_IN_FILE, SyntheticField, make_field
from fieldwork import tables
from workflow.conftest import TINY, Checkout, copy_project

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def synthetic() -> SyntheticField:
    return make_field()


def field_setting(synthetic: SyntheticField) -> dict[str, Any]:
    return {
        "path": "resources/field",
        "layout": "wide",
        "columns": {
            "participant": "panel_id",
            "platform": "device",
            "model": "assistant",
            "groups": {"group": "group", "age": "age_band"},
        },
        "prompts": {f"{task}/{item_id}": f"Q_{item_id}" for task, item_id in synthetic.items},
        "models": {MODEL_IN_FILE: "embedded"},
    }


def write_survey(folder: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """The first half as Qualtrics exports it, the second as a workbook."""
    folder.mkdir(parents=True)
    header = list(rows[0])
    half = len(rows) // 2
    with (folder / "wave_1.csv").open("w", newline="", encoding="utf-8-sig") as handle:
        ids = [f'{{"ImportId":"{name}"}}' for name in header]
        cells = [list(row.values()) for row in rows[:half]]
        csv.writer(handle).writerows([header, ["Question"] * len(header), ids, *cells])
    pd.DataFrame(rows[half:]).to_excel(folder / "wave_2.xlsx", index=False, engine="openpyxl")


@pytest.fixture(scope="module")
def surveyed(synthetic: SyntheticField, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = copy_project(tmp_path_factory.mktemp("field") / "project")
    write_survey(made.root / "resources/field", synthetic.wide)
    study = made.study("field", TINY | {"field": field_setting(synthetic)})
    finished = made.snakemake("all", "--configfile", str(study))
    assert finished.returncode == 0, finished.stderr[-3000:]
    (made.root / "logs/terminal.log").write_text(finished.stdout + finished.stderr)
    return made


def rows_of(checkout: Checkout, sql: str) -> list[tuple[Any, ...]]:
    here = sql.replace("RESULTS", f"{checkout.root}/results")
    found: list[tuple[Any, ...]] = duckdb.sql(here).fetchall()
    return found


def read_table(checkout: Checkout, path: str) -> list[dict[str, str]]:
    with (checkout.root / path).open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_answers_keep_their_file_and_row(surveyed: Checkout) -> None:
    found = rows_of(
        surveyed,
        """SELECT file, min(row), max(row), count(*), count(DISTINCT platform)
        FROM 'RESULTS/field/answers.parquet' GROUP BY file ORDER BY file""",
    )
    assert found == [("wave_1.csv", 4, 23, 260, 2), ("wave_2.xlsx", 2, 21, 260, 2)]


def test_what_was_planted_is_found_counted_and_left_out(
    surveyed: Checkout, synthetic: SyntheticField
) -> None:
    flagged: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    for row in read_table(surveyed, "results/field/quality.csv"):
        flagged[row["check"]] += int(row["n_flagged"])
        excluded[row["check"]] += int(row["n_excluded"])
    assert {check: n for check, n in flagged.items() if n and check != "any"} == synthetic.flagged
    ((n_kept, n_participants),) = rows_of(
        surveyed, "SELECT count(*), count(DISTINCT puppet_id) FROM 'RESULTS/answers/field.parquet'"
    )
    assert (n_kept, n_participants) == (520 - excluded["any"], 40)
    attrition = read_table(surveyed, "results/field/attrition.csv")
    everyone = [row for row in attrition if not row["variable"]]
    assert {row["n_participants"] for row in everyone} == {"40"}
    assert sum(int(row["n_kept"]) for row in everyone) == n_kept


def test_the_field_is_measured_and_drawn_as_one_more_condition(surveyed: Checkout) -> None:
    ((n_equal, n_answers, n_unread),) = rows_of(
        surveyed,
        """SELECT n_equal, n_responses, n_unread FROM 'RESULTS/metrics/heterogeneity.parquet'
        WHERE condition = 'field' AND item_id = 'companies' AND metric = 'entropy_bits'""",
    )
    assert n_equal == 3
    assert 30 <= n_answers <= n_answers + n_unread <= 40
    shares = rows_of(
        surveyed,
        """SELECT answer, is_correct, share FROM 'RESULTS/metrics/distributions.parquet'
        WHERE condition = 'field' AND item_id = 'sample_medicine-000'""",
    )
    # the synthetic field answers right 55 to 85 times in a hundred
    assert max(shares, key=lambda row: row[2])[1]
    for figure in ("fig1", "fig2", "fig4"):
        # glyphs are drawn, with each text in a comment before them
        assert "Field" in (surveyed.root / f"results/figures/{figure}.svg").read_text()


def test_no_participant_and_nothing_planted_is_anywhere(
    surveyed: Checkout, synthetic: SyntheticField
) -> None:
    ((n_masked,),) = rows_of(surveyed, "SELECT sum(n_masked) FROM 'RESULTS/field/answers.parquet'")
    assert n_masked == synthetic.n_masked
    key = (surveyed.root / "resources/field/key").read_text().strip()
    places = [p for folder in ("results", "logs") for p in (surveyed.root / folder).rglob("*")]
    contents = {p: p.read_bytes() for p in places if p.is_file()}
    compressed = [p for p in contents if p.suffix == ".parquet"]
    assert len(compressed) > 20
    for table in compressed:
        contents[table] = str(tables.read_arrow(table).to_pylist()).encode()
    for secret in (*synthetic.planted, key):
        assert not [p for p, content in contents.items() if secret.encode() in content], secret


def test_the_database_has_the_field(surveyed: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(surveyed.root)
    with duckdb.connect("results/study.duckdb", read_only=True) as database:
        ((n_answers,),) = database.sql("SELECT count(*) FROM field_answers").fetchall()
        ((n_groups,),) = database.sql("SELECT count(*) FROM field_participants").fetchall()
    assert (n_answers, n_groups) == (520, 80)


def test_a_map_that_does_not_fit_is_refused_in_a_sentence_that_names_nobody(
    checkout: Checkout, synthetic: SyntheticField
) -> None:
    write_survey(checkout.root / "resources/field", synthetic.wide)
    setting = field_setting(synthetic)
    setting["columns"] |= {"participant": "panelid"}
    blank = {"study": {**TINY["study"], "conditions": ["offline"]}}
    study = checkout.study("field", TINY | blank | {"field": setting})
    failed = checkout.snakemake("results/field/answers.parquet", "--configfile", str(study))
    assert failed.returncode != 0
    (sentence,) = {line for line in failed.stderr.splitlines() if line.startswith("ERROR: ")}
    assert "resources/field/wave_1.csv: row 1 has no column 'panelid'" in sentence
    assert "(field.columns.participant) (nearest: 'panel_id')" in sentence
    assert not (checkout.root / "results/field").exists()
    assert not any(secret in failed.stderr + failed.stdout for secret in synthetic.planted)
