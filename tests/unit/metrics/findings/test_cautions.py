"""What makes findings doubtful is said: above the page where it is grave, at its end where it limits."""

import dataclasses
from typing import Any

import pytest

from fieldwork.metrics.findings import cautions
from fieldwork.metrics.findings.cautions import limits, warnings
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.replies import (
    ReplyCounts,
    UnnamedReplies,
    count_answers,
    count_unnamed,
)
from fieldwork.records.claims import Claim
from fieldwork.records.metrics import ListLength
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    OUTLINE,
    claims_of,
    comparison_row,
    evidence,
    filled,
    score_row,
    spread_row,
    variance_row,
)
from unit.metrics.metric_frames import answer_frame, chosen, listed

STUDY = OUTLINE._replace(phrases={"offline": "without a user"})
NOTHING = evidence(outline=STUDY)
AGAIN = {"condition": "again"}


def test_what_came_back_is_counted_by_what_it_is_worth() -> None:
    changes: list[dict[str, object]] = [
        {"outcome": "truncated", "correction": "0" * 64},
        {"outcome": "truncated", "letter": None, "reason": "no letter found"},
        {"outcome": "empty", "letter": None, "reason": "empty"},
        {"outcome": "filtered", "letter": None, "reason": "filtered by the provider"},
        {},
    ]
    letters = zip(chosen(["A", "B", "A", "A", None], puppet_id="ada"), changes, strict=True)
    answers = [dataclasses.replace(a, **c) for a, c in letters]
    answers += chosen(["A"], puppet_id="bob", item_id="j")
    failed = [dataclasses.replace(a, outcome="failed") for a in listed(None, condition="d")]
    assert count_answers(answer_frame(answers + failed + listed(["a"], None, condition="d"))) == [
        ReplyCounts("m", "t", "c", 6, 0, 2, 2, 2, 1, n_corrected=1, n_questions=2, n_users=2),
        ReplyCounts("m", "t", "d", 3, 1, 0, n_refused=1, n_questions=1),
    ]
    assert count_answers(answer_frame([])) == []


LITTLE = ReplyCounts("m", "rec", "rag", 90, 0, 0)
ALIKE = LITTLE._replace(condition="offline")


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ([LITTLE._replace(n_unread=19), ALIKE], "RAG, rec: of 90 answers 19 (21 %) cannot be read"),
        ([LITTLE._replace(n_unread=4), ALIKE], None),
        ([LITTLE._replace(n_truncated=90), ALIKE], r"90 (100 %) are cut off at the longest answer"),
        ([LITTLE._replace(n_failed=90), ALIKE], "90 (100 %) failed, so its numbers say more"),
        # refusals of one kind of answer alone would move what is left
        (
            [
                LITTLE._replace(n_unread=4, n_refused=14),
                ReplyCounts("m", "rec", "offline", 92, 2, 1),
            ],
            "is not that without a user (20 % RAG, 1 % without a user)",
        ),
        ([c._replace(n_unread=4, n_refused=14) for c in (LITTLE, ALIKE)], None),
    ],
)
def test_an_arm_that_is_worth_little_is_a_warning(
    replies: list[ReplyCounts], words: str | None
) -> None:
    found = warnings(NOTHING, replies)
    assert [(words or "") in text for text in found] == [True] * (words is not None)


def format_rows(baseline: float) -> list[Any]:
    shares = {"rag": 0.1, "offline": baseline}
    return [score_row(condition=c, measure="format_failure", value=v) for c, v in shares.items()]


def length_rows(mean: float) -> list[Any]:
    means = {"offline": 5.0, "rag": mean}
    return [filled(ListLength, mean_counted=v, condition=c) for c, v in means.items()]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([comparison_row(0.01, **AGAIN)], "answers in rec: mere repeats without a user differ too"),
        (
            [score_row(0.01, **AGAIN), spread_row(0.02, **AGAIN)],
            "scores in mmlu and spread of scores in mmlu: mere repeats without a user differ too "
            "(2 of 2 tests of repeats)",
        ),
        ([comparison_row(0.05, **AGAIN), comparison_row(0.001)], None),
        ([score_row(0.01, measure="em_flexible", **AGAIN)], None),
        (format_rows(0.02), "in the form that was asked for is not that without a user (10 % RAG"),
        (format_rows(0.08), None),
        (
            length_rows(4.8),
            "not as long as without a user (options: 4.80 RAG, 5.00 without a user)",
        ),
        (length_rows(5.09), None),
    ],
)
def test_a_control_a_form_or_a_length_that_differs_is_a_warning(
    rows: list[Any], words: str | None
) -> None:
    found = warnings(evidence(*rows, outline=STUDY), [])
    assert [(words or "") in text for text in found] == [True] * (words is not None)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("history", "these are the same answers, shown twice and tested once"),
        ("offline", "every call is one without a user and nothing is tested"),
    ],
)
def test_answers_of_another_condition_are_a_warning(other: str, words: str) -> None:
    reason = f"the same answers as under {other}"
    same = [dataclasses.replace(claim, reason=reason) for claim in claims_of(score_row(0.5))]
    (warning,) = warnings(StudyEvidence(STUDY, rows={Claim: same}), [])
    assert warning.endswith(words)


LOST = ReplyCounts("m", "rec", "rag", 90, 2, 3)
ONCE = variance_row(None, n_repeated=0)
FIELD_ONCE = variance_row(None, n_repeated=0, condition="field")


@pytest.mark.parametrize(
    ("replies", "rows", "outline", "start"),
    [
        (LOST, [], STUDY, "RAG, rec: of 90 answers 2 failed and 3 cannot be read"),
        (LOST._replace(n_refused=1), [], STUDY, cautions.REFUSALS_ARE_READ),
        (LOST._replace(n_corrected=2), [], STUDY, "2 answers were read by a person"),
        (LOST, [ONCE], STUDY, "RAG: users were asked once, so contexts cannot be told"),
        (LOST, [FIELD_ONCE], FIELD_OUTLINE, "No participant answers a prompt twice, so who asks"),
        (
            LOST,
            [],
            STUDY._replace(controls=[]),
            "No condition repeats the questions without a user",
        ),
    ],
)
def test_limits_say_what_is_missing(
    replies: ReplyCounts, rows: Any, outline: Any, start: str
) -> None:
    sentences = limits(evidence(*rows, outline=outline), [replies], [])
    assert any(sentence.startswith(start) for sentence in sentences)


def test_limits_do_not_say_what_is_not_missing() -> None:
    study = evidence(variance_row(0.1), outline=FIELD_OUTLINE)
    sentences = limits(study, [ReplyCounts("m", "rec", "rag", 9, 0, 0)], [])
    firsts = [sentence.partition(" ")[0] for sentence in sentences]
    assert firsts == ["Not", "Of", "Only", "Intervals"]
    assert "No answers have arrived (answers)" in limits(NOTHING, [], [])


def test_answers_that_could_be_another_models_are_counted() -> None:
    unnamed = count_unnamed([("m", []), ("m", ["usage", "model"]), ("n", ["encoding"])])
    assert unnamed == [UnnamedReplies("m", 2, 1)]
    (sentence,) = [s for s in limits(NOTHING, [], unnamed) if "(responses)" in s]
    assert sentence.startswith("Model: 1 of 2 answers came without the name of the model")
