"""The section about raters: what is shown, in which order, and when it is not there."""

from typing import Any

from fieldwork.metrics.findings.raters import rater_sections
from fieldwork.records.judging import JudgementEstimate
from unit.metrics.findings.finding_rows import OUTLINE, cells


def estimate(measure: str, raters: str, versus: str | None, **values: Any) -> JudgementEstimate:
    settings: dict[str, Any] = {
        "scale": "helpful_1",
        "unit_group": None,
        "option": None,
        "estimate": 0.5,
        "ci_low": 0.4,
        "ci_high": 0.6,
        "chance": None,
        "largest": None,
        "n_units": 120,
        "n_judgements": 1_440,
        "n_raters": 6,
        "n_owners": 40,
        "reason": None,
    }
    return JudgementEstimate(measure=measure, raters=raters, versus=versus, **(settings | values))


def test_a_study_without_judgements_has_no_section() -> None:
    assert rater_sections([], OUTLINE) == []


def test_people_come_before_models_and_agreement_stands_beside_chance() -> None:
    rows = [
        estimate("inflation", "gpt", "people", estimate=0.25, ci_low=0.1, ci_high=0.41),
        estimate("exact_agreement", "models", "people", chance=0.3),
        estimate("exact_agreement", "people", "people", chance=0.25),
        estimate("kappa", "people", "people", largest=0.8),
        estimate("accepted", "gpt", None),
    ]
    (section,) = rater_sections(rows, OUTLINE)
    assert [row[1:7] for row in cells(section)] == [
        ("gpt", "–", "accepted, %", "50 (40…60)", "–", "–"),
        ("people", "people", "same answer, %", "50 (40…60)", "25", "–"),
        ("models", "people", "same answer, %", "50 (40…60)", "30", "–"),
        ("people", "people", "κ", "0.50 (0.40…0.60)", "–", "0.80"),
        ("gpt", "people", "rating above people's", "+0.25 (0.10…0.41)", "–", "–"),
    ]
    assert {row[-1] for row in cells(section)} == {"no test"}


def test_parts_repeats_and_what_has_no_value_are_left_to_the_table() -> None:
    rows = [
        estimate("accepted", "people", None, unit_group="real"),
        estimate("exact_agreement", "people", "themselves"),
        estimate("alpha", "models", "models", estimate=None, ci_low=None, ci_high=None),
        estimate("share", "people", None, option="yes"),
    ]
    (section,) = rater_sections(rows, OUTLINE)
    assert section.findings == []
    assert section.absence == "No judgement has a value."


def test_a_preference_names_the_conditions_of_both_sides() -> None:
    rows = [
        estimate("preferred", "people", None, option="b", estimate=0.61),
        estimate("preferred", "people", None, option="a", estimate=0.3),
    ]
    outline = OUTLINE._replace(pairs={"helpful_1": ("Offline", "SP-Memory")})
    for known, words in (
        (outline, "SP-Memory preferred over Offline, %"),
        (OUTLINE, "second answer preferred, %"),
    ):
        (section,) = rater_sections(rows, known)
        assert [row[3:5] for row in cells(section)] == [(words, "61 (40…60)")]
