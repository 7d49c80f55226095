"""The sections about questions put otherwise, and their sentence: claimed only with a verdict."""

from typing import Any

from fieldwork.metrics.findings.verdicts import StudyClaims
from fieldwork.metrics.findings.wordings import wording_sections, wording_sentence
from fieldwork.records.robustness import Robustness
from unit.metrics.findings.finding_rows import OUTLINE, cells, claims_of, variant_row

STUDY = OUTLINE._replace(tasks=["mmlu", "typos", "casual"])


def change(p: float | None, **values: Any) -> Robustness:
    names = {"task": "typos", "origin": "mmlu", "condition": "offline", "metric": "accuracy_change"}
    numbers = {"estimate": -0.12, "ci_low": -0.2, "ci_high": -0.04, "n_lost": 14, "n_won": 3}
    return variant_row(p, **{**names, **numbers, **values})


def score(value: float, task: str = "typos") -> Robustness:
    return change(None, metric="accuracy", estimate=value, task=task, n_lost=None, n_won=None)


def test_a_change_stands_beside_its_score() -> None:
    row = change(0.001)
    scores, _ = wording_sections([score(0.5), row], claims_of(row), STUDY)
    assert cells(scores) == [
        ("typos", "T1", "mmlu", "50.0", "−12.0 (−20.0…−4.0)", "14, 3", "lower")
    ]
    sentence = wording_sentence([row], claims_of(row), STUDY)
    assert "scores change in 1 of 1 comparisons" in sentence
    assert "−12.0 points" in sentence


def test_what_is_not_shown_is_not_claimed() -> None:
    row = change(0.4, ci_high=0.05)
    sentence = wording_sentence([row], claims_of(row), STUDY)
    assert sentence.startswith("no change of the score is shown")
    untested = change(None, estimate=None, reason="no pair")
    assert "cannot be tested" in wording_sentence([untested], StudyClaims(), STUDY)


def test_changed_answers_stand_beside_those_of_asking_again() -> None:
    row = change(0.02, metric="excess_flips", estimate=0.2, ci_low=0.1, ci_high=0.3)
    others = [
        change(None, metric="flips", estimate=0.3),
        change(None, metric="flips_rerun", estimate=0.1),
    ]
    _, changes = wording_sections([row, *others], claims_of(row), STUDY)
    assert cells(changes) == [
        ("typos", "T1", "letters that change", "30.0", "10.0", "more than reruns")
    ]


def test_lists_have_options_in_common_and_no_claim() -> None:
    rows = [
        change(0.01, metric="excess_overlap", estimate=-0.2),
        change(None, metric="overlap", estimate=0.5),
        change(None, metric="overlap_rerun", estimate=0.7),
    ]
    scores, changes = wording_sections(rows, StudyClaims(), STUDY)
    assert cells(changes) == [
        ("typos", "T1", "options in common", "50.0", "70.0", "no claim is made")
    ]
    assert scores.findings == []


def test_a_study_without_changed_questions_says_nothing() -> None:
    assert wording_sections([], StudyClaims(), STUDY) == []
    assert wording_sentence([], StudyClaims(), STUDY) == ""
