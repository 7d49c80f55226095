"""Sentences of the summary about parts of a study: claimed only with a verdict, empty without rows."""

from typing import Any

import pytest

from fieldwork.metrics.findings.drift import DRIFT, drift_sentence
from fieldwork.metrics.findings.field import repeated_text_notes
from fieldwork.metrics.findings.group_gaps import group_gap_sentence
from fieldwork.metrics.findings.practice import PRACTICE, practice_sentence
from fieldwork.metrics.findings.values import values_sentence
from fieldwork.metrics.findings.wordings import wording_sentence
from fieldwork.records.practice import PracticeTurn
from unit.metrics.findings.finding_rows import (
    EARLIER,
    OUTLINE,
    PHRASES,
    cells,
    change_row,
    drift_row,
    evidence,
    filled,
    gap_row,
    option_rows,
    practice_row,
    section,
    value_row,
    without_links,
)

STUDY = OUTLINE._replace(
    phrases=PHRASES,
    models={"m": "GPT-4"},
    tasks=["mmlu", "primes", "typos"],
    conditions={**OUTLINE.conditions, "w40": "W 40", "w41": "W 41", "w42": "W 42"},
)


def said(sentence: Any, *rows: Any) -> str:
    text: str = sentence(evidence(*rows, outline=STUDY))
    return without_links(text)


SCALES = "the scales together move by +0.10 of their length after the most similar conversation"
ORDER = "the order of the 7 models is shown to hold in"


@pytest.mark.parametrize(
    ("sentence", "rows", "expected"),
    [
        (
            wording_sentence,
            [change_row(0.001)],
            "scores change in 1 of 1 comparisons with the same questions put otherwise, most by −12.0 "
            "points (typos)",
        ),
        # about all variants, and none of them
        (wording_sentence, [change_row(0.001, task="mmlu")], ""),
        (
            group_gap_sentence,
            [gap_row(0.001)],
            "1 of 1 test with a difference between groups of people, most in the score, best group less "
            "worst (+12.0 points, women − men)",
        ),
        (
            group_gap_sentence,
            option_rows(0.001),
            "1 of 1 option given to one group more often, most Tesla: 75.0 % to men, 35.0 % to women",
        ),
        (
            practice_sentence,
            [practice_row(0.001), practice_row(0.3, condition="history", n_beyond_chance=0)],
            f"{ORDER} 1 of 2 other ways of asking",
        ),
        (
            practice_sentence,
            [practice_row(0.001, rho=-0.9)],
            f"{ORDER} 0 of 1 other way of asking and turned round in 1",
        ),
        # asking again is no other way of asking, but of a variant it is
        (practice_sentence, [practice_row(0.001, way_task="mmlu", condition="again")], ""),
        (
            values_sentence,
            [value_row(0.001), value_row(0.2, condition="again", difference=-0.07)],
            f"{SCALES}; asking again moved them by −0.07",
        ),
        # items that move in opposite directions cancel each other
        (
            values_sentence,
            [value_row(0.9), value_row(0.001, "q"), value_row(0.9, "r")],
            "no user is shown to move the scales together",
        ),
        (values_sentence, [value_row(0.001, "q"), value_row(0.001, versus="field")], ""),
    ],
)
def test_a_difference_is_claimed_with_its_test(
    sentence: Any, rows: list[Any], expected: str
) -> None:
    assert said(sentence, *rows) == expected
    assert said(sentence) == ""


NOTHING = {"first_value": None, "value": None, "change": None, "has_moved": None, "p_value": None}
ABSENT = drift_row(**EARLIER, **NOTHING, reason="no answers in 2026-W41")
MOVED = "answers changed from 2026-W40 to 2026-W42, in"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {},
            "1 of 1 test beyond chance: the accuracy of GPT-4 on primes fell from 84.0 % to 51.1 %",
        ),
        ({"has_moved": False}, "no change is detected in 1 test from 2026-W40 to 2026-W42"),
        (
            {"measure": "letters", "first_value": None, "change": 0.12},
            "GPT-4 gives other answers on primes (12.0 % of them, without what chance changes)",
        ),
        (
            {"measure": "latency", "first_value": 1.204, "value": 1.9, "change": 0.696},
            "the median waiting time of GPT-4 on primes rose from 1.20 s to 1.90 s",
        ),
        (
            {"first_returned_models": "gpt-4-0314", "returned_models": "gpt-4-0613"},
            "; GPT-4 answers under other names or fingerprints: gpt-4-0314 before, gpt-4-0613 now",
        ),
    ],
)
def test_a_wave_is_said_in_its_units(values: dict[str, Any], words: str) -> None:
    assert said(drift_sentence, drift_row(**values)).endswith(words)


def test_of_several_moves_the_most_certain_are_named_and_earlier_ones_not_forgotten() -> None:
    rows = [drift_row(**EARLIER), drift_row(p_value=1e-6)]
    for measure in ("length", "latency"):
        rows.append(drift_row(measure=measure, first_value=1.0, value=3.0, change=2.0))
    text = said(drift_sentence, *rows)
    assert text.startswith(f"{MOVED} 3 of 3 tests beyond chance: the mean length of GPT-4")
    assert "accuracy" not in text
    assert text.endswith("; something had moved in 2026-W41")
    assert "condition=w40" in drift_sentence(evidence(*rows, outline=STUDY))


def test_waves_without_answers_are_named() -> None:
    assert said(drift_sentence, ABSENT, drift_row()).endswith("; 2026-W41 has no answers")
    assert said(drift_sentence, ABSENT).startswith("no wave has answers with which")


def test_waves_before_the_last_are_listed_where_they_moved() -> None:
    for has_moved in (True, False):
        rows = [drift_row(**EARLIER, has_moved=has_moved), drift_row(has_moved=False)]
        made = section(DRIFT, *rows, outline=STUDY)
        assert (len(made.findings), len(made.other_verdicts)) == (1 + has_moved, 1 - has_moved)
        assert made.findings[-1].verdict.text == "no change shown"


def test_pairs_that_turn_beyond_chance_have_names() -> None:
    def turn(other: str, condition: str = "history", is_sure: bool = True) -> PracticeTurn:
        names = {"metric": "em_strict", "way_task": "typos", "other": other, "task": "mmlu"}
        return filled(PracticeTurn, **names, condition=condition, is_beyond_chance=is_sure)

    study = STUDY._replace(models={name: f"Model {name}" for name in "mabcd"})
    turns = [turn("a", is_sure=False), turn("d", "offline"), *map(turn, "abcd")]
    row = practice_row(0.001, condition="history", n_beyond_chance=4)
    assert cells(PRACTICE, row, *turns, outline=study)[0][5] == (
        "4: Model a before Model m, Model b before Model m, Model c before Model m, …"
    )


def test_texts_that_a_participant_gave_again_are_a_caution() -> None:
    rows = [
        {"check": "same_text", "n_flagged": "6"},
        {"check": "same_text", "n_flagged": "0"},
        {"check": "too_short", "n_flagged": "3"},
    ]
    (note,) = repeated_text_notes(rows)
    assert note.startswith("6 answers of real users are, word for word, what the same person had")
    assert repeated_text_notes(rows[1:]) == []
    assert repeated_text_notes([rows[0] | {"n_flagged": "1"}])[0].startswith("one answer of real")
