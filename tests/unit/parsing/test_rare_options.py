"""What few people wrote counts as before, and nothing says it in their words."""

import pytest

from fieldwork.parsing.answers import apply_merges, merge_items
from fieldwork.parsing.rare_options import NumberedAnswers, number_rare_options
from fieldwork.records.field import FIELD
from fieldwork.records.parsing import Answer
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from unit.table_rows import answer_of

STAMPS = "Cataloguing my late father's stamps"


def answer(person: str, *names: str, condition: str = FIELD) -> Answer:
    return answer_of(kind="list", condition=condition, puppet_id=person, raw_items=[*names])


def cover(
    *answers: Answer, smallest_cell: int = 3, candidates: tuple[str, ...] = ()
) -> NumberedAnswers:
    merges = merge_items(answers, aliases=[], overrides=[], threshold=90)
    items = {ItemKey("t", "i"): Item("i", "list", "?", "?", [*candidates], None, None, "a test")}
    merged = apply_merges(answers, merges)
    return number_rare_options(merged, merges, items, smallest_cell=smallest_cell)


PEOPLE = [answer(f"p{n}", "Chess", "Choir") for n in range(7)]


def test_what_one_person_wrote_has_a_number_for_its_words() -> None:
    numbering = cover(*PEOPLE, answer("p8", "Chess", STAMPS))
    assert numbering.answers[-1].items == ["Chess", "named by fewer than 3 people (1)"]
    assert numbering.answers[0].items == ["Chess", "Choir"]
    assert {m.canonical for m in numbering.merges} == {"Chess", "Choir"}
    assert STAMPS not in str(numbering.merges)


def test_options_stay_apart_so_that_estimates_are_the_same() -> None:
    numbering = cover(
        *PEOPLE, answer("p8", "Falconry"), answer("p9", STAMPS), answer("p10", STAMPS)
    )
    labels = [row.items for row in numbering.answers[-3:]]
    assert labels[0] != labels[1] == labels[2]


@pytest.mark.parametrize(("n", "is_shown"), [(2, False), (3, True)])
def test_so_many_people_are_enough(n: int, is_shown: bool) -> None:
    people = [answer(f"q{k}", STAMPS) for k in range(n)]
    # of one person several answers count once
    numbering = cover(*PEOPLE, *people, answer("q0", STAMPS))
    assert (numbering.answers[-1].items == [STAMPS]) is is_shown


def test_what_a_model_or_the_study_names_keeps_its_words() -> None:
    rows = (*PEOPLE, answer("p8", STAMPS))
    assert cover(*rows, answer("u1", STAMPS, condition="history")).answers[-2].items == [STAMPS]
    assert cover(*rows, candidates=(STAMPS.upper(),)).answers[-1].items == [STAMPS]


def test_one_shows_everything_and_a_study_without_people_changes_nothing() -> None:
    rows = (*PEOPLE, answer("p8", STAMPS))
    assert cover(*rows, smallest_cell=1).answers[-1].items == [STAMPS]
    models = [answer(f"u{n}", STAMPS, condition="history") for n in range(2)]
    assert [row.items for row in cover(*models).answers] == [[STAMPS]] * 2
