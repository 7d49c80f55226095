"""Findings about scored questions claim what a test shows, and say the same numbers where it does not."""

import dataclasses
from typing import Any

import pytest
from test_findings import STUDY, filled

from fieldwork.metrics.findings import scores
from fieldwork.records.metrics import Accuracy, CategoryVariance, Novelty, Rank, ScoreComparison


def score(**values: Any) -> Accuracy:
    found = {"mean": 0.5, "minimum": 0.4, "maximum": 0.6, "ci_low": 0.45, "ci_high": 0.55}
    row: Accuracy = filled(
        Accuracy,
        **{"task": "mmlu", "metric": "em_strict", "n_runs": 10, "n_items": 514, "unit": "puppet"},
        **{**found, **values},
    )
    return row


def new(share: float | None, **values: Any) -> Novelty:
    found = {"share": share, "ci_low": 0.2, "ci_high": 0.3, "n_items": 514, "task": "mmlu"}
    row: Novelty = filled(Novelty, **{**found, **values})
    return row


def beside(p: float | None, p_spread: float | None = 0.5, **values: Any) -> ScoreComparison:
    found = {"difference": -0.021, "ci_low": -0.03, "ci_high": -0.01, "p_holm": p}
    spread = {"sd": 0.02, "sd_baseline": 0.011, "p_spread_holm": p_spread}
    row: ScoreComparison = filled(
        ScoreComparison, **{"task": "mmlu", "metric": "em_strict", **found, **spread, **values}
    )
    return row


def place(**values: Any) -> Rank:
    found = {"rank_best": 35, "rank_worst": 52, "p_change": 0.9, "p_change_baseline": 0.6}
    names = {"task": "mmlu", "metric": "em_strict", "n_models": 90, "n_units": 10, "unit": "puppet"}
    row: Rank = filled(
        Rank, **{**names, **found, "p_change_rerun": 0.7, "leaderboard": "Board", **values}
    )
    return row


def fresh(p: float | None, **values: Any) -> Novelty:
    control = {
        "share_equal": 0.23,
        "control_share": 0.1,
        "excess": 0.13,
        "excess_low": 0.08,
        "excess_high": 0.2,
    }
    return new(0.23, **control, n_equal=10, p_holm=p, **values)


def category(p: float | None, name: str = "STEM", value: float = 0.02) -> CategoryVariance:
    row: CategoryVariance = filled(
        CategoryVariance, task="mmlu", category=name, var_who=value, p_holm=p, n_subjects=18
    )
    return row


@pytest.mark.parametrize(
    ("p", "p_spread", "head", "line"),
    [
        (
            0.01,
            0.02,
            "With a user, mean scores differ from T1's in 1 of 1 case, by up to −2.1 points (95 % "
            "interval −3.0 to −1.0, p = 0.010); users spread further than reruns in 1 of 1 case "
            "[score_comparisons].",
            "; beside T1 −2.1 points (95 % interval −3.0 to −1.0, p = 0.010); a wider spread (standard "
            "deviations 2.0 and 1.1 points, p = 0.020) [accuracy, score_comparisons]",
        ),
        (
            0.2,
            0.3,
            "No users are shown to score or to spread otherwise than reruns of T1, in 1 case "
            "[score_comparisons].",
            "; beside T1 no difference shown, −2.1 points (95 % interval −3.0 to −1.0, p = 0.20); no "
            "wider spread shown (standard deviations 2.0 and 1.1 points, p = 0.30) [accuracy, "
            "score_comparisons]",
        ),
    ],
)
def test_scores_are_told_with_their_tests(p: float, p_spread: float, head: str, line: str) -> None:
    told = scores.scores([score()], [beside(p, p_spread)], STUDY)
    assert told.head == head
    assert told.lines == [
        "RAG, mmlu: mean 50.0 % (95 % interval 45.0 to 55.0 %; 10 runs of 514 questions, unit puppet),"
        " lowest 40.0 %, highest 60.0 %" + line
    ]


