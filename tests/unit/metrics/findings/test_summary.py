"""The first sentences are true of every study, and claim what the tests show and no more."""

import itertools

import pytest

from fieldwork.metrics.findings import summary
from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.summary import in_short
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    OUTLINE,
    accuracy_row,
    agreement_row,
    comparison_row,
    entropy_row,
    evidence,
    order_row,
    rank_row,
    score_row,
    shift_row,
    variance_row,
    without_links,
)
from unit.metrics.findings.test_page import TABLES

NO_USERS = OUTLINE._replace(
    conditions={"offline": "T1", "again": "T1 again"}, users=[], controls=["again"]
)
FIELD_ALONE = FIELD_OUTLINE._replace(
    conditions={"offline": "T1", "field": "Field"}, users=["field"], controls=[]
)
TWO_MODELS = OUTLINE._replace(models={"m": "Model", "n": "Next"})
AGAIN = {"condition": "again"}


NO_OPTION = "no option can be compared with and without a user"
NO_ANSWERS = "whether answers to one prompt differ with a user cannot be tested"


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        (
            [variance_row(0.01, task="mmlu"), variance_row(0.9, task="mmlu", condition="history")],
            "1 of 2 comparisons that the study is about show a difference; variance between contexts "
            "in 1 of 2 (most: 16.0 %, RAG, mmlu)",
        ),
        (
            [variance_row(0.3, task="mmlu", ci_high=0.04)],
            "0 of 1 comparisons that the study is about show a difference, 1 is equivalent within the "
            "margin; variance between contexts in 0 of 1",
        ),
        # secondary tests and untested comparisons are not counted
        (
            [variance_row(0.01), variance_row(None, task="mmlu", reason="once")],
            "none of the comparisons that the study is about can be tested",
        ),
    ],
)
def test_primary_comparisons(claims, sentence: str) -> None:
    assert without_links(summary.primary_sentence(evidence(variance=claims), OUTLINE)) == sentence


@pytest.mark.parametrize(
    ("tables", "outline", "sentence"),
    [
        (
            {"comparisons": [comparison_row(0.01), comparison_row(0.9, "j")]},
            OUTLINE,
            "1 of 2 comparisons of one prompt with and without a user show different answers; "
            f"{NO_OPTION}",
        ),
        (
            {"comparisons": [comparison_row(0.05)]},
            OUTLINE,
            "no difference is shown in 1 comparison of one prompt with and without a user; "
            f"{NO_OPTION}",
        ),
        (
            {"comparisons": [comparison_row(None, reason="no baseline")]},
            OUTLINE,
            f"{NO_ANSWERS}; {NO_OPTION}",
        ),
        # neither the control's answers nor real users' are a simulated user's
        (
            {
                "comparisons": [
                    comparison_row(0.01, **AGAIN),
                    comparison_row(0.01, condition="field"),
                    comparison_row(0.01, metric="total_variation"),
                ]
            },
            FIELD_OUTLINE,
            f"{NO_ANSWERS}; {NO_OPTION}",
        ),
        (
            {"comparisons": [comparison_row(0.01)]},
            NO_USERS,
            "no condition simulates a user, so nothing shows whether answers differ with one",
        ),
        (
            {"shifts": [shift_row(0.01), shift_row(0.9, 0.8, answer="Fiat")]},
            OUTLINE,
            f"{NO_ANSWERS}; in 1 of 1 comparisons of one prompt the share of an option changed, most of "
            "all: Tesla "
            "(cars) fell from 57.5 % to 17.5 % with RAG",
        ),
        # an option is named once, where it moved furthest; a letter is called an answer
        (
            {
                "shifts": [
                    shift_row(0.01, -0.2),
                    shift_row(0.01, 0.3, condition="history"),
                    shift_row(0.01, 0.25, answer="B", kind="choice", item_id="frost"),
                    shift_row(0.01, 0.1, answer="o1"),
                    shift_row(0.01, 0.05, answer="o2"),
                ]
            },
            OUTLINE,
            f"{NO_ANSWERS}; in 3 of 3 comparisons of one prompt the share of an option changed, most of "
            "all: Tesla "
            "(cars) rose from 57.5 % to 17.5 % with History, answer B (frost) rose from 57.5 % to 17.5 % "
            "with RAG and o1 (cars) rose from 57.5 % to 17.5 % with RAG",
        ),
        # the same option asked again stands beside the change; where nothing names it, its share is 0
        (
            {"shifts": [shift_row(0.01), shift_row(0.9, share=0.425, **AGAIN)]},
            OUTLINE,
            f"{NO_ANSWERS}; in 1 of 1 comparisons of one prompt the share of an option changed, most of "
            "all: Tesla "
            "(cars) fell from 57.5 % to 17.5 % with RAG (asked again without a user: 42.5 %)",
        ),
        (
            {"shifts": [shift_row(0.01), shift_row(0.9, answer="Fiat", **AGAIN)]},
            OUTLINE,
            f"{NO_ANSWERS}; in 1 of 1 comparisons of one prompt the share of an option changed, most of "
            "all: Tesla "
            "(cars) fell from 57.5 % to 17.5 % with RAG (asked again without a user: 0.0 %)",
        ),
        (
            {"shifts": [shift_row(0.01, kind="choice", answer="unknown")]},
            OUTLINE,
            f"{NO_ANSWERS}; in 1 of 1 comparisons of one prompt the share of an option changed, most of "
            "all: no "
            "readable letter (cars) fell from 57.5 % to 17.5 % with RAG",
        ),
        (
            {"shifts": [shift_row(0.3)]},
            OUTLINE,
            f"{NO_ANSWERS}; no option is shown to become rarer or more common, in 1 comparison of one "
            "prompt",
        ),
        ({"shifts": [shift_row(0.01, **AGAIN)]}, OUTLINE, f"{NO_ANSWERS}; {NO_OPTION}"),
    ],
)
def test_answers(tables, outline: StudyOutline, sentence: str) -> None:
    assert without_links(summary.answers_sentence(evidence(**tables), outline)) == sentence


