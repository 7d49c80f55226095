"""What makes findings doubtful is said: above the page where it is grave, at its end where it limits."""

import dataclasses
from dataclasses import replace
from typing import Any

import pytest

from fieldwork.metrics.findings import cautions
from fieldwork.metrics.findings.cautions import limits, warnings
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import StudyOutline
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
    entropy_row,
    evidence,
    filled,
    score_row,
    shift_row,
    spread_row,
    variance_row,
)
from unit.metrics.metric_frames import answer_frame, chosen, listed

STUDY = OUTLINE._replace(phrases={"offline": "without a user"})
NOTHING = evidence(outline=STUDY)


def test_what_came_back_is_counted() -> None:
    answers = listed(["a"], None) + chosen(["A", None], condition="d")
    answers += [
        dataclasses.replace(a, outcome="failed") for a in listed(None, condition="d", item_id="j")
    ]
    assert count_answers(answer_frame(answers)) == [
        ReplyCounts("m", "t", "c", 2, 0, 0, n_refused=1, n_questions=1),
        ReplyCounts("m", "t", "d", 3, 1, 0, n_refused=1, n_questions=2),
    ]
    assert count_answers(answer_frame([])) == []


def test_what_a_person_read_is_counted() -> None:
    answers = chosen(["A", "B", None])
    answers[1:] = [dataclasses.replace(a, correction="0" * 64) for a in answers[1:]]
    (counts,) = count_answers(answer_frame(answers))
    assert counts.n_corrected == 2
    sentence = "2 answers were read by a person (parsing.overrides)"
    assert sentence in limits(NOTHING, [counts], [])
    (one,) = count_answers(answer_frame(answers[:2]))
    assert "1 answer was read by a person (parsing.overrides)" in limits(NOTHING, [one], [])
    assert not any("person" in s for s in limits(NOTHING, [counts._replace(n_corrected=0)], []))


def test_what_is_worth_nothing_is_counted_apart() -> None:
    answers = chosen(["A", "B", "A", "A", None])
    changes: list[dict[str, object]] = [
        {"outcome": "truncated"},
        {"outcome": "truncated", "letter": None, "reason": "no letter found"},
        {"outcome": "empty", "letter": None, "reason": "empty"},
        {"outcome": "filtered", "letter": None, "reason": "filtered by the provider"},
        {},
    ]
    rows = [dataclasses.replace(a, **c) for a, c in zip(answers, changes, strict=True)]
    assert count_answers(answer_frame(rows)) == [
        ReplyCounts("m", "t", "c", 5, 0, 2, n_refused=2, n_truncated=2, n_empty=1, n_questions=1)
    ]


@pytest.mark.parametrize(
    ("counts", "loss"),
    [
        ({"n_unread": 90}, "90 (100 %) cannot be read"),
        ({"n_unread": 19}, "19 (21 %) cannot be read"),
        ({"n_unread": 4}, None),
        (
            {"n_unread": 0, "n_truncated": 90},
            r"90 (100 %) are cut off at the longest answer allowed (max\_tokens)",
        ),
        (
            {"n_unread": 30, "n_empty": 31},
            "30 (33 %) cannot be read and 31 (34 %) are empty",
        ),
        ({"n_unread": 0, "n_refused": 90}, "90 (100 %) are refusals"),
    ],
)
def test_an_arm_that_is_worth_little_is_a_warning(counts: dict[str, int], loss: str | None) -> None:
    replies = ReplyCounts("m", "rec", "rag", 90, 0, 0)._replace(**counts)
    assert warnings(NOTHING, [replies, ReplyCounts("m", "rec", "offline", 90, 0, 0)]) == (
        []
        if loss is None
        else [
            f"RAG, rec: of 90 answers {loss}, so its numbers say more about how it was asked than "
            "about the model"
        ]
    )


