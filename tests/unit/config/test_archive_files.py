"""Where files lie in an archive, and which of them are in none."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.shipped_config import shipped_config

from fieldwork.config.archive import archive_plan
from fieldwork.config.study import Study
from fieldwork.errors import StudyError
from fieldwork.exports.archive.contents import ArchivePlan
from unit.config.test_study import HOME, study


def plan(a_study: Study) -> ArchivePlan:
    return ArchivePlan(**archive_plan(a_study))


def elsewhere(a_plan: ArchivePlan) -> dict[str, str]:
    return {place: file for place, file in a_plan.inputs.items() if place.startswith("inputs/")}


def copy(source: str, target: Path) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    return str(shutil.copy(HOME / source, target))


def second_task(dataset: str) -> dict[str, Any]:
    source = {"format": "items", "dataset": dataset, "kind": "list"}
    return {"second": {"sources": [source], "runs": 5, "max_tokens": 10}}


@pytest.mark.parametrize("license_name", ["MIT", "all rights reserved"])
def test_two_files_of_one_name_are_two(tmp_path: Path, license_name: str) -> None:
    paths = [copy("resources/tasks/recommendations.csv", tmp_path / d / "items.csv") for d in "ab"]
    away = plan(
        study(
            datasets={
                "recommendations": {"path": paths[0], "license": license_name},
                "second": {"path": paths[1], "license": "MIT"},
            },
            tasks=second_task("second"),
            study={"tasks": ["recommendations_lite", "choices_lite", "second"]},
        )
    )
    places = [f"inputs/datasets.{name}.path/items.csv" for name in ("recommendations", "second")]
    datasets = away.config["datasets"]
    assert [datasets["recommendations"]["path"], datasets["second"]["path"]] == places
    is_closed = license_name != "MIT"
    assert elsewhere(away) == dict([*zip(places, paths, strict=True)][int(is_closed) :])
    assert away.config["archived"]["left_out"] == places[:1] * is_closed


def test_two_sources_of_one_place_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study that was an archive, into which somebody put a file from outside."""
    inner = "inputs/parsing.aliases/map.csv"
    aliases = copy("resources/tasks/aliases.csv", tmp_path / "a/map.csv")
    copy("resources/categories.csv", tmp_path / inner)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError, match="the archive has no place for"):
        plan(study(parsing={"aliases": aliases}, metrics={"categories": inner}))


def test_a_private_file_leaves_with_no_folder(tmp_path: Path) -> None:
    """What is true of users lies beside the questions, and both settings see it."""
    copy("resources/sample/attributes.csv", tmp_path / "my/true_of_users.csv")
    questions = copy("resources/tasks/recommendations.csv", tmp_path / "my/items.csv")
    own = plan(
        study(
            "studies/personalisation.yaml",
            memory={"reference": str(tmp_path / "my/true_of_users.csv")},
            datasets={"recommendations": {"path": str(tmp_path / "my")}},
        )
    )
    assert elsewhere(own) == {"inputs/datasets.recommendations.path/my/items.csv": questions}
    assert [*own.private_files] == [str(tmp_path / "my/true_of_users.csv")]
    assert own.config["archived"]["left_out"] == ["inputs/memory.reference/true_of_users.csv"]


@pytest.mark.parametrize("is_shared", [False, True])
def test_corrections_of_real_users_answers_leave_with_the_answers(
    tmp_path: Path, is_shared: bool
) -> None:
    """A row has the hash of a participant's text and what it says, or an option as they wrote it."""
    (tmp_path / "raw.csv").write_text("id,Q1\n")
    overrides = [copy("resources/tasks/aliases.csv", tmp_path / f"{n}.csv") for n in (1, 2)]
    places = [f"inputs/parsing.overrides.{n}/{n + 1}.csv" for n in (0, 1)]
    columns, prompts = {"participant": "id"}, {"hobbies": "Q1"}
    field = {"path": str(tmp_path / "raw.csv"), "layout": "wide", "columns": columns}
    corrected = plan(
        study(
            field={**field, "prompts": prompts},
            parsing={"overrides": overrides},
            archive={"field": is_shared},
        )
    )
    assert corrected.config["parsing"]["overrides"] == places
    assert elsewhere(corrected) == (dict(zip(places, overrides, strict=True)) if is_shared else {})
    withheld = {*corrected.config["archived"]["left_out"]} & {*places}
    assert withheld == (set() if is_shared else {*places})
    assert ({*overrides} <= {*corrected.private_files}) is not is_shared
    reasons = {what: why for what, why, _ in corrected.left_out}
    assert ("parsing.overrides" in reasons) is not is_shared


def test_a_file_of_a_closed_source_leaves_with_no_other_setting(tmp_path: Path) -> None:
    talks = copy("resources/mine/conversations.jsonl", tmp_path / "my/talks.jsonl")
    copy("resources/tasks/recommendations.csv", tmp_path / "my/items.csv")
    own = plan(
        study(
            datasets={"recommendations": {"path": str(tmp_path / "my")}},
            corpora={"sample_short": {"path": talks, "format": None, "license": "secret"}},
        )
    )
    assert [Path(file).name for file in elsewhere(own).values()] == ["items.csv"]


def test_the_projects_settings_name_no_folder_of_this_machine(tmp_path: Path) -> None:
    assert plan(study()).project_config is None
    home = tmp_path / "project"
    home.mkdir()
    settings = shipped_config()
    settings["parsing"] = {"aliases": "/home/me/aliases.csv"}
    (home / "config.yaml").write_text(yaml.safe_dump(settings))
    own = plan(study()._replace(home=home))
    assert own.project_config is not None
    assert own.project_config["parsing"] == {"aliases": "inputs/parsing.aliases/aliases.csv"}
