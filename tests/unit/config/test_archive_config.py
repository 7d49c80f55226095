"""What an archive is made of, read off the config: nothing that nobody named, no path of a machine."""

import json
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.archive import archive_plan, require_finished, sent_files
from fieldwork.config.archived import generation_settings, is_left_out
from fieldwork.config.plan_inputs import require_sources
from fieldwork.errors import StudyError
from unit.config.archive_plans import CLOSED, copy_of, left_out_files, plan, reasons
from unit.shipped_config import FIELD, read_overlay, study

STUDIES = ["drift", "paper", "personalisation", "practice"]
"""Waves, downloads, memory with judges, and tasks put otherwise."""
FIELD_TABLES = {
    f"field/{name}"
    for name in ("answers.parquet", "participants.parquet", "quality.csv", "attrition.csv")
}


def test_the_quickstart_is_archived_whole() -> None:
    whole = plan(study())
    assert whole.is_whole
    assert whole.explorer
    assert not any(whole.first_tables.values())
    assert {"answers/answers.parquet", "metrics/claims.csv"} <= {*whole.tables}
    assert [*whole.remade] == [*whole.tables]
    assert {"findings.md", "figures/fig1.svg", "provenance/versions.csv"} <= {*whole.pages}
    assert left_out_files(whole) == []
    assert "resources/sample/conversations.parquet" in whole.inputs
    responses = [path for path in whole.first_tables if path.startswith("responses/smollm2/")]
    assert whole.ledgers == {"smollm2": responses}
    assert not any("wildchat" in what for what in reasons(whole))


def test_texts_that_may_not_be_handed_on_stay_out_and_that_is_said() -> None:
    closed = plan(study(archive={"texts": {"sample_short": False}}))
    assert closed.is_whole
    assert {path for path, is_blank in closed.first_tables.items() if is_blank} == {
        "corpus/sample_short/conversations.parquet",
        "contexts/recommendations_lite/history.parquet",
        "contexts/recommendations_lite/rag.parquet",
        "contexts/choices_lite/history.parquet",
        "contexts/choices_lite/rag.parquet",
    }
    assert not closed.explorer
    path = "resources/sample/conversations.parquet"
    assert path not in closed.inputs
    assert left_out_files(closed) == [path]
    assert reasons(closed)["texts of corpora.sample_short"] == (
        f"archive.texts.sample_short says so; get {path}: put it at {path}"
    )
    assert "it shows texts of corpora.sample_short" in reasons(closed)["explorer"]


def test_questions_that_may_not_be_handed_on_leave_tables_that_cannot_be_made_again() -> None:
    closed = plan(study(datasets={"sample_mmlu": CLOSED}))
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
    assert {"raw answers of real users", "the key of pseudonyms"} <= {*reasons(fields)}
    assert ("masked answers of real users" in reasons(fields)) is not is_shared
    assert left_out_files(fields) == ["inputs/field.path"]
    assert FIELD["path"] not in str(fields.config["field"])
    assert [*fields.key_files] == ["resources/pseudonyms/key", "resources/field/key"]
    assert not any(place.startswith("resources/field/") for place in fields.inputs)


def test_files_elsewhere_get_a_place_in_the_archive(tmp_path: Path) -> None:
    questions = copy_of("resources/sample/mmlu", tmp_path / "questions")
    talks = copy_of("resources/mine/conversations.jsonl", tmp_path / "talks.jsonl")
    aliases = copy_of("resources/tasks/aliases.csv", tmp_path / "aliases.csv")
    away = plan(
        study(
            datasets={"sample_mmlu": {"path": questions}},
            corpora={"sample_short": {"path": talks, "format": None}},
            parsing={"aliases": aliases},
            archive={"texts": {"sample_short": False}},
        )
    )
    assert str(tmp_path) not in json.dumps(away.config)
    place = "inputs/datasets.sample_mmlu.path/questions"
    assert away.config["datasets"]["sample_mmlu"]["path"] == place
    assert f"{place}/test/sample_grammar_test.csv" in away.inputs
    assert away.config["parsing"]["aliases"] == "inputs/parsing.aliases/aliases.csv"
    assert away.inputs["inputs/parsing.aliases/aliases.csv"] == aliases
    assert left_out_files(away) == ["inputs/corpora.sample_short.path/talks.jsonl"]
    assert not {*left_out_files(away)} & {*away.inputs}


# ---- an archive's own study ----------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_a_config_comes_out_of_an_archive_as_it_went_in(name: str, tmp_path: Path) -> None:
    whole = study(f"studies/{name}.yaml")
    config = archive_plan(whole)["config"]
    again = read_overlay(tmp_path, config)
    assert {**again.config, "archived": None} == {**whole.config, "archived": None}
    assert archive_plan(again)["config"] == config


def test_a_study_without_the_files_that_were_left_out_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text('{"conversation": "of somebody"}\n')
    field = FIELD | {"path": copy_of("resources/tasks/aliases.csv", tmp_path / "answers.csv")}
    own = study(corpora={"sample_short": {"path": str(path), "format": None}}, field=field)
    config = archive_plan(own)["config"]
    monkeypatch.chdir(tmp_path)
    for file in tmp_path.iterdir():
        file.unlink()
    again = read_overlay(tmp_path, config)
    assert again.source("sample_short") == ["inputs/corpora.sample_short.path/talks.jsonl"]
    assert is_left_out(again.config, "inputs/field.path")
    require_sources(again)
    may_ask = [generation_settings(one.config)["may_ask"] for one in (own, again)]
    assert may_ask == [True, False]
    with pytest.raises(StudyError, match="nothing at inputs/"):
        read_overlay(tmp_path, {**config, "archived": None})


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
    first = r"\(results/quickstart/study\.duckdb\); run `snakemake all` for it first"
    with pytest.raises(StudyError, match=f"is not finished, .*{first}"):
        require_finished(unfinished, "none")
    for path in map(Path, map(unfinished.place, unfinished.outputs())):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with pytest.raises(StudyError, match="of its results are missing"):
        require_finished(unfinished, "none")


def test_what_is_sent_to_osf() -> None:
    paths = ["trivia.zip", "trivia/README.md", "trivia/code/README.md", "trivia/tables/a.csv"]
    assert sent_files("trivia", "zip", paths) == ["trivia.zip", "trivia/README.md"]
    assert sent_files("trivia", "files", paths) == paths[1:]
