"""Models as raters: both orders of a pair, letters as options of a side, answers in prose."""

from fieldwork.judging.model_judges import judge_items, model_judgements
from fieldwork.records.parsing import Answer
from fieldwork.text_templates import TextTemplate
from unit.judging.unit_texts import BETTER, RIGHT, pair, unit_text
from unit.table_rows import answer_of

PROMPT = TextTemplate(
    "{% for fact in facts %}{{ fact }};{% endfor %}{{ attribute }}|{{ answer_1 }}|{{ answer_2 }}",
    "t.txt",
)


def answer(item: str, letter: str | None) -> Answer:
    reason = None if letter else "no letter found"
    return answer_of(model="gpt", item_id=item, letter=letter, reason=reason)


def test_a_single_unit_is_put_once_with_the_options_in_words() -> None:
    (item,) = judge_items([unit_text(attribute="Has a dog", facts=["x"])], RIGHT, PROMPT)
    assert (item.item_id, item.kind) == ("u", "choice")
    assert item.choices == ["It is right", "unsure", "reject"]
    assert item.question == "x;Has a dog|None|None"
    assert "\nA. It is right\nB. unsure\nC. reject\n" in item.prompt


def test_a_pair_is_put_in_both_orders() -> None:
    first, second = judge_items([pair()], BETTER, PROMPT)
    assert (first.item_id, second.item_id) == ("p|a", "p|b")
    assert first.question.endswith("|Answer A|Answer B")
    assert second.question.endswith("|Answer B|Answer A")


def test_a_letter_means_the_side_and_not_the_place() -> None:
    answers = [answer("p|a", "A"), answer("p|b", "A"), answer("p|a", "C"), answer("p|b", "D")]
    rows = model_judgements(answers, {"p": pair()}, BETTER, "mine")
    found = {(row.first_side, row.value) for row in rows}
    assert found == {("a", "1"), ("b", "5"), ("a", "3"), ("b", "2")}


def test_a_bar_in_the_id_of_a_user_is_no_side() -> None:
    """Ids of some login services have one."""
    units = {name: unit_text(name) for name in ("t/q/auth0|123", "t/q/auth0|a")}
    answers = [answer(item.item_id, "A") for item in judge_items(units.values(), RIGHT, PROMPT)]
    rows = list(model_judgements(answers, units, RIGHT, "mine"))
    assert [(row.unit_id, row.first_side) for row in rows] == [(name, None) for name in units]
    pairs = {name: pair(name) for name in ("auth0|123", "auth0|a")}
    answers = [answer(item.item_id, "A") for item in judge_items(pairs.values(), BETTER, PROMPT)]
    rows = list(model_judgements(answers, pairs, BETTER, "mine"))
    assert sorted((row.unit_id, row.first_side) for row in rows) == [
        (name, side) for name in pairs for side in ("a", "b")
    ]


def test_a_judge_that_answers_in_prose_is_kept_with_the_reason() -> None:
    (row,) = model_judgements([answer("u", None)], {"u": unit_text()}, RIGHT, "mine")
    assert (row.value, row.number, row.reason) == (None, None, "no letter found")
