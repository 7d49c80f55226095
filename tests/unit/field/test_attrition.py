"""Who is lost, by prompt and group."""

from typing import Any

import pytest
from scipy.stats import fisher_exact

from fieldwork.field.attrition import measure_attrition
from fieldwork.records.field import Attrition, FieldAnswer, Participant
from unit.table_rows import field_answer


def answer(who: str, item_id: str = "movies", **columns: Any) -> FieldAnswer:
    flags = [columns["excluded_for"]] if columns.get("excluded_for") else []
    return field_answer(who, item_id=item_id, **{"text": "1. Up", "flags": flags} | columns)


def members(variable: str = "group", **groups: str) -> list[Participant]:
    return [Participant(who, variable, group) for group, all_ in groups.items() for who in all_]


def rows(answers: list[FieldAnswer], people: list[Participant]) -> dict[tuple[Any, ...], Attrition]:
    found = measure_attrition(answers, people, seed=1)
    return {(row.model, row.item_id, row.variable, row.group): row for row in found}


def test_participants_count_once_and_in_their_groups() -> None:
    answers = [
        answer("a"),
        answer("a", replicate=1, excluded_for="duplicate"),
        answer("b", text=None, excluded_for="empty"),
        answer("c", excluded_for="other_prompt"),
        answer("d", "books"),
    ]
    found = rows(answers, members(one="ab", two="cd"))
    keys = (None, None), ("group", "one"), ("group", "two")
    everyone, one, two = (found["m", "movies", *key] for key in keys)
    assert (everyone.n_participants, everyone.n_answered, everyone.n_kept) == (4, 2, 1)
    assert (one.n_participants, one.n_answered, one.n_kept, one.kept_share) == (2, 1, 1, 0.5)
    assert (two.n_participants, two.n_answered, two.n_kept, two.kept_share) == (2, 1, 0, 0.0)
    assert everyone.reason


def test_models_and_variables_are_kept_apart() -> None:
    people = members(one="a", two="b") + members("age", old="a", young="b")
    found = rows([answer("a"), answer("b"), answer("a", model="n")], people)
    n_asked = {key: row.n_participants for key, row in found.items()}
    assert n_asked["m", "movies", None, None] == 2
    assert n_asked["n", "movies", "group", "one"] == 1
    assert n_asked["m", "movies", "age", "old"] == 1
    empty = found["n", "movies", "group", "two"]
    assert (empty.n_participants, empty.kept_share) == (0, None)
    assert empty.reason == "fewer than two groups were asked"


@pytest.mark.parametrize(("lost", "reason"), [("", "nobody was lost"), ("abcd", "nobody was kept")])
def test_no_test_where_there_is_nothing_to_test(lost: str, reason: str) -> None:
    answers = [answer(w, excluded_for="empty" if w in lost else None) for w in "abcd"]
    row = rows(answers, members(one="ab", two="cd"))["m", "movies", "group", "one"]
    assert (row.p_value, row.p_holm, row.reason) == (None, None, reason)


def test_p_values_are_corrected_over_the_prompts_of_a_model() -> None:
    answers = [
        answer(w, item, excluded_for="empty" if w in lost else None)
        for item, lost in (("x", "abcdefg"), ("y", "abi"), ("z", ""))
        for w in "abcdefghijklmnop"
    ]
    found = rows(answers, members(one="abcdefgh", two="ijklmnop"))
    x, y, z = (found["m", item, "group", "one"] for item in "xyz")
    p_value = fisher_exact([[7, 1], [0, 8]]).pvalue
    assert (x.p_value, x.p_holm) == pytest.approx((p_value, 2 * p_value))
    assert (y.p_value, y.p_holm) == pytest.approx((1, 1))
    assert z.p_value is None
    assert found["m", "x", "group", "two"].p_value == x.p_value
