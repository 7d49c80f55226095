"""The findings claim a calibration only with its verdict, and tell every decline with its reason."""

import dataclasses
from typing import Any

import pytest
from test_findings import STUDY

from fieldwork.metrics.findings import calibration
from fieldwork.records.field import Calibration


def row(comparator: str, **values: Any) -> Calibration:
    blank = dict.fromkeys((f.name for f in dataclasses.fields(Calibration)), None)
    given = {"model": "m", "tasks": "rec", "level": "conditions", "is_best": False, "n_equal": 18}
    numbers = {"n_prompts": 9, "n_field": 40, "comparator": comparator}
    return Calibration(**{**blank, **given, **numbers, **values})


def rows(verdict: str, reason: str | None = None, **values: Any) -> list[Calibration]:
    best = {"gain_bits": 0.02, "ci_low": 0.01, "ci_high": 0.03, "p_holm": 0.004, "js_bits": 0.05}
    return [
        row(
            "calibrated",
            verdict=verdict,
            reason=reason,
            js_bits=0.03,
            in_sample_bits=0.028,
            **values,
        ),
        row("arm", arm="rag", is_best=True, **best, **values),
        row("arm", arm="offline", js_bits=0.09, **values),
    ]


def test_a_gain_is_claimed_with_its_numbers() -> None:
    section = calibration.section(rows("calibrated"), STUDY)
    assert (
        "closer to the field than the best uncalibrated arm in 1 of 1 calibration" in section.head
    )
    assert section.lines == [
        "weights of conditions: closer to the field than RAG (0.030 bits from the field on held-out "
        "prompts and 0.028 in sample, RAG 0.050; gain +0.020, 95 % interval 0.010 to 0.030, p = 0.004; "
        "9 prompts, n = 40 or more of the field) [calibration]"
    ]


@pytest.mark.parametrize("verdict", ["no better", "cannot support"])
def test_a_decline_claims_nothing(verdict: str) -> None:
    section = calibration.section(rows(verdict, "gain over rag 0.020 bits"), STUDY)
    assert section.head.startswith("No weights are shown to bring the simulated answers closer")
    assert section.lines[0].startswith(
        f"weights of conditions: {verdict}: no gain over RAG shown ("
    )


def test_a_loss_is_told_as_one() -> None:
    found = rows("no better")
    found[1] = dataclasses.replace(found[1], gain_bits=-0.02, ci_low=-0.03, ci_high=-0.01)
    assert (
        "no better: further from the field than RAG (" in calibration.section(found, STUDY).lines[0]
    )


def test_a_decline_without_numbers_gives_its_reason() -> None:
    only = [row("calibrated", verdict="cannot support", reason="3 of 9 prompts have answers")]
    (line,) = calibration.section(only, STUDY).lines
    assert line == (
        "weights of conditions: cannot support, because 3 of 9 prompts have answers [calibration]"
    )


def test_models_of_another_study_are_not_told() -> None:
    section = calibration.section(rows("calibrated", model="other"), STUDY)
    assert (section.head, section.lines) == ("Nothing was calibrated.", [])


def test_puppets_are_named_by_their_condition() -> None:
    section = calibration.section(rows("calibrated", level="puppets", puppets_of="history"), STUDY)
    assert section.lines[0].startswith("weights of the puppets of History: closer")
