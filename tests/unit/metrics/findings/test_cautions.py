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


@pytest.mark.parametrize(
    ("counts", "loss"),
    [
        ({"n_unread": 19}, "19 (21 %) cannot be read"),
        ({"n_unread": 4}, None),
        (
            {"n_truncated": 90},
            r"90 (100 %) are cut off at the longest answer allowed (max\_tokens)",
        ),
        ({"n_failed": 90}, "90 (100 %) failed"),
    ],
)
def test_an_arm_that_is_worth_little_is_a_warning(counts: dict[str, int], loss: str | None) -> None:
    replies = ReplyCounts("m", "rec", "rag", 90, 0, 0)._replace(**counts)
    found = warnings(NOTHING, [replies, ReplyCounts("m", "rec", "offline", 90, 0, 0)])
    start = f"RAG, rec: of 90 answers {loss}, so its numbers say more about how it was asked"
    assert [text.startswith(start) for text in found] == [True] * (loss is not None)


def test_an_arm_that_loses_more_than_the_baseline_is_a_warning() -> None:
    """Refusals of one kind of answer alone would move what is left."""
    replies = [ReplyCounts("m", "rec", "rag", 90, 0, 4, n_refused=14)]
    replies += [ReplyCounts("m", "rec", "offline", 92, 2, 1)]
    (warning,) = warnings(NOTHING, replies)
    assert "is not that without a user (20 % RAG, 1 % without a user)" in warning
    both = [replies[0], replies[0]._replace(condition="offline")]
    assert warnings(NOTHING, both) == []


@pytest.mark.parametrize(("baseline_share", "n"), [(0.02, 1), (0.08, 0)])
def test_letters_in_another_form_are_a_warning(baseline_share: float, n: int) -> None:
    shares = {"rag": 0.1, "offline": baseline_share}
    rows = [
        score_row(condition=condition, measure="format_failure", value=share)
        for condition, share in shares.items()
    ]
    found = warnings(evidence(*rows, outline=STUDY), [])
    words = "answers without a letter in the form that was asked for is not that without a user (10 % RAG"
    assert [words in text for text in found] == [True] * n


@pytest.mark.parametrize(
    ("tables", "differences"),
    [
        ({"comparisons": [comparison_row(0.01, **AGAIN)]}, "1 of 1 test (answers in rec)"),
        (
            {"estimates": [score_row(0.01, **AGAIN)], "score_spreads": [spread_row(0.02, **AGAIN)]},
            "2 of 2 tests (scores in mmlu and spread of scores in mmlu)",
        ),
        ({"comparisons": [comparison_row(0.05, **AGAIN), comparison_row(0.001)]}, None),
        ({"estimates": [score_row(0.01, measure="em_flexible", **AGAIN)]}, None),
    ],
)
def test_a_control_that_differs_is_a_warning(tables: Any, differences: str | None) -> None:
    found = warnings(evidence(outline=STUDY, **tables), [])
    n_tests, _, names = (differences or "").partition(" (")
    start = (
        f"{names.removesuffix(')')}: mere repeats without a user differ too ({n_tests} of repeats)"
    )
    assert [text.startswith(start) for text in found] == [True] * (differences is not None)


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


@pytest.mark.parametrize(("mean", "is_said"), [(4.8, True), (5.09, False)])
def test_lists_of_another_length_are_a_warning(mean: float, is_said: bool) -> None:
    rows = [
        filled(ListLength, mean_counted=counted, condition=condition)
        for condition, counted in {"offline": 5.0, "rag": mean}.items()
    ]
    words = f"not as long as without a user (options: {mean:.2f} RAG, 5.00 without a user)"
    found = warnings(evidence(*rows, outline=STUDY), [])
    assert [words in text for text in found] == [True] * is_said


LOST = ReplyCounts("m", "rec", "rag", 90, 2, 3)


@pytest.mark.parametrize(
    ("replies", "variance", "outline", "sentence"),
    [
        (LOST, [], STUDY, "RAG, rec: of 90 answers 2 failed and 3 cannot be read"),
        (LOST._replace(n_refused=1), [], STUDY, cautions.REFUSALS_ARE_READ),
        (
            LOST._replace(n_corrected=2),
            [],
            STUDY,
            "2 answers were read by a person (parsing.overrides)",
        ),
        (
            LOST,
            [variance_row(None, n_repeated=0)],
            STUDY,
            "RAG: users were asked once, so contexts cannot be told from repeating; set `replicates: 2`",
        ),
        (
            LOST,
            [variance_row(None, n_repeated=0, condition="field")],
            FIELD_OUTLINE,
            "No participant answers a prompt twice, so who asks cannot be told from asking again in "
            "the field",
        ),
        (
            LOST,
            [],
            STUDY._replace(controls=[]),
            "No condition repeats the questions without a user (setting `after`), so nothing shows which "
            "numbers chance alone gives",
        ),
    ],
)
def test_limits_say_what_is_missing(
    replies: ReplyCounts, variance: Any, outline: Any, sentence: str
) -> None:
    assert sentence in limits(evidence(*variance, outline=outline), [replies], [])


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
