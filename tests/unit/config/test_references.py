"""The table of settings that name entries: each row refuses a name that nothing has."""

from typing import Any

import pytest

from fieldwork.config.references import (
    REFERENCES,
    REFERENCES_OF_ORIGINS,
    NameReference,
    broken_references,
)

SCALES = {"x.y": {"accepted": ["1"], "options": [1]}, "z": {"accepted": [1], "options": ["2"]}}
BY_FIELD = {"study": {"primary": [{"conditions": ["field"]}], "conditions": []}}
AUTO = {"figures": {"fig1": "auto", "fig2": None}, "study": {"tasks": []}}


def config_of(place: str, value: Any) -> Any:
    """A config in which a value stands at a place, whose `*` is an entry `one`."""
    first, _, rest = place.partition(".")
    return {"one" if first == "*" else first: config_of(rest, value) if rest else value}


@pytest.mark.parametrize("row", [*REFERENCES_OF_ORIGINS, *REFERENCES], ids=lambda row: row.setting)
def test_every_row_refuses_what_there_is_not(row: NameReference) -> None:
    config = config_of(row.setting, ["nobody"])
    around = config
    for key in row.setting.split(".")[:-1]:
        around = around["one" if key == "*" else key]
    if row.formats:
        around["format"] = row.formats[0]
    (problem,) = broken_references(config, [row])
    setting = row.setting.replace("*", "one")
    homes = " or ".join(place.replace("*", "one") for place in row.registries if place != "field")
    assert problem.startswith(f"{setting}: 'nobody' is not in {homes} (there are ")


@pytest.mark.parametrize(
    ("setting", "config", "n_problems"),
    [
        ("study.corpus", {"study": {"corpus": "a"}, "corpora": {"a": {}}}, 0),
        ("archive.texts", {"archive": {"texts": {"a": True}}, "recordings": {"a": {}}}, 0),
        ("figures.*", AUTO, 0),
        ("memory.model", {"memory": {"model": "a"}, "models": {"a": {"provider": "recorded"}}}, 1),
        ("study.primary.*.conditions", BY_FIELD | {"field": {"a": 1}}, 0),
        ("study.primary.*.conditions", BY_FIELD | {"field": None}, 1),
        # the options are those of the same scale, and texts whatever YAML makes of them
        ("judging.scales.*.accepted", {"judging": {"scales": SCALES}}, 1),
    ],
)
def test_a_name_is_one_of_its_own_place(setting: str, config: Any, n_problems: int) -> None:
    rows = [row for row in REFERENCES if row.setting == setting]
    assert len([*broken_references(config, rows)]) == n_problems


def test_settings_that_no_other_test_misspells_are_in_the_table() -> None:
    of_conditions = ("after", "corpus", "same_users_as", "select.model", "select.scale")
    of_units = ("scale", "why.scale", "model", "conditions", "tasks")
    of_scales = ("accepted", "prefers_a", "prefers_b", "readings.*")
    assert {
        *("study.corpus", "study.conditions", "study.primary.*.models", "study.primary.*.tasks"),
        *("study.primary.*.conditions", "tasks.*.put.translated.dataset", "profiles.*.dataset"),
        *("recordings.*.tasks", "recordings.*.conditions", "memory.corpus", "memory.model"),
        *("memory.verify.units", "judging.learn", "judging.judges.models", "judging.judges.units"),
        *("judging.judges.prompts", "judging.sources.*.scale", "field.models.*", "arms.conditions"),
        *("field_kit.tasks", "field_kit.platforms", "metrics.baseline", "calibration.tasks"),
        *("calibration.conditions", "archive.texts", "models.*.recording", "figures.categories"),
        *(f"conditions.*.{key}" for key in of_conditions),
        *(f"judging.units.*.{key}" for key in of_units),
        *(f"judging.scales.*.{key}" for key in of_scales),
    } <= {row.setting for row in REFERENCES}
