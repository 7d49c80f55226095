"""Recordings in the config: what a study may select beside them, and which rows an arm has."""

from typing import Any

import pytest

from fieldwork.config import arms
from fieldwork.config.plan_inputs import plan_settings, plan_tables
from fieldwork.config.study import Study
from unit.shipped_config import HOME, checked_config, complaint, config_with

COLUMNS = {"item": "q", "answer": "said", "user": "who"}
SOURCE = {"format": "recording", "dataset": "old", "kind": "list"}
RECORDED: dict[str, Any] = {
    "recordings/old": {"format": "table", "path": "old.csv", "columns": COLUMNS},
    "models/gpt": {"provider": "recorded", "label": "GPT", "recording": "old"},
    "conditions/people": {"context": "recorded", "label": "People"},
    "tasks/survey": {"sources": [SOURCE], "runs": 3, "max_tokens": 9},
    "study/models": ["gpt"],
    "study/conditions": ["offline", "people"],
    "study/tasks": ["survey"],
}


def test_a_study_of_recordings_asks_nothing() -> None:
    study = Study(checked_config(RECORDED), HOME)
    assert study.request_tables() == study.context_tables() == plan_tables(study) == []
    settings = plan_settings(study)
    assert (settings["models"], settings["conditions"]) == ({}, {})
    assert settings["recorded_models"] == ["gpt"]
    assert "<results>/cost.csv" not in study.outputs()
    assert study.tables("responses", study.asked_models()) == []
    assert "gpt" not in arms.registered_models(study)
    assert study.drawing()["note"] == "Answers were recorded elsewhere; this study sent no calls"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("offline", {"rows": {"day": "mon"}, "first": 0, "runs": 3, "has_user": False, "temperature": 1}),
        ("offline_again", {"rows": {"day": "mon"}, "first": 3}),
        ("people", {"rows": {}, "has_user": True, "temperature": None, "recorded_model": "gpt-4o"}),
    ],
)  # fmt: skip
def test_which_rows_an_arm_has(condition: str, expected: dict[str, Any]) -> None:
    changes = {
        "study/conditions": ["offline", "offline_again", "people"],
        "recordings/old/conditions": {"offline": {"day": "mon"}},
        "models/gpt/recorded_as": "gpt-4o",
    }
    study = Study(checked_config(RECORDED | changes), HOME)
    assert expected.items() <= arms.recorded_arm(study, "gpt", "survey", condition).items()


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("models/gpt/recording", "new", "models.gpt.recording: 'new' is not in recordings"),
        ("recordings/old/columns", {}, "recordings.old.columns: a table needs to know"),
        ("recordings/old/format", "xml", "recordings.old.format: 'xml' is not one of"),
        ("recordings/old/columns", {"itm": "q"}, "recordings.old.columns: unknown key 'itm'"),
        ("recordings/old/conditions", {"no": {}}, "conditions: 'no' is not in conditions"),
        ("study/conditions", ["offline", "history"], "'history' makes contexts to ask with"),
        ("study/models", ["gpt", "smollm2"], "'people' has the users of a recording, and 'smollm2'"),
        ("study/conditions", ["offline", "offline_t0"], "'offline' and 'offline_t0' would have the same"),
        ("tasks/survey/sources", [SOURCE | {"dataset": "x"}], "not in recordings"),
        ("datasets/old", {"path": "x"}, "'old' is in datasets too"),
    ],
)  # fmt: skip
def test_recordings_that_do_not_fit(setting: str, value: Any, message: str) -> None:
    assert message in complaint(config_with(RECORDED | {setting: value}))
