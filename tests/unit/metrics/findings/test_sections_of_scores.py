"""Sections about scored questions claim what a test shows, and give the same numbers elsewhere."""

import dataclasses

import pytest

from fieldwork.metrics.findings import scores
from fieldwork.records.metrics import Novelty
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    OUTLINE,
    category_row,
    cells,
    claims_of,
    novelty_row,
    rank_row,
    score_row,
    spread_row,
)


@pytest.mark.parametrize(
    ("p", "p_spread", "cells_of_p", "verdict"),
    [
        (0.01, 0.02, ("0.010", "0.020"), "lower, wider spread"),
        (0.01, 0.3, ("0.010", "0.30"), "lower"),
        (0.2, 0.02, ("0.20", "0.020"), "wider spread"),
        (0.2, 0.3, ("0.20", "0.30"), "not detected (1.4 points would be)"),
    ],
)
def test_scores_have_both_tests(
    p: float, p_spread: float, cells_of_p: tuple[str, str], verdict: str
) -> None:
    (row,) = cells(
        scores.scores(
            [score_row(p)],
            [spread_row(p_spread)],
            claims_of(score_row(p), spread_row(p_spread)),
            OUTLINE,
        )
    )
    assert row == (
        *("mmlu", "RAG", "50.0 (45.0…55.0)", "2.0", "10×514", "−2.1 (−3.0…−1.0)", *cells_of_p),
        verdict,
    )


def test_the_baseline_stands_beside_with_its_spread() -> None:
    rows = [score_row(condition="offline"), score_row(0.01)]
    spreads = [spread_row(condition="offline", sd=0.011), spread_row()]
    baseline, users = scores.scores(rows, spreads, claims_of(*rows, *spreads), OUTLINE).findings
    assert baseline.cells[1:5] == ("T1", "50.0 (45.0…55.0)", "1.1", "10×514")
    assert (baseline.verdict.text, baseline.is_reference) == ("baseline", True)
    assert not users.is_reference


def test_scores_that_cannot_be_compared_have_the_reason() -> None:
    lonely = score_row(difference=None, reason="no difference: one run")
    spread = spread_row(None, sd=None, reason="no test: one run")
    (row,) = cells(scores.scores([lonely], [spread], claims_of(lonely, spread), OUTLINE))
    assert row[-4:] == ("–", "–", "–", "no test: one run")
    (row,) = cells(
        scores.scores(
            [score_row(value=None, difference=None, reason="none is read")],
            [],
            claims_of(),
            OUTLINE,
        )
    )
    assert row[2:] == ("–", "–", "10×514", "–", "–", "–", "no test: none is read")


def test_what_people_paste_is_scored_by_the_reading_of_whole_answers() -> None:
    """A strict reading scores a pasted sentence 0, which would say nothing of the people."""
    rows = [
        score_row(0.003, value=mean, difference=difference, condition="field", measure=measure)
        for measure, mean, difference in (
            ("em_strict", 0.217, -0.31),
            ("em_flexible", 0.796, 0.26),
        )
    ]
    section = scores.scores(rows, [], claims_of(*rows), FIELD_OUTLINE)
    (row,) = cells(section)
    assert (row[2][:4], row[5][:5], row[-1]) == ("79.6", "+26.0", "higher")
    assert "Letters of real users are read out of whole answers." in section.question


def test_places_stand_beside_reruns() -> None:
    rows = [
        rank_row(),
        rank_row(condition="again", rank_best=40, rank_worst=40, p_change_rerun=None),
    ]
    assert cells(scores.places([*rows, rank_row(metric="em_flexible")], OUTLINE)) == [
        ("mmlu", "T1 again", "40", "90", "Board", "10", "90", "–", "no test"),
        ("mmlu", "RAG", "35 to 52", "90", "Board", "10", "90", "70", "no test"),
    ]
    (row,) = cells(scores.places([rank_row(rank_best=None, reason="no whole run")], OUTLINE))
    assert (row[2], row[-1]) == ("–", "no test: no whole run")


@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        (novelty_row(0.001), ("10", "+13 (8…20)", "0.001", "more")),
        (novelty_row(0.3), ("10", "+13 (8…20)", "0.30", "not detected (8.6 points would be)")),
        (novelty_row(0.01, excess=-0.13), ("10", "−13 (8…20)", "0.010", "fewer")),
        (
            novelty_row(0.3, excess=0.0, excess_low=None),
            ("10", "0 (none)", "0.30", "not detected"),
        ),
        (
            novelty_row(
                None,
                control_share=None,
                excess=None,
                reason="no excess: no selected condition has `after: offline`",
            ),
            ("–", "–", "–", "no test: no selected condition has 'after: offline'"),
        ),
        (
            novelty_row(None, condition="again", excess=None),
            ("10", "–", "–", "control"),
        ),
    ],
)
def test_new_letters_are_set_beside_fresh_reruns(row: Novelty, numbers: tuple[str, ...]) -> None:
    (found,) = cells(scores.novelty([row], claims_of(*[row]), OUTLINE))
    assert found[2:5] == ("514", "10", "23 (20…30)")
    assert found[5:] == numbers


@pytest.mark.parametrize(
    ("p", "end"),
    [
        (0.01, ("0.010", "categories differ")),
        (0.4, ("0.40", "not detected")),
        (None, ("–", "no test")),
    ],
)
def test_categories_are_one_row_with_their_test(p: float | None, end: tuple[str, str]) -> None:
    rows = [category_row(p), category_row(p, "humanities", 0.05), category_row(p, "other", -0.04)]
    assert cells(scores.categories(rows, claims_of(*rows), OUTLINE)) == [
        ("mmlu", "RAG", "humanities 0.050 (18), STEM 0.020 (18), other −0.040 (18)", *end)
    ]


def test_of_several_reasons_the_tests_own_is_told() -> None:
    row = dataclasses.replace(
        category_row(None), reason="no interval: 1 subjects; no test: two categories are needed"
    )
    assert (
        cells(scores.categories([row], claims_of(*[row]), OUTLINE))[0][-1]
        == "no test: two categories are needed"
    )


def test_empty_tables_say_that_there_is_nothing() -> None:
    for section in (
        scores.scores([], [], claims_of(), OUTLINE),
        scores.places([], OUTLINE),
        scores.novelty([], claims_of(), OUTLINE),
        scores.categories([], claims_of(), OUTLINE),
    ):
        assert list(section.findings) == []
        assert section.absence.startswith("No ")
