"""Files that a config names are found, and a setting that names none is told."""

import re
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.pages import field_warning, new_pages
from fieldwork.config.study_files import check_files, source_files
from fieldwork.errors import StudyError
from unit.shipped_config import HOME, checked_config


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study folder that is the working directory, beside a workflow that ships files."""
    for name in ("study/own/b.csv", "study/own/deep/a.csv", "study/[x]/c.csv", "home/come/d.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "study" / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "study")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("own/b.csv", ["own/b.csv"]),
        ("own", ["own/b.csv", "own/deep/a.csv"]),
        ("own/*.csv", ["own/b.csv"]),
        ("own/**/*.csv", ["own/b.csv", "own/deep/a.csv"]),
        ("[x]", ["[x]/c.csv"]),
        ("come", ["../home/come/d.csv"]),
        ("come/*.csv", ["../home/come/d.csv"]),
        ("come/d.csv", ["../home/come/d.csv"]),
    ],
)
@pytest.mark.usefixtures("folder")
def test_files_at_a_path(path: str, expected: list[str]) -> None:
    def shipped(asked: str) -> str:
        return asked if Path(asked).exists() else f"../home/{asked}"

    config = {"corpora": {}, "datasets": {"d": {"path": path}}, "recordings": {}}
    assert source_files(config, "d", shipped) == expected


@pytest.mark.parametrize("path", ["nowhere", "empty", "own/*.parquet"])
@pytest.mark.parametrize("registry", ["corpora", "datasets"])
@pytest.mark.usefixtures("folder")
def test_nothing_at_a_path_names_the_setting(path: str, registry: str) -> None:
    config: dict[str, Any] = {"corpora": {}, "datasets": {}, "recordings": {}}
    config[registry] = {"d": {"path": path}}
    with pytest.raises(StudyError, match=rf"^{registry}\.d\.path: nothing at {re.escape(path)}"):
        source_files(config, "d", str)


def shipped(path: str) -> str:
    return path if Path(path).exists() else str(HOME / path)


@pytest.mark.parametrize(
    "setting",
    [
        *("parsing/aliases", "parsing/overrides", "metrics/categories", "profiles/template"),
        *("field_kit/consent", "field_kit/texts", "datasets/sample_mmlu/path"),
        *("tasks/recommendations_lite/sources/0/candidates", "corpora/sample_short/path"),
        # personas are needed where a condition has profiles
        "datasets/sample_personas/path",
    ],
)
def test_a_file_that_is_not_there_names_its_setting(setting: str) -> None:
    config = checked_config({setting: "no/such_file.csv"})
    place = setting.replace("/", ".")
    with pytest.raises(StudyError, match=rf"^mine.yaml: {place}: no.* at no/such_file\.csv; corr"):
        check_files(config, shipped, "mine.yaml")
    config["study"]["conditions"] = ["offline", "history"]
    if "personas" in setting:
        check_files(config, shipped, "mine.yaml")


# ---- pages ---------------------------------------------------------------------------------------


def test_pages_are_those_of_this_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "results/quickstart/findings.md"
    page.parent.mkdir(parents=True)
    page.touch()
    written = page.stat().st_mtime
    assert new_pages("results/quickstart", written) == ["Findings: results/quickstart/findings.md"]
    assert new_pages("results/quickstart", written + 1) == []


def test_a_run_without_the_column_map_says_that_it_leaves_real_users_out(tmp_path: Path) -> None:
    """`snakemake export` without the map would give files of a study without a field."""
    (tmp_path / "field").mkdir()
    assert [*field_warning({"field": None}, str(tmp_path))] == []
    (tmp_path / "field/answers.parquet").touch()
    assert [*field_warning({"field": {"path": "resources/field/page"}}, str(tmp_path))] == []
    (sentence,) = field_warning({"field": None}, str(tmp_path))
    assert sentence.startswith(f"WARNING: {tmp_path}/field has answers of real users")
