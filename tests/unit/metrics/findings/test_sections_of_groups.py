"""The sections about groups of people, and their sentence: claimed only with a verdict."""

from typing import Any

from fieldwork.metrics.findings.group_gaps import group_gap_sections, group_gap_sentence
from fieldwork.metrics.findings.verdicts import StudyClaims
from fieldwork.records.robustness import GroupGap
from unit.metrics.findings.finding_rows import OUTLINE, cells, claims_of, gap_row


def option_rows(p: float | None, **values: Any) -> list[GroupGap]:
    """The largest difference of an option, and the two shares behind it."""
    names = {"item_id": "cars", "option": "Tesla", "kind": "list"}
    shares = [
        gap_row(None, metric="option_share", group=group, other_group=None, estimate=share, **names)
        for group, share in (("women", 0.35), ("men", 0.75))
    ]
    row = {"metric": "option_gap", "group": "men", "other_group": "women", "estimate": 0.4}
    return [gap_row(p, **{**names, **row, "expected_same": None, **values}), *shares]


def test_a_gap_stands_beside_what_chance_makes() -> None:
    row = gap_row(0.001)
    gaps, options = group_gap_sections([row], claims_of(row), OUTLINE)
    assert cells(gaps) == [
        ("mmlu", "T1", "score, best group less worst", "women − men", "12.0", "3.0", "differ")
    ]
    assert options.findings == []
    assert group_gap_sentence([row], claims_of(row), OUTLINE) == (
        "1 of 1 test with a difference between groups of people, most in the score, best group less "
        "worst (+12.0 points, women − men)"
    )


def test_answers_that_differ_name_no_two_groups() -> None:
    row = gap_row(0.4, metric="excess_flips", group=None, other_group=None, n_groups=4)
    gaps, _ = group_gap_sections([row], claims_of(row), OUTLINE)
    assert cells(gaps)[0][2:4] == ("other letters for another group", "4 groups")
    assert group_gap_sentence([row], claims_of(row), OUTLINE) == (
        "no difference between groups of people is shown"
    )


def test_an_option_stands_with_its_shares() -> None:
    rows = option_rows(0.001)
    _, options = group_gap_sections(rows, claims_of(rows[0]), OUTLINE)
    assert cells(options) == [
        ("mmlu", "T1", "cars", "Tesla", "men 75.0 %", "women 35.0 %", "differ")
    ]
    assert group_gap_sentence(rows, claims_of(rows[0]), OUTLINE) == (
        "1 of 1 option given to one group more often, most Tesla: 75.0 % to men, 35.0 % to women"
    )
    undecided = option_rows(0.3)
    assert group_gap_sentence(undecided, claims_of(undecided[0]), OUTLINE) == (
        "no option is shown to be given to one group more often"
    )


def test_what_has_no_test_says_so() -> None:
    row = gap_row(None, estimate=None, group=None, reason="no item is answered for all groups")
    gaps, _ = group_gap_sections([row], claims_of(row), OUTLINE)
    assert cells(gaps)[0][-1] == "no test: no item is answered for all groups"
    assert "cannot be tested" in group_gap_sentence([row], claims_of(row), OUTLINE)


def test_questions_that_are_asked_for_groups_alone_are_there() -> None:
    row = gap_row(0.001, origin="hired")
    gaps, _ = group_gap_sections([row], claims_of(row), OUTLINE)
    assert cells(gaps)[0][0] == "hired"
    assert group_gap_sentence([row], claims_of(row), OUTLINE).startswith("1 of 1 test with")


def test_labels_of_groups_are_no_markup() -> None:
    row = gap_row(0.001, group="<b>", other_group="a|b")
    gaps, _ = group_gap_sections([row], claims_of(row), OUTLINE)
    assert cells(gaps)[0][3] == r"&lt;b> − a\|b"


def test_a_study_without_groups_says_nothing() -> None:
    assert group_gap_sections([], StudyClaims(), OUTLINE) == []
    assert group_gap_sentence([], StudyClaims(), OUTLINE) == ""