def test_an_arm_that_loses_more_than_the_baseline_is_a_warning() -> None:
    """Refusals of one kind of answer alone would move what is left."""
    replies = [ReplyCounts("m", "rec", "rag", 90, 0, 4, n_refused=14)]
    replies += [ReplyCounts("m", "rec", "offline", 92, 2, 1)]
    assert warnings(NOTHING, replies) == [
        "rec: the share of answers that are refused or cannot be read is not that without a user "
        "(20 % RAG, 1 % without a user), so those that are left may be of another kind"
    ]
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
    assert found == n * [
        "mmlu: the share of answers without a letter in the form that was asked for is not that without "
        "a user (10 % RAG, 2 % without a user); these count as wrong (accuracy, format\\_failure)"
    ]


AGAIN = {"condition": "again"}


@pytest.mark.parametrize(
    ("tables", "differences"),
    [
        (
            {"comparisons": [comparison_row(0.01, **AGAIN)]},
            "1 of 1 test (answers in rec)",
        ),
        ({"shifts": [shift_row(0.01, **AGAIN)]}, "1 of 1 test (options in rec)"),
        (
            {"estimates": [entropy_row(0.01, **AGAIN)], "shifts": [shift_row(0.2, **AGAIN)]},
            "1 of 2 tests (heterogeneity in rec)",
        ),
        (
            {"estimates": [score_row(0.01, **AGAIN)], "score_spreads": [spread_row(0.02, **AGAIN)]},
            "2 of 2 tests (scores in mmlu and spread of scores in mmlu)",
        ),
        (
            {"comparisons": [comparison_row(0.01, item, **AGAIN) for item in "ab"]},
            "2 of 2 tests (answers in rec)",
        ),
        ({"comparisons": [comparison_row(0.05, **AGAIN), comparison_row(0.001)]}, None),
        ({"comparisons": [comparison_row(0.01, metric="total_variation", **AGAIN)]}, None),
        ({"estimates": [entropy_row(0.01, measure="one_minus_top5_share", **AGAIN)]}, None),
        ({"estimates": [score_row(0.01, measure="em_flexible", **AGAIN)]}, None),
    ],
)
def test_a_control_that_differs_is_a_warning(tables, differences: str | None) -> None:
    study = evidence(outline=STUDY, **tables)
    if differences is None:
        assert warnings(study, []) == []
        return
    (warning,) = warnings(study, [])
    n_tests, _, names = differences.partition(" (")
    assert warning == (
        f"{names.removesuffix(')')}: mere repeats without a user differ too ({n_tests} of repeats), so "
        "differences of this kind may be chance, or a model that changed meanwhile"
    )


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            "history",
            "is one of History, so that these are the same answers, shown twice and tested once",
        ),
        (
            "offline",
            "nothing of a user stood before the questions, so every call is one without a user and "
            "nothing is tested",
        ),
    ],
)
def test_answers_of_another_condition_are_a_warning(other: str, words: str) -> None:
    reason = f"the same answers as under {other}"
    same = [replace(claim, reason=reason) for claim in claims_of(score_row(0.5))]
    (warning,) = warnings(StudyEvidence(STUDY, rows={Claim: same}), [])
    assert warning.endswith(words)


def test_a_warning_names_a_few_of_many() -> None:
    tasks = [f"t{k}" for k in range(9)]
    rows = [comparison_row(0.01, task=task, **AGAIN) for task in tasks]
    (warning,) = warnings(evidence(*rows, outline=STUDY._replace(tasks=tasks)), [])
    assert warning.startswith("answers in t0, ")
    assert "(9 of 9 tests of repeats)" in warning
    assert warning.count("answers in") == cautions.MOST_NAMES
    assert "and 4 more:" in warning


