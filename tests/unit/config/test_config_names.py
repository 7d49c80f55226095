"""Names that would meet a file of the project, or another name on some file system, are refused."""

import copy
from typing import Any

import pytest
from tests.unit.shipped_config import complaint, shipped_config

from fieldwork.config.settings import check_config

SHIPPED = shipped_config()
ENTRIES: dict[str, dict[str, Any]] = {
    "models": {"provider": "embedded", "label": "x", "encoder": "e"},
    "conditions": {"context": "none", "label": "x"},
    "tasks": {
        "sources": [{"format": "items", "dataset": "recommendations"}],
        "runs": 1,
        "max_tokens": 1,
    },
    "corpora": {"format": "wildchat", "path": "x"},
    "datasets": {"path": "x"},
}


def named(registry: str, *names: str) -> dict[str, Any]:
    config = copy.deepcopy(SHIPPED)
    config[registry] |= {name: copy.deepcopy(ENTRIES[registry]) for name in names}
    return config


@pytest.mark.parametrize(
    ("registry", "name", "words"),
    [
        ("models", "budget", "holds what all models have spent"),
        ("models", "Budget", "holds what all models have spent"),
        ("models", "gpt.batches", "where the batches of 'gpt' are kept"),
        ("conditions", "field", "real users' answers"),
        ("datasets", "osf", "fetched from OSF"),
        ("corpora", "OSF", "fetched from OSF"),
        *((registry, "aux", "Windows keeps this name for a device") for registry in ENTRIES),
        ("tasks", "COM1", "Windows keeps this name for a device"),
        ("models", "nul.2026", "Windows keeps this name for a device"),
        ("models", "gpt.", "Windows drops the dot"),
    ],
)
def test_a_name_that_is_taken(registry: str, name: str, words: str) -> None:
    said = complaint(named(registry, name))
    assert said.startswith(f"mine.yaml: {registry}.{name}: ")
    assert words in said
    assert said.endswith("; choose another name")


@pytest.mark.parametrize("registry", ENTRIES)
def test_names_that_differ_by_capitals_alone(registry: str) -> None:
    said = complaint(named(registry, "mine", "Mine"))
    assert said.startswith(f"mine.yaml: {registry}.Mine: 'mine' is the same name on macOS")


@pytest.mark.parametrize("name", ["figures", "Vectors", "con"])
def test_a_study_has_a_folder_of_its_own(name: str) -> None:
    config = copy.deepcopy(SHIPPED)
    config["study"]["name"] = name
    assert complaint(config).startswith("mine.yaml: study.name: ")


@pytest.mark.parametrize(
    "name", ["budgets", "batches", "fields", "console", "auxiliary", "a.b-c_d"]
)
def test_other_names_are_taken(name: str) -> None:
    for registry in ENTRIES:
        check_config(named(registry, name), "mine.yaml")
