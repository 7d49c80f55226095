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

Config = dict[str, Any]

HOME = Path(__file__).resolve().parents[3]

TODAY = datetime.now(UTC).date()
THIS_WEEK = wave_of(TODAY, "week").name
NOW = datetime(2026, 11, 25, tzinfo=UTC)  # in week 48

BATCH = {
    "provider": "openai", "label": "G", "model": "gpt", "base_url": "http://127.0.0.1:1",
    "dispatch": "batch",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _study_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of a study, where records of its waves lie."""
    (tmp_path / "folder").mkdir()
    for part in ("resources", "workflow"):
        (tmp_path / "folder" / part).mkdir()
    monkeypatch.chdir(tmp_path / "folder")


def study_with(folder: Path, **settings: Any) -> Study:
    file = folder / "study.yaml"
    study = {"name": "drift", "conditions": ["offline", "history"], **settings.pop("study", {})}
    file.write_text(yaml.safe_dump({"study": study, **settings}), encoding="utf-8")
    overlay = yaml.safe_load(file.read_text(encoding="utf-8"))
    return read_study(HOME, [HOME / "config.yaml"], [file], command_line={}, overlay=overlay)


def wave(name: str, **changes: Any) -> dict[str, Any]:
    return {"context": "none", "label": name, "wave": name, **changes}


def with_waves(folder: Path, of: list[str], *weeks: str, now: datetime = NOW) -> Config:
    """A config of a study that was run in some weeks."""
    record_waves("drift", *weeks)
    config = study_with(folder).config
    config["waves"] = {"of": of, "every": "week"}
    add_waves(config, now)
    return config


def record_waves(study: str, *names: str) -> None:
    for name in names:
        record = Path(f"resources/waves/{study}/{name}.txt")
        record.parent.mkdir(parents=True, exist_ok=True)
        record.touch()


def test_the_present_wave_stands_for_its_condition(tmp_path: Path) -> None:
    study = study_with(tmp_path, waves={"of": ["offline"]})
    name = f"offline_{THIS_WEEK.replace('-W', '_w')}"
    assert list(study.entries("conditions")) == [name, "history"]
    assert study.baseline == name
    entry = study.condition(name)
    assert entry["label"] == f"{study.condition('offline')['label']}, {THIS_WEEK}"
    assert waves_of(study.config) == {name: THIS_WEEK}
    arm = study.generation_arm("smollm2", "mmlu_lite", name)
    record = f"resources/waves/drift/{THIS_WEEK}.txt"
    assert (arm["wave"], arm["wave_record"]) == (THIS_WEEK, record)
    usual = study.generation_arm("smollm2", "mmlu_lite", "history")
    assert (usual["wave"], usual["wave_record"]) == (None, None)


def test_every_wave_that_was_run_is_there(tmp_path: Path) -> None:
    # nobody ran the study in week 46; the months and the other study are none of it
    record_waves("drift", "2026-11", "notes")
    record_waves("another", "2026-W40")
    config = with_waves(tmp_path, ["offline", "history"], "2026-W47", "2026-W45")
    weeks = ["2026_w45", "2026_w47", "2026_w48"]
    names = [f"{name}_{week}" for name in ("offline", "history") for week in weeks]
    assert config["study"]["conditions"] == names
    assert {series_of(config)[name] for name in names[:3]} == {"offline_2026_w45"}
    assert {series_of(config)[name] for name in names[3:]} == {"history_2026_w45"}
    # the waves between the ends would fill every figure after a year
    assert drawn_conditions(config) == [name for name in names if not name.endswith("w47")]
    later_waves = Study(config, HOME).claim_rules()["later_waves"]
    assert sorted(later_waves) == sorted(name for name in names if not name.endswith("w45"))


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
        (
            {"waves": {"of": ["nobody"]}},
            "waves.of: 'nobody' is not in conditions",
        ),
        (
            {"study": {"conditions": ["later"]}, "conditions": {"later": wave("2999-01")}},
            "conditions.later.wave: 2999-01 begins on",
        ),
        ({"conditions": {"odd": wave("last week")}}, "conditions.odd.wave: 'last week' is no wave"),
        (
            {"conditions": {"w": wave("2026-W40")}, "waves": {"of": ["w"]}},
            "waves.of: 'w' is a wave itself",
        ),
        (
            {
                "study": {"conditions": ["offline", "offline_again"]},
                "waves": {"of": ["offline"]},
            },
            "waves.of: 'offline_again' repeats 'offline'",
        ),
        (
            {"study": {"models": ["gpt"]}, "models": {"gpt": BATCH}, "waves": {"of": ["offline"]}},
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
