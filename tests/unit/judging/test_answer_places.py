"""Copies of an answer count once, in whichever order the files come."""

from itertools import permutations

import pytest

from fieldwork.errors import StudyError
from fieldwork.judging.answer_places import AnswerPlace, AnswerPlaces
from fieldwork.records.judging import Judgement


def judgement(value: str | None, rater: str = "ann", scale: str = "right") -> Judgement:
    return Judgement(scale, "u", rater, "person", 0, value, None, None, None, None, "kit", None)


def test_a_place_has_one_answer_the_first_that_says_something() -> None:
    for values in permutations([None, "yes", "yes"]):
        answers = AnswerPlaces()
        for value in values:
            answers.add(judgement(value), AnswerPlace("k", "3"), "a.csv: row 2")
        assert [row.value for row in answers.judgements] == ["yes"]
        assert answers.n_copies == 2


def test_other_places_kits_raters_and_scales_are_other_answers() -> None:
    answers = AnswerPlaces()
    answers.add(judgement("yes"), AnswerPlace("k", "3"), "row 2")
    answers.add(judgement("no"), AnswerPlace("k", "4"), "row 3")
    answers.add(judgement("no"), AnswerPlace("l", "3"), "row 4")
    answers.add(judgement("no", rater="bob"), AnswerPlace("k", "3"), "row 5")
    answers.add(judgement("too long", scale="why"), AnswerPlace("k", "3"), "row 6")
    for _ in range(2):
        answers.add(judgement("yes"), None, "row 7")
    assert (len(answers.judgements), answers.n_copies) == (7, 0)


def test_another_answer_at_the_same_place_names_both_rows_and_no_answer() -> None:
    answers = AnswerPlaces()
    answers.add(judgement("yes"), AnswerPlace("k", "3"), "a.csv: row 2")
    with pytest.raises(StudyError) as error:
        answers.add(judgement("no"), AnswerPlace("k", "3"), "b.csv: row 9")
    message = str(error.value)
    assert message.startswith("b.csv: row 9: its rater gave another answer")
    assert "a.csv: row 2; keep the file that the rater saved last" in message
    assert "yes" not in message