@pytest.mark.parametrize(
    ("tables", "outline", "sentence"),
    [
        ({}, OUTLINE, "no task of this study has right answers to score"),
        (
            {
                "accuracy": [accuracy_row()],
                "score_comparisons": [score_row(0.01), score_row(0.5, condition="history")],
            },
            OUTLINE,
            "scores with a user differ in 1 of 2 comparisons, most where their mean is 47.9 %, −2.1 "
            "points from T1 (RAG, mmlu); the study gives no places on a leaderboard",
        ),
        (
            {
                "accuracy": [accuracy_row()],
                "score_comparisons": [score_row(0.05)],
                "ranks": [rank_row()],
            },
            OUTLINE,
            "no change of the mean score with a user is shown in 1 comparison; two contexts put the "
            "model on different places of the leaderboard in up to 90 % of pairs, two reruns without a "
            "user in 60 % (RAG, mmlu; no test)",
        ),
        (
            {
                "accuracy": [accuracy_row()],
                "score_comparisons": [score_row(None, difference=None), score_row(0.01, **AGAIN)],
                "ranks": [rank_row(p_change=None), rank_row(**AGAIN)],
            },
            OUTLINE,
            "none with a user can be compared with T1; the study gives no places on a leaderboard",
        ),
        ({"accuracy": [accuracy_row(**AGAIN)]}, NO_USERS, "none is of a simulated user"),
    ],
)
def test_scores(tables, outline: StudyOutline, sentence: str) -> None:
    assert without_links(summary.scores_sentence(evidence(**tables), outline)) == sentence


CONTROL = {"comparisons": [comparison_row(0.9, item, **AGAIN) for item in "ab"]}
NO_CONTROL = (
    "nothing was asked again without a user, so no control shows how often chance alone gives a "
    "difference"
)


