"""Recordings in the config: what a study may select beside them, and which rows an arm has."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.shipped_config import shipped_config

from fieldwork.config import arms
from fieldwork.config.plan_inputs import plan_settings, plan_tables
from fieldwork.config.settings import check_config
from fieldwork.config.study import Study
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[3]


def config_of(**changes: Any) -> dict[str, Any]:
    """The shipped config with a recorded model and its condition; `a__b` changes the setting a.b."""
    config: dict[str, Any] = shipped_config()
    columns = {"item": "q", "answer": "said", "user": "who"}
    config["recordings"] = {"old": {"format": "table", "path": "old.csv", "columns": columns}}
    config["models"]["gpt"] = {"provider": "recorded", "label": "GPT", "recording": "old"}
    config["conditions"]["people"] = {"context": "recorded", "label": "People"}
    source = {"format": "recording", "dataset": "old", "kind": "list"}
    config["tasks"]["survey"] = {"sources": [source], "runs": 3, "max_tokens": 9}
    config["study"] |= {"models": ["gpt"], "conditions": ["offline", "people"], "tasks": ["survey"]}
    for path, value in changes.items():
        *keys, last = path.split("__")
        place = config
        for key in keys:
            place = place[key]
        place[last] = value
    return config


def study_of(**changes: Any) -> Study:
    config = config_of(**changes)
    check_config(config, "x.yaml")
    return Study(config, HOME)


def test_a_study_of_recordings_asks_nothing() -> None:
    study = study_of()
    assert study.request_tables() == study.context_tables() == plan_tables(study) == []
    settings = plan_settings(study)
    assert (settings["models"], settings["conditions"]) == ({}, {})
    assert settings["recorded_models"] == ["gpt"]
    assert "<results>/cost.csv" not in study.outputs()
    assert study.tables("responses", study.asked_models()) == []
    assert "gpt" not in arms.registered_models(study)
    assert study.drawing()["note"] == "Answers were recorded elsewhere; this study sent no calls"


def test_which_rows_an_arm_has() -> None:
    study = study_of(
        study__conditions=["offline", "offline_again", "people"],
        recordings__old__conditions={"offline": {"day": "mon"}},
        models__gpt__recorded_as="gpt-4o",
    )
    blank = arms.recorded_arm(study, "gpt", "survey", "offline")
    assert (blank["rows"], blank["first"], blank["runs"]) == ({"day": "mon"}, 0, 3)
    assert (blank["has_user"], blank["temperature"]) == (False, 1)
    control = arms.recorded_arm(study, "gpt", "survey", "offline_again")
    assert (control["rows"], control["first"]) == ({"day": "mon"}, 3)
    people = arms.recorded_arm(study, "gpt", "survey", "people")
    assert (people["rows"], people["has_user"], people["temperature"]) == ({}, True, None)
    assert people["recorded_model"] == "gpt-4o"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models__gpt__recording": "new"}, r"models\.gpt\.recording: 'new' is not in recordings"),
        ({"recordings__old__columns": {}}, r"recordings\.old\.columns: a table needs to know"),
        ({"recordings__old__format": "xml"}, r"recordings\.old\.format: 'xml' is not one of"),
        (
            {"recordings__old__columns": {"itm": "q"}},
            r"recordings\.old\.columns: unknown key 'itm'",
        ),
        ({"recordings__old__conditions": {"no": {}}}, r"conditions: 'no' is not in conditions"),
        ({"study__conditions": ["offline", "history"]}, r"'history' makes contexts to ask with"),
        (
            {"study__models": ["gpt", "smollm2"]},
            r"'people' has the users of a recording, and 'smollm2'",
        ),
        (
            {"study__conditions": ["offline", "offline_t0"]},
            r"'offline' and 'offline_t0' would have the same rows",
        ),
        (
            {"tasks__survey__sources": [{"format": "recording", "dataset": "x"}]},
            r"not in recordings",
        ),
        ({"datasets__old": {"path": "x"}}, r"'old' is in datasets too"),
    ],
)
def test_recordings_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        study_of(**changes)
