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
    order_row,
    rank_row,
    score_row,
    shift_row,
    variance_row,
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


@pytest.mark.parametrize(
    ("tables", "outline", "sentence"),
    [
        (
            {
                "comparisons": [comparison_row(0.01), comparison_row(0.9, "j")],
                "variance": [variance_row(0.01)],
            },
            OUTLINE,
            "1 of 2 comparisons of one prompt with and without a user show different answers; up to 16 % "
            "of the variation between answers to one prompt comes from who asks (RAG, rec; shown in 1 of "
            "1 cases)",
        ),
        (
            {"comparisons": [comparison_row(0.05)], "variance": [variance_row(0.05)]},
            OUTLINE,
            "no difference is shown in 1 comparison of one prompt with and without a user; that "
            "different users get different answers is not shown in 1 case",
        ),
        (
            {
                "comparisons": [comparison_row(None, reason="no baseline")],
                "variance": [variance_row(None, share_who=None, reason="once")],
            },
            OUTLINE,
            "whether they differ with a user cannot be tested; whether different users get different "
            "answers cannot be tested",
        ),
        # neither the control's answers nor real users' are a simulated user's
        (
            {
                "comparisons": [
                    comparison_row(0.01, **AGAIN),
                    comparison_row(0.01, condition="field"),
                ],
                "variance": [variance_row(0.01, condition="field")],
            },
            FIELD_OUTLINE,
            "whether they differ with a user cannot be tested; whether different users get different "
            "answers cannot be tested",
        ),
        (
            {
                "comparisons": [comparison_row(0.01, metric="total_variation")],
                "variance": [
                    variance_row(0.01, share_who=0.1),
                    variance_row(0.9, share_who=0.4),
                    variance_row(0.01, model="n", condition="history"),
                ],
            },
            TWO_MODELS,
            "whether they differ with a user cannot be tested; up to 16 % of the variation between "
            "answers to one prompt comes from who asks (History, rec, Next; shown in 2 of 3 cases)",
        ),
        (
            {"comparisons": [comparison_row(0.01)]},
            NO_USERS,
            "no condition simulates a user, so nothing shows whether answers differ with one",
        ),
    ],
)
def test_answers(tables, outline: StudyOutline, sentence: str) -> None:
    assert summary.answers_sentence(FindingsTables(**tables), outline) == sentence