@pytest.mark.parametrize(
    ("tables", "outline", "sentence"),
    [
        (
            CONTROL,
            OUTLINE,
            "asking again without a user shows a difference in 0 of 2 tests",
        ),
        (
            {
                "comparisons": [*CONTROL["comparisons"], comparison_row(0.01, "c", **AGAIN)],
                "prompt_means": [entropy_row(0.01, **AGAIN)],
            },
            OUTLINE,
            "asking again without a user shows a difference in 2 of 4 tests (see the warning)",
        ),
        (
            {"prompt_means": [entropy_row(0.01, **AGAIN)]},
            OUTLINE,
            "asking again without a user shows a difference in 1 of 1 tests (see the warning)",
        ),
        ({}, OUTLINE, "asking again without a user gave no answers to compare"),
        (CONTROL, OUTLINE._replace(controls=[]), NO_CONTROL),
        (
            {"score_comparisons": [score_row(0.01, 0.5)]},
            OUTLINE._replace(controls=[]),
            f"{NO_CONTROL}; scores are not shown to differ more between contexts than between reruns",
        ),
        (
            {
                "score_comparisons": [
                    score_row(0.5, 0.01),
                    score_row(0.5, None, condition="history"),
                ]
            },
            OUTLINE._replace(controls=[]),
            f"{NO_CONTROL}; scores differ more between contexts than between reruns in 1 of 1 cases",
        ),
    ],
)
def test_chance(tables, outline: StudyOutline, sentence: str) -> None:
    assert summary.chance_sentence(evidence(**tables), outline) == sentence


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            {
                "item_agreement": [agreement_row(), agreement_row(p_value=0.5, item_id="films")],
                "rank_agreement": [order_row()],
            },
            "their answers differ from the model's in 1 of 2 comparisons of one prompt; a condition "
            "ranks prompts as they do in 1 of 1 tests",
        ),
        (
            {
                "item_agreement": [agreement_row(p_value=0.5)],
                "rank_agreement": [order_row(tau_b=-0.8)],
            },
            "no difference from their answers is shown in 1 comparison of one prompt; no condition is "
            "shown to rank prompts as they do, in 1 test",
        ),
        (
            {
                "item_agreement": [agreement_row(p_value=0.5)],
                "rank_agreement": [order_row(tau_b=None, p_value=None)],
            },
            "no difference from their answers is shown in 1 comparison of one prompt; whether a "
            "condition ranks prompts as they do cannot be tested",
        ),
        (
            {"item_agreement": [agreement_row(p_value=None)]},
            "no answers can be compared with theirs",
        ),
    ],
)
def test_real_users(tables, sentence: str) -> None:
    assert summary.field_sentence(evidence(**tables), FIELD_OUTLINE) == sentence
    assert summary.field_sentence(evidence(**tables), OUTLINE) == ""


def test_limits_differ_with_real_users() -> None:
    assert summary.limits_sentence(OUTLINE).startswith("the study has no answers of real users")
    assert "people who did not take part" in summary.limits_sentence(FIELD_OUTLINE)


@pytest.mark.parametrize("outline", [OUTLINE, NO_USERS, FIELD_OUTLINE, FIELD_ALONE, TWO_MODELS])
@pytest.mark.parametrize("tables", [TABLES, FindingsTables()], ids=["full", "empty"])
def test_there_are_at_most_seven_sentences(tables: FindingsTables, outline: StudyOutline) -> None:
    sentences = in_short(tables, outline)
    assert 3 <= len(sentences) <= 7
    assert all(s.startswith("**") and s.endswith(".") and ". " not in s for s in sentences)


CLAIMS = (
    "show different",
    "(most:",
    " changed",
    "scores with a user differ",
    "scores differ more",
    "their answers differ",
)


def test_without_a_significant_test_nothing_is_claimed() -> None:
    p = 0.06
    tables = evidence(
        variance=[variance_row(p, task="mmlu")],
        comparisons=[comparison_row(p)],
        shifts=[shift_row(0.3)],
        accuracy=[accuracy_row()],
        score_comparisons=[score_row(p, p)],
        item_agreement=[agreement_row(p_value=p)],
        rank_agreement=[order_row(p_value=p)],
    )
    text = " ".join(in_short(tables, FIELD_OUTLINE))
    assert not [claim for claim in CLAIMS if claim in text]
    full = " ".join(in_short(TABLES, FIELD_OUTLINE))
    assert [claim in full for claim in CLAIMS] == [True, True, True, True, False, True]


def test_no_combination_of_missing_tables_breaks_the_summary() -> None:
    places = range(len(TABLES) - 1)
    some = [set(part) for n in range(4) for part in itertools.combinations(places, n)]
    # up to three are missing, or all but up to three
    for kept in [*some, *(set(places) - part for part in some)]:
        tables = FindingsTables(
            *(rows if place in kept else () for place, rows in enumerate(TABLES[:-1])),
            claims=TABLES.claims,
        )
        text = " ".join(in_short(tables, FIELD_OUTLINE))
        assert "None" not in text
