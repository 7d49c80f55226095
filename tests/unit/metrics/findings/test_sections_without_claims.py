"""Sections that decide for themselves or claim nothing, such as raters, and the primary comparisons."""

from dataclasses import replace
from typing import Any

import pytest

from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.findings.field import CALIBRATION
from fieldwork.metrics.findings.overview import PRIMARY_COMPARISONS
from fieldwork.metrics.findings.raters import INTERVENTIONS, MEMORY, RATERS, rater_sentence
from fieldwork.records.claims import Claim
from fieldwork.sections.study import PrimaryEntry
from unit.metrics.findings.finding_rows import (
    OUTLINE,
    RULES,
    calibration_row,
    calibration_rows,
    cells,
    evidence,
    filled,
    intervention_row,
    judgement_row,
    match_row,
    section,
    value_row,
)

PAIRS = OUTLINE._replace(
    pairs={"helpful_1": ("Offline", "SP-Memory")}, unit_kinds={"helpful_1": "answers"}
)


def test_people_come_before_models_and_agreement_stands_beside_chance() -> None:
    rows = [
        judgement_row("inflation", "gpt", "people", estimate=0.25, ci_low=0.1, ci_high=0.41),
        judgement_row("exact_agreement", "models", "people", chance=0.3),
        judgement_row("exact_agreement", "people", "people", chance=0.25),
        judgement_row("kappa", "people", "people", largest=0.8),
        judgement_row("accepted", "gpt", None),
        # parts, repeats and what has no value are left to the table
        judgement_row("accepted", "people", None, unit_group="real"),
        judgement_row("exact_agreement", "people", "themselves"),
        judgement_row("alpha", "models", "models", estimate=None, ci_low=None, ci_high=None),
        judgement_row("share", "people", None, option="yes"),
        judgement_row("preferred", "people", None, option="a"),
    ]
    assert [row[1:7] for row in cells(RATERS, *rows)] == [
        ("gpt", "–", "accepted, %", "50 (40…60)", "–", "–"),
        ("people", "people", "same answer, %", "50 (40…60)", "25", "–"),
        ("models", "people", "same answer, %", "50 (40…60)", "30", "–"),
        ("people", "people", "κ", "0.50 (0.40…0.60)", "–", "0.80"),
        ("gpt", "people", "rating above people's", "+0.25 (0.10…0.41)", "–", "–"),
    ]
    assert rater_sentence(evidence(*rows[5:])) == ""
    assert not section(RATERS, rows[2]).question.endswith("all of this is what models say.")
    assert section(RATERS, rows[4]).question.endswith("all of this is what models say.")


@pytest.mark.parametrize(
    ("row", "outline", "sentence"),
    [
        (
            judgement_row("preferred", "people", None, option="b", estimate=0.61),
            PAIRS,
            "people prefer SP-Memory over Offline in 61 (40…60) %",
        ),
        (
            judgement_row("accepted", "gpt", None),
            PAIRS,
            "gpt accept 50 (40…60) % of the answers (scale helpful_1)",
        ),
        (
            judgement_row("mean", "gpt", None),
            PAIRS,
            "gpt rate the answers (scale helpful_1) 0.50 (0.40…0.60) on average",
        ),
    ],
)
def test_what_raters_say_is_said_of_what_they_judge(row: Any, outline: Any, sentence: str) -> None:
    assert rater_sentence(evidence(row, outline=outline)) == sentence


def test_shares_of_facts_are_percent_with_intervals() -> None:
    made = section(MEMORY, match_row(), match_row(measure="f1", estimate=None))
    assert "120 facts of 40 users" in made.question
    (row,) = made.findings
    assert row.cells == ("as read", "of what is true, %", "25 (10…40)", "90", "30")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([intervention_row("before"), intervention_row("refined")], "are people's."),
        ([intervention_row("before", "models")], "No person judged: the judgements are a model's."),
        (
            [
                intervention_row("all"),
                intervention_row("all", "models", units="better", kind="pairs"),
                intervention_row("before", units="memory.verify"),
                intervention_row("refined", "models", units="memory.verify", measure="rho"),
            ],
            "but for better and what is stated once more, which models judged.",
        ),
    ],
)
def test_models_judgements_are_never_taken_for_peoples(rows: list[Any], sentence: str) -> None:
    made = section(INTERVENTIONS, *rows)
    assert sentence in made.question
    assert len(made.findings) == len(rows)


@pytest.mark.parametrize(
    ("verdict", "text"),
    [("calibrated", "calibrated: closer"), ("no better", "no better: gain not shown")],
)
def test_a_gain_is_claimed_with_its_verdict_alone(verdict: str, text: str) -> None:
    rows = calibration_rows(verdict, "gain over rag 0.020 bits")
    numbers = "0.030|0.028|RAG|0.050|+0.020 (0.010…0.030)|40 (10…70)|0.004|9|40"
    assert cells(CALIBRATION, *rows) == [("conditions", *numbers.split("|"), text)]
    (finding,) = section(CALIBRATION, *rows).findings
    assert finding.verdict.is_shown == (verdict == "calibrated")


def test_a_loss_is_named_as_one_and_a_decline_gives_its_reason() -> None:
    rows = calibration_rows("no better")
    rows[1] = replace(rows[1], gain_bits=-0.02, ci_low=-0.03, ci_high=-0.01)
    assert cells(CALIBRATION, *rows)[0][-1] == "no better: further"
    alone = calibration_row("calibrated", verdict="cannot support", reason="3 of 9 prompts")
    (row,) = cells(CALIBRATION, alone)
    assert row == ("conditions", *["–"] * 7, "9", "40", "cannot support: 3 of 9 prompts")


def primary_cells(**values: Any) -> list[str]:
    """Measure, difference and verdict of a comparison of scales that the study is about."""
    ends = {"difference": -0.732, "ci_low": -1.05, "ci_high": -0.41}
    row = value_row(0.001, **{"item_id": "jobs", **ends, "n_missing": 0, **values})
    rules = RULES._replace(primary=[PrimaryEntry(measure="value", tasks=["mmlu"])])
    claims = measure_claims({"value_comparisons": [row]}, rules)
    (line,) = cells(PRIMARY_COMPARISONS, *claims)
    return [line[-4], line[-3], line[-1]]


def test_a_primary_comparison_has_the_numbers_of_its_section() -> None:
    assert primary_cells() == ["scales and numbers: jobs, scale", "−0.73 (−1.05…−0.41)", "lower"]
    assert primary_cells(ci_low=None, ci_high=None)[1:] == ["−0.73 (none)", "differs"]
    assert primary_cells(item_id=None)[0] == "scales and numbers: all scales together"
    claim = filled(Claim, family="primary", measure="share_who", task="mmlu", reason="one answer")
    made = section(PRIMARY_COMPARISONS, claim)
    assert made.question.endswith("Nothing of this can be tested here.")
