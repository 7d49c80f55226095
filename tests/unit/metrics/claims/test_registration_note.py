"""The findings name the first record, what is missing, and everything that changed since."""

import copy
from typing import Any

import pytest

from fieldwork.metrics.claims.registration_note import (
    changed_settings,
    registration_note,
)
from fieldwork.metrics.claims.registration_records import PLAIN_FORMAT, complete_record
from unit.metrics.claims.test_preregistration import record, study_config

HASHES: dict[str, dict[str, str | None]] = {
    "questions": {"probe": "1", "recommendations": "2"},
    "files": {"parsing.aliases": "3", "corpora.mine": "4"},
    "code": {"parsing": "5"},
}


def registered(**changes: Any) -> dict[str, Any]:
    return record(hashes=HASHES) | changes


def with_hash(kind: str, name: str, sha256: str | None) -> dict[str, dict[str, str | None]]:
    return {**HASHES, kind: {**HASHES[kind], name: sha256}}


def test_without_a_record_nothing_is_said() -> None:
    assert registration_note([], study_config(), {}) is None


def test_a_study_that_is_as_it_was_registered() -> None:
    first = registered()
    assert registration_note([first], study_config(), HASHES) == (
        f"2026-03-02, before any answer (digest {first['digest']}). No setting, question, file or code "
        f"changed."
    )


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("questions", "probe", "Questions changed since: probe."),
        ("files", "parsing.aliases", "Files changed since: parsing.aliases."),
        ("files", "corpora.mine", "Files changed since: corpora.mine."),
        ("files", "parsing.overrides", "Files changed since: parsing.overrides."),
        ("code", "parsing", "Code changed since: parsing."),
    ],
)
def test_what_changed_is_named(kind: str, name: str, sentence: str) -> None:
    note = registration_note([registered()], study_config(), with_hash(kind, name, "another"))
    assert note is not None
    assert note.endswith(f"). {sentence}")


def test_what_cannot_be_compared_is_named_and_counts_as_no_change() -> None:
    hashes = with_hash("files", "corpora.mine", None)
    note = registration_note([registered()], study_config(), hashes)
    assert note is not None
    assert "No setting, question, file or code changed." in note
    assert note.endswith("Not compared, as the files are not here or were not: corpora.mine.")


def test_a_record_of_an_earlier_version_says_what_it_does_not_hold() -> None:
    old = registered(format=PLAIN_FORMAT)
    for key in ("digest", "hashes", "earlier", "answers_stored", "recorded_models"):
        del old[key]
    note = registration_note([old], study_config(), HASHES)
    assert note is not None
    assert "No setting changed. An earlier version of Fieldwork wrote this record" in note
    assert note.endswith("so questions, files and code were not compared.")


def test_changes_count_from_the_first_record_and_a_missing_one_is_named() -> None:
    first = registered()
    later = complete_record(registered(time="2026-03-05T10:00:00+00:00", answers_before=9), [first])
    config = study_config()
    config["metrics"]["permutations"] = 99
    note = registration_note([first, later], config, HASHES)
    assert note is not None
    assert note.startswith(
        f"2026-03-02, before any answer (digest {first['digest']}; 1 more followed)"
    )
    assert note.endswith("Settings changed since: metrics.permutations.")
    left = registration_note([later], study_config(), HASHES)
    assert left is not None
    assert left.startswith(f"Missing records: 2026-03-02 (digest {first['digest']}).")
    assert f"First that is left: 2026-03-05, after 9 answers (digest {later['digest']})." in left


def test_changed_settings_are_named() -> None:
    changed = copy.deepcopy(study_config())
    changed["metrics"]["permutations"] = 99
    changed["study"]["primary"] = [{"measure": "novelty"}]
    del changed["models"]["local"]
    assert changed_settings(record(), study_config()) == []
    # how a study is packed changes nothing
    assert changed_settings(record(), study_config() | {"archived": {"left_out": []}}) == []
    assert changed_settings(record(), changed) == [
        "metrics.permutations",
        "models.local",
        "study.primary",
    ]
