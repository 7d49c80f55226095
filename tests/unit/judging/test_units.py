"""What a study gives to raters: which units there are, whose they are, and what raters see of them."""

from collections import Counter

import pytest

from fieldwork.errors import StudyError
from fieldwork.judging.units import (
    StudyTexts,
    UnitSettings,
    draw_units,
    judged_unit,
    units_of,
    user_groups,
)
from fieldwork.pseudonyms import PUBLIC_KEY, user_pseudonym
from fieldwork.records.generation import Response
from fieldwork.records.memory import Attribute, Evidence
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from unit.judging.unit_texts import unit_text
from unit.memory.conversations import conversation
from unit.table_rows import response_of

SETTINGS = UnitSettings("mine", None, "synthetic", 7)
ITEM = Item("q", "list", "What now?", "What now? Name five.", [], None, None, "a test")
TALK = conversation("I own a dog.", "Nice.", "Bye.")


def attribute(user: str, number: int = 0) -> Attribute:
    text, evidence = f"Fact {number}", [Evidence("c1", 1)]
    return Attribute(f"{user}-{number}", user, number, text, "fact", None, 1, None, evidence)


def response(puppet: str | None, replicate: int, text: str | None, model: str = "gpt") -> Response:
    return response_of(text, model=model, item_id="q", puppet_id=puppet, replicate=replicate)


def texts(**responses: list[Response]) -> StudyTexts:
    attributes = [attribute("u1"), attribute("u1", 1), attribute("u2")]
    return StudyTexts(attributes, {"c1": TALK}, {ItemKey("t", "q"): ITEM}, responses)


def test_a_user_can_have_a_group_of_its_own() -> None:
    rows = [{"user_id": name, "group": "real"} for name in ("anna", "anna", "u0123456789abcdef")]
    groups = user_groups(rows, PUBLIC_KEY)
    # a file may name users as the conversations do, or as the tables do
    assert groups == dict.fromkeys(
        [user_pseudonym("anna", PUBLIC_KEY), "u0123456789abcdef"], "real"
    )
    units = units_of("attributes", texts(), SETTINGS._replace(groups={"u2": "real"}))
    assert [unit.unit_group for unit in units] == ["synthetic", "synthetic", "real"]
    rows = [{"user_id": "u2", "group": "real"}, {"user_id": "u2", "group": "synthetic"}]
    with pytest.raises(StudyError, match="user u2 is in two groups"):
        user_groups(rows, PUBLIC_KEY)
    with pytest.raises(StudyError, match="none of its user_id is a user of these units"):
        units_of("attributes", texts(), SETTINGS._replace(groups={"someone": "real"}))


@pytest.mark.parametrize(
    ("question", "marks", "options", "text"),
    [
        ("Which?", None, ["Lyon", "Paris"], "Which?\n\nA. Lyon\nB. Paris"),
        ("Agree?", ["1", "2"], ["No", "Yes"], "Agree?\n\n1. No\n2. Yes"),
        ("Which?\n(A) Lyon\n(B) Paris", None, ["Lyon", "Paris"], "Which?\n(A) Lyon\n(B) Paris"),
    ],
)
def test_a_question_comes_with_its_options(
    question: str, marks: list[str] | None, options: list[str], text: str
) -> None:
    item = Item("q", "scale", question, "", options, None, None, "a test", marks=marks)
    sources = texts(memory=[response("u1", 0, "B")])
    units = units_of("answers", sources._replace(items={ItemKey("t", "q"): item}), SETTINGS)
    assert [unit.question for unit in units] == [text]


def test_relevance_is_an_attribute_beside_a_question() -> None:
    units = units_of("relevance", texts(), SETTINGS)
    assert [unit.unit_id for unit in units] == ["u1-0/t/q", "u1-1/t/q", "u2-0/t/q"]
    assert {(u.question, u.item_id, u.evidence) for u in units} == {("What now?", "q", None)}


def test_of_a_pair_each_user_has_a_generic_answer_of_its_own() -> None:
    generic = [response(None, n, f"generic {n}") for n in range(3)]
    personal = [response(u, r, f"for {u}, {r}") for u in ("u2", "u1") for r in (1, 0)]
    units = units_of("pairs", texts(offline=generic, memory=personal), SETTINGS)
    assert {(u.user_id, u.text_b) for u in units} == {("u1", "for u1, 0"), ("u2", "for u2, 0")}
    assert len({unit.text_a for unit in units} & {f"generic {n}" for n in range(3)}) == 2
    assert {tuple(unit.facts) for unit in units} == {("Fact 0", "Fact 1"), ("Fact 0",)}
    row = judged_unit(units[0])
    assert (row.unit_kind, row.author_a, row.author_b) == ("pairs", "gpt", "gpt")
    assert row.characters_b == len(units[0].text_b or "")


def test_two_conditions_with_users_are_paired_by_user() -> None:
    first = [response("u1", 0, "plain")]
    second = [response("u1", 0, "rich"), response("u3", 0, "alone")]
    (unit,) = units_of("pairs", texts(history=first, memory=second), SETTINGS)
    assert (unit.text_a, unit.text_b) == ("plain", "rich")


def test_an_answer_without_a_text_is_no_unit() -> None:
    answers = [response("u1", 0, None), response("u2", 0, "")]
    assert units_of("answers", texts(memory=answers), SETTINGS) == []
    (unit,) = units_of("answers", texts(memory=[*answers, response("u3", 0, "yes")]), SETTINGS)
    assert (unit.user_id, unit.author_a, unit.text_a, unit.facts) == ("u3", "gpt", "yes", [])


def test_naming_is_the_only_difference_of_a_mention() -> None:
    answers = [response("u1", 0, "Tea."), response("u9", 0, "Tea.")]
    (unit,) = units_of("mentions", texts(memory=answers), SETTINGS)
    assert unit.user_id == "u1"
    assert unit.text_b == f"I remember this about you: Fact 0\n\n{unit.text_a}"


def test_a_draw_takes_users_in_turn_and_is_the_same_every_time() -> None:
    sizes = {"a": 9, "b": 2, "c": 4}
    units = [unit_text(f"{user}-{n}", user) for user, many in sizes.items() for n in range(many)]
    drawn = draw_units(units, 7, seed=1)
    assert sorted(Counter(unit.user_id for unit in drawn).values()) == [2, 2, 3]
    assert draw_units(units[::-1], 7, seed=1) == drawn
    assert draw_units(units, 7, seed=2) != drawn
    assert len(draw_units(units, 99, seed=1)) == 15
    assert draw_units([], 3, seed=1) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_codes_change_with_the_seed_alone(seed: int) -> None:
    first = units_of("attributes", texts(), SETTINGS._replace(seed=seed))
    other = units_of("attributes", texts(), SETTINGS._replace(seed=seed + 2, n=2))
    codes = {unit.unit_id: unit.code for unit in first}
    assert all(codes[unit.unit_id] != unit.code for unit in other)
    assert units_of("attributes", texts(), SETTINGS._replace(seed=seed)) == first
