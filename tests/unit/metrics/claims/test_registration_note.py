"""The findings name the first record, what is missing, and everything that changed since."""

import copy
from typing import Any

import pytest

from fieldwork.metrics.claims.registration_note import changed_settings, registration_note
from fieldwork.metrics.claims.registration_records import PLAIN_FORMAT, complete_record
from unit.metrics.claims.test_preregistration import record, study_config

HASHES: dict[str, dict[str, str | None]] = {
    "questions": {"probe": "1", "recommendations": "2"},
    "files": {"parsing.aliases": "3", "corpora.mine": "4"},
    "code": {"parsing": "5"},
}


def registered(**changes: Any) -> dict[str, Any]:
    return record(hashes=HASHES) | changes


def note_of(records: list[dict[str, Any]], config: Any = None, hashes: Any = None) -> str:
    return registration_note(records, config or study_config(), hashes or HASHES) or ""


NOT_HERE = "code changed. Not compared, as the files are not here or were not: corpora.mine."


@pytest.mark.parametrize(
    ("kind", "name", "sha256", "sentence"),
    [
        ("questions", "probe", "x", "Questions changed since: probe."),
        # a file that was not there before
        ("files", "parsing.overrides", "x", "Files changed since: parsing.overrides."),
        ("code", "parsing", "x", "Code changed since: parsing."),
        ("files", "corpora.mine", None, NOT_HERE),
    ],
)
def test_what_changed_is_named(kind: str, name: str, sha256: str | None, sentence: str) -> None:
    hashes = {**HASHES, kind: {**HASHES[kind], name: sha256}}
    assert note_of([registered()], hashes=hashes).endswith(sentence)


def test_a_record_of_an_earlier_version_says_what_it_does_not_hold() -> None:
    assert registration_note([], study_config(), {}) is None
    old = registered(format=PLAIN_FORMAT)
    for key in ("digest", "hashes", "earlier", "answers_stored", "recorded_models"):
        del old[key]
    assert "No setting changed. An earlier version of Fieldwork wrote this record" in note_of([old])


def test_changes_count_from_the_first_record_and_a_missing_one_is_named() -> None:
    first = registered()
    later = complete_record(registered(time="2026-03-05T10:00:00+00:00", answers_before=9), [first])
    config = study_config()
    config["metrics"]["permutations"] = 99
    note = note_of([first, later], config)
    start = f"2026-03-02, before any answer (digest {first['digest']}; 1 more followed)"
    assert note.startswith(start)
    assert note.endswith("Settings changed since: metrics.permutations.")
    left = note_of([later])
    assert left.startswith(f"Missing records: 2026-03-02 (digest {first['digest']}).")
    assert f"First that is left: 2026-03-05, after 9 answers (digest {later['digest']})." in left


def test_changed_settings_are_named() -> None:
    changed = copy.deepcopy(study_config())
    changed["metrics"]["permutations"] = 99
    changed["study"]["primary"] = [{"measure": "novelty"}]
    del changed["models"]["local"]
    names = ["metrics.permutations", "models.local", "study.primary"]
    assert changed_settings(record(), changed) == names
    # how a study is packed changes nothing
    assert changed_settings(record(), study_config() | {"archived": {"left_out": []}}) == []
