"""Derived tasks in a config: what they take over, their steps, and what can be wrong with them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config.reading import read_study
from fieldwork.config.study import Study
from fieldwork.config.variants import origins_of, steps_of
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[3]

CASUAL = {"casual": True}
TYPOS = {"of": "mmlu_lite", "put": {"typos": 0.1, "seed": 1}}


def study_with(folder: Path, tasks: dict[str, Any], selection: list[str] | None = None) -> Study:
    file = folder / "study.yaml"
    study = {"name": "noisy", "tasks": selection or ["mmlu_lite", *tasks]}
    file.write_text(yaml.safe_dump({"study": study, "tasks": tasks}), encoding="utf-8")
    settings = yaml.safe_load(file.read_text(encoding="utf-8"))
    return read_study(HOME, [HOME / "config.yaml"], [file], command_line={}, overlay=settings)


def test_a_derived_task_takes_over_sources_runs_and_tokens(tmp_path: Path) -> None:
    study = study_with(tmp_path, {"noisy": TYPOS})
    origin, noisy = study.config["tasks"]["mmlu_lite"], study.config["tasks"]["noisy"]
    assert noisy["sources"] == origin["sources"]
    assert (noisy["runs"], noisy["max_tokens"]) == (origin["runs"], origin["max_tokens"])
    # a changed benchmark has no place on the leaderboard of the unchanged one
    assert noisy["leaderboard"] is None
    assert origins_of(study.config) == {"noisy": "mmlu_lite"}


def test_steps_are_made_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    tasks = {
        "casual": {"of": "noisy", "put": {"casual": True}, "runs": 3},
        "noisy": TYPOS,
    }
    study = study_with(tmp_path, tasks)
    steps = steps_of(study.config, "casual")
    assert [(step["kind"], step["value"], step["seed"]) for step in steps] == [
        ("typos", 0.1, 1),
        ("casual", True, 0),
    ]
    assert study.config["tasks"]["casual"]["runs"] == 3
    assert origins_of(study.config)["casual"] == "mmlu_lite"
    assert "resources/variants/chat_words.csv" in study.item_files("casual")[-1]


def test_shots_are_read_with_the_source(tmp_path: Path) -> None:
    study = study_with(tmp_path, {"two": {"of": "mmlu_lite", "put": {"scaffold": {"shots": 2}}}})
    assert [part["shots"] for part in study.config["tasks"]["two"]["sources"]] == [2]
    assert [part["shots"] for part in study.config["tasks"]["mmlu_lite"]["sources"]] == [5]


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ({"a": {"of": "b", "put": CASUAL}, "b": {"of": "a", "put": CASUAL}}, "one another"),
        ({"a": {"of": "a", "put": CASUAL}}, "one another"),
        ({"a": {"of": "nothing", "put": CASUAL}}, "'nothing' is not in tasks"),
        ({"a": {"of": "probe", "put": {"typos": 1.5}}}, "1.5 is greater than the maximum of 1"),
        ({"a": {"of": "probe", "put": {"typos": 0}}}, "tasks.a.put.typos"),
        ({"a": {"of": "probe", "put": {}}}, "name one"),
        ({"a": {"of": "probe", "put": {"casual": True, "typos": 0.1}}}, "derive another task"),
        ({"a": {"of": "probe", "put": {"shouting": True}}}, "unknown key 'shouting'"),
        ({"a": {"of": "probe", "put": {"typos": 0.1, "table": "x.csv"}}}, "has no table"),
        ({"a": {"of": "probe", "put": {"casual": True, "table": "x.csv"}}}, "no file at x.csv"),
        ({"a": {"of": "probe", "put": {"scaffold": "think"}}}, "max_tokens"),
        ({"a": {"of": "probe", "put": {"scaffold": {"shots": 3}}}}, "format mmlu alone"),
        ({"a": {"of": "probe"}}, "'put' is a required property"),
        ({"a": {"of": "probe", "put": {"casual": True}, "sources": [1]}}, "remove one of"),
        (
            {"a": {"of": "probe", "put": {"translated": {"format": "items", "dataset": "gone"}}}},
            "tasks.a.put.translated.dataset: 'gone' is not in datasets",
        ),
        (
            {
                "a": {"of": "probe", "put": CASUAL},
                "b": {"of": "a", "put": {"translated": {"format": "mmlu", "dataset": "mmlu"}}},
            },
            "translate 'probe'",
        ),
    ],
)  # fmt: skip
def test_one_sentence_for_each_mistake(tmp_path: Path, tasks: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError) as error:
        study_with(tmp_path, tasks)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
