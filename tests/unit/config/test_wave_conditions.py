"""Waves in a config: what `waves` adds, which form a series, and what can be wrong with them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.study import Study
from fieldwork.config.waves import add_waves, drawn_conditions, series_of, tables_of_waves, waves_of
from fieldwork.waves import wave_of
from unit.shipped_config import HOME, checked_config, complaint, config_with

THIS_WEEK = wave_of(datetime.now(UTC).date(), "week").name
NOW = datetime(2026, 11, 25, tzinfo=UTC)  # in week 48
DRIFT = {"study/name": "drift", "study/conditions": ["offline", "history"]}
BATCH = {
    "provider": "openai",
    "label": "G",
    "model": "gpt",
    "base_url": "http://h",
    "dispatch": "batch",
}


@pytest.fixture(autouse=True)
def _study_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of a study, where records of its waves lie."""
    monkeypatch.chdir(tmp_path)


def wave(name: str, **changes: Any) -> dict[str, Any]:
    return {"context": "none", "label": name, "wave": name, **changes}


def record_waves(study: str, *names: str) -> None:
    folder = Path("resources/waves", study)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.txt").touch()


def test_the_present_wave_stands_for_its_condition() -> None:
    study = Study(checked_config(DRIFT | {"waves": {"of": ["offline"]}}), HOME)
    name = f"offline_{THIS_WEEK.replace('-W', '_w')}"
    assert list(study.entries("conditions")) == [name, "history"]
    assert study.baseline == name
    assert study.condition(name)["label"] == f"{study.condition('offline')['label']}, {THIS_WEEK}"
    assert waves_of(study.config) == {name: THIS_WEEK}
    arms = [study.generation_arm("smollm2", "mmlu_lite", one) for one in (name, "history")]
    record = f"resources/waves/drift/{THIS_WEEK}.txt"
    assert [(arm["wave"], arm["wave_record"]) for arm in arms] == [
        (THIS_WEEK, record),
        (None, None),
    ]


def test_every_wave_that_was_run_is_there() -> None:
    # nobody ran the study in week 46; the months and the other study are none of it
    record_waves("drift", "2026-W47", "2026-W45", "2026-11", "notes")
    record_waves("another", "2026-W40")
    config = checked_config(DRIFT)
    config["waves"] = {"of": ["offline", "history"], "every": "week"}
    add_waves(config, NOW)
    weeks = ["2026_w45", "2026_w47", "2026_w48"]
    names = [f"{name}_{week}" for name in ("offline", "history") for week in weeks]
    assert config["study"]["conditions"] == names
    assert {series_of(config)[name] for name in names[:3]} == {"offline_2026_w45"}
    assert {series_of(config)[name] for name in names[3:]} == {"history_2026_w45"}
    # the waves between the ends would fill every figure after a year
    assert drawn_conditions(config) == [name for name in names if not name.endswith("w47")]
    later_waves = Study(config, HOME).claim_rules()["later_waves"]
    assert sorted(later_waves) == sorted(name for name in names if not name.endswith("w45"))


@pytest.mark.parametrize(("temperature", "series"), [(1, "spring"), (0.5, "summer")])
def test_waves_in_the_past_may_be_named_one_by_one(temperature: float, series: str) -> None:
    config = checked_config(
        {
            "study/conditions": ["summer", "spring"],
            "conditions/spring": wave("2023-03"),
            "conditions/summer": wave("2023-06", temperature=temperature),
            "metrics/baseline": "spring",
        }
    )
    assert waves_of(config) == {"spring": "2023-03", "summer": "2023-06"}
    assert series_of(config) == {"spring": "spring", "summer": series}


def test_two_waves_make_a_table_and_a_figure() -> None:
    conditions = {"study/conditions": ["offline", "offline_again", "history"]}
    first = {"conditions/offline/wave": "2026-W40"}
    later = {"conditions/offline_again": wave("2026-W41", label="Later")}
    one, both = (
        Study(checked_config(conditions | first | more), HOME)
        for more in ({"conditions/offline_again/after": None}, later)
    )
    tables = {Path(path).stem for path in both.metric_tables()}
    assert tables - {Path(path).stem for path in one.metric_tables()} == {"drift"}
    assert ("drift" in both.figures(), "drift" in one.figures()) == (True, False)


def test_the_tables_of_waves_are_those_of_their_conditions() -> None:
    paths = ["responses/m/t/offline.parquet", "responses/m/t/history.parquet"]
    assert tables_of_waves(paths, {"history": "2026-W40"}) == paths[1:]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"study/conditions": ["later"], "conditions/later": wave("2999-01")},
            "conditions.later.wave: 2999-01 begins on",
        ),
        ({"conditions/odd": wave("last week")}, "conditions.odd.wave: 'last week' is no wave"),
        (
            {"conditions/w": wave("2026-W40"), "waves": {"of": ["w"]}},
            "waves.of: 'w' is a wave itself",
        ),
        (
            {"study/conditions": ["offline", "offline_again"], "waves": {"of": ["offline"]}},
            "waves.of: 'offline_again' repeats 'offline'",
        ),
        (
            {"study/models": ["gpt"], "models/gpt": BATCH, "waves": {"of": ["offline"]}},
            "models.gpt.dispatch: a batch may be answered a day later",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in complaint(config_with(DRIFT | changes))
