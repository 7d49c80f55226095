"""Who is lost, by prompt and group."""

from typing import Any

import pytest
from scipy.stats import fisher_exact

from fieldwork.field.attrition import measure_attrition
from fieldwork.records.field import Attrition, FieldAnswer, Participant
from unit.table_rows import field_answer


def answer(
    who: str, item_id: str = "movies", *, text: str | None = "1. Up", **columns: Any
) -> FieldAnswer:
    excluded = columns.get("excluded_for")
    flags = [excluded] if excluded else []
    return field_answer(who, item_id=item_id, text=text, flags=flags, **columns)


def members(variable: str = "group", **groups: str) -> list[Participant]:
    return [Participant(who, variable, group) for group, all_ in groups.items() for who in all_]


def rows(
    answers: list[FieldAnswer], people: list[Participant]
) -> dict[tuple[str, str | None], Attrition]:
    found = measure_attrition(answers, people, seed=1)
    return {(row.item_id, row.group): row for row in found}


def test_participants_count_once_and_in_their_groups() -> None:
    answers = [
        answer("a"),
        answer("a", replicate=1, excluded_for="duplicate"),
        answer("b", text=None, excluded_for="empty"),
        answer("c", excluded_for="other_prompt"),
        answer("d", "books"),
    ]
    found = rows(answers, members(one="ab", two="cd"))
    everyone, one, two = (found["movies", group] for group in (None, "one", "two"))
    assert (everyone.n_participants, everyone.n_answered, everyone.n_kept) == (4, 2, 1)
    assert (one.n_participants, one.n_answered, one.n_kept, one.kept_share) == (2, 1, 1, 0.5)
    assert (two.n_participants, two.n_answered, two.n_kept, two.kept_share) == (2, 1, 0, 0.0)
    assert everyone.variable is None
    assert everyone.reason


def test_models_and_variables_are_kept_apart() -> None:
    people = members(one="a", two="b") + members("age", old="a", young="b")
    answers = [answer("a"), answer("b"), answer("a", model="n")]
    found = measure_attrition(answers, people, seed=1)
    asked = {(row.model, row.variable, row.group): row.n_participants for row in found}
    assert asked["m", None, None] == 2
    assert asked["n", "group", "one"] == 1
    assert asked["n", "group", "two"] == 0
    assert asked["m", "age", "old"] == 1
    empty = next(row for row in found if row.model == "n" and row.group == "two")
    assert empty.kept_share is None
    assert empty.reason == "fewer than two groups were asked"


@pytest.mark.parametrize(
    ("lost", "reason"),
    [("", "nobody was lost"), ("abcd", "nobody was kept")],
)
def test_no_test_where_there_is_nothing_to_test(lost: str, reason: str) -> None:
    answers = [answer(w, excluded_for="empty" if w in lost else None) for w in "abcd"]
    row = rows(answers, members(one="ab", two="cd"))["movies", "one"]
    assert (row.p_value, row.p_holm, row.reason) == (None, None, reason)


def test_p_values_are_corrected_over_the_prompts_of_a_model() -> None:
    people = members(one="abcdefgh", two="ijklmnop")
    answers = [
        answer(w, item, excluded_for="empty" if w in lost else None)
        for item, lost in (("x", "abcdefg"), ("y", "abi"), ("z", ""))
        for w in "abcdefghijklmnop"
    ]
    found = rows(answers, people)
    x, y, z = (found[item, "one"] for item in "xyz")
    assert x.p_value == pytest.approx(fisher_exact([[7, 1], [0, 8]]).pvalue)
    assert y.p_value == pytest.approx(1.0)
    assert x.p_holm == pytest.approx(2 * (x.p_value or 0))
    assert y.p_holm == pytest.approx(1.0)
    assert z.p_value is None
    assert found["x", "two"].p_value == x.p_value
