"""Names that would meet a file of the project, or another name on some file system, are refused."""

from typing import Any

import pytest

from unit.shipped_config import checked_config, complaint, config_with

SOURCE = {"format": "items", "dataset": "recommendations"}
ENTRIES: dict[str, dict[str, Any]] = {
    "models": {"provider": "embedded", "label": "x", "encoder": "e"},
    "conditions": {"context": "none", "label": "x"},
    "tasks": {"sources": [SOURCE], "runs": 1, "max_tokens": 1},
    "corpora": {"format": "wildchat", "path": "x"},
    "datasets": {"path": "x"},
}


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
    sentence = complaint(config_with({f"{registry}/{name}": ENTRIES[registry]}))
    assert sentence.startswith(f"mine.yaml: {registry}.{name}: ")
    assert words in sentence
    assert sentence.endswith("; choose another name")


@pytest.mark.parametrize("registry", ENTRIES)
def test_names_that_differ_by_capitals_alone(registry: str) -> None:
    twins = {f"{registry}/{name}": ENTRIES[registry] for name in ("mine", "Mine")}
    sentence = complaint(config_with(twins))
    assert sentence.startswith(f"mine.yaml: {registry}.Mine: 'mine' is the same name on macOS")


@pytest.mark.parametrize("name", ["figures", "Vectors", "con"])
def test_a_study_has_a_folder_of_its_own(name: str) -> None:
    assert complaint(config_with({"study/name": name})).startswith("mine.yaml: study.name: ")


@pytest.mark.parametrize("registry", ENTRIES)
def test_other_names_are_taken(registry: str) -> None:
    names = ("budgets", "batches", "fields", "console", "auxiliary", "a.b-c_d")
    entry = ENTRIES[registry]
    own = [{**entry, "label": name} if "label" in entry else entry for name in names]
    checked_config({f"{registry}/{name}": one for name, one in zip(names, own, strict=True)})
