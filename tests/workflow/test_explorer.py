"""The study's page as Snakemake makes it: complete, made again when it must be, of half a study too."""

import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from workflow.conftest import Checkout, digests, rows_of

pytestmark = pytest.mark.workflow

BITS = {"counted": 1, "read": 2, "first": 4, "runs": 8}
Columns = dict[str, Any]


def page_of(checkout: Checkout, name: str = "explorer") -> Path:
    return checkout.results() / name


def block_of(page: Path) -> dict[str, Any]:
    text = (page / "index.html").read_text(encoding="utf-8")
    match = re.search(r'id="study">(.*?)</script>', text, re.DOTALL)
    assert match
    block: dict[str, Any] = json.loads(match[1])
    return block


def columns_of(page: Path) -> Columns:
    text = (page / "data/answers.js").read_text(encoding="ascii")
    columns: Columns = json.loads(text.removeprefix('fieldwork.receive("answers",')[:-2])
    return columns


def leads_to(address: str, block: dict[str, Any], columns: Columns) -> list[int]:
    """The rows that the page shows at an address of its view of answers."""
    view, _, query = address.partition("?")
    assert view == "#/answers"
    filters = {name: values[0] for name, values in parse_qs(query).items()}
    base = filters.pop("base")

    def values(row: int) -> dict[str, str | None]:
        item, puppet = block["items"][columns["item"][row]], columns["puppet"][row]
        return {
            "model": block["models"][columns["model"][row]]["name"],
            "task": item["task"],
            "item": item["item"],
            "kind": item["kind"],
            "condition": block["conditions"][columns["condition"][row]]["name"],
            "puppet": None if puppet < 0 else columns["puppets"][puppet],
            "replicate": str(columns["replicate"][row]),
        }

    def fits(row: int) -> bool:
        own, bits = values(row), columns["base"][row]
        if base == "counted" and own["kind"] == "list" and not bits & BITS["read"]:
            return False
        option = filters.get("option")
        letter = columns["letter"][row]
        names = (
            {"unknown" if letter < 0 else "ABCDEFGHIJ"[letter]}
            if own["kind"] == "choice"
            else {columns["names"][n] for n in columns["options"][row] or ()}
        )
        return (
            bool(bits & BITS[base])
            and (option is None or option in names)
            and all(own[name] == value for name, value in filters.items() if name != "option")
        )

    return [row for row in range(len(columns["model"])) if fits(row)]


def test_the_page_is_there_and_holds_every_answer(quickstart: Checkout) -> None:
    page = page_of(quickstart)
    block, columns = block_of(page), columns_of(page)
    ((n_answers,),) = rows_of(
        quickstart, "SELECT count(*) FROM 'RESULTS/*/answers/answers.parquet'"
    )
    assert block["counts"]["answers"] == len(columns["model"]) == n_answers
    assert block["contexts"] == "full"
    assert (block["missing"], block["withheld"]) == ([], [])
    names = {figure["name"] for figure in block["figures"]}
    assert names == {path.stem for path in (quickstart.results() / "figures").glob("*.svg")}
    n_details = 0
    for number, path in enumerate(sorted((page / "data").glob("details-*.js"))):
        assert block["details"][number] == n_details
        n_details += len(json.loads(path.read_text().partition(",")[2][:-2]))
    assert n_details == n_answers


def test_every_mark_leads_to_the_answers_it_was_computed_from(quickstart: Checkout) -> None:
    page = page_of(quickstart)
    block, columns = block_of(page), columns_of(page)
    n_checked = 0
    for figure, marks in block["marks"].items():
        assert marks, figure
        for mark in marks:
            if mark["n"] is not None:
                rows = leads_to(mark["address"], block, columns)
                assert len(rows) == mark["n"], (figure, mark)
                n_checked += 1
    assert n_checked > 100


def test_the_page_of_the_study_withholds_what_the_config_says(finished: Checkout) -> None:
    finished.make("explorer", "--config", "explorer={contexts: none}")
    page = page_of(finished)
    assert not [*(page / "data").glob("contexts-*.js")]
    assert len(block_of(page)["withheld"]) == 1


def test_the_page_is_made_again_when_its_template_changes_and_else_not(finished: Checkout) -> None:
    before = digests(page_of(finished), "**/*")
    style = finished.root / "resources/explorer/page.css"
    style.write_text(style.read_text() + "\np { margin: 0; }\n")
    assert finished.plan("all") - {"all"} == {"write_explorer"}
    finished.make("explorer")
    after = digests(page_of(finished), "**/*")
    assert {name for name in before if before[name] != after[name]} == {"index.html"}
    assert finished.plan("all") == set()


def test_a_study_that_moved_keeps_its_page(finished: Checkout, tmp_path: Path) -> None:
    finished.root.rename(tmp_path / "moved")
    moved = Checkout(tmp_path / "moved", tmp_path / "moved")
    assert moved.plan("all") == set()


def test_a_study_that_still_runs_shows_what_is_there(finished: Checkout) -> None:
    whole = columns_of(page_of(finished))
    results = finished.results()
    for gone in ("metrics", "figures", "answers", "findings.md", "explorer"):
        path = results / gone
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (results / "responses/embedded/probe/rag.parquet").unlink()
    before = digests(results, "**/*")
    # beside a run that holds the lock
    lock = finished.root / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("results/quickstart/findings.md\n")
    record = finished.root / ".snakemake/fieldwork_runs/quickstart.json"
    record_before = record.read_bytes()
    for _ in range(2):
        run = finished.make("--nolock", "explorer_so_far")
    assert lock.exists()
    assert record.read_bytes() == record_before
    page = page_of(finished, "explorer_so_far")
    block, columns = block_of(page), columns_of(page)
    assert block["missing"] == [
        "Embedded (words) has not answered probe under SP-RAG yet.",
        "The findings are not written yet, because they need all answers.",
        "The figures are not drawn yet.",
    ]
    assert "has not answered probe under SP-RAG yet" in run.stderr
    assert 0 < len(columns["model"]) < len(whole["model"])
    # read as they are read in the end
    assert set(columns["names"]) <= set(whole["names"])
    assert sum(bits & BITS["runs"] for bits in columns["base"]) > 0
    after = {n: h for n, h in digests(results, "**/*").items() if "explorer_so_far" not in n}
    assert after == before


def test_before_anything_there_is_a_sentence(checkout: Checkout) -> None:
    checkout.make("explorer_so_far")
    assert block_of(page_of(checkout, "explorer_so_far"))["missing"][0] == (
        "No model has answered anything yet."
    )
    assert columns_of(page_of(checkout, "explorer_so_far"))["model"] == []
