"""A table of real users' answers is one more condition in figures 1 and 2."""

import random
from pathlib import Path

import duckdb
import pytest

from fieldwork import tables
from fieldwork.records import Answer
from workflow.conftest import TINY, Checkout

pytestmark = pytest.mark.workflow

WRITTEN = ("Tesla", "tesla", "**Patagonia**", "Costco", "costco wholesale", "Ikea", "IKEA", "Lego")


def field_answers() -> list[Answer]:
    draw = random.Random(3)
    lists = [
        Answer("embedded", "recommendations", "field", "companies", f"participant-{n}", 0, "list",
               "ok", draw.sample(WRITTEN, 5), None, None, None, None)
        for n in range(12)
    ]  # fmt: skip
    letters = [
        Answer("embedded", "probe", "field", "sample_medicine-000", f"participant-{n}", 0,
               "choice", "ok", None, None, None, letter,
               None if letter else "no letter found")
        for n, letter in enumerate(["A", "B", "C", "D", None, "D"])
    ]  # fmt: skip
    return lists + letters


def test_field_answers_are_merged_measured_and_drawn(checkout: Checkout) -> None:
    table = checkout.root / "resources/field/answers.parquet"
    tables.write_rows(table, field_answers(), Answer, order_by="task, puppet_id")
    study = checkout.study("field", TINY | {"field": "resources/field/answers.parquet"})
    finished = checkout.snakemake("all", "--configfile", str(study))
    assert finished.returncode == 0, finished.stderr[-3000:]
    metrics = f"{checkout.root}/results/metrics"
    ((n_equal, n_responses),) = duckdb.sql(
        f"""SELECT n_equal, n_responses FROM '{metrics}/heterogeneity.parquet'
        WHERE condition = 'field' AND item_id = 'companies' AND metric = 'entropy_bits'"""
    ).fetchall()
    assert (n_equal, n_responses) == (3, 12)
    shares = dict(
        duckdb.sql(
            f"""SELECT answer, n_answers FROM '{metrics}/distributions.parquet'
            WHERE condition = 'field' AND item_id = 'sample_medicine-000'"""
        ).fetchall()
    )
    assert shares == {"A": 1, "B": 1, "C": 1, "D": 2, "unknown": 1}
    names = {
        name
        for (name,) in duckdb.sql(
            f"""SELECT DISTINCT answer FROM '{metrics}/item_shares.parquet'
            WHERE condition = 'field'"""
        ).fetchall()
    }
    assert len(names) == 5, names
    for figure in ("fig1", "fig2"):
        assert "Field" in drawn_words(checkout.root / f"results/figures/{figure}.svg")


def drawn_words(svg: Path) -> str:
    """The words of a figure: its SVG draws glyphs, with each text in a comment before them."""
    return svg.read_text()


def test_a_table_of_another_shape_is_refused_in_a_sentence(checkout: Checkout) -> None:
    (checkout.root / "resources/field").mkdir(parents=True)
    duckdb.sql("SELECT 1 AS participant, 'Tesla' AS answer").write_parquet(
        str(checkout.root / "resources/field/answers.parquet")
    )
    blank = {"study": {**TINY["study"], "conditions": ["offline"]}}
    study = checkout.study("field", TINY | blank | {"field": "resources/field/answers.parquet"})
    failed = checkout.snakemake("results/answers/answers.parquet", "--configfile", str(study))
    assert failed.returncode != 0
    (sentence,) = {line for line in failed.stderr.splitlines() if line.startswith("ERROR: ")}
    assert "resources/field/answers.parquet" in sentence
    assert "docs/data.md" in sentence
