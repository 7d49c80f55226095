"""Derived tasks in a config: what they take over, their steps, and what can be wrong with them."""

from typing import Any

import pytest

from fieldwork.config.study import Study
from fieldwork.config.variants import origins_of, steps_of
from unit.shipped_config import HOME, checked_config, complaint, config_with

CASUAL = {"casual": True}
TYPOS = {"of": "mmlu_lite", "put": {"typos": 0.1, "seed": 1}}


def of(origin: str, **put: Any) -> dict[str, Any]:
    return {"of": origin, "put": put}


def selecting(**tasks: Any) -> dict[str, Any]:
    entries = {f"tasks/{name}": entry for name, entry in tasks.items()}
    return {"study/tasks": ["mmlu_lite", *tasks], **entries}


def test_a_derived_task_takes_over_sources_runs_and_tokens() -> None:
    config = checked_config(selecting(noisy=TYPOS))
    origin, noisy = config["tasks"]["mmlu_lite"], config["tasks"]["noisy"]
    assert noisy["sources"] == origin["sources"]
    assert (noisy["runs"], noisy["max_tokens"]) == (origin["runs"], origin["max_tokens"])
    # a changed benchmark has no place on the leaderboard of the unchanged one
    assert noisy["leaderboard"] is None
    assert origins_of(config) == {"noisy": "mmlu_lite"}


def test_steps_are_made_in_the_order_of_the_tasks() -> None:
    config = checked_config(selecting(casual=of("noisy", casual=True) | {"runs": 3}, noisy=TYPOS))
    steps = [(step["kind"], step["value"], step["seed"]) for step in steps_of(config, "casual")]
    assert steps == [("typos", 0.1, 1), ("casual", True, 0)]
    assert config["tasks"]["casual"]["runs"] == 3
    assert origins_of(config)["casual"] == "mmlu_lite"
    assert "resources/variants/chat_words.csv" in Study(config, HOME).item_files("casual")[-1]


def test_shots_are_read_with_the_source() -> None:
    tasks = checked_config(selecting(two=of("mmlu_lite", scaffold={"shots": 2})))["tasks"]
    assert [part["shots"] for part in tasks["two"]["sources"]] == [2]
    assert [part["shots"] for part in tasks["mmlu_lite"]["sources"]] == [5]


GONE = {"format": "items", "dataset": "gone"}
AGAIN = of("a", translated={"format": "mmlu", "dataset": "mmlu"})


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ({"a": of("b", casual=True), "b": of("a", casual=True)}, "one another"),
        ({"a": of("a", casual=True)}, "one another"),
        ({"a": of("nothing", casual=True)}, "'nothing' is not in tasks"),
        ({"a": of("probe", typos=1.5)}, "1.5 is greater than the maximum of 1"),
        ({"a": of("probe", typos=0)}, "tasks.a.put.typos"),
        ({"a": of("probe")}, "name one"),
        ({"a": of("probe", casual=True, typos=0.1)}, "derive another task"),
        ({"a": of("probe", shouting=True)}, "unknown key 'shouting'"),
        ({"a": of("probe", typos=0.1, table="x.csv")}, "has no table"),
        ({"a": of("probe", scaffold="think")}, "max_tokens"),
        ({"a": of("probe", scaffold={"shots": 3})}, "format mmlu alone"),
        ({"a": {"of": "probe"}}, "'put' is a required property"),
        ({"a": of("probe", casual=True) | {"sources": [1]}}, "remove one of"),
        ({"a": of("probe", translated=GONE)}, "put.translated.dataset: 'gone' is not in datasets"),
        ({"a": of("probe", casual=True), "b": AGAIN}, "translate 'probe'"),
    ],
)  # fmt: skip
def test_one_sentence_for_each_mistake(tasks: dict[str, Any], words: str) -> None:
    assert words in complaint(config_with(selecting(**tasks)))
