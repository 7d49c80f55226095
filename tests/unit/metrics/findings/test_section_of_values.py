"""The section and the sentence about scales and numbers."""

from typing import Any

from tests.unit.metrics.findings.finding_rows import OUTLINE, PHRASES, cells, claims_of, filled

from fieldwork.metrics.findings.layout import section_lines
from fieldwork.metrics.findings.values import value_sections, values_sentence
from fieldwork.records.values import ValueComparison

STUDY = OUTLINE._replace(phrases=PHRASES)


def row(p: float | None, item_id: str | None = None, **values: Any) -> ValueComparison:
    difference = {"difference": 0.1, "ci_low": 0.05, "ci_high": 0.15, "p_value": p, "p_least": 1e-6}
    names = {"model": "m", "task": "mmlu", "condition": "rag", "versus": "offline", "kind": "scale"}
    rest = {"superiority": 0.7, "distance": 0.2, "distance_same": 0.05}
    rest |= {
        "n_units": 40,
        "n_missing": 2,
        "n_units_versus": 38,
    }
    made: ValueComparison = filled(
        ValueComparison, **names | difference | rest | {"item_id": item_id} | values
    )
    return made


def test_a_study_without_values_has_no_section_and_no_sentence() -> None:
    assert value_sections([], claims_of(), OUTLINE) == []
    assert values_sentence([], claims_of(), OUTLINE) == ""


def test_a_row_names_question_and_comparison_and_gives_chance_beside_the_distance() -> None:
    rows = [row(0.001), row(0.4, "q")]
    (section,) = value_sections(rows, claims_of(*rows), OUTLINE)
    first, second = cells(section)
    assert first[2:9] == (
        "all scales together",
        "T1",
        "40 + 2 / 38",
        "+0.10 (0.05…0.15)",
        "70 %",
        "0.20 (0.05)",
        "0.001",
    )
    assert first[-1] == "higher"
    assert (second[2], second[-1]) == ("q", "not detected")


def test_the_sentence_is_about_the_scales_together_beside_asking_again() -> None:
    rows = [row(0.001), row(0.9, condition="history"), row(0.001, "q")]
    moved = "the scales together move by +0.10 of their length after the most similar conversation"
    assert values_sentence(rows, claims_of(*rows), STUDY) == moved
    rows += [row(0.2, condition="again", difference=-0.07)]
    assert values_sentence(rows, claims_of(*rows), STUDY) == (
        f"{moved}; asking again moved them by −0.07"
    )


def test_single_questions_that_move_are_not_the_scales_together() -> None:
    """Items that move in opposite directions cancel each other."""
    rows = [row(0.9), row(0.001, "q"), row(0.9, "r")]
    assert values_sentence(rows, claims_of(*rows), STUDY) == (
        "no user is shown to move the scales together"
    )
    assert values_sentence(rows[1:], claims_of(*rows[1:]), STUDY) == ""


def test_without_an_interval_of_the_means_a_test_of_ranks_claims_no_direction() -> None:
    """Few users: ranks may differ where means do not."""
    rows = [row(0.001, "q", ci_low=None, ci_high=None, reason="no interval: 12 users answer")]
    (section,) = value_sections(rows, claims_of(*rows), OUTLINE)
    assert cells(section)[0][-1] == "differs"
    rows = [row(0.001, ci_low=None, ci_high=None, reason="no interval: 12 users answer")]
    sentence = values_sentence(rows, claims_of(*rows), STUDY)
    assert sentence == "the scales together move after the most similar conversation"


def test_a_long_table_keeps_the_scales_together() -> None:
    rows = [row(0.9), *(row(0.9, f"q{k:02}") for k in range(40))]
    (section,) = value_sections(rows, claims_of(*rows), OUTLINE)
    lines = section_lines(section)
    assert sum("all scales together" in line for line in lines if line.startswith("|")) == 1
    assert any("40 more" in line for line in lines)


def test_the_section_says_why_differences_have_no_interval() -> None:
    """The reason of the table, which each row has with numbers of its own, is said once."""
    lost = {
        "ci_low": None,
        "ci_high": None,
        "reason": "no interval: 36 users answer, and 39 are needed",
    }
    (section,) = value_sections([row(0.9, **lost)], claims_of(), OUTLINE)
    assert "without an interval too few answer (metrics.rarest\\_users)" in section.question
    (section,) = value_sections([row(0.9)], claims_of(), OUTLINE)
    assert "rarest" not in section.question
