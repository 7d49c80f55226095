"""Files that a config names are found, and a setting that names none is told."""

import copy
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.settings import check_config
from fieldwork.config.study_files import check_files, source_files
from fieldwork.errors import StudyError
from unit.shipped_config import shipped_config

HOME = Path(__file__).resolve().parents[3]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
        ("come", ["HOME/come/d.csv"]),
        ("come/*.csv", ["HOME/come/d.csv"]),
        ("come/d.csv", ["HOME/come/d.csv"]),
    ],
)
def test_files_at_a_path(study: Path, path: str, expected: list[str]) -> None:
    def shipped(asked: str) -> str:
        return asked if Path(asked).exists() else f"{study}/home/{asked}"

    config = {"corpora": {}, "datasets": {"d": {"path": path}}, "recordings": {}}
    found = source_files(config, "d", shipped)
    assert found == [name.replace("HOME", f"{study}/home") for name in expected]


@pytest.mark.parametrize("path", ["nowhere", "empty", "own/*.parquet"])
@pytest.mark.parametrize(("registry", "other"), [("corpora", "datasets"), ("datasets", "corpora")])
@pytest.mark.usefixtures("study")
def test_nothing_at_a_path_names_the_setting(path: str, registry: str, other: str) -> None:
    with pytest.raises(StudyError, match=rf"^{registry}\.d\.path: nothing at ") as caught:
        source_files({registry: {"d": {"path": path}}, other: {}, "recordings": {}}, "d", str)
    assert path in str(caught.value)


@pytest.fixture(scope="module")
def quickstart() -> dict[str, Any]:
    config: dict[str, Any] = shipped_config()
    check_config(config, "config.yaml")
    return config


def shipped(path: str) -> str:
    return path if Path(path).exists() else str(HOME / path)


@pytest.mark.parametrize(
    "setting",
    [
        "parsing.aliases",
        "parsing.overrides",
        "metrics.categories",
        "profiles.template",
        "field_kit.consent",
        "field_kit.texts",
        "tasks.recommendations_lite.sources.0.candidates",
        "datasets.sample_mmlu.path",
        "corpora.sample_short.path",
    ],
)
def test_a_file_that_is_not_there_names_its_setting(
    quickstart: dict[str, Any], setting: str
) -> None:
    config = copy.deepcopy(quickstart)
    *keys, last = [int(key) if key.isdigit() else key for key in setting.split(".")]
    place: Any = config
    for key in keys:
        place = place[key]
    assert last in place
    place[last] = "no/such_file.csv"
    with pytest.raises(
        StudyError, match=rf"^mine.yaml: {setting}: no.* at no/such_file\.csv; correct"
    ):
        check_files(config, shipped, "mine.yaml")


def test_personas_are_needed_where_a_condition_has_profiles(quickstart: dict[str, Any]) -> None:
    config = copy.deepcopy(quickstart)
    config["datasets"]["sample_personas"]["path"] = "nowhere.jsonl"
    with pytest.raises(StudyError, match=r"datasets\.sample_personas\.path: nothing at nowhere"):
        check_files(config, shipped, "config.yaml")
    config["study"]["conditions"] = ["offline", "history"]
    check_files(config, shipped, "config.yaml")
