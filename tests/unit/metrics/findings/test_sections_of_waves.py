"""The section about waves and its sentence: what moved has a verdict, what is absent is named."""

from typing import Any

from fieldwork.metrics.findings.drift import drift_sections, drift_sentence
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.records.drift import Drift
from unit.metrics.findings.finding_rows import OUTLINE, cells, filled, without_links

STUDY: StudyOutline = OUTLINE._replace(
    models={"m": "GPT-4"},
    tasks=["primes"],
    conditions={"w40": "Blank, 40", "w41": "Blank, 41", "w42": "Blank, 42"},
)


def row(condition: str = "w42", **values: Any) -> Drift:
    waves = {"w41": ("2026-W41", 1), "w42": ("2026-W42", 2)}
    wave, look = waves[condition]
    names = {"model": "m", "task": "primes", "condition": condition, "wave": wave, "look": look}
    first = {"first_wave": "2026-W40", "first_condition": "w40", "first_value": 0.84}
    now = {"value": 0.511, "change": -0.329, "ci_low": -0.5, "ci_high": -0.1, "measure": "accuracy"}
    test = {"p_value": 1e-9, "p_holm": 1e-8, "level": 0.05 / 52, "has_moved": True}
    drift: Drift = filled(Drift, **{**names, **first, **now, **test, **values})
    return drift


def test_a_move_is_said_with_both_values() -> None:
    sentence = drift_sentence([row(), row(measure="length", has_moved=False)], STUDY)
    assert without_links(sentence) == (
        "answers changed from 2026-W40 to 2026-W42, in 1 of 2 tests beyond chance: the accuracy of GPT-4 "
        "on primes fell from 84.0 % to 51.1 %"
    )
    assert "condition=w40" in sentence
    [section] = drift_sections([row()], STUDY)
    assert cells(section) == [
        (
            "primes",
            "Blank, 42",
            "2026-W42",
            "accuracy",
            "84.0",
            "51.1",
            "−32.9 (−50.0…−10.0)",
            "lower",
        )
    ]


def test_where_nothing_moved_that_is_not_said_to_be_sure() -> None:
    sentence = drift_sentence([row(has_moved=False)], STUDY)
    assert sentence.startswith("no change is detected in 1 test from 2026-W40 to 2026-W42")
    [section] = drift_sections([row(has_moved=False), row("w41", has_moved=False)], STUDY)
    assert [finding.verdict.text for finding in section.findings] == ["no change shown"]
    assert len(section.other_verdicts) == 1


def test_earlier_moves_are_not_forgotten() -> None:
    sentence = drift_sentence([row("w41"), row(has_moved=False)], STUDY)
    assert sentence.endswith("something had moved in 2026-W41")
    [section] = drift_sections([row("w41"), row(has_moved=False)], STUDY)
    assert len(section.findings) == 2


def test_distances_and_units_read_well() -> None:
    rows = [
        row(measure="letters", first_value=None, change=0.12),
        row(measure="latency", first_value=1.204, value=1.9, change=0.696),
        row(measure="length", first_value=31.0, value=55.04, change=24.04),
    ]
    letters, latency, length = (drift_sentence([moved], STUDY) for moved in rows)
    assert "GPT-4 gives other answers on primes ([12.0 %](" in letters
    assert "the median waiting time of GPT-4 on primes rose from [1.20 s](" in latency
    assert "[55.0 words](" in length


def test_of_several_moves_the_most_certain_are_named() -> None:
    rows = [row(p_value=1e-6)] + [
        row(measure=measure, p_value=1e-9, first_value=1.0, value=3.0, change=2.0)
        for measure in ("length", "latency")
    ]
    sentence = drift_sentence(rows, STUDY)
    assert ", in 3 of 3 tests beyond chance: the mean length of GPT-4 on primes rose" in sentence
    assert "accuracy" not in sentence


def test_waves_without_answers_are_named() -> None:
    nothing = {"first_value": None, "value": None, "change": None, "has_moved": None}
    absent = row("w41", **nothing, p_value=None, reason="no answers in 2026-W41")
    assert drift_sentence([absent, row()], STUDY).endswith("; 2026-W41 has no answers")
    two_models = STUDY._replace(models={"m": "GPT-4", "n": "Claude"})
    partly = drift_sentence([absent, row("w41", model="n"), row()], two_models)
    assert partly.endswith("2026-W41 has no answers of GPT-4 to primes")
    assert drift_sentence([absent], STUDY).startswith("no wave has answers with which")
    [section] = drift_sections([absent], STUDY)
    assert cells(section)[0][-1] == "not tested: no answers in 2026-W41"


def test_other_names_of_a_model_are_said_to_be_no_test() -> None:
    renamed = row(first_returned_models="gpt-4-0314", returned_models="gpt-4-0613")
    assert drift_sentence([renamed], STUDY).endswith(
        "GPT-4 answers under other names or fingerprints: gpt-4-0314 before, gpt-4-0613 now"
    )


def test_without_waves_there_is_nothing_to_say() -> None:
    assert drift_sections([], STUDY) == []
    assert drift_sentence([], STUDY) == ""