@pytest.mark.parametrize(
    ("replies", "variance", "outline", "sentence"),
    [
        (
            [ReplyCounts("m", "rec", "rag", 90, 2, 3)],
            [],
            STUDY,
            "RAG, rec: of 90 answers 2 failed and 3 cannot be read",
        ),
        (
            [ReplyCounts("m", "rec", "rag", 90, 0, 3, n_refused=1, n_truncated=2)],
            [],
            STUDY,
            "RAG, rec: of 90 answers 3 cannot be read, 1 is a refusal and 2 are cut off",
        ),
        (
            [ReplyCounts("m", "rec", "rag", 90, 2, 3)],
            [],
            STUDY,
            "Of 90 answers, 5 failed or cannot be read (answers)",
        ),
        (
            [ReplyCounts("m", "rec", "rag", 90, 0, 0, n_refused=1)],
            [],
            STUDY,
            cautions.REFUSALS_ARE_READ,
        ),
        ([], [], STUDY, "No answers have arrived (answers)"),
        ([], [], STUDY, "Not a chat model"),
        (
            [],
            [variance_row(None, n_repeated=0)],
            STUDY,
            "RAG: users were asked once, so contexts cannot be told from repeating; set "
            "`replicates: 2`",
        ),
        (
            [],
            [variance_row(None, n_repeated=0, condition="field")],
            FIELD_OUTLINE,
            "No participant answers a prompt twice, so who asks cannot be told from asking again in "
            "the field",
        ),
        (
            [],
            [],
            STUDY._replace(controls=[]),
            "No condition repeats the questions without a user (setting `after`), so nothing shows "
            "which numbers "
            "chance alone gives",
        ),
        (
            [],
            [],
            STUDY,
            "No answers of real users: nothing says how near the simulated users are to them",
        ),
        (
            [],
            [],
            STUDY,
            "Only the comparisons that the study names in advance (primary) hold over all of it: "
            "among other differences expect "
            "false ones",
        ),
    ],
)
def test_limits_say_what_is_missing(
    replies, variance, outline: StudyOutline, sentence: str
) -> None:
    assert sentence in limits(evidence(*variance, outline=outline), replies, [])


def test_limits_do_not_say_what_is_not_missing() -> None:
    study = evidence(variance_row(0.1), outline=FIELD_OUTLINE)
    sentences = limits(study, [ReplyCounts("m", "rec", "rag", 9, 0, 0)], [])
    assert [sentence.partition(" ")[0] for sentence in sentences] == [
        "Not", "Of", "Only", "Intervals",
    ]  # fmt: skip


def test_of_many_arms_that_lost_answers_the_others_are_counted() -> None:
    tasks = [f"t{k}" for k in range(cautions.MOST_ARMS + 4)]
    replies = [ReplyCounts("m", task, "rag", 9, 1, 0) for task in tasks]
    sentences = limits(evidence(outline=STUDY._replace(tasks=tasks)), replies, [])
    assert sum("1 failed" in sentence for sentence in sentences) == cautions.MOST_ARMS
    assert "4 more conditions lost answers (answers)" in sentences


def test_answers_that_could_be_another_models_are_counted() -> None:
    unnamed = count_unnamed([("m", []), ("m", ["usage", "model"]), ("n", ["encoding"])])
    assert unnamed == [UnnamedReplies("m", 2, 1)]
    (sentence,) = [s for s in limits(NOTHING, [], unnamed) if "(responses)" in s]
    assert sentence == (
        "Model: 1 of 2 answers came without the name of the model, so another model's answers would "
        "not be noticed (responses)"
    )


def length_row(mean: float, **values: Any) -> ListLength:
    row: ListLength = filled(ListLength, mean_counted=mean, **values)
    return row


@pytest.mark.parametrize(("mean", "is_said"), [(5.11, True), (4.8, True), (5.09, False)])
def test_lists_of_another_length_are_a_warning(mean: float, is_said: bool) -> None:
    rows = [length_row(5.0, condition="offline"), length_row(mean)]
    sentences = warnings(evidence(*rows, outline=STUDY), [])
    expected = (
        f"rec: lists are not as long as without a user (options: {mean:.2f} RAG, 5.00 without a user); "
        r"longer lists look more varied (list\_lengths)"
    )
    assert sentences == ([expected] if is_said else [])