def test_scores_that_cannot_be_compared_give_the_reason() -> None:
    lonely = beside(None, None, difference=None, sd=None, reason="no spread: one run")
    told = scores.scores([score()], [lonely], STUDY)
    assert "not compared with T1: no spread: one run" in told.lines[0]
    assert told.head.startswith("No users are shown")


def test_what_people_paste_is_scored_by_the_reading_of_whole_answers() -> None:
    """A strict reading scores a pasted sentence 0, which would say nothing of the people."""
    study = STUDY._replace(users=["field"], conditions=dict(STUDY.conditions) | {"field": "Field"})
    rows = [
        dataclasses.replace(score(mean=mean), condition="field", metric=metric)
        for metric, mean in (("em_strict", 0.217), ("em_flexible", 0.796))
    ]
    compared = [
        dataclasses.replace(beside(0.003, difference=difference), condition="field", metric=metric)
        for metric, difference in (("em_strict", -0.31), ("em_flexible", 0.26))
    ]
    section = scores.scores(rows, compared, study)
    (line,) = section.lines
    assert "mean 79.6 %" in line
    assert "unit participant, letters read out of whole answers" in line
    assert "+26.0 points" in line
    assert "+26.0 points" in section.head


def test_a_control_that_differs_is_told_in_the_head() -> None:
    rows = [beside(0.4), beside(0.01, condition="again")]
    told = scores.scores([score()], rows, STUDY)
    assert "1 difference came up as well (T1 again, mmlu)" in told.head


def test_places_are_told_beside_reruns() -> None:
    told = scores.places([place()], STUDY)
    assert told.head.startswith(
        "Two users put the model on different places in up to 90 % of pairs (RAG, mmlu), two reruns "
        "of T1 in 60 %"
    )
    assert told.lines == [
        "RAG, mmlu: places 35 to 52 among 90 models of Board (10 runs, unit puppet); two puppets differ "
        "in place: 90 %, the same asked again 70 % [ranks]"
    ]


@pytest.mark.parametrize(
    ("row", "head", "line"),
    [
        (
            fresh(0.001),
            "it is more than as many fresh reruns give in 1 of 1 case [novelty].",
            "; asked once each, 10 users give 23 % and as many fresh reruns 10 %: +13 points (95 % "
            "interval 8 to 20, p = 0.001) [novelty]",
        ),
        (
            fresh(0.3),
            "that this is more than as many fresh reruns give is not shown in 1 case [novelty].",
            "; asked once each, 10 users give 23 % and as many fresh reruns 10 %: no excess shown, +13 "
            "points (95 % interval 8 to 20, p = 0.30) [novelty]",
        ),
        (new(0.23), "asks the baseline again nothing is claimed [novelty].", "30 %) [novelty]"),
    ],
)
def test_new_letters_are_set_beside_fresh_reruns(row: Novelty, head: str, line: str) -> None:
    told = scores.novelty([row], STUDY)
    assert told.head.endswith(head)
    assert told.lines[0].endswith(line)
    assert told.lines[0].startswith("RAG, mmlu: 23 % of 514 questions (95 % interval 20 to 30 %)")


@pytest.mark.parametrize(
    ("p", "head", "line"),
    [
        (
            0.01,
            "How much it matters who asks depends on the category",
            "categories differ (p = 0.010)",
        ),
        (0.4, "That it depends on the category", "no difference shown (p = 0.40)"),
        (None, "No test whether it depends", "not tested"),
    ],
)
def test_categories_are_told_with_their_test(p: float | None, head: str, line: str) -> None:
    rows = [category(p), category(p, "humanities", 0.05)]
    told = scores.categories(rows, STUDY)
    assert told.head.startswith(head)
    assert told.lines == [
        f"RAG, mmlu: {line}; var_who is humanities 0.050 (18 subjects) and STEM 0.020 (18 subjects) "
        "[categories]"
    ]


def test_empty_tables_claim_nothing() -> None:
    for told in (
        scores.scores([], [], STUDY),
        scores.places([], STUDY),
        scores.novelty([], STUDY),
        scores.categories([], STUDY),
    ):
        assert told.lines == []
        assert told.head.startswith("No ")
