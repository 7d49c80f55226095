"""What an archive is made of, read off the config: nothing that nobody named, no path of a machine."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.shipped_config import FIELD

from fieldwork.config.archive import archive_plan, require_finished, sent_files
from fieldwork.config.archived import generation_settings, is_left_out
from fieldwork.config.plan_inputs import require_sources
from fieldwork.config.reading import read_study
from fieldwork.config.study import Study
from fieldwork.errors import StudyError
from fieldwork.exports.archive.contents import ArchivePlan
from unit.config.test_study import HOME, study

STUDIES = ["drift", "paper", "personalisation", "practice"]
"""Waves, downloads, memory with judges, and tasks put otherwise."""
FIELD_TABLES = {
    f"field/{name}"
    for name in ("answers.parquet", "participants.parquet", "quality.csv", "attrition.csv")
}


def plan(a_study: Study) -> ArchivePlan:
    return ArchivePlan(**archive_plan(a_study))


def closed_plan(**changes: Any) -> ArchivePlan:
    return plan(study(archive={"texts": {"sample_short": False}}, **changes))


def reread(config: Any, folder: Path) -> Study:
    """A study read from the study.yaml of an archive, in a folder of its own."""
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    lowest = [HOME / "config.yaml"]
    return read_study(HOME, lowest, [path], command_line={}, overlay=config)


def test_the_quickstart_is_archived_whole() -> None:
    whole = plan(study())
    assert whole.is_whole
    assert whole.explorer
    assert not any(whole.first_tables.values())
    assert {"answers/answers.parquet", "metrics/claims.csv"} <= {*whole.tables}
    assert [*whole.remade] == [*whole.tables]
    assert {"findings.md", "figures/fig1.svg", "provenance/versions.csv"} <= {*whole.pages}
    assert whole.config["archived"] == {"left_out": []}
    assert "resources/sample/conversations.parquet" in whole.inputs
    assert whole.ledgers == {
        "smollm2": [path for path in whole.first_tables if path.startswith("responses/smollm2/")]
    }
    assert not any("wildchat" in what for what, _, _ in whole.left_out)


def test_texts_that_may_not_be_handed_on_stay_out_and_that_is_said() -> None:
    closed = closed_plan()
    assert closed.is_whole
    assert {path for path, is_blank in closed.first_tables.items() if is_blank} == {
        "corpus/sample_short/conversations.parquet",
        *(
            f"contexts/{task}/{condition}.parquet"
            for task in ("recommendations_lite", "choices_lite")
            for condition in ("history", "rag")
        ),
    }
    assert not closed.explorer
    assert "resources/sample/conversations.parquet" not in closed.inputs
    assert closed.config["archived"]["left_out"] == ["resources/sample/conversations.parquet"]
    reasons = {what: (why, instead) for what, why, instead in closed.left_out}
    assert reasons["texts of corpora.sample_short"] == (
        "archive.texts.sample_short says so",
        "get resources/sample/conversations.parquet: put it at resources/sample/conversations.parquet",
    )
    assert "it shows texts of corpora.sample_short" in reasons["explorer"][0]


def test_questions_that_may_not_be_handed_on_leave_tables_that_cannot_be_made_again() -> None:
    closed = plan(study(datasets={"sample_mmlu": {"license": "all rights reserved"}}))
    assert not closed.is_whole
    assert not closed.explorer
    assert [*closed.prompts] == ["tasks/recommendations_lite.parquet"]
    assert "tasks/choices_lite.parquet" not in closed.first_tables
    assert [*closed.remade] == ["metrics/claims.parquet", "metrics/claims.csv"]
    assert "metrics/estimates/lists.parquet" in closed.first_tables


@pytest.mark.parametrize("is_shared", [False, True])
def test_answers_of_real_users_are_in_it_where_the_study_says_so(is_shared: bool) -> None:
    fields = plan(study(field=FIELD, archive={"field": is_shared}))
    assert fields.is_whole is is_shared
    assert FIELD_TABLES & {*fields.first_tables} == (FIELD_TABLES if is_shared else set())
    assert ("answers/answers.parquet" in fields.tables) is is_shared
    left_out = {what for what, _, _ in fields.left_out}
    assert {"raw answers of real users", "the key of pseudonyms"} <= left_out
    assert ("masked answers of real users" in left_out) is not is_shared
    assert fields.config["archived"]["left_out"] == ["inputs/field.path"]
    assert FIELD["path"] not in str(fields.config["field"])
    assert [*fields.key_files] == ["resources/pseudonyms/key", "resources/field/key"]
    assert not any(place.startswith("resources/field/") for place in fields.inputs)


def test_files_elsewhere_get_a_place_in_the_archive(tmp_path: Path) -> None:
    questions, talks = tmp_path / "questions", tmp_path / "talks.jsonl"
    shutil.copytree(HOME / "resources/sample/mmlu", questions)
    shutil.copy(HOME / "resources/mine/conversations.jsonl", talks)
    aliases = shutil.copy(HOME / "resources/tasks/aliases.csv", tmp_path)
    corpus = {"path": str(talks), "format": None}
    away = plan(
        study(
            datasets={"sample_mmlu": {"path": str(questions)}},
            corpora={"sample_short": corpus},
            parsing={"aliases": str(aliases)},
            archive={"texts": {"sample_short": False}},
        )
    )
    text = json.dumps(away.config)
    assert str(tmp_path) not in text
    assert (
        away.config["datasets"]["sample_mmlu"]["path"]
        == "inputs/datasets.sample_mmlu.path/questions"
    )
    assert away.config["parsing"]["aliases"] == "inputs/parsing.aliases/aliases.csv"
    assert away.inputs["inputs/parsing.aliases/aliases.csv"] == str(aliases)
    assert "inputs/datasets.sample_mmlu.path/questions/test/sample_grammar_test.csv" in away.inputs
    assert away.config["archived"]["left_out"] == ["inputs/corpora.sample_short.path/talks.jsonl"]
    assert "inputs/corpora.sample_short.path/talks.jsonl" not in away.inputs


# ---- an archive's own study ----------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_a_config_comes_out_of_an_archive_as_it_went_in(name: str, tmp_path: Path) -> None:
    whole = study(f"studies/{name}.yaml")
    config = archive_plan(whole)["config"]
    again = reread(config, tmp_path)
    assert {**again.config, "archived": None} == {**whole.config, "archived": None}
    assert archive_plan(again)["config"] == config


def test_a_study_without_the_files_that_were_left_out_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "talks.jsonl")
    Path(path).write_text('{"conversation": "of somebody"}\n')
    shutil.copy(HOME / "resources/tasks/aliases.csv", tmp_path / "answers.csv")
    field = {**FIELD, "path": str(tmp_path / "answers.csv")}
    own = study(corpora={"sample_short": {"path": path, "format": None}}, field=field)
    config = archive_plan(own)["config"]
    monkeypatch.chdir(tmp_path)
    for file in tmp_path.iterdir():
        file.unlink()
    again = reread(config, tmp_path)
    assert again.source("sample_short") == ["inputs/corpora.sample_short.path/talks.jsonl"]
    assert is_left_out(again.config, "inputs/field.path")
    require_sources(again)
    assert generation_settings(again.config)["may_ask"] is False
    assert generation_settings(own.config)["may_ask"] is True
    with pytest.raises(StudyError, match="nothing at inputs/"):
        reread({**config, "archived": None}, tmp_path)


# ---- what is refused, and what is sent -----------------------------------------------------------


@pytest.mark.parametrize("lock", ["in use", "elsewhere"])
def test_a_study_that_runs_is_one_sentence(lock: Any) -> None:
    with pytest.raises(StudyError, match="the study is still running, and an archive of it would"):
        require_finished(study(), lock)


def test_an_unfinished_study_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unfinished = study()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError) as caught:
        require_finished(unfinished, "none")
    assert "is not finished, " in str(caught.value)
    assert "(results/quickstart/study.duckdb); run `snakemake all` for it first" in str(
        caught.value
    )
    for path in map(unfinished.place, unfinished.outputs()):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    with pytest.raises(StudyError, match="of its results are missing"):
        require_finished(unfinished, "none")


def test_what_is_sent_to_osf() -> None:
    paths = ["trivia.zip", "trivia/README.md", "trivia/code/README.md", "trivia/tables/a.csv"]
    assert sent_files("trivia", "zip", paths) == ["trivia.zip", "trivia/README.md"]
    assert sent_files("trivia", "files", paths) == paths[1:]
