"""A study of answers that were collected elsewhere, through Snakemake: to findings, plan and export."""

import csv
import json
import random
import re
import shutil
from pathlib import Path

import duckdb
import pyreadstat
import pytest

from fieldwork.metrics.claims.registration_records import read_records
from fieldwork.provenance import file_digest
from fieldwork.pseudonyms import PUBLIC_KEY, user_key, user_pseudonym
from workflow.conftest import REPOSITORY, Checkout, from_yaml

pytestmark = pytest.mark.workflow

USERS = [f"user {n}" for n in range(6)]
STUDY = from_yaml("""
study: {models: [gpt, llama], conditions: [blank, people], tasks: [survey]}
recordings:
  old:
    format: table
    path: answers.csv
    columns: {item: id, question: text, gold: right, answer: reply, user: who, replicate: run,
      model: model}
    blank_users: [nobody]
models:
  gpt: {provider: recorded, label: GPT 4, recording: old, recorded_as: GPT 4}
  llama: {provider: recorded, label: Llama 3, recording: old, recorded_as: Llama 3}
conditions:
  blank: {context: none, label: No user, temperature: 1}
  people: {context: recorded, label: People}
tasks:
  survey: {sources: [{format: recording, dataset: old, kind: choice}], runs: 6, max_tokens: 5}
metrics: {baseline: blank, permutations: 99}
""")


def write_answers(path: Path) -> int:
    """Answers of two models to three questions, without a user and with six; a few are missing."""
    draw = random.Random(1)
    rows = []
    for model in ("GPT 4", "Llama 3"):
        for number in range(3):
            text = f"Question {number}?\n(A) yes (B) no (C) perhaps"
            for who, run in [("nobody", n) for n in range(6)] + [
                (u, n) for u in USERS for n in (0, 1)
            ]:
                reply = draw.choice("AAB") if who == "nobody" else draw.choice("ABC")
                missing = (model, who, run) == ("Llama 3", "user 5", 1)
                rows.append([number, text, "(A)", "" if missing else reply, who, run, model])
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "text", "right", "reply", "who", "run", "model"], *rows])
    return len(rows) - 3


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, tuple[str, ...], int]:
    folder = tmp_path_factory.mktemp("recorded")
    checkout = Checkout(REPOSITORY, folder)
    n = write_answers(folder / "answers.csv")
    arguments = ("--configfile", str(checkout.study("old", STUDY)))
    checkout.make("all", "export", *arguments)
    return checkout, arguments, n


def test_answers_are_rows_and_nothing_is_invented(
    finished: tuple[Checkout, tuple[str, ...], int],
) -> None:
    checkout, _, n = finished
    results = checkout.directory / "results/old"
    (counts,) = duckdb.sql(
        "SELECT count(*), count(ledger_key), count(cost_usd), count(attempts), count(source), "
        f"count(*) FILTER (outcome = 'failed') FROM '{results}/responses/*/*/*.parquet'"
    ).fetchall()
    assert counts == (n, 0, 0, 0, n, 0)
    assert not (checkout.directory / "resources/ledger").exists()
    assert not (results / "requests").exists()
    assert not (results / "cost.csv").exists()
    findings = (results / "findings.md").read_text()
    assert "Answers were recorded elsewhere; this study sent no calls" in findings
    assert "People" in findings


def test_the_plan_says_that_nothing_is_sent(
    finished: tuple[Checkout, tuple[str, ...], int],
) -> None:
    checkout, arguments, _ = finished
    checkout.make("plan", *arguments)
    page = (checkout.directory / "results/old/plan.html").read_text()
    assert "gpt is recorded: nothing is sent." in page
    assert "Nothing is sent, so nothing is spent." in page
    again = checkout.snakemake("-n", "all", *arguments)
    assert "Nothing to be done" in again.stdout + again.stderr


