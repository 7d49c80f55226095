"""The page claims a calibration only with its verdict, and gives every decline with its reason."""

import dataclasses

import pytest

from fieldwork.metrics.findings.calibration import calibration
from unit.metrics.findings.finding_rows import OUTLINE, calibration_row, calibration_rows, cells

NUMBERS = (
    "0.030",
    "0.028",
    "RAG",
    "0.050",
    "+0.020 (0.010…0.030)",
    "40 (10…70)",
    "0.004",
    "9",
    "40",
)


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        ("calibrated", "calibrated: closer"),
        ("no better", "no better: gain not shown"),
        ("cannot support", "cannot support: gain not shown"),
    ],
)
def test_a_gain_is_claimed_with_its_verdict_alone(verdict: str, text: str) -> None:
    section = calibration(calibration_rows(verdict, "gain over rag 0.020 bits"), OUTLINE)
    assert cells(section) == [("conditions", *NUMBERS, text)]
    (finding,) = section.findings
    assert finding.verdict.is_shown == (verdict == "calibrated")


def test_a_loss_is_named_as_one() -> None:
    rows = calibration_rows("no better")
    rows[1] = dataclasses.replace(rows[1], gain_bits=-0.02, ci_low=-0.03, ci_high=-0.01)
    assert cells(calibration(rows, OUTLINE))[0][-1] == "no better: further"


def test_a_decline_without_numbers_gives_its_reason() -> None:
    reason = "3 of 9 prompts have answers"
    only = [calibration_row("calibrated", verdict="cannot support", reason=reason)]
    assert cells(calibration(only, OUTLINE)) == [
        ("conditions", *["–"] * 7, "9", "40", f"cannot support: {reason}")
    ]


def test_models_of_another_study_are_left_out() -> None:
    section = calibration(calibration_rows("calibrated", model="other"), OUTLINE)
    assert (section.absence, list(section.findings)) == ("Nothing was calibrated.", [])


def test_puppets_are_named_by_their_condition() -> None:
    rows = calibration_rows("calibrated", level="puppets", puppets_of="history")
    assert cells(calibration(rows, OUTLINE))[0][0] == "puppets of History"
    both = OUTLINE._replace(models={"m": "Model", "n": "Next"})
    assert cells(calibration(rows, both))[0][:2] == ("Model", "puppets of History")
