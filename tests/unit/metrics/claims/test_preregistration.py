"""A record says what the study will claim, is no other file, and shows what changed later."""

import copy
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.reading import read_study
from fieldwork.errors import StudyError
from fieldwork.metrics.claims.preregistration import (
    MOST_SETTINGS,
    StudySize,
    changed_settings,
    json_config,
    preregister,
    read_record,
    read_records,
    registration_note,
    render,
    study_sizes,
    write_record,
)
from unit.metrics.findings.finding_rows import filled

from fieldwork.records.power import PowerRow  # isort: skip

HOME = Path(__file__).resolve().parents[4]
TIME = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SIZES = [StudySize("recommendations", 9, 40, {"offline": 1, "history": 2, "rag": 2})]


def study_config() -> Any:
    config = read_study(HOME, [str(HOME / "config.yaml")], [], command_line={}, overlay={}).config
    return json_config(config)


def power_row(**values: Any) -> PowerRow:
    names = {"task": "recommendations", "measure": "share_who", "effect": "0.1", "replicates": 2,
             "condition": "history", "family": "primary"}  # fmt: skip
    row: PowerRow = filled(PowerRow, **{**names, **values})
    return row


def record(n_answers: int = 0, power: list[PowerRow] | None = None) -> dict[str, Any]:
    return preregister(study_config(), SIZES, power or [], n_answers=n_answers, time=TIME)


def test_a_record_has_what_the_study_will_claim() -> None:
    text = render(record())
    for part in (
        "# Preregistration of the study quickstart",
        "- share_who differs (all simulated users).",
        "recommendations: 9 prompts, 40 users or reruns a condition",
        "No answer of this study existed",
        "one family, corrected after Holm at 0.05 over the study",
        "min_user_turns 5",
    ):
        assert part in text


def test_answers_that_were_there_are_counted() -> None:
    assert "7 answers of this study existed when it was registered" in render(record(7))


def test_power_is_that_of_the_largest_size_within_the_study() -> None:
    rows = [
        power_row(n_users=20, power=0.5),
        power_row(n_users=40, power=0.7),
        power_row(n_users=60, power=0.9),
        power_row(n_users=40, power=0.99, replicates=5),
        power_row(n_users=40, power=None, effect="0.4"),
        power_row(n_users=20, power=1.0, effect="0.4"),
        # a condition whose tests are corrected otherwise, and participants, whom the study has not
        power_row(n_users=40, power=0.6, condition="rag", family="share_who"),
        power_row(n_users=40, power=0.65, condition="rag"),
        power_row(n_users=40, power=0.1, condition="field"),
    ]
    assert [(p["effect"], p["n_users"], p["power"]) for p in record(power=rows)["power"]] == [
        ("0.1", 40, 0.65),
        ("0.1", 40, 0.6),
        ("0.4", 20, 1.0),
    ]


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(record(1)), encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(record()), encoding="utf-8")
    assert read_records(str(tmp_path)) == [record(), record(1)]
    assert read_records(str(tmp_path / "none")) == []


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "other"}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=r"a\.json: is no preregistration"):
        read_records(str(tmp_path))


def test_changes_since_are_named() -> None:
    changed = copy.deepcopy(study_config())
    changed["metrics"]["permutations"] = 99
    changed["study"]["primary"] = [{"measure": "novelty"}]
    del changed["models"]["local"]
    assert changed_settings(record(), study_config()) == []
    assert changed_settings(record(), changed) == [
        "metrics.permutations",
        "models.local",
        "study.primary",
    ]


def test_the_note_of_the_findings() -> None:
    digest = record()["config_digest"]
    assert registration_note([], study_config()) is None
    assert registration_note([record()], study_config()) == (
        f"2026-03-02, before any answer (config {digest}). No setting changed."
    )
    changed = study_config() | {"figures": {}}
    note = registration_note([record(9), record(10)], changed)
    assert note is not None
    assert note.startswith(f"2026-03-02, after 9 answers (config {digest}; 1 more")
    assert "Settings changed since: figures." in note


def test_a_record_is_written_with_its_page_and_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    page = write_record(str(folder), record())
    assert page.name == f"{TIME:%Y-%m-%dT%H%M%S}_{record()['config_digest']}.md"
    assert page.read_text(encoding="utf-8") == render(record())
    assert read_records(str(folder)) == [read_record(page.with_suffix(".json"))] == [record()]


def test_a_study_asks_each_task_as_often_as_the_config_says() -> None:
    config = json_config(study_config() | {"day": date(2026, 3, 2)})
    assert config["day"] == "2026-03-02"
    names = config["study"]["tasks"]
    sizes = study_sizes(config, dict.fromkeys(names, 7))
    assert [(size.task, size.n_items) for size in sizes] == [(name, 7) for name in names]
    assert [size.n_runs for size in sizes] == [config["tasks"][name]["runs"] for name in names]
    assert all([*size.replicates] == config["study"]["conditions"] for size in sizes)


def test_of_many_changed_settings_some_are_named() -> None:
    note = registration_note([record()], {"study": study_config()["study"]})
    assert note is not None
    assert note.count(",") == 1 + MOST_SETTINGS
    assert " more." in note
