"""An archive: what lies where, that it is packed alike twice, and what it says of itself."""

import csv
import stat
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork import tables
from fieldwork.config.archive_tables import ANSWER_COLUMNS, GROUP_COLUMNS, TEXT_COLUMNS
from fieldwork.exports.archive import contents, packing
from fieldwork.exports.archive.code import CodeVersion
from fieldwork.exports.archive.contents import ArchivePlan, files_below, gather
from fieldwork.exports.archive.packing import checksum_lines, write_checksums, write_zip
from fieldwork.exports.archive.pages import write_lists, write_readme, write_record
from fieldwork.records.generation import OptionProbability
from fieldwork.records.judging import UnitText
from fieldwork.records.memory import Attribute, Evidence, MemoryText, Statement, Verification
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import MergedItem
from fieldwork.records.puppets import Context, Message
from fieldwork.records.tasks import Item
from unit.table_rows import answer_of, row_of

SECRET_TEXT = "what a user wrote to a model"
SOURCE = {
    "setting": "corpora.talks", "uses": ["conversations"], "origin": "my/talks.jsonl",
    "license": None, "is_open": False, "reason": "its licence is not known",
}  # fmt: skip
PLAN = ArchivePlan(
    study="trivia",
    license="CC-BY-4.0",
    config={"study": {"name": "trivia"}, "archived": {"left_out": ["my/talks.jsonl"]}},
    project_config=None,
    sources=[SOURCE],
    first_tables={
        "contexts/quiz/history.parquet": ["messages"],
        "contexts/quiz/profile.parquet": [],
        "tasks/quiz.parquet": [],
    },
    tables={"answers/items.csv": []},
    of_models_alone=[],
    remade=["answers/items.csv"],
    pages=["findings.md", "figures/fig1.svg"],
    explorer=True,
    prompts=["tasks/quiz.parquet"],
    inputs={"my/questions.csv": "my/questions.csv", "inputs/a.csv": "elsewhere/a.csv"},
    private_files=[],
    ledgers={},
    key_files=[],
    is_whole=True,
    left_out=[("texts of corpora.talks", "its licence is not known", "get my/talks.jsonl")],
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project beside the folder of a finished study, where the test runs."""
    home, study = tmp_path / "project", tmp_path / "study"
    files = {
        home / "Snakefile": "rule all",
        home / "workflow/run": "#!/bin/sh",
        home / "workflow/__pycache__/run.pyc": "",
        home / "resources/pages/page.html": "shipped",
        study / "resources/pages/page.html": "of the study's own",
        study / "my/questions.csv": "question\nRound?\n",
        study / "elsewhere/a.csv": "a",
        study / "results/trivia/findings.md": "# Findings",
        study / "results/trivia/figures/fig1.svg": "<svg/>",
        study / "results/trivia/explorer/index.html": "<html>",
        study / "results/trivia/explorer/data/1.js": "load()",
        study / "results/trivia/explorer/.snakemake_timestamp": "",
        study / "results/trivia/study.duckdb": "DUCK",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / "workflow/run").chmod(0o700)
    monkeypatch.chdir(study)
    context = Context("c1", "p1", None, ["t1"], [Message("user", SECRET_TEXT)], 7, 0)
    results = study / "results/trivia"
    for condition in ("history", "profile"):
        tables.write_table(results / f"contexts/quiz/{condition}.parquet", [context], Context)
    item = Item("q1", "choice", "Round?", "Round?\nA) yes", ["yes", "no"], "A", None, "test")
    tables.write_table(results / "tasks/quiz.parquet", [item], Item)
    tables.write_table(results / "answers/items.csv", [], MergedItem)
    return home


def packed(home: Path, place: Path, plan: ArchivePlan = PLAN) -> Path:
    folder = place / "trivia"
    gather(folder, plan, home, ["Snakefile", "workflow/run", "resources/pages/page.html"])
    write_lists(folder, plan)
    code = CodeVersion("0.1.0", None, is_changed=False)
    write_record(folder, plan, code)
    write_readme(folder, plan, code)
    write_checksums(folder)
    write_zip(place / "trivia.zip", folder)
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_everything_lies_in_its_place_and_nothing_else(home: Path, tmp_path: Path) -> None:
    folder = packed(home, tmp_path / "out")
    assert files_below(folder) == sorted(
        [
            *("README.md", "archive.json", "checksums.sha256", "croissant.json"),
            *("left_out.csv", "licences.csv", "prompts.csv", "study.yaml"),
            *("code/Snakefile", "code/resources/pages/page.html", "code/workflow/run"),
            *("explorer/data/1.js", "explorer/index.html", "figures/fig1.svg", "findings.md"),
            *("inputs/a.csv", "my/questions.csv", "resources/pages/page.html"),
            "results/trivia/contexts/quiz/history.parquet",
            "results/trivia/contexts/quiz/profile.parquet",
            "results/trivia/tasks/quiz.parquet",
            "tables/answers/items.csv",
        ]
    )
    assert (folder / "code/resources/pages/page.html").read_text() == "shipped"
    assert (folder / "resources/pages/page.html").read_text() == "of the study's own"
    settings = yaml.safe_load((folder / "study.yaml").read_text(encoding="utf-8"))
    assert settings == PLAN.config


def test_texts_that_stay_behind_are_in_no_file(home: Path, tmp_path: Path) -> None:
    folder = packed(home, tmp_path / "out")
    contexts = folder / "results/trivia/contexts/quiz"
    (closed,) = tables.read_rows(contexts / "history.parquet", Context)
    (open_context,) = tables.read_rows(contexts / "profile.parquet", Context)
    # no context at all would be another call, with an answer of its own
    assert closed.messages == [Message("user", contents.FILLER)]
    assert (closed.context_id, closed.n_tokens, closed.conversation_ids) == ("c1", 7, ["t1"])
    assert open_context.messages == [Message("user", SECRET_TEXT)]
    assert b"what a user" not in (contexts / "history.parquet").read_bytes()


def test_a_package_unpacks_to_the_folder_with_its_rights_and_is_the_same_twice(
    home: Path, tmp_path: Path
) -> None:
    folder = packed(home, tmp_path / "out")
    paths = files_below(folder)
    with zipfile.ZipFile(tmp_path / "out/trivia.zip") as package:
        assert package.testzip() is None
        assert package.namelist() == [f"trivia/{path}" for path in paths]
        assert [package.read(f"trivia/{p}") for p in paths] == [
            (folder / p).read_bytes() for p in paths
        ]
        modes = {e.filename: stat.S_IMODE(e.external_attr >> 16) for e in package.infolist()}
        assert {e.date_time[0] for e in package.infolist()} == {1980}
    assert modes["trivia/code/workflow/run"] == 0o755
    assert modes["trivia/README.md"] == 0o644
    other = packed(home, tmp_path / "other").parent / "trivia.zip"
    assert other.read_bytes() == (tmp_path / "out/trivia.zip").read_bytes()


def test_checksums_are_those_of_sha256sum(home: Path, tmp_path: Path) -> None:
    folder = packed(home, tmp_path / "out")
    command = ["sha256sum", "--check", "--quiet", packing.CHECKSUMS]
    assert subprocess.run(command, cwd=folder, check=False).returncode == 0
    (folder / "findings.md").write_text("others")
    assert subprocess.run(command, cwd=folder, check=False, capture_output=True).returncode != 0
    assert list(checksum_lines({"a\nb": "0f"})) == ["\\0f  a\\nb\n"]


def readme(home: Path, place: Path, **changes: Any) -> str:
    page = packed(home, place, PLAN._replace(**changes)) / "README.md"
    return " ".join(page.read_text(encoding="utf-8").split())


def test_the_readme_says_what_is_missing_and_how_to_begin_with_the_texts(
    home: Path, tmp_path: Path
) -> None:
    """Answers of real users are made from raw ones, which nobody gets."""
    step, table = "delete `results/trivia/`", "field/attrition.csv"
    gaps = {"is_whole": False, "license": None, "of_models_alone": ["metrics/accuracy_runs.csv"]}
    page = readme(home, tmp_path / "gaps", **gaps)
    assert "So only the corrected tests" in page
    assert "no licence was chosen" in page
    assert step not in page
    assert f"{step}, and run" in readme(home, tmp_path / "simulated")
    Path("results/trivia/field").mkdir()
    Path("results/trivia", table).write_text("model")
    page = readme(home, tmp_path / "field", first_tables={**PLAN.first_tables, table: []})
    assert f"{step} but for `results/trivia/field/`" in page


def test_rows_of_real_users_stay_out_of_a_table_of_users(home: Path, tmp_path: Path) -> None:
    table = "metrics/accuracy_runs.parquet"
    runs = [
        RunAccuracy("m", "quiz", condition, 0, puppet, 0, 0.5, 0.5, 0.0, 4, 1, True)
        for condition, puppet in (("history", "user 1"), ("field", "p0123456789abcdef"))
    ]
    tables.write_table(Path("results/trivia") / table, runs, RunAccuracy)
    paths = [table, table.replace(".parquet", ".csv")]
    of = dict.fromkeys(paths, ())
    gather(tmp_path, PLAN._replace(tables=of, first_tables=of, of_models_alone=paths), home, [])
    for place in ("tables", "results/trivia"):
        left = tables.read_rows(tmp_path / place / table, RunAccuracy)
        assert [row.puppet_id for row in left] == ["user 1"]
        assert [row["puppet_id"] for row in rows(tmp_path / place / paths[1])] == ["user 1"]


def test_texts_of_a_closed_corpus_or_recording_are_in_no_file(home: Path, tmp_path: Path) -> None:
    said, turn = SECRET_TEXT, [Evidence("t1", 1)]
    texts = dict.fromkeys(("attribute", "evidence", "question", "text_a", "text_b"), said)
    unit = row_of(UnitText, unit_id="n1", unit_kind="answers", code="c1", user_id="u1",
                  unit_group="patients", facts=[said], is_drawn=True, **texts)  # fmt: skip
    answer = answer_of(
        raw_items=[said], items=[said], option_probabilities=[OptionProbability(said, 1.0)]
    )
    rows_by_table: dict[str, Any] = {
        "memory/attributes.parquet": Attribute("a1", "u1", 0, said, "fact", 0.9, 1, None, turn),
        "memory/statements.parquet": Statement("u1", "t1", 0, said, "fact", [1], 0.9, "a1", None),
        "memory/verifications.parquet": Verification(
            "u1", "a1", 0.2, "refine", "a2", said, 0.9, None
        ),
        "memory/texts/quiz/memory.parquet": MemoryText("u1", "q1", said, ["a1"], ["t1"], 0),
        "judging/texts/answers.parquet": unit,
        "answers/answers.parquet": answer,
    }
    for path, record in rows_by_table.items():
        tables.write_rows(Path("results/trivia") / path, [record], type(record))
    columns = dict.fromkeys(rows_by_table, (*TEXT_COLUMNS, *GROUP_COLUMNS))
    columns["answers/answers.parquet"] = ANSWER_COLUMNS
    gather(tmp_path, PLAN._replace(first_tables=columns), home, [])
    for path, record in rows_by_table.items():
        content = (tmp_path / "results/trivia" / path).read_bytes()
        assert said.encode() not in content
        assert b"patients" not in content
        (blank,) = tables.read_rows(tmp_path / "results/trivia" / path, type(record))
        assert getattr(blank, "user_id", "u1") == "u1"
    assert (blank.outcome, blank.raw_items, blank.items) == ("ok", None, None)


def test_settings_of_the_project_name_no_folder_of_a_machine(home: Path, tmp_path: Path) -> None:
    (home / "config.yaml").write_text("parsing: {aliases: /home/me/aliases.csv}")
    moved = {"parsing": {"aliases": "inputs/parsing.aliases/aliases.csv"}}
    for number, (settings, text) in enumerate([(None, "/home/me"), (moved, "inputs/parsing")]):
        folder = tmp_path / str(number)
        gather(folder, PLAN._replace(project_config=settings), home, ["config.yaml"])
        assert text in (folder / "code/config.yaml").read_text()


def test_a_private_file_is_no_template_of_the_study(home: Path, tmp_path: Path) -> None:
    private_file = str(Path("resources/pages/page.html").resolve())
    plan = PLAN._replace(private_files=[private_file])
    gather(tmp_path / "out", plan, home, ["resources/pages/page.html"])
    assert not (tmp_path / "out/resources").exists()
