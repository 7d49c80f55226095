"""What the page claims of real users: nothing without its test, and with every number it has."""

from typing import Any

import pytest

from fieldwork.metrics.findings.field import field_sections, repeated_text_notes
from fieldwork.metrics.findings.layout import FindingsSection
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import GroupDifference, RankAgreement
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    agreement_row,
    cells,
    claims_of,
    entropy_row,
    group_row,
    order_row,
)


def group_section(rows: list[GroupDifference]) -> FindingsSection:
    return field_sections(rows, [], [], [], claims_of(*rows), FIELD_OUTLINE)[0]


def test_no_field_no_section() -> None:
    assert field_sections([], [], [], [], claims_of(), FIELD_OUTLINE) == []


@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        (
            group_row(),
            (
                "man − woman",
                "entropy, bits",
                "+0.50 (0.20…0.80)",
                "20, 21",
                "9",
                "0.020",
                "differ",
            ),
        ),
        (
            group_row(p_value=0.5, metric="share_correct"),
            (
                *(
                    "man − woman",
                    "share correct, points",
                    "+50 (20…80)",
                    "20, 21",
                    "9",
                    "0.50",
                ),
                "not detected",
            ),
        ),
        (
            group_row(versus=None, difference=None, p_value=None, reason="nobody answers"),
            (
                *("man − mean of the others", "entropy, bits", "–", "20, 21", "9", "–"),
                "no test: nobody answers",
            ),
        ),
        (
            group_row(
                group=None,
                versus=None,
                metric="js_bits",
                value=0.2,
                value_versus=0.1,
                n_group=41,
                n_versus=0,
            ),
            (
                *("all", "distribution, bits", "0.200, by chance 0.100", "41", "9", "0.020"),
                "differ",
            ),
        ),
    ],
)
def test_groups(row: GroupDifference, numbers: tuple[str, ...]) -> None:
    section = group_section([row])
    assert section.title == "Groups of real users: gender"
    assert cells(section) == [("rec", "gender", *numbers)]
    assert len(section.columns) == len(numbers) + 2


def test_of_many_groups_without_a_difference_the_nearest_is_listed() -> None:
    rows = [
        group_row(group=group, versus=None, p_value=p, n_family=3)
        for group, p in (("a", 0.6), ("b", 0.3), ("c", 0.9))
    ]
    ((_, _, pair, *_, p, verdict),) = cells(group_section(rows))
    assert (pair, p, verdict) == ("b − mean of the others", "0.30", "not detected")


def test_prompts_that_differ_are_counted() -> None:
    rows = [group_row(item_id=item, p_value=p, n_family=2) for item, p in (("a", 0.01), ("b", 0.4))]
    assert cells(group_section(rows)) == [
        ("rec", "gender", "by prompt", "entropy", "a (man)", "–", "1", "–", "1 of 2 differ")
    ]


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (order_row(), "same order"),
        (order_row(p_value=0.3), "not detected"),
        (order_row(tau_b=-0.8, rho=-0.9), "opposite order"),
        (
            order_row(p_value=0.08, p_least=0.08),
            "cannot be shown: with so few or so equal answers, p is at least 0.08",
        ),
        (
            order_row(tau_b=None, rho=None, p_value=None, reason="all alike"),
            "no test: all alike",
        ),
    ],
)
def test_predictors(row: RankAgreement, verdict: str) -> None:
    (found,) = cells(field_sections([], [row], [], [], claims_of(row), FIELD_OUTLINE)[0])
    assert found[-1] == verdict


def test_an_order_has_its_numbers_and_its_ceiling() -> None:
    rows = [
        order_row(model=None, over="models"),
        order_row(predictor="history", ceiling=None),
        order_row(),
    ]
    outline = FIELD_OUTLINE._replace(models={"m": "Model", "n": "Next"})
    numbers = ("+0.80 (0.40…1.00)", "0.002", "3/36", "+0.90")
    assert cells(field_sections([], rows, [], [], claims_of(*rows), outline)[0]) == [
        ("rec", "all", "RAG", "9 models by entropy", *numbers, "–", "same order"),
        ("rec", "Model", "RAG", "9 items by entropy", *numbers, "0.90", "same order"),
        ("rec", "Model", "History", "9 items by entropy", *numbers,
         "unknown: too few answers", "same order"),
    ]  # fmt: skip


def test_how_near() -> None:
    rows = [
        agreement_row(),
        agreement_row(item_id="films", js_distance=0.2, p_value=0.6, p_rank=0.7, is_same_top=False),
    ]
    assert cells(field_sections([], [], rows, [], claims_of(*rows), FIELD_OUTLINE)[-1]) == [
        ("rec", "RAG", "1/2", "books", "0.40", "0.10", "1/2: books", "1 (50 %)", "differs")
    ]


def test_nothing_near_has_its_reason() -> None:
    row = agreement_row(js_distance=None, p_value=None, reason="no answer can be read")
    assert cells(field_sections([], [], [row], [], claims_of(row), FIELD_OUTLINE)[-1])[0][-1] == (
        "no test: no answer can be read"
    )


def varied_row(**values: Any) -> Estimate:
    against = {"reference": "field", "versus": "field", "difference_low": -0.05, "p_value": 0.3}
    sizes = {"difference_high": 0.24, "n_equal": 20, "n_units_versus": 30}
    return entropy_row(**{"p": 0.3, "difference": 0.1, **against, **sizes, **values})


@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        (varied_row(), ("+0.10 (−0.05…0.24)", "9", "0.30", "equivalent (±0.25 bits)")),
        (varied_row(p_value=0.01), ("+0.10 (−0.05…0.24)", "9", "0.010", "more varied")),
        (
            varied_row(difference_high=0.3),
            ("+0.10 (−0.05…0.30)", "9", "0.30", "not detected (0.25 bits would be)"),
        ),
    ],
)
def test_heterogeneity_beside_the_field(row: Estimate, numbers: tuple[str, ...]) -> None:
    section = field_sections([], [], [], [row], claims_of(row), FIELD_OUTLINE)[0]
    assert section.title == "Heterogeneity beside the field"
    assert cells(section) == [("rec", "RAG", "3.50", "3.40", "20", "30", *numbers)]


def test_texts_that_a_participant_gave_again_are_a_caution() -> None:
    rows = [
        {"check": "same_text", "n_flagged": "6"},
        {"check": "same_text", "n_flagged": "0"},
        {"check": "too_short", "n_flagged": "3"},
    ]
    (note,) = repeated_text_notes(rows)
    assert note.startswith("6 answers of real users are, word for word, what the same person had")
    assert repeated_text_notes(rows[1:]) == repeated_text_notes([]) == []
    assert repeated_text_notes([rows[0] | {"n_flagged": "1"}])[0].startswith("one answer of real")
