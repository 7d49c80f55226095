"""Waves in a config: what `waves` adds, which form a series, and what can be wrong with them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config.reading import read_study
from fieldwork.config.study import Study
from fieldwork.config.waves import add_waves, drawn_conditions, series_of, waves_of
from fieldwork.errors import StudyError
from fieldwork.waves import wave_of

HOME = Path(__file__).resolve().parents[3]

TODAY = datetime.now(UTC).date()
THIS_WEEK = wave_of(TODAY, "week").name


def study_with(folder: Path, **settings: Any) -> Study:
    file = folder / "study.yaml"
    study = {"name": "drift", "conditions": ["offline", "history"], **settings.pop("study", {})}
    file.write_text(yaml.safe_dump({"study": study, **settings}), encoding="utf-8")
    overlay = yaml.safe_load(file.read_text(encoding="utf-8"))
    return read_study(HOME, [HOME / "config.yaml"], [file], command_line={}, overlay=overlay)


def wave(name: str, **changes: Any) -> dict[str, Any]:
    return {"context": "none", "label": name, "wave": name, **changes}


def test_the_present_wave_stands_for_its_condition(tmp_path: Path) -> None:
    study = study_with(tmp_path, waves={"of": ["offline"], "first": THIS_WEEK})
    name = f"offline_{THIS_WEEK.replace('-W', '_w')}"
    assert list(study.entries("conditions")) == [name, "history"]
    assert study.baseline == name
    entry = study.condition(name)
    assert entry["label"] == f"{study.condition('offline')['label']}, {THIS_WEEK}"
    assert waves_of(study.config) == {name: THIS_WEEK}
    arm = study.generation_arm("smollm2", "mmlu_lite", name)
    # somebody who begins late would otherwise have no first wave to compare with
    assert (arm["wave"], arm["may_be_empty"]) == (THIS_WEEK, False)
    usual = study.generation_arm("smollm2", "mmlu_lite", "history")
    assert (usual["wave"], usual["may_be_empty"]) == (None, False)


def test_every_wave_since_the_first_is_added(tmp_path: Path) -> None:
    config = study_with(tmp_path).config
    config["waves"] = {"of": ["offline", "history"], "first": "2026-W46"}
    assert add_waves(config, datetime(2026, 11, 25, tzinfo=UTC)) is None
    weeks = ["2026_w46", "2026_w47", "2026_w48"]
    names = [f"{name}_{week}" for name in ("offline", "history") for week in weeks]
    assert config["study"]["conditions"] == names
    assert {series_of(config)[name] for name in names[:3]} == {"offline_2026_w46"}
    assert {series_of(config)[name] for name in names[3:]} == {"history_2026_w46"}
    # the waves between the ends would fill every figure after a year
    assert drawn_conditions(config) == [name for name in names if not name.endswith("w47")]
    arms = [Study(config, HOME).generation_arm("smollm2", "mmlu_lite", name) for name in names]
    assert [arm["may_be_empty"] for arm in arms] == [False, True, True] * 2


def test_waves_have_the_same_users(tmp_path: Path) -> None:
    config = study_with(tmp_path).config
    config["waves"] = {"of": ["history"], "first": "2026-W46"}
    add_waves(config, datetime(2026, 11, 18, tzinfo=UTC))
    study = Study(config, HOME)
    one, other = (study.context_settings(f"history_2026_w{week}") for week in (46, 47))
    assert {**one, "label": ""} == {**other, "label": ""}


def test_a_config_with_its_waves_gains_only_the_new_ones(tmp_path: Path) -> None:
    config = study_with(tmp_path).config
    config["waves"] = {"of": ["offline"], "first": "2026-W46"}
    add_waves(config, datetime(2026, 11, 18, tzinfo=UTC))
    written = yaml.safe_load(yaml.safe_dump(config))
    add_waves(written, datetime(2026, 11, 18, tzinfo=UTC))
    assert written == config
    add_waves(written, datetime(2026, 11, 25, tzinfo=UTC))
    assert set(written["conditions"]) - set(config["conditions"]) == {"offline_2026_w48"}
    assert written["metrics"]["baseline"] == "offline_2026_w46"


def test_waves_in_the_past_may_be_named_one_by_one(tmp_path: Path) -> None:
    conditions = {"spring": wave("2023-03"), "summer": wave("2023-06")}
    study = study_with(
        tmp_path,
        study={"conditions": ["summer", "spring"]},
        conditions=conditions,
        metrics={"baseline": "spring"},
    )
    assert waves_of(study.config) == {"spring": "2023-03", "summer": "2023-06"}
    assert series_of(study.config) == {"spring": "spring", "summer": "spring"}
    warm = {**conditions, "summer": wave("2023-06", temperature=0.5)}
    study = study_with(
        tmp_path,
        study={"conditions": ["summer", "spring"]},
        conditions=warm,
        metrics={"baseline": "spring"},
    )
    assert series_of(study.config) == {"spring": "spring", "summer": "summer"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"waves": {"of": ["offline"], "first": "2999-W01"}}, "waves.first: 2999-W01 begins on"),
        ({"waves": {"of": ["offline"], "first": "2026-W60"}}, "waves.first: '2026-W60' is no wave"),
        (
            {"waves": {"of": ["nobody"], "first": THIS_WEEK}},
            "waves.of: 'nobody' is not in conditions",
        ),
        ({"waves": {"of": [], "first": THIS_WEEK}}, "waves.of"),
        ({"waves": {"of": ["offline"]}}, "first"),
        ({"conditions": {"later": wave("2999-01")}}, "conditions.later.wave: 2999-01 begins on"),
        ({"conditions": {"odd": wave("last week")}}, "conditions.odd.wave: 'last week' is no wave"),
        (
            {"conditions": {"w": wave("2026-W40")}, "waves": {"of": ["w"], "first": THIS_WEEK}},
            "waves.of: 'w' is a wave itself",
        ),
        (
            {
                "study": {"conditions": ["offline", "offline_again"]},
                "waves": {"of": ["offline"], "first": THIS_WEEK},
            },
            "waves.of: 'offline_again' repeats 'offline'",
        ),
        (
            {
                "study": {"models": ["gpt"]},
                "models": {
                    "gpt": {
                        "provider": "openai",
                        "label": "G",
                        "model": "gpt",
                        "base_url": "http://127.0.0.1:1",
                        "dispatch": "batch",
                    }
                },
                "waves": {"of": ["offline"], "first": THIS_WEEK},
            },
            "models.gpt.dispatch: a batch may be answered a day later",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    tmp_path: Path, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(StudyError) as caught:
        study_with(tmp_path, **settings)
    assert sentence in str(caught.value)
    assert "study.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)
