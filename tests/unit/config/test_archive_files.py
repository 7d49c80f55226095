"""Where files lie in an archive, and which of them are in none."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.errors import StudyError
from unit.config.archive_plans import CLOSED, copy_of, elsewhere, left_out_files, plan, reasons
from unit.shipped_config import FIELD, shipped_config, study

ITEMS = "resources/tasks/recommendations.csv"
ALIASES = "resources/tasks/aliases.csv"


@pytest.mark.parametrize("license_name", ["MIT", CLOSED["license"]])
def test_two_files_of_one_name_are_two(tmp_path: Path, license_name: str) -> None:
    paths = [copy_of(ITEMS, tmp_path / d / "items.csv") for d in "ab"]
    source = {"format": "items", "dataset": "second", "kind": "list"}
    away = plan(
        study(
            datasets={
                "recommendations": {"path": paths[0], "license": license_name},
                "second": {"path": paths[1], "license": "MIT"},
            },
            tasks={"second": {"sources": [source], "runs": 5, "max_tokens": 10}},
            study={"tasks": ["recommendations_lite", "choices_lite", "second"]},
        )
    )
    places = [f"inputs/datasets.{name}.path/items.csv" for name in ("recommendations", "second")]
    datasets = away.config["datasets"]
    assert [datasets[name]["path"] for name in ("recommendations", "second")] == places
    n_closed = int(license_name != "MIT")
    assert elsewhere(away) == dict([*zip(places, paths, strict=True)][n_closed:])
    assert left_out_files(away) == places[:n_closed]


def test_two_sources_of_one_place_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study that was an archive, into which somebody put a file from outside."""
    inner = "inputs/parsing.aliases/map.csv"
    aliases = copy_of(ALIASES, tmp_path / "a/map.csv")
    copy_of("resources/categories.csv", tmp_path / inner)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError, match="the archive has no place for"):
        plan(study(parsing={"aliases": aliases}, metrics={"categories": inner}))


def test_a_private_file_leaves_with_no_folder(tmp_path: Path) -> None:
    """What is true of users lies beside the questions, and both settings see it."""
    reference = copy_of("resources/sample/attributes.csv", tmp_path / "my/true_of_users.csv")
    questions = copy_of(ITEMS, tmp_path / "my/items.csv")
    datasets = {"recommendations": {"path": str(tmp_path / "my")}}
    own = plan(
        study("studies/personalisation.yaml", memory={"reference": reference}, datasets=datasets)
    )
    assert elsewhere(own) == {"inputs/datasets.recommendations.path/my/items.csv": questions}
    assert [*own.private_files] == [reference]
    assert left_out_files(own) == ["inputs/memory.reference/true_of_users.csv"]


@pytest.mark.parametrize("is_shared", [False, True])
def test_corrections_of_real_users_answers_leave_with_the_answers(
    tmp_path: Path, is_shared: bool
) -> None:
    """A row has the hash of a participant's text and what it says, or an option as they wrote it."""
    (tmp_path / "raw.csv").write_text("id,Q1\n")
    overrides = [copy_of(ALIASES, tmp_path / f"{n}.csv") for n in (1, 2)]
    places = [f"inputs/parsing.overrides.{n}/{n + 1}.csv" for n in (0, 1)]
    corrected = plan(
        study(
            field=FIELD | {"path": str(tmp_path / "raw.csv")},
            parsing={"overrides": overrides},
            archive={"field": is_shared},
        )
    )
    assert corrected.config["parsing"]["overrides"] == places
    assert elsewhere(corrected) == (dict(zip(places, overrides, strict=True)) if is_shared else {})
    assert {*left_out_files(corrected)} & {*places} == (set() if is_shared else {*places})
    assert ({*overrides} <= {*corrected.private_files}) is not is_shared
    assert ("parsing.overrides" in reasons(corrected)) is not is_shared


def test_a_file_of_a_closed_source_leaves_with_no_other_setting(tmp_path: Path) -> None:
    talks = copy_of("resources/mine/conversations.jsonl", tmp_path / "my/talks.jsonl")
    copy_of(ITEMS, tmp_path / "my/items.csv")
    corpus: dict[str, Any] = {"path": talks, "format": None, "license": "secret"}
    datasets = {"recommendations": {"path": str(tmp_path / "my")}}
    own = plan(study(datasets=datasets, corpora={"sample_short": corpus}))
    assert [Path(file).name for file in elsewhere(own).values()] == ["items.csv"]


def test_the_projects_settings_name_no_folder_of_this_machine(tmp_path: Path) -> None:
    assert plan(study()).project_config is None
    settings = shipped_config() | {"parsing": {"aliases": "/home/me/aliases.csv"}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(settings))
    own = plan(study()._replace(home=tmp_path))
    assert own.project_config is not None
    assert own.project_config["parsing"] == {"aliases": "inputs/parsing.aliases/aliases.csv"}
