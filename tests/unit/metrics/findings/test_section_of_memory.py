"""The sections about what is known of users: whose judgements they are is never left open."""

from typing import Any

import pytest

from fieldwork.metrics.findings.memory import memory_sections
from fieldwork.records.judging import InterventionEstimate
from fieldwork.records.memory import MemoryMatch


def match(**columns: Any) -> MemoryMatch:
    values = {"stage": "read", "measure": "recall", "estimate": 0.25, "ci_low": 0.1, "ci_high": 0.4}
    counts = {
        "match_above": 0.7,
        "n_users": 40,
        "n_attributes": 90,
        "n_references": 120,
        "n_matches": 30,
    }
    return MemoryMatch(**(values | counts | {"reason": None} | columns))  # type: ignore[arg-type]


def estimate(arm: str, labels_of: str | None = "people", **columns: Any) -> InterventionEstimate:
    values = {"units": "right", "kind": "attributes", "measure": "precision", "estimate": 0.58}
    rest = {"ci_low": 0.5, "ci_high": 0.66, "n_units": 200, "n_users": 50, "reason": None}
    return InterventionEstimate(**(values | rest | {"arm": arm, "labels_of": labels_of} | columns))  # type: ignore[arg-type]


def test_a_study_without_a_memory_has_no_section() -> None:
    assert memory_sections([], []) == []


def test_shares_are_percent_with_intervals() -> None:
    (section,) = memory_sections([match(), match(measure="f1", estimate=None)], [])
    assert "120 facts of 40 users" in section.question
    (row,) = section.findings
    assert row.cells[:3] == ("as read", "of what is true, %", "25 (10…40)")


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["people", "people"], "The judgements are people's."),
        (["models", "models"], "No person judged: the judgements are a model's."),
        (
            ["people", "models"],
            "The judgements are people's, but for what is stated once more, which models judged.",
        ),
    ],
)
def test_models_judgements_are_never_taken_for_peoples(labels: list[str], sentence: str) -> None:
    rows = [estimate(arm, who) for arm, who in zip(("before", "refined"), labels, strict=True)]
    (section,) = memory_sections([], rows)
    assert sentence in section.question
    assert [f.cells[1] for f in section.findings] == ["before", "verified, and stated once more"]


def test_units_that_models_alone_judged_are_named() -> None:
    rows = [
        estimate("all"),
        estimate("all", "models", units="better", kind="pairs"),
        estimate("before", units="memory.verify"),
        estimate("refined", "models", units="memory.verify"),
    ]
    (section,) = memory_sections([], rows)
    sentence = "but for better and what is stated once more, which models judged."
    assert f"The judgements are people's, {sentence}" in section.question
    (section,) = memory_sections([], rows[:2])
    assert "people's, but for better, which models judged." in section.question


def test_what_could_not_be_learnt_is_no_row() -> None:
    (section,) = memory_sections([], [estimate("learnt", estimate=None, reason="too few")])
    assert section.findings == []