@pytest.mark.parametrize(
    ("shifts", "outline", "sentence"),
    [
        (
            [shift_row(0.01), shift_row(0.9, 0.8, answer="Fiat")],
            OUTLINE,
            "in 1 of 2 tests an option's share of answers changed, most of all: Tesla (cars) fell from "
            "57.5 % to 17.5 % with RAG",
        ),
        # an option is named once, where it moved furthest; a letter is called an answer
        (
            [
                shift_row(0.01, -0.2),
                shift_row(0.01, 0.3, condition="history"),
                shift_row(0.01, 0.25, answer="B", kind="choice", item_id="frost"),
                shift_row(0.01, 0.1, answer="o1"),
                shift_row(0.01, 0.05, answer="o2"),
            ],
            OUTLINE,
            "in 5 of 5 tests an option's share of answers changed, most of all: Tesla (cars) rose from "
            "57.5 % to 17.5 % with History, answer B (frost) rose from 57.5 % to 17.5 % with RAG and o1 "
            "(cars) rose from 57.5 % to 17.5 % with RAG",
        ),
        (
            [shift_row(0.01, kind="choice", answer="unknown")],
            OUTLINE,
            "in 1 of 1 tests an option's share of answers changed, most of all: no readable letter "
            "(cars) fell from 57.5 % to 17.5 % with RAG",
        ),
        ([shift_row(0.05)], OUTLINE, "none is shown to become rarer or more common, in 1 test"),
        ([], OUTLINE, "no option can be compared with and without a user"),
        ([shift_row(0.01, **AGAIN)], OUTLINE, "no option can be compared with and without a user"),
        ([shift_row(0.01, **AGAIN)], NO_USERS, ""),
    ],
)
def test_options(shifts, outline: StudyOutline, sentence: str) -> None:
    assert summary.options_sentence(FindingsTables(shifts=shifts), outline) == sentence


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
            "with a user the mean score changed in 1 of 2 comparisons, most by −2.1 points, to 47.9 % "
            "(RAG, mmlu); the study gives no places on a leaderboard",
        ),
        (
            {
                "accuracy": [accuracy_row()],
                "score_comparisons": [score_row(0.05)],
                "ranks": [rank_row()],
            },
            OUTLINE,
            "no change of the mean score with a user is shown in 1 comparison; two users put the model "
            "on different places of the leaderboard in up to 90 % of pairs, two reruns without a user in "
            "60 % (RAG, mmlu; no test)",
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
    assert summary.scores_sentence(FindingsTables(**tables), outline) == sentence


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
            "asking again without a user shows different answers in 0 of 2 comparisons",
        ),
        (
            {
                "comparisons": [*CONTROL["comparisons"], comparison_row(0.01, "c", **AGAIN)],
                "prompt_means": [entropy_row(0.01, **AGAIN)],
            },
            OUTLINE,
            "asking again without a user shows different answers in 1 of 3 comparisons, but 1 difference "
            "in other tests (see the warning)",
        ),
        (
            {"prompt_means": [entropy_row(0.01, **AGAIN)]},
            OUTLINE,
            "asking again without a user gave no answers to compare, but 1 difference in other tests "
            "(see the warning)",
        ),
        ({}, OUTLINE, "asking again without a user gave no answers to compare"),
        (CONTROL, OUTLINE._replace(controls=[]), NO_CONTROL),
        (
            {"score_comparisons": [score_row(0.01, 0.5)]},
            OUTLINE._replace(controls=[]),
            f"{NO_CONTROL}; scores are not shown to differ more between users than between reruns",
        ),
        (
            {
                "score_comparisons": [
                    score_row(0.5, 0.01),
                    score_row(0.5, None, condition="history"),
                ]
            },
            OUTLINE._replace(controls=[]),
            f"{NO_CONTROL}; scores differ more between users than between reruns in 1 of 1 cases",
        ),
    ],
)
def test_chance(tables, outline: StudyOutline, sentence: str) -> None:
    assert summary.chance_sentence(FindingsTables(**tables), outline) == sentence


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            {
                "item_agreement": [agreement_row(), agreement_row(p_holm=0.5)],
                "rank_agreement": [order_row()],
            },
            "their answers differ from the model's in 1 of 2 comparisons of one prompt; a condition "
            "ranks prompts as they do in 1 of 1 tests",
        ),
        (
            {
                "item_agreement": [agreement_row(p_holm=0.5)],
                "rank_agreement": [order_row(tau_b=-0.8)],
            },
            "no difference from their answers is shown in 1 comparison of one prompt; no condition is "
            "shown to rank prompts as they do, in 1 test",
        ),
        (
            {
                "item_agreement": [agreement_row(p_holm=0.5)],
                "rank_agreement": [order_row(tau_b=None)],
            },
            "no difference from their answers is shown in 1 comparison of one prompt; whether a "
            "condition ranks prompts as they do cannot be tested",
        ),
        (
            {"item_agreement": [agreement_row(p_holm=None)]},
            "no answers can be compared with theirs",
        ),
    ],
)
def test_real_users(tables, sentence: str) -> None:
    assert summary.field_sentence(FindingsTables(**tables), FIELD_OUTLINE) == sentence
    assert summary.field_sentence(FindingsTables(**tables), OUTLINE) == ""


def test_limits_differ_with_real_users() -> None:
    assert summary.limits_sentence(OUTLINE).startswith("the study has no answers of real users")
    assert "people who did not take part" in summary.limits_sentence(FIELD_OUTLINE)


@pytest.mark.parametrize("outline", [OUTLINE, NO_USERS, FIELD_OUTLINE, FIELD_ALONE, TWO_MODELS])
@pytest.mark.parametrize("tables", [TABLES, FindingsTables()], ids=["full", "empty"])
def test_there_are_at_most_six_sentences(tables: FindingsTables, outline: StudyOutline) -> None:
    sentences = in_short(tables, outline)
    assert 3 <= len(sentences) <= 6
    assert all(s.startswith("**") and s.endswith(".") and ". " not in s for s in sentences)


CLAIMS = (
    "show different",
    "comes from who asks",
    " changed",
    "scores differ more",
    "their answers differ",
)


def test_without_a_significant_test_nothing_is_claimed() -> None:
    p = 0.05
    tables = FindingsTables(
        variance=[variance_row(p)],
        comparisons=[comparison_row(p)],
        shifts=[shift_row(p)],
        accuracy=[accuracy_row()],
        score_comparisons=[score_row(p, p)],
        item_agreement=[agreement_row(p_holm=p)],
        rank_agreement=[order_row(p_holm=p)],
    )
    text = " ".join(in_short(tables, FIELD_OUTLINE))
    assert not [claim for claim in CLAIMS if claim in text]
    full = " ".join(in_short(TABLES, FIELD_OUTLINE))
    assert [claim in full for claim in CLAIMS] == [True, True, True, False, True]


def test_no_combination_of_missing_tables_breaks_the_summary() -> None:
    for kept in itertools.product((True, False), repeat=len(TABLES)):
        tables = FindingsTables(
            *(rows if keep else () for keep, rows in zip(kept, TABLES, strict=True))
        )
        text = " ".join(in_short(tables, FIELD_OUTLINE))
        assert "None" not in text