def test_the_export_holds_every_scored_answer(
    finished: tuple[Checkout, tuple[str, ...], int],
) -> None:
    checkout, _, n = finished
    export = checkout.directory / "results/old/export"
    lines = [
        json.loads(line)
        for path in export.glob("data/old/*/*/*_samples.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert len(lines) == n
    key = user_key(str(checkout.directory / "resources/pseudonyms/key"))
    names = {user_pseudonym(name, key) for name in USERS}
    assert {line["metadata"].get("user") for line in lines} == {None, *names}
    assert not names & {user_pseudonym(name, PUBLIC_KEY) for name in USERS}
    description = json.loads((export.parent / "croissant.json").read_text())
    assert {"responses", "answers", "items"} <= {r["@id"] for r in description["recordSet"]}


def test_the_export_holds_labelled_files(finished: tuple[Checkout, tuple[str, ...], int]) -> None:
    checkout, _, n = finished
    frame, meta = pyreadstat.read_sav(checkout.directory / "results/old/export/tables/answers.sav")
    assert len(frame) == n
    assert meta.variable_value_labels["model"] == {1: "GPT 4", 2: "Llama 3"}
    assert meta.variable_value_labels["condition"] == {1: "No user", 2: "People"}
    assert frame["puppet_id"].nunique() == len(USERS)
    assert frame["is_correct"].notna().all()


def test_recorded_answers_are_preregistered_and_the_record_binds(
    finished: tuple[Checkout, tuple[str, ...], int], tmp_path: Path
) -> None:
    checkout, _, n = finished
    folder = tmp_path / "copy"
    shutil.copytree(checkout.directory, folder)
    own, arguments = Checkout(REPOSITORY, folder), ("--configfile", str(folder / "old.yaml"))
    own.make("preregister", *arguments)
    (path,) = (folder / "resources/preregistration/old").glob("*.json")
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    assert "Every selected model is recorded, so there is no study of another size" in page
    assert "The answers of gpt, llama had been recorded elsewhere before." in page
    (record,) = read_records([path])
    assert record["hashes"]["files"]["recordings.old"] == file_digest(folder / "answers.csv")
    # a study folder's own template takes the place of the shipped one
    template = folder / "resources/templates/profile.txt"
    template.parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / "resources/templates/profile.txt", template)
    template.write_text(f"{template.read_text(encoding='utf-8')} Else.", encoding="utf-8")
    own.make("results/old/findings.md", *arguments)
    text = (folder / "results/old/findings.md").read_text(encoding="utf-8")
    assert f"after {n} answers, those of gpt, llama recorded elsewhere" in text
    assert f"(digest {record['digest']}). Files changed since: profiles.template.\n" in text
    content = path.read_text(encoding="utf-8")
    path.write_text(content.replace("profiles.template", "profiles.other", 1), encoding="utf-8")
    refused = own.fail("results/old/findings.md", *arguments)
    assert "this preregistration was edited after it was written" in refused.stdout + refused.stderr


def test_a_file_that_matches_nothing_is_one_sentence(tmp_path: Path) -> None:
    checkout = Checkout(REPOSITORY, tmp_path)
    write_answers(tmp_path / "answers.csv")
    changes = {**STUDY, "models": {**STUDY["models"]}}
    changes["models"]["gpt"] = {**STUDY["models"]["gpt"], "recorded_as": "GPT 5"}
    path = checkout.study("old", changes)
    ran = checkout.fail("results/old/responses/gpt/survey/blank.parquet", study=path)
    assert (
        "models.gpt.recorded_as: recordings.old has no answer of 'GPT 5'; its models are GPT 4, Llama 3"
        in ran.stdout + ran.stderr
    )


def test_the_table_and_the_study_of_the_page_run_as_they_are_printed(folder: Checkout) -> None:
    page = (REPOSITORY / "docs/recorded.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"```csv\n(.*?)```", page, re.DOTALL)
    study = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0]
    (folder.directory / "resources/recorded").mkdir(parents=True)
    (folder.directory / "resources/recorded/answers.csv").write_text(table, encoding="utf-8")
    (folder.directory / "old.yaml").write_text(study, encoding="utf-8")
    folder.make("results/old_answers/answers/answers.parquet", study=folder.directory / "old.yaml")
    path = folder.results("old_answers") / "answers/answers.parquet"
    rows = duckdb.sql(
        f"SELECT item_id, condition, letter FROM '{path}' ORDER BY item_id, condition"
    ).fetchall()
    assert rows == [
        ("q1", "blank", "A"),
        ("q1", "users", "A"),
        ("q2", "blank", "A"),
        ("q2", "users", "B"),
    ]
